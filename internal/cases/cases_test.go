package cases

import (
	"testing"

	"atrium/store/storetest"
)

// The rows of every kind hold in every protocol and on both engines.
func TestEveryRowHoldsInEveryProtocol(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		for _, k := range kinds {
			t.Run(k.name, func(t *testing.T) {
				t.Parallel()
				e := w.newEnv(t)
				e.twin = w.newEnv(t)
				for part, rows := range k.rowsByOperation(w) {
					t.Run(part, func(t *testing.T) {
						for _, r := range rows {
							t.Run(r.name, func(t *testing.T) { r.run(t, k, e) })
						}
					})
				}
			})
		}
	})
}

// rowsByOperation returns all rows of a kind.
func (k *kind) rowsByOperation(w *world) map[string][]row {
	table := map[string][]row{"alone": k.rows}
	if k.has(w, "Get") {
		table["get"] = k.readRows()
	}
	if k.has(w, "Create") {
		table["create"] = k.createRows()
	}
	if k.has(w, "Update") {
		table["update"] = k.updateRows()
	}
	if k.has(w, "Delete") {
		table["delete"] = k.deleteRows()
	}
	return table
}
