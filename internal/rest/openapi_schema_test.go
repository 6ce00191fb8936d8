package rest

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/iam"

	"github.com/getkin/kin-openapi/openapi3"

	"atrium/platform/fieldmask"
)

// A use says where a schema is used. The same type has different schemas in requests and
// in responses.
type use int

const (
	inAnswer use = iota // In a response, fields that are always present are required.
	inCreate            // In the body of a create, fields that the core requires are required.
	inUpdate            // In the body of an update, no field is required, and null clears a field.
	inInput             // This is any other body, or an object in a body.
)

// suffixes distinguish the schemas of one type.
var suffixes = map[use]string{inAnswer: "", inCreate: "Create", inUpdate: "Update", inInput: "Input"}

// schemas collects the schemas that a document refers to.
type schemas struct {
	prose
	kinds map[reflect.Type]*kindFacts
	found openapi3.Schemas
}

// scalars lists the types whose JSON form does not follow from their Go type.
var scalars = map[reflect.Type]func() *openapi3.Schema{
	reflect.TypeFor[core.UID](): func() *openapi3.Schema {
		return &openapi3.Schema{Type: &openapi3.Types{"string"}, Pattern: uidPattern}
	},
	reflect.TypeFor[core.Time](): func() *openapi3.Schema {
		return &openapi3.Schema{Type: &openapi3.Types{"string"}, Format: "date-time"}
	},
	reflect.TypeFor[core.Duration](): func() *openapi3.Schema {
		return &openapi3.Schema{Type: &openapi3.Types{"string"}, Pattern: `^-?[0-9]+(\.[0-9]{1,9})?s$`}
	},
	reflect.TypeFor[core.LabelCondition](): func() *openapi3.Schema {
		return &openapi3.Schema{Type: &openapi3.Types{"string"}}
	},
	reflect.TypeFor[json.RawMessage](): func() *openapi3.Schema { return &openapi3.Schema{} }, // any value
	reflect.TypeFor[core.Int64]():      longNumber,
	reflect.TypeFor[iam.Secret](): func() *openapi3.Schema {
		return &openapi3.Schema{Type: &openapi3.Types{"string"}}
	},
}

// uidPattern matches the texts that core.UID.Valid accepts.
const uidPattern = "^[0-9a-f]{40}(/[0-9a-f]{16}){0,28}$"

// longNumber returns the schema of an int64, which is a string in JSON because JavaScript
// would round it.
func longNumber() *openapi3.Schema {
	return &openapi3.Schema{Type: &openapi3.Types{"string"}, Format: "int64", Pattern: "^-?[0-9]+$"}
}

// schemaOf returns the schema of a type. A type with a name becomes a component, and the
// schema a reference to it.
func (s *schemas) schemaOf(t reflect.Type, use use) *openapi3.SchemaRef {
	if scalar := scalars[t]; scalar != nil {
		return scalar().NewRef()
	}
	if values := valuesOf(t); values != nil {
		return s.enumeration(t, values)
	}
	if t.Kind() != reflect.Pointer && hasJSONMethod(t) {
		s.fault("%s writes its own JSON: scalars must tell which", t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.schemaOf(t.Elem(), use)
	case reflect.String:
		return newSchema("string", "")
	case reflect.Bool:
		return newSchema("boolean", "")
	case reflect.Int, reflect.Int32:
		return newSchema("integer", "int32")
	case reflect.Int64: // a count, which messages have as int32
		return newSchema("integer", "int32")
	case reflect.Float64:
		return newSchema("number", "double")
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return newSchema("string", "byte")
		}
		return (&openapi3.Schema{Type: &openapi3.Types{"array"}, Items: s.schemaOf(t.Elem(), use)}).NewRef()
	case reflect.Map:
		return (&openapi3.Schema{
			Type: &openapi3.Types{"object"}, AdditionalProperties: openapi3.AdditionalProperties{Schema: s.schemaOf(t.Elem(), use)},
		}).NewRef()
	case reflect.Struct:
		return s.object(t, use)
	default:
		s.fault("%s cannot be told in JSON Schema", t)
		return newSchema("string", "")
	}
}

func newSchema(name, format string) *openapi3.SchemaRef {
	return (&openapi3.Schema{Type: &openapi3.Types{name}, Format: format}).NewRef()
}

func hasJSONMethod(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// valuesOf lists the values of an enumeration; nil means that t is not one.
func valuesOf(t reflect.Type) []string {
	switch zero := reflect.Zero(t).Interface().(type) {
	case core.Capability:
		return wireNames(core.Capabilities())
	case interface{ Values() []string }:
		return zero.Values()
	default:
		return nil
	}
}

// fieldValues lists the values of a text field; nil means any text.
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

// object returns a reference to the schema of a struct type.
func (s *schemas) object(t reflect.Type, use use) *openapi3.SchemaRef {
	if t.Name() == "" { // This is struct{}.
		return newSchema("object", "")
	}
	base := s.nameOf(t)
	name := componentName(base) + suffixes[use]
	if s.found[name] == nil {
		schema := &openapi3.Schema{Type: &openapi3.Types{"object"}, Description: s.text(base), Properties: openapi3.Schemas{}}
		s.found[name] = schema.NewRef() // The schema is stored before its fields are added, because a type can contain itself.
		s.fields(schema, t, base, use)
		if use != inAnswer {
			schema.AdditionalProperties = openapi3.AdditionalProperties{Has: openapi3.Ptr(false)}
		}
	}
	return componentRef(name)
}

// nameOf returns the name of a type: the name of its kind, if it has one.
func (s *schemas) nameOf(t reflect.Type) string {
	if kind := s.kinds[t]; kind != nil {
		return kind.name
	}
	name, argument, isGeneric := strings.Cut(t.Name(), "[")
	if isGeneric { // Facet[atrium/platform/core.UID] is a UIDFacet
		name = strings.Trim(argument[strings.LastIndexAny(argument, "./")+1:], "]") + name
	}
	return upperFirst(name)
}

// componentName returns the name of a schema in the document. Generators make types named like GetAuditLogResponse of the operations.
func componentName(base string) string {
	if operation, isAnswer := strings.CutSuffix(base, "Response"); isAnswer {
		return operation + "Result"
	}
	return base
}

// fields adds the fields of a type to its schema.
func (s *schemas) fields(schema *openapi3.Schema, t reflect.Type, base string, use use) {
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || field.Tag.Get("wire") == "-" || !field.IsExported() || field.Anonymous && name == "" {
			continue
		}
		if name == "" {
			s.fault("%s.%s has no name in JSON", t, field.Name)
			continue
		}
		role := s.role(t, name, s.textOf(base, name))
		if field.Tag.Get("wire") == "output" {
			role = outputOnly
		}
		if use == inAnswer && role == inputOnly {
			continue
		}
		property := s.property(field.Type, options, use, role)
		for _, value := range fieldValues(t, name) {
			property.Enum = append(property.Enum, value)
		}
		always := !strings.Contains(options, "omit")
		mandatory := always && use == inAnswer ||
			use == inCreate && slices.Contains(s.requiredFields(t), name) ||
			use == inInput && s.kinds[t] == nil && always && role != outputOnly && field.Type.Kind() != reflect.Bool
		if mandatory {
			schema.Required = append(schema.Required, name)
		}
		if use == inUpdate && !property.ReadOnly && !slices.Contains(s.requiredFields(t), name) {
			property = nullable(property)
		}
		property.Description = s.textOf(base, name)
		schema.Properties[name] = property.NewRef()
	}
}

func (s *schemas) requiredFields(t reflect.Type) []string {
	if kind := s.kinds[t]; kind != nil {
		return kind.required
	}
	return nil
}

// property returns the schema of a field, in a form that can have a description.
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
	} else if ref := s.schemaOf(t, inner); ref.Ref != "" {
		schema = &openapi3.Schema{AllOf: openapi3.SchemaRefs{ref}}
	} else {
		schema = ref.Value
	}
	schema.ReadOnly, schema.WriteOnly = readOnly, role == inputOnly
	return schema
}

// nullable returns a schema that also allows null.
func nullable(schema *openapi3.Schema) *openapi3.Schema {
	if schema.AllOf != nil {
		return &openapi3.Schema{OneOf: append(schema.AllOf, newSchema("null", "")), WriteOnly: schema.WriteOnly}
	}
	schema.Type = openapi3.Ptr(append(*schema.Type, "null"))
	return schema
}

// A role says who sets a field and who sees it.
type role int

const (
	settable     role = iota
	settableOnce      // The field can be set at creation and cannot be changed later.
	outputOnly        // The field must be absent, or equal to the value that was read.
	inputOnly         // The field is never shown.
)

// role returns the role of a field. It comes from the kind, or else from the beginning of
// the text.
func (s *schemas) role(t reflect.Type, field, text string) role {
	if strings.HasPrefix(text, "Input only.") {
		return inputOnly
	}
	if kind := s.kinds[t]; kind != nil && kind.fields != nil { // A type that is never sent has no fields here.
		i := slices.IndexFunc(kind.fields, func(f fieldmask.Field) bool { return f.Name == field })
		if i < 0 {
			s.fault("%s: the kind does not know the field %s", t, field)
			return outputOnly
		}
		return map[fieldmask.Mode]role{fieldmask.OutputOnly: outputOnly, fieldmask.Volatile: outputOnly, fieldmask.AtCreation: settableOnce, fieldmask.Updatable: settable}[kind.fields[i].Mode]
	}
	if strings.HasPrefix(text, "Output only.") {
		return outputOnly
	}
	return settable
}

// fault records something that the document cannot describe.
func (s *schemas) fault(format string, args ...any) {
	s.faults[fmt.Sprintf(format, args...)] = true
}
