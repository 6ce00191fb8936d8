package platform

import "context"

// A reference is a UID in a request that names another resource. The same
// mistake is answered the same, wherever the reference stands:
//
//	absent where it is needed, or no UID       INVALID_ARGUMENT, the field
//	of a resource that cannot count there      INVALID_ARGUMENT, the field
//	of what does not exist                     NOT_FOUND, the kind and the UID
//
// What could be is read off the path of the UID, so that who names something
// of another organisation learns nothing about it.
type reference struct {
	kind       string // of what is named
	outOfReach string // what is wrong with one whose group does not hold the place where it is to count
}

// The references that requests hold in their fields.
var (
	toIdentity = reference{kind: "Identity", outOfReach: "acts only within the group it lives under, %s"}
	toRole     = reference{kind: "Role", outOfReach: "can be bound only within the group it lives under, %s"}
)

// checkReach checks that what uid names can count on group. A UID without a group
// above it names a built-in role, or nothing: which of both, reading tells.
func (r reference) checkReach(v *violations, field string, uid, group UID) {
	if home := uid.Parent(); home != "" && !group.Within(home) {
		v.add(field, r.outOfReach, home)
	}
}

// resolve reads what a reference names.
func resolve[T any](ctx context.Context, kind string, uid UID, get func(context.Context, Keys) ([]*T, error)) (*T, error) {
	found, err := get(ctx, Keys{uids: []UID{uid}})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, missing(kind, uid)
	}
	return found[0], nil
}
