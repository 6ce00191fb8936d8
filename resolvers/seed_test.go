package resolvers

import (
	"fmt"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/registry"
	"atrium/platform/webhooks"
)

// must returns the value of an operation, which must succeed.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func body[T any](format string, args ...any) fieldmask.Input[T] {
	return fieldmask.JSONInput[T](fmt.Appendf(nil, format, args...), nil)
}

func (w *world) group(parent core.UID, name string) core.UID {
	w.t.Helper()
	ctx := core.WithActor(w.t.Context(), core.NewOperator("test"))
	return must(w.p.Groups.Create(ctx, parent, body[*iam.Group](`{"name":%q}`, name)))(w.t).UID
}

// member creates an identity for a subject in a group, with a role there.
func (w *world) member(group core.UID, subject string, role core.UID) core.UID {
	w.t.Helper()
	ctx := core.WithActor(w.t.Context(), core.NewOperator("test"))
	rule := `{"name":%q,"claimMatch":{"issuer":%q,"subject":%q}}`
	identity := must(w.p.Identities.Create(ctx, group, body[*iam.Identity](rule, subject, testIssuer, subject)))(w.t)
	must(w.p.RoleBindings.Create(ctx, group, body[*iam.RoleBinding](`{"identityUid":%q,"roleUid":%q}`, identity.UID, role)))(w.t)
	return identity.UID
}

// role creates a role with capabilities.
func (w *world) role(group core.UID, name string, capabilities ...core.Capability) core.UID {
	w.t.Helper()
	ctx := core.WithActor(w.t.Context(), core.NewOperator("test"))
	return must(w.p.Roles.Create(ctx, group, fieldmask.TypedInput(&iam.Role{Name: name, Capabilities: capabilities}, "name", "capabilities")))(w.t).UID
}

func digest(n int) string { return fmt.Sprintf("sha256:%064x", n) }

// addRegistry creates repos r00, r01 ... with readmes. Each repo has tags t00, t01 ...,
// and every tag except the last one has an image.
func (w *world) addRegistry(group core.UID, repos, tags int) {
	w.t.Helper()
	ctx := core.WithActor(w.t.Context(), core.NewOperator("test"))
	made := make([]*registry.ImportedRepo, repos)
	for i := range made {
		made[i] = &registry.ImportedRepo{Repo: inventory.Repo{Name: fmt.Sprintf("r%02d", i)}, Readme: fmt.Sprintf("# r%02d", i)}
	}
	must(w.p.Registry.ImportRepos(ctx, group, made, core.ImportOptions{}))(w.t)
	var named []*registry.ImportedTag
	var images []*inventory.Image
	for i, r := range made {
		for n := range tags {
			named = append(named, &registry.ImportedTag{Repo: r.UID, Tag: inventory.Tag{Name: fmt.Sprintf("t%02d", n), Digest: digest(i*tags + n), Deprecated: n%2 == 1}})
			if n < tags-1 {
				images = append(images, &inventory.Image{Repo: r.UID, Digest: digest(i*tags + n), Architectures: []inventory.Architecture{{Name: "amd64", Size: int64(1000 + n)}, {Name: "arm64"}}})
			}
		}
	}
	must(w.p.Registry.ImportTags(ctx, named, core.ImportOptions{}))(w.t)
	must(w.p.Registry.ImportImages(ctx, images))(w.t)
}

// addFeed imports advisories GO-00, GO-01 ... about the packages r00, r01 ..., and their
// vulnerabilities, except that of the last one.
func (w *world) addFeed(group core.UID, n int) {
	w.t.Helper()
	ctx := core.WithActor(w.t.Context(), core.NewOperator("test"))
	advisories := make([]*inventory.Advisory, n)
	var known []*inventory.Vulnerability
	for i := range advisories {
		id, alias := fmt.Sprintf("GO-%02d", i), fmt.Sprintf("CVE-%02d", i)
		advisories[i] = &inventory.Advisory{
			AdvisoryID: id, ArtifactName: fmt.Sprintf("r%02d", i), Aliases: []string{alias},
			Events: []inventory.AdvisoryEvent{{Fixed: &inventory.Fixed{FixedVersion: "1.2.3"}}},
		}
		if i < n-1 {
			known = append(known, &inventory.Vulnerability{ID: id, Aliases: []string{alias}, Summary: "bad", Severities: []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: "9"}}})
		}
	}
	must(w.p.Feeds.ImportAdvisories(ctx, group, advisories))(w.t)
	must(w.p.Feeds.ImportVulnerabilities(ctx, known))(w.t)
	w.settle()
}

// settle updates the findings after what has changed.
func (w *world) settle() {
	w.t.Helper()
	if err := w.p.Findings.Settle(core.WithActor(w.t.Context(), core.NewOperator("test"))); err != nil {
		w.t.Fatal(err)
	}
}

// addLibraries imports n artifacts of each ecosystem, j00, j01 ... and p00, p01 ..., each
// with versions 1.1 to 1.12. It returns the first artifact and one of its versions.
func (w *world) addLibraries(n int) (artifact, version core.UID) {
	w.t.Helper()
	ctx := core.WithActor(w.t.Context(), core.NewOperator("test"))
	var made []*libraries.ImportedArtifact
	for i := range 2 * n {
		a := &libraries.ImportedArtifact{Artifact: libraries.Artifact{Ecosystem: libraries.EcosystemJava, Name: fmt.Sprintf("j%02d", i/2)}}
		if i%2 == 1 {
			a.Ecosystem, a.Name = libraries.EcosystemPython, fmt.Sprintf("p%02d", i/2)
		}
		for v := range 12 {
			a.Versions = append(a.Versions, &libraries.ArtifactVersion{Version: fmt.Sprintf("1.%d", v+1), SizeBytes: int64(v)})
		}
		made = append(made, a)
	}
	if _, _, err := w.p.Artifacts.Import(ctx, made); err != nil {
		w.t.Fatal(err)
	}
	return made[0].UID, made[0].Versions[0].UID
}

const createProvider = `mutation($org: UID!, $viewer: UID!, $name: String!) { createIdentityProvider(input: {parent: $org, name: $name, defaultRole: $viewer,
	oidc: {issuer: "https://okta.example.com", clientId: "c-1", clientSecret: "hush-hush", groupsClaim: "groups"}}) { identityProvider { uid oidc { issuer } } } }`

// provider creates an identity provider with a secret.
func (w *world) provider(group core.UID, name string) core.UID {
	w.t.Helper()
	return w.ask(createProvider, "org", group, "viewer", iam.ViewerRole, "name", name).uid("createIdentityProvider.identityProvider.uid")
}

// mapping creates a mapping of an identity provider.
func (w *world) mapping(provider core.UID, external string) core.UID {
	w.t.Helper()
	return w.ask(`mutation($provider: UID!, $role: UID!, $external: String!) {
		createExternalGroupRoleMapping(input: {parent: $provider, externalGroupId: $external, roleUid: $role}) { externalGroupRoleMapping { uid } }
	}`, "provider", provider, "role", iam.ViewerRole, "external", external).uid("createExternalGroupRoleMapping.externalGroupRoleMapping.uid")
}

// invite creates an invite and also returns its code.
func (w *world) invite(group core.UID, singleUse bool) (core.UID, string) {
	w.t.Helper()
	made := w.ask(`mutation($group: UID!, $role: UID!, $once: Boolean) { createGroupInvite(input: {parent: $group, roleUid: $role, ttl: "3600s", singleUse: $once}) { groupInvite { uid code } } }`,
		"group", group, "role", iam.ViewerRole, "once", singleUse)
	return made.uid("createGroupInvite.groupInvite.uid"), made.text("createGroupInvite.groupInvite.code")
}

// associate connects a group with cloud accounts.
func (w *world) associate(group core.UID) {
	w.t.Helper()
	w.ask(`mutation($group: UID!) { createAccountAssociation(input: {parent: $group, name: "accounts", amazon: {account: "123456789012"}}) { accountAssociation { uid } } }`, "group", group)
}

// accept accepts terms for a group.
func (w *world) accept(group core.UID, documents ...string) {
	w.t.Helper()
	w.ask(`mutation($group: UID!, $documents: [String!]!) { acceptTerms(input: {parent: $group, documentIds: $documents}) { groupUid } }`, "group", group, "documents", documents)
}

// subscription creates an event subscription for events of these types.
func (w *world) subscription(group core.UID, sink string, types ...string) core.UID {
	w.t.Helper()
	return w.ask(`mutation($group: UID!, $sink: String!, $types: [String!]) { createSubscription(input: {parent: $group, sink: $sink, types: $types}) { subscription { uid } } }`,
		"group", group, "sink", sink, "types", types).uid("createSubscription.subscription.uid")
}

// deliver sends a test event to a subscription, and returns its delivery. Then all
// earlier events have become deliveries, too.
func (w *world) deliver(subscription core.UID) (delivery core.UID, event string) {
	w.t.Helper()
	event = w.ask(`mutation($s: UID!) { testSubscription(input: {uid: $s}) { eventId } }`, "s", subscription).text("testSubscription.eventId")
	for { // Other tests may delay the feed of the server.
		must(w.p.Webhooks.Relay(w.t.Context()))(w.t)
		found := w.ask(`query($s: UID!, $event: ID!) { subscription(uid: $s) { deliveries(where: {event: $event}) { totalCount nodes { uid } } } }`, "s", subscription, "event", event)
		if found.value("subscription.deliveries.totalCount") == 1.0 {
			return found.uid("subscription.deliveries.nodes.0.uid"), event
		}
	}
}

// attempt records the result of an attempt of a delivery.
func (w *world) attempt(delivery core.UID, a webhooks.Attempt) {
	w.t.Helper()
	begun := must(w.p.Webhooks.BeginAttempt(w.t.Context(), webhooks.Ticket{Delivery: delivery}))(w.t)
	if _, err := w.p.Webhooks.EndAttempt(w.t.Context(), begun, a); err != nil {
		w.t.Fatal(err)
	}
}

// furnish creates at least one resource of every kind, and returns variables that name
// some: org (acme) with terms, team below it with repos r00 to r02 of three tags each and
// an account association, repo (r01), tag (its first), ann who may list repos in team,
// owner and binding of acme's owner, advisory, sink with a delivery, provider, mapping,
// invite, artifact, version, id (the global id of acme), and since and until, the times
// before and after.
func (w *world) furnish() []any {
	w.t.Helper()
	team := w.group(w.org, "team")
	w.addRegistry(team, 3, 3)
	w.addFeed(w.org, 3)
	ann := w.member(team, "ann", w.role(w.org, "lister", core.CapRepoList))
	provider := w.provider(w.org, "okta")
	mapping := w.mapping(provider, "staff")
	invite, _ := w.invite(team, true)
	w.associate(team)
	w.accept(w.org, "msa")
	sink := w.subscription(w.org, "https://hooks.example.com/a")
	delivery, _ := w.deliver(sink)
	artifact, version := w.addLibraries(2)
	found := w.ask(`query($org: UID!) { group(uid: $org) { id } repos(where: {name: "r01"}) { nodes { uid tags { nodes { uid } } } } advisories { nodes { uid } } }`, "org", w.org)
	return []any{
		"org", w.org, "team", team, "group", team, "owner", w.owner, "binding", w.binding, "roleBinding", w.binding, "ann", ann, "identity", ann,
		"repo", found.text("repos.nodes.0.uid"), "tag", found.text("repos.nodes.0.tags.nodes.0.uid"),
		"artifact", artifact, "version", version,
		"advisory", found.text("advisories.nodes.0.uid"), "sink", sink, "delivery", delivery, "id", found.text("group.id"),
		"provider", provider, "identityProvider", provider, "mapping", mapping, "externalGroupRoleMapping", mapping, "invite", invite, "groupInvite", invite,
		"role", string(iam.ViewerRole), "subscription", sink,
		"since", core.At(time.Now().Add(-time.Hour)).String(), "until", core.At(time.Now().Add(time.Hour)).String(),
	}
}
