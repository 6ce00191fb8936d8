package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"atrium/platform"
)

// A table describes how one kind is stored. Every kind of the tree has these columns
// before its own: uid, root (the first segment), parent, and g2 and g3, the ancestors
// on the second and third level. A group counts as its own ancestor. A compact kind has
// keys instead of g2 and g3.
type table[T, F any] struct {
	name    string
	number  byte // number of the kind, as counters store it
	columns []column[T]

	// projections holds each *projection[T, F] that has been made, by the fields that it
	// leaves out.
	projections sync.Map
	costly      map[string]costlyColumn // columns that a read may leave out, by their SQL
	omissible   platform.CostlyFields   // all fields that the columns in costly belong to

	// writeOnly columns serve filters; they are not read.
	writeOnly []column[T]
	joins     []join            // the joins of t with the other tables whose columns are read
	lookups   map[string]lookup // orders by columns of other tables, by the name of the order
	uid       func(T) platform.UID

	// enclosed returns the UID whose prefixes are g2 and g3. It is nil for a kind that
	// lies outside the tree.
	enclosed func(platform.UID) platform.UID
	// countedBy is the column by whose values the rows of a kind outside the tree are
	// counted. "" means that all of them are counted together.
	countedBy string
	// compact means that rows have keys of their scopes: see scope_key.go.
	compact bool
	// byParent reports whether the rows of a parent are found by an index that begins with
	// the parent and not with its key, because of the order or of the filter. nil means
	// that there is none.
	byParent func(order string, f F) bool
	// relations are those in which rows stand besides the tree.
	relations map[platform.Relation]relation
	// narrow returns the condition of a branch beside its relation. nil means that there is none.
	narrow func(platform.Branch) narrowing
	// selfEnclosed means that each row lies within itself, as groups do.
	selfEnclosed bool
	// uniqueNames means that siblings have different names, by a unique index.
	uniqueNames bool
	// textKeys means that the primary key is a text, not a UID.
	textKeys bool
	// sharesUID means that a row has the UID of its parent.
	sharesUID bool
	// rootless reports whether a row belongs to no organisation. nil means that every
	// row belongs to one.
	rootless func(platform.UID) bool
	// uncounted means that no counters are kept, so totals count rows.
	uncounted bool
	// quietParent means that a parent has few writers at once, so its counter is one row.
	quietParent bool
	// where adds the conditions of a filter, each " AND ...".
	where func(f F, s *statement)

	// aliases are names that aliasTable keeps, as (alias, uid), for filters. They follow from
	// the field aliasesOf.
	aliases    func(T) []string
	aliasTable string
	aliasesOf  string

	// mostCounter is the counter of all rows but a few, beside that of the kind. 0 means that there is none.
	mostCounter byte
	// otherCounters are counters of rows of other tables, which the kind keeps: SQL that selects the UID in which
	// each of the rows is, by the number of the counter.
	otherCounters map[byte]string

	// A row has a class, which classColumn stores and whose counters count it beside the
	// kind's own. filterCounters returns those whose sum is the total of a filter. nil
	// means that the kind has no classes.
	classColumn    string
	class          func(T) int64
	classCounters  func(class int64) []byte
	filterCounters func(f F) counterSum

	// searchText is SQL over a row of t: the text in which words are looked for.
	// searchFor returns the query of a filter. If the text is a column, searchOf makes
	// it from the searchFields of a row. "" and nil mean that rows are not searched.
	searchText   string
	searchFor    func(F) string
	searchPhrase bool // whether searchFor returns one folded text, and not words in any order
	searchOf     func(T) string
	searchFields []string

	// findsFew reports whether an index finds the rows of a filter, which are few, whatever the order. nil means that
	// there is no such filter.
	findsFew func(F) bool

	// sortedBy is an order that no index of a parent has: its rows are sorted. Else PostgreSQL walks the primary key, through
	// the rows of all parents.
	sortedBy string

	// walks reports whether no index of a scope has all rows of a filter, so that a range of the primary key is read. nil
	// means that there is no such filter.
	walks func(F) bool
	// split returns filters whose rows are together those of a filter, and which indexes serve better. nil means that
	// the filter is not split, or none is.
	split func(F) []F

	// plan returns a reader that knows how to find the rows of a list best. nil means that the reader of the table
	// does.
	plan func(ctx context.Context, r *reader[T, F], q platform.Query[F]) (*reader[T, F], error)

	// changed is called with each row that was written or deleted. Of a row whose class changes, it is called with the row
	// before too. nil means that nothing follows from a change. If changedBy names fields, only an update of one of
	// these calls it.
	changed   func(tx platform.Tx, row T)
	changedBy []string

	// derive sets what follows from a row's other fields, before it is written.
	derive func(T)

	pointerFunctions[T, F]
}

// A join is SQL that ends with a comparison, and the column of t that is compared.
type join struct{ sql, column string }

// pointerFunctions has the functions that newTable makes, because it knows the types
// that T and F point to.
type pointerFunctions[T, F any] struct {
	newRow    func() T
	assign    func(to, from T) // copies the row that from points to into the row that to points to
	newBuffer func() rowBuffer[T]
	fill      func(f F) F // replaces a filter that is nil by one that restricts nothing
	restricts func(f F) bool
}

// key returns the value that the primary key is compared with.
func (t *table[T, F]) key(u platform.UID) any {
	if t.textKeys {
		return string(u)
	}
	return u
}

// keys returns the list that the primary key is compared with.
func (t *table[T, F]) keys(uids []platform.UID) any {
	if !t.textKeys {
		return uidKeyList(uids)
	}
	texts := make(keyList, len(uids))
	for i, u := range uids {
		texts[i] = string(u)
	}
	return texts
}

// A column is a column that is read with its kind.
type column[T any] struct {
	sql   string      // SQL that selects the column, such as t.name
	field string      // field whose update changes the column; "" means that no update does
	to    func(T) any // returns the scan destination in a row
}

// ownName returns the name of the column, and whether it belongs to the table itself.
func (c column[T]) ownName() (string, bool) { return strings.CutPrefix(c.sql, "t.") }

// jsonColumn reads and writes a value as JSON text. An empty value is an empty text.
type jsonColumn struct{ to any }

func (c jsonColumn) Scan(src any) error {
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
func (jsonColumn) HoldsJSON() {}

// ScanBytes reads JSON text.
func (c jsonColumn) ScanBytes(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, c.to)
}

func (c jsonColumn) text() string {
	b, _ := json.Marshal(c.to) // cannot fail for plain data
	switch s := string(b); s {
	case "null", "[]", "{}":
		return ""
	default:
		return s
	}
}

// uidReference is the UID of a row that need not exist.
type uidReference struct{ to platform.UID }

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
		return packUID(platform.UID(*to))
	case uidColumn:
		return packUID(*to.uid)
	case uidReference:
		return orNull(to.to)
	case jsonColumn:
		return to.text()
	default:
		panic(fmt.Sprintf("no column is kept in a %T", to))
	}
}

// jsonOf returns the scan destination of a value that is stored as JSON text.
func jsonOf(to any) sql.Scanner { return jsonColumn{to} }

// jsonText returns the stored form of a value.
func jsonText(value any) string { return jsonColumn{value}.text() }
