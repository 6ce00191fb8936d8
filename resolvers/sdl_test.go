package resolvers

import (
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
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
		if definition.Kind == ast.Interface {
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
