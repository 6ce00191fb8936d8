package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/auth"
	"atrium/platform"
	"atrium/store/storetest"
)

// A party is a kind of caller of the matrix.
type party struct {
	name  string
	token string
	role  string // the built-in role that it has, "" for none
	on    string // the group on which it has it
	// anonymous has no token, unknown has one that no identity matches.
	anonymous, unknown bool
}

// has reports whether the party holds capabilities anywhere.
func (c party) has(w *world, capabilities []string) bool {
	return c.role != "" && !slices.ContainsFunc(capabilities, func(name string) bool { return !w.holds[c.role][name] })
}

// holds reports whether it holds them on uid.
func (c party) holds(w *world, capabilities []string, uid string) bool {
	return c.has(w, capabilities) && within(uid, c.on)
}

func within(uid, scope string) bool { return uid == scope || strings.HasPrefix(uid, scope+"/") }

// parties are the callers, seen from {group}.
func (e *env) parties(elsewhere *env) []party {
	e.Helper()
	group := e.text("{group}")
	sibling := keyOf(e.make(kindOf("group"), "{org}", fields{"name": "sibling"}))
	sub := keyOf(e.make(kindOf("group"), "{group}", fields{"name": "sub"}))
	all := []party{
		{name: "no token", anonymous: true},
		{name: "a token without identity", token: e.w.token(e.T, "a stranger"), unknown: true},
		{name: "owner of another organisation", token: elsewhere.token, role: "owner", on: elsewhere.text("{org}")},
	}
	for _, c := range []party{
		{name: "owner", role: "owner", on: group}, {name: "editor", role: "editor", on: group}, {name: "viewer", role: "viewer", on: group},
		{name: "owner of a sibling group", role: "owner", on: sibling}, {name: "owner of a subgroup", role: "owner", on: sub},
	} {
		all = append(all, e.enrolled(c))
	}
	return all
}

// enrolled gives a party its identity and role.
func (e *env) enrolled(c party) party {
	e.Helper()
	subject := fmt.Sprintf("member %d", e.w.names.Add(1))
	identity := keyOf(e.make(kindOf("identity"), "{org}", fields{"name": subject,
		"claimMatch": fields{"issuer": auth.DevelopmentIssuer, "subject": subject}}))
	role := e.must(call{rpc: "ListRoles", params: fields{"uidp.in_root": true, "name": c.role}}).items[0]
	e.must(call{rpc: "CreateRoleBinding", on: c.on, fields: fields{"identityUid": identity, "roleUid": keyOf(role)}})
	c.token = e.w.token(e.T, subject)
	return c
}

// operations are good calls of every operation that the table knows of.
func (k *kind) operations(w *world) []call {
	one, in := k.one(), k.in
	if k.ref == "group" {
		one, in = "{group group}", "{group}" // what is within the group of the matrix
	}
	calls := slices.Clone(k.extra)
	if k.has(w, "Get") {
		calls = append(calls, call{rpc: "Get" + k.name, on: one})
	}
	if k.has(w, "Create") {
		calls = append(calls, call{rpc: "Create" + k.name, on: in, fields: k.minimal})
	}
	if k.has(w, "Update") {
		last := k.changes[len(k.changes)-1] // the first is a name, which nothing else may have
		calls = append(calls, call{rpc: "Update" + k.name, on: one, fields: fields{last.field: last.to}})
	}
	if k.has(w, "Delete") {
		calls = append(calls, call{rpc: "Delete" + k.name, on: one})
	}
	if _, lists := w.ledger["List"+k.plural]; lists && k.scoped() {
		calls = append(calls, call{rpc: "List" + k.plural, on: one, params: fields{"uidp.ids": []string{one}}})
	} else if lists {
		calls = append(calls, k.list(nil))
	}
	return calls
}

// Every operation, by every party, through every protocol, on what exists and
// on what does not. The verdicts follow from the two ledgers alone.
func TestEveryProtocolAsksForTheCapabilitiesOfTheLedgers(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		e := w.newEnv(t)
		group, verified := e.resource("group"), e.resource("full provider") // whose name can be there once
		parties := e.parties(w.newEnv(t))
		for _, k := range kinds {
			for _, c := range k.operations(w) {
				t.Run(c.rpc, func(t *testing.T) {
					t.Parallel()
					for _, who := range parties {
						for _, p := range w.protocols {
							j := judge{env: e.of(t), k: k, p: p, who: who, rpc: w.ledger[c.rpc]}
							j.made["group"], j.made["full provider"] = group, verified
							j.judge(j.call(c))
						}
					}
				})
			}
		}
	})
}

// A judge compares verdicts.
type judge struct {
	*env
	k   *kind
	p   protocol
	who party
	rpc rpc
}

func (j judge) judge(c call) {
	j.Helper()
	got := j.p.do(j.who.token, c)
	isList := c.params["uidp.ids"] != nil
	has := j.who.has(j.w, j.rpc.capabilities)
	holds := j.who.holds(j.w, j.rpc.capabilities, c.on) || has && j.k.library.everywhere
	switch {
	case c.rpc == "Ping":
		j.allowed(c, got)
	case j.who.anonymous:
		j.refused(c, got, platform.CodeUnauthenticated, "UNAUTHENTICATED")
	case c.rpc == "LookupIdentity":
		j.allowed(c, got)
	case j.who.unknown:
		j.refused(c, got, platform.CodePermissionDenied, "IDENTITY_NOT_FOUND")
	case isList && has:
		j.allowed(c, got)
		if seen := len(got.items) == 1 && got.total == "1"; seen != holds {
			j.Errorf("%s: seen is %t, want %t: %s", j.what(c), seen, holds, got.raw)
		}
	case holds, len(j.rpc.capabilities) == 0:
		j.allowed(c, got)
	default:
		j.denied(c, got, !isList && !j.k.library.everywhere)
	}
	switch {
	case isList:
		j.judgeScope(c)
	case len(j.rpc.capabilities) > 0 && c.on != "":
		j.judgeMissing(c, got, holds)
	}
}

// judgeMissing asks the same of what does not exist: it is not found, or
// refused in the same bytes.
func (j judge) judgeMissing(c call, got answer, holds bool) {
	j.Helper()
	uid, gone := c.on, c.on+"/00000000000000ff"
	missing := c
	missing.on, missing.fields, missing.params = gone, replaced(c.fields, uid, gone).(fields), replaced(c.params, uid, gone).(fields)
	of := j.p.do(j.who.token, missing)
	if holds {
		j.refused(missing, of, platform.CodeNotFound, "NOT_FOUND")
		return
	}
	if strings.ReplaceAll(of.raw, gone, uid) != got.raw {
		j.Errorf("%s: of what exists\n%sof what is missing\n%s", j.what(c), got.raw, of.raw)
	}
}

// judgeScope lists the children of a parent, then all below it.
func (j judge) judgeScope(c call) {
	j.Helper()
	parent := parentOf(c.on)
	// Of groups, those children are shown on which the capability is held.
	j.judgeWithin(c, "uidp.children_of", parent, j.k.ref == "group" && parentOf(j.who.on) == parent)
	j.judgeWithin(c, "uidp.descendants_of", parent, within(j.who.on, parent))
}

func parentOf(uid string) string { return uid[:max(strings.LastIndexByte(uid, '/'), 0)] }

// judgeWithin lists within a parent that is there, and within one that is not.
// partly says that a part of what lies within is the party's to see.
func (j judge) judgeWithin(c call, scope, parent string, partly bool) {
	j.Helper()
	gone := parentOf(parent) + "/00000000000000ff"
	of := func(uid string) (call, answer) {
		scoped := call{rpc: c.rpc, on: uid, params: fields{scope: uid}}
		return scoped, j.p.do(j.who.token, scoped)
	}
	there, got := of(parent)
	missing, ofMissing := of(gone)
	has := j.who.has(j.w, j.rpc.capabilities)
	switch {
	case j.who.anonymous:
		j.refused(there, got, platform.CodeUnauthenticated, "UNAUTHENTICATED")
	case j.who.unknown:
		j.refused(there, got, platform.CodePermissionDenied, "IDENTITY_NOT_FOUND")
	case has && (within(parent, j.who.on) || partly):
		j.allowed(there, got)
	default:
		j.denied(there, got, true)
	}
	switch {
	case has && within(gone, j.who.on):
		j.refused(missing, ofMissing, platform.CodeNotFound, "NOT_FOUND")
	case !has || !within(parent, j.who.on) && !partly:
		if strings.ReplaceAll(ofMissing.raw, gone, parent) != got.raw {
			j.Errorf("%s: of a parent that exists\n%sof a missing one\n%s", j.what(there), got.raw, ofMissing.raw)
		}
	default: // what lies above is seen in part, what is missing beside it is not
		j.denied(missing, ofMissing, true)
	}
}

func (j judge) what(c call) string {
	return fmt.Sprintf("%s on %s by %s through %s", c.rpc, c.on, j.who.name, j.p.name())
}

func (j judge) allowed(c call, got answer) {
	j.Helper()
	if got.failed != nil || got.broken != "" {
		j.Errorf("%s: %s %s", j.what(c), got.raw, got.broken)
	}
}

func (j judge) refused(c call, got answer, code platform.Code, reason string) {
	j.Helper()
	if got.failed == nil || got.failed.code != code || got.failed.reason != reason {
		j.Errorf("%s: want %s: %s", j.what(c), reason, got.raw)
	}
}

// denied demands that the answer names a capability that is needed, and where.
func (j judge) denied(c call, got answer, somewhere bool) {
	j.Helper()
	j.refused(c, got, platform.CodePermissionDenied, "PERMISSION_DENIED")
	if got.failed == nil {
		return
	}
	needed := j.rpc.capabilities
	if j.k.ref == "image" && j.p.name() == "graphql" {
		needed = append([]string{"CAP_TAG_LIST"}, needed...) // there it is read through a tag
	}
	names := func(wire string) bool { return j.w.dotted[wire] == got.failed.capability }
	if !slices.ContainsFunc(needed, names) || somewhere && got.failed.on != c.on {
		j.Errorf("%s: names %q on %q, needed is %s: %s", j.what(c), got.failed.capability, got.failed.on, needed, got.raw)
	}
}

// replaced is v with another uid, in what lies below it too.
func replaced(v any, uid, other string) any {
	switch v := v.(type) {
	case fields:
		f := make(fields, len(v))
		for name, value := range v {
			f[name] = replaced(value, uid, other)
		}
		return f
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = replaced(v[i], uid, other)
		}
		return all
	case string:
		if within(v, uid) {
			return other + v[len(uid):]
		}
	}
	return v
}
