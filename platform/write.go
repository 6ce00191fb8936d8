package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// accept authorises a creation under parent and gives the new row.
func (r resources[T, F]) accept(ctx context.Context, parent UID, in Input[T]) (*T, error) {
	TraceOf(ctx).NoteResource(r.kind.Name, parent)
	var v violations
	if _, err := caller(ctx); err != nil {
		return nil, err
	}
	if v.uid("parent", parent); len(v) == 0 {
		if _, err := need(ctx, parent, r.kind.Creating()...); err != nil {
			return nil, err
		}
	}
	row := r.decode(in, &v)
	if err := v.inOrder(r.kind.fieldNames()).err(); err != nil {
		return nil, err
	}
	uid := parent
	if !r.kind.SharesUID {
		uid = parent.newChild()
	}
	r.kind.Stamp(row, uid, r.p.now())
	return row, nil
}

// decode reads a row to be created and checks all of it.
func (r resources[T, F]) decode(in Input[T], v *violations) *T {
	row := in.forCreate(r.kind.Fields, v)
	r.kind.Check(&row, func(field string) bool { return !v.has(field) }, v)
	return &row
}

// create is the whole of a plain kind's Create.
func (r resources[T, F]) create(ctx context.Context, parent UID, in Input[T], same func(*T) F) (*T, error) {
	row, err := r.accept(ctx, parent, in)
	if err != nil {
		return nil, r.refused(ctx, "created", parent, err)
	}
	return r.insert(ctx, parent, row, same, func(Tx) error { return nil })
}

// insert stores a row and records its event, after check in the same
// transaction. same names the row that a duplicate would collide with.
func (r resources[T, F]) insert(ctx context.Context, parent UID, row *T, same func(*T) F, check func(Tx) error) (*T, error) {
	err := r.p.store.Write(ctx, func(tx Tx) error {
		if err := check(tx); err != nil {
			return err
		}
		if err := r.rows(tx).Insert(ctx, row); err != nil {
			return err
		}
		tx.Record(r.p.event(ctx, r.kind.Event, "created", r.kind.UID(row), r.kind.Group(row), row))
		return nil
	})
	switch {
	case errors.Is(err, ErrDuplicate):
		err = r.alreadyExists(ctx, parent, same(row))
	case errors.Is(err, ErrNoParent):
		err = missing(r.kind.Parent, parent)
	}
	if err != nil {
		return nil, r.refused(ctx, "created", parent, err)
	}
	return row, nil
}

// update is the whole of a plain kind's Update.
func (r resources[T, F]) update(ctx context.Context, uid UID, in Input[T], same func(*T) F) (*T, error) {
	return r.updateIf(ctx, uid, in, same, func(Tx, *change[T]) error { return nil })
}

// updateIf writes the fields that in names, after check in the same
// transaction, which may add to the change. Only those columns are written, so
// that two updates of different fields both survive.
func (r resources[T, F]) updateIf(ctx context.Context, uid UID, in Input[T], same func(*T) F, check func(Tx, *change[T]) error) (*T, error) {
	TraceOf(ctx).NoteResource(r.kind.Name, uid)
	change, err := r.change(ctx, uid, in)
	if err != nil {
		return nil, r.refused(ctx, "updated", uid, err)
	}
	if len(change.fields) == 0 {
		return r.unchanged(ctx, uid)
	}
	return r.write(ctx, uid, change, same, check)
}

// locked reads a resource, so that nobody changes who may do what in its
// organisation until the transaction ends.
func (r resources[T, F]) locked(ctx context.Context, tx Tx, uid UID) (*T, error) {
	if err := tx.Lock(ctx, uid.Root()); err != nil {
		return nil, err
	}
	found, err := r.table(tx).Get(ctx, Keys{uids: []UID{uid}})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, r.kind.notFound(uid)
	}
	return found[0], nil
}

// unchanged is the answer to an update that changes nothing.
func (r resources[T, F]) unchanged(ctx context.Context, uid UID) (*T, error) {
	rows, err := r.table(r.p.store).Get(ctx, Keys{uids: []UID{uid}})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, r.kind.notFound(uid)
	}
	return rows[0], nil
}

// write stores the fields of an accepted change.
func (r resources[T, F]) write(ctx context.Context, uid UID, accepted *change[T], same func(*T) F, check func(Tx, *change[T]) error) (*T, error) {
	var row *T
	err := r.p.store.Write(ctx, func(tx Tx) (err error) {
		row, err = r.writeIn(ctx, tx, uid, accepted, check)
		return err
	})
	if err != nil {
		return nil, r.refused(ctx, "updated", uid, r.updateError(ctx, uid, accepted, same, err))
	}
	return row, nil
}

// writeIn stores the fields of an accepted change in a transaction, and records
// it. One without fields changes nothing.
func (r resources[T, F]) writeIn(ctx context.Context, tx Tx, uid UID, accepted *change[T], check func(Tx, *change[T]) error) (*T, error) {
	change := accepted.copy()
	if err := r.mergeParts(ctx, tx, uid, change); err != nil {
		return nil, err
	}
	if err := check(tx, change); err != nil {
		return nil, err
	}
	before, err := r.rows(tx).Current(ctx, uid)
	if err != nil || len(change.fields) == 0 {
		return before, err
	}
	r.kind.Stamp(change.row, uid, r.p.now())
	if err := r.rows(tx).Update(ctx, change.row, change.fields...); err != nil {
		return nil, err
	}
	r.recordUpdate(ctx, tx, change.row, accepted.changesTo(before, change.row, r.kind.Fields))
	return change.row, nil
}

// updateError is what is answered where the store could not write a change.
func (r resources[T, F]) updateError(ctx context.Context, uid UID, accepted *change[T], same func(*T) F, err error) error {
	switch {
	case errors.Is(err, ErrNotFound):
		return r.kind.notFound(uid)
	case errors.Is(err, ErrDuplicate):
		return r.alreadyExists(ctx, r.kind.parent(uid), same(accepted.row))
	}
	return err
}

// recordUpdate records that a resource was updated.
func (r resources[T, F]) recordUpdate(ctx context.Context, tx Tx, row *T, changes []EventChange) {
	e := r.p.event(ctx, r.kind.Event, "updated", r.kind.UID(row), r.kind.Group(row), row)
	e.Changes = changes
	tx.Record(e)
}

// change authorises an update and decodes it. Objects of which only parts are
// written are checked when they are merged.
func (r resources[T, F]) change(ctx context.Context, uid UID, in Input[T]) (*change[T], error) {
	var v violations
	if _, err := caller(ctx); err != nil {
		return nil, err
	}
	if v.uid("uid", uid); len(v) == 0 {
		if _, err := need(ctx, uid, r.kind.Updating()...); err != nil {
			return nil, err
		}
	}
	c := in.forUpdate(r.kind.Fields, &v)
	r.kind.Check(c.row, func(field string) bool { return c.writes(field) && !c.writesPart(field) && !v.has(field) }, &v)
	if err := r.checkClaims(ctx, uid, c, &v); err != nil && len(v) == 0 {
		return nil, err
	}
	return c, v.inOrder(r.kind.fieldNames()).err()
}

// checkClaims refuses output-only fields of a body that are not what the
// resource has. The uid of the resource says that the body is the resource as
// it was read: what the service has changed since is no fault of it.
func (r resources[T, F]) checkClaims(ctx context.Context, uid UID, c *change[T], v *violations) error {
	whole := slices.Contains(c.claims, "uid") && r.kind.UID(&c.claimed) == uid
	claims := slices.DeleteFunc(slices.Clone(c.claims), func(name string) bool {
		f := findField(r.kind.Fields, name)
		return v.has(name) || whole && (name == "uid" || f.Mode == Volatile)
	})
	if len(claims) == 0 || !uid.Valid() {
		return nil
	}
	current, err := r.unchanged(ctx, uid)
	if err != nil {
		return err
	}
	for _, name := range claims {
		if !sameField(&c.claimed, current, name) {
			v.add(name, "is set by the service and cannot be changed; leave it out, or send what was read")
		}
	}
	return nil
}

// mergeParts completes the objects of which a change writes parts with what is
// stored of them, which nobody changes meanwhile.
func (r resources[T, F]) mergeParts(ctx context.Context, tx Tx, uid UID, c *change[T]) error {
	if len(c.parts) == 0 {
		return nil
	}
	current, err := r.locked(ctx, tx, uid)
	if err != nil {
		return err
	}
	var v violations
	c.merge(current, c.row, &v)
	r.kind.Check(c.row, func(field string) bool { return c.writesPart(field) && !v.has(field) }, &v)
	return v.inOrder(r.kind.fieldNames()).err()
}

// remove is the whole of a plain kind's Delete.
func (r resources[T, F]) remove(ctx context.Context, uid UID) error {
	return r.removeIf(ctx, uid, func(Tx, UID) error { return nil })
}

func (r resources[T, F]) removeIf(ctx context.Context, uid UID, check func(Tx, UID) error) error {
	err := r.mayRemove(ctx, uid)
	if err == nil {
		err = r.removeError(uid, r.p.store.Write(ctx, func(tx Tx) error { return r.removeIn(ctx, tx, uid, check) }))
	}
	return r.refused(ctx, "deleted", uid, err)
}

// mayRemove authorises a deletion.
func (r resources[T, F]) mayRemove(ctx context.Context, uid UID) error {
	TraceOf(ctx).NoteResource(r.kind.Name, uid)
	if _, err := caller(ctx); err != nil {
		return err
	}
	if err := invalidUID("uid", uid); err != nil {
		return err
	}
	_, err := need(ctx, uid, r.kind.Delete)
	return err
}

// removeIn deletes a resource in a transaction, and records it.
func (r resources[T, F]) removeIn(ctx context.Context, tx Tx, uid UID, check func(Tx, UID) error) error {
	if err := check(tx, uid); err != nil {
		return err
	}
	row, err := r.rows(tx).Delete(ctx, uid)
	if err != nil {
		return err
	}
	tx.Record(r.p.event(ctx, r.kind.Event, "deleted", uid, r.kind.Group(row), row))
	return nil
}

// removeError is what is answered where the store could not delete.
func (r resources[T, F]) removeError(uid UID, err error) error {
	switch {
	case errors.Is(err, ErrNotFound):
		return r.kind.notFound(uid)
	case errors.Is(err, ErrReferenced):
		return blocked(r.kind.Blocked, string(uid), r.kind.blockedBecause())
	}
	return err
}

func (k *Kind[T]) blockedBecause() string {
	if k.Blocked == "RESOURCE_IN_USE" {
		return fmt.Sprintf("the %s is in use by other resources", spoken(k.Name))
	}
	return fmt.Sprintf("the %s still holds other resources", spoken(k.Name))
}

// alreadyExists names the sibling that has the unique key.
func (r resources[T, F]) alreadyExists(ctx context.Context, parent UID, same F) error {
	scope := scopeOf(Branch{Relation: Children, UID: parent})
	rows, err := r.table(r.p.store).List(ctx, Query[F]{Scope: scope, Filter: same, Order: r.kind.DefaultOrder, Limit: 1, Parts: PartItems})
	if err != nil {
		return err
	}
	var uid UID
	if len(rows.Items) > 0 { // it can have gone again meanwhile
		uid = r.kind.UID(rows.Items[0])
	}
	return exists(r.kind.Name, uid)
}
