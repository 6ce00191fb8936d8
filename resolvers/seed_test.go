package resolvers

import (
	"fmt"
	"testing"
	"time"

	"atrium/platform"
)

// must is the value of an operation that is to succeed.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func body[T any](format string, args ...any) platform.Input[T] {
	return platform.JSONInput[T](fmt.Appendf(nil, format, args...), nil)
}

func (w *world) group(parent platform.UID, name string) platform.UID {
	w.t.Helper()
	ctx := platform.WithActor(w.t.Context(), platform.Operator("test"))
	return must(w.p.Groups.Create(ctx, parent, body[platform.Group](`{"name":%q}`, name)))(w.t).UID
}

// member makes an identity of a subject in a group, with a role there.
func (w *world) member(group platform.UID, subject string, role platform.UID) platform.UID {
	w.t.Helper()
	ctx := platform.WithActor(w.t.Context(), platform.Operator("test"))
	rule := `{"name":%q,"claimMatch":{"issuer":%q,"subject":%q}}`
	identity := must(w.p.Identities.Create(ctx, group, body[platform.Identity](rule, subject, testIssuer, subject)))(w.t)
	must(w.p.RoleBindings.Create(ctx, group, body[platform.RoleBinding](`{"identityUid":%q,"roleUid":%q}`, identity.UID, role)))(w.t)
	return identity.UID
}

// role makes a role of capabilities, by their dotted names.
func (w *world) role(group platform.UID, name string, capabilities ...platform.Capability) platform.UID {
	w.t.Helper()
	ctx := platform.WithActor(w.t.Context(), platform.Operator("test"))
	return must(w.p.Roles.Create(ctx, group, platform.TypedInput(platform.Role{Name: name, Capabilities: capabilities}, "name", "capabilities")))(w.t).UID
}

func digest(n int) string { return fmt.Sprintf("sha256:%064x", n) }

// registry makes repos r00, r01 ... with readmes and as many tags t00, t01 ...
// each, every one of which has an image but the last.
func (w *world) registry(group platform.UID, repos, tags int) {
	w.t.Helper()
	ctx := platform.WithActor(w.t.Context(), platform.Operator("test"))
	made := make([]*platform.ImportedRepo, repos)
	for i := range made {
		made[i] = &platform.ImportedRepo{Repo: platform.Repo{Name: fmt.Sprintf("r%02d", i)}, Readme: fmt.Sprintf("# r%02d", i)}
	}
	must(w.p.Repos.Import(ctx, group, made, platform.ImportOptions{}))(w.t)
	var named []*platform.ImportedTag
	var images []*platform.Image
	for i, r := range made {
		for n := range tags {
			named = append(named, &platform.ImportedTag{Repo: r.UID, Tag: platform.Tag{Name: fmt.Sprintf("t%02d", n), Digest: digest(i*tags + n), Deprecated: n%2 == 1}})
			if n < tags-1 {
				images = append(images, &platform.Image{Repo: r.UID, Digest: digest(i*tags + n), Architectures: []platform.Architecture{{Name: "amd64", Size: int64(1000 + n)}, {Name: "arm64"}}})
			}
		}
	}
	must(w.p.Tags.Import(ctx, named, platform.ImportOptions{}))(w.t)
	must(w.p.Images.Import(ctx, images))(w.t)
}

// feed makes advisories GO-00, GO-01 ... on the packages r00, r01 ... and what
// is known of their vulnerabilities, of each but the last.
func (w *world) feed(group platform.UID, n int) {
	w.t.Helper()
	ctx := platform.WithActor(w.t.Context(), platform.Operator("test"))
	advisories := make([]*platform.Advisory, n)
	var known []*platform.Vulnerability
	for i := range advisories {
		id, alias := fmt.Sprintf("GO-%02d", i), fmt.Sprintf("CVE-%02d", i)
		advisories[i] = &platform.Advisory{
			AdvisoryID: id, ArtifactName: fmt.Sprintf("r%02d", i), Aliases: []string{alias},
			Events: []platform.AdvisoryEvent{{Fixed: &platform.Fixed{FixedVersion: "1.2.3"}}},
		}
		if i < n-1 {
			known = append(known, &platform.Vulnerability{ID: id, Aliases: []string{alias}, Summary: "bad", Severities: []platform.Severity{{Type: "TYPE_CVSS_V3", Score: "9"}}})
		}
	}
	must(w.p.Advisories.Import(ctx, group, advisories))(w.t)
	must(w.p.Vulnerabilities.Import(ctx, known))(w.t)
}

// furnish makes one or more of every kind, and gives variables that name some:
// org (acme), team below it with repos r00 to r02 of three tags each, repo
// (r01), tag (its first), ann who may list repos in team, owner and binding of
// acme's owner, advisory, sink, id, the global id of acme, and since and until,
// between which all this was made.
func (w *world) furnish() []any {
	w.t.Helper()
	team := w.group(w.org, "team")
	w.registry(team, 3, 3)
	w.feed(w.org, 3)
	ann := w.member(team, "ann", w.role(w.org, "lister", platform.CapRepoList))
	made := w.ask(`mutation($org: ID!) { createSubscription(input: {parent: $org, sink: "https://hooks.example.com/a"}) { subscription { uid } } }`, "org", w.org)
	found := w.ask(`query($org: ID!) { group(uid: $org) { id } repos(where: {name: "r01"}) { nodes { uid tags { nodes { uid } } } } advisories { nodes { uid } } }`, "org", w.org)
	return []any{
		"org", w.org, "team", team, "owner", w.owner, "binding", w.binding, "ann", ann,
		"repo", found.text("repos.nodes.0.uid"), "tag", found.text("repos.nodes.0.tags.nodes.0.uid"),
		"advisory", found.text("advisories.nodes.0.uid"), "sink", made.text("createSubscription.subscription.uid"), "id", found.text("group.id"),
		"since", platform.At(time.Now().Add(-time.Hour)).String(), "until", platform.At(time.Now().Add(time.Hour)).String(),
	}
}
