package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// maskedFields holds the fields of a resource that a mask lists, whole or in part. It is nil
// if all fields are listed.
type maskedFields map[string]bool

// fieldsOfMask returns the fields that a mask lists.
func fieldsOfMask(paths []string) maskedFields {
	if len(paths) == 0 || len(paths) == 1 && strings.TrimSpace(paths[0]) == "*" {
		return nil
	}
	return fieldmask.ListFields(paths)
}

// contain reports whether a path in a resource leads to or into a listed field. What lies
// outside of these fields is ignored, but an unknown member inside them could be a
// misspelled one, and the update would clear the value that it was meant to set.
func (m maskedFields) contain(path string) bool {
	if m == nil {
		return true
	}
	if end := strings.IndexAny(path, ".["); end >= 0 {
		path = path[:end]
	}
	return m[fieldmask.CamelCase(path)]
}

// maskField returns the field with the mask of an update, or nil if there is none.
func maskField(descriptor protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	if f := descriptor.Fields().ByName("update_mask"); f != nil && f.Message() != nil && f.Message().FullName() == "google.protobuf.FieldMask" {
		return f
	}
	return nil
}

func maskOf(m protoreflect.Message) []string {
	f := maskField(m.Descriptor())
	if f == nil {
		return nil
	}
	mask, _ := m.Get(f).Message().Interface().(*fieldmaskpb.FieldMask)
	return mask.GetPaths()
}

// readJSON reads a message from valid JSON and returns all violations. It reads the mask
// itself, because the JSON form of protocol buffers allows neither * nor keys of maps.
func readJSON(b []byte, message proto.Message) []fieldmask.Violation {
	descriptor := message.ProtoReflect().Descriptor()
	var found []fieldmask.Violation
	var paths []string
	if f := maskField(descriptor); f != nil {
		b, paths, found = cutMask(b, f)
	}
	if len(found) == 0 && protojson.Unmarshal(b, message) == nil {
		setMask(message, paths)
		return nil
	}
	j := jsonViolations{listed: fieldsOfMask(paths), found: found}
	j.message(descriptor, b, "", "body")
	if len(j.found) > 0 {
		return j.found
	}
	if !j.ignored || (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, message) != nil {
		return []fieldmask.Violation{{Field: "body", Description: "must be the request of this procedure in the JSON form of protocol buffers"}}
	}
	setMask(message, paths)
	return nil
}

func setMask(message proto.Message, paths []string) {
	if len(paths) > 0 {
		m := message.ProtoReflect()
		m.Set(maskField(m.Descriptor()), protoreflect.ValueOfMessage((&fieldmaskpb.FieldMask{Paths: paths}).ProtoReflect()))
	}
}

// cutMask removes the mask from a JSON object and returns its paths.
func cutMask(b []byte, f protoreflect.FieldDescriptor) (rest []byte, paths []string, found []fieldmask.Violation) {
	var rebuilt bytes.Buffer
	for _, m := range membersOf(b) {
		if m.name == f.JSONName() || m.name == f.TextName() {
			var mask *string
			switch {
			case json.Unmarshal(m.value, &mask) != nil:
				found = []fieldmask.Violation{{Field: f.JSONName(), Description: "must be a string of comma-separated paths"}}
			case mask != nil:
				paths = append(paths, fieldmask.SplitMask(*mask)...)
			}
			continue
		}
		name, _ := json.Marshal(m.name) // a string
		if rebuilt.Len() > 0 {
			rebuilt.WriteByte(',')
		}
		_, _ = fmt.Fprintf(&rebuilt, "%s:%s", name, m.value)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		return b, nil, nil
	}
	return slices.Concat([]byte("{"), rebuilt.Bytes(), []byte("}")), paths, found
}

// A jsonMember is one member of a JSON object.
type jsonMember struct {
	name  string
	value json.RawMessage
}

// membersOf lists the members of an object in valid JSON, including duplicates. Other
// values have no members.
func membersOf(b []byte) (all []jsonMember) {
	decoder := json.NewDecoder(bytes.NewReader(b))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return all
		}
		m := jsonMember{}
		if m.name, _ = name.(string); decoder.Decode(&m.value) != nil {
			return all
		}
		all = append(all, m)
	}
	return all
}

// jsonViolations collects the violations of a message in JSON, up to
// core.MaxViolations.
type jsonViolations struct {
	listed  maskedFields
	ignored bool // whether there is an unknown member outside of the listed fields
	found   []fieldmask.Violation
}

func (j *jsonViolations) add(field, description string) {
	if len(j.found) < core.MaxViolations {
		j.found = append(j.found, fieldmask.Violation{Field: field, Description: description})
	}
}

// message checks an object. prefix is its path with a dot at the end. name is the field
// that a violation names if the value is not an object.
func (j *jsonViolations) message(descriptor protoreflect.MessageDescriptor, raw json.RawMessage, prefix, name string) {
	if !isObject(raw) {
		j.add(name, "must be a JSON object")
		return
	}
	var seen []protoreflect.FieldNumber
	for _, m := range membersOf(raw) {
		f := descriptor.Fields().ByJSONName(m.name)
		if f == nil {
			f = descriptor.Fields().ByTextName(m.name)
		}
		switch {
		case f == nil && name != "body" && !j.listed.contain(prefix+m.name):
			j.ignored = true
		case f == nil:
			j.add(prefix+fieldmask.TruncateForMessage(m.name), "is not a field of this message")
		case slices.Contains(seen, f.Number()):
			j.add(prefix+fieldName(f), "is given twice")
		case string(m.value) != "null":
			seen = append(seen, f.Number())
			j.field(f, m.value, prefix+fieldName(f))
		}
	}
}

// field checks the value of a field. place is the path of the field.
func (j *jsonViolations) field(f protoreflect.FieldDescriptor, raw json.RawMessage, place string) {
	nested := f.Message()
	if f.IsMap() {
		nested = f.MapValue().Message()
	}
	if nested == nil || strings.HasPrefix(string(nested.FullName()), "google.protobuf.") {
		j.leaf(f, raw, place)
		return
	}
	var items []json.RawMessage
	switch {
	case f.IsMap() && isObject(raw):
		for _, m := range membersOf(raw) {
			j.message(nested, m.value, place+"."+fieldmask.TruncateForMessage(m.name)+".", place+"."+fieldmask.TruncateForMessage(m.name))
		}
	case f.IsList() && json.Unmarshal(raw, &items) == nil:
		for i, item := range items {
			at := fmt.Sprintf("%s[%d]", place, i)
			j.message(nested, item, at+".", at)
		}
	case f.IsMap() || f.IsList():
		j.add(place, "must be "+jsonType(f))
	case isResource(f) && place == f.JSONName():
		j.message(nested, raw, "", place)
	default:
		j.message(nested, raw, place+".", place)
	}
}

// leaf checks a value that contains no message of this service.
func (j *jsonViolations) leaf(f protoreflect.FieldDescriptor, raw json.RawMessage, place string) {
	name, _ := json.Marshal(f.JSONName()) // a string
	alone := slices.Concat([]byte("{"), name, []byte(":"), raw, []byte("}"))
	if protojson.Unmarshal(alone, dynamicpb.NewMessage(f.ContainingMessage())) != nil {
		j.add(place, "must be "+jsonType(f))
	}
}

// jsonType describes the JSON type of a field for people.
func jsonType(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsMap():
		return "a JSON object of names and values"
	case f.IsList():
		return "a list, each item " + itemType(f)
	default:
		return itemType(f)
	}
}

func itemType(f protoreflect.FieldDescriptor) string {
	switch f.Kind() {
	case protoreflect.StringKind:
		return "a string"
	case protoreflect.BoolKind:
		return "true or false"
	case protoreflect.BytesKind:
		return "a string in base64"
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return "a number"
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		return fmt.Sprintf("the name or the number of a value of %s, such as %s", f.Enum().Name(), values.Get(min(1, values.Len()-1)).Name())
	case protoreflect.MessageKind:
		switch f.Message().FullName() {
		case "google.protobuf.Timestamp":
			return "an RFC 3339 timestamp such as 2026-03-27T13:55:00.785Z"
		case "google.protobuf.Duration":
			return "a number of seconds such as 3600s"
		}
		return "a JSON object"
	default:
		return "a whole number within the range of its type"
	}
}

func isObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }
