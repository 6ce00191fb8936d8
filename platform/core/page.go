package core

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"atrium/platform/fieldmask"
)

// CompareTexts compares texts by bytes.
func CompareTexts[S ~string](a, b S) int { return cmp.Compare(a, b) }

// Sizes of a page.
const (
	DefaultPageSize = 50
	MaxPageSize     = 200
)

// A UIDFilter restricts a list by the position of resources in the tree. All given
// fields must match.
type UIDFilter struct {
	AncestorsOf   UID   `json:",omitempty"` // the resource is strictly above this UID
	DescendantsOf UID   `json:",omitempty"` // the resource is strictly below this UID
	ChildrenOf    UID   `json:",omitempty"` // the resource is a child of this UID
	InRoot        bool  `json:",omitempty"` // whether only resources without a parent are listed
	IDs           []UID `json:",omitempty"` // the UID is one of these
}

// Scope returns the UID that f names, or "".
func (f UIDFilter) Scope() UID {
	uid := cmp.Or(f.ChildrenOf, f.DescendantsOf, f.AncestorsOf)
	if uid == "" && len(f.IDs) > 0 {
		uid = f.IDs[0]
	}
	return uid
}

// IsNarrow reports whether f selects less than a whole subtree.
func (f UIDFilter) IsNarrow() bool {
	return f.IDs != nil || f.AncestorsOf != "" || f.ChildrenOf != "" || f.InRoot
}

// IsEmpty reports whether no row can match, so that nothing need be read.
func (q Query[F]) IsEmpty() bool { return len(q.Scope.Branches) == 0 || MatchesNothing(q.Filter) }

// MatchesNothing reports whether a filter has an empty list that is not nil, which
// no value can match. What has values to exclude is tagged `excludes`; an empty
// list there excludes nothing.
func MatchesNothing(filter any) bool {
	return matchesNothingIn(reflect.ValueOf(filter).Elem())
}

func matchesNothingIn(given reflect.Value) bool {
	for i := range given.NumField() {
		list := given.Field(i)
		if _, excludes := given.Type().Field(i).Tag.Lookup("excludes"); excludes {
			continue
		}
		if given.Type().Field(i).Anonymous && matchesNothingIn(list) {
			return true
		}
		if list.Kind() == reflect.Pointer && list.Elem().Kind() == reflect.Struct && matchesNothingIn(list.Elem()) {
			return true
		}
		if list.Kind() == reflect.Slice && !list.IsNil() && list.Len() == 0 {
			return true
		}
	}
	return false
}

// Parts selects the parts of a page to read. The zero value selects all.
type Parts uint8

// The parts of a page.
const (
	PartItems Parts = 1 << iota
	PartTotal
	PartMore // with PartItems, whether more items follow: HasNext, HasPrevious if Backward, and NextPageToken
)

// Has reports whether part is selected.
func (p Parts) Has(part Parts) bool { return p == 0 || p&part != 0 }

// CostlyFields is a set of fields that cost much to read, such as long texts, JSON and the
// fields of other resources. A read that is given the set leaves these fields empty. The
// zero value is the empty set: every field is read.
type CostlyFields uint16

// The costly fields.
const (
	AdvisoryEvents CostlyFields = 1 << iota
	VulnerabilityDetails
	EventBodies
	EventChanges
	RepoLists          // bundles, aliases, active tags, synchronization and labels of repos
	IdentityRules      // rules and static keys of identities
	BindingObjects     // identity, group and role of role bindings
	BindingTexts       // descriptions of the identity, the group and the role of role bindings
	BindingRules       // email, issuer and subject of the identity of role bindings
	VersionArtifact    // name and description of the artifacts of versions
	TagDetails         // bundles, class, creation time and open findings of tags
	DocumentAdvisories // advisories of documents
	AdvisoryAffected   // affected versions of advisories
	SourceMarks        // what is known of what was read of sources
)

// HasAny reports whether one of fields is in f.
func (f CostlyFields) HasAny(fields CostlyFields) bool { return f&fields != 0 }

// A ListRequest asks for one page of resources with filter F.
type ListRequest[F any] struct {
	UIDP      UIDFilter
	Filter    F
	PageSize  int          // 0 means DefaultPageSize; a size above MaxPageSize means MaxPageSize
	Empty     bool         // whether the page has no items, whatever PageSize is; its total and whether items follow are read
	PageToken string       // the end of the previous page, or the start of the next page if Backward
	OrderBy   string       // fields that commas separate, each optionally followed by asc or desc; "" means the default of the kind
	Natural   bool         // whether a field without a direction has its natural one, and not asc
	Skip      int          // number of rows to skip after the token
	Backward  bool         // whether the page is the one that ends before the token, or the last one without a token
	Parts     Parts        // parts to read
	Without   CostlyFields // fields to leave empty

	// NamedMustExist asks for NOT_FOUND in place of an empty list if a resource that the filter or UIDP.IDs
	// name does not exist, or is one of which the caller may see nothing.
	NamedMustExist bool

	// Malformed holds violations that the adapter found while decoding. They are
	// reported together with those of validation.
	Malformed []fieldmask.Violation
}

// PageLimit returns the number of items that a request allows, and checks it.
func PageLimit(size int, isEmpty bool, v *Violations) int {
	switch {
	case size < 0:
		v.Add("page_size", "must not be negative")
		return 0
	case isEmpty:
		return 0
	case size == 0:
		return DefaultPageSize
	default:
		return min(size, MaxPageSize)
	}
}

// A Page is one page of a list, in the requested order.
type Page[T any] struct {
	Items      []T
	TotalCount int64 // number of rows on all pages that the caller may see
	Skipped    int   // the Skip of the request

	HasNext, HasPrevious bool

	asked   any // the Query of the page, for further reads about the list
	edge    []T // the item after which NextPageToken continues; empty if there is no next page
	cursors *cursors[T]
}

// NextPageToken returns the token of the next page in the direction of the
// request, or "" if there is none. The token is sealed only when this is called.
func (p Page[T]) NextPageToken() string {
	if len(p.edge) == 0 {
		return ""
	}
	return p.cursors.seal(p.edge[0])
}

// Cursor returns the page token that continues right after item i.
func (p Page[T]) Cursor(i int) string { return p.cursors.seal(p.Items[i]) }

// cursors seals page tokens of one list.
type cursors[T any] struct {
	kind   *Kind[T]
	order  Order
	issued time.Time
	sealer *sealer
	uidp   UIDFilter // part of what the tokens are for; the other part is the filter
	filter any

	name sync.Once
	list []byte // the associated data of the tokens
}

func (c *cursors[T]) seal(row T) string {
	t := c.kind.tokenOf(c.order)
	t.issued, t.Position = c.issued, c.kind.position(c.order, row)
	return c.sealer.seal(t, c.listName())
}

func (c *cursors[T]) listName() []byte {
	c.name.Do(func() { c.list = listName(c.kind.Name, c.uidp, c.filter) })
	return c.list
}

// MaxOrderFields limits the fields of one order.
const MaxOrderFields = 3

// An Order is what a list is sorted by: a field, and those that sort rows with equal values of it. UID breaks
// ties, in the direction of the last field.
type Order struct {
	Field string // name of the field, as in OrderField.Name
	Desc  bool
	Then  [MaxOrderFields - 1]OrderKey // further fields; those that there are not are empty
}

// An OrderKey is one field of an order.
type OrderKey struct {
	Field string
	Desc  bool
}

// Keys returns the fields of an order.
func (o Order) Keys() []OrderKey {
	keys := []OrderKey{{o.Field, o.Desc}}
	for _, key := range o.Then {
		if key.Field != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// newOrder returns the order of fields. What comes after the UID sorts nothing, and a UID at the end says no more than the tie-break.
func newOrder(keys []OrderKey) (o Order) {
	if at := slices.IndexFunc(keys, func(k OrderKey) bool { return k.Field == "uid" }); at >= 0 {
		keys = keys[:at+1]
	}
	if last := len(keys) - 1; last > 0 && keys[last] == (OrderKey{"uid", keys[last-1].Desc}) {
		keys = keys[:last]
	}
	o.Field, o.Desc = keys[0].Field, keys[0].Desc
	copy(o.Then[:], keys[1:])
	return o
}

// An OrderField is a field by which rows of a kind can be sorted: a time, or a
// text of at most 255 bytes, because page tokens contain the value.
type OrderField[T any] struct {
	Name string // name in snake_case
	// Spellings are other names that order_by accepts. Every kind accepts name and created_at: rows without a
	// name or a time are sorted by what identifies them.
	Spellings []string
	Value     func(T) any // returns a string or a Time
}

// The spellings of times that order_by accepts.
var (
	CreateTimeSpellings = []string{"created_at", "createTime"}
	UpdateTimeSpellings = []string{"updated_at", "updateTime"}
)

// A Position is the position of a row in an order.
type Position struct {
	Value any // the order field's value: string or Time
	UID   UID
	Then  [MaxOrderFields - 1]any // the values of further fields
}

// Order returns the order field with a name, in any spelling, or nil.
func (k *Kind[T]) Order(field string) *OrderField[T] {
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

// position returns the position of a row in an order.
func (k *Kind[T]) position(o Order, row T) Position {
	at := Position{Value: k.Order(o.Field).Value(row), UID: k.UID(row)}
	for i, key := range o.Then {
		if key.Field != "" {
			at.Then[i] = k.Order(key.Field).Value(row)
		}
	}
	return at
}

// isDescByNature reports whether a list that is sorted by a field has the largest values first: the worst, the newest. Names, UIDs and times
// to come ascend. The field of the default order has the direction of that.
func (k *Kind[T]) isDescByNature(field string) bool {
	if field == k.DefaultOrder.Field {
		return k.DefaultOrder.Desc
	}
	switch field {
	case "severity", "open_severity", "epss", "first_seen_time", "create_time", "update_time", "delete_time", "last_seen_time", "last_attempt_time", "date":
		return true
	default:
		return false
	}
}

// ParseOrder parses an order_by such as "name desc", or "severity desc, name". "" means the default order. A field without a direction ascends.
func (k *Kind[T]) ParseOrder(s string, v *Violations) Order { return k.parseOrder(s, false, v) }

// parseOrder is ParseOrder for either meaning of a field without a direction.
func (k *Kind[T]) parseOrder(s string, isNatural bool, v *Violations) Order {
	if s == "" {
		return k.DefaultOrder
	}
	var keys []OrderKey
	for part := range strings.SplitSeq(s, ",") {
		if len(keys) > 0 {
			part = strings.TrimPrefix(part, " ")
		}
		key, isOrder := k.parseOrderKey(part, isNatural)
		if !isOrder {
			names := make([]string, len(k.Orders))
			for i, o := range k.Orders {
				names[i] = o.matchSpelling(part)
			}
			v.Add("order_by", "must be one of %s, optionally followed by asc or desc", strings.Join(names, ", "))
			return Order{}
		}
		if slices.ContainsFunc(keys, func(before OrderKey) bool { return before.Field == key.Field }) {
			v.Add("order_by", "must name each field once")
			return Order{}
		}
		keys = append(keys, key)
	}
	if len(keys) > MaxOrderFields {
		v.Add("order_by", "must have at most %d fields", MaxOrderFields)
		return Order{}
	}
	return newOrder(keys)
}

// parseOrderKey parses one field of an order_by.
func (k *Kind[T]) parseOrderKey(s string, isNatural bool) (key OrderKey, isOrder bool) {
	field, direction, hasDirection := strings.Cut(s, " ")
	f := k.Order(field)
	if f == nil || hasDirection && direction != "asc" && direction != "desc" {
		return OrderKey{}, false
	}
	return OrderKey{f.Name, direction == "desc" || !hasDirection && isNatural && k.isDescByNature(f.Name)}, true
}

// matchSpelling returns the name of an order field in the style of what the caller
// wrote: createTime for a word in camelCase, created_at for one that ends in _at.
func (o OrderField[T]) matchSpelling(asked string) string {
	field, _, _ := strings.Cut(asked, " ")
	camel := strings.ToLower(field) != field
	for _, s := range append([]string{o.Name}, o.Spellings...) {
		if camel && !strings.Contains(s, "_") || strings.HasSuffix(field, "_at") && strings.HasSuffix(s, "_at") {
			return s
		}
	}
	return o.Name
}
