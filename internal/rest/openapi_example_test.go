package rest

import (
	"encoding/json"
	"reflect"
	"time"

	"atrium/platform"
)

// examples returns complete resources, and the bodies of other operations. The document
// shows the fields that a request or a response contains.
func examples() []any {
	const group, other = exampleUID, exampleUID + "/89abcdef01234567"
	made := platform.At(time.Date(2026, 3, 27, 13, 55, 0, 785e6, time.UTC))
	return []any{
		platform.Group{UID: other, Name: "payments", Description: "The payments team", CreateTime: made, UpdateTime: made, Status: platform.OrgStatusReady},
		platform.Identity{UID: other, Name: "deployer", Description: "Deploys from the main branch", CreateTime: made, UpdateTime: made, ClaimMatch: &platform.ClaimMatch{
			Issuer: "https://issuer.example.com", SubjectPattern: "repo:acme/.+:ref:refs/heads/main",
		}},
		platform.Role{UID: other, Name: "release manager", Description: "Moves tags", Capabilities: []platform.Capability{platform.CapRepoList, platform.CapTagList, platform.CapTagCreate}, CreateTime: made, UpdateTime: made},
		platform.RoleBinding{
			UID: other, IdentityUID: group + "/76543210fedcba98", RoleUID: platform.ViewerRole, CreateTime: made,
			Identity: platform.BoundIdentity{UID: group + "/76543210fedcba98", Name: "deployer", Subject: "alice", Issuer: "https://issuer.example.com"},
			Group:    platform.BoundGroup{UID: group, Name: "acme"}, Role: platform.BoundRole{UID: platform.ViewerRole, Name: "viewer"},
		},
		platform.Repo{UID: other, Name: "billing/api", Description: "The billing service", CatalogTier: platform.CatalogTierApplication, Aliases: []string{"billing"}, Labels: platform.Labels{"team": "payments", "env": "prod"}, CreateTime: made, UpdateTime: made},
		platform.Tag{UID: other + "/0011223344556677", Name: "v1.4.2", Digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", UpdateTime: made},
		platform.Advisory{UID: other, AdvisoryID: "GO-2026-1234", ArtifactName: "stdlib", ArtifactType: "go", Aliases: []string{"CVE-2026-12345"}, CreateTime: made, UpdateTime: made, Events: []platform.AdvisoryEvent{
			{CreateTime: made, Author: "osv", Fixed: &platform.Fixed{FixedVersion: "1.26.1"}},
		}},
		platform.Readme{UID: other, Content: "# Billing\n\nThe billing service."},
		platform.IdentityProvider{UID: other, Name: "staff", Description: "Signs employees in", DefaultRole: platform.ViewerRole, CreateTime: made, UpdateTime: made, OIDC: &platform.OIDC{
			Issuer: "https://login.example.com", ClientID: "atrium", AdditionalScopes: []string{"groups"}, GroupsClaim: "groups",
		}},
		platform.ExternalGroupRoleMapping{UID: other + "/0011223344556677", IdentityProviderUID: other, ExternalGroupID: "engineers", RoleUID: platform.EditorRole, Scope: group, CreateTime: made},
		platform.GroupInvite{UID: other, RoleUID: platform.ViewerRole, Email: "ada@example.com", TTL: platform.Duration(24 * time.Hour), ExpirationTime: platform.At(made.Add(24 * time.Hour)), SingleUse: true, KeyID: "0123456789abcdef", CreateTime: made,
			Role: platform.InvitedRole{UID: platform.ViewerRole, Name: "viewer"}},
		platform.AccountAssociation{UID: other, Name: "production", Description: "Where the services run", Amazon: &platform.AmazonAccount{Account: "123456789012"}, Google: &platform.GoogleAccount{ProjectID: "acme-prod", ProjectNumber: "987654321098"}, CreateTime: made, UpdateTime: made},
		batch{Parent: group, RoleUID: platform.ViewerRole, Requests: []batchRequest{{RoleBinding: platform.RoleBinding{IdentityUID: group + "/76543210fedcba98"}}, {RoleBinding: platform.RoleBinding{IdentityUID: other, RoleUID: platform.EditorRole}}}},
		batchDeletion{Parent: other, Names: []platform.UID{other + "/0011223344556677", other + "/8899aabbccddeeff"}},
		verification{UID: other},
		invitation{Code: "0123456789abcdef.0123456789abcdef0123456789abcdef0123456789abcdef"},
		acceptance{DocumentIDs: []string{"msa", "privacy"}},
		platform.Subscription{UID: other, Sink: "https://hooks.example.com/atrium", Types: []string{"dev.atrium.api.iam.group.created.v1"}, CreateTime: made, UpdateTime: made},
	}
}

// example returns the example of a type for a use, or nil if there is none.
func (d *description) example(t reflect.Type, use use) any {
	for _, example := range examples() {
		if reflect.TypeOf(example) != t {
			continue
		}
		schema := d.found[d.nameOf(t)+suffixes[use]].Value
		shown := plainObject(example)
		removeEmpty(shown)
		for field := range shown {
			if property := schema.Properties[field]; property == nil || property.Value.ReadOnly {
				delete(shown, field)
			}
		}
		return shown
	}
	return nil
}

// removeEmpty removes what an example leaves out from an object and all that is in it: empty texts and objects.
func removeEmpty(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			removeEmpty(member)
			if object, isObject := member.(map[string]any); member == "" || isObject && len(object) == 0 {
				delete(value, name)
			}
		}
	case []any:
		for _, element := range value {
			removeEmpty(element)
		}
	}
}

// parameterExamples has a value for each required parameter of a query.
var parameterExamples = map[string]any{
	"issuer": "https://issuer.example.com", "subject": "alice", "ecosystems": []any{"ECOSYSTEM_JAVA"}, "imageRefs": []any{"billing/api:v1.4.2"},
	"start_time": "2026-03-01T00:00:00Z", "end_time": "2026-04-01T00:00:00Z",
}

// plainObject converts an object into maps, as JSON decodes it.
func plainObject(object any) map[string]any {
	var members map[string]any
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, &members)
	}
	if err != nil {
		panic(err) // Plain data can always be encoded.
	}
	return members
}
