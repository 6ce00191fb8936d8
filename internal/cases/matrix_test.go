package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/internal/auth"
	"atrium/platform/core"
	"atrium/store/storetest"
)

// A party is a type of caller.
type party struct {
	name  string
	token string
	role  string // The party has this built-in role; "" means none.
	group string // The party has its role on this group.
	// anonymous has no token; unknown has a token that matches no identity.
	anonymous, unknown bool
}

// has reports whether the party holds capabilities anywhere.
func (c party) has(w *world, capabilities []string) bool {
	return c.role != "" && !slices.ContainsFunc(capabilities, func(name string) bool { return !w.holds[c.role][name] })
}

// holds reports whether it holds them on uid.
func (c party) holds(w *world, capabilities []string, uid string) bool {
	return c.has(w, capabilities) && liesWithin(uid, c.group)
}

// place returns the UID on which a call needs its capabilities.
func (c call) place() string {
	if c.onParent {
		return parentOf(c.target)
	}
	return c.target
}

func liesWithin(uid, scope string) bool { return uid == scope || strings.HasPrefix(uid, scope+"/") }

// parties returns the callers, relative to {group}.
func (e *env) parties(other *env) []party {
	e.Helper()
	group := e.text("{group}")
	sibling := keyOf(e.make(kindOf("group"), "{org}", fields{"name": "sibling"}))
	sub := keyOf(e.make(kindOf("group"), "{group}", fields{"name": "sub"}))
	all := []party{
		{name: "no token", anonymous: true},
		{name: "a token without identity", token: e.w.token(e.T, "a stranger"), unknown: true},
		{name: "owner of another organization", token: other.token, role: "owner", group: other.text("{org}")},
	}
	for _, c := range []party{
		{name: "owner", role: "owner", group: group}, {name: "editor", role: "editor", group: group}, {name: "viewer", role: "viewer", group: group},
		{name: "owner of a sibling group", role: "owner", group: sibling}, {name: "owner of a subgroup", role: "owner", group: sub},
	} {
		all = append(all, e.enrol(c))
	}
	return all
}

// enrol creates the identity of a party with its role.
func (e *env) enrol(c party) party {
	e.Helper()
	subject := fmt.Sprintf("member %d", e.w.names.Add(1))
	identity := keyOf(e.make(kindOf("identity"), "{org}", fields{"name": subject,
		"claimMatch": fields{"issuer": auth.DevelopmentIssuer, "subject": subject}}))
	role := e.mustCall(call{rpc: "ListRoles", params: fields{"uidp.in_root": true, "name": c.role}}).items[0]
	e.mustCall(call{rpc: "CreateRoleBinding", target: c.group, fields: fields{"identityUid": identity, "roleUid": keyOf(role)}})
	c.token = e.w.token(e.T, subject)
	return c
}

// operations returns a valid call of each operation.
func (k *kind) operations(w *world) []call {
	one, in := k.existing(), k.in
	if k.ref == "group" {
		one, in = "{group group}", "{group}" // The matrix has its own group.
	}
	calls := slices.Clone(k.extra)
	if k.ownRights {
		return calls
	}
	if k.has(w, "Get") {
		calls = append(calls, call{rpc: "Get" + k.name, target: one})
	}
	if k.has(w, "Create") {
		calls = append(calls, call{rpc: "Create" + k.name, target: in, fields: k.minimal})
	}
	if k.has(w, "Update") {
		last := k.changes[len(k.changes)-1] // The first change is a name, which must be unique.
		calls = append(calls, call{rpc: "Update" + k.name, target: one, fields: fields{last.field: last.to}})
	}
	if k.has(w, "Delete") {
		calls = append(calls, call{rpc: "Delete" + k.name, target: one})
	}
	if _, lists := w.ledger["List"+k.plural]; lists && k.hasScopes() {
		calls = append(calls, call{rpc: "List" + k.plural, target: one, params: fields{"uidp.ids": []string{one}}})
	} else if lists {
		calls = append(calls, k.list(nil))
	}
	return calls
}

// Every operation, by every party, in every protocol, on existing and missing resources.
// The expected verdicts follow only from the two ledgers.
func TestEveryProtocolRequiresTheCapabilitiesOfTheLedgers(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		e := w.newEnv(t)
		group, verified := e.resource("group"), e.resource("full provider") // The name of the provider can exist only once.
		e.mustCall(e.fillCall(createIdentity(identityToLookUp)))
		parties := e.parties(w.newEnv(t))
		for _, k := range kinds {
			for _, c := range k.operations(w) {
				t.Run(c.rpc, func(t *testing.T) {
					t.Parallel()
					for _, who := range parties {
						for _, p := range w.protocols {
							j := judge{env: e.forTest(t), k: k, p: p, who: who, rpc: w.ledger[c.rpc]}
							j.made["group"], j.made["full provider"] = group, verified
							j.judge(j.fillCall(c))
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
	isList, isGraph := c.params["uidp.ids"] != nil, j.p.name() == "graphql"
	has := j.who.has(j.w, j.rpc.capabilities)
	holds := j.who.holds(j.w, j.rpc.capabilities, c.place()) || has && j.k.library.hasNoScopes
	switch {
	case c.rpc == "Ping":
		j.expectAllowed(c, got)
	case j.who.anonymous:
		j.expectRefused(c, got, core.CodeUnauthenticated, "UNAUTHENTICATED")
	case c.rpc == "LookupIdentity" && !j.who.holds(j.w, []string{"CAP_IAM_IDENTITY_LIST"}, keyOf(j.made["group"])):
		j.expectRefused(c, got, core.CodeNotFound, "NOT_FOUND")
	case j.who.unknown:
		j.expectRefused(c, got, core.CodePermissionDenied, "IDENTITY_NOT_FOUND")
	case isList && holds:
		j.expectAllowed(c, got)
		if len(got.items) != 1 || got.total != "1" {
			j.Errorf("%s: it is not seen: %s", j.what(c), got.raw)
		}
	case isList && has && isGraph:
		if j.expectAllowed(c, got); len(got.items) != 0 {
			j.Errorf("%s: it is seen: %s", j.what(c), got.raw)
		}
	case isList && has:
		j.expectRefused(c, got, core.CodeNotFound, "NOT_FOUND")
	case holds, len(j.rpc.capabilities) == 0:
		j.expectAllowed(c, got)
	default:
		j.expectDenied(c, got, !isList && !j.k.library.hasNoScopes)
	}
	if isList {
		j.judgeScope(c)
	}
	if len(j.rpc.capabilities) > 0 && c.target != "" && (!isList || !isGraph) {
		j.judgeMissing(c, got, holds)
	}
}

// judgeMissing sends the same call for a missing resource. The answer is NOT_FOUND, or the
// same rejection byte for byte.
func (j judge) judgeMissing(c call, got answer, holds bool) {
	j.Helper()
	uid, gone := c.target, c.target+"/00000000000000ff"
	if c.onParent {
		gone = parentOf(uid) + "/00000000000000ff"
	}
	missing := c
	missing.target, missing.fields, missing.params = gone, replaceUID(c.fields, uid, gone).(fields), replaceUID(c.params, uid, gone).(fields)
	missingAnswer := j.p.do(j.who.token, missing)
	if holds {
		j.expectRefused(missing, missingAnswer, core.CodeNotFound, "NOT_FOUND")
		return
	}
	if strings.ReplaceAll(missingAnswer.raw, gone, uid) != got.raw {
		j.Errorf("%s: of what exists\n%sof what is missing\n%s", j.what(c), got.raw, missingAnswer.raw)
	}
}

// judgeScope lists the children of a parent, then all below it.
func (j judge) judgeScope(c call) {
	j.Helper()
	parent := parentOf(c.target)
	// A list of groups contains the children on which the caller holds the capability.
	j.judgeWithin(c, "uidp.children_of", parent, j.k.ref == "group" && parentOf(j.who.group) == parent)
	j.judgeWithin(c, "uidp.descendants_of", parent, liesWithin(j.who.group, parent))
}

func parentOf(uid string) string { return uid[:max(strings.LastIndexByte(uid, '/'), 0)] }

// judgeWithin lists the children of an existing parent, and of a missing one. If partly
// is true, the party may see a part of the list.
func (j judge) judgeWithin(c call, scope, parent string, partly bool) {
	j.Helper()
	gone := parentOf(parent) + "/00000000000000ff"
	listWithin := func(uid string) (call, answer) {
		scoped := call{rpc: c.rpc, target: uid, params: fields{scope: uid}}
		return scoped, j.p.do(j.who.token, scoped)
	}
	there, got := listWithin(parent)
	missing, ofMissing := listWithin(gone)
	has := j.who.has(j.w, j.rpc.capabilities)
	switch {
	case j.who.anonymous:
		j.expectRefused(there, got, core.CodeUnauthenticated, "UNAUTHENTICATED")
	case j.who.unknown:
		j.expectRefused(there, got, core.CodePermissionDenied, "IDENTITY_NOT_FOUND")
	case has && (liesWithin(parent, j.who.group) || partly):
		j.expectAllowed(there, got)
	default:
		j.expectDenied(there, got, true)
	}
	switch {
	case has && liesWithin(gone, j.who.group):
		j.expectRefused(missing, ofMissing, core.CodeNotFound, "NOT_FOUND")
	case !has || !liesWithin(parent, j.who.group) && !partly:
		if strings.ReplaceAll(ofMissing.raw, gone, parent) != got.raw {
			j.Errorf("%s: of a parent that exists\n%sof a missing one\n%s", j.what(there), got.raw, ofMissing.raw)
		}
	default: // The caller sees a part of a list above the group, but not a missing parent.
		j.expectDenied(missing, ofMissing, true)
	}
}

func (j judge) what(c call) string {
	return fmt.Sprintf("%s on %s by %s through %s", c.rpc, c.target, j.who.name, j.p.name())
}

func (j judge) expectAllowed(c call, got answer) {
	j.Helper()
	if got.failure != nil || got.brokenRule != "" {
		j.Errorf("%s: %s %s, want no failure and brokenRule \"\"", j.what(c), got.raw, got.brokenRule)
	}
}

func (j judge) expectRefused(c call, got answer, code core.Code, reason string) {
	j.Helper()
	if got.failure == nil || got.failure.code != code || got.failure.reason != reason {
		j.Errorf("%s: want %s: %s", j.what(c), reason, got.raw)
	}
}

// expectDenied expects that the answer names a required capability and its resource.
func (j judge) expectDenied(c call, got answer, somewhere bool) {
	j.Helper()
	j.expectRefused(c, got, core.CodePermissionDenied, "PERMISSION_DENIED")
	if got.failure == nil {
		return
	}
	needed := j.rpc.capabilities
	if j.k.ref == "image" && j.p.name() == "graphql" {
		needed = append([]string{"CAP_TAG_LIST"}, needed...) // Such an image is read through a tag.
	}
	names := func(wire string) bool { return j.w.dotted[wire] == got.failure.capability }
	if !slices.ContainsFunc(needed, names) || somewhere && got.failure.scope != c.place() {
		j.Errorf("%s: names %q on %q, needed is %s: %s", j.what(c), got.failure.capability, got.failure.scope, needed, got.raw)
	}
}

// replaceUID returns v with another uid, also in descendants of it.
func replaceUID(v any, uid, other string) any {
	switch v := v.(type) {
	case fields:
		f := make(fields, len(v))
		for name, value := range v {
			f[name] = replaceUID(value, uid, other)
		}
		return f
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = replaceUID(v[i], uid, other)
		}
		return all
	case string:
		if liesWithin(v, uid) {
			return other + v[len(uid):]
		}
	}
	return v
}
