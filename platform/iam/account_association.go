package iam

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// An AccountAssociation connects a group with accounts of cloud providers, of
// GitHub and of the platform's own services. A group has at most one. The
// association has the same UID as its group.
type AccountAssociation struct {
	UID         core.UID          `json:"uid"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Amazon      *AmazonAccount    `json:"amazon,omitempty"`
	Google      *GoogleAccount    `json:"google,omitempty"`
	Platform    *PlatformServices `json:"platform,omitempty"`
	Azure       *AzureAccount     `json:"azure,omitempty"`
	CreateTime  core.Time         `json:"createTime,omitzero"`
	UpdateTime  core.Time         `json:"updateTime,omitzero"`
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
type PlatformServices struct {
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
	InstallationID core.Int64 `json:"installationId"`
	Name           string     `json:"name,omitempty"`
}

// UnmarshalJSON decodes an installation. Unknown members are an error.
func (i *GitHubInstallation) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{"installationId": &i.InstallationID, "name": &i.Name})
}

// AccountAssociationFilter restricts a list of account associations.
type AccountAssociationFilter struct {
	core.ChangeFilter

	Name string `json:",omitempty"` // exact name
}

// Check adds the violations of the conditions.
func (f *AccountAssociationFilter) Check(v *core.Violations) { v.CheckFilter("name", f.Name) }

// AccountAssociationKind has the facts about account associations.
var AccountAssociationKind = core.Kind[*AccountAssociation]{
	Name: "AccountAssociation", Plural: "accountAssociations", Area: core.AreaIAM, Number: 11, Event: "iam.account_associations", Parent: core.GroupRef,
	Verbs: []string{"created", "updated", "deleted"},
	List:  core.CapAccountAssociationsList, Create: core.CapAccountAssociationsCreate, Update: core.CapAccountAssociationsUpdate, Delete: core.CapAccountAssociationsDelete,
	SharesUID: true,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "name", Mode: fieldmask.Updatable},
		{Name: "description", Mode: fieldmask.Updatable}, {Name: "amazon", Mode: fieldmask.Updatable},
		{Name: "google", Mode: fieldmask.Updatable}, {Name: "platform", Mode: fieldmask.Updatable},
		{Name: "azure", Mode: fieldmask.Updatable}, {Name: "createTime", Mode: fieldmask.OutputOnly},
		{Name: "updateTime", Mode: fieldmask.Volatile}, {Name: "github", Mode: fieldmask.Updatable},
	},
	Required: []string{"name"},
	Orders: []core.OrderField[*AccountAssociation]{
		{Name: "name", Value: func(a *AccountAssociation) any { return a.Name }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(a *AccountAssociation) any { return a.CreateTime }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(a *AccountAssociation) any { return a.UpdateTime }},
		{Name: "uid", Value: func(a *AccountAssociation) any { return string(a.UID) }},
	},
	DefaultOrder: core.Order{Field: "name"},
	UID:          func(a *AccountAssociation) core.UID { return a.UID },
	Group:        func(a *AccountAssociation) core.UID { return a.UID },
	Stamp: func(a *AccountAssociation, uid core.UID, now core.Time) {
		a.UID, a.CreateTime, a.UpdateTime = uid, now, now
	},
	Check: func(a *AccountAssociation, changed func(string) bool, v *core.Violations) {
		if changed("name") {
			v.CheckRequiredLine("name", a.Name)
		}
		if changed("description") {
			v.CheckLine("description", a.Description)
		}
		if changed("amazon") && a.Amazon != nil {
			v.CheckRequiredLine("amazon.account", a.Amazon.Account)
		}
		if changed("google") && a.Google != nil {
			v.CheckRequiredLine("google.projectId", a.Google.ProjectID)
			v.CheckRequiredLine("google.projectNumber", a.Google.ProjectNumber)
		}
		if changed("platform") && a.Platform != nil {
			checkAccountLabels(v, "platform.serviceBindings", a.Platform.ServiceBindings)
		}
		if changed("azure") && a.Azure != nil {
			v.CheckRequiredLine("azure.tenantId", a.Azure.TenantID)
			checkAccountLabels(v, "azure.clientIds", a.Azure.ClientIDs)
		}
		if changed("github") && a.GitHub != nil {
			a.GitHub.Check(v)
		}
	},
}

// maxAccounts limits each list of an association.
const maxAccounts = 100

// checkAccountLabels checks a map from labels to labels, which must not be empty.
func checkAccountLabels(v *core.Violations, field string, m map[string]string) {
	switch {
	case len(m) == 0:
		v.Add(field, "is required")
	case len(m) > maxAccounts:
		v.Add(field, "must have at most %d items", maxAccounts)
	default:
		for _, name := range slices.Sorted(maps.Keys(m)) {
			v.CheckRequiredLine(field+"."+fieldmask.TruncateForMessage(name), m[name])
			v.CheckLine(field, name)
		}
	}
}

// Check adds the violations of the fields.
func (a *GitHubAccount) Check(v *core.Violations) {
	switch {
	case len(a.AppInstallations) == 0:
		v.Add("github.appInstallations", "is required")
		return
	case len(a.AppInstallations) > maxAccounts:
		v.Add("github.appInstallations", "must have at most %d items", maxAccounts)
		return
	}
	for _, app := range slices.Sorted(maps.Keys(a.AppInstallations)) {
		field := fmt.Sprintf("github.appInstallations.%d.installations", app)
		installations := a.AppInstallations[app].Installations
		if len(installations) > maxAccounts {
			v.Add(field, "must have at most %d items", maxAccounts)
			continue
		}
		for i, installation := range installations {
			if installation.InstallationID == 0 {
				v.Add(fmt.Sprintf("%s[%d].installationId", field, i), "is required")
			}
			v.CheckLine(fmt.Sprintf("%s[%d].name", field, i), installation.Name)
		}
	}
}

// AccountAssociations are the operations on account associations.
type AccountAssociations struct {
	core.Resources[*AccountAssociation, *AccountAssociationFilter]
	rows *core.Collection[*AccountAssociation, *AccountAssociationFilter]
	area *Area
}

// associationKeyFilter finds the association of a group: there is at most one.
func associationKeyFilter(*AccountAssociation) *AccountAssociationFilter {
	return &AccountAssociationFilter{}
}

// Create creates the association of a group.
func (s AccountAssociations) Create(ctx context.Context, parent core.UID, in fieldmask.Input[*AccountAssociation]) (*AccountAssociation, error) {
	association, err := s.rows.AuthorizeCreate(ctx, parent, in)
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", parent, err)
	}
	return s.rows.Insert(ctx, parent, association, func(tx core.Tx) error { return s.checkServiceBindings(ctx, tx, parent, association) })
}

// Update changes the association of a group.
func (s AccountAssociations) Update(ctx context.Context, uid core.UID, in fieldmask.Input[*AccountAssociation]) (*AccountAssociation, error) {
	return s.rows.UpdateChecked(ctx, uid, in, func(tx core.Tx, change *fieldmask.Change[*AccountAssociation]) error {
		return s.checkServiceBindings(ctx, tx, uid, change.Row)
	})
}

// checkServiceBindings fails unless the caller holds everything that is bound to
// the identities that services will act as in the group. Values that are not UIDs
// are skipped, because no service can act as them.
func (s AccountAssociations) checkServiceBindings(ctx context.Context, tx core.Tx, group core.UID, a *AccountAssociation) error {
	if a.Platform == nil {
		return nil
	}
	var v core.Violations
	var identities []core.UID
	for _, service := range slices.Sorted(maps.Keys(a.Platform.ServiceBindings)) {
		if identity := core.UID(a.Platform.ServiceBindings[service]); identity.Valid() {
			core.IdentityReference.CheckReach(&v, "platform.serviceBindings."+fieldmask.TruncateForMessage(service), identity, group)
			identities = append(identities, identity)
		}
	}
	if err := v.Err(); err != nil || len(identities) == 0 {
		return err
	}
	caller, bound, err := s.area.readCallerAndBound(ctx, tx, identities...)
	if err != nil {
		return err
	}
	for _, identity := range identities {
		if identity.IsRoot() { // no identity has the UID of a root group
			return core.NewNotFound(core.IdentityRef, identity)
		}
		if _, err := checkMayGrantAll(caller, bound[identity]); err != nil {
			// The error must not reveal the roles of the identity or their groups.
			return &core.Error{
				Code: core.CodePermissionDenied, Reason: "PERMISSION_DENIED", Metadata: map[string]string{"resource": string(identity)},
				Message: "Permission denied: you do not hold all capabilities that are bound to the identity " + string(identity),
			}
		}
	}
	return nil
}

// Delete deletes the association of a group.
func (s AccountAssociations) Delete(ctx context.Context, uid core.UID) error {
	return s.rows.Remove(ctx, uid)
}
