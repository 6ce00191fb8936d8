package execute

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// A plan is an operation that is ready for execution: its selections are merged for
// each possible type of an object, in the order of the response.
type plan struct {
	root   *selection
	fields int          // number of the fields of all selections; each has a number, counted from 0
	size   atomic.Int64 // size of the last response in bytes
}

// A selection holds the fields that are selected of objects of one type in one
// position of a document.
type selection struct {
	object *Object
	fields []*plannedField
	reads  bool // whether one of its fields, or a field below, must be read
}

// has reports whether the selection has a field with a response name.
func (s *selection) has(alias string) bool {
	return slices.ContainsFunc(s.fields, func(f *plannedField) bool { return f.collected.Alias == alias })
}

// A plannedField is a field in one position of a document.
type plannedField struct {
	*Field
	object     *Object
	collected  graphql.CollectedField
	number     int
	key        []byte // text before the value, such as "alias":
	returns    *ast.Type
	isLeaf     bool
	arguments  string // arguments as the document writes them
	reads      bool   // whether the field or a field below it has a Resolve
	expects    bool   // whether a field below it can be read together with it
	below      *selection
	belowTypes map[string]*selection // selections by type name, if there are several possible types
}

// selectionOf returns the selection for an object that the field returns.
func (f *plannedField) selectionOf(value any) *selection {
	if f.TypeOf == nil {
		return f.below
	}
	return f.belowTypes[f.TypeOf(value)]
}

// selections returns the selections for the types of objects that the field can return.
func (f *plannedField) selections() []*selection {
	if f.below != nil {
		return []*selection{f.below}
	}
	return slices.Collect(maps.Values(f.belowTypes))
}

// A planner makes the plan of one operation.
type planner struct {
	*Schema
	operation *graphql.OperationContext
	fields    int
}

func (s *Schema) plan(operation *graphql.OperationContext) *plan {
	p := &planner{Schema: s, operation: operation}
	root := p.selection(s.rootOf(operation.Operation.Operation), operation.Operation.SelectionSet)
	return &plan{root: root, fields: p.fields}
}

func (s *Schema) rootOf(operation ast.Operation) *Object {
	switch operation {
	case ast.Mutation:
		return s.Objects[s.Mutation.Name]
	case ast.Subscription:
		return s.Objects[s.Subscription.Name]
	default:
		return s.Objects[s.Query.Name]
	}
}

func (p *planner) selection(object *Object, set ast.SelectionSet) *selection {
	s := &selection{object: object}
	for _, collected := range graphql.CollectFields(p.operation, set, object.Satisfies) {
		if collected.Name == "__typename" && s.has(collected.Alias) {
			continue // CollectFields keeps __typename of a union apart from that of its member
		}
		field := p.field(object, collected)
		s.fields = append(s.fields, field)
		s.reads = s.reads || field.reads
	}
	return s
}

func (p *planner) field(object *Object, collected graphql.CollectedField) *plannedField {
	f := &plannedField{
		Field: object.Fields[collected.Name], object: object, collected: collected, number: p.fields,
		key: append(AppendString(nil, collected.Alias), ':'), returns: collected.Definition.Type,
	}
	p.fields++
	if collected.Name == "__typename" {
		name := AppendString(nil, object.Name)
		f.Field = &Field{Append: func(b []byte, _ any) []byte { return append(b, name...) }}
	}
	f.isLeaf = f.Append != nil || f.AppendValue != nil
	for _, argument := range collected.Arguments {
		f.arguments += argument.Name + ":" + argument.Value.String() + ","
	}
	f.reads = f.Resolve != nil
	if !f.isLeaf {
		p.planBelow(f)
		f.planExpected()
	}
	return f
}

// planBelow plans the selections of the objects that a field returns.
func (p *planner) planBelow(f *plannedField) {
	definition := p.Types[f.returns.Name()]
	if f.TypeOf == nil {
		f.below = p.selection(p.Objects[definition.Name], f.collected.Selections)
		f.reads = f.reads || f.below.reads
		return
	}
	f.belowTypes = map[string]*selection{}
	for _, possible := range p.GetPossibleTypes(definition) {
		below := p.selection(p.Objects[possible.Name], f.collected.Selections)
		f.belowTypes[possible.Name] = below
		f.reads = f.reads || below.reads
	}
}
