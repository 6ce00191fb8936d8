package rest

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"atrium/platform"

	"github.com/getkin/kin-openapi/openapi3"
)

// A use is what a schema is of: one type has another schema where it is read
// than where it is written.
type use int

const (
	inAnswer use = iota // what the service writes: fields that are always there are required
	inCreate            // the body of a create: fields without which none is made are required
	inUpdate            // the body of an update: no field is required, null clears
	inInput             // any other body, or an object in one
)

// suffixes tell the schemas of one type apart.
var suffixes = map[use]string{inAnswer: "", inCreate: "Create", inUpdate: "Update", inInput: "Input"}

// schemas collects the schemas that a document refers to.
type schemas struct {
	prose
	kinds map[reflect.Type]*kindFacts
	found openapi3.Schemas
}

// scalars are the types whose JSON form is not that of their kind in Go.
var scalars = map[reflect.Type]func() *openapi3.Schema{
	reflect.TypeFor[platform.UID](): func() *openapi3.Schema {
		return &openapi3.Schema{Type: &openapi3.Types{"string"}, Pattern: uidPattern}
	},
	reflect.TypeFor[platform.Time](): func() *openapi3.Schema {
		return &openapi3.Schema{Type: &openapi3.Types{"string"}, Format: "date-time"}
	},
	reflect.TypeFor[platform.Duration](): func() *openapi3.Schema {
		return &openapi3.Schema{Type: &openapi3.Types{"string"}, Pattern: `^-?[0-9]+(\.[0-9]{1,9})?s$`}
	},
	reflect.TypeFor[platform.Int64](): longNumber,
	reflect.TypeFor[platform.Secret](): func() *openapi3.Schema {
		return &openapi3.Schema{Type: &openapi3.Types{"string"}}
	},
}

// uidPattern is what platform.UID.Valid accepts.
const uidPattern = "^[0-9a-f]{40}(/[0-9a-f]{16}){0,28}$"

// longNumber is an int64, which is a string in JSON since JavaScript would
// round it.
func longNumber() *openapi3.Schema {
	return &openapi3.Schema{Type: &openapi3.Types{"string"}, Format: "int64", Pattern: "^-?[0-9]+$"}
}

// of gives the schema of a type: in place, or as a reference to a component
// for what has a name.
func (s *schemas) of(t reflect.Type, use use) *openapi3.SchemaRef {
	if scalar := scalars[t]; scalar != nil {
		return scalar().NewRef()
	}
	if values := valuesOf(t); values != nil {
		return s.enumeration(t, values)
	}
	if t.Kind() != reflect.Pointer && writesItself(t) {
		s.fault("%s writes its own JSON: scalars must tell which", t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem(), use)
	case reflect.String:
		return typed("string", "")
	case reflect.Bool:
		return typed("boolean", "")
	case reflect.Int, reflect.Int32:
		return typed("integer", "int32")
	case reflect.Float64:
		return typed("number", "double")
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return typed("string", "byte")
		}
		return (&openapi3.Schema{Type: &openapi3.Types{"array"}, Items: s.of(t.Elem(), use)}).NewRef()
	case reflect.Map:
		return (&openapi3.Schema{
			Type: &openapi3.Types{"object"}, AdditionalProperties: openapi3.AdditionalProperties{Schema: s.of(t.Elem(), use)},
		}).NewRef()
	case reflect.Struct:
		return s.object(t, use)
	default:
		s.fault("%s cannot be told in JSON Schema", t)
		return typed("string", "")
	}
}

func typed(name, format string) *openapi3.SchemaRef {
	return (&openapi3.Schema{Type: &openapi3.Types{name}, Format: format}).NewRef()
}

func writesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// valuesOf lists what an enumeration can be; nil: t is none.
func valuesOf(t reflect.Type) []string {
	switch zero := reflect.Zero(t).Interface().(type) {
	case platform.Capability:
		return wireNames(platform.Capabilities())
	case interface{ Values() []string }:
		return zero.Values()
	default:
		return nil
	}
}

// fieldValues lists what a field of plain text can be; nil: anything.
func fieldValues(t reflect.Type, field string) []string {
	if enumerated, ok := reflect.Zero(t).Interface().(interface{ FieldValues(string) []string }); ok {
		return enumerated.FieldValues(field)
	}
	return nil
}

func (s *schemas) enumeration(t reflect.Type, values []string) *openapi3.SchemaRef {
	schema := &openapi3.Schema{Type: &openapi3.Types{"string"}, Description: s.text(t.Name())}
	for _, v := range values {
		schema.Enum = append(schema.Enum, v)
	}
	s.found[t.Name()] = schema.NewRef()
	return componentRef(t.Name())
}

// object gives a reference to the schema of a struct type.
func (s *schemas) object(t reflect.Type, use use) *openapi3.SchemaRef {
	if t.Name() == "" { // struct{}
		return typed("object", "")
	}
	base := s.nameOf(t)
	name := base + suffixes[use]
	if s.found[name] == nil {
		schema := &openapi3.Schema{Type: &openapi3.Types{"object"}, Description: s.text(base), Properties: openapi3.Schemas{}}
		s.found[name] = schema.NewRef() // first, for types that hold their own
		s.fields(schema, t, base, use)
		if use != inAnswer {
			schema.AdditionalProperties = openapi3.AdditionalProperties{Has: openapi3.Ptr(false)}
		}
	}
	return componentRef(name)
}

// nameOf a type is that of its kind, where it has one.
func (s *schemas) nameOf(t reflect.Type) string {
	if kind := s.kinds[t]; kind != nil {
		return kind.name
	}
	return upperFirst(t.Name())
}

// fields adds the fields of a type to its schema.
func (s *schemas) fields(schema *openapi3.Schema, t reflect.Type, base string, use use) {
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() || field.Anonymous && name == "" {
			continue
		}
		if name == "" {
			s.fault("%s.%s has no name in JSON", t, field.Name)
			continue
		}
		role := s.role(t, name, s.textOf(base, name))
		if use == inAnswer && role == inputOnly {
			continue
		}
		property := s.property(field.Type, options, use, role)
		for _, value := range fieldValues(t, name) {
			property.Enum = append(property.Enum, value)
		}
		always := !strings.Contains(options, "omit")
		mandatory := always && use == inAnswer ||
			use == inCreate && slices.Contains(s.required(t), name) ||
			use == inInput && s.kinds[t] == nil && always && role != outputOnly && field.Type.Kind() != reflect.Bool
		if mandatory {
			schema.Required = append(schema.Required, name)
		}
		if use == inUpdate && !property.ReadOnly && !slices.Contains(s.required(t), name) {
			property = nullable(property)
		}
		property.Description = s.textOf(base, name)
		schema.Properties[name] = property.NewRef()
	}
}

func (s *schemas) required(t reflect.Type) []string {
	if kind := s.kinds[t]; kind != nil {
		return kind.required
	}
	return nil
}

// property is the schema of a field, which has room for a description.
func (s *schemas) property(t reflect.Type, options string, in use, role role) *openapi3.Schema {
	readOnly := in != inAnswer && (role == outputOnly || role == settableOnce && in == inUpdate)
	inner := in
	switch {
	case readOnly:
		inner = inAnswer
	case in != inAnswer:
		inner = inInput
	}
	var schema *openapi3.Schema
	if strings.Contains(options, "string") && t.Kind() == reflect.Int64 {
		schema = longNumber()
	} else if ref := s.of(t, inner); ref.Ref != "" {
		schema = &openapi3.Schema{AllOf: openapi3.SchemaRefs{ref}}
	} else {
		schema = ref.Value
	}
	schema.ReadOnly, schema.WriteOnly = readOnly, role == inputOnly
	return schema
}

// nullable is schema with null beside it.
func nullable(schema *openapi3.Schema) *openapi3.Schema {
	if schema.AllOf != nil {
		return &openapi3.Schema{OneOf: append(schema.AllOf, typed("null", "")), WriteOnly: schema.WriteOnly}
	}
	schema.Type = openapi3.Ptr(append(*schema.Type, "null"))
	return schema
}

// A role is who sets a field, and who sees it.
type role int

const (
	settable     role = iota
	settableOnce      // given at creation, and then for good
	outputOnly        // sent back as it was read, or not at all
	inputOnly         // never shown
)

// role of a field: the kind says so, or the text does where there is no kind
// and where the kind cannot say it.
func (s *schemas) role(t reflect.Type, field, text string) role {
	if strings.HasPrefix(text, "Input only.") {
		return inputOnly
	}
	if kind := s.kinds[t]; kind != nil && kind.fields != nil { // one that nobody writes has none
		i := slices.IndexFunc(kind.fields, func(f platform.Field) bool { return f.Name == field })
		if i < 0 {
			s.fault("%s: the kind does not know the field %s", t, field)
			return outputOnly
		}
		return map[platform.FieldMode]role{platform.OutputOnly: outputOnly, platform.Volatile: outputOnly, platform.AtCreation: settableOnce, platform.Updatable: settable}[kind.fields[i].Mode]
	}
	if strings.HasPrefix(text, "Output only.") {
		return outputOnly
	}
	return settable
}

// fault notes what the document cannot tell.
func (s *schemas) fault(format string, args ...any) {
	s.faults[fmt.Sprintf(format, args...)] = true
}
