package cases

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/store/storetest"
)

// All protocols must show the same, in every state and whichever protocol wrote it. A
// seed always creates the same state.
func TestTheProtocolsAgreeOnEveryResourceOfARandomState(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
				e := w.newEnv(t)
				c := &randomState{env: e, Rand: rand.New(rand.NewPCG(seed, 5)), groups: []fields{e.resource("org")}} //nolint:gosec // it must come out the same again
				for range 80 {
					c.step()
				}
				for _, k := range kinds {
					c.checkAgreement(k)
				}
			})
		}
	})
}

// A chance creates random resources in one organization.
type randomState struct {
	*env
	*rand.Rand
	groups []fields
	made   []resourceOfKind
}

type resourceOfKind struct {
	kind *kind
	uid  string
}

// step creates a random resource in a random group, and may change or delete one.
func (c *randomState) step() {
	c.Helper()
	makers := slices.DeleteFunc(slices.Clone(kinds), func(k *kind) bool { return k.put == nil && !k.has(c.w, "Create") })
	k := makers[c.IntN(len(makers))]
	c.create(k)
	if len(c.made) == 0 {
		return
	}
	chosen := c.made[c.IntN(len(c.made))]
	switch {
	case c.IntN(2) == 0 && chosen.kind.has(c.w, "Update"):
		c.change(chosen)
	case c.IntN(8) == 0 && chosen.kind.has(c.w, "Delete") && chosen.kind.ref != "group": // A group with resources in it cannot be deleted.
		c.randomProtocol().do(c.token, call{rpc: "Delete" + chosen.kind.name, target: chosen.uid}) // The deletion fails if another resource needs this one.
	}
}

// randomProtocol returns one of the protocols.
func (c *randomState) randomProtocol() protocol { return c.w.protocols[c.IntN(len(c.w.protocols))] }

// create creates a resource of a kind, and what it needs, in one of the groups.
func (c *randomState) create(k *kind) {
	c.Helper()
	one := c.forTest(c.T)
	one.made["group"] = c.groups[c.IntN(len(c.groups))]
	in := k.in
	if k.ref == "group" {
		in = "{group}"
	}
	asked := one.fillCall(call{rpc: "Create" + k.name, target: in, fields: c.randomFields(k)})
	var made fields
	if k.put != nil {
		made = k.put(one, asked.target, asked.fields)
	} else {
		p := c.randomProtocol()
		got := p.do(c.token, asked)
		if made = got.resource; made == nil {
			c.Fatalf("%s by %s with %s: %s %s", asked.rpc, p.name(), asJSON(asked.fields), got.raw, got.brokenRule)
		}
	}
	if k.ref == "group" {
		c.groups = append(c.groups, made)
	}
	c.made = append(c.made, resourceOfKind{k, keyOf(made)})
	if k.ref == "repo" {
		c.mustCall(call{rpc: "UpdateRepoReadme", target: keyOf(made), fields: fields{"content": c.randomText()}})
	}
}

// randomFields returns a resource with some of the possible fields.
func (c *randomState) randomFields(k *kind) fields {
	given := fields{}
	for _, name := range slices.Sorted(maps.Keys(k.full)) {
		values := []any{nil, k.full[name]}
		for _, change := range k.changes {
			if change.field == name {
				values = append(values, change.to)
			}
		}
		if value := values[c.IntN(len(values))]; value != nil {
			given[name] = c.varyValue(name, normalize(value))
		}
	}
	for name, other := range k.needs {
		if given[name] != nil {
			given[other] = k.full[other]
		}
	}
	return given.with(k.minimal) // The minimal fields contain the unique ones.
}

// like returns another value of the same type: another text, or a part of a list.
func (c *randomState) varyValue(name string, value any) any {
	switch value := value.(type) {
	case []any:
		parts := slices.Clone(value)
		c.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		return parts[:c.IntN(len(parts)+1)]
	case string:
		if name == "description" || name == "company" {
			return c.randomText()
		}
	}
	return value
}

// randomText returns a text for people without spaces at its ends.
func (c *randomState) randomText() string {
	letters := []rune(`aZ09 .,:;"'\/<>&%$#()[]` + "é ß 漢 字 🦊 \u200d ﬁ İ \u00a0 \ufffd")
	text := make([]rune, 1+c.IntN(60))
	for i := range text {
		text[i] = letters[c.IntN(len(letters))]
	}
	return "x" + string(text) + "x"
}

// change changes one field, or clears it.
func (c *randomState) change(chosen resourceOfKind) {
	c.Helper()
	change := chosen.kind.changes[c.IntN(len(chosen.kind.changes))]
	if change.required {
		return // Names may not be unique, and references may not exist.
	}
	p, given := c.randomProtocol(), fields{}
	if c.IntN(2) == 0 {
		given[change.field] = c.varyValue(change.field, normalize(change.to))
	}
	asked := c.fillCall(call{rpc: "Update" + chosen.kind.name, target: chosen.uid, fields: given, mask: []string{change.field}})
	gone := func(f *failure) bool { return f != nil && f.code == core.CodeNotFound }
	if got := p.do(c.token, asked); got.resource == nil && !gone(got.failure) {
		c.Errorf("%s by %s with %s: %s %s", asked.rpc, p.name(), asJSON(asked.fields), got.raw, got.brokenRule)
	}
}

// checkAgreement reads every resource of a kind in every protocol, one by one and as a
// list.
func (c *randomState) checkAgreement(k *kind) {
	c.Helper()
	for _, made := range c.made {
		if made.kind != k {
			continue
		}
		if k.has(c.w, "Get") {
			c.expectSame(k, call{rpc: "Get" + k.name, target: made.uid})
		}
		if k.ref == "repo" {
			c.expectSame(k, call{rpc: "GetRepoReadme", target: made.uid})
		}
	}
	if _, lists := c.w.ledger["List"+k.plural]; !lists || k.library.parent != "" || k.library.params != nil { // The rows of the kind say what such lists contain.
		return
	}
	for _, order := range k.library.orders {
		c.expectSame(k, call{rpc: "List" + k.plural, params: k.library.params.with(fields{"page_size": 200, "order_by": order.name + " desc"})})
	}
}

// fieldsOfOneProtocol lists the fields that only one protocol shows with the resource.
// The others have a separate operation for them, which is called too.
var fieldsOfOneProtocol = map[string]string{"Repo": "readme"}

// expectSame expects the same answer from all protocols.
func (c *randomState) expectSame(k *kind, asked call) {
	c.Helper()
	var first string
	for i, p := range c.w.protocols {
		got := p.do(c.token, asked)
		if got.brokenRule != "" {
			c.Fatalf("%s by %s: %s, want brokenRule \"\"", asked.rpc, p.name(), got.brokenRule)
		}
		var answers []string
		for _, item := range got.items {
			answers = append(answers, asJSON(item.without(k.library.differingFields...).without(fieldsOfOneProtocol[k.name])))
		}
		answers = append(answers, asJSON(got.resource.without(fieldsOfOneProtocol[k.name])), got.total, got.skipped, fmt.Sprintf("%+v, another page: %t", got.failure, got.next != ""))
		if i == 0 {
			first = strings.Join(answers, "\n")
		} else if now := strings.Join(answers, "\n"); now != first {
			c.Errorf("%s on %s\n%s:\n%s\n%s:\n%s, want %v", asked.rpc, asked.target, c.w.protocols[0].name(), first, p.name(), now, first)
		}
	}
}
