// Package demo creates the demonstration organisation of a server in development
// mode: groups, people, repos, what is in their images, advisories and libraries. It also has the example
// queries that the playground shows. It writes through the operations that clients
// use, and never to a database that has groups already.
package demo

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/platform/webhooks"
)

// Name is the name of the organisation.
const Name = "acme"

// Seed creates the organisation in a database without groups. It does nothing to any
// other database.
func Seed(ctx context.Context, p *platform.Platform) error {
	ctx = core.WithActor(ctx, core.NewOperator("demonstration"))
	empty, err := p.Groups.IsEmpty(ctx)
	if err != nil || !empty {
		return err
	}
	acme, err := p.Groups.Bootstrap(ctx, Name, auth.DevelopmentIssuer, "owner")
	if errors.Is(err, &core.Error{Code: core.CodeAlreadyExists}) {
		return nil // another server has created it
	}
	if err != nil {
		return err
	}
	d := &seeder{ctx: ctx, p: p, root: acme.Group.UID}
	d.people()
	d.signIn()
	for _, s := range services {
		d.service(s)
	}
	d.advisories()
	d.exception()
	d.subscription()
	d.artifacts()
	return d.err
}

// Organisation returns the uid of the demonstration organisation, or "" if the
// database has none.
func Organisation(ctx context.Context, p *platform.Platform) (core.UID, error) {
	owner, err := p.Authenticate(ctx, iam.Claims{Issuer: auth.DevelopmentIssuer, Subject: "owner", ServiceAudience: true})
	if err != nil || len(owner.Identities) == 0 {
		return "", err
	}
	return owner.Identities[0].Root(), nil
}

// A seeder creates the organisation step by step. After the first error, the
// remaining steps do nothing.
type seeder struct {
	ctx   context.Context
	p     *platform.Platform
	root  core.UID
	teams map[string]core.UID // groups by name
	err   error
}

// people creates the teams, and identities with their roles.
func (d *seeder) people() {
	d.teams = map[string]core.UID{"": d.root}
	d.team("engineering", "", "Everything that customers use")
	d.team("payments", "engineering", "Money in and money out")
	d.team("shop", "engineering", "What customers see")
	d.team("platform", "engineering", "What the other teams build on")
	d.team("security", "", "Reviews and advisories")

	d.bind(d.identity("editor", "", "Edits repos", auth.DevelopmentIssuer, "editor"), iam.EditorRole, "")
	d.bind(d.identity("viewer", "", "Looks at everything", auth.DevelopmentIssuer, "viewer"), iam.ViewerRole, "")
	ci := d.identity("ci", "engineering", "Pushes what the pipeline built", "https://ci.example.com", "pipeline:engineering")
	d.bind(ci, d.role("release manager", "engineering", "Makes and moves tags"), "engineering")
	analyst := d.identity("analyst", "security", "Reads advisories", "https://login.example.com", "analyst@example.com")
	d.bind(analyst, iam.ViewerRole, "security")
}

// signIn creates the ways by which more people can sign in: an identity provider,
// whose developers are editors, and an invite.
func (d *seeder) signIn() {
	if d.err != nil {
		return
	}
	var provider *iam.IdentityProvider
	provider, d.err = d.p.IdentityProviders.Create(d.ctx, d.root, fieldmask.TypedInput(&iam.IdentityProvider{
		Name: "login", Description: "Everybody who works here", DefaultRole: iam.ViewerRole,
		OIDC: &iam.OIDC{Issuer: "https://login.example.com", ClientID: Name, GroupsClaim: "groups"},
	}, "name", "description", "defaultRole", "oidc"))
	if d.err != nil {
		return
	}
	developers := iam.ExternalGroupRoleMapping{ExternalGroupID: "developers", RoleUID: iam.EditorRole, Scope: d.teams["engineering"]}
	if _, d.err = d.p.ExternalGroupRoleMappings.Create(d.ctx, provider.UID, fieldmask.TypedInput(&developers, "externalGroupId", "roleUid", "scope")); d.err != nil {
		return
	}
	invite := iam.GroupInvite{RoleUID: iam.ViewerRole, TTL: core.Duration(30 * 24 * time.Hour)}
	_, d.err = d.p.GroupInvites.Create(d.ctx, d.teams["security"], fieldmask.TypedInput(&invite, "roleUid", "ttl"))
}

func (d *seeder) team(name, parent, description string) {
	if d.err != nil {
		return
	}
	var group *iam.Group
	group, d.err = d.p.Groups.Create(d.ctx, d.teams[parent], fieldmask.TypedInput(&iam.Group{Name: name, Description: description}, "name", "description"))
	if d.err == nil {
		d.teams[name] = group.UID
	}
}

func (d *seeder) identity(name, team, description, issuer, subject string) core.UID {
	if d.err != nil {
		return ""
	}
	var identity *iam.Identity
	identity, d.err = d.p.Identities.Create(d.ctx, d.teams[team], fieldmask.TypedInput(&iam.Identity{
		Name: name, Description: description, ClaimMatch: &iam.ClaimMatch{Issuer: issuer, Subject: subject},
	}, "name", "description", "claimMatch"))
	if d.err != nil {
		return ""
	}
	return identity.UID
}

func (d *seeder) role(name, team, description string) core.UID {
	if d.err != nil {
		return ""
	}
	var role *iam.Role
	role, d.err = d.p.Roles.Create(d.ctx, d.teams[team], fieldmask.TypedInput(&iam.Role{
		Name: name, Description: description, Capabilities: []core.Capability{
			core.CapGroupsList, core.CapRepoList, core.CapTagList, core.CapTagCreate, core.CapTagUpdate,
			core.CapManifestMetadataList,
		},
	}, "name", "description", "capabilities"))
	if d.err != nil {
		return ""
	}
	return role.UID
}

func (d *seeder) bind(identity, role core.UID, team string) {
	if d.err != nil {
		return
	}
	binding := iam.RoleBinding{IdentityUID: identity, RoleUID: role}
	_, d.err = d.p.RoleBindings.Create(d.ctx, d.teams[team], fieldmask.TypedInput(&binding, "identityUid", "roleUid"))
}

// service creates a repo with the tags and images of its releases. The previous one
// is deprecated.
func (d *seeder) service(s service) {
	repo := &registry.ImportedRepo{
		Repo: inventory.Repo{
			Name: s.name, Description: s.description, CatalogTier: core.CatalogTierApplication,
			Aliases: []string{"registry.example.com/acme/" + s.name}, ActiveTags: []string{s.release, "latest"},
		},
		Readme: "# " + s.name + "\n\n" + s.description + ".\n\n```sh\ndocker run registry.example.com/acme/" + s.name + ":" + s.release + "\n```\n",
	}
	if d.err == nil {
		_, d.err = d.p.Registry.ImportRepos(d.ctx, d.teams[s.team], []*registry.ImportedRepo{repo}, core.ImportOptions{})
	}
	if d.err != nil {
		return
	}
	current, previous := fakeDigest(s.name, s.release), fakeDigest(s.name, s.previous)
	tags := []*registry.ImportedTag{}
	releases := []inventory.Tag{
		{Name: "latest", Digest: current},
		{Name: s.release, Digest: current},
		{Name: s.release + "-r0", Digest: current},
		{Name: s.release + "-20260301", Digest: current},
		{Name: "sha256-" + current[len("sha256:"):] + ".sig", Digest: fakeDigest(s.name, s.release+".sig")},
		{Name: s.previous, Digest: previous, Deprecated: true},
	}
	images := []*inventory.Image{s.image(repo.UID, s.release, s.megabytes), s.image(repo.UID, s.previous, s.megabytes+9)}
	if s.supported != "" {
		releases = append(releases, inventory.Tag{Name: s.supported, Digest: fakeDigest(s.name, s.supported)})
		images = append(images, s.image(repo.UID, s.supported, s.megabytes+14))
	}
	for _, t := range releases {
		tags = append(tags, &registry.ImportedTag{Repo: repo.UID, Tag: t})
	}
	if _, d.err = d.p.Registry.ImportTags(d.ctx, tags, core.ImportOptions{}); d.err != nil {
		return
	}
	if _, d.err = d.p.Registry.ImportImages(d.ctx, images); d.err != nil {
		return
	}
	_, d.err = d.p.Registry.ImportSBOMs(d.ctx, s.sboms(repo.UID))
}

// image returns the image of a release.
func (s service) image(repo core.UID, release string, megabytes int64) *inventory.Image {
	return &inventory.Image{
		Repo: repo, Digest: fakeDigest(s.name, release), Packages: append([]string{s.name}, s.packages...),
		Architectures: []inventory.Architecture{{Name: "amd64", Size: megabytes << 20}, {Name: "arm64", Size: (megabytes - 2) << 20}},
	}
}

// fakeDigest returns a made-up digest, the same one each time.
func fakeDigest(repo, version string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(Name+"/"+repo+":"+version)))
}

func (d *seeder) advisories() {
	if d.err != nil {
		return
	}
	advisories, vulnerabilities := newAdvisories()
	if _, d.err = d.p.Feeds.ImportAdvisories(d.ctx, d.root, advisories); d.err == nil {
		_, d.err = d.p.Feeds.ImportVulnerabilities(d.ctx, vulnerabilities)
	}
}

// exception finds out what affects the images, and accepts one risk for a year.
func (d *seeder) exception() {
	if d.err != nil {
		return
	}
	accepted := inventory.Finding{State: inventory.FindingAccepted, Note: "We load only models that we have trained ourselves", ExpireTime: exceptionEnds()}
	_, d.err = d.p.Findings.Update(d.ctx, inventory.FindingUpdate{
		Within: d.teams["shop"], Where: &inventory.FindingFilter{VulnerabilityIDs: []string{noFix}},
		Change: fieldmask.TypedInput(&accepted, "state", "note", "expireTime"),
	})
	if d.err == nil {
		d.err = d.p.Findings.Settle(d.ctx)
	}
}

func (d *seeder) artifacts() {
	if d.err == nil {
		_, _, d.err = d.p.Artifacts.Import(d.ctx, newArtifacts())
	}
}

func (d *seeder) subscription() {
	if d.err != nil {
		return
	}
	sink := webhooks.Subscription{Sink: "https://hooks.example.com/atrium"}
	_, d.err = d.p.Subscriptions.Create(d.ctx, d.root, fieldmask.TypedInput(&sink, "sink"))
}
