package sqlstore

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"atrium/platform"
)

// A table describes how one kind is stored. Every kind of the tree has these columns
// before its own: uid, root (the first segment), parent, and g2 and g3, the ancestors
// on the second and third level. A group counts as its own ancestor.
type table[T, F any] struct {
	name    string
	number  byte // of the kind, in counters
	columns []column[T]

	projections sync.Map                // of *projection[T, F], by the fields that they leave out
	costly      map[string]costlyColumn // by their SQL
	omissible   platform.CostlyFields   // the fields of costly

	// writeOnly columns serve filters; they are not read.
	writeOnly []column[T]
	joins     string            // what the columns of other tables need, joined to t
	joinBy    []string          // columns of t that joins compare
	lookups   map[string]lookup // orders by columns of joins
	uid       func(T) platform.UID

	// enclosed is the UID whose prefixes are g2 and g3; nil: the kind lies
	// outside the tree.
	enclosed func(platform.UID) platform.UID
	// countedBy is the column whose values rows of a kind outside the tree are
	// counted by; "": all of them together.
	countedBy string
	// selfEnclosed: rows lie within themselves (groups).
	selfEnclosed bool
	// textKeys: the primary key is a text, not a UID.
	textKeys bool
	// sharesUID: a row has the UID of its parent.
	sharesUID bool
	// rootless tells rows that belong to no organisation; nil: none do.
	rootless func(platform.UID) bool
	// uncounted: no counters are kept; totals count rows.
	uncounted bool
	// quietParent: a parent has few writers at once, so its counter is one row.
	quietParent bool
	// where adds the conditions of a filter, each " AND ...".
	where func(f F, s *statement)

	// aliases are names that aliasTable keeps, as (alias, uid), for filters.
	aliases    func(T) []string
	aliasTable string

	// classes are counters beside the kind's own. A row is counted by those of its
	// class, which classColumn keeps; filterCounters are those whose sum is the
	// total of a filter, none where rows must be counted. nil: there are none.
	classColumn    string
	class          func(T) int64
	classCounters  func(class int64) []byte
	filterCounters func(f F) []byte

	// searchText is what words are looked for in, as SQL over a row of t, and
	// searchFor the query of a filter. Where the text is a column, searchOf makes
	// it of a row, out of searchFields. "" and nil: rows are not searched.
	searchText   string
	searchFor    func(F) string
	searchOf     func(T) string
	searchFields []string

	// derive sets what follows from a row's other fields, before it is written.
	derive func(T)

	pointerFunctions[T, F]
}

// pointerFunctions has the functions that newTable makes, because it knows the types
// that T and F point to.
type pointerFunctions[T, F any] struct {
	newRow    func() T
	assign    func(to, from T) // changes the row that to points to
	newBuffer func() rowBuffer[T]
	fill      func(f F) F // replaces a filter that is nil by one that restricts nothing
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
	sql   string // as it is selected: t.name
	field string // the field that an update names; "": never updated
	to    func(T) any
}

func (c column[T]) own() (string, bool) { return strings.CutPrefix(c.sql, "t.") }

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

// ScanBytes reads JSON text.
func (c jsonColumn) ScanBytes(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if rule, ok := c.to.(**platform.ClaimMatch); ok {
		*rule = &platform.ClaimMatch{}
		return json.Unmarshal(text, (*platform.StoredClaimMatch)(*rule))
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
	case timeOrNull:
		if to.time.IsZero() {
			return nil
		}
		return to.time
	case severityColumn:
		return to.to.SortKey()
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
