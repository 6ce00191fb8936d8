package platform_test

import (
	"context"
	"fmt"
	"testing"

	"atrium/platform"
)

// same expects that a page that was read with others equals the page that was read alone.
func same[T any](t *testing.T, what string, got platform.Page[T], gotErr error, want platform.Page[T], wantErr error, uidOf func(T) platform.UID) {
	t.Helper()
	text := func(p platform.Page[T], err error) string {
		if err != nil {
			return err.Error()
		}
		s := fmt.Sprintf("%d of %d, skipped %d, %t %t %t:", len(p.Items), p.TotalCount, p.Skipped, p.HasNext, p.HasPrevious, p.NextPageToken() != "")
		for _, row := range p.Items {
			s += " " + string(uidOf(row))
		}
		return s
	}
	if a, b := text(got, gotErr), text(want, wantErr); a != b {
		t.Errorf("%s:\ntogether %s\n   alone %s, want %v", what, a, b, b)
	}
}

// One read serves a nested list for all its parents. For every caller, order and
// direction it must equal the separate lists.
func TestListsReadTogetherAreTheListsReadAlone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team := w.group(acme.uid)
		sub, empty := w.group(team), w.group(team)
		groups := []platform.UID{acme.uid, team, sub, empty, other.uid, team}
		for _, group := range []platform.UID{acme.uid, team, team, team, sub, sub, other.uid} {
			w.tag(w.repo(group))
		}
		callers := map[string]context.Context{
			"the owner": acme.owner, "a team's viewer": w.with(platform.ViewerRole, team, acme.uid), "a subgroup's viewer": w.with(platform.ViewerRole, sub, acme.uid),
			"a caller without rights": w.with(w.role(acme.uid), acme.uid, acme.uid), "a stranger": w.as("a stranger"), "nobody": t.Context(),
		}
		for who, ctx := range callers {
			for _, req := range []repoList{{}, {PageSize: 1}, {PageSize: 2, OrderBy: "created_at desc"}, {PageSize: 2, Skip: 1}, {PageSize: 2, Backward: true}, {OrderBy: "uid desc"}, {OrderBy: "nonsense"}, {Filter: &platform.RepoFilter{Name: "n7"}}} {
				for relation, scope := range map[string]func(platform.UID) platform.UIDFilter{
					"children": func(u platform.UID) platform.UIDFilter { return platform.UIDFilter{ChildrenOf: u} },
					"below":    func(u platform.UID) platform.UIDFilter { return platform.UIDFilter{DescendantsOf: u} },
				} {
					var scopes []platform.UIDFilter
					for _, g := range groups {
						scopes = append(scopes, scope(g))
					}
					pages, errs := w.p.Repos.ListEach(ctx, req, scopes)
					for i, s := range scopes {
						alone := req
						alone.UIDP = s
						page, err := w.p.Repos.List(ctx, alone)
						same(t, fmt.Sprintf("%s, %s of group %d, %+v", who, relation, i, req), pages[i], errs[i], page, err, func(r *platform.Repo) platform.UID { return r.UID })
					}
				}
			}
		}
	})
}

func TestListingForManyScopesEqualsTheSeparateLists(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team := w.group(acme.uid)
		role := w.role(acme.uid)
		identities := []platform.UID{acme.Identity.UID, w.member(acme.uid, "a"), w.member(team, "b"), other.Identity.UID, missingBelow(team)}
		roles := []platform.UID{platform.ViewerRole, platform.OwnerRole, role, missingBelow(acme.uid)}
		for _, r := range []platform.UID{platform.ViewerRole, role, platform.EditorRole} {
			w.bind(team, identities[1], r)
			w.bind(team, identities[2], r)
		}
		w.bind(acme.uid, identities[1], role)
		w.bind(other.uid, w.member(other.uid, "c"), platform.ViewerRole)
		uid := func(b *platform.RoleBinding) platform.UID { return b.UID }
		for who, ctx := range map[string]context.Context{"the owner": acme.owner, "a team's viewer": w.with(platform.ViewerRole, team, acme.uid), "another": other.owner, "a stranger": w.as("a stranger")} {
			for _, req := range []platform.ListRequest[*platform.RoleBindingFilter]{{}, {PageSize: 1}, {PageSize: 2, OrderBy: "uid", Skip: 1}, {PageSize: 2, Backward: true}, {PageSize: -1}, {UIDP: platform.UIDFilter{DescendantsOf: team}}, {UIDP: platform.UIDFilter{ChildrenOf: acme.uid}}} {
				pages, errs := w.p.RoleBindings.ListOfIdentities(ctx, req, identities)
				for i, identity := range identities {
					alone := req
					alone.Filter = &platform.RoleBindingFilter{Identity: identity}
					page, err := w.p.RoleBindings.List(ctx, alone)
					same(t, fmt.Sprintf("%s, identity %d, %+v", who, i, req), pages[i], errs[i], page, err, uid)
				}
				pages, errs = w.p.RoleBindings.ListOfRoles(ctx, req, roles)
				for i, role := range roles {
					alone := req
					alone.Filter = &platform.RoleBindingFilter{Role: role}
					page, err := w.p.RoleBindings.List(ctx, alone)
					same(t, fmt.Sprintf("%s, role %d, %+v", who, i, req), pages[i], errs[i], page, err, uid)
				}
			}
		}
		// The plain list accepts a token of a nested list.
		pages, errs := w.p.RoleBindings.ListOfIdentities(acme.owner, platform.ListRequest[*platform.RoleBindingFilter]{PageSize: 1}, identities[1:2])
		must(t, errs[0])
		next, err := w.p.RoleBindings.List(acme.owner, platform.ListRequest[*platform.RoleBindingFilter]{PageSize: 9, PageToken: pages[0].NextPageToken(), Filter: &platform.RoleBindingFilter{Identity: identities[1]}})
		if err != nil || int64(len(next.Items)) != pages[0].TotalCount-1 {
			t.Errorf("%d follow of %d (%v)", len(next.Items), pages[0].TotalCount, err)
		}
	})
}

func TestAdvisoriesOfManyReposAreTheListsOfEach(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team := w.group(acme.uid)
		var repos []*platform.Repo
		for _, x := range []struct {
			group platform.UID
			name  string
		}{{acme.uid, "stdlib"}, {team, "stdlib"}, {team, "redis"}, {other.uid, "stdlib"}} {
			repo, err := w.p.Repos.Get(w.operator(), w.namedRepo(x.group, x.name))
			must(t, err)
			repos = append(repos, repo)
		}
		for _, group := range []platform.UID{acme.uid, acme.uid, team, other.uid} {
			w.advisory(group)
		}
		uid := func(a *platform.Advisory) platform.UID { return a.UID }
		for who, ctx := range map[string]context.Context{"the owner": acme.owner, "a team's viewer": w.with(platform.ViewerRole, team, acme.uid), "another": other.owner} {
			for _, req := range []platform.ListRequest[*platform.AdvisoryFilter]{{}, {PageSize: 1}, {PageSize: 2, OrderBy: "advisory_id desc"}, {Skip: 1}} {
				pages, errs := w.p.Advisories.ListOfRepos(ctx, req, repos)
				for i, repo := range repos {
					alone := req
					alone.UIDP.DescendantsOf = repo.UID.Root()
					alone.Filter = &platform.AdvisoryFilter{ArtifactNames: []string{repo.Name}, Around: repo.UID}
					page, err := w.p.Advisories.List(ctx, alone)
					same(t, fmt.Sprintf("%s, repo %d, %+v", who, i, req), pages[i], errs[i], page, err, uid)
				}
			}
		}
	})
}
