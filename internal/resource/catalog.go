package resource

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A Kind is a list of a server, and how one of its items is read.
type Kind struct {
	Name     string   // such as role-bindings
	Singular string   // such as role-binding
	Help     string   // what the list holds, in one sentence
	Filters  []Filter // conditions of the list, by their flags
	Orders   []string // fields to sort by; none means that the order is fixed
	Columns  []Column
	Path     string // path of the list; it may have one variable

	item   string  // path of one item before its uid; "" means that there is none
	key    string  // name of the items in the answer
	schema *schema // of an item
	scope  scope
	parts  schemas
}

// scope says how a list is limited to what is below a group.
type scope int

const (
	noScope    scope = iota
	treeScope        // uidp.descendants_of and uidp.children_of
	placeScope       // within
	pathScope        // the path names the group
)

// The parameters of a scope and of a page, which are no filters.
const (
	belowParameter    = "uidp.descendants_of"
	childrenParameter = "uidp.children_of"
	rootParameter     = "uidp.in_root"
	uidsParameter     = "uidp.ids"
	withinParameter   = "within"
	sizeParameter     = "page_size"
	tokenParameter    = "page_token"
	orderParameter    = "order_by"
	groupVariable     = "{group}"
)

// HasScope reports whether the list can be limited to a group.
func (k *Kind) HasScope() bool { return k.scope != noScope }

// NeedsGroup reports whether the list is always of one group.
func (k *Kind) NeedsGroup() bool { return k.scope == pathScope }

// HasChildren reports whether the list can be limited to what is directly in a group.
func (k *Kind) HasChildren() bool { return k.scope == treeScope }

// CanGet reports whether one item can be read: by its uid, or by a filter that finds one.
func (k *Kind) CanGet() bool { return k.item != "" || k.nameFilter() != nil }

// HasUIDs reports whether one item can be read by its uid.
func (k *Kind) HasUIDs() bool { return k.item != "" }

// nameFilter returns the filter that finds items by what people call them, or nil.
func (k *Kind) nameFilter() *Filter {
	for _, name := range []string{"name", "names", "id"} {
		if i := slices.IndexFunc(k.Filters, func(f Filter) bool { return f.Parameter == name }); i >= 0 && !strings.Contains(k.Path, "{") {
			return &k.Filters[i]
		}
	}
	return nil
}

// The parts of an OpenAPI document that are read.
type (
	document struct {
		Paths      map[string]struct{ Get *operation }
		Components struct{ Schemas schemas }
	}
	operation struct {
		OperationID string
		Description string
		Parameters  []parameter
		Responses   map[string]struct {
			Content map[string]struct{ Schema *schema }
		}
	}
	parameter struct {
		Name, In, Description string
		Required              bool
		Schema                *schema
	}
	schema struct {
		Ref        string `json:"$ref"`
		Type       typeName
		Format     string
		Pattern    string
		Enum       []string
		Items      *schema
		AllOf      []*schema
		Properties map[string]*schema
	}
	schemas map[string]*schema
)

// A typeName is the type of a value; of one that may also be null, it is the other type.
type typeName string

// UnmarshalJSON reads one type or several.
func (t *typeName) UnmarshalJSON(text []byte) error {
	var all []string
	if json.Unmarshal(text, &all) == nil && len(all) > 0 {
		*t = typeName(all[0])
		return nil
	}
	return json.Unmarshal(text, (*string)(t))
}

// resolve follows references. It is nil for an unknown one.
func (s schemas) resolve(of *schema) *schema {
	for of != nil {
		switch {
		case of.Ref != "":
			of = s[of.name()]
		case len(of.AllOf) == 1:
			of = of.AllOf[0]
		default:
			return of
		}
	}
	return nil
}

func (s *schema) name() string { return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:] }

// find returns the schema of a field of an object, such as severity.rating, or nil.
func (s schemas) find(of *schema, field string) *schema {
	for name := range strings.SplitSeq(field, ".") {
		if of = s.resolve(of); of == nil {
			return nil
		}
		of = of.Properties[name]
	}
	return s.resolve(of)
}

// Read returns the kinds that an OpenAPI document lists, by name: every path with a page of items, in its current version.
func Read(openAPI []byte) ([]*Kind, error) {
	var d document
	if err := json.Unmarshal(openAPI, &d); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	var kinds []*Kind
	for path, methods := range d.Paths {
		if methods.Get == nil || strings.Contains(path, "/v2beta1/") || strings.Contains(path, ":") {
			continue
		}
		if kind := d.list(path, methods.Get); kind != nil {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b *Kind) int { return strings.Compare(a.Name, b.Name) })
	for path, methods := range d.Paths {
		if base, ok := strings.CutSuffix(path, "/{uid}"); ok && methods.Get != nil && !strings.Contains(path, "/v2beta1/") {
			d.addItem(kinds, base, methods.Get)
		}
	}
	return kinds, nil
}

// list returns the kind that a path lists, or nil if its answer is no page of items.
func (d *document) list(path string, o *operation) *Kind {
	answer := d.Components.Schemas.resolve(o.answer())
	if answer == nil || answer.Properties["nextPageToken"] == nil {
		return nil
	}
	kind := &Kind{Path: path, parts: d.Components.Schemas, Help: firstSentence(o.Description)}
	for name, property := range answer.Properties {
		if property.Items != nil {
			kind.key, kind.schema = name, property.Items
		}
	}
	kind.Name = kebab(strings.TrimPrefix(strings.TrimPrefix(o.OperationID, "List"), "Get"))
	kind.Singular = singular(kind.Name)
	kind.addParameters(o.Parameters)
	kind.Columns = columnsOf(kind)
	return kind
}

func (o *operation) answer() *schema { return o.Responses["200"].Content["application/json"].Schema }

// addItem adds the path of one item to its kind.
func (d *document) addItem(kinds []*Kind, base string, o *operation) {
	answer := o.answer()
	if answer == nil {
		return
	}
	name := kebab(strings.TrimPrefix(o.OperationID, "Get"))
	for _, kind := range kinds {
		if kind.Singular == name && kind.schema.Ref == answer.Ref {
			kind.item = base + "/"
		}
	}
}

var orderField = regexp.MustCompile(`[a-z_]+`)

// addParameters makes flags of the parameters.
func (k *Kind) addParameters(all []parameter) {
	for _, p := range all {
		switch {
		case p.In == "path":
			if k.scope = pathScope; strings.Contains(k.Path, groupVariable) {
				continue
			}
			k.scope = noScope
			fixed, _, _ := strings.Cut(k.Path, "/{")
			k.Filters = append(k.Filters, Filter{Flag: singular(kebab(fixed[strings.LastIndexByte(fixed, '/')+1:])), Help: p.Description, Required: true})
		case p.Name == belowParameter:
			k.scope = treeScope
		case p.Name == withinParameter && k.scope == noScope:
			k.scope = placeScope
		case p.Name == orderParameter:
			k.Orders = ordersOf(p.Schema.Pattern)
		case p.Name == sizeParameter, p.Name == tokenParameter, p.Name == "skip", strings.HasPrefix(p.Name, "uidp.") && p.Name != uidsParameter:
		default:
			f := k.filter(p)
			if slices.ContainsFunc(all, func(other parameter) bool { return other.Name != p.Name && kebab(other.Name) == f.Flag }) {
				f.Flag = kebab(p.Name) // One parameter takes one value, and another takes several.
			}
			k.Filters = append(k.Filters, f)
		}
	}
	slices.SortFunc(k.Filters, func(a, b Filter) int { return strings.Compare(a.Flag, b.Flag) })
}

// ordersOf returns the fields that the pattern of an order allows, each in one spelling.
func ordersOf(pattern string) (orders []string) {
	_, alternatives, _ := strings.Cut(pattern, "((")
	alternatives, _, _ = strings.Cut(alternatives, ")")
	all := strings.Split(alternatives, "|")
	for _, name := range all {
		hasSnake := name != kebab(name) && slices.Contains(all, strings.ReplaceAll(kebab(name), "-", "_"))
		if orderField.FindString(name) == name || !hasSnake {
			orders = append(orders, name)
		}
	}
	return slices.DeleteFunc(orders, func(name string) bool { return name == "" || name == "created_at" || name == "updated_at" })
}

// firstSentence returns the beginning of a description, up to its first full stop.
func firstSentence(text string) string {
	if sentence, _, found := strings.Cut(text, ". "); found {
		return sentence + "."
	}
	return text
}

// kebab turns roleBindings, RoleBindings and role_bindings into role-bindings.
func kebab(name string) string {
	var made strings.Builder
	for i, r := range name {
		switch {
		case r == '_' || r == '.':
			made.WriteByte('-')
		case unicode.IsUpper(r):
			if i > 0 {
				made.WriteByte('-')
			}
			made.WriteRune(unicode.ToLower(r))
		default:
			made.WriteRune(r)
		}
	}
	return made.String()
}

// singular returns a name for one of several.
func singular(name string) string {
	for _, ending := range [][2]string{{"ies", "y"}, {"aliases", "alias"}, {"statuses", "status"}, {"is", "is"}, {"ss", "ss"}, {"s", ""}} {
		if start, ok := strings.CutSuffix(name, ending[0]); ok {
			return start + ending[1]
		}
	}
	return name
}
