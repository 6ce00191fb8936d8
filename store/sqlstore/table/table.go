package table

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"atrium/platform/core"
)

// A Definition describes how one kind is stored. Every kind of the tree has these columns
// before its own: uid, root (the first segment), parent, and g2 and g3, the ancestors
// on the second and third level. A group counts as its own ancestor. A kind that HasScopeKeys has
// keys instead of g2 and g3.
type Definition[T, F any] struct {
	Name    string
	Number  byte // number of the kind, as counters store it
	Columns []Column[T]

	// projections holds each *Projection[T, F] that has been made, by the fields that it
	// leaves out.
	projections   sync.Map
	CostlyColumns map[string]CostlyColumn // columns that a read may leave out, by their SQL
	omissible     core.CostlyFields       // all fields that CostlyColumns belong to

	// WriteOnly columns serve filters; they are not read.
	WriteOnly    []Column[T]
	Joins        []Join                 // the joins of t with the other tables whose columns are read
	JoinedOrders map[string]JoinedOrder // orders by columns of joined tables, by the name of the order
	UID          func(T) core.UID

	// LiesIn returns the UID whose prefixes are g2 and g3. It is nil for a kind that
	// lies outside the tree.
	LiesIn func(core.UID) core.UID
	// CountedBy is the column by whose values the rows of a kind outside the tree are
	// counted. "" means that all of them are counted together.
	CountedBy string
	// HasScopeKeys means that rows have keys of their scopes: see scope_key.go.
	HasScopeKeys bool
	// FoundByParent reports whether the rows of a parent are found by an index that begins with
	// the parent and not with its key, because of the order or of the filter. nil means
	// that there is none.
	FoundByParent func(order string, f F) bool
	// Relations are those in which rows stand besides the tree.
	Relations map[core.Relation]Relation
	// Narrow returns the condition of a branch beside its relation. nil means that there is none.
	Narrow func(core.Branch) Narrowing
	// LiesInItself means that each row lies within itself, as groups do.
	LiesInItself bool
	// HasUniqueNames means that siblings have different names, by a unique index.
	HasUniqueNames bool
	// HasTextKeys means that the primary key is a text, not a UID.
	HasTextKeys bool
	// SharesUID means that a row has the UID of its parent.
	SharesUID bool
	// IsRootless reports whether a row belongs to no organization. nil means that every
	// row belongs to one.
	IsRootless func(core.UID) bool
	// IsUncounted means that no counters are kept, so totals count rows.
	IsUncounted bool
	// HasFewWriters means that a parent has few writers at once, so its counter is one row.
	HasFewWriters bool
	// Where adds the conditions of a filter, each " AND ...".
	Where func(f F, s *Statement)

	// AliasesOf are names that AliasTable keeps, as (alias, uid), for filters. They follow from
	// the field AliasField.
	AliasesOf  func(T) []string
	AliasTable string
	AliasField string

	// MostCounter is the counter of all rows but a few, beside that of the kind. 0 means that there is none.
	MostCounter byte
	// OtherCounters are counters of rows of other tables, which the kind keeps: SQL that selects the UID in which
	// each of the rows is, and for how many it counts, by the number of the counter.
	OtherCounters map[byte]string

	// A row has a class, which ClassColumn stores and whose counters count it beside the
	// kind's own. FilterCounters returns those whose sum is the total of a filter. nil
	// means that the kind has no classes.
	ClassColumn    string
	ClassOf        func(T) int64
	ClassCounters  func(class int64) []byte
	FilterCounters func(f F) CounterSum

	// SearchText is SQL over a row of t: the text in which words are looked for.
	// SearchQuery returns the query of a filter. If the text is a column, SearchTextOf makes
	// it from the SearchFields of a row. "" and nil mean that rows are not searched.
	SearchText     string
	SearchQuery    func(F) string
	SearchesPhrase bool // whether SearchQuery returns one folded text, and not words in any order
	SearchTextOf   func(T) string
	SearchFields   []string

	// FindsFewRows reports whether an index finds the rows of a filter, which are few, whatever the order. nil means that
	// there is no such filter.
	FindsFewRows func(F) bool

	// SortedBy is an order that no index of a parent has: its rows are sorted. Else PostgreSQL walks the primary key, through
	// the rows of all parents.
	SortedBy string

	// WalksPrimaryKey reports whether no index of a scope has all rows of a filter, so that a range of the primary key is read. nil
	// means that there is no such filter.
	WalksPrimaryKey func(F) bool
	// Split returns filters whose rows are together those of a filter, and which indexes serve better. nil means that
	// the filter is not split, or none is.
	Split func(F) []F

	// Plan returns a reader that knows how to find the rows of a list best. nil means that the reader of the table
	// does.
	Plan func(ctx context.Context, r *Reader[T, F], q core.Query[F]) (*Reader[T, F], error)

	// OnChange is called with each row that was written or deleted. Of a row whose class changes, it is called with the row
	// before too. nil means that nothing follows from a change. If OnChangeOf names fields, only an update of one of
	// these calls it.
	OnChange   func(tx core.Tx, row T)
	OnChangeOf []string

	// Owned are the columns by which rows of other tables belong to a row. They are deleted with it.
	Owned []OwnedColumn

	// Derive sets what follows from a row's other fields, before it is written.
	Derive func(T)

	pointerFunctions[T, F]
}

// An OwnedColumn has the UIDs of the rows that the rows of a table belong to.
type OwnedColumn struct{ Table, Column string }

// A Join is SQL that ends with a comparison, and the column of t that is compared.
type Join struct{ SQL, Column string }

// pointerFunctions has the functions that NewTable makes, because it knows the types
// that T and F point to.
type pointerFunctions[T, F any] struct {
	newRow    func() T
	assign    func(to, from T) // copies the row that from points to into the row that to points to
	newBuffer func() rowBuffer[T]
	fill      func(f F) F // replaces a filter that is nil by one that restricts nothing
	restricts func(f F) bool
}

// key returns the value that the primary key is compared with.
func (t *Definition[T, F]) key(u core.UID) any {
	if t.HasTextKeys {
		return string(u)
	}
	return u
}

// keys returns the list that the primary key is compared with.
func (t *Definition[T, F]) keys(uids []core.UID) any {
	if !t.HasTextKeys {
		return UIDKeys(uids)
	}
	texts := make(Keys, len(uids))
	for i, u := range uids {
		texts[i] = string(u)
	}
	return texts
}

// A Column is a column that is read with its kind.
type Column[T any] struct {
	SQL   string      // SQL that selects the column, such as t.name
	Field string      // field whose update changes the column; "" means that no update does
	To    func(T) any // returns the scan destination in a row
}

// ownName returns the name of the column, and whether it belongs to the table itself.
func (c Column[T]) ownName() (string, bool) { return strings.CutPrefix(c.SQL, "t.") }

// A JSONColumn reads and writes a value as JSON text. An empty value is an empty text.
type JSONColumn struct{ To any }

// Scan reads the column.
func (c JSONColumn) Scan(src any) error {
	switch src := src.(type) {
	case string:
		return c.ScanBytes([]byte(src))
	case []byte:
		return c.ScanBytes(src)
	default:
		return fmt.Errorf("cannot read JSON from %T", src)
	}
}

// HoldsJSON makes it a dbconn.JSONColumn.
func (JSONColumn) HoldsJSON() {}

// ScanBytes reads JSON text.
func (c JSONColumn) ScanBytes(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, c.To)
}

// Text returns the value of the column.
func (c JSONColumn) Text() string {
	b, _ := json.Marshal(c.To) // cannot fail for plain data
	switch s := string(b); s {
	case "null", "[]", "{}":
		return ""
	default:
		return s
	}
}

// uidReference is the UID of a row that need not exist.
type uidReference struct{ to core.UID }

// A textStorer is the scan destination of a column of one kind, which knows the text that is stored, and by which rows
// are sorted.
type textStorer interface{ StoredText() string }

// encodeColumn converts a scan destination into an argument that stores its value.
func encodeColumn(to any) any {
	switch to := to.(type) {
	case *string:
		return *to
	case *bool:
		return *to
	case *int32:
		return int64(*to)
	case *int64:
		return *to
	case *[]byte:
		return *to
	case timeColumn:
		return *to.to
	case deadlineColumn:
		return to.to.OrNoDeadline()
	case timeOrNull:
		if to.to.IsZero() {
			return nil
		}
		return *to.to
	case textStorer:
		return to.StoredText()
	case *uidKey:
		return PackUID(core.UID(*to))
	case uidColumn:
		return PackUID(*to.uid)
	case uidReference:
		return OrNull(to.to)
	case JSONColumn:
		return to.Text()
	default:
		panic(fmt.Sprintf("no column is kept in a %T", to))
	}
}

// JSONOf returns the scan destination of a value that is stored as JSON text.
func JSONOf(to any) sql.Scanner { return JSONColumn{to} }

// JSONText returns the stored form of a value.
func JSONText(value any) string { return JSONColumn{value}.Text() }
