package platform_test

import (
	"context"
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

func names(repos []*inventory.Repo) []string {
	var all []string
	for _, r := range repos {
		all = append(all, r.Name)
	}
	return all
}

// reposOf lists repos by name and expects that the total agrees.
func (w *world) reposOf(ctx context.Context, f core.UIDFilter) []string {
	w.Helper()
	page, err := w.p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{UIDP: f})
	must(w, err)
	if int(page.TotalCount) != len(page.Items) {
		w.Errorf("%d items of %d", len(page.Items), page.TotalCount)
	}
	return names(page.Items)
}

func (w *world) namedRepo(group core.UID, name string) core.UID {
	w.Helper()
	made, err := w.p.Repos.Create(w.operator(), group, body[*inventory.Repo](`{"name": %q}`, name))
	must(w, err)
	return made.UID
}

// The specification says about identities: an identity of a subgroup is limited to it and
// cannot see the registry in the root.
func TestAnIdentityOfASubgroupNeverSeesTheRootsRegistry(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		rootRepo, teamRepo := w.namedRepo(acme.uid, "at-the-root"), w.namedRepo(team, "in-the-team")
		low := w.member(team, "low")
		_, err := w.p.RoleBindings.Create(acme.owner, acme.uid, binding(low, iam.ViewerRole))
		if got := violationFields(err); got != "identityUid" {
			t.Errorf("a binding that reaches out of the identity's group: %s, want identityUid", got)
		}
		// Even a binding that was created in another way reaches no further.
		stray := &iam.RoleBinding{UID: acme.uid + "/0123456789abcdef", IdentityUID: low, RoleUID: iam.OwnerRole, CreateTime: core.At(epoch)}
		must(t, w.store.Write(t.Context(), func(tx core.Tx) error {
			return storetest.Tables.IAM.RoleBindings.Insert(t.Context(), tx, stray)
		}))
		ctx := w.as("low")
		if got := w.reposOf(ctx, core.UIDFilter{}); !slices.Equal(got, []string{"in-the-team"}) {
			t.Errorf("an identity of the team sees %q", got)
		}
		if got := w.reposOf(ctx, core.UIDFilter{DescendantsOf: acme.uid}); !slices.Equal(got, []string{"in-the-team"}) {
			t.Errorf("below the root it sees %q", got)
		}
		_, err = w.p.Repos.Get(ctx, rootRepo)
		expectRefused(t, "the root's repo", err, core.CodePermissionDenied)
		expectRefused(t, "deleting the root's repo", w.p.Repos.Delete(ctx, rootRepo), core.CodePermissionDenied)
		_, err = w.p.Repos.Create(ctx, acme.uid, body[*inventory.Repo](`{"name": "x"}`))
		expectRefused(t, "creating at the root", err, core.CodePermissionDenied)
		_, err = w.p.Repos.Get(ctx, teamRepo)
		must(t, err)

		high := w.memberWith(iam.ViewerRole, acme.uid, acme.uid)
		if got := w.reposOf(high, core.UIDFilter{}); !slices.Equal(got, []string{"at-the-root", "in-the-team"}) {
			t.Errorf("an identity of the root sees %q", got)
		}
	})
}

func TestAListContainsWhatTheCallerMaySeeInItsScope(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team, sibling := w.group(acme.uid), w.group(acme.uid)
		sub := w.group(team)
		w.namedRepo(acme.uid, "a-root")
		teamRepo := w.namedRepo(team, "b-team")
		w.namedRepo(sub, "c-sub")
		w.namedRepo(sibling, "d-sibling")
		foreign := w.namedRepo(other.uid, "e-other")
		onTeam, onSub := w.memberWith(iam.ViewerRole, team, acme.uid), w.memberWith(iam.ViewerRole, sub, acme.uid)
		nobody := w.memberWith(w.role(team, core.CapGroupsList), team, acme.uid)
		type f = core.UIDFilter
		for _, x := range []struct {
			what string
			ctx  context.Context
			f    f
			want []string // nil means that the list is denied.
		}{
			{"the owner, everything", acme.owner, f{}, []string{"a-root", "b-team", "c-sub", "d-sibling"}},
			{"the owner, below the root", acme.owner, f{DescendantsOf: acme.uid}, []string{"a-root", "b-team", "c-sub", "d-sibling"}},
			{"the owner, in the root", acme.owner, f{ChildrenOf: acme.uid}, []string{"a-root"}},
			{"the owner, in another organization", acme.owner, f{DescendantsOf: other.uid}, nil},
			{"a team's viewer, everything", onTeam, f{}, []string{"b-team", "c-sub"}},
			{"a team's viewer, below the root", onTeam, f{DescendantsOf: acme.uid}, []string{"b-team", "c-sub"}},
			{"a team's viewer, in the root", onTeam, f{ChildrenOf: acme.uid}, nil},
			{"a team's viewer, by uid in the root", onTeam, f{ChildrenOf: acme.uid, IDs: []core.UID{teamRepo}}, nil},
			{"a team's viewer, in the root and below the team", onTeam, f{ChildrenOf: acme.uid, DescendantsOf: team}, nil},
			{"a team's viewer, below the team", onTeam, f{DescendantsOf: team}, []string{"b-team", "c-sub"}},
			{"a team's viewer, in the team", onTeam, f{ChildrenOf: team}, []string{"b-team"}},
			{"a team's viewer, below the subgroup", onTeam, f{DescendantsOf: sub}, []string{"c-sub"}},
			{"a team's viewer, beside", onTeam, f{DescendantsOf: sibling}, nil},
			{"a subgroup's viewer, everything", onSub, f{}, []string{"c-sub"}},
			{"a subgroup's viewer, below the root", onSub, f{DescendantsOf: acme.uid}, []string{"c-sub"}},
			{"a subgroup's viewer, in the team", onSub, f{ChildrenOf: team}, nil},
			{"a subgroup's viewer, beside", onSub, f{ChildrenOf: sibling}, nil},
			{"by uid", onTeam, f{IDs: []core.UID{foreign, teamRepo, missingBelow(team)}}, []string{"b-team"}},
			{"by uid, none visible", onSub, f{IDs: []core.UID{foreign, teamRepo}}, []string{}},
			{"by uid below another group", acme.owner, f{IDs: []core.UID{teamRepo}, DescendantsOf: sibling}, []string{}},
			{"without the capability", nobody, f{}, nil},
			{"without the capability, by uid", nobody, f{IDs: []core.UID{teamRepo}}, nil},
			{"without the capability, in the team", nobody, f{ChildrenOf: team}, nil},
		} {
			if x.want == nil {
				_, err := w.p.Repos.List(x.ctx, core.ListRequest[*inventory.RepoFilter]{UIDP: x.f})
				expectRefused(t, x.what, err, core.CodePermissionDenied, "PERMISSION_DENIED")
			} else if got := w.reposOf(x.ctx, x.f); !slices.Equal(got, x.want) {
				t.Errorf("%s: %q, want %q", x.what, got, x.want)
			}
		}
		for what, missing := range map[string]f{"descendants": {DescendantsOf: missingBelow(acme.uid)}, "children": {ChildrenOf: missingBelow(acme.uid)}, "ancestors": {AncestorsOf: missingBelow(acme.uid)}} {
			_, err := w.p.Repos.List(acme.owner, core.ListRequest[*inventory.RepoFilter]{UIDP: missing})
			e := refusal(t, what+" of what is missing", err, core.CodeNotFound)
			if e.Resource.Kind != "Group" || e.Resource.Area != "iam" || e.Area != "registry" {
				t.Errorf("%s: %+v of %s, want registry", what, e.Resource, e.Area)
			}
		}
		_, err := w.p.Tags.List(acme.owner, core.ListRequest[*inventory.TagFilter]{UIDP: f{ChildrenOf: missingBelow(team)}})
		if e := refusal(t, "tags of a missing repo", err, core.CodeNotFound); e.Resource.Kind != "Repo" || e.Resource.Area != "registry" {
			t.Errorf("got %+v, want Kind 'Repo' and Area 'registry'", e.Resource)
		}
	})
}

func TestAncestorsAndRootsAreListedAsFarAsTheCallerSees(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		sub := w.group(team)
		groups := func(ctx context.Context, f core.UIDFilter) []core.UID {
			t.Helper()
			page, err := w.p.Groups.List(ctx, core.ListRequest[*iam.GroupFilter]{UIDP: f, OrderBy: "uid"})
			must(t, err)
			uids := []core.UID{}
			for _, g := range page.Items {
				uids = append(uids, g.UID)
			}
			return uids
		}
		onTeam := w.memberWith(iam.ViewerRole, team, acme.uid)
		for what, x := range map[string]struct{ got, want []core.UID }{
			"ancestors, by the owner":   {groups(acme.owner, core.UIDFilter{AncestorsOf: sub}), []core.UID{acme.uid, team}},
			"ancestors, by the team":    {groups(onTeam, core.UIDFilter{AncestorsOf: sub}), []core.UID{team}},
			"roots, by the owner":       {groups(acme.owner, core.UIDFilter{InRoot: true}), []core.UID{acme.uid}},
			"roots, by the team":        {groups(onTeam, core.UIDFilter{InRoot: true}), []core.UID{}},
			"below the root, by a team": {groups(onTeam, core.UIDFilter{DescendantsOf: acme.uid}), []core.UID{team, sub}},
			"below itself, by the team": {groups(onTeam, core.UIDFilter{DescendantsOf: team}), []core.UID{sub}},
			"all, by the team":          {groups(onTeam, core.UIDFilter{}), []core.UID{team, sub}},
			"in the root, by the team":  {groups(onTeam, core.UIDFilter{ChildrenOf: acme.uid}), []core.UID{team}},
		} {
			if !slices.Equal(x.got, x.want) {
				t.Errorf("%s: %q, want %q", what, x.got, x.want)
			}
		}
	})
}

func TestATokenWithoutIdentityMayOnlyPingAndLookUp(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.found("acme")
		stranger := w.as("a stranger")
		if w.p.Ping(t.Context()) != "pong" || w.p.Ping(stranger) != "pong" {
			t.Error("no pong")
		}
		for _, subject := range []string{"owner of acme", "nobody"} { // The answer does not tell which of them is there.
			_, err := w.p.Identities.Lookup(stranger, issuer, subject)
			if e := refusal(t, subject, err, core.CodeNotFound); e.Resource.Kind != "Identity" {
				t.Errorf("got %+v, want Kind 'Identity'", e.Resource)
			}
		}
		_, err := w.p.Identities.Lookup(stranger, "", "")
		if got := violationFields(err); got != "issuer subject" {
			t.Errorf("got %v, want 'issuer subject'", got)
		}
		_, err = w.p.Vulnerabilities.Get(stranger, "GO-1")
		if e := refusal(t, "metadata", err, core.CodePermissionDenied, "IDENTITY_NOT_FOUND"); len(e.Metadata) > 0 {
			t.Errorf("reading metadata needs no capability, but the error names %v", e.Metadata)
		}
		_, err = w.p.Groups.Create(stranger, "", body[*iam.Group](`{"name": "mine"}`))
		expectRefused(t, "signing up", err, core.CodePermissionDenied, "IDENTITY_NOT_FOUND")
		if own, err := w.p.Identities.ListOwn(stranger); err != nil || len(own) != 0 {
			t.Errorf("it is %v, want none (%v)", own, err)
		}
	})
}

func TestManyResourcesAreReadInOrderEachWithItsOwnResult(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		a, b, foreign := w.repo(acme.uid), w.repo(acme.uid), w.repo(other.uid)
		uids := []core.UID{b, foreign, "nonsense", a, missingBelow(acme.uid), b, missingBelow(other.uid)}
		want := []core.Code{0, core.CodePermissionDenied, core.CodeInvalidArgument, 0, core.CodeNotFound, 0, core.CodePermissionDenied}
		rows, errs := w.p.Repos.GetMany(acme.owner, uids)
		for i := range uids {
			if want[i] != 0 {
				expectRefused(t, string(uids[i]), errs[i], want[i])
			} else if errs[i] != nil || rows[i] == nil || rows[i].UID != uids[i] {
				t.Errorf("place %d: %v, %v", i, rows[i], errs[i])
			}
		}
		var trace core.Trace
		if _, _ = w.p.Repos.GetMany(core.WithTrace(acme.owner, &trace), uids); trace.Statements.Load() != 1 {
			t.Errorf("%d statements, want 1", trace.Statements.Load())
		}
	})
}
