package cases

import (
	"fmt"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// Every parameter of every list works in every protocol and on both engines.
func TestEveryListIsTheSameInEveryProtocol(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		otherOrg := w.newEnv(t).resource("org")["uid"].(string)
		for _, k := range kinds {
			if len(k.library.items) == 0 {
				continue
			}
			t.Run(k.name, func(t *testing.T) {
				t.Parallel()
				e := w.newEnv(t)
				r := k.open(e)
				e.made["elsewhere"] = fields{"uid": otherOrg}
				for name, test := range map[string]func(*reader){
					"pages": (*reader).pages, "skip": (*reader).skips, "walks": (*reader).walksPrimaryKey, "tokens": (*reader).tokens,
					"orders": (*reader).orders, "filters": (*reader).filters, "scopes": (*reader).scopes, "violations": (*reader).violations,
				} {
					t.Run(name, func(t *testing.T) { test(r.forTest(t)) })
				}
			})
		}
	})
}

// pages reads pages of many sizes. A size of 0 is the default one of REST and gRPC, and no rows in GraphQL, so
// each protocol has a test of its own for it.
func (r *reader) pages() {
	all, n := r.entries, len(r.entries)
	r.expectPage(nil, all, n)
	for _, size := range []int{1, 2, n - 1, n, n + 1, 200, 201, 2147483647} {
		want := all
		if size < n {
			want = all[:size]
		}
		r.expectPage(fields{"page_size": size}, want, n)
	}
	r.expectPage(fields{"page_token": ""}, all, n)
}

func (r *reader) skips() {
	all, n := r.entries, len(r.entries)
	for _, skip := range []int{0, 1, n - 1, n, n + 7} {
		r.expectPage(fields{"skip": skip}, all[min(skip, n):], n)
	}
	r.expectPage(fields{"skip": 1, "page_size": 2}, all[1:3], n)
	r.expectPage(fields{"skip": n + 1, "page_size": 1}, nil, n)
}

// walksPrimaryKey reads a list page by page, in one protocol and alternating between all
// protocols, because they share page tokens.
func (r *reader) walksPrimaryKey() {
	protocols := r.w.protocols
	for _, order := range []string{"", r.k.library.orders[0].name + " desc"} {
		want := r.entries
		if order != "" {
			want = r.sortedBy(order)
		}
		for first := range len(protocols) + 1 {
			by := func(int) protocol { return protocols[first] }
			if first == len(protocols) {
				by = func(page int) protocol { return protocols[page%len(protocols)] }
			}
			r.walk(order, want, by)
		}
	}
}

func (r *reader) walk(order string, want []entry, by func(page int) protocol) {
	r.Helper()
	var seen []fields
	params := fields{"page_size": 2}
	if order != "" {
		params["order_by"] = order
	}
	for page := 0; page == 0 || params["page_token"] != ""; page++ {
		got := r.read(by(page), params)
		if got.failure != nil || got.total != fmt.Sprint(len(r.entries)) || len(got.items) == 0 || page > len(want) {
			r.Fatalf("page %d by %s with %s: %s, want no failure", page, by(page).name(), asJSON(params), got.raw)
		}
		seen = append(seen, got.items...)
		params = fields{"page_size": 2, "page_token": got.next} // The token contains the order.
	}
	if r.labels(seen) != labels(want) {
		r.Errorf("by %s, %s: order %q: got %q, want %q", by(0).name(), by(1).name(), order, r.labels(seen), labels(want))
	}
}

func (r *reader) tokens() {
	all, n := r.entries, len(r.entries)
	for _, p := range r.w.protocols {
		for i, cursor := range r.read(p, nil).cursors {
			r.expectPage(fields{"page_token": cursor}, all[i+1:], n)
		}
		token := r.read(p, fields{"page_size": 1}).next
		r.expectPage(fields{"page_token": token}, all[1:], n)
		r.expectPage(fields{"page_token": token, "skip": 1, "page_size": 1}, all[2:3], n)
		r.expectPage(fields{"page_token": token, "skip": n}, nil, n)
		r.expectPage(fields{"page_token": token, "order_by": r.k.library.byDefault}, all[1:], n)
		for _, forged := range []string{"x", "nope", token + "A", token[:len(token)-2], strings.Repeat("A", len(token)), "%2F"} {
			r.expectError(fields{"page_token": forged}, invalid("page_token"), nil)
		}
		r.expectError(fields{"page_token": token, "order_by": otherWay(r.k.library.byDefault)}, invalid("page_token"), nil)
		r.checkForeignToken(p, token)
		other := "ListRoles"
		if r.k.name == "Role" {
			other = "ListGroups"
		}
		foreign := p.do(r.token, call{rpc: other, params: fields{"page_size": 1}}).next
		r.expectError(fields{"page_token": foreign}, invalid("page_token"), nil)
	}
}

// checkForeignToken uses a token of one list in another list.
func (r *reader) checkForeignToken(p protocol, token string) {
	r.Helper()
	c := r.listCall(fields{"page_token": token})
	switch {
	case r.k.hasScopes():
		c.params["uidp.descendants_of"] = r.text("{org}")
	case r.k.library.parent != "":
		c.target = r.text(r.k.library.otherParent)
	default:
		c.params = c.params.with(r.fill(normalize(r.k.library.filters[0].params)).(fields))
	}
	r.check(r.k, c, p.do(r.token, c), invalid("page_token"))
}

// hasScopes reports whether the list can be restricted to a part of the tree.
func (k *kind) hasScopes() bool { return !k.library.hasNoScopes && k.library.parent == "" }

func otherWay(by string) string {
	if name, descending := strings.CutSuffix(by, " desc"); descending {
		return name
	}
	return by + " desc"
}

func (r *reader) orders() {
	for _, by := range r.k.library.orders {
		for _, direction := range []string{"", " asc", " desc"} {
			order := by.name + direction
			r.expectPage(fields{"order_by": order}, r.sortedBy(order), len(r.entries))
			r.expectPage(fields{"order_by": order, "skip": 1, "page_size": 1}, r.sortedBy(order)[1:2], len(r.entries))
		}
	}
	for _, order := range []string{"nope", r.k.library.orders[0].name + " up", r.k.library.orders[0].name + ",nope"} {
		r.expectError(fields{"order_by": order}, invalid("order_by"), typedAnswer)
	}
}

func (r *reader) filters() {
	for _, f := range r.k.library.filters {
		want := r.entriesWithLabels(f.want)
		r.expectPage(f.params, want, len(want))
	}
	for _, b := range r.k.library.badParams {
		r.expectError(b.fields, invalid(b.violations), typedAnswerIf(b.typeErrors != noTypeError))
	}
}

func (r *reader) violations() {
	r.expectError(fields{"page_size": -1}, invalid("page_size"), nil)
	r.expectError(fields{"skip": -1}, invalid("skip"), nil)
	r.expectError(fields{"page_size": "many"}, invalid("page_size"), typedAnswer)
	r.expectError(fields{"skip": "1.5"}, invalid("skip"), typedAnswer)
	r.expectError(fields{"page_size": 1 << 40}, invalid("page_size"), typedAnswer)
	r.expectError(fields{"nope": 1}, invalid("nope"), typedAnswer)
	r.expectError(fields{"page_size": -1, "skip": -1, "page_token": "nope"}, invalid("page_size skip page_token"), nil)
	if r.k.hasScopes() {
		r.expectError(fields{"skip": -1, "page_size": -1, "uidp.ancestors_of": "a", "uidp.children_of": "c", "uidp.descendants_of": "d", "uidp.ids": []string{"i"}, "page_token": "nope"},
			invalid("uidp.ancestors_of uidp.descendants_of uidp.children_of uidp.ids page_size skip page_token"), nil)
	}
}
