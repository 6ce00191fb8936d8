package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

type generator struct{ *codegen.Data }

const (
	answers  = "values, err" // of a resolver
	executor = "(&executionContext{graphql.GetOperationContext(ctx), resolvers})"
	nodeType = "Node"
	scalars  = "atrium/graph/scalar"
)

// field returns the members of an execute.Field as Go code.
func (g generator) field(f *codegen.Field) (string, error) {
	switch {
	case f.Stream:
		return g.arguments(f) + g.stream(f), nil
	case f.IsResolver || f.GoReceiverName == "ec":
		return g.arguments(f) + g.resolve(f), nil
	case f.IsMap() || f.HasHaser || f.VOkFunc || f.MethodHasContext || f.IsMethod() && !f.NoErr:
		return "", fmt.Errorf("%s.%s: give it a resolver in gqlgen.yml; the executor calls no method like %s", f.Object.Name, f.Name, f.GoFieldName)
	case isLeaf(f.TypeReference):
		if len(f.Args) > 0 {
			return "", fmt.Errorf("%s.%s: a scalar with arguments needs a resolver in gqlgen.yml", f.Object.Name, f.Name)
		}
		value := fmt.Sprintf("parent.(%s).%s", ref(f.Object.Reference()), g.member(f))
		return fmt.Sprintf("Append: func(b []byte, parent any) []byte { return %s },\n", g.appendCode(f, f.TypeReference, value)), nil
	default:
		return g.arguments(f) + g.get(f) + g.typeOf(f), nil
	}
}

// reads reports whether a field of an object needs a resolver.
func (g generator) reads(o *codegen.Object) bool {
	return slices.ContainsFunc(o.Fields, func(f *codegen.Field) bool { return f.IsResolver || f.Stream || f.GoReceiverName == "ec" })
}

// member returns the Go field or method call that has the value of a field.
func (g generator) member(f *codegen.Field) string {
	if !f.IsMethod() {
		return f.GoFieldName
	}
	return fmt.Sprintf("%s(%s)", f.GoFieldName, strings.Join(resolverArguments(f), ", "))
}

func (g generator) arguments(f *codegen.Field) string {
	if len(f.Args) == 0 {
		return ""
	}
	return fmt.Sprintf("Arguments: %s,\n", f.ArgsFunc())
}

// argument returns the code of a decoded argument with its type.
func argument(a *codegen.FieldArgument) string {
	return fmt.Sprintf("arguments[%q].(%s)", a.Name, ref(a.TypeReference.GO))
}

func (g generator) get(f *codegen.Field) string {
	held := fmt.Sprintf("parent.(%s).%s", ref(f.Object.Reference()), g.member(f))
	if t := f.TypeReference; !f.IsMethod() && !t.IsSlice() && !t.IsPtr() && !isAbstract(t) {
		held = "&" + held
	}
	named := "_"
	if len(f.Args) > 0 {
		named = "arguments"
	}
	give := constructorOf(f.TypeReference)
	if strings.HasPrefix(held, "&") {
		give = "execute.Pointer"
	}
	check := ""
	if f.Object.Name == "__Type" && f.TypeReference.IsSlice() { // gqlgen returns an empty list for every kind
		check = fmt.Sprintf("if !hasMembers(parent.(%s), %q) { return nil }; ", ref(f.Object.Reference()), f.Name)
	}
	return fmt.Sprintf("Get: func(parent any, %s map[string]any) any { %sreturn %s(%s) },\n", named, check, give, held)
}

// constructorOf returns the name of the function that converts a Go value to the value of a
// field.
func constructorOf(t *config.TypeReference) string {
	switch {
	case isLeaf(t):
		return "execute.Value"
	case t.IsSlice():
		list := "execute.Structs"
		switch elem := t.Elem(); {
		case isAbstract(elem):
			list = "execute.Interfaces"
		case elem.IsPtr():
			list = "execute.Pointers"
		}
		if t.GQL.NonNull {
			return list
		}
		return fmt.Sprintf("func(list %s) any { return execute.Nullable(list, %s) }", ref(t.GO), list)
	case isAbstract(t):
		return "execute.Interface"
	case t.IsPtr():
		return "execute.Pointer"
	default:
		return "execute.Struct"
	}
}

func (g generator) resolve(f *codegen.Field) string {
	var arguments []string
	if f.IsResolver || f.MethodHasContext {
		arguments = append(arguments, "ctx")
	}
	if !f.Object.Root {
		arguments = append(arguments, fmt.Sprintf("execute.Parents[%s](parents)", ref(f.Object.Type)))
	}
	arguments = append(arguments, resolverArguments(f)...)
	receiver := fmt.Sprintf("resolvers.%s()", f.Object.Name)
	if f.GoReceiverName == "ec" {
		receiver = executor
	}
	gives, returned, assigned := "execute.Each", answers, ""
	if f.Object.Root {
		gives = "execute.One"
	}
	called := f.GoFieldName
	if called == "__resolve_entities" {
		called = "resolveEntities" // instead of that of gqlgen
	}
	if !f.IsResolver && f.NoErr {
		returned, assigned = "values", "var err error\n"
	}
	code := fmt.Sprintf("Resolve: func(ctx context.Context, parents []any, arguments map[string]any) ([]any, error) {\n%s := %s.%s(%s)\n%sreturn %s(values, err, %s)\n},\n",
		returned, receiver, called, strings.Join(arguments, ", "), assigned, gives, constructorOf(f.TypeReference))
	if isLeaf(f.TypeReference) {
		value := fmt.Sprintf("value.(%s)", ref(f.TypeReference.GO))
		code += fmt.Sprintf("AppendValue: func(b []byte, value any) []byte { return %s },\n", g.appendCode(f, f.TypeReference, value))
	}
	return code + g.typeOf(f)
}

func (g generator) stream(f *codegen.Field) string {
	arguments := append([]string{"ctx"}, resolverArguments(f)...)
	return fmt.Sprintf("Stream: func(ctx context.Context, arguments map[string]any) (execute.Source, error) {\n%s := resolvers.%s().%s(%s)\nreturn execute.Receive(values, err, %s)\n},\n",
		answers, f.Object.Name, f.GoFieldName, strings.Join(arguments, ", "), constructorOf(f.TypeReference)) + g.typeOf(f)
}

func (g generator) typeOf(f *codegen.Field) string {
	if t := innermost(f.TypeReference); isAbstract(t) {
		return fmt.Sprintf("TypeOf: typeOf%s,\n", t.Definition.Name)
	}
	return ""
}

// abstract lists the interfaces and unions that fields return.
func (g generator) abstract() []*codegen.Interface {
	var found []*codegen.Interface
	for _, i := range g.Interfaces {
		found = append(found, i)
	}
	slices.SortFunc(found, func(a, b *codegen.Interface) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// objects lists the objects of an interface or union. gqlgen lists an object a second time
// if both its Go type and a pointer to it satisfy the interface.
func (g generator) objects(i *codegen.Interface) []codegen.InterfaceImplementor {
	return slices.CompactFunc(slices.Clone(i.Implementors), func(a, b codegen.InterfaceImplementor) bool { return a.Name == b.Name })
}

// objectType returns the Go type of an object of an interface or union.
func (g generator) objectType(i codegen.InterfaceImplementor) string {
	if _, isPointer := i.Type.(*types.Pointer); isPointer {
		return ref(i.Type)
	}
	return "*" + ref(i.Type)
}

// appendCode returns the call that writes a scalar or a list of scalars.
func (g generator) appendCode(f *codegen.Field, t *config.TypeReference, value string) string {
	switch {
	case t.IsSlice():
		name := "AppendList"
		if !t.GQL.NonNull {
			name = "AppendNullableList"
		}
		return fmt.Sprintf("execute.%s(b, %s, func(b []byte, v %s) []byte { return %s })", name, value, ref(t.Elem().GO), g.appendCode(f, t.Elem(), "v"))
	case t.IsPtr():
		return fmt.Sprintf("execute.AppendPointer(b, %s, func(b []byte, v %s) []byte { return %s })", value, ref(t.Elem().GO), g.appendCode(f, t.Elem(), "v"))
	}
	if t.CastType != nil {
		value = fmt.Sprintf("%s(%s)", ref(t.CastType), value)
	}
	name := strings.TrimPrefix(t.Marshaler.Name(), "Marshal")
	if t.Marshaler.Pkg().Path() != scalars {
		return fmt.Sprintf("execute.Append%s(b, %s)", name, value)
	}
	if isNodeID(f) {
		return fmt.Sprintf("scalar.AppendNode%s(b, %q, %s)", name, f.Object.Name, value)
	}
	return fmt.Sprintf("scalar.Append%s(b, %s, %t)", name, value, !f.Type.NonNull)
}

// isNodeID reports whether a field is a global id. The id of an event is not a global id,
// because it is already unique.
func isNodeID(f *codegen.Field) bool {
	return f.Name == "id" && f.Object.Name != "Event" && slices.Contains(f.Object.Interfaces, nodeType)
}

func isLeaf(t *config.TypeReference) bool { return innermost(t).Definition.IsLeafType() }

func isAbstract(t *config.TypeReference) bool {
	return t.Definition.Kind == ast.Interface || t.Definition.Kind == ast.Union
}

func innermost(t *config.TypeReference) *config.TypeReference {
	for t.IsSlice() {
		t = t.Elem()
	}
	return t
}

func ref(t types.Type) string { return templates.CurrentImports.LookupType(t) }
