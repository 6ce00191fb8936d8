package resolvers

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// A router adds up @cost and @listSize as their specification says. It does not know Atrium.
type router struct {
	t      testing.TB
	schema *ast.SchemaDocument // what `_service` answers
}

func newRouter(w *world) router {
	w.t.Helper()
	document, err := parser.ParseSchema(&ast.Source{Input: w.ask(`{ _service { sdl } }`).text("_service.sdl")})
	if err != nil {
		w.t.Fatal(err)
	}
	return router{w.t, document}
}

// unsized is the size of a list that no directive describes. It is so large that a test finds each of them.
const unsized = 1_000_000

func (r router) directives(typeName, field string) ast.DirectiveList {
	definition := r.schema.Definitions.ForName(typeName)
	if definition == nil {
		return nil
	}
	if field == "" {
		return definition.Directives
	}
	if found := definition.Fields.ForName(field); found != nil {
		return found.Directives
	}
	return nil
}

// costOf returns the cost of a selection set. sizes has the sizes of the lists in it that the field above it says.
func (r router) costOf(set ast.SelectionSet, sizes map[string]int) (sum int) {
	for _, selection := range set {
		switch x := selection.(type) {
		case *ast.Field:
			sum += r.costOfField(x, sizes)
		case *ast.InlineFragment:
			sum += r.costOf(x.SelectionSet, sizes)
		case *ast.FragmentSpread:
			sum += r.costOf(x.Definition.SelectionSet, sizes)
		}
	}
	return sum
}

func (r router) costOfField(f *ast.Field, sizes map[string]int) int {
	if strings.HasPrefix(f.Name, "__") {
		return 0
	}
	own, inside := r.directives(f.ObjectDefinition.Name, f.Name), map[string]int{}
	count := 1
	if f.Definition.Type.Elem != nil {
		count = unsized
	}
	if list := own.ForName("listSize"); list != nil {
		size := r.number(list, "assumedSize")
		for _, name := range textsIn(list.Arguments.ForName("slicingArguments")) {
			if given := f.Arguments.ForName(name); given != nil {
				size, _ = strconv.Atoi(given.Value.Raw)
			}
		}
		sized := textsIn(list.Arguments.ForName("sizedFields"))
		for _, name := range sized {
			inside[name] = size
		}
		if sized == nil {
			count = size
		}
	}
	if size, known := sizes[f.Name]; known {
		count = size
	}
	return count * (r.weight(f, own) + r.costOf(f.SelectionSet, inside))
}

func (r router) weight(f *ast.Field, own ast.DirectiveList) int {
	for _, all := range []ast.DirectiveList{own, r.directives(f.Definition.Type.Name(), "")} {
		if cost := all.ForName("cost"); cost != nil {
			return r.number(cost, "weight")
		}
	}
	if len(f.SelectionSet) > 0 {
		return 1
	}
	return 0
}

func (r router) number(d *ast.Directive, argument string) int {
	n, err := strconv.Atoi(d.Arguments.ForName(argument).Value.Raw)
	if err != nil {
		r.t.Error(err)
	}
	return n
}

func textsIn(list *ast.Argument) (all []string) {
	if list != nil {
		for _, child := range list.Value.Children {
			all = append(all, child.Value.Raw)
		}
	}
	return all
}

// A router must refuse what Atrium would refuse, before it asks Atrium, and nothing else.
func TestARouterCountsTheCostThatAtriumCounts(t *testing.T) {
	t.Parallel()
	w := limitedWorld(t)
	r := newRouter(w)
	for query, isLess := range map[string]bool{
		`{ ping viewer { identities { uid } } }`:                                                                               false,
		`{ repos { totalCount pageInfo { endCursor } nodes { uid name } } }`:                                                   false,
		`{ repos(first: 7) { edges { cursor node { name readme group { path ancestors { name } } } } nodes { uid } } }`:        false,
		`{ repos(last: 3) { nodes { tags(first: 20) { nodes { name repo { name } } } advisorySummary { open { total } } } } }`: false,
		`{ groups(first: 5) { nodes { ...G } } } fragment G on Group { repos(first: 0) { totalCount } viewerCapabilities }`:    false,
		`{ repos(first: 200) { nodes { tags(first: 100) { nodes { name } } } } }`:                                              false, // Both refuse it.
		`{ repos(first: 100) { nodes { group { repos { nodes { tags { nodes { image { digest } } } } } } } } }`:                false,
		`{ advisories(first: 10) { nodes { events { raw type } severities { vector } } } }`:                                    false,
		`{ search(query: "golang", first: 5) { nodes { __typename } } }`:                                                       false,
		`{ roleBindings(first: 4) { nodes { identity { name viewerCapabilities } role { name } group { name } } } }`:           false,
		`{ auditLog(first: 3) { nodes { body changes { before after } group { name } } } }`:                                    false,
		// Conditions, orders, keys and what is read for all parents together are not in directives.
		`{ repos(first: 3, where: {query: "a"}) { nodes { name } } }`:                                    true,
		`{ nodes(ids: ["a", "b", "c"]) { id } }`:                                                         true,
		`{ repos(first: 1, skip: 1000) { nodes { name } } }`:                                             true,
		`{ groups(first: 10) { nodes { whoCan(capability: REPO_LIST, first: 5) { nodes { name } } } } }`: true,
	} {
		operation, errs := gqlparser.LoadQueryWithRules(schemaOf(), query, rules.NewDefaultRules())
		if errs != nil {
			t.Fatal(errs)
		}
		estimated, counted := r.costOf(operation.Operations[0].SelectionSet, nil), w.costOf(query)
		if estimated > counted || isLess != (estimated < counted) {
			t.Errorf("%s: a router counts %d, and Atrium %d", query, estimated, counted)
		}
	}
}

// A router lets every question of dashboards pass.
func TestARouterRefusesNoQuestionOfDashboards(t *testing.T) {
	t.Parallel()
	r := newRouter(limitedWorld(t))
	for _, q := range readQuestions(t) {
		operation, errs := gqlparser.LoadQueryWithRules(schemaOf(), q.document, rules.NewDefaultRules())
		if errs != nil {
			t.Fatal(errs)
		}
		cost, _, _ := strings.Cut(q.told, " |")
		counted, notCounted := strconv.Atoi(cost)
		if estimated := r.costOf(operation.Operations[0].SelectionSet, nil); notCounted == nil && estimated > counted {
			t.Errorf("%s: a router counts %d, and Atrium %d", q.name, estimated, counted)
		} else {
			t.Logf("%s: a router counts %d, and Atrium %s", q.name, estimated, cost)
		}
	}
}

// costOf returns what Atrium counts for a query, whether it answers or refuses it.
func (w *world) costOf(query string) int {
	got := w.askAs(theOwner, query)
	for _, err := range got.Errors {
		if err.Extensions.Limit.Requested > 0 {
			return err.Extensions.Limit.Requested
		}
	}
	return got.Extensions.Cost.Requested
}

func TestTheSubgraphTagsItsAreas(t *testing.T) {
	t.Parallel()
	schema, untagged := schemaOf(), map[string]bool{}
	for name, definition := range schema.Types {
		if definition.BuiltIn || definition.Position.Src.BuiltIn || areaOfElement(schema, name) != "" {
			continue
		}
		untagged[name] = true
		if definition == schema.Query || definition == schema.Mutation || definition == schema.Subscription {
			for _, field := range definition.Fields {
				if areaOfElement(schema, name+"."+field.Name) == "" {
					untagged[name+"."+field.Name] = true
				}
			}
		}
	}
	for name := range untagged {
		definition := schema.Types[name]
		if definition != nil && slices.Contains([]string{"schema.graphqls", "error.graphqls"}, path.Base(definition.Position.Src.Name)) || strings.HasPrefix(name, "Query.") {
			continue // All areas share it.
		}
		if name != "Mutation" && name != "Subscription" && name != "ActivityInterval" {
			t.Errorf("%s has no tag", name)
		}
	}
	for element, area := range map[string]string{"Repo": "registry", "Query.repos": "registry", "Mutation.updateFindings": "vulnerabilities", "EventActivity": "events", "Query.node": "", "Repo.name": ""} {
		if got := areaOfElement(schema, element); got != area {
			t.Errorf("%s has the tag %q, want %q", element, got, area)
		}
	}
}

// Routers and their registries send, compare and keep the schema as a whole.
func TestTheSubgraphIsShort(t *testing.T) {
	t.Parallel()
	const limit = 200_000
	whole, short := SDL(), SubgraphSDL()
	if len(short) > limit {
		t.Errorf("the schema for routers has %d bytes, want at most %d", len(short), limit)
	}
	document := must(parser.ParseSchema(&ast.Source{Input: short}))(t)
	const rule = "Where a page lies in its list."
	if got := document.Definitions.ForName("PageInfo").Description; got != rule || !strings.Contains(whole, rule+" All lists are paged alike.") {
		t.Errorf("PageInfo is described to routers as %q", got)
	}
	if first := document.Definitions.ForName("Query").Fields.ForName("repos").Arguments.ForName("first"); first.Description != "" {
		t.Errorf("the argument first is described to routers as %q", first.Description)
	}
	t.Logf("the schema for routers has %d bytes, that for clients %d", len(short), len(whole))
}
