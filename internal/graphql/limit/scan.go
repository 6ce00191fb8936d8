package limit

import (
	"reflect"
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
	scanCost     = 400  // of reading all rows of a list
	freeValues   = 5    // values to look for at the cost of 1
	onceValues   = 4    // values that each row can be compared with in one more reading of all rows
	skippedRows  = 50   // rows to skip at the cost of 1
	maxSkipCost  = 2000 // as much as a skip costs at most
	groupedScans = 2    // readings of all rows that are as much as facets: those of repos read the rows for tiers and for bundles
	sortedScans  = 4    // and as facets whose rows are found and sorted
	maxNested    = 5    // readings of a row for parents that contain one another, as groups do
)

// scanCost returns the cost of the rows that a connection reads and does not show.
func (p *pricing) scanCost(f *ast.Field) int {
	scans, name := 0, p.nameOf(f)
	found, counted := p.conditionScans(f)
	shows := false
	for part := range analysis.SelectedFields(f.SelectionSet, p.operation.Variables) {
		switch part.Name {
		case "totalCount":
			if p.CountedLists[name] {
				counted = max(counted, 1)
			}
			scans += counted
		case "facets":
			scans += p.facetScans(f, part)
		default:
			shows = true
		}
	}
	if shows {
		scans += found
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

// conditionScans returns how often all rows of a list are as good as read to find those that meet its conditions, and to
// count them: not at all if an index serves them.
func (p *pricing) conditionScans(f *ast.Field) (found, counted int) {
	if p.isNamed(f) {
		return 0, 0
	}
	where, _ := p.argument(f, "where").(map[string]any)
	return p.filterScans(f, where)
}

// filterScans is conditionScans for a filter of a list.
func (p *pricing) filterScans(f *ast.Field, where map[string]any) (found, counted int) {
	for name, value := range where {
		if value == nil || isAmong(p.IndexedConditions, f, name) {
			continue
		}
		scans := 1
		switch {
		case isAmong(p.NestedConditions, f, name):
			again, parts := p.partScans(f, value)
			scans += again + parts/onceValues
		case isAmong(p.RelatedConditions, f, name):
			scans = 2
		case isAmong(p.ComparedConditions, f, name):
			scans += countValues(value) / onceValues
		}
		if found = max(found, scans); !isAmong(p.CountedConditions, f, name) {
			counted = max(counted, scans)
		}
	}
	return found, counted
}

// partScans returns how often all rows are as good as read again for the filters inside a condition, and their number.
func (p *pricing) partScans(f *ast.Field, given any) (again, parts int) {
	if part, isFilter := given.(map[string]any); isFilter {
		found, _ := p.filterScans(f, part)
		return max(found-1, 0), 1
	}
	if list := reflect.ValueOf(given); list.Kind() == reflect.Slice {
		for i := range list.Len() {
			a, n := p.partScans(f, list.Index(i).Interface())
			again, parts = again+a, parts+n
		}
	}
	return again, parts
}

// facetScans returns how often all rows of a list are as good as read for its facets.
func (p *pricing) facetScans(f, facets *ast.Field) int {
	scans, others := 0, false
	for facet := range analysis.SelectedFields(facets.SelectionSet, p.operation.Variables) {
		if slices.Contains(p.ReadFacets, p.nameOf(facet)) {
			scans += groupedScans
		} else {
			others = true
		}
	}
	if others {
		scans += p.summedScans(f)
	}
	return scans
}

// summedScans is facetScans for the facets that counters may have.
func (p *pricing) summedScans(f *ast.Field) int {
	isOfKind := func(condition string) bool { return strings.HasPrefix(condition, kindOf(f)+".") }
	if !slices.ContainsFunc(p.SummedConditions, isOfKind) {
		return groupedScans
	}
	where, _ := p.argument(f, "where").(map[string]any)
	for name, value := range where {
		if value != nil && !isAmong(p.IndexedConditions, f, name) && !isAmong(p.SummedConditions, f, name) {
			return sortedScans
		}
	}
	return groupedScans
}

// isNested reports whether a list has the rows of those below its parent too.
func (p *pricing) isNested(f *ast.Field) bool {
	argument := p.NestedLists[p.nameOf(f)]
	return argument != "" && p.argument(f, argument) != true
}

// isAmong reports whether a condition of a list is among those with its name, or with its name and that of the kind, such as
// Artifact.ecosystems.
func isAmong(conditions []string, list *ast.Field, name string) bool {
	return slices.Contains(conditions, name) || slices.Contains(conditions, kindOf(list)+"."+name)
}

// filterCost returns the cost of the filter of a field that is no connection, and reads all rows in any case.
func (p *pricing) filterCost(f *ast.Field) int {
	found, _ := p.conditionScans(f)
	return min(multiplyCost(found, scanCost)+countValues(p.argument(f, "where"))/freeValues, maxCount)
}

// kindOf returns the name of the type of the nodes of a list, or of what a field without nodes filters.
func kindOf(list *ast.Field) string {
	kind, isConnection := strings.CutSuffix(list.Definition.Type.Name(), connection)
	if where := list.Definition.Arguments.ForName("where"); where != nil && !isConnection {
		return strings.TrimSuffix(where.Type.Name(), "Filter")
	}
	return kind
}

// valueCost returns the cost of the values that a list looks for, in each of its parents.
func (p *pricing) valueCost(f *ast.Field) int {
	values := 0
	for _, argument := range f.Definition.Arguments {
		values += countValues(p.argument(f, argument.Name))
	}
	return min(values/freeValues, maxCount)
}

// countValues counts the values in the lists of an argument.
func countValues(given any) (n int) {
	if object, ok := given.(map[string]any); ok {
		for _, value := range object {
			n += countValues(value)
		}
		return n
	}
	if list := reflect.ValueOf(given); list.Kind() == reflect.Slice {
		for i := range list.Len() {
			n += 1 + countValues(list.Index(i).Interface())
		}
	}
	return n
}

// isSortedBy reports whether a list has an order that no index has. Indexes have one field.
func (p *pricing) isSortedBy(f *ast.Field) bool {
	order, isOne := p.argument(f, "orderBy").(map[string]any)
	if fields := reflect.ValueOf(p.argument(f, "orderBy")); !isOne && fields.Kind() == reflect.Slice && fields.Len() > 0 {
		if fields.Len() > 1 {
			return true
		}
		order, _ = fields.Index(0).Interface().(map[string]any)
	}
	field, _ := order["field"].(string)
	by := kindOf(f) + "." + field
	return slices.Contains(p.SortedOrders, by) || slices.Contains(p.WholeOrders, by) && !p.isWhole(f)
}

// isWhole reports whether a list has the rows of whole organizations, whose uids have no slash.
func (p *pricing) isWhole(f *ast.Field) bool {
	within, _ := p.argument(f, "within").(string)
	return f.ObjectDefinition == p.schema.Query && p.argument(f, "directOnly") != true && !strings.Contains(within, "/")
}
