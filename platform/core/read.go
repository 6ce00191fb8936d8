package core

import (
	"cmp"
	"context"
	"slices"
)

// Get reads one resource. It returns INVALID_ARGUMENT, PERMISSION_DENIED or
// NOT_FOUND if it cannot.
func (r *Collection[T, F]) Get(ctx context.Context, uid UID) (T, error) {
	rows, errs := r.GetMany(ctx, []UID{uid})
	if errs[0] == nil {
		noteETag(ctx, r.Kind, &rows[0], false)
	}
	return rows[0], errs[0]
}

// GetMany reads resources with one read. The results are in the order of uids;
// each has a resource or the error of Get.
func (r *Collection[T, F]) GetMany(ctx context.Context, uids []UID) ([]T, []error) {
	return r.GetManyWithout(ctx, uids, 0)
}

// GetManyWithout is like GetMany, but leaves the given fields empty.
func (r *Collection[T, F]) GetManyWithout(ctx context.Context, uids []UID, fields CostlyFields) ([]T, []error) {
	read := func(ctx context.Context, on Conn, keys Keys) ([]T, error) {
		keys.Without = fields | r.Kind.Hidden
		return r.Table.Get(ctx, on, keys)
	}
	return ReadEach(ctx, r, uids, read, r.Kind.UID)
}

// ReadEach reads a value for each UID of the kind that the caller may read, with
// one read. Other UIDs have an error.
func ReadEach[T, V any, F Filter](ctx context.Context, r *Collection[T, F], uids []UID, read func(context.Context, Conn, Keys) ([]V, error), uidOf func(V) UID) ([]V, []error) {
	rows, errs := make([]V, len(uids)), make([]error, len(uids))
	if len(uids) > 0 {
		TraceOf(ctx).NoteResource(r.Kind.Name, uids[0])
	}
	actor, err := RequireCaller(ctx)
	var keys Keys
	for i, uid := range uids {
		if errs[i] = err; err == nil {
			errs[i] = r.Kind.AddArea(r.checkReadableBy(actor, uid))
			if actor.checks != nil {
				actor.checks.add(r.Kind.newAccessCheck(uid, errs[i] == nil))
			}
		}
		if errs[i] == nil {
			keys.UIDs = append(keys.UIDs, uid)
		}
	}
	if len(keys.UIDs) == 0 {
		return rows, errs
	}
	slices.Sort(keys.UIDs)
	keys.UIDs = slices.Compact(keys.UIDs)
	found, err := read(ctx, r.Core.Store, keys)
	slices.SortFunc(found, func(a, b V) int { return cmp.Compare(uidOf(a), uidOf(b)) })
	for i, uid := range uids {
		switch at, known := slices.BinarySearchFunc(found, uid, func(row V, uid UID) int { return cmp.Compare(uidOf(row), uid) }); {
		case errs[i] != nil:
		case err != nil:
			errs[i] = err
		case !known:
			errs[i] = r.Kind.NotFound(uid)
		default:
			rows[i] = found[at]
		}
	}
	return rows, errs
}

// CheckReadable returns the error of Get that does not depend on the store:
// INVALID_ARGUMENT, PERMISSION_DENIED or nil. It is for resources that are known to
// exist from a row that was just read.
func (r *Collection[T, F]) CheckReadable(ctx context.Context, uid UID) error {
	actor, err := RequireCaller(ctx)
	if err != nil {
		return err
	}
	return r.Kind.AddArea(r.checkReadableBy(actor, uid))
}

func (r *Collection[T, F]) checkReadableBy(a *Actor, uid UID) error {
	if !uid.Valid() {
		return InvalidUID("uid", uid)
	}
	if !r.Kind.ReadableBy(a, uid) {
		return r.Kind.RefuseReadingOf(a, uid)
	}
	return nil
}

// InvalidUID returns INVALID_ARGUMENT unless uid is a UID.
func InvalidUID(field string, uid UID) error {
	var v Violations
	v.CheckUID(field, uid)
	return v.Err()
}

// ScopeExists returns NOT_FOUND if the resource of a scope does not exist. It is
// called only when a list is empty.
func (r *Collection[T, F]) ScopeExists(ctx context.Context, f UIDFilter) error {
	scopes := []struct {
		kind Ref
		uid  UID
	}{{GroupRef, f.AncestorsOf}, {GroupRef, f.DescendantsOf}, {r.Kind.Parent, f.ChildrenOf}}
	for _, scope := range scopes {
		if scope.uid == "" {
			continue
		}
		switch found, err := r.Core.Store.Exists(ctx, scope.uid); {
		case err != nil:
			return err
		case !found:
			return NewNotFound(scope.kind, scope.uid)
		}
	}
	return nil
}
