package rest

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"atrium/internal/ingest"
	"atrium/internal/wire"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/intake"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// examples returns complete resources, and the bodies of other operations. The document
// shows the fields that a request or a response contains.
func examples() []any {
	const group, other = exampleUID, exampleUID + "/89abcdef01234567"
	made := core.At(time.Date(2026, 3, 27, 13, 55, 0, 785e6, time.UTC))
	run := intake.SourceRun{Number: 7, State: intake.Succeeded, StartTime: made, EndTime: made, Bytes: 48213, Records: []intake.SourceRunRecords{{Kind: "advisories", Added: 2, Updated: 1}}}
	return []any{
		iam.Group{UID: other, Name: "payments", Description: "The payments team", CreateTime: made, UpdateTime: made, Status: iam.OrgStatusReady},
		iam.Identity{UID: other, Name: "deployer", Description: "Deploys from the main branch", CreateTime: made, UpdateTime: made, ClaimMatch: &iam.ClaimMatch{
			Issuer: "https://issuer.example.com", SubjectPattern: "repo:acme/.+:ref:refs/heads/main",
		}},
		iam.Role{UID: other, Name: "release manager", Description: "Moves tags", Capabilities: []core.Capability{core.CapRepoList, core.CapTagList, core.CapTagCreate}, CreateTime: made, UpdateTime: made},
		iam.RoleBinding{
			UID: other, IdentityUID: group + "/76543210fedcba98", RoleUID: iam.ViewerRole, CreateTime: made,
			Identity: iam.BoundIdentity{UID: group + "/76543210fedcba98", Name: "deployer", Subject: "alice", Issuer: "https://issuer.example.com"},
			Group:    iam.BoundGroup{UID: group, Name: "acme"}, Role: iam.BoundRole{UID: iam.ViewerRole, Name: "viewer"},
		},
		inventory.Repo{UID: other, Name: "billing/api", Description: "The billing service", CatalogTier: core.CatalogTierApplication, Aliases: []string{"billing"}, Labels: core.Labels{"team": "payments", "env": "prod"}, CreateTime: made, UpdateTime: made},
		inventory.Tag{UID: other + "/0011223344556677", Name: "v1.4.2", Digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", UpdateTime: made},
		inventory.Advisory{UID: other, AdvisoryID: "GO-2026-1234", ArtifactName: "stdlib", ArtifactType: "go", Aliases: []string{"CVE-2026-12345"}, CreateTime: made, UpdateTime: made, Events: []inventory.AdvisoryEvent{
			{CreateTime: made, Author: "osv", Fixed: &inventory.Fixed{FixedVersion: "1.26.1"}},
		}},
		inventory.Readme{UID: other, Content: "# Billing\n\nThe billing service."},
		iam.IdentityProvider{UID: other, Name: "staff", Description: "Signs employees in", DefaultRole: iam.ViewerRole, CreateTime: made, UpdateTime: made, OIDC: &iam.OIDC{
			Issuer: "https://login.example.com", ClientID: "atrium", AdditionalScopes: []string{"groups"}, GroupsClaim: "groups",
		}},
		iam.ExternalGroupRoleMapping{UID: other + "/0011223344556677", IdentityProviderUID: other, ExternalGroupID: "engineers", RoleUID: iam.EditorRole, Scope: group, CreateTime: made},
		iam.GroupInvite{UID: other, RoleUID: iam.ViewerRole, Email: "ada@example.com", TTL: core.Duration(24 * time.Hour), ExpirationTime: core.At(made.Add(24 * time.Hour)), SingleUse: true, KeyID: "0123456789abcdef", CreateTime: made,
			Role: iam.InvitedRole{UID: iam.ViewerRole, Name: "viewer"}},
		iam.AccountAssociation{UID: other, Name: "production", Description: "Where the services run", Amazon: &iam.AmazonAccount{Account: "123456789012"}, Google: &iam.GoogleAccount{ProjectID: "acme-prod", ProjectNumber: "987654321098"}, CreateTime: made, UpdateTime: made},
		batch{Parent: group, RoleUID: iam.ViewerRole, Requests: []batchRequest{{RoleBinding: iam.RoleBinding{IdentityUID: group + "/76543210fedcba98"}}, {RoleBinding: iam.RoleBinding{IdentityUID: other, RoleUID: iam.EditorRole}}}},
		inventory.Finding{
			UID: other + "/0011223344556677", Repo: other, Digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Advisory: group + "/8899aabbccddeeff", Sources: []string{"GO-2026-1234"},
			VulnerabilityID: "CVE-2026-12345", Package: "stdlib", Ecosystem: "Go", InstalledVersion: "1.26.0", FixedVersions: []string{"1.26.1"}, Severity: inventory.AdvisorySeverity{Rating: core.SeverityHigh},
			Basis: inventory.BasisVersion, State: inventory.FindingOpen, FirstSeenTime: made, UpdateTime: made,
		},
		wire.UpdateFindingsRequest{UIDs: []core.UID{other + "/0011223344556677"}, Finding: json.RawMessage(`{"state":"FINDING_STATE_ACCEPTED","note":"The parser is not used."}`)},
		wire.AcceptanceRule{UID: other + "/0011223344556677", Within: other, Where: &inventory.FindingPattern{MaxSeverity: core.SeverityLow}, Note: "Low risks are fixed with the next release.", ExpireTime: made, CreateTime: made, AcceptedCount: 12},
		wire.PreviewAcceptanceRuleRequest{Within: other, Where: &inventory.FindingPattern{MaxSeverity: core.SeverityLow}},
		wire.DuePolicy{Within: other, DueDays: inventory.DueDays{Critical: openapi3.Ptr(7), High: openapi3.Ptr(30)}},
		wire.ConfirmRoleBindingsRequest{RoleBindings: []wire.ConfirmedBinding{{UID: other, IdentityUID: group + "/76543210fedcba98", RoleUID: iam.ViewerRole}}, Note: "Still on the team."},
		wire.BatchDeleteRoleBindingsRequest{UIDs: []core.UID{other}, Note: "Has left the team."},
		wire.RedeliverRequest{UIDs: []core.UID{other + "/0011223344556677"}},
		wire.SubscriptionKey{UID: other},
		wire.UIDs{UIDs: []core.UID{other}},
		wire.BatchUpdateReposRequest{Requests: []wire.RepoChange{{Repo: json.RawMessage(`{"uid":"` + other + `","description":"The billing service"}`)}}},
		wire.BatchCreateTagsRequest{Requests: []wire.NewTag{{Parent: other, Tag: json.RawMessage(`{"name":"v1.4.2","digest":"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}`)}}},
		wire.BatchCreateIdentitiesRequest{Requests: []wire.NewIdentity{{Parent: group, Identity: json.RawMessage(`{"name":"deployer","claimMatch":{"issuer":"https://issuer.example.com","subject":"deployer"}}`)}}},
		wire.BatchCreateGroupInvitesRequest{Requests: []wire.NewGroupInvite{{Parent: group, GroupInvite: json.RawMessage(`{"roleUid":"` + iam.ViewerRole + `","ttl":"86400s"}`)}}},
		wire.BatchCreateSubscriptionsRequest{Requests: []wire.NewSubscription{{Parent: group, Subscription: json.RawMessage(`{"sink":"https://hooks.example.com/atrium"}`)}}},
		wire.CompareImagesRequest{From: wire.ImageName{Repo: other, Digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}, To: wire.ImageName{Repo: other, Digest: "sha256:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"}},
		batchDeletion{Parent: other, Names: []core.UID{other + "/0011223344556677", other + "/8899aabbccddeeff"}},
		verification{UID: other},
		invitation{Code: "0123456789abcdef.0123456789abcdef0123456789abcdef0123456789abcdef"},
		ingest.Report{Records: 1, Summary: ingest.Summary{
			Kinds: []ingest.KindCounts{{Name: "SBOMs", Added: 1}, {Name: "repos", Added: 1}, {Name: "tags", Added: 1}},
			Images: []ingest.ImageCounts{{Repo: other, Digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Packages: 2, Findings: &ingest.ImageFindings{
				Opened: 1, Open: ingest.FindingsByRank{Total: 1, High: 1, Fixable: 1},
			}}},
		}, Refused: []ingest.Problem{}, Ignored: []ingest.Problem{{Place: ":2", Reason: "is left out: it has 1 packages, and -:1 has 2 for the same image and architecture"}}},
		acceptance{DocumentIDs: []string{"msa", "privacy"}},
		subscriptionTest{UID: other},
		webhooks.TestResult{EventID: "01jb2m3n4p5q6r7s8t9v0w1x2y", Delivered: true, Status: 200, Answer: "ok"},
		sourceKey{UID: other},
		sourceRuns{Runs: []*intake.SourceRun{&run}},
		intake.Source{UID: other, Name: "advisories", Type: intake.OSV, URL: "https://mirror.example.com/osv/", Ecosystems: []string{"Go", "Debian:12"}, Interval: core.Duration(time.Hour), State: intake.Succeeded,
			CreateTime: made, UpdateTime: made, LastRunTime: made, LastSuccessTime: made, NextRunTime: core.At(made.Add(time.Hour)), LastRun: &run},
		webhooks.Subscription{UID: other, Sink: "https://hooks.example.com/atrium", Types: []string{"dev.atrium.api.iam.group.created.v1"}, CreateTime: made, UpdateTime: made},
	}
}

// example returns the example of a type for a use, or nil if there is none.
func (d *description) example(t reflect.Type, use use) any {
	for _, example := range examples() {
		if reflect.TypeOf(example) != t {
			continue
		}
		schema := d.found[componentName(d.nameOf(t))+suffixes[use]].Value
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

// importExamples has a document that each import reads.
var importExamples = map[string]any{
	"ImportSBOMs": map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "metadata": map[string]any{"component": map[string]any{"type": "container", "name": "checkout"}},
		"components": []any{map[string]any{"type": "library", "name": "left-pad", "version": "1.3.0", "purl": "pkg:npm/left-pad@1.3.0"}},
	},
	"CheckSBOM": map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "components": []any{map[string]any{"type": "library", "name": "left-pad", "version": "1.3.0", "purl": "pkg:npm/left-pad@1.3.0"}},
	},
	"ImportVEX": map[string]any{
		"@context": "https://openvex.dev/ns/v0.2.0", "@id": "https://example.com/vex/1", "author": "acme", "timestamp": "2026-03-27T13:55:00Z", "version": 1,
		"statements": []any{map[string]any{
			"vulnerability": map[string]any{"name": "CVE-2026-12345"}, "products": []any{map[string]any{"@id": "pkg:npm/left-pad@1.3.0"}},
			"status": "not_affected", "justification": "vulnerable_code_not_in_execute_path",
		}},
	},
	"ImportOSV": map[string]any{
		"id": "ACME-2026-1", "modified": "2026-03-27T13:55:00Z", "aliases": []any{"CVE-2026-12345"}, "summary": "A parser reads too far",
		"affected": []any{map[string]any{"package": map[string]any{"ecosystem": "Go", "name": "example.com/parser"}, "ranges": []any{
			map[string]any{"type": "SEMVER", "events": []any{map[string]any{"introduced": "0"}, map[string]any{"fixed": "1.4.2"}}},
		}}},
	},
	"ImportRegistry": map[string]any{"kind": "repo", "name": "shop/api", "description": "Takes orders", "readme": "# Shop"},
}

// parameterExamples has a value for each required parameter of a query.
var parameterExamples = map[string]any{
	"group": exampleUID, "within": exampleUID, "on": exampleUID, "id": "CVE-2026-12345", "query": "billing", "time": "2026-03-01T00:00:00Z", "from": "2026-03-01T00:00:00Z", "to": "2026-04-01T00:00:00Z", "issuer": "https://issuer.example.com", "subject": "alice", "ecosystems": []any{"ECOSYSTEM_JAVA"}, "imageRefs": []any{"billing/api:v1.4.2"},
	"since": "2026-03-01T00:00:00Z", "image": "acme/shop/checkout:1.4", "start_time": "2026-03-01T00:00:00Z", "end_time": "2026-04-01T00:00:00Z",
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
