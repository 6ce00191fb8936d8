package platform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// An AccountAssociation ties a group to accounts elsewhere: at clouds, on
// GitHub, and to the platform's own services. A group has at most one, and it
// has the group's UID.
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

// An AmazonAccount is one at Amazon Web Services.
type AmazonAccount struct {
	Account string `json:"account"`
}

// UnmarshalJSON reads an account; a member it does not know is an error.
func (a *AmazonAccount) UnmarshalJSON(b []byte) error {
	return unmarshalMembers(b, member{"account", &a.Account})
}

// A GoogleAccount is a project of Google Cloud.
type GoogleAccount struct {
	ProjectID     string `json:"projectId"`
	ProjectNumber string `json:"projectNumber"`
}

// UnmarshalJSON reads an account; a member it does not know is an error.
func (a *GoogleAccount) UnmarshalJSON(b []byte) error {
	return unmarshalMembers(b, member{"projectId", &a.ProjectID}, member{"projectNumber", &a.ProjectNumber})
}

// PlatformServices names, by service of the platform, as which identity the
// service acts in the group.
type PlatformServices struct { //nolint:revive // the name of the wire's message
	ServiceBindings map[string]string `json:"serviceBindings"`
}

// UnmarshalJSON reads bindings; a member it does not know is an error.
func (p *PlatformServices) UnmarshalJSON(b []byte) error {
	return unmarshalMembers(b, member{"serviceBindings", &p.ServiceBindings})
}

// An AzureAccount is a tenant of Microsoft Azure.
type AzureAccount struct {
	TenantID  string            `json:"tenantId"`
	ClientIDs map[string]string `json:"clientIds"` // by what they are for
}

// UnmarshalJSON reads an account; a member it does not know is an error.
func (a *AzureAccount) UnmarshalJSON(b []byte) error {
	return unmarshalMembers(b, member{"tenantId", &a.TenantID}, member{"clientIds", &a.ClientIDs})
}

// A GitHubAccount lists where GitHub apps are installed, by the app's number.
type GitHubAccount struct {
	AppInstallations map[int64]GitHubAppInstallations `json:"appInstallations,omitempty"`
}

// UnmarshalJSON reads an account; a member it does not know is an error.
func (a *GitHubAccount) UnmarshalJSON(b []byte) error {
	return unmarshalMembers(b, member{"appInstallations", &a.AppInstallations})
}

// GitHubAppInstallations are those of one app.
type GitHubAppInstallations struct {
	Installations []GitHubInstallation `json:"installations,omitempty"`
}

// UnmarshalJSON reads installations; a member it does not know is an error.
func (i *GitHubAppInstallations) UnmarshalJSON(b []byte) error {
	return unmarshalMembers(b, member{"installations", &i.Installations})
}

// A GitHubInstallation is one installation of an app.
type GitHubInstallation struct {
	InstallationID Int64  `json:"installationId"`
	Name           string `json:"name,omitempty"`
}

// UnmarshalJSON reads an installation; a member it does not know is an error.
func (i *GitHubInstallation) UnmarshalJSON(b []byte) error {
	return unmarshalMembers(b, member{"installationId", &i.InstallationID}, member{"name", &i.Name})
}

// AccountAssociationFilter restricts a list of account associations.
type AccountAssociationFilter struct {
	Name string `json:",omitempty"` // exactly
}

func (f AccountAssociationFilter) check(v *violations) { v.filter("name", f.Name) }

var accountAssociationKind = Kind[AccountAssociation]{
	Name: "AccountAssociation", Plural: "accountAssociations", Area: "iam", Number: 11, Event: "iam.account_associations", Parent: "Group",
	Verbs: []string{"created", "updated", "deleted"},
	List:  CapAccountAssociationsList, Create: CapAccountAssociationsCreate, Update: CapAccountAssociationsUpdate, Delete: CapAccountAssociationsDelete,
	SharesUID: true,
	Fields: []Field{
		{"uid", OutputOnly}, {"name", Updatable}, {"description", Updatable}, {"amazon", Updatable}, {"google", Updatable},
		{"platform", Updatable}, {"azure", Updatable}, {"createTime", OutputOnly}, {"updateTime", Volatile}, {"github", Updatable},
	},
	Required: []string{"name"},
	Orders: []OrderField[AccountAssociation]{
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
			v.label("name", a.Name)
		}
		if changed("description") {
			v.line("description", a.Description)
		}
		if changed("amazon") && a.Amazon != nil {
			v.label("amazon.account", a.Amazon.Account)
		}
		if changed("google") && a.Google != nil {
			v.label("google.projectId", a.Google.ProjectID)
			v.label("google.projectNumber", a.Google.ProjectNumber)
		}
		if changed("platform") && a.Platform != nil {
			v.labels("platform.serviceBindings", a.Platform.ServiceBindings)
		}
		if changed("azure") && a.Azure != nil {
			v.label("azure.tenantId", a.Azure.TenantID)
			v.labels("azure.clientIds", a.Azure.ClientIDs)
		}
		if changed("github") && a.GitHub != nil {
			a.GitHub.check(v)
		}
	},
}

// maxAccounts bounds each list of what a group is tied to.
const maxAccounts = 100

// labels checks a map of one label to another, of which there is at least one.
func (v *violations) labels(field string, m map[string]string) {
	switch {
	case len(m) == 0:
		v.add(field, "is required")
	case len(m) > maxAccounts:
		v.add(field, "must be at most %d", maxAccounts)
	default:
		for _, name := range sortedKeys(m) {
			v.label(field+"."+shown(name), m[name])
			v.line(field, name)
		}
	}
}

func (a *GitHubAccount) check(v *violations) {
	if len(a.AppInstallations) > maxAccounts {
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
			v.line(fmt.Sprintf("%s[%d].name", field, i), installation.Name)
		}
	}
}

// AccountAssociations are the operations on account associations.
type AccountAssociations struct {
	resources[AccountAssociation, AccountAssociationFilter]
}

// sameGroup is what the association of a group collides with: any other.
func sameGroup(*AccountAssociation) AccountAssociationFilter { return AccountAssociationFilter{} }

// Create ties a group to accounts.
func (s AccountAssociations) Create(ctx context.Context, parent UID, in Input[AccountAssociation]) (*AccountAssociation, error) {
	made, err := s.accept(ctx, parent, in)
	if err != nil {
		return nil, s.refused(ctx, "created", parent, err)
	}
	return s.insert(ctx, parent, made, sameGroup, func(tx Tx) error { return s.handsOut(ctx, tx, parent, made) })
}

// Update changes what a group is tied to.
func (s AccountAssociations) Update(ctx context.Context, uid UID, in Input[AccountAssociation]) (*AccountAssociation, error) {
	return s.updateIf(ctx, uid, in, sameGroup, func(tx Tx, change *change[AccountAssociation]) error {
		return s.handsOut(ctx, tx, uid, change.row)
	})
}

// handsOut demands of the caller all that is bound to the identities that
// services will act as in the group. What is no UID lets nobody act.
func (s AccountAssociations) handsOut(ctx context.Context, tx Tx, group UID, a *AccountAssociation) error {
	if a.Platform == nil {
		return nil
	}
	var v violations
	var identities []UID
	for _, service := range sortedKeys(a.Platform.ServiceBindings) {
		if identity := UID(a.Platform.ServiceBindings[service]); identity.Valid() {
			toIdentity.checkReach(&v, "platform.serviceBindings."+shown(service), identity, group)
			identities = append(identities, identity)
		}
	}
	if err := v.err(); err != nil {
		return err
	}
	for _, identity := range identities {
		if identity.IsRoot() { // no identity is, and nothing bound to it would be found
			return missing(toIdentity.kind, identity)
		}
		err := s.p.Identities.holdsAllBound(ctx, tx, identity)
		if errors.Is(err, &Error{Code: CodePermissionDenied}) {
			// Where it is bound, and to what, is not for the caller to know.
			return &Error{
				Code: CodePermissionDenied, Reason: "PERMISSION_DENIED", Metadata: map[string]string{"resource": string(identity)},
				Message: "Permission denied: you do not hold all that is bound to the identity " + string(identity),
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Delete unties a group from its accounts.
func (s AccountAssociations) Delete(ctx context.Context, uid UID) error { return s.remove(ctx, uid) }
