package rest

import (
	"net/http"
	"reflect"
	"strconv"
	"time"

	"atrium/platform/core"

	"github.com/getkin/kin-openapi/openapi3"

	"atrium/platform/fieldmask"
)

// A documentedRefusal is an error status of operations.
type documentedRefusal struct {
	status    int
	name      string
	header    string // This is the header of the response.
	appliesTo func(*route) bool
	example   *core.Error
}

func (r documentedRefusal) key() string { return strconv.Itoa(r.status) }

func isAlways(*route) bool     { return true }
func needsToken(r *route) bool { return !r.public }
func isWrite(r *route) bool    { return r.method != http.MethodGet }
func hasBody(r *route) bool    { return r.body != nil || r.accepts != nil }

// comparesETag, takesKey and answersUnmodified say which headers a route heeds.
func comparesETag(r *route) bool {
	return r.kind != nil && (r.method == http.MethodPatch || r.method == http.MethodDelete)
}
func takesKey(r *route) bool {
	return r.method == http.MethodPost && r.takes(validateOnly) && !r.kind.showsSecret
}
func answersUnmodified(r *route) bool { return r.method == http.MethodGet && r.hasETag() }

const exampleETag = `"kDq2bqWc0mZf5Yl9nQo3nJ1f.4YlUe2mT"`

const exampleUID = core.UID("0123456789abcdef0123456789abcdef01234567")

// documentedRefusals lists all error statuses.
func documentedRefusals() []documentedRefusal {
	resource := &core.ResourceInfo{Kind: "Group", Name: string(exampleUID), Description: "group " + string(exampleUID) + " does not exist"}
	return []documentedRefusal{
		{http.StatusBadRequest, "InvalidArgument", "", isAlways, core.Invalid(fieldmask.Violation{Field: "name", Description: `name must match "^[a-z0-9 ._-]{1,}$"`})},
		{http.StatusUnauthorized, "Unauthenticated", "WWW-Authenticate", isAlways, core.Unauthenticated("a token is needed")},
		{http.StatusForbidden, "PermissionDenied", "", needsToken, &core.Error{
			Code: core.CodePermissionDenied, Reason: "PERMISSION_DENIED", Message: "Permission denied: capability repo.list is needed on " + string(exampleUID),
			Metadata: map[string]string{"capability": "repo.list", "resource": string(exampleUID)},
		}},
		{http.StatusNotFound, "NotFound", "", needsToken, &core.Error{
			Code: core.CodeNotFound, Reason: "NOT_FOUND", Message: "Not found: " + resource.Description, Resource: resource,
		}},
		{http.StatusConflict, "AlreadyExists", "", isWrite, &core.Error{
			Code: core.CodeAlreadyExists, Reason: "ALREADY_EXISTS", Message: "Already exists: the group already exists",
			Resource: &core.ResourceInfo{Kind: "Group", Name: string(exampleUID), Description: "the group already exists"},
		}},
		{http.StatusPreconditionFailed, "PreconditionFailed", "", comparesETag, &core.Error{
			Code: core.CodeAborted, Reason: core.ReasonETagMismatch, Message: "Aborted: the group has changed since it was read: description, updateTime; read it again, and decide again",
			Metadata: map[string]string{"resource": string(exampleUID), "etag": exampleETag, "changedFields": "description,updateTime"},
		}},
		{http.StatusUnprocessableEntity, "IdempotencyKeyReused", "", takesKey, &core.Error{
			Code: core.CodeInvalidArgument, Reason: core.ReasonIdempotencyKeyReused,
			Message: "Invalid argument: the idempotency key was used for another creation; use a new key for each creation",
		}},
		{http.StatusRequestEntityTooLarge, "TooLarge", "", hasBody, core.Invalid(fieldmask.Violation{Field: "body", Description: "must be at most 1048576 bytes"})},
		{http.StatusUnsupportedMediaType, "UnsupportedMediaType", "", hasBody, errEncoding.shown},
		{http.StatusTooManyRequests, "ResourceExhausted", "Retry-After", isAlways, &core.Error{
			Code: core.CodeResourceExhausted, Reason: "RESOURCE_EXHAUSTED", Message: "Resource exhausted: too many requests", RetryAfter: time.Second,
		}},
		{http.StatusInternalServerError, "Internal", "", isAlways, &core.Error{Code: core.CodeInternal, Reason: "INTERNAL", Message: "Internal error."}},
		{http.StatusServiceUnavailable, "Unavailable", "Retry-After", isAlways, core.Unavailable("the database does not answer", nil)},
		{http.StatusGatewayTimeout, "DeadlineExceeded", "Retry-After", isAlways, &core.Error{
			Code: core.CodeDeadlineExceeded, Reason: "DEADLINE_EXCEEDED", Message: "The request exceeded its time limit.", RetryAfter: time.Second,
		}},
	}
}

func refusalsOf(r *route) []documentedRefusal {
	var all []documentedRefusal
	for _, refused := range documentedRefusals() {
		if refused.appliesTo(r) {
			all = append(all, refused)
		}
	}
	return all
}

// refusals returns the responses that operations share.
func (d *description) refusals() openapi3.ResponseBodies {
	d.status()
	bodies := openapi3.ResponseBodies{}
	for _, refused := range documentedRefusals() {
		example := plainObject(refused.example.Status(d.domain, "7TIMXS5HQ6ZCY3VD"))
		response := openapi3.NewResponse().WithDescription(d.text(refused.name)).WithContent(d.content(componentRef("Status"), example))
		if refused.header != "" {
			response.Headers = openapi3.Headers{refused.header: {Value: &openapi3.Header{Parameter: openapi3.Parameter{
				Description: d.text(refused.header), Schema: newSchema("string", ""),
			}}}}
		}
		bodies[refused.name] = &openapi3.ResponseRef{Value: response}
	}
	return bodies
}

// status describes google.rpc.Status with its details, as core.Status writes it.
func (d *description) status() {
	object := func(name string, properties openapi3.Schemas, required ...string) *openapi3.SchemaRef {
		for field, property := range properties {
			property.Value.Description = d.textOf(name, field)
		}
		d.found[name] = (&openapi3.Schema{Type: &openapi3.Types{"object"}, Description: d.text(name), Required: required, Properties: properties}).NewRef()
		return componentRef(name)
	}
	detail := func(name string, properties openapi3.Schemas, required ...string) *openapi3.SchemaRef {
		properties["@type"] = (&openapi3.Schema{Type: &openapi3.Types{"string"}, Const: "type.googleapis.com/google.rpc." + name}).NewRef()
		return object(name, properties, append([]string{"@type"}, required...)...)
	}
	listOf := func(t reflect.Type) *openapi3.SchemaRef { return d.schemaOf(reflect.SliceOf(t), inAnswer) }
	info := detail("ErrorInfo", openapi3.Schemas{
		"reason": newSchema("string", ""), "domain": newSchema("string", ""), "metadata": d.schemaOf(reflect.TypeFor[map[string]string](), inAnswer),
	}, "reason", "domain")
	others := openapi3.SchemaRefs{
		info,
		detail("BadRequest", openapi3.Schemas{"fieldViolations": listOf(reflect.TypeFor[fieldmask.Violation]())}, "fieldViolations"),
		detail("PreconditionFailure", openapi3.Schemas{"violations": listOf(reflect.TypeFor[core.Precondition]())}, "violations"),
		detail("ResourceInfo", openapi3.Schemas{
			"resourceType": newSchema("string", ""), "resourceName": newSchema("string", ""), "description": newSchema("string", ""),
		}, "resourceType", "resourceName", "description"),
		detail("RetryInfo", openapi3.Schemas{"retryDelay": (&openapi3.Schema{Type: &openapi3.Types{"string"}, Pattern: `^[0-9.]+s$`}).NewRef()}, "retryDelay"),
	}
	object("Status", openapi3.Schemas{
		"code": newSchema("integer", "int32"), "message": newSchema("string", ""),
		"details": (&openapi3.Schema{
			Type: &openapi3.Types{"array"}, MinItems: 1, PrefixItems: openapi3.SchemaRefs{info},
			Items: (&openapi3.Schema{OneOf: others}).NewRef(),
		}).NewRef(),
	}, "code", "message", "details")
}
