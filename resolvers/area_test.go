package resolvers

import (
	"fmt"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

func TestErrorsWithoutAnAreaHaveThatOfTheirRootField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for query, want := range map[string]string{
		`{ repos { nodes { uid } } }`:         "registry",
		`{ a: advisories { nodes { uid } } }`: "vulnerabilities",
		`{ groups { nodes { uid } } }`:        "iam",
		`{ accessChanges(within: "x", from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z") { complete } }`: "iam",
		`{ auditLog { nodes { id } } }`:                                "events",
		`{ advisoryDocuments { nodes { documentId } } }`:               "advisory",
		`{ artifacts(where: {ecosystems: [JAVA]}) { nodes { uid } } }`: "libraries",
		`{ nonsense }`: "graphql",
		`{ __typename`: "graphql",
		`{ viewer { can(capability: REPO_LIST, within: "x") } }`: "iam",
	} {
		got := w.askAs(nobody, query)
		if len(got.Errors) == 0 || fmt.Sprint(got.Errors[0].Extensions.Details[0]["domain"]) != want+".example.org" {
			t.Errorf("%s fails with %+v, want the area %s", query, got.Errors, want)
		}
	}
}

func TestEveryRootFieldHasAnArea(t *testing.T) {
	t.Parallel()
	schema := schemaOf()
	for _, root := range []*ast.Definition{schema.Query, schema.Mutation, schema.Subscription} {
		for _, field := range root.Fields {
			switch field.Name {
			case "node", "nodes", "ping", "_service", "_entities", "__schema", "__type":
				continue
			}
			if areaOfField(field) == requestArea {
				t.Errorf("%s.%s has no area", root.Name, field.Name)
			}
		}
	}
}

// Clients choose the names of claims, so an error does not spell them as arguments.
func TestAnErrorKeepsTheNamesOfClaims(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.askAs(theOwner, `mutation($org: UID!) { createIdentity(input: {parent: $org, name: "x", claimMatch: {issuer: "https://issuer.example.com", subjectPattern: ".*", claimPatterns: {event_id: "("}}}) { identity { uid } } }`, "org", w.org)
	if field, want := got.violations(), "claimMatch.claimPatterns.event_id"; field != want {
		t.Errorf("the error names %q, want %q", field, want)
	}
}
