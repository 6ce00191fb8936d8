package platform

import (
	"context"
	"slices"
)

// Get reads one resource. INVALID_ARGUMENT, PERMISSION_DENIED, NOT_FOUND.
func (r resources[T, F]) Get(ctx context.Context, uid UID) (*T, error) {
	rows, errs := r.GetMany(ctx, []UID{uid})
	return rows[0], errs[0]
}

// GetMany reads resources in the order of uids, with one read. Each place
// holds either a resource or the error that Get would answer.
func (r resources[T, F]) GetMany(ctx context.Context, uids []UID) ([]*T, []error) {
	return r.GetManyWithout(ctx, uids, 0)
}

// GetManyWithout is GetMany without long texts.
func (r resources[T, F]) GetManyWithout(ctx context.Context, uids []UID, texts LongTexts) ([]*T, []error) {
	read := func(ctx context.Context, keys Keys) ([]*T, error) {
		keys.without = texts
		return r.table(r.p.store).Get(ctx, keys)
	}
	return readEach(ctx, r, uids, read, r.kind.UID)
}

// readEach reads what belongs to each of the UIDs of kind r that the caller
// may read, with one read.
func readEach[T, V any, F filter](ctx context.Context, r resources[T, F], uids []UID, read func(context.Context, Keys) ([]*V, error), uidOf func(*V) UID) ([]*V, []error) {
	rows, errs := make([]*V, len(uids)), make([]error, len(uids))
	if len(uids) > 0 {
		TraceOf(ctx).NoteResource(r.kind.Name, uids[0])
	}
	actor, err := caller(ctx)
	var keys Keys
	for i, uid := range uids {
		if errs[i] = err; err == nil {
			errs[i] = r.kind.in(r.readable(actor, uid))
		}
		if errs[i] == nil {
			keys.uids = append(keys.uids, uid)
		}
	}
	if len(keys.uids) == 0 {
		return rows, errs
	}
	slices.Sort(keys.uids)
	keys.uids = slices.Compact(keys.uids)
	found, err := read(ctx, keys)
	byUID := make(map[UID]*V, len(found))
	for _, row := range found {
		byUID[uidOf(row)] = row
	}
	for i, uid := range uids {
		switch {
		case errs[i] != nil:
		case err != nil:
			errs[i] = err
		case byUID[uid] == nil:
			errs[i] = r.kind.notFound(uid)
		default:
			rows[i] = byUID[uid]
		}
	}
	return rows, errs
}

// CheckReadable gives the error that Get would answer the caller whatever there
// is: INVALID_ARGUMENT, PERMISSION_DENIED, or none. It is for who knows from
// another row, read just now, that the resource exists.
func (r resources[T, F]) CheckReadable(ctx context.Context, uid UID) error {
	actor, err := caller(ctx)
	if err != nil {
		return err
	}
	return r.kind.in(r.readable(actor, uid))
}

func (r resources[T, F]) readable(a *Actor, uid UID) error {
	if !uid.Valid() {
		return invalidUID("uid", uid)
	}
	if !r.kind.readableBy(a, uid) {
		if r.kind.Shared {
			uid = "" // no grant on it would help
		}
		return a.lacks(r.kind.List, uid)
	}
	return nil
}

func invalidUID(field string, uid UID) error {
	var v violations
	v.uid(field, uid)
	return v.err()
}

// scopeExists tells an empty scope from one that is not there. It is asked
// only when a list found nothing.
func (r resources[T, F]) scopeExists(ctx context.Context, f UIDFilter) error {
	scopes := []struct {
		kind string
		uid  UID
	}{{"Group", f.AncestorsOf}, {"Group", f.DescendantsOf}, {r.kind.Parent, f.ChildrenOf}}
	for _, scope := range scopes {
		if scope.uid == "" {
			continue
		}
		switch found, err := r.p.store.Exists(ctx, scope.uid); {
		case err != nil:
			return err
		case !found:
			return missing(scope.kind, scope.uid)
		}
	}
	return nil
}
