package platform

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// A part is a member of a nested object of a resource, at any depth, as a mask
// names it (AIP-161): claimMatch.subject, or claimMatch.claims.email. Backticks
// quote the key of a map that contains dots.
type part struct {
	field string // a field of the kind
	steps []step // the path below the field; an empty path means the field itself
	value json.RawMessage
}

// A step leads from an object to a member, or from a map to the value of a key.
type step struct {
	name string
	key  bool
}

// String returns the path of a part.
func (p part) String() string {
	names := []string{p.field}
	for _, s := range p.steps {
		names = append(names, s.name)
	}
	return strings.Join(names, ".")
}

// liesIn reports whether p is q or is inside q.
func (p part) liesIn(q part) bool {
	return p.field == q.field && len(p.steps) >= len(q.steps) && slices.Equal(p.steps[:len(q.steps)], q.steps)
}

// mode returns the mode of the part, or else of its field.
func (p part) mode(fields []Field) FieldMode {
	var mode FieldMode
	for _, f := range fields {
		if f.Name == p.field {
			mode = f.Mode
		}
	}
	for _, f := range fields {
		if place := p.String(); mode == Updatable && (place == f.Name || strings.HasPrefix(place, f.Name+".") && f.Name != p.field) {
			mode = f.Mode
		}
	}
	return mode
}

// resolvePath finds the part that a path of a mask names in a resource of type t.
func resolvePath(t reflect.Type, fields []Field, path string) (part, bool) {
	names, ok := splitPath(path)
	if !ok {
		return part{}, false
	}
	f := findField(fields, names[0])
	if f == nil {
		return part{}, false
	}
	found := part{field: f.Name}
	_, t, _ = memberOf(t, f.Name)
	for _, name := range names[1:] {
		next, below, ok := resolveStep(t, name)
		if !ok {
			return part{}, false
		}
		found.steps, t = append(found.steps, next), below
	}
	return found, true
}

// resolveStep finds the step from a value of type t that a name leads to, and the type below
// it.
func resolveStep(t reflect.Type, name string) (found step, below reflect.Type, ok bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Map:
		return step{name, true}, t.Elem(), isKey(t.Key(), name)
	case t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		spelled, below, ok := memberOf(t, name)
		return step{spelled, false}, below, ok
	default:
		return step{}, nil, false
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
		if names, ok := splitPath(path); ok {
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
func readParts(raw json.RawMessage, t reflect.Type, prefix string, depth int, parts []*part, v *violations) {
	if isNull(raw) || len(parts[0].steps) == depth { // no other part lies in a complete one
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
	below := map[string][]*part{} // by the name of the next step
	for _, p := range parts {
		name := p.steps[depth].name
		below[name] = append(below[name], p)
	}
	seen := map[string]bool{}
	for _, m := range members {
		next, t, known := resolveStep(t, m.name)
		switch name := next.name; {
		case !known:
			v.add(prefix+"."+truncateForMessage(m.name), "is not a field of this object")
		case below[name] == nil:
		case seen[name]:
			v.add(prefix+"."+truncateForMessage(m.name), "is given twice")
		default:
			seen[name] = true
			readParts(m.value, t, prefix+"."+name, depth+1, below[name], v)
		}
	}
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(bytes.TrimSpace(raw)) == "null" }

// merge combines the stored objects of current with the parts of a change, and
// writes the result into row.
func (c *change[T]) merge(current, row T, v *violations) {
	for i, p := range c.parts {
		if slices.ContainsFunc(c.parts[:i], func(q part) bool { return q.field == p.field }) {
			continue // merged together with the first part of this field
		}
		var object map[string]any
		stored, err := fieldJSON(current, p.field)
		if err == nil {
			decoder := json.NewDecoder(bytes.NewReader(stored))
			decoder.UseNumber()
			err = decoder.Decode(&object)
		}
		if err != nil {
			v.add(p.field, "cannot be changed in parts")
			continue
		}
		for _, q := range c.parts {
			if q.field == p.field && (object != nil || !isNull(q.value)) {
				if object == nil {
					object = map[string]any{}
				}
				setPart(object, q.steps, q.value)
			}
		}
		merged, _ := json.Marshal(object) // cannot fail: its members are JSON
		decodeField(row, p.field, merged, v)
	}
}

// setPart sets a part of an object. A null value clears a member, or removes the
// key of a map.
func setPart(object map[string]any, steps []step, value json.RawMessage) {
	name := steps[0].name
	switch below, ok := object[name].(map[string]any); {
	case len(steps) == 1 && isNull(value) && steps[0].key:
		delete(object, name)
	case len(steps) == 1 && isNull(value):
		object[name] = nil
	case len(steps) == 1:
		object[name] = value
	case ok:
		setPart(below, steps[1:], value)
	case !isNull(value):
		part := map[string]any{}
		object[name] = part
		setPart(part, steps[1:], value)
	}
}
