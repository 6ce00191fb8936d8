package resolvers

import (
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

func TestPastAccessIsPagedInTheGraph(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		team := w.group(w.org, "team")
		from := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		w.member(team, "ann", w.role(w.org, "readers", core.CapRepoList))
		w.member(team, "bob", iam.ViewerRole)
		to := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		const changes = `query($org: UID!, $from: DateTime!, $to: DateTime!, $after: String) { accessChanges(within: $org, from: $from, to: $to, first: 2, after: $after) {
			complete recordedSince pageInfo { hasNextPage endCursor } edges { cursor node { kind } }
			nodes { kind roleName roleUid role { name } addedCapabilities event { time actor { subject } } before { bindingUid } after { groupName identityName identity { name } capabilities createTime expireTime } } } }`
		first := w.ask(changes, "org", w.org, "from", from, "to", to)
		first.expect("accessChanges.complete", true).expect("accessChanges.recordedSince", nil).expect("accessChanges.pageInfo.hasNextPage", true)
		first.expect("accessChanges.nodes.0.kind", "GIVEN").expect("accessChanges.nodes.0.roleName", "viewer").expect("accessChanges.nodes.0.after.groupName", "team").
			expect("accessChanges.nodes.1.after.identityName", "ann").expect("accessChanges.nodes.1.after.capabilities", []any{"REPO_LIST"}).expect("accessChanges.nodes.0.before", nil)
		second := w.ask(changes, "org", w.org, "from", from, "to", to, "after", first.value("accessChanges.pageInfo.endCursor"))
		if got := second.text("accessChanges.nodes.*.after.identityName"); !strings.Contains(got, "owner") {
			t.Errorf("the second page has %q, want the owner of the organization", got)
		}
		const at = `query($team: UID!, $time: DateTime!) { accessAt(within: $team, time: $time) { complete nodes { bindingUid groupUid group { name } roleName role { name } } } }`
		w.ask(at, "team", team, "time", from).expect("accessAt.nodes", []any{}).expect("accessAt.complete", true)
		if got := w.askAs(theOwner, at, "team", team, "time", to); got.expectErrors("INVALID_ARGUMENT accessAt").violations() != "time" {
			t.Errorf("a time in the future names %q, want time", got.violations())
		}
		for arguments, want := range map[string]string{`first: -1`: "first", `after: "x"`: "after", `first: 1, last: 1`: "first"} {
			got := w.askAs(theOwner, `query($team: UID!, $time: DateTime!) { accessAt(within: $team, time: $time, `+arguments+`) { complete } }`, "team", team, "time", from)
			if got.expectErrors("INVALID_ARGUMENT accessAt").violations() != want {
				t.Errorf("(%s) names %q, want %q", arguments, got.violations(), want)
			}
		}
		w.askAs("bob", at, "team", team, "time", from).expectErrors("PERMISSION_DENIED accessAt")
	})
}

func TestAConfirmationNamesWhatHasChangedInTheGraph(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		ann := w.member(w.org, "ann", w.role(w.org, "readers", core.CapRepoList))
		binding := w.ask(`query($org: UID!) { roleBindings(within: $org, directOnly: true, orderBy: {field: IDENTITY_NAME}) { nodes { uid } } }`, "org", w.org).value("roleBindings.nodes.0.uid")
		const confirm = `mutation($uid: UID!, $ann: UID!, $role: UID, $end: DateTime) { confirmRoleBindings(input: {requests: [{uid: $uid, identityUid: $ann, roleUid: $role, expireTime: $end}], note: "Knows too much"}) { roleBindings { reviewNote expireTime } } }`
		changed := w.askAs(theOwner, confirm, "uid", binding, "ann", ann, "role", iam.ViewerRole, "end", "2099-01-01T00:00:00Z").expectErrors("FAILED_PRECONDITION confirmRoleBindings")
		if got := changed.violations(); got != "requests[0].expireTime requests[0].roleUid" {
			t.Errorf("it names %q, want the role and the end", got)
		}
		w.ask(strings.NewReplacer("$role: UID, ", "", "roleUid: $role, ", "").Replace(confirm), "uid", binding, "ann", ann, "end", nil).expect("confirmRoleBindings.roleBindings.0.reviewNote", "Knows too much")
		const own = `{ viewer { roleBindings { nodes { reviewTime reviewNote } } } }`
		if got := w.askAs("ann", own).expectSuccess().expect("viewer.roleBindings.nodes.0.reviewNote", nil); got.value("viewer.roleBindings.nodes.0.reviewTime") == nil {
			t.Error("ann does not see that her binding was reviewed")
		}
	})
}
