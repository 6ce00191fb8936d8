// Package demo creates the demonstration organization of a server in development
// mode: groups, people, repos, what is in their images, advisories and libraries. It also has the example
// queries that the playground shows. It writes through the operations that clients
// use, and never to a database that has groups already.
package demo

import (
	"context"
	"errors"
	"time"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/webhooks"
)

// Name is the name of the organization.
const Name = "acme"

// Seed creates the organization in a database without groups, with what has happened there since 26 weeks ago. It
// does nothing to any other database. It writes through a platform of its own, whose clock is in the past. With an
// issuer, the visitors who sign in there get roles.
func Seed(ctx context.Context, p *platform.Platform, store platform.Store, options platform.Options, issuer string) error {
	ctx = core.WithActor(ctx, core.NewOperator("demonstration"))
	empty, err := p.Groups.IsEmpty(ctx)
	if err != nil || !empty {
		return err
	}
	clock := newClock(options.Clock)
	options.Clock, options.Logger, options.Observer = clock.now, nil, nil // the past is neither logged nor measured
	if p, err = platform.New(ctx, pastStore{store, clock}, options); err != nil {
		return err
	}
	clock.set(clock.daysAgo(historyDays, 8))
	acme, err := p.Groups.Bootstrap(ctx, Name, auth.DevelopmentIssuer, "owner")
	if errors.Is(err, &core.Error{Code: core.CodeAlreadyExists}) {
		return nil // another server has created it
	}
	if err != nil {
		return err
	}
	d := &seeder{ctx: ctx, p: p, clock: clock, root: acme.Group.UID, people: map[string]core.UID{}, bindings: map[string]*iam.RoleBinding{}, repos: map[string]core.UID{}}
	d.queue = p.Webhooks.Queue(time.Minute)
	for _, m := range d.history(issuer) {
		clock.set(m.at)
		m.happen()
		d.settle()
		if d.err != nil {
			return d.err
		}
	}
	return nil
}

// Organization returns the uid of the demonstration organization, or "" if the
// database has none.
func Organization(ctx context.Context, p *platform.Platform) (core.UID, error) {
	owner, err := p.Authenticate(ctx, iam.Claims{Issuer: auth.DevelopmentIssuer, Subject: "owner", ServiceAudience: true})
	if err != nil || len(owner.Identities) == 0 {
		return "", err
	}
	return owner.Identities[0].Root(), nil
}

// A seeder creates the organization step by step. After the first error, the
// remaining steps do nothing.
type seeder struct {
	ctx      context.Context
	p        *platform.Platform
	clock    *clock
	root     core.UID
	teams    map[string]core.UID         // groups by name
	people   map[string]core.UID         // identities by name
	bindings map[string]*iam.RoleBinding // the last one of each identity, by its name
	repos    map[string]core.UID
	queue    *webhooks.DeliveryQueue
	hears    bool // whether there is a subscription
	err      error
}

// try does a step, unless one before it has failed.
func (d *seeder) try(step func() error) {
	if d.err == nil {
		d.err = step()
	}
}

// peopleAndTeams creates the teams, and identities with their roles.
func (d *seeder) peopleAndTeams() {
	d.teams = map[string]core.UID{"": d.root}
	d.team("engineering", "", "Everything that customers use")
	d.team("payments", "engineering", "Money in and money out")
	d.team("shop", "engineering", "What customers see")
	d.team("platform", "engineering", "What the other teams build on")
	d.team("security", "", "Reviews and advisories")

	d.identity("editor", "", "Edits repos", auth.DevelopmentIssuer, "editor")
	d.bind("editor", iam.EditorRole, "", 0)
	d.identity("viewer", "", "Looks at everything", auth.DevelopmentIssuer, "viewer")
	d.bind("viewer", iam.ViewerRole, "", 0)
	d.identity("ci", "engineering", "Pushes what the pipeline built", pipeline.Issuer, pipeline.Subject)
	d.bind("ci", d.role("release manager", "engineering", "Makes and moves tags"), "engineering", 0)
	d.identity("analyst", "security", "Reads advisories", loginIssuer, "analyst@example.com")
	d.bind("analyst", iam.ViewerRole, "security", 0)
}

// loginIssuer is the issuer of the identity provider of the organization.
const loginIssuer = "https://login.example.com"

// provider creates an identity provider, whose developers are editors.
func (d *seeder) provider() {
	d.try(func() error {
		provider, err := d.p.IdentityProviders.Create(d.ctx, d.root, fieldmask.TypedInput(&iam.IdentityProvider{
			Name: "login", Description: "Everybody who works here", DefaultRole: iam.ViewerRole,
			OIDC: &iam.OIDC{Issuer: loginIssuer, ClientID: Name, GroupsClaim: "groups"},
		}, "name", "description", "defaultRole", "oidc"))
		if err != nil {
			return err
		}
		developers := iam.ExternalGroupRoleMapping{ExternalGroupID: "developers", RoleUID: iam.EditorRole, Scope: d.teams["engineering"]}
		_, err = d.p.ExternalGroupRoleMappings.Create(d.ctx, provider.UID, fieldmask.TypedInput(&developers, "externalGroupId", "roleUid", "scope"))
		return err
	})
}

func (d *seeder) invite() {
	d.try(func() error {
		invite := iam.GroupInvite{RoleUID: iam.ViewerRole, TTL: core.Duration(30 * core.Day)}
		_, err := d.p.GroupInvites.Create(d.ctx, d.teams["security"], fieldmask.TypedInput(&invite, "roleUid", "ttl"))
		return err
	})
}

func (d *seeder) team(name, parent, description string) {
	d.try(func() error {
		group, err := d.p.Groups.Create(d.ctx, d.teams[parent], fieldmask.TypedInput(&iam.Group{Name: name, Description: description}, "name", "description"))
		if err == nil {
			d.teams[name] = group.UID
		}
		return err
	})
}

func (d *seeder) identity(name, team, description, issuer, subject string) {
	d.try(func() error {
		identity, err := d.p.Identities.Create(d.ctx, d.teams[team], fieldmask.TypedInput(&iam.Identity{
			Name: name, Description: description, ClaimMatch: &iam.ClaimMatch{Issuer: issuer, Subject: subject},
		}, "name", "description", "claimMatch"))
		if err == nil {
			d.people[name] = identity.UID
		}
		return err
	})
}

func (d *seeder) role(name, team, description string) (uid core.UID) {
	d.try(func() error {
		role, err := d.p.Roles.Create(d.ctx, d.teams[team], fieldmask.TypedInput(&iam.Role{
			Name: name, Description: description, Capabilities: []core.Capability{
				core.CapGroupsList, core.CapRepoList, core.CapTagList, core.CapTagCreate, core.CapTagUpdate,
				core.CapManifestMetadataList,
			},
		}, "name", "description", "capabilities"))
		if err == nil {
			uid = role.UID
		}
		return err
	})
	return uid
}

// bind gives somebody a role, for a number of days; 0 means that it does not end.
func (d *seeder) bind(name string, role core.UID, team string, days int) {
	d.try(func() (err error) {
		binding := iam.RoleBinding{IdentityUID: d.people[name], RoleUID: role}
		fields := []string{"identityUid", "roleUid"}
		if days > 0 {
			binding.ExpireTime, fields = core.At(d.clock.now().Add(time.Duration(days)*core.Day)), append(fields, "expireTime")
		}
		d.bindings[name], err = d.p.RoleBindings.Create(d.ctx, d.teams[team], fieldmask.TypedInput(&binding, fields...))
		return err
	})
}

func (d *seeder) artifacts() {
	d.try(func() error {
		_, _, err := d.p.Artifacts.Import(d.ctx, newArtifacts(d.clock))
		return err
	})
}
