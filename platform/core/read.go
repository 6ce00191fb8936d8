package platform

import (
	"cmp"
	"context"
	"slices"
)

// Get reads one resource. It returns INVALID_ARGUMENT, PERMISSION_DENIED or
// NOT_FOUND if it cannot.
func (r *Collection[T, F]) Get(ctx context.Context, uid UID) (T, error) {
	rows, errs := r.GetMany(ctx, []UID{uid})
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
		keys.Without = fields | r.kind.Hidden
		return r.table.Get(ctx, on, keys)
	}
	return readEach(ctx, r, uids, read, r.kind.UID)
}

// readEach reads a value for each UID of the kind that the caller may read, with
// one read. Other UIDs have an error.
func readEach[T, V any, F filter](ctx context.Context, r *Collection[T, F], uids []UID, read func(context.Context, Conn, Keys) ([]V, error), uidOf func(V) UID) ([]V, []error) {
	rows, errs := make([]V, len(uids)), make([]error, len(uids))
	if len(uids) > 0 {
		TraceOf(ctx).NoteResource(r.kind.Name, uids[0])
	}
	actor, err := requireCaller(ctx)
	var keys Keys
	for i, uid := range uids {
		if errs[i] = err; err == nil {
			errs[i] = r.kind.addArea(r.checkReadableBy(actor, uid))
			if actor.checks != nil {
				actor.checks.add(r.kind.newAccessCheck(uid, errs[i] == nil))
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
	found, err := read(ctx, r.core.store, keys)
	slices.SortFunc(found, func(a, b V) int { return cmp.Compare(uidOf(a), uidOf(b)) })
	for i, uid := range uids {
		switch at, known := slices.BinarySearchFunc(found, uid, func(row V, uid UID) int { return cmp.Compare(uidOf(row), uid) }); {
		case errs[i] != nil:
		case err != nil:
			errs[i] = err
		case !known:
			errs[i] = r.kind.notFound(uid)
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
	actor, err := requireCaller(ctx)
	if err != nil {
		return err
	}
	return r.kind.addArea(r.checkReadableBy(actor, uid))
}

func (r *Collection[T, F]) checkReadableBy(a *Actor, uid UID) error {
	if !uid.Valid() {
		return invalidUID("uid", uid)
	}
	if !r.kind.readableBy(a, uid) {
		return r.kind.refuseReadingOf(a, uid)
	}
	return nil
}

func invalidUID(field string, uid UID) error {
	var v violations
	v.checkUID(field, uid)
	return v.err()
}

// scopeExists returns NOT_FOUND if the resource of a scope does not exist. It is
// called only when a list is empty.
func (r *Collection[T, F]) scopeExists(ctx context.Context, f UIDFilter) error {
	scopes := []struct {
		kind Ref
		uid  UID
	}{{groupRef, f.AncestorsOf}, {groupRef, f.DescendantsOf}, {r.kind.Parent, f.ChildrenOf}}
	for _, scope := range scopes {
		if scope.uid == "" {
			continue
		}
		switch found, err := r.core.store.Exists(ctx, scope.uid); {
		case err != nil:
			return err
		case !found:
			return newNotFound(scope.kind, scope.uid)
		}
	}
	return nil
}
