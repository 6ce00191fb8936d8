package resolvers

import (
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// areas are the service areas that root fields belong to, by the files of the
// schema that define them, one for each kind.
var areas = map[string]string{
	"account_association": "iam", "capability": "iam", "external_group_role_mapping": "iam", "group": "iam", "group_invite": "iam",
	"identity": "iam", "identity_provider": "iam", "role": "iam", "role_binding": "iam", "terms": "iam", "viewer": "iam",
	"image": "registry", "repo": "registry", "tag": "registry",
	"advisory": "vulnerabilities", "advisory_document": "advisory", "resolved_vulnerability": "advisory", "vulnerability": "advisory",
	"artifact": "libraries", "artifact_version": "libraries",
	"audit_log": "events", "delivery": "events", "event": "events", "subscription": "events",
}

// requestArea is that of what belongs to no kind, such as a document that
// cannot be read.
const requestArea = "graphql"

// areaOf is the service area that the root field of an error belongs to, as
// the path of a request has one in REST.
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
