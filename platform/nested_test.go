package platform_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// same expects that a page that was read with others equals the page that was read alone.
func same[T any](t *testing.T, what string, got core.Page[T], gotErr error, want core.Page[T], wantErr error, uidOf func(T) core.UID) {
	t.Helper()
	text := func(p core.Page[T], err error) string {
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
		groups := []core.UID{acme.uid, team, sub, empty, other.uid, team}
		for _, group := range []core.UID{acme.uid, team, team, team, sub, sub, other.uid} {
			w.tag(w.repo(group))
		}
		callers := map[string]context.Context{
			"the owner": acme.owner, "a team's viewer": w.memberWith(iam.ViewerRole, team, acme.uid), "a subgroup's viewer": w.memberWith(iam.ViewerRole, sub, acme.uid),
			"a caller without rights": w.memberWith(w.role(acme.uid), acme.uid, acme.uid), "a stranger": w.as("a stranger"), "nobody": t.Context(),
		}
		for who, ctx := range callers {
			for _, req := range []repoList{{}, {PageSize: 1}, {PageSize: 2, OrderBy: "created_at desc"}, {PageSize: 2, Skip: 1}, {PageSize: 2, Backward: true}, {OrderBy: "uid desc"}, {OrderBy: "nonsense"}, {Filter: &inventory.RepoFilter{Name: "n7"}}} {
				for relation, scope := range map[string]func(core.UID) core.UIDFilter{
					"children": func(u core.UID) core.UIDFilter { return core.UIDFilter{ChildrenOf: u} },
					"below":    func(u core.UID) core.UIDFilter { return core.UIDFilter{DescendantsOf: u} },
				} {
					var scopes []core.UIDFilter
					for _, g := range groups {
						scopes = append(scopes, scope(g))
					}
					pages, errs := w.p.Repos.ListEach(ctx, req, scopes)
					for i, s := range scopes {
						alone := req
						alone.UIDP = s
						page, err := w.p.Repos.List(ctx, alone)
						same(t, fmt.Sprintf("%s, %s of group %d, %+v", who, relation, i, req), pages[i], errs[i], page, err, func(r *inventory.Repo) core.UID { return r.UID })
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
		identities := []core.UID{acme.Identity.UID, w.member(acme.uid, "a"), w.member(team, "b"), other.Identity.UID, missingBelow(team)}
		roles := []core.UID{iam.ViewerRole, iam.OwnerRole, role, missingBelow(acme.uid)}
		for _, r := range []core.UID{iam.ViewerRole, role, iam.EditorRole} {
			w.bind(team, identities[1], r)
			w.bind(team, identities[2], r)
		}
		w.bind(acme.uid, identities[1], role)
		w.bind(other.uid, w.member(other.uid, "c"), iam.ViewerRole)
		uid := func(b *iam.RoleBinding) core.UID { return b.UID }
		for who, ctx := range map[string]context.Context{"the owner": acme.owner, "a team's viewer": w.memberWith(iam.ViewerRole, team, acme.uid), "another": other.owner, "a stranger": w.as("a stranger")} {
			for _, req := range []core.ListRequest[*iam.RoleBindingFilter]{{}, {PageSize: 1}, {PageSize: 2, OrderBy: "uid", Skip: 1}, {PageSize: 2, Backward: true}, {PageSize: -1}, {UIDP: core.UIDFilter{DescendantsOf: team}}, {UIDP: core.UIDFilter{ChildrenOf: acme.uid}}} {
				pages, errs := w.p.RoleBindings.ListOfIdentities(ctx, req, identities)
				for i, identity := range identities {
					alone := req
					alone.Filter = &iam.RoleBindingFilter{Identity: identity}
					page, err := w.p.RoleBindings.List(ctx, alone)
					same(t, fmt.Sprintf("%s, identity %d, %+v", who, i, req), pages[i], errs[i], page, err, uid)
				}
				pages, errs = w.p.RoleBindings.ListOfRoles(ctx, req, roles)
				for i, role := range roles {
					alone := req
					alone.Filter = &iam.RoleBindingFilter{Role: role}
					page, err := w.p.RoleBindings.List(ctx, alone)
					same(t, fmt.Sprintf("%s, role %d, %+v", who, i, req), pages[i], errs[i], page, err, uid)
				}
			}
		}
		// The plain list accepts a token of a nested list.
		pages, errs := w.p.RoleBindings.ListOfIdentities(acme.owner, core.ListRequest[*iam.RoleBindingFilter]{PageSize: 1}, identities[1:2])
		must(t, errs[0])
		next, err := w.p.RoleBindings.List(acme.owner, core.ListRequest[*iam.RoleBindingFilter]{PageSize: 9, PageToken: pages[0].NextPageToken(), Filter: &iam.RoleBindingFilter{Identity: identities[1]}})
		if err != nil || int64(len(next.Items)) != pages[0].TotalCount-1 {
			t.Errorf("%d follow of %d (%v)", len(next.Items), pages[0].TotalCount, err)
		}
	})
}

func TestAdvisoriesOfManyImagesAreThoseOfEachOne(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team := w.group(acme.uid)
		named := func(id, name string) *inventory.Advisory {
			return &inventory.Advisory{AdvisoryID: id, ArtifactType: "npm", ArtifactName: name}
		}
		var images []core.ImageKey
		for i, repo := range []core.UID{w.namedRepo(acme.uid, "shop"), w.namedRepo(team, "shop"), w.namedRepo(team, "redis"), w.namedRepo(other.uid, "shop")} {
			old, fresh := digest(2*i+1), digest(2*i+2)
			w.sbom(repo, old, "left-pad@1.0.0", "ms@1.0.0", "qs@1.0.0")
			w.sbom(repo, fresh, "left-pad@2.0.0", "ms@1.0.0", "qs@1.0.0")
			w.point(repo, "old", old)
			w.point(repo, "new", fresh)
			images = append(images, core.ImageKey{Repo: repo, Digest: old}, core.ImageKey{Repo: repo, Digest: fresh}, core.ImageKey{Repo: repo})
		}
		w.advise(acme.uid, fixedIn("ACME", "left-pad", "2.0.0"))
		w.advise(team, named("TEAM", "ms"))
		w.advise("", fixedIn("FEED", "left-pad", "2.0.0"), named("FEED-2", "qs"))
		w.settle()
		list := func(ctx context.Context, req core.ListRequest[*inventory.AdvisoryFilter], images ...core.ImageKey) []core.Page[*inventory.Advisory] {
			t.Helper()
			pages, errs := w.p.Advisories.ListOfImages(ctx, req, images)
			for _, err := range errs {
				must(t, err)
			}
			return pages
		}
		all := list(w.operator(), core.ListRequest[*inventory.AdvisoryFilter]{OrderBy: "advisory_id"}, images...)
		for i, want := range []string{
			"ACME FEED FEED-2", "FEED-2", "ACME FEED FEED-2",
			"ACME FEED FEED-2 TEAM", "FEED-2 TEAM", "ACME FEED FEED-2 TEAM",
			"ACME FEED FEED-2 TEAM", "FEED-2 TEAM", "ACME FEED FEED-2 TEAM",
			"FEED FEED-2", "FEED-2", "FEED FEED-2",
		} {
			var ids []string
			for _, a := range all[i].Items {
				ids = append(ids, a.AdvisoryID)
			}
			if got := strings.Join(ids, " "); got != want || int(all[i].TotalCount) != len(ids) {
				t.Errorf("image %d has %s (total %d), want %s", i, got, all[i].TotalCount, want)
			}
		}
		uid := func(a *inventory.Advisory) core.UID { return a.UID }
		ofTeam := w.memberWith(iam.ViewerRole, team, acme.uid) // it sees the advisories of its findings also above
		for _, req := range []core.ListRequest[*inventory.AdvisoryFilter]{
			{}, {PageSize: 1}, {PageSize: 2, OrderBy: "advisory_id desc"}, {Skip: 1}, {PageSize: 1, Backward: true},
			{Filter: &inventory.AdvisoryFilter{ArtifactNames: []string{"left-pad"}}}, {UIDP: core.UIDFilter{IDs: []core.UID{all[0].Items[0].UID, all[3].Items[3].UID}}},
		} {
			pages := list(ofTeam, req, images[3:9]...)
			for i, page := range pages {
				alone := list(ofTeam, req, images[3+i])[0]
				same(t, fmt.Sprintf("image %d, %+v", i, req), page, nil, alone, nil, uid)
				got := len(page.Items)
				next := req
				for next.Skip = 0; page.NextPageToken() != ""; got += len(page.Items) {
					next.PageToken = page.NextPageToken()
					page = list(ofTeam, next, images[3+i])[0]
				}
				if got != int(page.TotalCount)-req.Skip {
					t.Errorf("image %d, %+v: %d advisories on all pages, want %d", i, req, got, int(page.TotalCount)-req.Skip)
				}
			}
		}
		_, errs := w.p.Advisories.ListOfImages(ofTeam, core.ListRequest[*inventory.AdvisoryFilter]{}, images[:4])
		for i, err := range errs[:3] {
			expectRefused(t, fmt.Sprint("the advisories of image ", i), err, core.CodePermissionDenied)
		}
		must(t, errs[3])
		blind := w.memberWith(w.role(acme.uid, core.CapAdvisoriesList, core.CapTagList), acme.uid, acme.uid)
		_, errs = w.p.Advisories.ListOfImages(blind, core.ListRequest[*inventory.AdvisoryFilter]{}, images[:1])
		expectRefused(t, "advisories without the findings", errs[0], core.CodePermissionDenied)
		counts, err := w.p.Activities.ListAdvisoryActivity(acme.owner, core.ActivityRequest{Within: images[2].Repo, Interval: core.EachDay})
		must(t, err)
		var opened int64
		for _, c := range counts {
			opened += c.Opened
		}
		if opened != 3 {
			t.Errorf("%d advisories of the repo were opened, want 3", opened)
		}
	})
}
