package resolvers

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// Introspection must show what the published schema has, and nothing that only gateways
// or gqlgen need.
func TestIntrospectionShowsThePublishedSchema(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.ask(`{ __schema { queryType { fields { name } } directives { name } types { name kind fields(includeDeprecated: true) { name args { name } } inputFields { name } enumValues(includeDeprecated: true) { name } possibleTypes { name } } } }`)
	published := gqlparser.MustLoadSchema(&ast.Source{Input: SDL()})
	shown := map[string]string{}
	for _, one := range got.value("__schema.types").([]any) {
		described := one.(map[string]any)
		shown[described["name"].(string)] = namesIn(described["fields"]) + "|" + namesIn(described["inputFields"]) + "|" + namesIn(described["enumValues"]) + "|" + namesIn(described["possibleTypes"])
	}
	for name, definition := range published.Types {
		if strings.HasPrefix(name, "__") {
			continue
		}
		var fields, inputs, values, possible []string
		for _, f := range definition.Fields {
			switch {
			case strings.HasPrefix(f.Name, "__"):
			case definition.Kind == ast.InputObject:
				inputs = append(inputs, f.Name)
			default:
				fields = append(fields, f.Name)
			}
		}
		for _, v := range definition.EnumValues {
			values = append(values, v.Name)
		}
		if definition.IsAbstractType() {
			for _, p := range published.PossibleTypes[name] {
				possible = append(possible, p.Name)
			}
		}
		want := sortLines(fields) + "|" + sortLines(inputs) + "|" + sortLines(values) + "|" + sortLines(possible)
		if shown[name] != want {
			t.Errorf("%s is shown as %s, want %s", name, shown[name], want)
		}
		delete(shown, name)
	}
	for name := range shown {
		if !strings.HasPrefix(name, "__") && !slices.Contains([]string{"Boolean", "Float", "ID", "Int", "String"}, name) {
			t.Errorf("%s is shown, and is not in the published schema", name)
		}
	}
	for _, directive := range strings.Fields(got.text("__schema.directives.*.name")) {
		if !slices.Contains([]string{"deprecated", "include", "oneOf", "skip", "specifiedBy"}, directive) {
			t.Errorf("the directive %s is shown", directive)
		}
	}
	w.ask(`{ __type(name: "RepoByUIDsInput") { name } }`).expect("__type", nil)
}

// What GraphQL itself has in the answer comes from a dependency, so it is compared with a file. A location, a
// field or a scalar more is a change of the contract: clients that do not know it may refuse the whole schema.
func TestIntrospectionShowsOfGraphQLItselfWhatClientsKnow(t *testing.T) {
	t.Parallel()
	want := string(must(os.ReadFile("testdata/introspection.txt"))(t))
	query := string(must(os.ReadFile("../internal/graphql/testdata/introspection.graphql"))(t))
	w := newWorld(t)
	for _, domain := range append(Domains(), "") {
		endpoint := w
		if domain != "" {
			endpoint = w.inDomain(domain)
		}
		if got := ownPart(endpoint.ask(query).value("__schema").(map[string]any)); got != want {
			t.Errorf("/graphql/%s shows another schema of GraphQL itself than testdata/introspection.txt:\n%s", domain, got)
		}
	}
}

// ownPart writes the directives, the scalars and the types of introspection that a schema shows, which are in no file of
// the contract.
func ownPart(schema map[string]any) string {
	var lines []string
	arguments := func(list any) string {
		var all []string
		for _, one := range list.([]any) {
			argument := one.(map[string]any)
			text := argument["name"].(string) + ": " + typeName(argument["type"])
			if value, _ := argument["defaultValue"].(string); value != "" {
				text += " = " + value
			}
			all = append(all, text)
		}
		if all == nil {
			return ""
		}
		return "(" + strings.Join(all, ", ") + ")"
	}
	for _, one := range schema["directives"].([]any) {
		directive := one.(map[string]any)
		line := "directive @" + directive["name"].(string) + arguments(directive["args"])
		if directive["isRepeatable"] == true {
			line += " repeatable"
		}
		lines = append(lines, line+" on "+strings.ReplaceAll(namesOf(directive["locations"]), " ", " | "))
	}
	for _, one := range schema["types"].([]any) {
		described := one.(map[string]any)
		name, kind := described["name"].(string), described["kind"].(string)
		if !strings.HasPrefix(name, "__") && (kind != "SCALAR" || described["specifiedByURL"] != nil) {
			continue
		}
		line := strings.ToLower(kind) + " " + name
		fields, _ := described["fields"].([]any)
		for _, one := range fields {
			field := one.(map[string]any)
			line += "\n  " + field["name"].(string) + arguments(field["args"]) + ": " + typeName(field["type"])
		}
		if values := namesIn(described["enumValues"]); values != "" {
			line += "\n  " + values
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// typeName writes a type reference of introspection, such as [__Type!]!.
func typeName(reference any) string {
	of := reference.(map[string]any)
	switch of["kind"] {
	case "NON_NULL":
		return typeName(of["ofType"]) + "!"
	case "LIST":
		return "[" + typeName(of["ofType"]) + "]"
	}
	return of["name"].(string)
}

// namesOf sorts a list of names.
func namesOf(list any) string {
	var names []string
	for _, one := range list.([]any) {
		names = append(names, one.(string))
	}
	return sortLines(names)
}

// The text is also read by programs that do not know the newer directives.
func TestThePublishedSchemaDefinesWhatOlderReadersDoNotKnow(t *testing.T) {
	t.Parallel()
	document := must(parser.ParseSchema(&ast.Source{Input: SDL()}))(t)
	used := map[string]bool{}
	for _, definition := range document.Definitions {
		for _, directive := range definition.Directives {
			used[directive.Name] = true
		}
		for _, field := range definition.Fields {
			for _, directive := range field.Directives {
				used[directive.Name] = true
			}
		}
	}
	for name := range used {
		if document.Directives.ForName(name) == nil && name != "deprecated" { // That is in the first specification.
			t.Errorf("@%s is used, and the document does not define it", name)
		}
	}
}

func namesIn(list any) string {
	var names []string
	all, _ := list.([]any)
	for _, one := range all {
		names = append(names, one.(map[string]any)["name"].(string))
	}
	return sortLines(names)
}

func sortLines(names []string) string {
	slices.Sort(names)
	return strings.Join(names, " ")
}

// The specification says of each kind of type which lists are null.
func TestATypeHasTheListsOfItsKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, want := range map[string]string{
		"DateTime": "", "Capability": "enumValues", "RepoFilter": "inputFields", "Repo": "fields interfaces", "PageInfo": "fields interfaces", "Node": "fields interfaces possibleTypes",
	} {
		got := w.ask(`query($name: String!) { __type(name: $name) { fields { name } interfaces { name } possibleTypes { name } enumValues { name } inputFields { name } } }`, "name", name)
		shown, _ := got.value("__type").(map[string]any)
		var lists []string
		for list, members := range shown {
			if members != nil {
				lists = append(lists, list)
			}
		}
		slices.Sort(lists)
		sorted := strings.Fields(want)
		slices.Sort(sorted)
		if !slices.Equal(lists, sorted) {
			t.Errorf("%s has %v, want %v", name, lists, sorted)
		}
	}
}
