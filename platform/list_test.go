package platform_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/platform/reports"
	"atrium/platform/webhooks"
)

type repoList = core.ListRequest[*inventory.RepoFilter]

// twelve creates repos r12 to r01, in this order.
func (w *world) twelve(group core.UID) {
	w.Helper()
	for n := 12; n > 0; n-- {
		w.namedRepo(group, fmt.Sprintf("r%02d", n))
	}
}

func (w *world) mustList(ctx context.Context, req repoList) core.Page[*inventory.Repo] {
	w.Helper()
	page, err := w.p.Repos.List(ctx, req)
	must(w, err)
	return page
}

// The specification says about pagination: page_size 5, order_by name and skip 10 over 12
// matching items.
func TestTheLastPageOfTwelveHoldsTwo(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.twelve(acme.uid)
		page := w.mustList(acme.owner, repoList{UIDP: core.UIDFilter{DescendantsOf: acme.uid}, PageSize: 5, OrderBy: "name", Skip: 10})
		if got := names(page.Items); !slices.Equal(got, []string{"r11", "r12"}) || page.Skipped != 10 || page.TotalCount != 12 || page.NextPageToken() != "" || page.HasNext || !page.HasPrevious {
			t.Errorf("%q, skipped %d of %d, want 10 and 12, then %q", got, page.Skipped, page.TotalCount, page.NextPageToken())
		}
		past := w.mustList(acme.owner, repoList{PageSize: 5, Skip: 12})
		if len(past.Items) != 0 || past.Skipped != 12 || past.TotalCount != 12 || past.NextPageToken() != "" {
			t.Errorf("got %+v, want 0 items, Skipped 12, TotalCount 12 and NextPageToken \"\"", past)
		}
	})
}

func TestPagesContainEveryRowOnceInTheRequestedOrder(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.twelve(acme.uid)
		for _, order := range []string{"", "name", "name desc", "created_at", "created_at desc", "uid", "uid desc", "updateTime desc"} {
			for _, size := range []int{1, 5, 6, 12, 200} {
				var whole, walked []string
				whole = names(w.mustList(acme.owner, repoList{OrderBy: order}).Items)
				req := repoList{OrderBy: order, PageSize: size}
				for pages := 0; ; pages++ {
					page := w.mustList(acme.owner, req)
					walked = append(walked, names(page.Items)...)
					if page.TotalCount != 12 || len(page.Items) > size || page.HasNext != (page.NextPageToken() != "") || page.HasPrevious != (pages > 0) {
						t.Errorf("%s by %d: page %d is %+v, want TotalCount 12", order, size, pages, page)
					}
					if page.NextPageToken() == "" {
						break
					}
					req.PageToken, req.OrderBy = page.NextPageToken(), "" // The token contains the order.
				}
				if !slices.Equal(walked, whole) || len(whole) != 12 {
					t.Errorf("%s by %d: %q, in one page %q, want 12 of them", order, size, walked, whole)
				}
			}
		}
		if got := names(w.mustList(acme.owner, repoList{OrderBy: "created_at desc", PageSize: 2}).Items); !slices.Equal(got, []string{"r01", "r02"}) {
			t.Errorf("the newest are %q, want %v", got, []string{"r01", "r02"})
		}
	})
}

func TestPagesAreWalkedBackwardToo(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.twelve(acme.uid)
		last := w.mustList(acme.owner, repoList{PageSize: 5, Backward: true})
		if got := names(last.Items); !slices.Equal(got, []string{"r08", "r09", "r10", "r11", "r12"}) || last.HasNext || !last.HasPrevious {
			t.Errorf("got %q %+v, want %v", got, last, []string{"r08", "r09", "r10", "r11", "r12"})
		}
		before := w.mustList(acme.owner, repoList{PageSize: 5, Backward: true, PageToken: last.NextPageToken()})
		if got := names(before.Items); !slices.Equal(got, []string{"r03", "r04", "r05", "r06", "r07"}) || !before.HasNext || !before.HasPrevious {
			t.Errorf("got %q %+v, want %v", got, before, []string{"r03", "r04", "r05", "r06", "r07"})
		}
		first := w.mustList(acme.owner, repoList{PageSize: 5, Backward: true, PageToken: before.Cursor(0)})
		if got := names(first.Items); !slices.Equal(got, []string{"r01", "r02"}) || first.HasPrevious || first.NextPageToken() != "" {
			t.Errorf("got %q %+v, want %v and NextPageToken \"\"", got, first, []string{"r01", "r02"})
		}
		again := w.mustList(acme.owner, repoList{PageSize: 2, PageToken: before.Cursor(4)})
		if got := names(again.Items); !slices.Equal(got, []string{"r08", "r09"}) {
			t.Errorf("forward from a backward page's cursor: %q", got)
		}
	})
}

func TestSkipCountsFromTheToken(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.twelve(acme.uid)
		first := w.mustList(acme.owner, repoList{PageSize: 3})
		page := w.mustList(acme.owner, repoList{PageSize: 2, Skip: 4, PageToken: first.NextPageToken()})
		if got := names(page.Items); !slices.Equal(got, []string{"r08", "r09"}) || page.Skipped != 4 || page.TotalCount != 12 {
			t.Errorf("%q, skipped %d of %d, want 4 and 12", got, page.Skipped, page.TotalCount)
		}
	})
}

func TestPageSizesHaveADefaultAndAMaximum(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		var repos []*registry.ImportedRepo
		for n := range 230 {
			repos = append(repos, &registry.ImportedRepo{Repo: inventory.Repo{Name: fmt.Sprintf("r%03d", n)}})
		}
		_, err := w.p.Registry.ImportRepos(w.operator(), acme.uid, repos, core.ImportOptions{NoEvents: true})
		must(t, err)
		for size, want := range map[int]int{0: 50, 1: 1, 200: 200, 201: 200, 100_000: 200} {
			if page := w.mustList(acme.owner, repoList{PageSize: size}); len(page.Items) != want || page.TotalCount != 230 || page.NextPageToken() == "" {
				t.Errorf("%d: %d of %d, want %d and 230", size, len(page.Items), page.TotalCount, want)
			}
		}
		for _, x := range []struct {
			req  repoList
			want string
		}{
			{repoList{PageSize: -1}, "page_size"}, {repoList{Skip: -1}, "skip"}, {repoList{OrderBy: "color"}, "order_by"}, {repoList{PageToken: "nonsense"}, "page_token"},
			{repoList{PageSize: -1, Skip: -1, OrderBy: "name up", PageToken: "!"}, "page_size skip order_by page_token"},
			{repoList{UIDP: core.UIDFilter{AncestorsOf: "a", DescendantsOf: "b", ChildrenOf: "c", IDs: []core.UID{"d", "e"}}}, "uidp.ancestors_of uidp.descendants_of uidp.children_of uidp.ids"},
			{repoList{UIDP: core.UIDFilter{IDs: make([]core.UID, 1001)}}, "uidp.ids uidp.ids"},
			{repoList{Malformed: []fieldmask.Violation{{Field: "page_size", Description: "must be a number"}}, Skip: -1}, "page_size skip"},
		} {
			_, err := w.p.Repos.List(acme.owner, x.req)
			if got := violationFields(err); got != x.want {
				t.Errorf("%s, want %s", got, x.want)
			}
		}
	})
}

func TestAPageTokenContinuesOnlyItsOwnList(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		w.twelve(acme.uid)
		w.twelve(team)
		below := core.UIDFilter{DescendantsOf: acme.uid}
		token := w.mustList(acme.owner, repoList{UIDP: below, PageSize: 2, OrderBy: "name desc"}).NextPageToken()
		refuses := func(what string, err error) {
			t.Helper()
			if got := violationFields(err); got != "page_token" {
				t.Errorf("%s: %s, want page_token", what, got)
			}
		}
		for what, req := range map[string]repoList{
			"another scope":      {UIDP: core.UIDFilter{DescendantsOf: team}, PageToken: token},
			"another relation":   {UIDP: core.UIDFilter{ChildrenOf: acme.uid}, PageToken: token},
			"no scope":           {PageToken: token},
			"a filter":           {UIDP: below, Filter: &inventory.RepoFilter{Name: "r01"}, PageToken: token},
			"another order":      {UIDP: below, OrderBy: "uid desc", PageToken: token},
			"the other way":      {UIDP: below, OrderBy: "name", PageToken: token},
			"cut":                {UIDP: below, PageToken: token[:len(token)-1]},
			"with a space":       {UIDP: below, PageToken: token + " "},
			"of the old version": {UIDP: below, PageToken: "eyJvZmZzZXQiOjUwfQ=="},
		} {
			_, err := w.p.Repos.List(acme.owner, req)
			refuses(what, err)
		}
		_, err := w.p.Groups.List(acme.owner, core.ListRequest[*iam.GroupFilter]{UIDP: below, PageToken: token})
		refuses("another kind", err)
		for _, order := range []string{"", "name desc"} {
			if page := w.mustList(acme.owner, repoList{UIDP: below, PageToken: token, OrderBy: order, PageSize: 7}); len(page.Items) != 7 || page.Items[0].Name != "r11" {
				t.Errorf("%q: %q, want 7 items and Name 'r11'", order, names(page.Items))
			}
		}
		// A token grants nothing: each page contains what its caller may see.
		viewer := w.memberWith(iam.ViewerRole, team, acme.uid)
		if page := w.mustList(viewer, repoList{UIDP: below, PageToken: token}); page.TotalCount != 12 || len(page.Items) != 11 {
			t.Errorf("a caller who sees half: %q of %d, want 12", names(page.Items), page.TotalCount)
		}
		_, err = w.p.Repos.List(w.as("a stranger"), repoList{UIDP: below, PageToken: token})
		expectRefused(t, "a stranger with a good token", err, core.CodePermissionDenied)
	})
}

// Caches of clients see a change wherever a cursor is another one.
func TestAPlaceHasTheSameTokenForAnHourAndNoTokenExpiresEarly(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.twelve(acme.uid)
		request := repoList{PageSize: 5, OrderBy: "name"}
		search := core.SearchRequest{Query: "r", PageSize: 5}
		place := func() (tokens [3]string) {
			page := w.mustList(acme.owner, request)
			found, err := w.p.Search.List(acme.owner, search)
			must(t, err)
			return [3]string{page.NextPageToken(), page.Cursor(0), found.Cursor(4)}
		}
		w.pass(5 * time.Minute) // an hour has just begun
		early := place()
		w.pass(time.Hour - time.Minute)
		late := place()
		if early != late {
			t.Errorf("one place has the tokens %q, and within the hour %q", early, late)
		}
		w.pass(2 * time.Minute)
		if next := place(); next[0] == early[0] || next[1] == early[1] || next[2] == early[2] {
			t.Errorf("a token of the next hour is that of the hour before: %q", next)
		}
		w.pass(3*24*time.Hour - 3*time.Minute) // since the late tokens were made
		request.PageToken, search.PageToken = late[0], late[2]
		if got := names(w.mustList(acme.owner, request).Items); !slices.Equal(got, []string{"r06", "r07", "r08", "r09", "r10"}) {
			t.Errorf("within three days a list goes on with %q, want r06", got)
		}
		if found, err := w.p.Search.List(acme.owner, search); err != nil || !found.HasPrevious {
			t.Errorf("within three days a search restarts (%v)", err)
		}
	})
}

// The specification says that a missing resource and a permission failure are errors, never an empty result. REST
// and gRPC ask for that. The graph does not: there a nested list is the same as the list of the root.
func TestAListByWhatIsNotThereOrHiddenIsAnErrorIfTheRequestAsksForIt(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team := w.group(acme.uid)
		repo, foreign, missing := w.namedRepo(acme.uid, "one"), w.namedRepo(other.uid, "other"), missingBelow(acme.uid)
		idle, role := w.member(acme.uid, "idle"), w.role(acme.uid)
		ofTeam, onlyBindings := w.memberWith(iam.ViewerRole, team, acme.uid), w.memberWith(w.role(acme.uid, core.CapRoleBindingsList), acme.uid, acme.uid)
		w.advise(acme.uid, &inventory.Advisory{AdvisoryID: "GO-1", ArtifactType: "Go", ArtifactName: "stdlib"})
		_, err := w.p.Feeds.ImportVulnerabilities(w.operator(), []*inventory.Vulnerability{{ID: "DSA-1", Upstream: []string{"CVE-8"}}})
		must(t, err)
		w.settle()
		repos := func(ids ...core.UID) namedList { return listOf(w.p.Repos.List, &inventory.RepoFilter{}, ids...) }
		identities := func(ids ...core.UID) namedList {
			return listOf(w.p.Identities.List, &iam.IdentityFilter{}, ids...)
		}
		bindings := func(f iam.RoleBindingFilter) namedList { return listOf(w.p.RoleBindings.List, &f) }
		mappings := func(provider core.UID) namedList {
			return listOf(w.p.ExternalGroupRoleMappings.List, &iam.ExternalGroupRoleMappingFilter{IdentityProvider: provider})
		}
		documents := func(f reports.DocumentFilter) namedList { return listOf(w.p.AdvisoryDocuments.List, &f) }
		metadata := func(f inventory.VulnerabilityFilter) namedList { return listOf(w.p.Vulnerabilities.List, &f) }
		type filter = iam.RoleBindingFilter
		for _, x := range []struct {
			what  string
			ctx   context.Context
			list  namedList
			field string // the field of the error; "" means that there is none
		}{
			{"repos that are missing", acme.owner, repos(missing), "uidp.ids"},
			{"a repo of another organization", acme.owner, repos(foreign), "uidp.ids"},
			{"a repo, and one that is missing", acme.owner, repos(missing, repo), ""},
			{"no repos", acme.owner, repos([]core.UID{}...), ""},
			{"a hidden repo", ofTeam, repos(repo), "uidp.ids"},
			{"the caller, who may not read it", ofTeam, identities(core.ActorOf(ofTeam).Identities[0]), ""},
			{"another hidden identity", ofTeam, identities(idle), "uidp.ids"},
			{"bindings of a missing identity", acme.owner, bindings(filter{Identity: missing}), "identity"},
			{"bindings of an identity elsewhere", acme.owner, bindings(filter{Identity: other.Identity.UID}), "identity"},
			{"bindings of a hidden identity, where they would be seen", ofTeam, bindings(filter{Identity: idle}), ""},
			{"bindings of a missing identity, of which the caller cannot know", ofTeam, bindings(filter{Identity: missing}), ""},
			{"bindings of an identity without any", acme.owner, bindings(filter{Identity: idle}), ""},
			{"bindings of a missing role", acme.owner, bindings(filter{Role: missing}), "role"},
			{"bindings of a role elsewhere", acme.owner, bindings(filter{Role: missingBelow(other.uid)}), "role"},
			{"bindings of a role without any", acme.owner, bindings(filter{Role: role}), ""},
			{"bindings of a built-in role", acme.owner, bindings(filter{Role: iam.EditorRole}), ""},
			{"bindings of a built-in role, for who may list bindings only", onlyBindings, bindings(filter{Role: iam.EditorRole}), ""},
			{"bindings on a missing group", acme.owner, bindings(filter{Group: missing}), "group"},
			{"bindings on a group elsewhere", acme.owner, bindings(filter{Group: other.uid}), "group"},
			{"bindings on the group above", ofTeam, bindings(filter{Group: acme.uid}), "group"},
			{"bindings on what is no group", acme.owner, bindings(filter{Group: repo}), "group"},
			{"bindings on a group without any", acme.owner, bindings(filter{Group: w.group(acme.uid)}), ""},
			{"bindings of an identity, for who may list bindings only", onlyBindings, bindings(filter{Identity: idle}), ""},
			{"mappings of a missing provider", acme.owner, mappings(missing), "identity_provider_uid"},
			{"mappings of a provider elsewhere", acme.owner, mappings(missingBelow(other.uid)), "identity_provider_uid"},
			{"a missing document", acme.owner, documents(reports.DocumentFilter{ID: "nothing"}), "id"},
			{"a hidden document", other.owner, documents(reports.DocumentFilter{ID: "stdlib"}), "id"},
			{"a missing document, with CVEs", acme.owner, documents(reports.DocumentFilter{ID: "nothing", CVEs: []string{"GO-1"}}), "id"},
			{"a document without such CVEs", acme.owner, documents(reports.DocumentFilter{ID: "stdlib", CVEs: []string{"CVE-1"}}), ""},
			{"a missing vulnerability", acme.owner, metadata(inventory.VulnerabilityFilter{ID: "CVE-0"}), "id"},
			{"a vulnerability by its upstream id", acme.owner, metadata(inventory.VulnerabilityFilter{ID: "CVE-8"}), ""},
			{"missing vulnerabilities", acme.owner, metadata(inventory.VulnerabilityFilter{IDs: []string{"CVE-0", "CVE-1"}}), "ids"},
			{"all vulnerabilities", acme.owner, metadata(inventory.VulnerabilityFilter{}), ""},
		} {
			err := x.list(x.ctx, true)
			if x.field != "" {
				if e := refusal(t, x.what, err, core.CodeNotFound); violationFields(e) != x.field {
					t.Errorf("%s: the error is about %q, want %q", x.what, violationFields(e), x.field)
				}
			} else if err != nil {
				t.Errorf("%s: %v, want no error", x.what, err)
			}
			if err := x.list(x.ctx, false); err != nil {
				t.Errorf("%s, in the graph: %v, want no error", x.what, err)
			}
		}
		gone := missingBelow(other.uid)
		hidden, absent := repos(foreign)(acme.owner, true), repos(gone)(acme.owner, true)
		if strings.ReplaceAll(fmt.Sprint(absent), string(gone), string(foreign)) != fmt.Sprint(hidden) {
			t.Errorf("the caller learns what exists elsewhere: %v, and %v", hidden, absent)
		}
	})
}

// A namedList lists what a filter names, which must exist or need not.
type namedList = func(ctx context.Context, mustExist bool) error

func listOf[T, F any](list func(context.Context, core.ListRequest[F]) (core.Page[T], error), f F, ids ...core.UID) namedList {
	return func(ctx context.Context, mustExist bool) error {
		_, err := list(ctx, core.ListRequest[F]{Filter: f, UIDP: core.UIDFilter{IDs: ids}, NamedMustExist: mustExist})
		return err
	}
}

func TestAnOldTokenRestartsTheListWithoutAnError(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.twelve(acme.uid)
		token := w.mustList(acme.owner, repoList{PageSize: 5, OrderBy: "name desc"}).NextPageToken()
		w.pass(3*24*time.Hour - time.Minute)
		if got := names(w.mustList(acme.owner, repoList{PageSize: 2, PageToken: token}).Items); !slices.Equal(got, []string{"r07", "r06"}) {
			t.Errorf("before three days: %q, want %v", got, []string{"r07", "r06"})
		}
		w.pass(time.Minute + time.Hour) // the same token was good for an hour
		page := w.mustList(acme.owner, repoList{PageSize: 2, PageToken: token})
		if got := names(page.Items); !slices.Equal(got, []string{"r12", "r11"}) || page.HasPrevious {
			t.Errorf("after three days: %q, want %v", got, []string{"r12", "r11"})
		}
		if got := names(w.mustList(acme.owner, repoList{PageSize: 2, PageToken: page.NextPageToken()}).Items); !slices.Equal(got, []string{"r10", "r09"}) {
			t.Errorf("the restarted list goes on with %q", got)
		}
		_, err := w.p.Repos.List(acme.owner, repoList{PageToken: token, OrderBy: "name"})
		if got := violationFields(err); got != "page_token" {
			t.Errorf("with another order: %s, want page_token", got)
		}
	})
}

func TestPageTokensWorkOnEveryReplicaAndAfterAKeyRotation(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.twelve(acme.uid)
		token := w.mustList(acme.owner, repoList{PageSize: 5}).NextPageToken()
		first, second := w.p, w.replica(w.store, platform.Options{})
		must(t, first.RotateKeys(t.Context()))
		newer := w.mustList(acme.owner, repoList{PageSize: 5}).NextPageToken()
		for what, p := range map[string]*platform.Platform{"the same": first, "another": second, "a new": w.replica(w.store, platform.Options{})} {
			for age, token := range map[string]string{"old": token, "new": newer} {
				page, err := p.Repos.List(acme.owner, repoList{PageToken: token, PageSize: 1})
				if err != nil || len(page.Items) != 1 || page.Items[0].Name != "r06" {
					t.Errorf("%s replica, %s token: %q (%v), want 1 items and Name 'r06'", what, age, names(page.Items), err)
				}
			}
		}
		// Forged key ids must not cause repeated reads of keys.
		var trace core.Trace
		ctx := core.WithTrace(acme.owner, &trace)
		for n := range 20 {
			_, err := second.Repos.List(ctx, repoList{PageToken: fmt.Sprintf("_%s%02d", strings.Repeat("A", 60), n)})
			if got := violationFields(err); got != "page_token" {
				t.Fatalf("got %v, want 'page_token'", got)
			}
		}
		if n := trace.Statements.Load(); n > 1 {
			t.Errorf("20 forged tokens cause %d statements", n)
		}
	})
}

func TestNamesAreMatchedExactly(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.twelve(acme.uid)
		w.namedRepo(w.group(acme.uid), "r01")
		for name, want := range map[string]int64{"r01": 2, "r02": 1, "r0": 0, "R01": 0, "r0_": 0, "%": 0} {
			page := w.mustList(acme.owner, repoList{Filter: &inventory.RepoFilter{Name: name}})
			if page.TotalCount != want || len(page.Items) != int(want) {
				t.Errorf("%q finds %q of %d, want %d", name, names(page.Items), page.TotalCount, want)
			}
		}
	})
}

// A text that no row can contain must find nothing, on every engine.
func TestAFilterOfOddTextFindsNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.advisory(acme.uid)
		for _, odd := range []string{"a\x00b", "\xff", "'; DROP TABLE repo; --", strings.Repeat("x", 100_000)} {
			_, errs := map[string]int64{}, map[string]error{}
			_, errs["repos"] = w.p.Repos.List(acme.owner, repoList{Filter: &inventory.RepoFilter{Name: odd}})
			_, errs["groups"] = w.p.Groups.List(acme.owner, core.ListRequest[*iam.GroupFilter]{Filter: &iam.GroupFilter{Name: odd}})
			_, errs["tags"] = w.p.Tags.List(acme.owner, core.ListRequest[*inventory.TagFilter]{Filter: &inventory.TagFilter{Name: odd, Names: []string{odd}}})
			_, errs["roles"] = w.p.Roles.List(acme.owner, core.ListRequest[*iam.RoleFilter]{Filter: &iam.RoleFilter{Name: odd}})
			_, errs["identities"] = w.p.Identities.List(acme.owner, core.ListRequest[*iam.IdentityFilter]{Filter: &iam.IdentityFilter{Name: odd}})
			_, errs["sinks"] = w.p.Subscriptions.List(acme.owner, core.ListRequest[*webhooks.SubscriptionFilter]{Filter: &webhooks.SubscriptionFilter{Sink: odd}})
			_, errs["advisories"] = w.p.Advisories.List(acme.owner, core.ListRequest[*inventory.AdvisoryFilter]{Filter: &inventory.AdvisoryFilter{
				AdvisoryIDs: []string{odd}, Aliases: []string{odd}, Origin: odd, EventAuthors: []string{odd}, ExcludeEventAuthors: []string{odd}}})
			_, errs["vulnerabilities"] = w.p.Vulnerabilities.List(acme.owner, core.ListRequest[*inventory.VulnerabilityFilter]{Filter: &inventory.VulnerabilityFilter{IDs: []string{odd}}})
			_, errs["a vulnerability"] = w.p.Vulnerabilities.Get(acme.owner, odd)
			_, errs["lookup"] = w.p.Identities.Lookup(acme.owner, odd, odd)
			_, errs["token"] = w.p.Authenticate(t.Context(), iam.Claims{Issuer: issuer, Subject: odd, ServiceAudience: true})
			for what, err := range errs {
				if err != nil && !isCode(err, core.CodeNotFound) && !isCode(err, core.CodeInvalidArgument) {
					t.Errorf("%s of %.20q: %v", what, odd, err)
				}
			}
		}
	})
}

// The specification shows order_by with name and created_at.
func TestListsSortByTheNameAndTheTimeOfCreationThatTheirRowsShow(t *testing.T) {
	t.Parallel()
	for _, k := range platform.Kinds() {
		for i := range k.Row.NumField() {
			field, _, _ := strings.Cut(k.Row.Field(i).Tag.Get("json"), ",")
			if order, shown := map[string]string{"name": "name", "createTime": "create_time"}[field]; shown && !slices.Contains(k.Orders, order) {
				t.Errorf("%s shows %s, and its lists cannot be sorted by it", k.Name, field)
			}
		}
	}
}
