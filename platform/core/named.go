package core

import (
	"context"
	"fmt"
	"slices"
)

// A list by a filter that names a resource, such as the role bindings of an identity, is empty if the
// resource has none. It is also empty if the resource does not exist, or if the caller may not see it.
// NamedMustExist of a ListRequest asks for an error then.

// checkNamed returns NOT_FOUND if an empty list was asked by a resource that does not exist, or of which the
// caller may see nothing.
func (r *Collection[T, F]) checkNamed(ctx context.Context, req ListRequest[F]) error {
	if !req.NamedMustExist {
		return nil
	}
	if err := r.FindNamed(ctx, "uidp.ids", false, req.UIDP.IDs...); err != nil {
		return err
	}
	if r.CheckNames == nil {
		return nil
	}
	listed, err := ActorOf(ctx).ScopesWithAll(r.Kind.ReadCapabilities()...)
	if err != nil {
		return err
	}
	return r.CheckNames(ctx, FillFilter(req.Filter), listed)
}

// FindNamed returns NOT_FOUND with a field unless one of the resources that it names exists. Of a resource that
// the caller may not read, the error is the same whether it exists or not. There is none at all if the caller
// sees the rows that belong to the resource, since their list is then really empty. Callers know that their
// own identities exist.
func (r *Collection[T, F]) FindNamed(ctx context.Context, field string, seesRows bool, uids ...UID) error {
	a := ActorOf(ctx)
	isOwn := func(uid UID) bool { return slices.Contains(a.Identities, uid) }
	if len(uids) == 0 || uids[0] == "" || slices.ContainsFunc(uids, isOwn) {
		return nil
	}
	readable := filterUIDs(uids, func(uid UID) bool { return r.Kind.ReadableBy(a, uid) })
	if len(readable) == 0 && seesRows {
		return nil
	}
	slices.Sort(readable)
	found, err := r.Table.Get(ctx, r.Core.Store, Keys{UIDs: slices.Compact(readable), Without: r.Kind.Hidden})
	if err == nil && len(found) == 0 {
		err = NewNamedNotFound(field, r.Kind.Ref(), uids[0])
	}
	return err
}

// NewNamedNotFound returns the error for a resource that a field names. It does not tell whether the resource
// exists.
func NewNamedNotFound[Name ~string](field string, kind Ref, name Name) *Error {
	description := fmt.Sprintf("%s %s does not exist, or you may not read it", spellKind(kind.Name), name)
	e := NewNotFoundBecause(kind, string(name), description)
	var v Violations
	v.Add(field, "%s", description)
	e.Violations = v
	return e
}

// AnyContains reports whether one of the UIDs is uid or above it.
func AnyContains(uids []UID, uid UID) bool { return slices.ContainsFunc(uids, uid.Within) }

// AnyTouches reports whether one of the UIDs is at, above or below the group that a resource lives under. Built-in
// resources live under none and are of use everywhere.
func AnyTouches(uids []UID, resource UID) bool {
	home := resource.Parent()
	return home == "" || AnyContains(uids, home) || slices.ContainsFunc(uids, func(uid UID) bool { return uid.Within(home) })
}
