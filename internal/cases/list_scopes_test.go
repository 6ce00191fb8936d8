package cases

import "strings"

// scopes restricts the list to parts of the tree.
func (r *reader) scopes() {
	if !r.k.hasScopes() {
		return
	}
	isAbove := func(x, y string) bool { return strings.HasPrefix(y, x+"/") }
	parent := func(uid string) string {
		if r.k.sharesUID {
			return uid
		}
		return uid[:max(strings.LastIndexByte(uid, '/'), 0)]
	}
	isBelow := func(uid, at string) bool { return parent(uid) != "" && liesWithin(parent(uid), at) }
	expect := func(params fields, meets func(uid string) bool) {
		r.Helper()
		want := r.selectEntries(meets)
		r.expectPage(params, want, len(want))
	}
	root := func(uid string) bool { return !strings.Contains(uid, "/") }
	scope := r.entriesWithLabels("a")[0].uid()
	other := r.entriesWithLabels("c")[0].uid()
	for _, place := range []string{"{org}", "{shelf}", "{inner}", "{side}", parent(scope), scope} {
		at := r.text(place)
		expect(fields{"uidp.descendants_of": place}, func(uid string) bool { return isBelow(uid, at) })
		expect(fields{"uidp.children_of": place}, func(uid string) bool { return parent(uid) == at })
		expect(fields{"uidp.ancestors_of": place}, func(uid string) bool { return isAbove(uid, at) })
		expect(fields{"uidp.descendants_of": place, "uidp.ids": []string{scope, other}}, func(uid string) bool {
			return isBelow(uid, at) && (uid == scope || uid == other)
		})
		expect(fields{"uidp.descendants_of": "{shelf}", "uidp.children_of": place}, func(uid string) bool {
			return isBelow(uid, r.text("{shelf}")) && parent(uid) == at
		})
		expect(fields{"uidp.descendants_of": place, "uidp.in_root": true}, func(uid string) bool { return isBelow(uid, at) && root(uid) })
	}
	expect(fields{"uidp.in_root": true}, root)
	expect(fields{"uidp.in_root": false}, func(string) bool { return true })
	expect(fields{"uidp.ancestors_of": "{inner}", "uidp.in_root": true}, func(uid string) bool { return root(uid) && isAbove(uid, r.text("{inner}")) })
	expect(fields{"uidp.ids": []string{scope, other, scope, r.text("{org}/00000000000000ff"), r.text("{elsewhere}")}}, func(uid string) bool {
		return uid == scope || uid == other
	})
	r.badScopes()
}

func (r *reader) badScopes() {
	missing, lists := "{org}/00000000000000ff", r.w.dotted[r.w.ledger["List"+r.k.plural].capabilities[0]]
	for scope, kind := range map[string]string{"uidp.descendants_of": "iam/Group", "uidp.ancestors_of": "", "uidp.children_of": r.k.parent} {
		if kind != "" {
			r.expectError(fields{scope: missing}, notFound(kind, missing), nil)
		}
		r.expectError(fields{scope: "nope"}, invalid(scope), nil)
		r.expectError(fields{scope: "{elsewhere}"}, deniedFailure(lists, "{elsewhere}"), nil)
		r.expectError(fields{scope: "{elsewhere}/00000000000000ff"}, deniedFailure(lists, "{elsewhere}/00000000000000ff"), nil)
	}
	r.expectError(fields{"uidp.ids": []string{"nope"}}, invalid("uidp.ids"), nil)
	r.expectError(fields{"uidp.ids": strings.Split(strings.Repeat(viewer+" ", 1000)+viewer, " ")}, invalid("uidp.ids"), nil)
	r.expectError(fields{"uidp.in_root": "maybe"}, invalid("uidp.in_root"), typedAnswer)
}
