// Package analysis holds what the GraphQL layer knows about a schema and about an
// operation before the operation is executed. Package limit finds it out and decides
// whether the operation may be executed; whoever executes it reads it here. This package
// must not reject anything.
package analysis

import (
	"slices"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
)

// A Schema holds the facts that determine the cost of a document and are not part of
// the GraphQL schema. Fields are named as in Repo.readme.
type Schema struct {
	DefaultPage int            // number of rows on a page if the field has no page size
	MaxPage     int            // largest number of rows on a page, whatever the field requests
	LongFields  map[string]int // cost of scalars that may be long; other scalars cost nothing
	Parts       []string       // types of objects that are read together with their parent, and cost nothing
	ListRows    map[string]int // number of objects in lists that have neither pages nor keys; others count as 1
	Watched     []string       // fields that Selects can find

	// IndexedConditions are the conditions in `where` by which an index finds rows, of all kinds or of
	// one, such as Artifact.ecosystems. For others
	// the rows of the list are read.
	IndexedConditions []string
	// CountedConditions are those whose rows counters count, but no index finds.
	CountedConditions  []string
	RelatedConditions  []string // those on other rows, which are looked for beside each row
	NestedConditions   []string // those with filters inside, which each row is compared with
	ComparedConditions []string // those with values that each row is compared with
	// SummedConditions are the conditions of kinds whose facets are sums, named as in Finding.labels, with which they still are sums,
	// as with IndexedConditions. With others, the rows of the list are read and sorted.
	SummedConditions []string
	ReadFacets       []string        // facets that read all rows of their list, beside those that others read: named as in FindingFacets.labels
	SortedOrders     []string        // orders that no index has, named as in Identity.EMAIL
	WholeOrders      []string        // orders that an index has only for a whole organization
	CountedLists     map[string]bool // lists whose rows are read to count them, without a condition too
	ScannedFields    map[string]int  // cost of the rows that fields read and do not show
	EmptyInputs      []string        // inputs whose texts may be empty, which the core checks

	// NestedLists are lists with the rows of all that is below their parent, unless the named argument is true.
	NestedLists map[string]string

	// UniqueNames are lists that contain a name at most once: always (""), or if the
	// named argument is given. Such a list has one row if it is filtered by a name.
	UniqueNames map[string]string
}

// Extension is the name of the response extension that shows the cost. The operation
// keeps its findings under the same name.
const Extension = "cost"

// Findings are the facts about an operation that its analysis has found.
type Findings struct {
	Limit, Cost int
	Values      int      // maximum number of scalars in the response
	Selected    []string // fields of Schema.Watched
}

// Keep stores the findings about an operation.
func (f *Findings) Keep(operation *graphql.OperationContext) {
	operation.Stats.SetExtension(Extension, f)
}

// FindingsOf returns the findings about an operation, or nil if there are none.
func FindingsOf(operation *graphql.OperationContext) *Findings {
	found, _ := operation.Stats.GetExtension(Extension).(*Findings)
	return found
}

// CountValues returns the maximum number of scalars in the response to an operation,
// or 0 if they were not counted.
func CountValues(operation *graphql.OperationContext) int {
	if found := FindingsOf(operation); found != nil {
		return found.Values
	}
	return 0
}

// Cost returns the cost of an operation, or 0 if it was not computed.
func Cost(operation *graphql.OperationContext) int {
	if found := FindingsOf(operation); found != nil {
		return found.Cost
	}
	return 0
}

// Selects reports whether an operation selects a field of Schema.Watched anywhere. It
// returns true if that is not known.
func Selects(operation *graphql.OperationContext, field string) bool {
	found := FindingsOf(operation)
	return found == nil || slices.Contains(found.Selected, field)
}

// AppendJSON appends the cost and its limit as JSON.
func (f *Findings) AppendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"limit":`...), int64(f.Limit), 10)
	b = strconv.AppendInt(append(b, `,"requested":`...), int64(f.Cost), 10)
	return append(b, '}')
}
