package platform

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
)

// A Field is one field of a kind as its clients spell it. A part of an object
// has its place as name (oidc.correlationRule), and is listed where its mode is
// not the mode of the object.
type Field struct {
	Name string // the JSON name
	Mode FieldMode
}

// FieldMode says who may set a field, and when.
type FieldMode uint8

// The modes. A field that a caller names is applied or refused: an OutputOnly
// field in a body must be what the resource has, as it is in a resource that
// was read and sent back. A Volatile field is one that the service itself
// changes between that read and the write, so that it is ignored in a body that
// holds the uid of the resource.
const (
	OutputOnly FieldMode = iota
	Volatile
	AtCreation
	Updatable
)

func (m FieldMode) settable() bool { return m == AtCreation || m == Updatable }

// An Input is what a caller sends to create or update a resource: values, and
// which fields they were given for.
type Input[T any] struct {
	body      []byte
	resource  T
	given     []string
	mask      []string
	malformed []Violation
}

// JSONInput is an input whose body is a JSON object with the kind's fields in
// camelCase or snake_case. mask is a field mask (AIP-134, AIP-161): nil changes
// what the body holds, "*" alone replaces every updatable field.
func JSONInput[T any](body []byte, mask []string) Input[T] {
	return Input[T]{body: body, mask: mask}
}

// Malformed adds what the adapter could not decode; it is reported together
// with what validation finds.
func (in Input[T]) Malformed(found ...Violation) Input[T] {
	in.malformed = append(slices.Clone(in.malformed), found...)
	return in
}

// TypedInput gives the named fields of resource.
func TypedInput[T any](resource T, fields ...string) Input[T] {
	return Input[T]{resource: resource, given: fields}
}

// A change is what an update writes.
type change[T any] struct {
	row    *T
	fields []string // of the kind, those that are written
	parts  []part   // what is written of objects of which the rest stays

	claimed T        // output-only fields as the body has them
	claims  []string // and their names
}

// copy gives a change to one attempt of a transaction.
func (c *change[T]) copy() *change[T] {
	row := *c.row
	return &change[T]{row: &row, fields: slices.Clone(c.fields), parts: c.parts}
}

func (c *change[T]) writes(field string) bool { return slices.Contains(c.fields, field) }

// writesPart reports whether only parts of a field are written.
func (c *change[T]) writesPart(field string) bool {
	return slices.ContainsFunc(c.parts, func(p part) bool { return p.field == field })
}

// forCreate decodes all that was given. Output-only fields with a value are
// refused, unless a resource was read elsewhere and sent whole.
func (in Input[T]) forCreate(fields []Field, v *violations) T {
	c := in.decode(fields, maskedFields{}, v)
	if whole, _ := fieldJSON(&c.claimed, "uid"); !UID(strings.Trim(string(whole), `"`)).Valid() {
		for _, name := range c.claims {
			if !sameField(&c.claimed, new(T), name) {
				v.add(name, "is set by the service; leave it out")
			}
		}
	}
	return *c.row
}

// forUpdate decodes what is to be changed.
func (in Input[T]) forUpdate(fields []Field, v *violations) *change[T] {
	listed := in.listed(fields, v)
	c := in.decode(fields, listed, v)
	c.fields = slices.DeleteFunc(c.fields, func(name string) bool {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		return i < 0 || fields[i].Mode != Updatable
	})
	if len(in.mask) > 0 {
		c.fields = listed.names()
	}
	return c
}

// maskedFields are the fields of a mask: those that are written as a whole,
// and parts of others.
type maskedFields struct {
	narrow bool // what is not listed is ignored
	whole  []string
	parts  []part
}

func (m maskedFields) names() []string {
	names := m.whole
	for _, p := range m.parts {
		if !slices.Contains(names, p.field) {
			names = append(names, p.field)
		}
	}
	return names
}

// listed resolves the mask.
func (in Input[T]) listed(fields []Field, v *violations) maskedFields {
	m := maskedFields{narrow: len(in.mask) > 0 && !slices.Equal(in.mask, []string{"*"}), whole: []string{}}
	for _, path := range in.mask {
		place, known := resolvePath(reflect.TypeFor[T](), fields, path)
		switch {
		case path == "*" && !m.narrow:
			for _, f := range fields {
				if f.Mode == Updatable {
					m.whole = append(m.whole, f.Name)
				}
			}
		case path == "*":
			v.add("updateMask", "* must stand alone")
		case !known:
			v.add("updateMask", "%q is not a field", shown(path))
		case place.mode(fields) != Updatable:
			v.add("updateMask", "%q cannot be changed", shown(place.String()))
		case slices.ContainsFunc(m.parts, place.liesIn):
		default:
			m.parts = append(slices.DeleteFunc(m.parts, func(p part) bool { return p.liesIn(place) }), place)
		}
	}
	m.parts = slices.DeleteFunc(m.parts, func(p part) bool {
		if len(p.steps) == 0 {
			m.whole = append(m.whole, p.field)
		}
		return len(p.steps) == 0
	})
	return m
}

// decode reads the body field by field, so that one request reports every
// field that is not of its type. With a mask other than * what it does not
// list is ignored, known or not.
func (in Input[T]) decode(fields []Field, listed maskedFields, v *violations) *change[T] {
	*v = append(*v, in.malformed...)
	c := &change[T]{row: new(T), parts: listed.parts}
	body, err := in.members()
	if err != nil {
		v.add("body", "%s", err)
		return c
	}
	for _, m := range body {
		f := findField(fields, m.name)
		switch {
		case listed.narrow && f != nil && c.writesPart(f.Name):
			for i, p := range c.parts {
				if p.field == f.Name {
					c.parts[i].value = pick(m.value, f.Name, p.steps, v)
				}
			}
		case listed.narrow && (f == nil || !slices.Contains(listed.whole, f.Name)):
		case f == nil:
			v.add(shown(m.name), "is not a field of this resource")
		case slices.Contains(c.fields, f.Name) || slices.Contains(c.claims, f.Name):
			v.add(f.Name, "is given twice")
		case !f.Mode.settable():
			c.claims = append(c.claims, f.Name)
			decodeField(&c.claimed, f.Name, m.value, v)
		default:
			c.fields = append(c.fields, f.Name)
			decodeField(c.row, f.Name, m.value, v)
		}
	}
	if len(c.parts) > 0 { // what is wrong with them is told now; they are merged with what is stored later
		c.merge(new(T), new(T), v)
	}
	return c
}

// members is what was given, as JSON: of a typed resource the named fields,
// null for those that are empty.
func (in Input[T]) members() ([]rawMember, error) {
	if in.body != nil {
		return readObject(in.body)
	}
	named := make([]rawMember, len(in.given))
	for i, name := range in.given {
		value, err := fieldJSON(&in.resource, name)
		if err != nil {
			return nil, err
		}
		named[i] = rawMember{name, value}
	}
	return named, nil
}

// fieldJSON is one field of a resource as JSON: null where it is empty and
// left out.
func fieldJSON(resource any, name string) (json.RawMessage, error) {
	all, err := json.Marshal(resource)
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(all, &values); err != nil {
		return nil, err
	}
	if value, ok := values[name]; ok {
		return value, nil
	}
	return json.RawMessage("null"), nil
}

// sameField reports whether two resources have the same in a field.
func sameField[T any](a, b *T, name string) bool {
	left, err := fieldJSON(a, name)
	right, failed := fieldJSON(b, name)
	return err == nil && failed == nil && string(left) == string(right)
}

func decodeField(resource any, name string, value json.RawMessage, v *violations) {
	one, _ := json.Marshal(map[string]json.RawMessage{name: value}) // value is valid JSON
	err := json.Unmarshal(one, resource)
	var wrongType *json.UnmarshalTypeError
	var members memberErrors
	switch {
	case err == nil:
	case errors.As(err, &members):
		for _, m := range members {
			v.add(name+"."+m.Field, "%s", m.Description)
		}
	case errors.As(err, &wrongType):
		v.add(name, "must be %s", jsonTypeName(wrongType.Type))
	default:
		v.add(name, "%s", err)
	}
}

// findField finds a field by any spelling of its name.
func findField(fields []Field, name string) *Field {
	for i := range fields {
		if CamelCase(fields[i].Name) == CamelCase(name) && !strings.Contains(name, ".") {
			return &fields[i]
		}
	}
	return nil
}

// CamelCase turns update_time into updateTime and leaves camelCase as it is.
func CamelCase(s string) string {
	if !strings.Contains(s, "_") {
		return s
	}
	words := strings.Split(s, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// shown cuts what a client sent to a length fit for an error message.
func shown(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "..."
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
