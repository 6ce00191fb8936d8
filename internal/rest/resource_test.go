package rest

import (
	"slices"
	"strings"
	"testing"

	"atrium/internal/resource"
)

// The command line knows the kinds by the document. One that it does not find there could not be listed.
func TestTheCommandLineListsWhatTheTableLists(t *testing.T) {
	t.Parallel()
	kinds, err := resource.Read(Document())
	if err != nil {
		t.Fatal(err)
	}
	notFilters := []string{"page_size", "page_token", "order_by", "skip", "within", "uidp.ancestors_of", "uidp.descendants_of", "uidp.children_of", "uidp.in_root"}
	known := []string{"audit-log"} // It is no list of a kind: it has no total and no order.
	table := listRoutes(newWorld(t).p)
	for _, listed := range table {
		if listed.plural == "" || strings.Contains(listed.pattern, "v2beta1") {
			continue
		}
		path := strings.NewReplacer("=**", "", "=*", "").Replace(listed.pattern)
		i := slices.IndexFunc(kinds, func(k *resource.Kind) bool { return k.Path == path })
		if i < 0 {
			t.Errorf("`atrium list` does not know %s (%s)", listed.name, path)
			continue
		}
		kind := kinds[i]
		known = append(known, kind.Name)
		for _, parameter := range listed.query {
			if !slices.Contains(notFilters, parameter.name) && !slices.ContainsFunc(kind.Filters, func(f resource.Filter) bool {
				return f.Parameter == parameter.name && f.Repeated == parameter.repeated && f.Required == parameter.required
			}) {
				t.Errorf("`atrium list %s` has no flag for %s", kind.Name, parameter.name)
			}
		}
		isRead := slices.ContainsFunc(table, func(r route) bool {
			return r.name == "Get"+listed.kind.name && listed.name != "ListEffectiveRoleBindings"
		})
		if kind.HasUIDs() != isRead {
			t.Errorf("`atrium get %s` by uid: %v, want %v", kind.Name, kind.HasUIDs(), isRead)
		}
	}
	for _, kind := range kinds {
		if !slices.Contains(known, kind.Name) {
			t.Errorf("`atrium list %s` is of no list of the table", kind.Name)
		}
	}
}
