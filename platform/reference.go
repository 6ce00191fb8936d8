package platform

import "context"

// A reference is a UID in a request that names another resource. The same mistake
// has the same error everywhere:
//
//	required but absent, or not a UID                   INVALID_ARGUMENT, the field
//	the resource cannot be used on the group            INVALID_ARGUMENT, the field
//	the resource does not exist                         NOT_FOUND, the kind and the UID
//
// Whether a resource can be used follows from its UID alone. Thus a caller who
// names a resource of another organisation learns nothing about it.
type reference struct {
	kind        string // the kind of the named resource
	unreachable string // violation text for a resource whose group does not contain the group where it would be used
}

// The references in the fields of requests.
var (
	identityReference = reference{kind: "Identity", unreachable: "acts only within the group it lives under, %s"}
	roleReference     = reference{kind: "Role", unreachable: "can be bound only within the group it lives under, %s"}
)

// checkReach checks that the resource uid can be used on group. A UID without a
// parent is accepted, because it can name a built-in role.
func (r reference) checkReach(v *violations, field string, uid, group UID) {
	if home := uid.Parent(); home != "" && !group.Within(home) {
		v.add(field, r.unreachable, home)
	}
}

// resolve reads the resource that a reference names.
func resolve[T any](ctx context.Context, kind string, uid UID, get func(context.Context, Keys) ([]T, error)) (zero T, _ error) {
	found, err := get(ctx, Keys{uids: []UID{uid}})
	if err != nil {
		return zero, err
	}
	if len(found) == 0 {
		return zero, newNotFound(kind, uid)
	}
	return found[0], nil
}
