package storetest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/resolvers"
	"atrium/store/storetest"
)

// parentReads has, for each type with lists, a query that reads these lists in place of %s for many objects of the type. It
// gives a list of Query its place.
var parentReads = map[string]string{
	"Query":                 "%s",
	"Advisory":              "advisories(first: 100) { nodes { %s } }",
	"AdvisoryDocument":      "advisoryDocuments(first: 100) { nodes { %s } }",
	"Artifact":              "artifacts(where: {ecosystems: [JAVA, PYTHON]}, first: 100) { nodes { %s } }",
	"EventSubscription":     "subscriptions(first: 100) { nodes { %s } }",
	"Finding":               "findings(first: 100) { nodes { %s } }",
	"Group":                 "groups(first: 200) { nodes { %s } }",
	"Identity":              "identities(first: 200) { nodes { %s } }",
	"IdentityProvider":      "identityProviders(first: 200) { nodes { %s } }",
	"Image":                 "tags(first: 100) { nodes { image { %s } } }",
	"Package":               "packages(first: 100) { nodes { %s } }",
	"PackageVersion":        "packages(first: 20) { nodes { versions(first: 4) { nodes { %s } } } }",
	"Repo":                  "repos(first: 200) { nodes { %s } }",
	"Role":                  "roles(first: 200) { nodes { %s } }",
	"Tag":                   "tags(first: 200) { nodes { %s } }",
	"Viewer":                "viewer { %s }",
	"VulnerabilityExposure": `vulnerability(id: "CVE-2026-1") { %s }`,
}

// sharedParents have queries in which many objects lead to the same ones, for the lists of a type.
var sharedParents = map[string][]string{
	"Group": {"groups(first: 200) { nodes { parent { %s } } }", "groups(first: 20) { nodes { ancestors { %s } } }"},
	"Role":  {"roleBindings(first: 200) { nodes { role { %s } } }"},
}

// givenArguments has the arguments that lists need.
var givenArguments = map[string]string{"Query.termsAcceptances": "within: $root, ", "Query.acceptanceRulePreview": "within: $root, "}

// givenFilters has the filters of input types that refuse some values, or some conditions alone.
var givenFilters = map[string][]string{"AcceptanceConditionsInput": {
	"{maxSeverity: NONE}", "{maxSeverity: CRITICAL}", "{epssBelow: 0.000001}", "{epssBelow: 1}", "{withoutFix: true}", "{withoutFix: true, includeKnownExploited: true}",
	`{packages: ["none"]}`, `{ecosystems: ["none"]}`, `{labels: [{key: "none", value: "such"}]}`,
}}

// rareValues has values of conditions that are checked, which no row has.
var rareValues = map[string]string{
	"digest": `"sha256:00000000000000000000000000000000000000000000000000000000000000ff"`, "labels": `{key: "none", value: "such"}`, "licenses": `"none"`, "event": `$event`, "below": `"1.0.0"`, "notBelow": `"1.0.0"`,
	"or": `{query: "none"}, {not: {severities: [UNKNOWN, NONE, LOW, MEDIUM, HIGH, CRITICAL]}}`, "not": `{severities: [UNKNOWN, NONE, LOW, MEDIUM, HIGH, CRITICAL]}`,
}

// manyValues is how many values a list of conditions may have.
const manyValues = 1000

// literalsOf returns values of a type, each of which finds nothing, or few rows.
func literalsOf(schema *ast.Schema, name string, of *ast.Type) []string {
	if of.Elem != nil {
		var lists []string
		for _, one := range literalsOf(schema, name, of.Elem) {
			lists = append(lists, "["+one+"]")
		}
		return lists
	}
	if rare := rareValues[name]; rare != "" {
		return []string{rare}
	}
	switch kind := schema.Types[of.Name()]; kind.Kind {
	case ast.Enum:
		var all []string
		for _, value := range kind.EnumValues {
			all = append(all, value.Name)
		}
		return []string{all[0], all[len(all)-1]}
	case ast.InputObject:
		return filtersOf(schema, kind)
	}
	switch of.Name() {
	case "UID":
		return []string{"$absent"}
	case "Boolean":
		return []string{"true", "false"}
	case "DateTime":
		return []string{`"2000-01-01T00:00:00Z"`, `"2099-01-01T00:00:00Z"`}
	case "Int", "Float":
		return []string{"0", "1"}
	default:
		return []string{`"none"`}
	}
}

// filtersOf returns objects of an input type, each with one condition and those that must be given.
func filtersOf(schema *ast.Schema, input *ast.Definition) (filters []string) {
	if given := givenFilters[input.Name]; given != nil {
		return given
	}
	needed := ""
	for _, field := range input.Fields {
		if field.Type.NonNull {
			needed += field.Name + ": " + literalsOf(schema, field.Name, field.Type)[0] + ", "
		}
	}
	if needed != "" {
		filters = append(filters, "{"+needed+"}")
	}
	for _, field := range input.Fields {
		if field.Type.NonNull {
			continue
		}
		for _, value := range literalsOf(schema, field.Name, field.Type) {
			filters = append(filters, "{"+needed+field.Name+": "+value+"}")
		}
		if kind := schema.Types[field.Type.Name()]; field.Type.Elem != nil && kind.Kind == ast.Enum && kind.Name != "Capability" { // all but the first
			var others []string
			for _, value := range kind.EnumValues[1:] {
				others = append(others, value.Name)
			}
			filters = append(filters, "{"+needed+field.Name+": ["+strings.Join(others, ", ")+"]}")
		}
		if field.Type.Elem != nil && field.Type.Name() == "String" && rareValues[field.Name] == "" {
			filters = append(filters, "{"+needed+field.Name+": $many}")
		}
	}
	return filters
}

// filteredReads returns, for each list of the schema, a query of its rows and one of its total for each condition that it can
// be filtered by, and for each order that it can have.
func filteredReads(t *testing.T) map[string][]string {
	schema, reads := resolvers.Schema(), map[string][]string{}
	for _, object := range schema.Types {
		for _, list := range object.Fields {
			name, where, by := object.Name+"."+list.Name, list.Arguments.ForName("where"), list.Arguments.ForName("orderBy")
			if !strings.HasSuffix(list.Type.Name(), "Connection") || where == nil && by == nil || strings.HasPrefix(object.Name, "__") {
				continue
			}
			if where != nil && !strings.HasSuffix(where.Type.Name(), "Filter") {
				continue // The conditions of a rule need each other. A list of findings has the same ones.
			}
			if parentReads[object.Name] == "" {
				t.Errorf("add to parentReads a query of many objects of the type %s, which has the list %s", object.Name, list.Name)
				continue
			}
			add := func(in, arguments string) {
				arguments = list.Name + "(" + givenArguments[name] + arguments + ", first: "
				for _, part := range []string{arguments + "1) { nodes { __typename } }", arguments + "0) { totalCount }"} {
					reads[name] = append(reads[name], fmt.Sprintf(in, part))
				}
			}
			needed := ""
			if where != nil {
				filters := filtersOf(schema, schema.Types[where.Type.Name()])
				for _, filter := range filters {
					if object != schema.Query && strings.Contains(filter, "$many") {
						continue // Many values in each object cost more than a query may.
					}
					add(parentReads[object.Name], "where: "+filter)
				}
				if where.Type.NonNull {
					needed = "where: " + filters[0] + ", "
				}
			}
			if by == nil {
				continue
			}
			orders := schema.Types[schema.Types[by.Type.Name()].Fields.ForName("field").Type.Name()].EnumValues
			for _, order := range orders {
				add(parentReads[object.Name], needed+"orderBy: {field: "+order.Name+", direction: DESC}")
			}
			for _, in := range sharedParents[object.Name] {
				for _, order := range orders {
					add(in, needed+"orderBy: {field: "+order.Name+", direction: DESC}")
				}
				if where != nil && schema.Types[where.Type.Name()].Fields.ForName("query") != nil {
					add(in, `where: {query: "no such text"}`)
				}
			}
		}
	}
	return reads
}

// smallSizes are a tenth of ordinarySizes.
var smallSizes = sizes{
	repos: 10_000, tags: 10_000, identities: 2_000, bindings: 4_000, advisories: 2_000, organizations: 200, events: 10_000, artifacts: 10_000, deliveries: 10_000, findings: 5_000,
}

// Prices fit lists of 100,000 rows, so in smaller ones fewer rows may be read for each unit of cost. What is counted does
// not depend on how busy the machine is.
func TestABigDatabaseHasAPriceForEveryFilter(t *testing.T) {
	requirePlans(t)
	t.Parallel()
	b := newBigWorld(newWorld(t, storetest.PostgresOrPooled(t)), smallSizes) // with long timeouts: the machine may be busy
	reads := filteredReads(t)
	// What they read does not grow with the rows: all packages of the repos of a version.
	ofVersions := map[string][]string{"PackageVersion.repos": reads["PackageVersion.repos"]}
	delete(reads, "PackageVersion.repos")
	b.checkPrices(t, reads, workPerCost{rows: maxWorkOfCost.rows / 10, buffers: maxWorkOfCost.buffers / 3})
	b.checkPrices(t, ofVersions, maxWorkOfCost)
}

// SQLite does not tell how many rows it reads, but its plans do not depend on them: no query may read the rows of other
// organizations.
func TestABigDatabaseOfSQLiteIsReadWholeByNoFilter(t *testing.T) {
	requirePlans(t)
	t.Parallel()
	b := newBigWorld(newWorld(t, storetest.SQLite(t)), sizes{
		repos: 5_000, tags: 1_000, identities: 200, bindings: 300, advisories: 200, organizations: 5, events: 200, artifacts: 200, deliveries: 200, findings: 1_000,
	})
	seen := map[string]bool{}
	b.priceReads(t, filteredReads(t), func(q *pricedQuery, run func(ctx context.Context) error) {
		statements, err := recordStatements(t.Context(), run)
		if err != nil {
			t.Error(err)
		}
		for _, s := range statements {
			if seen[s.SQL] {
				continue
			}
			seen[s.SQL] = true
			steps := b.explainQueryPlan(t, s)
			for _, step := range steps {
				if fault := findFault(step, steps); fault != "" && fault != sortsAll {
					t.Errorf("%s: %s %s:\n%s\n  %s", q.field, q.text, fault, s.SQL, strings.Join(steps, "\n  "))
				}
			}
		}
	})
}
