package rest

import (
	"net/http"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// The bodies and responses of operations that are specific to one kind.
type (
	batchDeletion struct {
		Parent core.UID   `json:"parent"`
		Names  []core.UID `json:"names"` // UIDs of the mappings to delete
	}
	batchDeleted struct {
		Parent                    core.UID                        `json:"parent"`
		ExternalGroupRoleMappings []*iam.ExternalGroupRoleMapping `json:"externalGroupRoleMappings"`
	}
	verification struct {
		UID core.UID `json:"uid"`
	}
	invitation struct {
		Code string `json:"code"`
	}
	acceptance struct {
		DocumentIDs []string `json:"documentIds"`
	}
)

// decode reads the body, calls read to decode it, and returns the violations as one error.
func (r *request) decode(read func(d *decoding, body []byte)) error {
	body, err := r.readBody()
	if err != nil {
		return err
	}
	var d decoding
	if d.isJSON(body) {
		read(&d, body)
	}
	if len(d.malformed) > 0 {
		return core.Invalid(d.malformed...)
	}
	return nil
}

func batchDelete(operations iam.ExternalGroupRoleMappings) operation {
	return func(r *request) (any, error) {
		var parent core.UID
		var names []core.UID
		if err := r.decode(func(d *decoding, body []byte) {
			given := d.object("", body, "parent", "names")
			parent = d.uid("parent", given["parent"])
			for _, name := range d.texts("names", given["names"]) {
				names = append(names, core.UID(name))
			}
		}); err != nil {
			return nil, err
		}
		removed, err := operations.DeleteBatch(r.Context(), parent, names)
		return batchDeleted{parent, removed}, err
	}
}

func acceptInvite(operations iam.GroupInvites) operation {
	return func(r *request) (any, error) {
		var code string
		if err := r.decode(func(d *decoding, body []byte) { code = d.text("code", d.object("", body, "code")["code"]) }); err != nil {
			return nil, err
		}
		return operations.Accept(r.Context(), code)
	}
}

func verifyProvider(operations iam.IdentityProviders) operation {
	return func(r *request) (any, error) {
		var uid core.UID
		if err := r.decode(func(d *decoding, body []byte) { uid = d.uid("uid", d.object("", body, "uid")["uid"]) }); err != nil {
			return nil, err
		}
		return operations.Verify(r.Context(), uid)
	}
}

func acceptTerms(operations iam.Terms) operation {
	return func(r *request) (any, error) {
		var documents []string
		if err := r.decode(func(d *decoding, body []byte) {
			documents = d.texts("documentIds", d.object("", body, "documentIds")["documentIds"])
		}); err != nil {
			return nil, err
		}
		return operations.Accept(r.Context(), r.uid(), documents)
	}
}

// listTerms returns a route that lists the terms that were accepted for the group in the
// path or for a group above it.
func listTerms(operations iam.Terms) route {
	kind := operations.Kind()
	filters := pagingFilters[*iam.TermsFilter](kind)
	return route{
		name: "ListTermsAcceptances", method: http.MethodGet, pattern: "/iam/v2/terms/{group=**}", capabilities: capabilityList(kind.ReadCapabilities()...),
		query: parametersOf(filters), answer: iam.TermsAcceptance{}, plural: kind.Plural, kind: factsOf(kind),
		call: func(r *request) (any, error) {
			page, err := operations.ListOf(r.Context(), r.uid(), listRequest(r, filters))
			return newEnvelope(kind.Plural, page), err
		},
	}
}
