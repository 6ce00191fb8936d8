package platform

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Field is one field of a kind as its clients spell it.
type Field struct {
	Name string // the JSON name
	Mode FieldMode
}

// FieldMode says who may set a field, and when.
type FieldMode uint8

// The modes. What a client sends for an OutputOnly field is ignored.
const (
	OutputOnly FieldMode = iota
	AtCreation
	Updatable
)

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
// camelCase or snake_case. mask is a field mask (AIP-134): nil changes what
// the body holds, "*" alone replaces every updatable field.
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

// forCreate decodes all that was given.
func (in Input[T]) forCreate(fields []Field, v *violations) T {
	resource, _ := in.decode(fields, nil, v)
	return resource
}

// forUpdate decodes what is to be changed and names those fields.
func (in Input[T]) forUpdate(fields []Field, v *violations) (T, []string) {
	listed := in.listed(fields, v)
	resource, given := in.decode(fields, listed, v)
	if listed != nil {
		return resource, listed
	}
	return resource, slices.DeleteFunc(given, func(name string) bool {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		return i < 0 || fields[i].Mode != Updatable
	})
}

// listed resolves the mask to field names; nil where there is no mask.
func (in Input[T]) listed(fields []Field, v *violations) []string {
	if len(in.mask) == 0 {
		return nil
	}
	names := []string{}
	for _, path := range in.mask {
		switch f := findField(fields, path); {
		case path == "*" && len(in.mask) == 1:
			for _, f := range fields {
				if f.Mode == Updatable {
					names = append(names, f.Name)
				}
			}
		case path == "*":
			v.add("updateMask", "* must stand alone")
		case f == nil:
			v.add("updateMask", "%q is not a field", shown(path))
		case f.Mode != Updatable:
			v.add("updateMask", "%q cannot be changed", f.Name)
		case !slices.Contains(names, f.Name):
			names = append(names, f.Name)
		}
	}
	return names
}

// decode reads the body field by field, so that one request reports every
// field that is not of its type. With a mask other than * what it does not
// list is ignored, known or not.
func (in Input[T]) decode(fields []Field, listed []string, v *violations) (T, []string) {
	*v = append(*v, in.malformed...)
	var resource T
	body, err := in.members()
	if err != nil {
		v.add("body", "%s", err)
		return resource, nil
	}
	narrow := listed != nil && !slices.Equal(in.mask, []string{"*"})
	var given []string
	for _, m := range body {
		f := findField(fields, m.name)
		switch {
		case narrow && (f == nil || !slices.Contains(listed, f.Name)):
		case f == nil:
			v.add(shown(m.name), "is not a field of this resource")
		case f.Mode == OutputOnly:
		case slices.Contains(given, f.Name):
			v.add(f.Name, "is given twice")
		default:
			given = append(given, f.Name)
			decodeField(&resource, f.Name, m.value, v)
		}
	}
	return resource, given
}

// members is what was given, as JSON: of a typed resource the named fields,
// null for those that are empty.
func (in Input[T]) members() ([]rawMember, error) {
	if in.body != nil {
		return readObject(in.body)
	}
	all, err := json.Marshal(in.resource)
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(all, &values); err != nil {
		return nil, err
	}
	named := make([]rawMember, len(in.given))
	for i, name := range in.given {
		named[i] = rawMember{name, json.RawMessage("null")}
		if value, ok := values[name]; ok {
			named[i].value = value
		}
	}
	return named, nil
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
		v.add(name, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
}

// A member is one of an object inside a resource, and where it is decoded to.
type member struct {
	name string
	to   any
}

// memberErrors is everything that is wrong with the members of an object.
type memberErrors []Violation

func (e memberErrors) Error() string { return e[0].Field + " " + e[0].Description }

// unmarshalMembers decodes an object inside a resource as resources themselves
// are: names in camelCase or snake_case, no unknown ones, all faults at once.
func unmarshalMembers(b []byte, members ...member) error {
	if string(b) == "null" {
		return nil
	}
	if err := json.Unmarshal(b, &map[string]json.RawMessage{}); err != nil {
		return err // it tells that b is no object as it tells of any wrong type
	}
	all, err := readObject(b)
	if err != nil {
		return err
	}
	var faults violations
	seen := make([]bool, len(members))
	for _, m := range all {
		i := slices.IndexFunc(members, func(known member) bool { return known.name == camel(m.name) })
		if i < 0 {
			faults.add(shown(m.name), "is not a field of this object")
			continue
		}
		if seen[i] {
			faults.add(members[i].name, "is given twice")
			continue
		}
		seen[i] = true
		err := json.Unmarshal(m.value, members[i].to)
		var wrongType *json.UnmarshalTypeError
		switch {
		case err == nil:
		case errors.As(err, &wrongType):
			faults.add(members[i].name, "must be %s", jsonTypeName(wrongType.Type))
		default:
			faults.add(members[i].name, "%s", err)
		}
	}
	if len(faults) > 0 {
		return memberErrors(faults)
	}
	return nil
}

func jsonTypeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	default:
		return "an object"
	}
}

// A rawMember is one member of a JSON object.
type rawMember struct {
	name  string
	value json.RawMessage
}

// readObject reads one JSON object and nothing behind it: its members sorted
// by name, each as often as it is given. An empty body is an empty object.
func readObject(b []byte) ([]rawMember, error) {
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0:
		return nil, nil
	case !utf8.Valid(b):
		return nil, errors.New("must be UTF-8")
	case b[0] != '{':
		return nil, errors.New("must be a JSON object")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(b, &whole); err != nil {
		return nil, errors.New("must be a JSON object: " + err.Error())
	}
	var members []rawMember
	decoder := json.NewDecoder(bytes.NewReader(b))
	_, err := decoder.Token() // {
	for err == nil && decoder.More() {
		var m rawMember
		var name json.Token
		if name, err = decoder.Token(); err == nil {
			m.name, _ = name.(string)
			err = decoder.Decode(&m.value)
		}
		members = append(members, m)
	}
	slices.SortStableFunc(members, func(a, b rawMember) int { return strings.Compare(a.name, b.name) })
	return members, err
}

// findField finds a field by any spelling of its name.
func findField(fields []Field, name string) *Field {
	for i := range fields {
		if camel(fields[i].Name) == camel(name) {
			return &fields[i]
		}
	}
	return nil
}

// camel turns update_time into updateTime and leaves camelCase as it is.
func camel(s string) string {
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
