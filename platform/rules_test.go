package platform_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

func TestADeletionIsBlockedByDependentResources(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		p, owner := w.p, acme.owner
		children := map[string]func(core.UID) core.UID{
			"group": w.group, "identity": func(g core.UID) core.UID { return w.member(g, w.name()) }, "role": func(g core.UID) core.UID { return w.role(g) },
			"repo": w.repo, "advisory": w.advisory, "subscription": w.subscription,
			"binding": func(g core.UID) core.UID {
				return w.bind(g, acme.Identity.UID, iam.ViewerRole)
			},
		}
		for what, put := range children {
			group := w.group(acme.uid)
			put(group)
			err := p.Groups.Delete(owner, group)
			e := refusal(t, "a group with a "+what, err, core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
			kind := map[string]string{"advisory": "advisory", "binding": "role binding"}[what]
			if want := fmt.Sprintf("the group still contains 1 %s", cmp.Or(kind, what)); e.Preconditions[0].Description != want {
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
		if e := refusal(t, "a repo with a tag", p.Repos.Delete(owner, repo), core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY"); e.Area != "registry" {
			t.Errorf("area %s, want registry", e.Area)
		}
		must(t, p.Tags.Delete(owner, tag))
		must(t, p.Repos.Delete(owner, repo))
		role, identity := w.role(acme.uid), w.member(acme.uid, "x")
		bound := w.bind(acme.uid, identity, role)
		invited, err := p.GroupInvites.Create(owner, acme.uid, body[*iam.GroupInvite](`{"roleUid": %q, "ttl": "3600s"}`, role))
		must(t, err)
		boundBelow := w.bind(w.group(acme.uid), identity, role)
		if e := refusal(t, "a bound role", p.Roles.Delete(owner, role), core.CodeFailedPrecondition, "RESOURCE_IN_USE"); e.Preconditions[0].Description != "the role is in use by 2 role bindings and 1 group invite" {
			t.Errorf("a bound role: %s", e.Message)
		}
		if e := refusal(t, "a bound identity", p.Identities.Delete(owner, identity), core.CodeFailedPrecondition, "RESOURCE_IN_USE"); e.Preconditions[0].Description != "the identity is in use by 2 role bindings" {
			t.Errorf("a bound identity: %s", e.Message)
		}
		must(t, p.GroupInvites.Delete(owner, invited.UID))
		must(t, p.RoleBindings.Delete(owner, boundBelow))
		must(t, p.RoleBindings.Delete(owner, bound))
		must(t, p.Roles.Delete(owner, role))
		must(t, p.Identities.Delete(owner, identity))
		expectRefused(t, "what is deleted already", p.Identities.Delete(owner, identity), core.CodeNotFound)
		must(t, p.Repos.Delete(owner, w.newImage(acme.uid))) // Images do not count as tags.
		w.checkCounters()
	})
}

func TestADuplicateNamesTheOneThatIsThere(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		p, owner, team := w.p, acme.owner, w.group(acme.uid)
		named := func(what string, err error, kind, area string, uid core.UID) {
			t.Helper()
			e := refusal(t, what, err, core.CodeAlreadyExists, "ALREADY_EXISTS")
			if unique := map[string]string{"RoleBinding": "identityUid roleUid", "Subscription": "sink"}[kind]; violationFields(e) != cmp.Or(unique, "name") {
				t.Errorf("%s: it blames %q, want %q", what, violationFields(e), cmp.Or(unique, "name"))
			}
			resource := e.Status("atrium.dev", "").Details[len(e.Status("atrium.dev", "").Details)-1]
			if resource["resourceType"] != area+".atrium.dev/"+kind || resource["resourceName"] != string(uid) {
				t.Errorf("%s: %v, want %s %s", what, resource, kind, uid)
			}
		}
		group, err := p.Groups.Create(owner, acme.uid, body[*iam.Group](`{"name": "same"}`))
		must(t, err)
		_, err = p.Groups.Create(owner, acme.uid, body[*iam.Group](`{"name": "same"}`))
		named("group", err, "Group", "iam", group.UID)
		_, err = p.Groups.Create(owner, team, body[*iam.Group](`{"name": "same"}`))
		must(t, err) // Another parent may have the name.
		_, err = p.Groups.Update(owner, team, body[*iam.Group](`{"name": "same"}`))
		named("renaming a group", err, "Group", "iam", group.UID)
		_, err = p.Groups.Update(owner, group.UID, body[*iam.Group](`{"name": "same"}`))
		must(t, err) // This is its own name.

		role, err := p.Roles.Create(owner, acme.uid, body[*iam.Role](`{"name": "viewer"}`))
		must(t, err) // A built-in role does not reserve its name.
		_, err = p.Roles.Create(owner, acme.uid, body[*iam.Role](`{"name": "viewer"}`))
		named("role", err, "Role", "iam", role.UID)
		_, err = p.Roles.Update(owner, w.role(acme.uid), body[*iam.Role](`{"name": "viewer"}`))
		named("renaming a role", err, "Role", "iam", role.UID)

		repo := w.namedRepo(acme.uid, "golang")
		_, err = p.Repos.Create(owner, acme.uid, body[*inventory.Repo](`{"name": "golang"}`))
		named("repo", err, "Repo", "registry", repo)
		_, err = p.Repos.Update(owner, w.repo(acme.uid), body[*inventory.Repo](`{"name": "golang"}`))
		named("renaming a repo", err, "Repo", "registry", repo)

		identity := w.member(acme.uid, "x")
		bound := w.bind(team, identity, iam.ViewerRole)
		_, err = p.RoleBindings.Create(owner, team, binding(identity, iam.ViewerRole))
		named("binding", err, "RoleBinding", "iam", bound)
		_, err = p.RoleBindings.Create(owner, acme.uid, binding(identity, iam.ViewerRole))
		must(t, err) // The binding is on another group.
		other := w.bind(team, identity, iam.EditorRole)
		_, err = p.RoleBindings.Update(owner, other, body[*iam.RoleBinding](`{"roleUid": %q}`, iam.ViewerRole))
		named("changing a binding", err, "RoleBinding", "iam", bound)

		sub, err := p.Subscriptions.Create(owner, team, body[*webhooks.Subscription](`{"sink": "https://example.com/"}`))
		must(t, err)
		_, err = p.Subscriptions.Create(owner, team, body[*webhooks.Subscription](`{"sink": "https://example.com/"}`))
		named("subscription", err, "Subscription", "events", sub.UID)

		_, err = p.Identities.Create(owner, acme.uid, body[*iam.Identity](`{"name": "twin"}`))
		must(t, err)
		_, err = p.Identities.Create(owner, acme.uid, body[*iam.Identity](`{"name": "twin"}`))
		must(t, err) // Names of identities are not unique.
	})
}

func TestAMissingParentIsNotFound(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		gone := missingBelow(acme.uid)
		_, err := w.p.Groups.Create(acme.owner, gone, body[*iam.Group](`{"name": "x"}`))
		errs := map[string]error{"group": err}
		_, errs["identity"] = w.p.Identities.Create(acme.owner, gone, body[*iam.Identity](`{"name": "x"}`))
		_, errs["role"] = w.p.Roles.Create(acme.owner, gone, body[*iam.Role](`{"name": "x"}`))
		_, errs["binding"] = w.p.RoleBindings.Create(acme.owner, gone, binding(acme.Identity.UID, iam.ViewerRole))
		_, errs["repo"] = w.p.Repos.Create(acme.owner, gone, body[*inventory.Repo](`{"name": "x"}`))
		_, errs["subscription"] = w.p.Subscriptions.Create(acme.owner, gone, body[*webhooks.Subscription](`{"sink": "https://example.com"}`))
		for what, err := range errs {
			e := refusal(t, what, err, core.CodeNotFound, "NOT_FOUND")
			shown := e.Status("atrium.dev", "").Details[1]
			if shown["resourceType"] != "iam.atrium.dev/Group" || shown["resourceName"] != string(gone) || shown["description"] == "" {
				t.Errorf("%s: %v, want resourceType 'iam.atrium.dev/Group' and resourceName %v", what, shown, gone)
			}
		}
		_, err = w.p.Tags.Create(acme.owner, gone, body[*inventory.Tag](`{"name": "x", "digest": %q}`, digest(1)))
		if e := refusal(t, "tag", err, core.CodeNotFound); e.Resource.Kind != "Repo" || e.Resource.Area != "registry" || e.Resource.Name != string(gone) {
			t.Errorf("got %+v, want Kind 'Repo', Area 'registry' and Name %v", e.Resource, gone)
		}
		_, err = w.p.Repos.Create(acme.owner, w.repo(acme.uid), body[*inventory.Repo](`{"name": "x"}`))
		expectRefused(t, "a repo in a repo", err, core.CodeNotFound)
		_, err = w.p.Tags.Create(acme.owner, acme.uid, body[*inventory.Tag](`{"name": "x", "digest": %q}`, digest(1)))
		expectRefused(t, "a tag in a group", err, core.CodeNotFound)
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
			group, identity, role core.UID
			field                 string
		}{
			{"an identity from below", acme.uid, low, iam.ViewerRole, "identityUid"},
			{"an identity from beside", sibling, low, iam.ViewerRole, "identityUid"},
			{"an identity from elsewhere", acme.uid, foreign, iam.ViewerRole, "identityUid"},
			{"a role from below", acme.uid, high, teamRole, "roleUid"},
			{"a role from beside", sibling, high, teamRole, "roleUid"},
			{"a role from elsewhere", team, high, foreignRole, "roleUid"},
			{"an identity that is none", team, "nonsense", iam.ViewerRole, "identityUid"},
			{"nothing", team, "", "", "identityUid roleUid"},
			{"both from elsewhere", team, foreign, foreignRole, "identityUid roleUid"},
		} {
			_, err := w.p.RoleBindings.Create(acme.owner, x.group, binding(x.identity, x.role))
			if got := violationFields(err); got != x.field {
				t.Errorf("%s: %s, want %s", x.what, got, x.field)
			}
		}
		// A UID in no group is a built-in role or does not exist.
		for _, gone := range []core.UID{missingBelow(acme.uid), other.uid} {
			for what, uids := range map[string][2]core.UID{"Identity": {gone, iam.ViewerRole}, "Role": {high, gone}} {
				_, err := w.p.RoleBindings.Create(acme.owner, team, binding(uids[0], uids[1]))
				if e := refusal(t, what, err, core.CodeNotFound); e.Resource.Kind != what || e.Resource.Name != string(gone) {
					t.Errorf("got %+v, want Kind %v and Name %v", e.Resource, what, gone)
				}
			}
		}
		_, err := w.p.Roles.Get(acme.owner, other.uid)
		expectRefused(t, "an unknown built-in role", err, core.CodeNotFound)
		_, err = w.p.Roles.Update(acme.owner, other.uid, body[*iam.Role](`{"description": "x"}`))
		expectRefused(t, "an update of an unknown built-in role", err, core.CodeNotFound)
		expectRefused(t, "a delete of an unknown built-in role", w.p.Roles.Delete(acme.owner, other.uid), core.CodeNotFound)
		made, err := w.p.RoleBindings.Create(acme.owner, team, binding(low, teamRole))
		must(t, err)
		_, err = w.p.RoleBindings.Update(acme.owner, made.UID, body[*iam.RoleBinding](`{"identityUid": %q}`, foreign))
		if got := violationFields(err); got != "identityUid" {
			t.Errorf("got %v, want 'identityUid'", got)
		}
		_, err = w.p.RoleBindings.Update(acme.owner, made.UID, body[*iam.RoleBinding](`{"roleUid": null}`))
		if got := violationFields(err); got != "roleUid" {
			t.Errorf("got %v, want 'roleUid'", got)
		}
	})
}

func TestBuiltInRolesCanBeReadButNotChanged(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		reader := w.memberWith(w.role(acme.uid, core.CapRolesList), w.group(acme.uid), acme.uid)
		other := w.memberWith(w.role(acme.uid, core.CapRepoList), acme.uid, acme.uid)
		role, err := w.p.Roles.Get(reader, iam.ViewerRole)
		must(t, err)
		if role.Name != "viewer" || !role.CreateTime.IsZero() || !role.UpdateTime.IsZero() {
			t.Errorf("got %+v, want Name 'viewer'", role)
		}
		page, err := w.p.Roles.List(reader, core.ListRequest[*iam.RoleFilter]{})
		must(t, err)
		if page.TotalCount != 9 || len(page.Items) != 9 { // The custom roles are above.
			t.Errorf("%d of %d, want 9 and 9", len(page.Items), page.TotalCount)
		}
		page, err = w.p.Roles.List(acme.owner, core.ListRequest[*iam.RoleFilter]{})
		must(t, err)
		if page.TotalCount != 11 || len(page.Items) != 11 {
			t.Errorf("%d of %d, want 11 and 11", len(page.Items), page.TotalCount)
		}
		_, err = w.p.Roles.Get(other, iam.ViewerRole)
		expectRefused(t, "reading without the capability", err, core.CodePermissionDenied)
		for _, uid := range []core.UID{iam.ViewerRole, iam.OwnerRole} {
			_, err = w.p.Roles.Update(acme.owner, uid, body[*iam.Role](`{"description": "mine"}`))
			expectRefused(t, "changing one", err, core.CodeFailedPrecondition, "BUILT_IN_ROLE")
			expectRefused(t, "deleting one", w.p.Roles.Delete(acme.owner, uid), core.CodeFailedPrecondition, "BUILT_IN_ROLE")
			_, err = w.p.Roles.Update(other, uid, body[*iam.Role](`{"description": "mine"}`))
			expectRefused(t, "changing one unseen", err, core.CodePermissionDenied)
			expectRefused(t, "deleting one unseen", w.p.Roles.Delete(other, uid), core.CodePermissionDenied)
			expectRefused(t, "by the operator", w.p.Roles.Delete(w.operator(), uid), core.CodeFailedPrecondition, "BUILT_IN_ROLE")
		}
		expectRefused(t, "nobody", w.p.Roles.Delete(t.Context(), iam.ViewerRole), core.CodeUnauthenticated)
	})
}

// Any organization can name the issuer and the subject of somebody else. Each request of that person
// reads all role bindings of the identities that do.
func TestAnOrganizationHasAThousandBindingsOfARule(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team, next := w.group(acme.uid), w.group(acme.uid)
		one, twin, other := w.member(acme.uid, "victim"), w.member(acme.uid, "victim"), w.member(acme.uid, "other")
		keyed, err := w.p.Identities.Create(w.operator(), acme.uid, body[*iam.Identity](`{"name": "keyed", "staticKeys": {"issuer": %q, "subject": "victim", "issuerKeys": "{\"keys\": [{}]}"}}`, issuer))
		must(t, err)
		roles := make([]core.UID, 0, 999)
		must(t, w.store.Write(t.Context(), func(tx core.Tx) error { // This is faster than 999 requests.
			roles = roles[:0]
			for n := range cap(roles) {
				uid := core.UID(fmt.Sprintf("%s/%016x", acme.uid, n))
				if err := storetest.Tables.IAM.Roles.Insert(t.Context(), tx, &iam.Role{UID: uid, Name: fmt.Sprintf("r%d", n), CreateTime: core.At(epoch), UpdateTime: core.At(epoch)}); err != nil {
					return err
				}
				roles = append(roles, uid)
			}
			return nil
		}))
		bindMany := func(identity core.UID, roles []core.UID) {
			t.Helper()
			for part := range slices.Chunk(roles, iam.MaxBatchBindings) {
				ins := make([]fieldmask.Input[*iam.RoleBinding], len(part))
				for i, role := range part {
					ins[i] = binding(identity, role)
				}
				_, err := w.p.RoleBindings.CreateBatch(acme.owner, newBatch(team, ins))
				must(t, err)
			}
		}
		bindMany(one, roles[:500])
		bindMany(twin, roles[500:])
		last := w.bind(team, keyed.UID, iam.ViewerRole)
		free := w.bind(team, other, iam.ViewerRole)
		refused := func(what string, err error) {
			t.Helper()
			expectRefused(t, what, err, core.CodeFailedPrecondition, "TOO_MANY_BINDINGS")
		}
		for what, identity := range map[string]core.UID{"one": one, "its twin": twin, "one with keys": keyed.UID} {
			_, err := w.p.RoleBindings.Create(acme.owner, next, binding(identity, iam.ViewerRole))
			refused("a binding of "+what, err)
		}
		_, err = w.p.RoleBindings.CreateBatch(acme.owner, newBatch(next, []fieldmask.Input[*iam.RoleBinding]{binding(other, iam.ViewerRole), binding(one, iam.ViewerRole)}))
		refused("a batch", err)
		expectRequest(t, "a batch", err, "requests[1]")
		_, err = w.p.RoleBindings.Update(acme.owner, free, body[*iam.RoleBinding](`{"identityUid": %q}`, one))
		refused("a binding that is given to it", err)
		_, err = w.p.Identities.Update(acme.owner, other, body[*iam.Identity](`{"claimMatch": {"issuer": %q, "subject": "victim"}}`, issuer))
		refused("the rule for an identity with a binding", err)
		invite := w.inviteTo(next, iam.ViewerRole, `"ttl": "60s", "singleUse": true`)
		_, err = w.p.GroupInvites.Accept(w.as("victim"), invite.Code)
		refused("an invite", err)

		_, err = w.p.RoleBindings.Update(acme.owner, last, body[*iam.RoleBinding](`{"roleUid": %q}`, iam.EditorRole))
		must(t, err) // The number stays the same.
		must(t, w.p.RoleBindings.Delete(acme.owner, last))
		if _, err = w.p.GroupInvites.Accept(w.as("victim"), invite.Code); err != nil {
			t.Errorf("after the refusal, the invite is used up: %v", err)
		}
		elsewhere := w.found("elsewhere")
		w.bind(elsewhere.uid, w.member(elsewhere.uid, "victim"), iam.ViewerRole) // Another organization has its own thousand.
		w.bind(next, other, iam.ViewerRole)
		idle, err := w.p.Identities.Create(w.operator(), acme.uid, body[*iam.Identity](`{"name": "idle"}`))
		must(t, err)
		w.bind(next, idle.UID, iam.ViewerRole)
	})
}
