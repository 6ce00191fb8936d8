package cases

import (
	"testing"

	"atrium/store/storetest"
)

// A page has at most 200 items, whatever the request says, and 50 by default.
func TestAPageOfEveryKindHasAtMost200(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		for _, k := range kinds {
			if _, lists := w.ledger["List"+k.plural]; !lists || k.name == "PackageVersion" { // Its list is that of one package.
				continue
			}
			t.Run(k.name, func(t *testing.T) {
				t.Parallel()
				e := w.newEnv(t)
				parent, list := e.text(k.in), e.fillCall(k.list(nil))
				switch {
				case k.sharesUID, k.name == "Finding": // Findings lie in repos.
					list.params["uidp.descendants_of"] = e.text("{group}")
				case parent != "" && list.target == "" && !k.library.hasNoScopes:
					list.params["uidp.children_of"] = parent
				}
				for range 201 {
					e.another(k)
				}
				for size, want := range map[int]int{199: 199, 200: 200, 201: 200, 100000: 200} {
					for _, p := range w.protocols {
						list.params["page_size"] = size
						got := p.do(e.token, list)
						if size > 200 && p.name() == "graphql" { // It refuses what the others cut.
							e.check(k, list, got, invalid("page_size"))
							continue
						}
						if len(got.items) != want || got.total != "201" || got.next == "" {
							t.Errorf("page_size %d by %s: %d items of %s, want %d and 201", size, p.name(), len(got.items), got.total, want)
						}
					}
				}
			})
		}
	})
}

// another creates one more resource of a kind with the same parent.
func (e *env) another(k *kind) {
	e.Helper()
	one := e.forTest(e.T)
	for ref, made := range e.made {
		if ref != "identity" && ref != "role" && (!k.sharesUID || "{"+ref+"}" != k.in) {
			one.made[ref] = made
		}
	}
	one.make(k, k.in, k.minimal)
}
