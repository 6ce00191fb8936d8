package fieldmask

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// A Part is a member of a nested object of a resource, at any depth, as a mask
// names it (AIP-161): claimMatch.subject, or claimMatch.claims.email. Backticks
// quote the key of a map that contains dots.
type Part struct {
	Field string // a field of the kind
	Steps []Step // the path below the field; an empty path means the field itself
	value json.RawMessage
}

// A Step leads from an object to a member, or from a map to the value of a key.
type Step struct {
	Name string
	key  bool
}

// String returns the path of a part.
func (p Part) String() string {
	names := []string{p.Field}
	for _, s := range p.Steps {
		names = append(names, s.Name)
	}
	return strings.Join(names, ".")
}

// liesIn reports whether p is q or is inside q.
func (p Part) liesIn(q Part) bool {
	return p.Field == q.Field && len(p.Steps) >= len(q.Steps) && slices.Equal(p.Steps[:len(q.Steps)], q.Steps)
}

// mode returns the mode of the part, or else of its field.
func (p Part) mode(fields []Field) Mode {
	var mode Mode
	for _, f := range fields {
		if f.Name == p.Field {
			mode = f.Mode
		}
	}
	for _, f := range fields {
		if place := p.String(); mode == Updatable && (place == f.Name || strings.HasPrefix(place, f.Name+".") && f.Name != p.Field) {
			mode = f.Mode
		}
	}
	return mode
}

// resolvePath finds the part that a path of a mask names in a resource of type t.
func resolvePath(t reflect.Type, fields []Field, path string) (Part, bool) {
	names, ok := splitPath(path)
	if !ok {
		return Part{}, false
	}
	f := FindField(fields, names[0])
	if f == nil {
		return Part{}, false
	}
	found := Part{Field: f.Name}
	_, t, _ = memberOf(t, f.Name)
	for _, name := range names[1:] {
		next, below, ok := resolveStep(t, name)
		if !ok {
			return Part{}, false
		}
		found.Steps, t = append(found.Steps, next), below
	}
	return found, true
}

// resolveStep finds the step from a value of type t that a name leads to, and the type below
// it.
func resolveStep(t reflect.Type, name string) (found Step, below reflect.Type, ok bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Map:
		return Step{name, true}, t.Elem(), isKey(t.Key(), name)
	case t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		spelled, below, ok := memberOf(t, name)
		return Step{spelled, false}, below, ok
	default:
		return Step{}, nil, false
	}
}

// memberOf finds a member of a struct by any spelling of its name in JSON.
func memberOf(t reflect.Type, name string) (spelled string, member reflect.Type, ok bool) {
	for i := range t.NumField() {
		spelled, _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if spelled != "-" && CamelCase(spelled) == CamelCase(name) {
			return spelled, t.Field(i).Type, true
		}
	}
	return "", nil, false
}

// splitPath splits a path at the dots outside of backticks.
func splitPath(path string) (names []string, ok bool) {
	for rest := path; ; {
		var name string
		if quoted, found := strings.CutPrefix(rest, "`"); found {
			name, rest, found = strings.Cut(quoted, "`")
			if !found || rest != "" && rest[0] != '.' {
				return nil, false
			}
		} else {
			name = rest
			if dot := strings.IndexByte(rest, '.'); dot >= 0 {
				name = rest[:dot]
			}
			rest = rest[len(name):]
		}
		if name == "" {
			return nil, false
		}
		names = append(names, name)
		if rest == "" {
			return names, true
		}
		rest = rest[1:]
	}
}

// SplitMask splits a mask, written as one text, at the commas outside of
// backticks.
func SplitMask(mask string) []string {
	if mask == "" {
		return nil
	}
	var paths []string
	start, quoted := 0, false
	for i := range len(mask) {
		switch {
		case mask[i] == '`':
			quoted = !quoted
		case mask[i] == ',' && !quoted:
			paths, start = append(paths, mask[start:i]), i+1
		}
	}
	return append(paths, mask[start:])
}

// ListFields returns the fields that the paths of a mask lead to or into, in camelCase. It
// ignores invalid paths.
func ListFields(mask []string) map[string]bool {
	listed := map[string]bool{}
	for _, path := range mask {
		if names, ok := splitPath(strings.TrimSpace(path)); ok {
			listed[CamelCase(names[0])] = true
		}
	}
	return listed
}

// readParts reads the values of parts from raw, the object in a body that contains
// them all. The first depth steps of the parts lead to raw, which has the type t and the
// path prefix. A part that the body lacks gets no value, so a member that the type does not
// have is refused: it may be a misspelled part. Each object is read once, because a mask
// can name many members of a large object.
func readParts(raw json.RawMessage, t reflect.Type, prefix string, depth int, parts []*Part, v *violations) {
	if IsNull(raw) || len(parts[0].Steps) == depth { // no other part lies in a complete one
		for _, p := range parts {
			p.value = raw
		}
		return
	}
	if bytes.TrimSpace(raw)[0] != '{' {
		v.add(prefix, "must be an object")
		return
	}
	members, err := readObject(raw)
	if err != nil {
		v.add(prefix, "%s", err)
		return
	}
	below := map[string][]*Part{} // by the name of the next step
	for _, p := range parts {
		name := p.Steps[depth].Name
		below[name] = append(below[name], p)
	}
	seen := map[string]bool{}
	for _, m := range members {
		next, t, known := resolveStep(t, m.name)
		switch name := next.Name; {
		case !known:
			v.add(prefix+"."+TruncateForMessage(m.name), "is not a field of this object")
		case below[name] == nil:
		case seen[name]:
			v.add(prefix+"."+TruncateForMessage(m.name), "is given twice")
		default:
			seen[name] = true
			readParts(m.value, t, prefix+"."+name, depth+1, below[name], v)
		}
	}
}

// IsNull reports whether a value in JSON is null or missing.
func IsNull(raw json.RawMessage) bool { return len(raw) == 0 || string(bytes.TrimSpace(raw)) == "null" }

// Merge combines the stored objects of current with the parts of a change, and
// writes the result into row.
func (c *Change[T]) Merge(current, row T) []Violation {
	var v violations
	for i, p := range c.Parts {
		if slices.ContainsFunc(c.Parts[:i], func(q Part) bool { return q.Field == p.Field }) {
			continue // merged together with the first part of this field
		}
		var object map[string]any
		stored, err := fieldJSON(current, p.Field)
		if err == nil {
			decoder := json.NewDecoder(bytes.NewReader(stored))
			decoder.UseNumber()
			err = decoder.Decode(&object)
		}
		if err != nil {
			v.add(p.Field, "cannot be changed in parts")
			continue
		}
		for _, q := range c.Parts {
			if q.Field == p.Field && (object != nil || !IsNull(q.value)) {
				if object == nil {
					object = map[string]any{}
				}
				setPart(object, q.Steps, q.value)
			}
		}
		merged, _ := json.Marshal(object) // cannot fail: its members are JSON
		decodeField(row, p.Field, merged, &v)
	}
	return v
}

// hasPart reports whether a part of a resource has the value that it has in a body. An object
// that a resource lacks has zero values.
func hasPart[T any](resource T, p Part, v *violations) bool {
	claimed := NewValue[T]()
	if len(p.Steps) == 0 {
		if !IsNull(p.value) {
			decodeField(claimed, p.Field, p.value, v)
		}
		return SameField(claimed, resource, p.Field)
	}
	*v = append(*v, (&Change[T]{Parts: []Part{p}}).Merge(resource, claimed)...)
	if stored, err := fieldJSON(resource, p.Field); err == nil && IsNull(stored) {
		resource = NewValue[T]()
		(&Change[T]{Parts: []Part{{Field: p.Field, Steps: p.Steps}}}).Merge(claimed, resource) // claimed without the part
	}
	return SameField(claimed, resource, p.Field)
}

// setPart sets a part of an object. A null value clears a member, or removes the
// key of a map.
func setPart(object map[string]any, steps []Step, value json.RawMessage) {
	name := steps[0].Name
	switch below, ok := object[name].(map[string]any); {
	case len(steps) == 1 && IsNull(value) && steps[0].key:
		delete(object, name)
	case len(steps) == 1 && IsNull(value):
		object[name] = nil
	case len(steps) == 1:
		object[name] = value
	case ok:
		setPart(below, steps[1:], value)
	case !IsNull(value):
		part := map[string]any{}
		object[name] = part
		setPart(part, steps[1:], value)
	}
}
