package limit

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/graphql/analysis"
)

// For some lists the database reads many rows that the answer does not contain: all rows of
// the list to find those that meet a condition, to sort or to count them, and the rows that are
// skipped. A price is static, so it cannot depend on the number of rows. These prices fit lists
// of 100,000 rows: to pass over a row takes a hundredth of the time of answering it.
const (
	scanCost    = 400  // of reading all rows of a list
	skippedRows = 50   // rows to skip at the cost of 1
	maxSkipCost = 2000 // as much as a skip costs at most
)

// scanCost returns the cost of the rows that a connection reads and does not show.
func (p *pricing) scanCost(f *ast.Field) int {
	scans, name := 0, p.nameOf(f)
	found := p.hasScannedCondition(f)
	shows := false
	for part := range analysis.SelectedFields(f.SelectionSet, p.operation.Variables) {
		switch part.Name {
		case "totalCount":
			if found || p.CountedLists[name] {
				scans++
			}
		case "facets":
			scans += 2 // for tiers and for bundles, each of which is read without its own condition
		default:
			shows = true
		}
	}
	if shows && found {
		scans++
	}
	if shows && p.isSortedBy(f) {
		scans += 2 // the rows are read and sorted
	}
	cost := multiplyCost(scans, scanCost) + p.ScannedFields[name]
	if skip := p.number(f, "skip"); skip > 0 {
		cost += min(1+skip/skippedRows, maxSkipCost)
	}
	return cost
}

// hasScannedCondition reports whether a list is filtered by a condition that no index serves.
func (p *pricing) hasScannedCondition(f *ast.Field) bool {
	if p.isNamed(f) {
		return false
	}
	where, _ := p.argument(f, "where").(map[string]any)
	for name, value := range where {
		if value != nil && !slices.Contains(p.IndexedConditions, name) {
			return true
		}
	}
	return false
}

// isSortedBy reports whether a list has an order that no index has.
func (p *pricing) isSortedBy(f *ast.Field) bool {
	order, _ := p.argument(f, "orderBy").(map[string]any)
	field, _ := order["field"].(string)
	kind := strings.TrimSuffix(f.Definition.Type.Name(), connection)
	return field != "" && slices.Contains(p.SortedOrders, kind+"."+field)
}
