package rest

import (
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/internal/apierror"
	"atrium/internal/wiretest"
	"atrium/platform/core"
)

// A wireRoute is an operation of the reference, with the fields of its request that are query parameters.
type wireRoute struct {
	name, method, pattern string
	capabilities          []string
	parameters            []string
	unscoped              bool
}

func readWire(t *testing.T) (routes []wireRoute) {
	t.Helper()
	variable := regexp.MustCompile(`\{[a-z_]+\.uid=`)
	for _, r := range wiretest.RPCs(t) {
		route := wireRoute{r.Name, r.Method, variable.ReplaceAllString(r.Path, "{uid="), r.Capabilities, nil, r.IsUnscoped}
		if r.Method == http.MethodGet {
			for _, field := range wiretest.Fields(t, r.Name+"Request") {
				route.addParameter(field.Name)
			}
		}
		routes = append(routes, route)
	}
	return routes
}

// isOwn reports whether an operation is not in the reference. internal/cases tests those
// of our own kinds in every protocol.
func isOwn(t *testing.T, operation string) bool {
	t.Helper()
	return !slices.ContainsFunc(readWire(t), func(r wireRoute) bool { return r.name == operation })
}

func (r *wireRoute) addParameter(field string) {
	switch {
	case strings.Contains(r.pattern, "{"+field): // The field is part of the path.
	case field == "uidp":
		r.parameters = append(r.parameters, "uidp.ancestors_of", "uidp.descendants_of", "uidp.children_of", "uidp.in_root", "uidp.ids")
	default:
		r.parameters = append(r.parameters, field)
	}
}

// ourParameters lists the parameters that are not in the reference.
var ourParameters = map[string][]string{
	"ListDocuments": {"order_by", "page_size", "page_token", "skip"}, "ListResolvedVulnsReports": {"order_by", "page_size", "page_token", "skip"},
	"ListAdvisories": {"severities", "states", "min_score", "withdrawn"},
	"ListGroups":     {"query", "labels"}, "ListIdentities": {"query"}, "ListRoles": {"query"}, "ListTags": {"query"},
	"ListRepos": {"query", "tiers", "bundles", "aliases", "labels"},
}

func TestTheTableEqualsTheReference(t *testing.T) {
	t.Parallel()
	table := routes(newWorld(t).p)
	for _, wire := range readWire(t) {
		i := slices.IndexFunc(table, func(r route) bool { return r.method == wire.method && r.pattern == wire.pattern })
		if i < 0 {
			t.Errorf("no route %s %s", wire.method, wire.pattern)
			continue
		}
		got := table[i]
		if got.name != wire.name {
			t.Errorf("%s is called %s, want name %v", wire.name, got.name, wire.name)
		}
		var capabilities []string
		for _, c := range got.capabilities {
			capabilities = append(capabilities, c.WireName())
		}
		if !slices.Equal(capabilities, wire.capabilities) {
			t.Errorf("%s needs %v, want %v", wire.name, capabilities, wire.capabilities)
		}
		var parameters []string
		for _, p := range got.query {
			parameters = append(parameters, apierror.SnakeCase(p.name))
		}
		if wire.method == http.MethodPatch {
			wire.parameters = []string{"update_mask"}
		}
		if slices.ContainsFunc(got.query, func(p parameter) bool { return p.name == validateOnly.name }) {
			wire.parameters = append(wire.parameters, "validate_only") // TestEveryKindHeedsConditionsInEveryProtocol says where it must be
		}
		wire.parameters = append(wire.parameters, ourParameters[wire.name]...)
		slices.Sort(parameters)
		slices.Sort(wire.parameters)
		if !slices.Equal(parameters, wire.parameters) {
			t.Errorf("%s takes %v, want %v", wire.name, parameters, wire.parameters)
		}
	}
}

func TestEveryRouteDescribesItsBodyAndItsResponse(t *testing.T) {
	t.Parallel()
	table := routes(newWorld(t).p)
	seen := map[string]bool{}
	for _, r := range table {
		if at := r.method + " " + r.pattern; seen[at] {
			t.Errorf("%s is there twice", at)
		} else {
			seen[at] = true
		}
		if beta := r.method + " " + strings.Replace(r.pattern, "/v2/", "/v2beta1/", 1); !slices.ContainsFunc(table, func(x route) bool {
			return x.method+" "+x.pattern == beta
		}) {
			t.Errorf("there is no %s", beta)
		}
		if has := r.body != nil; has != (r.method == http.MethodPost || r.method == http.MethodPatch) {
			t.Errorf("%s %s: body %v", r.method, r.pattern, r.body)
		}
		if has := r.answer != nil; has != (r.method != http.MethodDelete) {
			t.Errorf("%s %s: answer %v", r.method, r.pattern, r.answer)
		}
		if has := r.plural != ""; has != strings.HasPrefix(r.name, "List") {
			t.Errorf("%s %s: plural %q", r.method, r.pattern, r.plural)
		}
		for _, c := range r.capabilities {
			if !slices.Contains(core.Capabilities(), c) {
				t.Errorf("%s %s: capability %q", r.method, r.pattern, c)
			}
		}
		for _, p := range r.query {
			if p.name == "" || !slices.Contains([]reflect.Kind{reflect.String, reflect.Bool, reflect.Int, reflect.Float64, reflect.Struct}, p.valueType.Kind()) {
				t.Errorf("%s %s: parameter %+v", r.method, r.pattern, p)
			}
		}
	}
}
