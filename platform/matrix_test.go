package platform_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// A party is a type of caller.
type party struct {
	name string
	ctx  context.Context
	role string   // The party has this built-in role; "" means none.
	on   core.UID // The party has its role on this group.
	// anonymous has no token; unknown has a token that matches no identity.
	anonymous, unknown bool
}

// holds reports whether the party holds capabilities on uid.
func (c party) holds(ledger map[string]map[string]bool, capabilities []string, uid core.UID) bool {
	return !c.anonymous && !c.unknown && uid.Within(c.on) && c.has(ledger, capabilities)
}

// has reports whether the party holds capabilities anywhere.
func (c party) has(ledger map[string]map[string]bool, capabilities []string) bool {
	return !slices.ContainsFunc(capabilities, func(name string) bool { return !ledger[c.role][name] })
}

// parties returns the callers: every built-in role on the group itself, and owners of the
// groups around it.
func (w *world) parties(ledger map[string]map[string]bool, acme, elsewhere org, team, sibling, sub core.UID) []party {
	all := []party{
		{name: "nobody", ctx: w.Context(), anonymous: true},
		{name: "a token without identity", ctx: w.as("a stranger"), unknown: true},
		{name: "the organization's owner", ctx: acme.owner, role: "owner", on: acme.uid},
		{name: "another organization's owner", ctx: elsewhere.owner, role: "owner", on: elsewhere.uid},
		{name: "owner of a sibling group", ctx: w.memberWith(iam.OwnerRole, sibling, acme.uid), role: "owner", on: sibling},
		{name: "owner of a subgroup", ctx: w.memberWith(iam.OwnerRole, sub, acme.uid), role: "owner", on: sub},
		{name: "owner of a subgroup, from it", ctx: w.memberWith(iam.OwnerRole, sub, sub), role: "owner", on: sub},
		{name: "owner of the group, from it", ctx: w.memberWith(iam.OwnerRole, team, team), role: "owner", on: team},
		{name: "an identity without a role", ctx: w.memberWith(w.role(team), team, team), on: team},
	}
	for role := range ledger {
		all = append(all, party{name: role, ctx: w.memberWith(w.builtIn(role), team, acme.uid), role: role, on: team})
	}
	return all
}

// builtIn returns the UID of a built-in role.
func (w *world) builtIn(name string) core.UID {
	w.Helper()
	page, err := w.p.Roles.List(w.as("owner of acme"), core.ListRequest[*iam.RoleFilter]{UIDP: core.UIDFilter{InRoot: true}, Filter: &iam.RoleFilter{Name: name}})
	must(w, err)
	if len(page.Items) != 1 {
		w.Fatalf("there are %d built-in roles %s", len(page.Items), name)
	}
	return page.Items[0].UID
}

// Every party calls every operation on existing and missing resources. The verdict
// follows from the ledgers, and without the capability it is the same for both.
func TestEveryOperationRequiresTheCapabilitiesOfTheLedger(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ledger, rpcs := builtInLedger(t), wireRPCs(t)
		acme, elsewhere := w.found("acme"), w.found("elsewhere")
		team, sibling := w.group(acme.uid), w.group(acme.uid)
		parties := w.parties(ledger, acme, elsewhere, team, sibling, w.group(team))
		operations := w.operations(team)
		verdicts := map[bool]int{}
		for name, rpc := range rpcs {
			o, served := operations[name]
			if !served {
				t.Errorf("no operation serves %s", name)
				continue
			}
			for _, c := range parties {
				w.judge(t, name, rpc, o, c, ledger, verdicts)
			}
		}
		if verdicts[true] < 150 || verdicts[false] < 300 {
			t.Errorf("%d calls were let through and %d refused: the matrix is too thin", verdicts[true], verdicts[false])
		}
	})
}

func (w *world) judge(t *testing.T, name string, rpc rpc, o operation, c party, ledger map[string]map[string]bool, verdicts map[bool]int) {
	t.Helper()
	what := name + " by " + c.name
	uid := o.on()
	seen, err := o.call(c.ctx, uid)
	free := rpc.capabilities == nil
	isList := o.within != nil
	holds := c.holds(ledger, rpc.capabilities, uid)
	named, shared := sharedReads[name]
	if shared {
		holds = c.has(ledger, rpc.capabilities)
	}
	verdicts[err == nil]++
	switch {
	case name == "Ping":
		expectVerdict(t, what, err, 0, "")
	case c.anonymous:
		expectVerdict(t, what, err, core.CodeUnauthenticated, "UNAUTHENTICATED")
	case name == "LookupIdentity" && !c.holds(ledger, []string{"CAP_IAM_IDENTITY_LIST"}, uid):
		expectVerdict(t, what, err, core.CodeNotFound, "NOT_FOUND")
	case c.unknown:
		expectVerdict(t, what, err, core.CodePermissionDenied, "IDENTITY_NOT_FOUND")
	case free:
		expectVerdict(t, what, err, 0, "")
	case isList && c.has(ledger, rpc.capabilities):
		expectVerdict(t, what, err, 0, "")
		if seen != holds {
			t.Errorf("%s: the resource is seen: %t, want %t", what, seen, holds)
		}
	case holds:
		expectVerdict(t, what, err, 0, "")
	default:
		w.expectDenied(t, what, err, rpc, uid, isList || shared)
	}
	if isList {
		w.judgeScope(t, what, rpc, o, c, uid.Parent(), ledger)
		return
	}
	if free || shared && !named {
		return
	}
	// A missing resource gives the same rejection, or NOT_FOUND.
	gone := missingBelow(uid)
	_, other := o.call(c.ctx, gone)
	switch {
	case holds:
		expectRefused(t, what+", of what is missing", other, core.CodeNotFound, "NOT_FOUND")
	case err != nil && strings.ReplaceAll(fmt.Sprint(other), string(gone), string(uid)) != err.Error():
		t.Errorf("%s: of what exists it answers %v, of what is missing %v", what, err, other)
	}
}

// judgeScope lists the children of a parent, then everything below it.
func (w *world) judgeScope(t *testing.T, what string, rpc rpc, o operation, c party, parent core.UID, ledger map[string]map[string]bool) {
	t.Helper()
	// A list of groups contains the children on which the caller holds the capability.
	granted := strings.HasPrefix(what, "ListGroups ") && c.on.Parent() == parent
	w.judgeWithin(t, what+", of one parent", rpc, c, parent, ledger, granted, func(uid core.UID) error {
		return o.within(c.ctx, core.UIDFilter{ChildrenOf: uid})
	})
	w.judgeWithin(t, what+", below one parent", rpc, c, parent, ledger, c.on.Within(parent), func(uid core.UID) error {
		return o.within(c.ctx, core.UIDFilter{DescendantsOf: uid})
	})
}

// judgeWithin lists below an existing parent and below a missing one. If partly is true,
// the party may see a part of the list.
func (w *world) judgeWithin(t *testing.T, what string, rpc rpc, c party, parent core.UID, ledger map[string]map[string]bool, partly bool, within func(core.UID) error) {
	t.Helper()
	err := within(parent)
	gone := missingBelow(parent.Parent())
	ofMissing := within(gone)
	has := c.has(ledger, rpc.capabilities) && !c.anonymous && !c.unknown
	switch {
	case c.anonymous:
		expectVerdict(t, what, err, core.CodeUnauthenticated, "UNAUTHENTICATED")
	case c.unknown:
		expectVerdict(t, what, err, core.CodePermissionDenied, "IDENTITY_NOT_FOUND")
	case has && (parent.Within(c.on) || partly):
		expectVerdict(t, what, err, 0, "")
	default:
		w.expectDenied(t, what, err, rpc, parent, false)
	}
	switch {
	case has && gone.Within(c.on):
		expectRefused(t, what+" that is missing", ofMissing, core.CodeNotFound, "NOT_FOUND")
	case !has || !parent.Within(c.on) && !partly:
		if err == nil || strings.ReplaceAll(fmt.Sprint(ofMissing), string(gone), string(parent)) != err.Error() {
			t.Errorf("%s: of one that exists it answers %v, of a missing one %v", what, err, ofMissing)
		}
	default: // The caller sees a part of a list above the group, but not a missing parent.
		w.expectDenied(t, what+" that is missing", ofMissing, rpc, gone, false)
	}
}

// expectVerdict expects a code; 0 means success.
func expectVerdict(t *testing.T, what string, err error, code core.Code, reason string) {
	t.Helper()
	if code != 0 {
		expectRefused(t, what, err, code, reason)
	} else if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// expectDenied expects a PERMISSION_DENIED that names a required capability and the
// resource on which it is missing.
func (w *world) expectDenied(t *testing.T, what string, err error, rpc rpc, on core.UID, anywhere bool) {
	t.Helper()
	e := refusal(t, what, err, core.CodePermissionDenied, "PERMISSION_DENIED")
	if errors.Is(err, &core.Error{Code: core.CodePermissionDenied}) {
		named, _ := core.ParseCapability(e.Metadata["capability"])
		if !slices.Contains(rpc.capabilities, named.WireName()) {
			t.Errorf("%s: names capability %s, needed are %s", what, named, rpc.capabilities)
		}
		if resource := e.Metadata["resource"]; !anywhere && resource != string(on) {
			t.Errorf("%s: names resource %q, want %q", what, resource, on)
		}
	}
}
