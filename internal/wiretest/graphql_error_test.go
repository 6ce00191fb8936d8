package wiretest

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

func TestAnErrorThatTheSchemaDoesNotDescribeIsFound(t *testing.T) {
	t.Parallel()
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: `
		type Query { a: Int }
		"Each can have these too: INTERNAL."
		type Mutation {
			"Makes it. Reasons: NOT_FOUND."
			make: Int
			"Breaks it."
			break: Int
		}
		type ErrorExtensions { status: Int! reason: ErrorReason! fields: [FieldViolation!] }
		type FieldViolation { path: [PathSegment!]! message: String! }
		scalar PathSegment
		enum ErrorReason { INTERNAL NOT_FOUND ABORTED }`})
	for response, want := range map[string]string{
		`{"errors": [{"path": ["it"], "extensions": {"status": 5, "reason": "NOT_FOUND"}}]}`:        "",
		`{"errors": [{"path": ["it"], "extensions": {"status": 13, "reason": "INTERNAL"}}]}`:        "",
		`{"errors": [{"path": ["it"], "extensions": {"status": 10, "reason": "ABORTED"}}]}`:         "make fails with ABORTED",
		`{"errors": [{"path": ["it", "node"], "extensions": {"status": 10, "reason": "ABORTED"}}]}`: "",
		`{"errors": [{"path": ["other"], "extensions": {"status": 13, "reason": "INTERNAL"}}]}`:     "break fails with INTERNAL",
		`{"errors": [{}]}`: "extensions.status is null",
		`{"errors": [{"extensions": {"status": 5, "reason": "GONE"}}]}`:                                                                    "extensions.reason is GONE",
		`{"errors": [{"extensions": {"status": "5", "reason": "NOT_FOUND"}}]}`:                                                             "extensions.status is no Int",
		`{"errors": [{"extensions": {"status": 5, "reason": "NOT_FOUND", "more": 1}}]}`:                                                    "extensions.more is not in",
		`{"errors": [{"extensions": {"status": 5, "reason": "NOT_FOUND", "fields": {}}}]}`:                                                 "extensions.fields is no list",
		`{"errors": [{"extensions": {"status": 5, "reason": "NOT_FOUND", "fields": [{"path": ["a", 1], "message": "x"}]}}]}`:               "",
		`{"errors": [{"extensions": {"status": 5, "reason": "NOT_FOUND", "fields": [{"path": ["a", {}], "message": "x"}]}}]}`:              "extensions.fields[0].path[1] is no PathSegment",
		`{"errors": [{"extensions": {"status": 5, "reason": "NOT_FOUND", "fields": [{"path": ["a"], "message": "x"}, {"path": ["a"]}]}}]}`: "extensions.fields[1].message is null",
	} {
		got := ""
		if err := CheckErrors(schema, `mutation { it: make other: break }`, []byte(response)); err != nil {
			got = err.Error()
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", response, got, want)
		}
	}
}
