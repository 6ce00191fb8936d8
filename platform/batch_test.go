package platform_test

import (
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
)

// newBatch returns a batch of role bindings.
func newBatch(parent core.UID, ins []fieldmask.Input[*iam.RoleBinding]) iam.BindingBatch {
	batch := iam.BindingBatch{Parent: parent}
	for _, in := range ins {
		batch.Requests = append(batch.Requests, core.BatchRequest[*iam.RoleBinding]{Input: in})
	}
	return batch
}

// expectRequest expects that an error names a request of a batch, in its message and as metadata; "" means none.
func expectRequest(t *testing.T, what string, err error, request string) {
	t.Helper()
	if e := core.AsError(err); e.Metadata["request"] != request || strings.Contains(e.Message, "requests[") != (request != "") || !strings.Contains(e.Message, request) {
		t.Errorf("%s: the error %v has the metadata %v, want the request %q in both", what, e.Message, e.Metadata, request)
	}
}

func TestABatchMakesAllBindingsOrNone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team := w.group(acme.uid)
		a, b, foreign := w.member(acme.uid, "a"), w.member(acme.uid, "b"), w.member(other.uid, "f")
		taken := w.bind(team, b, iam.EditorRole)
		before := len(w.events())
		batch := func(ins ...fieldmask.Input[*iam.RoleBinding]) error {
			_, err := w.p.RoleBindings.CreateBatch(acme.owner, newBatch(team, ins))
			return err
		}
		good := binding(a, iam.ViewerRole)
		for _, x := range []struct {
			what string
			ins  []fieldmask.Input[*iam.RoleBinding]
			want string
		}{
			{"none", nil, "requests"},
			{"too many", make([]fieldmask.Input[*iam.RoleBinding], iam.MaxBatchBindings+1), "requests"},
			{"one that is nothing", []fieldmask.Input[*iam.RoleBinding]{body[*iam.RoleBinding](`{}`)}, "requests[0].roleBinding.identityUid requests[0].roleBinding.roleUid"},
			{"the second", []fieldmask.Input[*iam.RoleBinding]{good, binding("x", iam.ViewerRole)}, "requests[1].roleBinding.identityUid"},
			{"several", []fieldmask.Input[*iam.RoleBinding]{body[*iam.RoleBinding](`{"identityUid": 1, "nope": 1}`), good, binding(a, "")},
				"requests[0].roleBinding.identityUid requests[0].roleBinding.roleUid requests[0].roleBinding.nope requests[2].roleBinding.roleUid"},
			{"out of reach", []fieldmask.Input[*iam.RoleBinding]{good, binding(foreign, iam.ViewerRole), binding(a, "x")}, "requests[1].roleBinding.identityUid requests[2].roleBinding.roleUid"},
		} {
			if got := violationFields(batch(x.ins...)); got != x.want {
				t.Errorf("%s: %s, want %s", x.what, got, x.want)
			}
		}
		_, err := w.p.RoleBindings.CreateBatch(acme.owner, newBatch("nonsense", []fieldmask.Input[*iam.RoleBinding]{good, binding("x", iam.ViewerRole)}))
		if got := violationFields(err); got != "parent requests[1].roleBinding.identityUid" {
			t.Errorf("got %v, want 'parent requests[1].roleBinding.identityUid'", got)
		}
		_, err = w.p.RoleBindings.CreateBatch(acme.owner, iam.BindingBatch{Parent: team, RoleUID: "x", Requests: []core.BatchRequest[*iam.RoleBinding]{
			{UID: team, Input: good}, {Input: body[*iam.RoleBinding](`{"identityUid": %q}`, a)},
		}})
		if got := violationFields(err); got != "requests[1].roleBinding.roleUid" { // good names a role
			t.Errorf("a wrong role of the batch: got %v, want 'requests[1].roleBinding.roleUid'", got)
		}
		_, err = w.p.RoleBindings.CreateBatch(acme.owner, iam.BindingBatch{Parent: team, Requests: []core.BatchRequest[*iam.RoleBinding]{{Input: good}, {UID: acme.uid, Input: good}}})
		if got := violationFields(err); got != "requests[1].parent" {
			t.Errorf("another parent: got %v, want 'requests[1].parent'", got)
		}
		e := refusal(t, "one that is there", batch(good, binding(b, iam.EditorRole)), core.CodeAlreadyExists)
		if e.Resource.Name != string(taken) || e.Resource.Kind != "RoleBinding" {
			t.Errorf("got %+v, want Name %v and Kind 'RoleBinding'", e.Resource, taken)
		}
		expectRequest(t, "one that is there", batch(good, binding(b, iam.EditorRole)), "requests[1]")
		expectRefused(t, "the same twice", batch(good, good), core.CodeAlreadyExists)
		missing := batch(good, binding(missingBelow(acme.uid), iam.ViewerRole))
		expectRefused(t, "a missing identity", missing, core.CodeNotFound)
		expectRequest(t, "a missing identity", missing, "requests[1]")
		missing = batch(good, good, binding(b, missingBelow(acme.uid)))
		expectRefused(t, "a missing role", missing, core.CodeNotFound)
		expectRequest(t, "a missing role", missing, "requests[2]")
		_, err = w.p.RoleBindings.Create(acme.owner, team, binding(missingBelow(acme.uid), iam.ViewerRole))
		expectRequest(t, "one binding without an identity", err, "")
		_, err = w.p.RoleBindings.CreateBatch(w.as("a stranger"), newBatch(team, []fieldmask.Input[*iam.RoleBinding]{good}))
		expectRefused(t, "a stranger", err, core.CodePermissionDenied, "IDENTITY_NOT_FOUND")
		_, err = w.p.RoleBindings.CreateBatch(t.Context(), newBatch(team, nil))
		expectRefused(t, "nobody", err, core.CodeUnauthenticated)

		page, err := w.p.RoleBindings.List(acme.owner, core.ListRequest[*iam.RoleBindingFilter]{UIDP: core.UIDFilter{ChildrenOf: team}})
		must(t, err)
		if n := len(w.events()) - before; n != 0 || page.TotalCount != 1 {
			t.Errorf("refused batches left %d events and %d bindings", n, page.TotalCount-1)
		}
		made, err := w.p.RoleBindings.CreateBatch(acme.owner, newBatch(team, []fieldmask.Input[*iam.RoleBinding]{good, binding(b, iam.ViewerRole)}))
		must(t, err)
		for i, name := range []core.UID{a, b} {
			m := made[i]
			if m.Identity.UID != name || m.Identity.Issuer != issuer || m.Identity.Subject == "" || m.Role.Name != "viewer" || m.Group.UID != team || m.UID.Parent() != team || m.CreateTime.IsZero() {
				t.Errorf("place %d is %+v", i, m)
			}
		}
		if got := strings.Count(types(w.events()), "created.batch"); got != 2 {
			t.Errorf("%d events, want 2", got)
		}
		binder := w.memberWith(w.role(acme.uid, core.CapRoleBindingsCreate, core.CapRepoList), team, acme.uid)
		_, err = w.p.RoleBindings.CreateBatch(binder, newBatch(team, []fieldmask.Input[*iam.RoleBinding]{binding(a, w.role(acme.uid, core.CapRepoList)), good}))
		expectRefused(t, "more than the caller holds", err, core.CodePermissionDenied)
		expectRequest(t, "more than the caller holds", err, "requests[1]")
		w.checkCounters()
	})
}
