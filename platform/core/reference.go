package core

// A UIDReference is a UID in a request that names another resource. The same mistake
// has the same error everywhere:
//
//	required but absent, or not a UID                   INVALID_ARGUMENT, the field
//	the resource cannot be used on the group            INVALID_ARGUMENT, the field
//	the resource does not exist                         NOT_FOUND, the kind and the UID
//
// Whether a resource can be used follows from its UID alone. Thus a caller who
// names a resource of another organization learns nothing about it.
type UIDReference struct {
	unreachable string // violation text for a resource whose group does not contain the group where it would be used
}

// The references in the fields of requests.
var (
	IdentityReference = UIDReference{"can act only within its own group, %s"}
	RoleReference     = UIDReference{"can be bound only within its own group, %s"}
)

// CheckReach checks that the resource uid can be used on group. A UID without a
// parent is accepted, because it can name a built-in role.
func (r UIDReference) CheckReach(v *Violations, field string, uid, group UID) {
	if home := uid.Parent(); home != "" && !group.Within(home) {
		v.Add(field, r.unreachable, home)
	}
}
