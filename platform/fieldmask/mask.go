package fieldmask

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
)

// A Field is one field of a kind under its client name. A member of a nested
// object has a path as name (oidc.correlationRule). It is listed only if its mode
// differs from that of the object.
type Field struct {
	Name string // the JSON name
	Mode Mode
}

// Mode defines who may set a field, and when.
type Mode uint8

// The modes. No field of a body is silently ignored: the value of an OutputOnly
// field must equal that of the resource, as in a resource that was read and sent
// back. The exception is a Volatile field, which the service itself can change
// between that read and the write: it is ignored in a body with the uid of the
// resource.
const (
	OutputOnly Mode = iota
	Volatile
	AtCreation
	Updatable
)

func (m Mode) settable() bool { return m == AtCreation || m == Updatable }

// An Input is the content of a create or update request: values, and the fields
// that they were given for.
type Input[T any] struct {
	body      []byte
	resource  T
	given     []string
	mask      []string
	malformed []Violation
	defaults  []rawMember // values of fields that the body leaves out
}

// JSONInput makes an input from a JSON object with the fields of a kind in
// camelCase or snake_case. mask is a field mask (AIP-134, AIP-161): nil changes the
// fields that the body has, and "*" alone replaces every updatable field. White space
// around a path is ignored.
func JSONInput[T any](body []byte, mask []string) Input[T] {
	mask = slices.Clone(mask)
	for i, path := range mask {
		mask[i] = strings.TrimSpace(path)
	}
	return Input[T]{body: body, mask: mask}
}

// Malformed adds violations that the adapter found while decoding. They are
// reported together with those of validation.
func (in Input[T]) Malformed(found ...Violation) Input[T] {
	in.malformed = append(slices.Clone(in.malformed), found...)
	return in
}

// WithDefault sets the value of a field that the body leaves out.
func (in Input[T]) WithDefault(name string, value any) Input[T] {
	encoded, _ := json.Marshal(value) // cannot fail for plain data
	in.defaults = append(slices.Clone(in.defaults), rawMember{name, encoded})
	return in
}

// TypedInput makes an input from the named fields of a resource.
func TypedInput[T any](resource T, fields ...string) Input[T] {
	return Input[T]{resource: resource, given: fields}
}

// A Change describes what an update writes.
type Change[T any] struct {
	Row    T
	Fields []string // the fields of the kind that are written
	Parts  []Part   // written parts of nested objects, whose other members stay
	Fixed  []Part   // what the mask lists although no update changes it; see Conflicts

	Claimed T        // values of output-only fields in the body
	Claims  []string // names of these fields
}

// Clone copies a change, for one attempt of a transaction.
func (c *Change[T]) Clone() *Change[T] {
	return &Change[T]{Row: Copy(c.Row), Fields: slices.Clone(c.Fields), Parts: c.Parts}
}

// Writes reports whether a field is written, as a whole or in parts.
func (c *Change[T]) Writes(field string) bool { return slices.Contains(c.Fields, field) }

// Differs reports whether a field is written that a resource has another value of.
func (c *Change[T]) Differs(current T, field string) bool {
	return c.Writes(field) && !SameField(c.Row, current, field)
}

// WritesPart reports whether only parts of a field are written.
func (c *Change[T]) WritesPart(field string) bool {
	return slices.ContainsFunc(c.Parts, func(p Part) bool { return p.Field == field })
}

// DecodeCreate decodes the input of a creation. It rejects output-only fields with
// a value, unless wasRead reports, by their values, that the body is a whole resource that was
// read elsewhere.
func (in Input[T]) DecodeCreate(fields []Field, wasRead func(claimed T) bool) (T, []Violation) {
	var v violations
	c := in.decode(fields, maskedFields{}, &v)
	if !wasRead(c.Claimed) {
		for _, name := range c.Claims {
			if !SameField(c.Claimed, NewValue[T](), name) {
				v.add(name, "is set by the service; leave it out")
			}
		}
	}
	return c.Row, v
}

// DecodeUpdate decodes the input of an update. The caller must also refuse what Conflicts finds.
func (in Input[T]) DecodeUpdate(fields []Field) (*Change[T], []Violation) {
	var v violations
	listed := in.resolveMask(fields, &v)
	c := in.decode(fields, listed, &v)
	c.Fields = slices.DeleteFunc(c.Fields, func(name string) bool {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		return i < 0 || fields[i].Mode != Updatable
	})
	if len(in.mask) > 0 {
		c.Fields = listed.names()
	}
	return c, v
}

// maskedFields holds the fields of a mask: fields that are written as a whole, and
// parts of other fields.
type maskedFields struct {
	partial bool // whether fields that are not listed are ignored
	whole   []string
	parts   []Part
	fixed   []Part // no update changes these
}

func (m maskedFields) names() []string {
	names := m.whole
	for _, p := range m.parts {
		if !slices.Contains(names, p.Field) {
			names = append(names, p.Field)
		}
	}
	return names
}

// MaxPaths limits the paths of a mask. Each path is compared with the others, and
// no kind has nearly as many fields, including the members of its objects.
const MaxPaths = 100

// resolveMask converts the paths of the mask into fields and parts. If it refuses a
// path, there are no parts, so that decode does not read them.
func (in Input[T]) resolveMask(fields []Field, v *violations) maskedFields {
	m := maskedFields{partial: len(in.mask) > 0 && !slices.Equal(in.mask, []string{"*"}), whole: []string{}}
	if len(in.mask) > MaxPaths {
		v.add("updateMask", "must have at most %d paths", MaxPaths)
		return m
	}
	before := len(*v)
	for _, path := range in.mask {
		place, known := resolvePath(reflect.TypeFor[T]().Elem(), fields, path)
		switch {
		case path == "*" && !m.partial:
			for _, f := range fields {
				if f.Mode == Updatable {
					m.whole = append(m.whole, f.Name)
				}
			}
		case path == "*":
			v.add("updateMask", "* must stand alone")
		case !known:
			v.add("updateMask", "%q is not a field", TruncateForMessage(path))
		case slices.ContainsFunc(m.parts, place.liesIn):
		default:
			m.parts = append(slices.DeleteFunc(m.parts, func(p Part) bool { return p.liesIn(place) }), place)
		}
	}
	m.parts = slices.DeleteFunc(m.parts, func(p Part) bool {
		isFixed, isWhole := p.mode(fields) != Updatable, len(p.Steps) == 0
		switch {
		case isFixed:
			m.fixed = append(m.fixed, p)
		case isWhole:
			m.whole = append(m.whole, p.Field)
		}
		return isFixed || isWhole
	})
	if len(*v) > before {
		m.parts = nil
	}
	return m
}

// decode reads the body field by field, so that all fields with a wrong type are
// reported together. With a mask other than *, fields that are not listed are
// ignored, even unknown ones. Inside a listed field, unknown members are refused.
func (in Input[T]) decode(fields []Field, listed maskedFields, v *violations) *Change[T] {
	*v = append(*v, in.malformed...)
	c := &Change[T]{Row: NewValue[T](), Claimed: NewValue[T](), Parts: listed.parts, Fixed: listed.fixed}
	body, err := in.members()
	if err != nil {
		v.add("body", "%s", err)
		return c
	}
	for _, m := range append(body, in.listDefaults(fields, body)...) {
		f := FindField(fields, m.name)
		switch {
		case listed.partial && f != nil && len(c.partsOf(f.Name)) > 0:
			_, t, _ := memberOf(reflect.TypeFor[T]().Elem(), f.Name)
			readParts(m.value, t, f.Name, 0, c.partsOf(f.Name), v)
		case listed.partial && (f == nil || !slices.Contains(listed.whole, f.Name)):
		case f == nil:
			v.add(TruncateForMessage(m.name), "is not a field of this resource")
		case slices.Contains(c.Fields, f.Name) || slices.Contains(c.Claims, f.Name):
			v.add(f.Name, "is given twice")
		case !f.Mode.settable():
			c.Claims = append(c.Claims, f.Name)
			decodeField(c.Claimed, f.Name, m.value, v)
		default:
			c.Fields = append(c.Fields, f.Name)
			decodeField(c.Row, f.Name, m.value, v)
		}
	}
	if len(c.Parts) > 0 { // this reports violations early; the parts are merged with the stored object later
		*v = append(*v, c.Merge(NewValue[T](), NewValue[T]())...)
	}
	return c
}

// partsOf returns the parts of a field, written or not.
func (c *Change[T]) partsOf(field string) (parts []*Part) {
	for _, list := range [][]Part{c.Parts, c.Fixed} {
		for i := range list {
			if list[i].Field == field {
				parts = append(parts, &list[i])
			}
		}
	}
	return parts
}

// Conflicts returns a violation for each path of the mask to what no update changes, unless the
// body has the value that it has in current. If current is nil, none has.
func (c *Change[T]) Conflicts(current T) []Violation {
	var v violations
	for _, p := range c.Fixed {
		before := len(v)
		if same := !reflect.ValueOf(current).IsNil() && hasPart(current, p, &v); !same && len(v) == before {
			v.add("updateMask", "%q cannot be changed; leave it out, or send the value that was read", TruncateForMessage(p.String()))
		}
	}
	return v
}

// listDefaults returns the defaults of the fields that the body leaves out.
func (in Input[T]) listDefaults(fields []Field, body []rawMember) []rawMember {
	return slices.DeleteFunc(slices.Clone(in.defaults), func(d rawMember) bool {
		f := FindField(fields, d.name)
		return slices.ContainsFunc(body, func(m rawMember) bool { return FindField(fields, m.name) == f })
	})
}

// members returns the given fields as JSON. For a typed resource, these are the
// named fields, with null for empty ones.
func (in Input[T]) members() ([]rawMember, error) {
	if in.body != nil {
		return readObject(in.body)
	}
	named := make([]rawMember, len(in.given))
	for i, name := range in.given {
		value, err := fieldJSON(in.resource, name)
		if err != nil {
			return nil, err
		}
		named[i] = rawMember{name, value}
	}
	return named, nil
}

// fieldJSON returns one field of a resource as JSON. It returns null if the field
// is empty and left out.
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

// SameField reports whether two resources have the same value in a field.
func SameField[T any](a, b T, name string) bool {
	left, err := fieldJSON(a, name)
	right, failed := fieldJSON(b, name)
	return err == nil && failed == nil && string(left) == string(right)
}

// decodeField decodes the value of one field into a resource. It adds a violation if the
// value does not fit.
func decodeField(resource any, name string, value json.RawMessage, v *violations) {
	if _, t, _ := memberOf(reflect.TypeOf(resource).Elem(), name); t != nil && !checkMap(v, name, t, value) {
		return
	}
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

// NewValue returns a pointer of the type T to a zero value.
func NewValue[T any]() T {
	value, _ := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
	return value
}

// Copy copies what a pointer points to.
func Copy[T any](value T) T {
	copied := NewValue[T]()
	reflect.ValueOf(copied).Elem().Set(reflect.ValueOf(value).Elem())
	return copied
}

// FindField finds a field by any spelling of its name.
func FindField(fields []Field, name string) *Field {
	for i := range fields {
		if CamelCase(fields[i].Name) == CamelCase(name) && !strings.Contains(name, ".") {
			return &fields[i]
		}
	}
	return nil
}

// CamelCase turns update_time into updateTime and leaves camelCase as it is. It also leaves a
// text with an underscore at its end, or with two in a row, because no field has that name.
func CamelCase(s string) string {
	if !strings.Contains(s, "_") {
		return s
	}
	words := strings.Split(s, "_")
	for i, w := range words[1:] {
		if w == "" {
			return s
		}
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// TruncateForMessage shortens a text of a client for an error message.
func TruncateForMessage(s string) string {
	if len(s) > 100 {
		s = s[:100] + "..."
	}
	return strings.ToValidUTF8(s, "")
}
