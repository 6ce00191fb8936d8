package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// isHeld reports whether the field that ctx resolves is answered without a read, from its
// parents and the caller.
func isHeld(ctx context.Context) bool {
	switch field := graphql.GetFieldContext(ctx); field.Field.Name {
	case "viewerCan", "viewerCapabilities", "etag":
		return true
	case "identity", "group", "role":
		return field.Object == "RoleBinding" && bindingHasSelection(ctx)
	}
	return false
}

// bindingFields are the fields of the identity, the group and the role that are read
// together with a role binding. A selection of nothing else needs no second read.
var bindingFields = map[string]bool{"__typename": true, "id": true, "uid": true, "name": true, "description": true}

// bindingHasSelection reports whether a role binding already holds every field
// that is selected of the edge that ctx resolves.
func bindingHasSelection(ctx context.Context) bool {
	for field := range selectedFields(ctx) {
		if !bindingFields[field.Name] {
			return false
		}
	}
	return true
}

// answerFromBindings answers an edge of role bindings from the bindings
// themselves, after the access check that a read would make. It answers nil
// where a binding has no uid for the edge.
func answerFromBindings[T any](ctx context.Context, bindings []*iam.RoleBinding, uid func(*iam.RoleBinding) core.UID, check func(context.Context, core.UID) error, show func(*iam.RoleBinding) T) ([]*T, error) {
	shown, n := make([]T, len(bindings)), 0
	var readable core.UID // the last UID that has passed the check
	return forEach(ctx, bindings, func(b *iam.RoleBinding) (*T, error) {
		uid := uid(b)
		if uid == "" {
			return nil, nil
		}
		if uid != readable {
			if err := check(ctx, uid); err != nil {
				return nil, err
			}
			readable = uid
		}
		to := &shown[n]
		*to, n = show(b), n+1
		return to, nil
	})
}
