package resolvers

import (
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/apierror"
	"atrium/platform"
	"atrium/platform/core"
)

// areas maps the names of schema files, and of some root fields, to the service area
// of these root fields. The file of a kind is named like the kind.
var areas = areasOf(platform.Kinds())

func areasOf(kinds []core.KindInfo) map[string]string {
	areas := map[string]string{
		"capability": "iam", "terms": "iam", "viewer": "iam", "image": "registry", "image_check": "vulnerabilities",
		"advisory_document": "advisory", "resolved_vulnerability": "advisory", "vulnerability": "advisory",
		"search": "registry", "access": "iam", "audit_log": "events", "event": "events", "eventActivity": "events", "auditLogSummary": "events", "auditLogRuns": "events", "advisoryActivity": "vulnerabilities", "findingActivity": "vulnerabilities",
		"due_policy": "vulnerabilities", "operation": "operations", "finding_triage": "vulnerabilities", "finding_ranking": "vulnerabilities", "remediation": "vulnerabilities",
	}
	for _, k := range kinds {
		areas[apierror.SnakeCase(k.Name)] = k.Area
	}
	return areas
}

// requestArea is the area of errors that belong to no kind, such as a document
// that cannot be parsed.
const requestArea = "graphql"

// areaOf returns the service area of the root field that ctx resolves. REST
// takes the area from the path of the request instead.
func areaOf(ctx context.Context) string {
	field := graphql.GetFieldContext(ctx)
	for field != nil && field.Parent != nil && field.Parent.Field.Field != nil {
		field = field.Parent
	}
	if field == nil || field.Field.Field == nil {
		return requestArea
	}
	return areaOfField(field.Field.Definition)
}

func areaOfField(field *ast.FieldDefinition) string {
	if field == nil || field.Position == nil {
		return requestArea
	}
	file := strings.TrimSuffix(path.Base(field.Position.Src.Name), ".graphqls")
	return cmp.Or(areas[file], areas[field.Name], requestArea)
}
