package platform

import (
	"cmp"
	"reflect"
	"strings"
	"time"
)

// Sizes of a page (specification, Limits).
const (
	DefaultPageSize = 50
	MaxPageSize     = 200
)

// A UIDFilter restricts a list by where resources lie in the tree. Several
// fields given: all must hold.
type UIDFilter struct {
	AncestorsOf   UID   `json:",omitempty"` // strictly above
	DescendantsOf UID   `json:",omitempty"` // strictly below
	ChildrenOf    UID   `json:",omitempty"` // the parent is
	InRoot        bool  `json:",omitempty"` // without a parent
	IDs           []UID `json:",omitempty"` // one of these
}

// scope is the UID that f names; "" where it names none.
func (f UIDFilter) scope() UID {
	uid := cmp.Or(f.ChildrenOf, f.DescendantsOf, f.AncestorsOf)
	if uid == "" && len(f.IDs) > 0 {
		uid = f.IDs[0]
	}
	return uid
}

// narrow reports whether f asks for less than a subtree.
func (f UIDFilter) narrow() bool {
	return f.IDs != nil || f.AncestorsOf != "" || f.ChildrenOf != "" || f.InRoot
}

// asksForNone reports whether a filter asks for one of no values: a list that
// is given and empty. A list of what is left out (tagged `excludes`) asks for
// none to be left out.
func asksForNone(filter any) bool {
	given := reflect.ValueOf(filter)
	for i := range given.NumField() {
		list := given.Field(i)
		if _, excludes := given.Type().Field(i).Tag.Lookup("excludes"); list.Kind() == reflect.Slice && !excludes && !list.IsNil() && list.Len() == 0 {
			return true
		}
	}
	return false
}

// Parts says what a list is asked for; the zero value asks for all of it.
type Parts uint8

// The parts of a page.
const (
	PartItems Parts = 1 << iota
	PartTotal
)

// Has reports whether part is asked for.
func (p Parts) Has(part Parts) bool { return p == 0 || p&part != 0 }

// LongTexts are fields whose values may be longer than all others of a row
// together. A read that names some leaves them empty, so that nobody holds
// what nobody shows; the zero value reads all of them.
type LongTexts uint8

// The long texts.
const (
	AdvisoryEvents LongTexts = 1 << iota
	VulnerabilityDetails
	EventBodies
	EventChanges

	AllLongTexts = AdvisoryEvents | VulnerabilityDetails | EventBodies | EventChanges
)

// Has reports whether all of texts are among t.
func (t LongTexts) Has(texts LongTexts) bool { return t&texts == texts }

// A ListRequest asks for one page of resources with filter F.
type ListRequest[F any] struct {
	UIDP      UIDFilter
	Filter    F
	PageSize  int       // 0: DefaultPageSize; above MaxPageSize: MaxPageSize
	PageToken string    // where the page before ended, or starts for Backward
	OrderBy   string    // one field, then asc or desc; "" is the kind's default
	Skip      int       // rows to pass over, counted from the token
	Backward  bool      // the page that ends before the token (or the last one)
	Parts     Parts     // what to read
	Without   LongTexts // what need not be read

	// Malformed is what the adapter could not decode; it is reported together
	// with what validation finds.
	Malformed []Violation
}

// A Page is one page of a list, in the order asked for.
type Page[T any] struct {
	Items      []*T
	TotalCount int64 // over all pages: what this caller may see
	Skipped    int   // echoes Skip

	HasNext, HasPrevious bool

	asked   any // the Query that it answers, for what else is told of the list
	next    *T  // the item that NextPageToken continues after; nil where nothing follows
	cursors *cursors[T]
}

// NextPageToken continues after the last item, "" where nothing follows in the
// direction of the request. It is sealed here, for who asks for it.
func (p Page[T]) NextPageToken() string {
	if p.next == nil {
		return ""
	}
	return p.cursors.seal(p.next)
}

// Cursor is the page token that continues right after item i.
func (p Page[T]) Cursor(i int) string { return p.cursors.seal(p.Items[i]) }

// cursors seal places in one list.
type cursors[T any] struct {
	kind   *Kind[T]
	order  int // index into the kind's Orders
	desc   bool
	issued time.Time
	sealer *sealer
	list   func() []byte // the name of the list
}

func (c *cursors[T]) seal(row *T) string {
	position := Position{c.kind.Orders[c.order].Value(row), c.kind.UID(row)}
	return c.sealer.seal(token{issued: c.issued, order: c.order, desc: c.desc, Position: position}, c.list())
}

// An Order is a field that a kind sorts by. UID breaks ties, in the same
// direction.
type Order struct {
	Field string // as in OrderField.Name
	Desc  bool
}

// An OrderField is one that rows of a kind can be sorted by: a time, or a text
// of at most 255 bytes, since page tokens hold the value.
type OrderField[T any] struct {
	Name      string       // snake_case
	Spellings []string     // what else order_by accepts
	Value     func(*T) any // string or Time
}

// A Position is the place of a row in an order: where a page ended.
type Position struct {
	Value any // the order field's value: string or Time
	UID   UID
}

func (k *Kind[T]) order(field string) *OrderField[T] {
	for i := range k.Orders {
		o := &k.Orders[i]
		if o.Name == field {
			return o
		}
		for _, s := range o.Spellings {
			if s == field {
				return o
			}
		}
	}
	return nil
}

func (k *Kind[T]) parseOrder(s string, v *violations) Order {
	if s == "" {
		return k.DefaultOrder
	}
	words := strings.Split(s, " ")
	desc := len(words) == 2 && words[1] == "desc"
	if len(words) == 1 || desc || len(words) == 2 && words[1] == "asc" {
		if f := k.order(words[0]); f != nil {
			return Order{f.Name, desc}
		}
	}
	names := make([]string, len(k.Orders))
	for i, o := range k.Orders {
		names[i] = o.spelledLike(s)
	}
	v.add("order_by", "must be one of %s, optionally followed by asc or desc", strings.Join(names, ", "))
	return Order{}
}

// spelledLike is the spelling of an order field for a caller who wrote asked:
// createTime beside a word in camelCase, created_at beside one that ends so.
func (o OrderField[T]) spelledLike(asked string) string {
	field, _, _ := strings.Cut(asked, " ")
	camel := strings.ToLower(field) != field
	for _, s := range append([]string{o.Name}, o.Spellings...) {
		if camel && !strings.Contains(s, "_") || strings.HasSuffix(field, "_at") && strings.HasSuffix(s, "_at") {
			return s
		}
	}
	return o.Name
}
