package platform

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"atrium/platform/fieldmask"
)

// An AccountAssociation connects a group with accounts of cloud providers, of
// GitHub and of the platform's own services. A group has at most one. The
// association has the same UID as its group.
type AccountAssociation struct {
	UID         UID               `json:"uid"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Amazon      *AmazonAccount    `json:"amazon,omitempty"`
	Google      *GoogleAccount    `json:"google,omitempty"`
	Platform    *PlatformServices `json:"platform,omitempty"`
	Azure       *AzureAccount     `json:"azure,omitempty"`
	CreateTime  Time              `json:"createTime,omitzero"`
	UpdateTime  Time              `json:"updateTime,omitzero"`
	GitHub      *GitHubAccount    `json:"github,omitempty"`
}

// An AmazonAccount is an account of Amazon Web Services.
type AmazonAccount struct {
	Account string `json:"account"`
}

// UnmarshalJSON decodes an account. Unknown members are an error.
func (a *AmazonAccount) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{"account": &a.Account})
}

// A GoogleAccount is a project of Google Cloud.
type GoogleAccount struct {
	ProjectID     string `json:"projectId"`
	ProjectNumber string `json:"projectNumber"`
}

// UnmarshalJSON decodes an account. Unknown members are an error.
func (a *GoogleAccount) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{"projectId": &a.ProjectID, "projectNumber": &a.ProjectNumber})
}

// PlatformServices maps each service of the platform to the identity as which the
// service acts in the group.
type PlatformServices struct { //nolint:revive // the message has this name in the API
	ServiceBindings map[string]string `json:"serviceBindings"`
}

// UnmarshalJSON decodes the bindings. Unknown members are an error.
func (p *PlatformServices) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{"serviceBindings": &p.ServiceBindings})
}

// An AzureAccount is a tenant of Microsoft Azure.
type AzureAccount struct {
	TenantID  string            `json:"tenantId"`
	ClientIDs map[string]string `json:"clientIds"` // client ids by purpose
}

// UnmarshalJSON decodes an account. Unknown members are an error.
func (a *AzureAccount) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{"tenantId": &a.TenantID, "clientIds": &a.ClientIDs})
}

// A GitHubAccount lists the installations of GitHub apps by app id.
type GitHubAccount struct {
	AppInstallations map[int64]GitHubAppInstallations `json:"appInstallations,omitempty"`
}

// UnmarshalJSON decodes an account. Unknown members are an error.
func (a *GitHubAccount) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{"appInstallations": &a.AppInstallations})
}

// GitHubAppInstallations lists the installations of one app.
type GitHubAppInstallations struct {
	Installations []GitHubInstallation `json:"installations,omitempty"`
}

// UnmarshalJSON decodes the installations. Unknown members are an error.
func (i *GitHubAppInstallations) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{"installations": &i.Installations})
}

// A GitHubInstallation is one installation of an app.
type GitHubInstallation struct {
	InstallationID Int64  `json:"installationId"`
	Name           string `json:"name,omitempty"`
}

// UnmarshalJSON decodes an installation. Unknown members are an error.
func (i *GitHubInstallation) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{"installationId": &i.InstallationID, "name": &i.Name})
}

// AccountAssociationFilter restricts a list of account associations.
type AccountAssociationFilter struct {
	ChangeFilter

	Name string `json:",omitempty"` // exact name
}

func (f *AccountAssociationFilter) check(v *violations) { v.checkFilter("name", f.Name) }

var accountAssociationKind = Kind[*AccountAssociation]{
	Name: "AccountAssociation", Plural: "accountAssociations", Area: areaIAM, Number: 11, Event: "iam.account_associations", Parent: groupRef,
	Verbs: []string{"created", "updated", "deleted"},
	List:  CapAccountAssociationsList, Create: CapAccountAssociationsCreate, Update: CapAccountAssociationsUpdate, Delete: CapAccountAssociationsDelete,
	SharesUID: true,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "name", Mode: fieldmask.Updatable},
		{Name: "description", Mode: fieldmask.Updatable}, {Name: "amazon", Mode: fieldmask.Updatable},
		{Name: "google", Mode: fieldmask.Updatable}, {Name: "platform", Mode: fieldmask.Updatable},
		{Name: "azure", Mode: fieldmask.Updatable}, {Name: "createTime", Mode: fieldmask.OutputOnly},
		{Name: "updateTime", Mode: fieldmask.Volatile}, {Name: "github", Mode: fieldmask.Updatable},
	},
	Required: []string{"name"},
	Orders: []OrderField[*AccountAssociation]{
		{"name", nil, func(a *AccountAssociation) any { return a.Name }},
		{"create_time", createTimeSpellings, func(a *AccountAssociation) any { return a.CreateTime }},
		{"update_time", updateTimeSpellings, func(a *AccountAssociation) any { return a.UpdateTime }},
		{"uid", nil, func(a *AccountAssociation) any { return string(a.UID) }},
	},
	DefaultOrder: Order{Field: "name"},
	UID:          func(a *AccountAssociation) UID { return a.UID },
	Group:        func(a *AccountAssociation) UID { return a.UID },
	Stamp:        func(a *AccountAssociation, uid UID, now Time) { a.UID, a.CreateTime, a.UpdateTime = uid, now, now },
	Check: func(a *AccountAssociation, changed func(string) bool, v *violations) {
		if changed("name") {
			v.checkRequiredLine("name", a.Name)
		}
		if changed("description") {
			v.checkLine("description", a.Description)
		}
		if changed("amazon") && a.Amazon != nil {
			v.checkRequiredLine("amazon.account", a.Amazon.Account)
		}
		if changed("google") && a.Google != nil {
			v.checkRequiredLine("google.projectId", a.Google.ProjectID)
			v.checkRequiredLine("google.projectNumber", a.Google.ProjectNumber)
		}
		if changed("platform") && a.Platform != nil {
			v.checkLabels("platform.serviceBindings", a.Platform.ServiceBindings)
		}
		if changed("azure") && a.Azure != nil {
			v.checkRequiredLine("azure.tenantId", a.Azure.TenantID)
			v.checkLabels("azure.clientIds", a.Azure.ClientIDs)
		}
		if changed("github") && a.GitHub != nil {
			a.GitHub.check(v)
		}
	},
}

// maxAccounts limits each list of an association.
const maxAccounts = 100

// checkLabels checks a map from labels to labels, which must not be empty.
func (v *violations) checkLabels(field string, m map[string]string) {
	switch {
	case len(m) == 0:
		v.add(field, "is required")
	case len(m) > maxAccounts:
		v.add(field, "must be at most %d", maxAccounts)
	default:
		for _, name := range slices.Sorted(maps.Keys(m)) {
			v.checkRequiredLine(field+"."+fieldmask.TruncateForMessage(name), m[name])
			v.checkLine(field, name)
		}
	}
}

func (a *GitHubAccount) check(v *violations) {
	switch {
	case len(a.AppInstallations) == 0:
		v.add("github.appInstallations", "is required")
		return
	case len(a.AppInstallations) > maxAccounts:
		v.add("github.appInstallations", "must be at most %d", maxAccounts)
		return
	}
	for _, app := range slices.Sorted(maps.Keys(a.AppInstallations)) {
		field := fmt.Sprintf("github.appInstallations.%d.installations", app)
		installations := a.AppInstallations[app].Installations
		if len(installations) > maxAccounts {
			v.add(field, "must be at most %d", maxAccounts)
			continue
		}
		for i, installation := range installations {
			if installation.InstallationID == 0 {
				v.add(fmt.Sprintf("%s[%d].installationId", field, i), "is required")
			}
			v.checkLine(fmt.Sprintf("%s[%d].name", field, i), installation.Name)
		}
	}
}

// AccountAssociations are the operations on account associations.
type AccountAssociations struct {
	Resources[*AccountAssociation, *AccountAssociationFilter]
	rows *Collection[*AccountAssociation, *AccountAssociationFilter]
	area *iamArea
}

// associationKeyFilter finds the association of a group: there is at most one.
func associationKeyFilter(*AccountAssociation) *AccountAssociationFilter {
	return &AccountAssociationFilter{}
}

// Create creates the association of a group.
func (s AccountAssociations) Create(ctx context.Context, parent UID, in fieldmask.Input[*AccountAssociation]) (*AccountAssociation, error) {
	association, err := s.rows.authorizeCreate(ctx, parent, in)
	if err != nil {
		return nil, s.rows.recordIfDenied(ctx, "created", parent, err)
	}
	return s.rows.insert(ctx, parent, association, func(tx Tx) error { return s.checkServiceBindings(ctx, tx, parent, association) })
}

// Update changes the association of a group.
func (s AccountAssociations) Update(ctx context.Context, uid UID, in fieldmask.Input[*AccountAssociation]) (*AccountAssociation, error) {
	return s.rows.updateChecked(ctx, uid, in, func(tx Tx, change *fieldmask.Change[*AccountAssociation]) error {
		return s.checkServiceBindings(ctx, tx, uid, change.Row)
	})
}

// checkServiceBindings fails unless the caller holds everything that is bound to
// the identities that services will act as in the group. Values that are not UIDs
// are skipped, because no service can act as them.
func (s AccountAssociations) checkServiceBindings(ctx context.Context, tx Tx, group UID, a *AccountAssociation) error {
	if a.Platform == nil {
		return nil
	}
	var v violations
	var identities []UID
	for _, service := range slices.Sorted(maps.Keys(a.Platform.ServiceBindings)) {
		if identity := UID(a.Platform.ServiceBindings[service]); identity.Valid() {
			identityReference.checkReach(&v, "platform.serviceBindings."+fieldmask.TruncateForMessage(service), identity, group)
			identities = append(identities, identity)
		}
	}
	if err := v.err(); err != nil || len(identities) == 0 {
		return err
	}
	caller, bound, err := s.area.readCallerAndBound(ctx, tx, identities...)
	if err != nil {
		return err
	}
	for _, identity := range identities {
		if identity.IsRoot() { // no identity has the UID of a root group
			return newNotFound(identityRef, identity)
		}
		if _, err := caller.checkMayGrantAll(bound[identity]); err != nil {
			// The error must not reveal the roles of the identity or their groups.
			return &Error{
				Code: CodePermissionDenied, Reason: "PERMISSION_DENIED", Metadata: map[string]string{"resource": string(identity)},
				Message: "Permission denied: you do not hold all that is bound to the identity " + string(identity),
			}
		}
	}
	return nil
}

// Delete deletes the association of a group.
func (s AccountAssociations) Delete(ctx context.Context, uid UID) error {
	return s.rows.remove(ctx, uid)
}
