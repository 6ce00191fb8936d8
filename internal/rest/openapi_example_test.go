package rest

import (
	"encoding/json"
	"reflect"
	"time"

	"atrium/platform"
)

// examples returns complete resources of the kinds that people meet first. The document
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
		platform.Repo{UID: other, Name: "billing/api", Description: "The billing service", CatalogTier: platform.CatalogTierApplication, Aliases: []string{"billing"}, CreateTime: made, UpdateTime: made},
		platform.Tag{UID: other + "/0011223344556677", Name: "v1.4.2", Digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", UpdateTime: made},
		platform.Advisory{UID: other, AdvisoryID: "GO-2026-1234", ArtifactName: "stdlib", ArtifactType: "go", Aliases: []string{"CVE-2026-12345"}, CreateTime: made, UpdateTime: made, Events: []platform.AdvisoryEvent{
			{CreateTime: made, Author: "osv", Fixed: &platform.Fixed{FixedVersion: "1.26.1"}},
		}},
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
		for field := range shown {
			if property := schema.Properties[field]; property == nil || property.Value.ReadOnly {
				delete(shown, field)
			}
		}
		return shown
	}
	return nil
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
