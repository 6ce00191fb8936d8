package resolvers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/store/storetest"
)

// hostQueries has a query for an object of each type whose fields have arguments.
var hostQueries = map[string]string{
	"Query": "%s", "Group": "group(uid: $org) { %s }", "Identity": "identity(uid: $owner) { %s }", "Role": `role(uid: "7872e984573b3a80d1d5dcf9ac7fd799d10a760c") { %s }`,
	"Repo": "repo(uid: $repo) { %s }", "Tag": "tag(uid: $tag) { %s }", "Image": "tag(uid: $tag) { image { %s } }", "IdentityProvider": "identityProvider(uid: $provider) { %s }",
	"EventSubscription": "subscription(uid: $sink) { %s }", "Artifact": "artifact(uid: $artifact) { %s }", "Viewer": "viewer { %s }",
	"AccountAssociation": "accountAssociation(uid: $team) { %s }", "Advisory": "advisory(uid: $advisory) { %s }", "ArtifactVersion": "artifact(uid: $artifact) { versions(first: 1) { nodes { %s } } }",
	"AdvisoryDocument": "advisoryDocuments(first: 1) { nodes { %s } }", "FindingSummary": "findingSummary(within: $org) { %s }",
	"Delivery": "subscription(uid: $sink) { deliveries(first: 1) { nodes { %s } } }", "ExternalGroupRoleMapping": "externalGroupRoleMapping(uid: $mapping) { %s }",
	"Finding": "findings(first: 1) { nodes { %s } }", "Package": "packages(first: 1) { nodes { %s } }",
	"PackageVersion": "packages(first: 1) { nodes { versions(first: 1) { nodes { %s } } } }", "VulnerabilityExposure": `vulnerability(id: "CVE-01") { %s }`,
	"GroupInvite": "groupInvite(uid: $invite) { %s }", "RoleBinding": "roleBinding(uid: $binding) { %s }",
}

// requiredArguments has values of arguments without which a field is invalid, by their names, and by their types if
// arguments of several types have the name.
var requiredArguments = map[string]string{
	"uid": "$org", "id": "$id", "ids": "[$id]", "group": "$org", "issuer": `"x"`, "subject": `"x"`, "name": `"x"`, "on": "$org",
	"where": "{ecosystems: [JAVA]}", "AcceptanceConditionsInput where": "{maxSeverity: LOW}", "ecosystems": "[JAVA]", "images": `[{repo: "r00"}]`, "startTime": "$since", "endTime": "$until",
	"representations": "[]", "query": `"x"`, "capability": "GROUPS_LIST", "capabilities": "[]", "within": "$org", "interval": "DAY", "by": "FINDINGS", "first": "1",
	"from": "{tag: $tag}", "to": "{tag: $tag}", "DateTime from": `"2026-01-01T00:00:00Z"`, "DateTime to": `"2026-02-01T00:00:00Z"`, "time": `"2026-01-01T00:00:00Z"`, "since": `"2026-01-01T00:00:00Z"`, "image": `"acme/none:1"`, "fixableOnly": "false", "knownExploitedOnly": "false", "timeZone": `"UTC"`,
}

// requiredConditions has conditions without which a "where" is invalid, by its type.
var requiredConditions = map[string]string{"ArtifactFilter": "ecosystems: [JAVA]", "AcceptanceConditionsInput": "maxSeverity: LOW"}

// A probe is one argument of one field of one type, or one field of such an argument.
type probe struct {
	field     *ast.FieldDefinition
	host      string
	name      string // This is the name of the argument or field.
	kind      *ast.Type
	arguments func(value string) string // arguments returns all arguments, with a value for the one that is tested.
}

func (p probe) ask(w *world, variables []any, value string) answer {
	selection := ""
	switch named := schemaOf().Types[p.field.Type.Name()]; {
	case strings.HasSuffix(named.Name, "Connection"):
		selection = "{ nodes { __typename } pageInfo { hasNextPage } }"
	case named.Fields.ForName("nodes") != nil:
		selection = "{ nodes { __typename } }"
	case !named.IsLeafType():
		selection = "{ __typename }"
	}
	asked := p.field.Name + p.arguments(value) + selection
	return w.askAs(theOwner, operation("query", fmt.Sprintf(hostQueries[p.host], asked)), variables...)
}

func schemaOf() *ast.Schema { return graph.Schema() }

// probes returns a probe for every argument of the schema except those of mutations.
func probes(t *testing.T) (all []probe) {
	schema := schemaOf()
	for _, object := range schema.Types {
		if object.Kind != ast.Object || object.Name == "Mutation" || object.Name == "Subscription" || object.Name == "Entity" || strings.HasPrefix(object.Name, "__") {
			continue
		}
		for _, field := range object.Fields {
			if strings.HasPrefix(field.Name, "_") || len(field.Arguments) == 0 {
				continue
			}
			if hostQueries[object.Name] == "" && strings.HasPrefix(field.Name, "viewer") {
				continue // All kinds have the same such argument.
			}
			if hostQueries[object.Name] == "" {
				t.Errorf("%s.%s has arguments: say in hosts how one is asked for", object.Name, field.Name)
			}
			for _, argument := range field.Arguments {
				one := func(member string) func(string) string {
					return func(value string) string { return argumentsOf(field, argument.Name, member, value) }
				}
				all = append(all, probe{field, object.Name, argument.Name, argument.Type, one("")})
				if input := schema.Types[argument.Type.Name()]; input.Kind == ast.InputObject && argument.Type.Elem == nil {
					for _, member := range input.Fields {
						all = append(all, probe{field, object.Name, member.Name, member.Type, one(member.Name)})
					}
				}
			}
		}
	}
	return all
}

// argumentsOf returns the required arguments of a field, with a value for one of them or
// for a member of it. The value "" omits it.
func argumentsOf(field *ast.FieldDefinition, name, member, value string) string {
	var given []string
	for _, a := range field.Arguments {
		switch {
		case a.Name == name && value == "" && !a.Type.NonNull: // The argument is omitted.
		case a.Name == name && member == "":
			given = append(given, name+": "+value)
		case a.Name == name:
			inside := member + ": " + value
			if value == "" {
				inside = ""
			}
			if required := requiredConditions[a.Type.Name()]; a.Name == "where" && !strings.HasPrefix(required, member+":") {
				inside += ", " + required
			}
			given = append(given, name+": {"+inside+"}")
		case a.Type.NonNull:
			given = append(given, a.Name+": "+cmp.Or(requiredArguments[a.Type.Name()+" "+a.Name], requiredArguments[a.Name]))
		}
	}
	if len(given) == 0 {
		return ""
	}
	return "(" + strings.Join(given, ", ") + ")"
}

// An empty cursor means the beginning of the list, as page_token does in REST.
var cursors = map[string]bool{"after": true, "before": true}

// In these lists, an absent list does not mean all, or the list says what to leave out.
var otherLists = map[string]string{
	"ecosystems": "is required, with at least one", "images": "is required, with at least one", "excludeClasses": "leaves out nothing", "excludeEventAuthors": "leaves out nobody", "orderBy": "is the order of the list",
	"FindingSummary.openByAge.days": "is required, with at least one", "Query.auditLogSummary.kinds": "counts nothing",
	"Viewer.uids": "is refused: one's own bindings are not narrowed by it", "Group.effectiveBindings.uids": "is refused likewise",
}

func TestAnEmptyArgumentIsRejectedOrFindsNothingAndNullIsAbsent(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		variables := w.furnish()
		w.settle()
		for _, p := range probes(t) {
			text := slices.Contains([]string{"ID", "String", "UID"}, p.kind.Name())
			if text && !cursors[p.name] {
				empty := `""`
				if p.kind.Elem != nil {
					empty = `[""]`
				}
				if got := p.ask(w, variables, empty); len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "INVALID_ARGUMENT" || got.violations() != p.name {
					t.Errorf("%s: answers %v %+v, want a violation of %s", got.query, got.Data, got.Errors, p.name)
				}
			}
			if !p.kind.NonNull {
				absent, null := p.ask(w, variables, ""), p.ask(w, variables, "null")
				if fmt.Sprint(absent.Data, len(absent.Errors)) != fmt.Sprint(null.Data, len(null.Errors)) {
					t.Errorf("%s: answers %v, and %v without it", null.query, null.Data, absent.Data)
				}
			}
			if p.kind.Elem != nil && otherLists[p.name] == "" && otherLists[p.host+"."+p.name] == "" && otherLists[p.host+"."+p.field.Name+"."+p.name] == "" {
				got := p.ask(w, variables, "[]").expectSuccess()
				if shown := fmt.Sprint(got.Data); strings.Contains(shown, "__typename") {
					t.Errorf("%s: finds %s, want it without '__typename'", got.query, shown)
				}
			}
		}
	})
}

func TestAnEmptyVariableIsRejectedLikeAnEmptyLiteral(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.furnish()
	for query, want := range map[string]string{
		`query($x: UID) { repos(within: $x) { totalCount } }`:                                "within",
		`query($x: String) { repos(where: {name: $x}) { totalCount } }`:                      "name",
		`query($x: String) { groups { nodes { repos(where: {name: $x}) { totalCount } } } }`: "name",
	} {
		if got := w.askAs(theOwner, query, "x", "").violations(); got != want {
			t.Errorf("%s names %q, want %q", query, got, want)
		}
		w.ask(query, "x", nil)
	}
	w.ask(`query($x: AdvisoryFilter) { advisories(where: $x) { totalCount nodes { uid } } }`, "x", map[string]any{"artifactNames": []string{}}).expect("advisories.totalCount", 0).expect("advisories.nodes", []any{})
	w.ask(`{ repos { nodes { advisories(where: {artifactNames: []}) { totalCount } } } }`).expect("repos.nodes.*.advisories.totalCount", "0 0 0")
	if got := w.askAs(theOwner, `query($x: AdvisoryFilter) { advisories(where: $x) { totalCount } }`, "x", map[string]any{"artifactNames": []string{"r00", ""}}).violations(); got != "artifactNames" {
		t.Errorf("an empty name in a list names %q, want artifactNames", got)
	}
}

// A variable with a default value is valid where null is not allowed, but null can be given
// for it. gqlgen's executor passes such a null to the resolvers, so it is not compared.
func TestANullVariableIsNotTakenAsAbsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handler.oracle = nil
	w.ask(`mutation($org: UID!) { createGroup(input: {parent: $org, name: "team"}) { group { uid } } }`, "org", string(w.org))
	for _, c := range []struct{ query, path, field string }{
		{`query($v: String = "team") { group(path: "acme") { child(name: $v) { name } } }`, "group child", "name"},
		{`query($v: GroupOrderField = NAME) { group(path: "acme") { children(orderBy: {field: $v}) { nodes { name } } } }`, "group children", "orderBy.field"},
		{`query($v: GroupOrderField = NAME) { groups(orderBy: [{field: UID}, {field: $v}]) { nodes { name } } }`, "groups", "orderBy[1].field"},
		{`query($v: [Capability!] = []) { group(path: "acme") { viewerCan(capabilities: $v) } }`, "group viewerCan", "capabilities"},
		{`query($v: Capability = GROUPS_LIST) { group(path: "acme") { viewerCan(capabilities: [GROUPS_LIST, $v]) } }`, "group viewerCan", "capabilities[1]"},
	} {
		w.ask(c.query)
		got := w.askAs(theOwner, c.query, "v", nil)
		if len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "INVALID_ARGUMENT" || got.violations() != c.field {
			t.Errorf("%s gives %+v, want one INVALID_ARGUMENT of %s", c.query, got.Errors, c.field)
			continue
		}
		if path := strings.Trim(fmt.Sprint(got.Errors[0].Path), "[]"); path != c.path || got.Data == nil && c.path != "group viewerCan" {
			t.Errorf("%s gives an error at %s and data %v, want one at %s", c.query, path, got.Data, c.path)
		}
	}
}
