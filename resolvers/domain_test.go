package resolvers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	endpoint "atrium/internal/graphql"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// Each field of the whole is in a domain, and in one only, unless it is a key, or of a type that all share.
func TestTheDomainsTogetherAreTheWhole(t *testing.T) {
	t.Parallel()
	whole, homes := schemaOf(), map[string][]string{}
	for _, domain := range Domains() {
		for name, own := range project(whole, domain).Types {
			homes[name] = append(homes[name], domain)
			for _, field := range own.Fields {
				homes[name+"."+field.Name] = append(homes[name+"."+field.Name], domain)
			}
		}
	}
	for name, definition := range whole.Types {
		if homes[name] == nil && (definition.Position == nil || strings.HasSuffix(definition.Position.Src.Name, ".graphqls")) && name != "Entity" {
			t.Errorf("no domain has %s", name)
		}
		for _, field := range definition.Fields {
			element := name + "." + field.Name
			isOfOne := definition == whole.Query && areaOfElement(whole, element) != "" || isEntity(definition) && !isKeyField(definition, field.Name)
			if n := len(homes[element]); homes[name] != nil && (n == 0 || isOfOne && n > 1) {
				t.Errorf("%s is in the domains %v", element, homes[element])
			}
		}
		if area := areaOfElement(whole, name); isEntity(definition) && !slices.Contains(homes[name], area) {
			t.Errorf("%s is not in its own domain %s: %v", name, area, homes[name])
		}
	}
	for element, want := range map[string]string{
		"Group.name": "iam", "Group.repos": "registry", "Repo.group": "registry", "Repo.name": "registry", "Repo.advisorySummary": "vulnerabilities",
		"Query.node": "iam", "Mutation.createRepo": "registry", "Subscription.events": "events", "Query.artifacts": "libraries", "Query.advisoryDocuments": "advisory",
	} {
		if !slices.Equal(homes[element], []string{want}) {
			t.Errorf("%s is in %v, want %s", element, homes[element], want)
		}
	}
}

// A domain has no field that its own types do not have, and names no type that it lacks.
func TestTheSchemaOfADomainIsClosed(t *testing.T) {
	t.Parallel()
	for _, domain := range Domains() {
		own := project(schemaOf(), domain)
		has := func(user string, used *ast.Type) {
			if own.Types[used.Name()] == nil {
				t.Errorf("%s: %s uses %s, which is not there", domain, user, used.Name())
			}
		}
		for name, definition := range own.Types {
			for _, field := range definition.Fields {
				has(name+"."+field.Name, field.Type)
				for _, argument := range field.Arguments {
					has(name+"."+field.Name+"("+argument.Name+")", argument.Type)
				}
			}
			for _, possible := range own.PossibleTypes[name] {
				if own.Types[possible.Name] != possible {
					t.Errorf("%s: %s can be %s, which is not there", domain, name, possible.Name)
				}
			}
		}
	}
}

// inDomain returns the world whose endpoint is that of a domain.
func (w *world) inDomain(domain string) *world {
	own := *w
	own.handler = pair{tested: serveEngine(NewDomainEngine(w.p, domain, nil), newPresenter(nil), endpoint.DefaultSettings(), func(context.Context) error { return nil })}
	return &own
}

func TestADomainAnswersForItselfAndForEntitiesOfOthersInBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var groups []map[string]any
	for i := range 20 {
		group := w.group(w.org, fmt.Sprintf("g%02d", i))
		w.ask(`mutation($g: UID!) { createRepo(input: {parent: $g, name: "one"}) { repo { uid } } }`, "g", group)
		groups = append(groups, map[string]any{"__typename": "Group", "uid": group})
	}
	registry := w.inDomain("registry")
	found := registry.ask(`query($all: [_Any!]!) { _entities(representations: $all) { ... on Group { repos { totalCount nodes { name group { uid } } } } } }`, "all", groups)
	found.expect("_entities.19.repos.nodes.0.name", "one").expect("_entities.19.repos.nodes.0.group.uid", string(groups[19]["uid"].(core.UID)))
	if found.statements > 5 {
		t.Errorf("20 groups take %d statements", found.statements)
	}
	if sdl := registry.ask(`{ _service { sdl } }`).text("_service.sdl"); sdl != DomainSDL("registry") {
		t.Errorf("_service has %d bytes, want those of the domain", len(sdl))
	}
	for domain, query := range map[string]string{
		"iam":             `{ repos { totalCount } }`,
		"registry":        `{ repos { nodes { group { name } } } }`,
		"vulnerabilities": `mutation { createRepo(input: {parent: "x", name: "y"}) { repo { uid } } }`,
		"libraries":       `{ _entities(representations: [{__typename: "Group", uid: "x"}]) { ... on Group { uid } } }`,
		"events":          `{ node(id: "x") { id } }`,
	} {
		if got := w.inDomain(domain).askAs(theOwner, query); len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "GRAPHQL_VALIDATION_FAILED" {
			t.Errorf("%s: %s: %+v", domain, query, got.Errors)
		}
	}
	stranger := w.inDomain("libraries").askAs(theOwner, `query($all: [_Any!]!) { _entities(representations: $all) { __typename } }`, "all", groups[:1])
	if got := stranger.violations(); got != "representations[0].__typename" {
		t.Errorf("libraries names %q for a group, want its type: %+v", got, stranger.Errors)
	}
	// The global id of an object of another domain is read where node is.
	id := w.ask(`query($g: UID!) { group(uid: $g) { repos { nodes { id } } } }`, "g", groups[0]["uid"]).text("group.repos.nodes.0.id")
	w.inDomain("iam").ask(`query($id: ID!) { node(id: $id) { __typename id ... on Repo { uid } } }`, "id", id).expect("node.__typename", "Repo")
	// Somebody without a right gets no more than from the whole.
	w.member(w.org, "idle", w.role(w.org, "few", core.CapIdentityList))
	for _, e := range registry.askAs("idle", `query($all: [_Any!]!) { _entities(representations: $all) { ... on Group { repos { totalCount } } } }`, "all", groups[:1]).Errors {
		if e.Extensions.Code != "PERMISSION_DENIED" {
			t.Errorf("%+v", e)
		}
	}
}

// Each domain is asked for one of each type beside an entity of its own, with all that can be read together with this.
func TestADomainRefusesEntitiesOfOthersBesideItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	objects := map[string]core.UID{"Group": w.org, "Identity": w.owner, "Role": iam.ViewerRole}
	var others []map[string]any
	for name, definition := range schemaOf().Types {
		if definition.Kind != ast.Enum && definition.Kind != ast.Scalar {
			others = append(others, map[string]any{"__typename": name, "uid": w.org + "/00000000000000fa"})
		}
	}
	for _, domain := range Domains() {
		own, there := project(schemaOf(), domain), w.inDomain(domain)
		entities := own.Types["_Entity"]
		if entities == nil {
			continue
		}
		for _, name := range entities.Types {
			if keyedTypes[name].root == "" {
				continue
			}
			var fields strings.Builder
			for _, field := range keyedTypes[name].fields {
				if f := own.Types[name].Fields.ForName(field); f != nil && own.Types[f.Type.Name()].IsCompositeType() && !isRequired(f) {
					fields.WriteString(field + " { __typename } ")
				}
			}
			if fields.Len() == 0 {
				continue
			}
			query := "query($all: [_Any!]!) { _entities(representations: $all) { __typename ... on " + name + " { " + fields.String() + "} } }"
			for _, other := range others {
				got := there.askAs(theOwner, query, "all", []any{map[string]any{"__typename": name, "uid": objects[name]}, other})
				if found, isList := got.value("_entities").([]any); !isList || len(found) != 2 || objects[name] != "" && found[0] == nil || found[1] != nil {
					t.Fatalf("%s: %s beside %v: %v, %+v", domain, name, other, found, got.Errors)
				}
				isOwn := slices.Contains(entities.Types, fmt.Sprint(other["__typename"]))
				if !isOwn && !slices.ContainsFunc(got.Errors, func(e failure) bool { return fmt.Sprint(e.Path) == "[_entities 1]" }) {
					t.Errorf("%s: %s beside %v has no error: %+v", domain, name, other, got.Errors)
				}
			}
		}
	}
}

func isRequired(f *ast.FieldDefinition) bool {
	return slices.ContainsFunc(f.Arguments, func(a *ast.ArgumentDefinition) bool { return a.Type.NonNull && a.DefaultValue == nil })
}

// Introspection at the path of a domain shows what can be asked there: its root fields, and the types that they reach.
func TestIntrospectionOfADomainShowsTheDomainOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, domain := range Domains() {
		own, there := project(schemaOf(), domain), w.inDomain(domain)
		names := func(path string, data any) (all []string) {
			list, _ := data.([]any)
			for _, entry := range list {
				name, _ := entry.(map[string]any)["name"].(string)
				all = append(all, name)
			}
			if len(all) == 0 {
				t.Fatalf("%s: %s is empty", domain, path)
			}
			slices.Sort(all)
			return all
		}
		shown := there.ask(`{ __schema { types { name } queryType { fields { name } } mutationType { fields { name } } } }`)
		for root, definition := range map[string]*ast.Definition{"queryType": own.Query, "mutationType": own.Mutation} {
			if definition == nil {
				shown.expect("__schema."+root, nil)
				continue
			}
			var want []string
			for _, field := range definition.Fields {
				if !strings.HasPrefix(field.Name, "_") {
					want = append(want, field.Name)
				}
			}
			slices.Sort(want)
			if got := names(root, shown.value("__schema."+root+".fields")); !slices.Equal(got, want) {
				t.Errorf("%s: %s has %v, want %v", domain, root, got, want)
			}
		}
		types := names("types", shown.value("__schema.types"))
		for _, name := range types {
			if own.Types[name] == nil || strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "__") {
				t.Errorf("%s: introspection shows %s", domain, name)
			}
		}
		for name := range schemaOf().Types {
			shows := there.ask(`query($name: String!) { __type(name: $name) { name } }`, "name", name).value("__type") != nil
			if shows != slices.Contains(types, name) {
				t.Errorf("%s: __type shows %s: %t", domain, name, shows)
			}
		}
	}
}
