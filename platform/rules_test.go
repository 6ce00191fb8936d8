package platform_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/fieldmask"
	"atrium/store/storetest"
)

func TestADeletionIsBlockedByDependentResources(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		p, owner := w.p, acme.owner
		children := map[string]func(platform.UID) platform.UID{
			"group": w.group, "identity": func(g platform.UID) platform.UID { return w.member(g, w.name()) }, "role": func(g platform.UID) platform.UID { return w.role(g) },
			"repo": w.repo, "advisory": w.advisory, "subscription": w.subscription,
			"binding": func(g platform.UID) platform.UID {
				return w.bind(g, acme.Identity.UID, platform.ViewerRole)
			},
		}
		for what, put := range children {
			group := w.group(acme.uid)
			put(group)
			err := p.Groups.Delete(owner, group)
			e := refusal(t, "a group with a "+what, err, platform.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
			kind := map[string]string{"advisory": "advisory", "binding": "role binding"}[what]
			if want := fmt.Sprintf("the group still holds 1 %s", cmp.Or(kind, what)); e.Preconditions[0].Description != want {
				t.Errorf("a group with a %s: %q, want %q", what, e.Preconditions[0].Description, want)
			}
			if e.Preconditions[0].Subject != string(group) || !strings.HasPrefix(e.Message, "Precondition failed: ") || e.Reason != "FAILED_PRECONDITION" {
				t.Errorf("got %+v, want Subject %v and Reason 'FAILED_PRECONDITION'", e, group)
			}
			if _, err := p.Groups.Get(owner, group); err != nil {
				t.Errorf("a group with a %s, after its deletion was refused: %v", what, err)
			}
		}
		repo := w.repo(acme.uid)
		tag := w.tag(repo)
		if e := refusal(t, "a repo with a tag", p.Repos.Delete(owner, repo), platform.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY"); e.Area != "registry" {
			t.Errorf("area %s, want registry", e.Area)
		}
		must(t, p.Tags.Delete(owner, tag))
		must(t, p.Repos.Delete(owner, repo))
		role, identity := w.role(acme.uid), w.member(acme.uid, "x")
		bound := w.bind(acme.uid, identity, role)
		invited, err := p.GroupInvites.Create(owner, acme.uid, body[*platform.GroupInvite](`{"roleUid": %q, "ttl": "3600s"}`, role))
		must(t, err)
		boundBelow := w.bind(w.group(acme.uid), identity, role)
		if e := refusal(t, "a bound role", p.Roles.Delete(owner, role), platform.CodeFailedPrecondition, "RESOURCE_IN_USE"); e.Preconditions[0].Description != "the role is in use by 2 role bindings and 1 group invite" {
			t.Errorf("a bound role: %s", e.Message)
		}
		if e := refusal(t, "a bound identity", p.Identities.Delete(owner, identity), platform.CodeFailedPrecondition, "RESOURCE_IN_USE"); e.Preconditions[0].Description != "the identity is in use by 2 role bindings" {
			t.Errorf("a bound identity: %s", e.Message)
		}
		must(t, p.GroupInvites.Delete(owner, invited.UID))
		must(t, p.RoleBindings.Delete(owner, boundBelow))
		must(t, p.RoleBindings.Delete(owner, bound))
		must(t, p.Roles.Delete(owner, role))
		must(t, p.Identities.Delete(owner, identity))
		expectRefused(t, "what is deleted already", p.Identities.Delete(owner, identity), platform.CodeNotFound)
		must(t, p.Repos.Delete(owner, w.newImage(acme.uid))) // Images do not count as tags.
		w.checkCounters()
	})
}

func TestADuplicateNamesTheOneThatIsThere(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		p, owner, team := w.p, acme.owner, w.group(acme.uid)
		named := func(what string, err error, kind, area string, uid platform.UID) {
			t.Helper()
			e := refusal(t, what, err, platform.CodeAlreadyExists, "ALREADY_EXISTS")
			if unique := map[string]string{"RoleBinding": "identityUid roleUid", "Subscription": "sink"}[kind]; violationFields(e) != cmp.Or(unique, "name") {
				t.Errorf("%s: it blames %q, want %q", what, violationFields(e), cmp.Or(unique, "name"))
			}
			resource := e.Status("atrium.dev", "").Details[len(e.Status("atrium.dev", "").Details)-1]
			if resource["resourceType"] != area+".atrium.dev/"+kind || resource["resourceName"] != string(uid) {
				t.Errorf("%s: %v, want %s %s", what, resource, kind, uid)
			}
		}
		group, err := p.Groups.Create(owner, acme.uid, body[*platform.Group](`{"name": "same"}`))
		must(t, err)
		_, err = p.Groups.Create(owner, acme.uid, body[*platform.Group](`{"name": "same"}`))
		named("group", err, "Group", "iam", group.UID)
		_, err = p.Groups.Create(owner, team, body[*platform.Group](`{"name": "same"}`))
		must(t, err) // Another parent may have the name.
		_, err = p.Groups.Update(owner, team, body[*platform.Group](`{"name": "same"}`))
		named("renaming a group", err, "Group", "iam", group.UID)
		_, err = p.Groups.Update(owner, group.UID, body[*platform.Group](`{"name": "same"}`))
		must(t, err) // This is its own name.

		role, err := p.Roles.Create(owner, acme.uid, body[*platform.Role](`{"name": "viewer"}`))
		must(t, err) // A built-in role does not reserve its name.
		_, err = p.Roles.Create(owner, acme.uid, body[*platform.Role](`{"name": "viewer"}`))
		named("role", err, "Role", "iam", role.UID)
		_, err = p.Roles.Update(owner, w.role(acme.uid), body[*platform.Role](`{"name": "viewer"}`))
		named("renaming a role", err, "Role", "iam", role.UID)

		repo := w.namedRepo(acme.uid, "golang")
		_, err = p.Repos.Create(owner, acme.uid, body[*platform.Repo](`{"name": "golang"}`))
		named("repo", err, "Repo", "registry", repo)
		_, err = p.Repos.Update(owner, w.repo(acme.uid), body[*platform.Repo](`{"name": "golang"}`))
		named("renaming a repo", err, "Repo", "registry", repo)

		identity := w.member(acme.uid, "x")
		bound := w.bind(team, identity, platform.ViewerRole)
		_, err = p.RoleBindings.Create(owner, team, binding(identity, platform.ViewerRole))
		named("binding", err, "RoleBinding", "iam", bound)
		_, err = p.RoleBindings.Create(owner, acme.uid, binding(identity, platform.ViewerRole))
		must(t, err) // The binding is on another group.
		other := w.bind(team, identity, platform.EditorRole)
		_, err = p.RoleBindings.Update(owner, other, body[*platform.RoleBinding](`{"roleUid": %q}`, platform.ViewerRole))
		named("changing a binding", err, "RoleBinding", "iam", bound)

		sub, err := p.Subscriptions.Create(owner, team, body[*platform.Subscription](`{"sink": "https://example.com/"}`))
		must(t, err)
		_, err = p.Subscriptions.Create(owner, team, body[*platform.Subscription](`{"sink": "https://example.com/"}`))
		named("subscription", err, "Subscription", "events", sub.UID)

		_, err = p.Identities.Create(owner, acme.uid, body[*platform.Identity](`{"name": "twin"}`))
		must(t, err)
		_, err = p.Identities.Create(owner, acme.uid, body[*platform.Identity](`{"name": "twin"}`))
		must(t, err) // Names of identities are not unique.
	})
}

func TestAMissingParentIsNotFound(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		gone := missingBelow(acme.uid)
		_, err := w.p.Groups.Create(acme.owner, gone, body[*platform.Group](`{"name": "x"}`))
		errs := map[string]error{"group": err}
		_, errs["identity"] = w.p.Identities.Create(acme.owner, gone, body[*platform.Identity](`{"name": "x"}`))
		_, errs["role"] = w.p.Roles.Create(acme.owner, gone, body[*platform.Role](`{"name": "x"}`))
		_, errs["binding"] = w.p.RoleBindings.Create(acme.owner, gone, binding(acme.Identity.UID, platform.ViewerRole))
		_, errs["repo"] = w.p.Repos.Create(acme.owner, gone, body[*platform.Repo](`{"name": "x"}`))
		_, errs["subscription"] = w.p.Subscriptions.Create(acme.owner, gone, body[*platform.Subscription](`{"sink": "https://example.com"}`))
		for what, err := range errs {
			e := refusal(t, what, err, platform.CodeNotFound, "NOT_FOUND")
			shown := e.Status("atrium.dev", "").Details[1]
			if shown["resourceType"] != "iam.atrium.dev/Group" || shown["resourceName"] != string(gone) || shown["description"] == "" {
				t.Errorf("%s: %v, want resourceType 'iam.atrium.dev/Group' and resourceName %v", what, shown, gone)
			}
		}
		_, err = w.p.Tags.Create(acme.owner, gone, body[*platform.Tag](`{"name": "x", "digest": %q}`, digest(1)))
		if e := refusal(t, "tag", err, platform.CodeNotFound); e.Resource.Kind != "Repo" || e.Resource.Area != "registry" || e.Resource.Name != string(gone) {
			t.Errorf("got %+v, want Kind 'Repo', Area 'registry' and Name %v", e.Resource, gone)
		}
		_, err = w.p.Repos.Create(acme.owner, w.repo(acme.uid), body[*platform.Repo](`{"name": "x"}`))
		expectRefused(t, "a repo in a repo", err, platform.CodeNotFound)
		_, err = w.p.Tags.Create(acme.owner, acme.uid, body[*platform.Tag](`{"name": "x", "digest": %q}`, digest(1)))
		expectRefused(t, "a tag in a group", err, platform.CodeNotFound)
	})
}

func TestABindingReachesNoFurtherThanItsIdentityAndRole(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team, sibling := w.group(acme.uid), w.group(acme.uid)
		low, high, foreign := w.member(team, "low"), w.member(acme.uid, "high"), w.member(other.uid, "foreign")
		teamRole, foreignRole := w.role(team), w.role(other.uid)
		for _, x := range []struct {
			what                  string
			group, identity, role platform.UID
			field                 string
		}{
			{"an identity from below", acme.uid, low, platform.ViewerRole, "identityUid"},
			{"an identity from beside", sibling, low, platform.ViewerRole, "identityUid"},
			{"an identity from elsewhere", acme.uid, foreign, platform.ViewerRole, "identityUid"},
			{"a role from below", acme.uid, high, teamRole, "roleUid"},
			{"a role from beside", sibling, high, teamRole, "roleUid"},
			{"a role from elsewhere", team, high, foreignRole, "roleUid"},
			{"an identity that is none", team, "nonsense", platform.ViewerRole, "identityUid"},
			{"nothing", team, "", "", "identityUid roleUid"},
			{"both from elsewhere", team, foreign, foreignRole, "identityUid roleUid"},
		} {
			_, err := w.p.RoleBindings.Create(acme.owner, x.group, binding(x.identity, x.role))
			if got := violationFields(err); got != x.field {
				t.Errorf("%s: %s, want %s", x.what, got, x.field)
			}
		}
		// A UID in no group is a built-in role or does not exist.
		for _, gone := range []platform.UID{missingBelow(acme.uid), other.uid} {
			for what, uids := range map[string][2]platform.UID{"Identity": {gone, platform.ViewerRole}, "Role": {high, gone}} {
				_, err := w.p.RoleBindings.Create(acme.owner, team, binding(uids[0], uids[1]))
				if e := refusal(t, what, err, platform.CodeNotFound); e.Resource.Kind != what || e.Resource.Name != string(gone) {
					t.Errorf("got %+v, want Kind %v and Name %v", e.Resource, what, gone)
				}
			}
		}
		_, err := w.p.Roles.Get(acme.owner, other.uid)
		expectRefused(t, "an unknown built-in role", err, platform.CodeNotFound)
		_, err = w.p.Roles.Update(acme.owner, other.uid, body[*platform.Role](`{"description": "x"}`))
		expectRefused(t, "an update of an unknown built-in role", err, platform.CodeNotFound)
		expectRefused(t, "a delete of an unknown built-in role", w.p.Roles.Delete(acme.owner, other.uid), platform.CodeNotFound)
		made, err := w.p.RoleBindings.Create(acme.owner, team, binding(low, teamRole))
		must(t, err)
		_, err = w.p.RoleBindings.Update(acme.owner, made.UID, body[*platform.RoleBinding](`{"identityUid": %q}`, foreign))
		if got := violationFields(err); got != "identityUid" {
			t.Errorf("got %v, want 'identityUid'", got)
		}
		_, err = w.p.RoleBindings.Update(acme.owner, made.UID, body[*platform.RoleBinding](`{"roleUid": null}`))
		if got := violationFields(err); got != "roleUid" {
			t.Errorf("got %v, want 'roleUid'", got)
		}
	})
}

func TestBuiltInRolesCanBeReadButNotChanged(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		reader := w.with(w.role(acme.uid, platform.CapRolesList), w.group(acme.uid), acme.uid)
		other := w.with(w.role(acme.uid, platform.CapRepoList), acme.uid, acme.uid)
		role, err := w.p.Roles.Get(reader, platform.ViewerRole)
		must(t, err)
		if role.Name != "viewer" || !role.CreateTime.IsZero() || !role.UpdateTime.IsZero() {
			t.Errorf("got %+v, want Name 'viewer'", role)
		}
		page, err := w.p.Roles.List(reader, platform.ListRequest[*platform.RoleFilter]{})
		must(t, err)
		if page.TotalCount != 8 || len(page.Items) != 8 { // The custom roles are above.
			t.Errorf("%d of %d, want 8 and 8", len(page.Items), page.TotalCount)
		}
		page, err = w.p.Roles.List(acme.owner, platform.ListRequest[*platform.RoleFilter]{})
		must(t, err)
		if page.TotalCount != 10 || len(page.Items) != 10 {
			t.Errorf("%d of %d, want 10 and 10", len(page.Items), page.TotalCount)
		}
		_, err = w.p.Roles.Get(other, platform.ViewerRole)
		expectRefused(t, "reading without the capability", err, platform.CodePermissionDenied)
		for _, uid := range []platform.UID{platform.ViewerRole, platform.OwnerRole} {
			_, err = w.p.Roles.Update(acme.owner, uid, body[*platform.Role](`{"description": "mine"}`))
			expectRefused(t, "changing one", err, platform.CodeFailedPrecondition, "BUILT_IN_ROLE")
			expectRefused(t, "deleting one", w.p.Roles.Delete(acme.owner, uid), platform.CodeFailedPrecondition, "BUILT_IN_ROLE")
			_, err = w.p.Roles.Update(other, uid, body[*platform.Role](`{"description": "mine"}`))
			expectRefused(t, "changing one unseen", err, platform.CodePermissionDenied)
			expectRefused(t, "deleting one unseen", w.p.Roles.Delete(other, uid), platform.CodePermissionDenied)
			expectRefused(t, "by the operator", w.p.Roles.Delete(w.operator(), uid), platform.CodeFailedPrecondition, "BUILT_IN_ROLE")
		}
		expectRefused(t, "nobody", w.p.Roles.Delete(t.Context(), platform.ViewerRole), platform.CodeUnauthenticated)
	})
}

// Any organisation can name the issuer and the subject of somebody else. Each request of that person
// reads all role bindings of the identities that do.
func TestAnOrganisationHasAThousandBindingsOfARule(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team, next := w.group(acme.uid), w.group(acme.uid)
		one, twin, other := w.member(acme.uid, "victim"), w.member(acme.uid, "victim"), w.member(acme.uid, "other")
		keyed, err := w.p.Identities.Create(w.operator(), acme.uid, body[*platform.Identity](`{"name": "keyed", "staticKeys": {"issuer": %q, "subject": "victim", "issuerKeys": "{\"keys\": [{}]}"}}`, issuer))
		must(t, err)
		roles := make([]platform.UID, 0, 999)
		must(t, w.store.Write(t.Context(), func(tx platform.Tx) error { // This is faster than 999 requests.
			roles = roles[:0]
			for n := range cap(roles) {
				uid := platform.UID(fmt.Sprintf("%s/%016x", acme.uid, n))
				if err := storetest.Tables.IAM.Roles.Insert(t.Context(), tx, &platform.Role{UID: uid, Name: fmt.Sprintf("r%d", n), CreateTime: platform.At(epoch), UpdateTime: platform.At(epoch)}); err != nil {
					return err
				}
				roles = append(roles, uid)
			}
			return nil
		}))
		bindMany := func(identity platform.UID, roles []platform.UID) {
			t.Helper()
			for part := range slices.Chunk(roles, platform.MaxBatchBindings) {
				ins := make([]fieldmask.Input[*platform.RoleBinding], len(part))
				for i, role := range part {
					ins[i] = binding(identity, role)
				}
				_, err := w.p.RoleBindings.CreateBatch(acme.owner, newBatch(team, ins))
				must(t, err)
			}
		}
		bindMany(one, roles[:500])
		bindMany(twin, roles[500:])
		last := w.bind(team, keyed.UID, platform.ViewerRole)
		free := w.bind(team, other, platform.ViewerRole)
		refused := func(what string, err error) {
			t.Helper()
			expectRefused(t, what, err, platform.CodeFailedPrecondition, "TOO_MANY_BINDINGS")
		}
		for what, identity := range map[string]platform.UID{"one": one, "its twin": twin, "one with keys": keyed.UID} {
			_, err := w.p.RoleBindings.Create(acme.owner, next, binding(identity, platform.ViewerRole))
			refused("a binding of "+what, err)
		}
		_, err = w.p.RoleBindings.CreateBatch(acme.owner, newBatch(next, []fieldmask.Input[*platform.RoleBinding]{binding(other, platform.ViewerRole), binding(one, platform.ViewerRole)}))
		refused("a batch", err)
		expectRequest(t, "a batch", err, "requests[1]")
		_, err = w.p.RoleBindings.Update(acme.owner, free, body[*platform.RoleBinding](`{"identityUid": %q}`, one))
		refused("a binding that is given to it", err)
		_, err = w.p.Identities.Update(acme.owner, other, body[*platform.Identity](`{"claimMatch": {"issuer": %q, "subject": "victim"}}`, issuer))
		refused("the rule for an identity with a binding", err)
		invite := w.inviteTo(next, platform.ViewerRole, `"ttl": "60s", "singleUse": true`)
		_, err = w.p.GroupInvites.Accept(w.as("victim"), invite.Code)
		refused("an invite", err)

		_, err = w.p.RoleBindings.Update(acme.owner, last, body[*platform.RoleBinding](`{"roleUid": %q}`, platform.EditorRole))
		must(t, err) // The number stays the same.
		must(t, w.p.RoleBindings.Delete(acme.owner, last))
		if _, err = w.p.GroupInvites.Accept(w.as("victim"), invite.Code); err != nil {
			t.Errorf("after the refusal, the invite is used up: %v", err)
		}
		elsewhere := w.found("elsewhere")
		w.bind(elsewhere.uid, w.member(elsewhere.uid, "victim"), platform.ViewerRole) // Another organisation has its own thousand.
		w.bind(next, other, platform.ViewerRole)
		idle, err := w.p.Identities.Create(w.operator(), acme.uid, body[*platform.Identity](`{"name": "idle"}`))
		must(t, err)
		w.bind(next, idle.UID, platform.ViewerRole)
	})
}
