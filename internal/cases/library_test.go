package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// A library is a separate organization for the lists of a kind. Its contents do not
// change. It has the group {shelf} with {inner} in it, and the group {side}.
type library struct {
	items               []item
	otherItems          []string // The lists also contain these, given by name or UID.
	hasNoScopes         bool     // The kind belongs to no organization.
	parent, otherParent string   // If the kind is listed by parent and not by scope, these are the parent and another possible one.
	params              fields   // Every list has these parameters.

	orders          []order // These are the values of order_by.
	byDefault       string  // This is the order of lists without order_by.
	filters         []filterCase
	badParams       []badInput // Each of these parameters must be rejected.
	differingFields []string   // Protocols show these fields differently on purpose.
}

// An item of a library. Items are created in the order of the list.
type item struct {
	label  string
	parent string
	fields fields
}

// An order is a value of order_by. member is the field that it compares: a field of an
// answer, or of an object in it. "making" means the order of creation.
type order struct{ name, member string }

// A filtered has the labels of the items that a list contains with these parameters.
type filterCase struct {
	params fields
	want   string
}

// A reader reads lists of a library.
type reader struct {
	*env
	k       *kind
	entries []entry // These are all items of a list without parameters, in its order.
}

// An entry is an item in an answer.
type entry struct {
	label         string
	creationOrder string // This is the time of creation, as a text that sorts.
	resource      fields
}

func (x entry) uid() string { return keyOf(x.resource) }

// open creates the library of a kind.
func (k *kind) open(e *env) *reader {
	e.Helper()
	group := kindOf("group")
	for _, place := range []struct{ name, in string }{{"shelf", "{org}"}, {"inner", "{shelf}"}, {"side", "{org}"}} {
		e.made[place.name] = e.make(group, place.in, fields{"name": place.name})
	}
	r := &reader{env: e, k: k}
	for _, other := range k.library.otherItems {
		r.add(other, fields{"uid": e.text(other)})
	}
	for _, it := range k.library.items {
		r.add(it.label, e.make(k, it.parent, it.fields))
	}
	if first := r.entries[len(k.library.otherItems)]; k.has(e.w, "Update") && k.changedTimes() != nil { // The first entry was not updated first.
		e.mustCall(call{rpc: "Update" + k.name, target: first.uid(), fields: fields{"name": first.resource["name"]}})
	}
	for i, x := range r.entries {
		if k.has(e.w, "Get") {
			r.entries[i].resource = e.mustCall(call{rpc: "Get" + k.name, target: x.uid()}).resource
		}
	}
	r.entries = r.sortedBy(k.library.byDefault)
	return r
}

func (r *reader) add(label string, resource fields) {
	r.entries = append(r.entries, entry{label, fmt.Sprintf("%03d", len(r.entries)), resource})
}

// sortedBy returns the entries in the order that order_by must produce.
func (r *reader) sortedBy(by string) []entry {
	name, direction, _ := strings.Cut(by, " ")
	i := slices.IndexFunc(r.k.library.orders, func(o order) bool { return o.name == name })
	if i < 0 {
		r.Fatalf("no order %s", name)
	}
	member := r.k.library.orders[i].member
	value := func(x entry) string {
		if member == "making" {
			return x.creationOrder
		}
		holder, name := x.resource, member
		if outer, inner, nested := strings.Cut(member, "."); nested {
			holder, name = x.resource[outer].(fields), inner
		}
		s, _ := holder[name].(string)
		return s
	}
	all := slices.Clone(r.entries)
	slices.SortFunc(all, func(a, b entry) int {
		if direction == "desc" {
			a, b = b, a
		}
		if c := strings.Compare(value(a), value(b)); c != 0 {
			return c
		}
		return strings.Compare(a.uid(), b.uid())
	})
	return all
}

// selectEntries returns the entries of the library that meet a condition.
func (r *reader) selectEntries(meets func(uid string) bool) []entry {
	var selected []entry
	for _, x := range r.entries {
		if meets(x.uid()) {
			selected = append(selected, x)
		}
	}
	return selected
}

// read reads a list in one protocol.
func (r *reader) read(p protocol, params fields) answer {
	r.Helper()
	return p.do(r.token, r.listCall(params))
}

func (r *reader) listCall(params fields) call {
	r.Helper()
	return r.fillCall(call{rpc: "List" + r.k.plural, target: r.k.library.parent, params: r.k.library.params.with(params)})
}

// expectPage reads the list in every protocol. Each must answer the page want, out of
// total.
func (r *reader) expectPage(params fields, want []entry, total int) {
	r.Helper()
	var first answer
	for i, p := range r.w.protocols {
		if !r.k.canAsk(p, params) {
			continue
		}
		if !r.canAsk(p, params) {
			continue
		}
		got := r.read(p, params)
		if got.failure != nil || got.brokenRule != "" {
			r.Errorf("%s %s: %s %s, want no failure and brokenRule \"\"", p.name(), asJSON(params), got.raw, got.brokenRule)
			return
		}
		if r.labels(got.items) != labels(want) || got.total != fmt.Sprint(total) || got.skipped != fmt.Sprint(valueOr(params["skip"], 0)) {
			r.Errorf("%s %s: %q of %s, %s skipped, want %q of %d", p.name(), asJSON(params), r.labels(got.items), got.total, got.skipped, labels(want), total)
		}
		if i == 0 {
			first = got
			continue
		}
		for n := range min(len(got.items), len(first.items)) {
			if a, b := first.items[n].without(r.k.library.differingFields...), got.items[n].without(r.k.library.differingFields...); !matches(b, a) {
				r.Errorf("%s\n%s: %s\n%s: %s", asJSON(params), r.w.protocols[0].name(), asJSON(a), p.name(), asJSON(b))
			}
		}
		if (got.next == "") != (first.next == "") {
			r.Errorf("%s: another page: %t by %s, %t by %s", asJSON(params), first.next != "", r.w.protocols[0].name(), got.next != "", p.name())
		}
	}
}

// expectError sends a request that every protocol must reject.
func (r *reader) expectError(params fields, want any, instead map[string]otherAnswer) {
	r.Helper()
	for _, p := range r.w.protocols {
		if !r.k.canAsk(p, params) {
			continue
		}
		if !r.canAsk(p, params) {
			continue
		}
		c := r.listCall(params)
		r.check(r.k, c, p.do(r.token, c), r.expectation(p, c, want, instead))
	}
}

// canAsk reports whether a protocol has the scopes that parameters name: a list of GraphQL can lack ancestors and roots.
func (r *reader) canAsk(p protocol, params fields) bool {
	g, isGraph := p.(graphQL)
	list := g.schemaOf(r.k)
	if !isGraph || list == nil || !r.k.hasScopes() {
		return true
	}
	filter := g.schema.Types[list.Arguments.ForName("where").Type.Name()]
	return (params["uidp.ancestors_of"] == nil || filter.Fields.ForName("ancestorsOf") != nil) && (params["uidp.in_root"] == nil || filter.Fields.ForName("inRoot") != nil)
}

// schemaOf returns the list of a kind at the root, or nil if there is none with a filter.
func (p graphQL) schemaOf(k *kind) *ast.FieldDefinition {
	if p.schema == nil {
		return nil
	}
	list := p.schema.Query.Fields.ForName(lowerFirst(k.plural))
	if list == nil || list.Arguments.ForName("where") == nil {
		return nil
	}
	return list
}

func valueOr(v, otherwise any) any {
	if v == nil {
		return otherwise
	}
	return v
}

// labels returns the labels of items, and "?" for an item that is not in the library.
func (r *reader) labels(items []fields) string {
	all := make([]string, len(items))
	for i, it := range items {
		all[i] = "?"
		if n := slices.IndexFunc(r.entries, func(x entry) bool { return x.uid() == keyOf(it) }); n >= 0 {
			all[i] = r.entries[n].label
		}
	}
	return strings.Join(all, " ")
}

func labels(entries []entry) string {
	all := make([]string, len(entries))
	for i, x := range entries {
		all[i] = x.label
	}
	return strings.Join(all, " ")
}

// entriesWithLabels returns the entries with these labels.
func (r *reader) entriesWithLabels(wanted string) []entry {
	r.Helper()
	var found []entry
	for _, x := range r.entries {
		if slices.Contains(split(wanted), x.label) {
			found = append(found, x)
		}
	}
	if len(found) != len(split(wanted)) {
		r.Fatalf("not every one of %q is in the library", wanted)
	}
	return found
}

// split splits a list of labels. Labels in braces contain spaces.
func split(wanted string) []string {
	if strings.HasPrefix(wanted, "{") {
		return []string{wanted}
	}
	return strings.Fields(wanted)
}

// forTest returns the reader for a subtest.
func (r *reader) forTest(t *testing.T) *reader {
	e := *r.env
	e.T = t
	return &reader{&e, r.k, r.entries}
}
