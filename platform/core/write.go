package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atrium/platform/fieldmask"
)

// authorizeCreate authorises and checks a creation below parent and returns the
// new row.
func (r *Collection[T, F]) authorizeCreate(ctx context.Context, parent UID, in fieldmask.Input[T]) (zero T, _ error) {
	TraceOf(ctx).NoteResource(r.kind.Name, parent)
	var v violations
	if _, err := requireCaller(ctx); err != nil {
		return zero, err
	}
	if v.checkUID("parent", parent); len(v) == 0 {
		if _, err := require(ctx, parent, r.kind.CreateCapabilities()...); err != nil {
			return zero, err
		}
	}
	row := r.decode(in, &v)
	if deepest := maxDepth - 1 - r.kind.LevelsInside; !r.kind.SharesUID && parent.Depth() > deepest {
		v.add("parent", "lies too deep: a %s can be at most %d levels below its organisation; choose a group further up", r.kind.Name, deepest)
	}
	if err := v.sortByField(r.kind.fieldNames()).err(); err != nil {
		return zero, err
	}
	uid := parent
	if !r.kind.SharesUID {
		uid = parent.newChild()
	}
	r.kind.Stamp(row, uid, r.core.now())
	return row, nil
}

// decode decodes and checks a row to be created.
func (r *Collection[T, F]) decode(in fieldmask.Input[T], v *violations) T {
	row, found := in.DecodeCreate(r.kind.Fields, func(claimed T) bool { return r.kind.UID(claimed).Valid() })
	*v = append(*v, found...)
	r.kind.Check(row, func(field string) bool { return !v.has(field) }, v)
	return row
}

// create is the complete Create of a kind without special rules.
func (r *Collection[T, F]) create(ctx context.Context, parent UID, in fieldmask.Input[T]) (zero T, _ error) {
	row, err := r.authorizeCreate(ctx, parent, in)
	if err != nil {
		return zero, r.recordIfDenied(ctx, "created", parent, err)
	}
	return r.insert(ctx, parent, row, func(Tx) error { return nil })
}

// insert stores a row and records its event. It calls check before, in the same
// transaction.
func (r *Collection[T, F]) insert(ctx context.Context, parent UID, row T, check func(Tx) error) (zero T, _ error) {
	err := r.core.store.Write(ctx, func(tx Tx) error {
		if err := check(tx); err != nil {
			return err
		}
		return r.insertInTx(ctx, tx, row)
	})
	if err != nil {
		return zero, r.recordIfDenied(ctx, "created", parent, r.insertError(ctx, parent, row, err))
	}
	return row, nil
}

// insertInTx stores a row in a transaction and records its event.
func (r *Collection[T, F]) insertInTx(ctx context.Context, tx Tx, row T) error {
	created := r.creationEvent(ctx, row)
	if err := r.table.Insert(ctx, tx, row); err != nil {
		return err
	}
	tx.Record(created)
	return nil
}

// creationEvent returns the event of the creation of a row.
func (r *Collection[T, F]) creationEvent(ctx context.Context, row T) *Event {
	e := r.core.event(ctx, r.kind.Event, "created", r.kind.UID(row), r.kind.Group(row), row)
	if r.kind.Begin != nil {
		r.kind.Begin(row, e)
	}
	return e
}

// insertError converts an error of the store into that of a creation.
func (r *Collection[T, F]) insertError(ctx context.Context, parent UID, row T, err error) error {
	switch {
	case errors.Is(err, ErrDuplicate):
		return r.alreadyExists(ctx, parent, row)
	case errors.Is(err, ErrNoParent):
		return newNotFound(r.kind.Parent, parent)
	}
	return err
}

// update is the complete Update of a kind without special rules.
func (r *Collection[T, F]) update(ctx context.Context, uid UID, in fieldmask.Input[T]) (T, error) {
	return r.updateChecked(ctx, uid, in, allowChange)
}

// updateChecked writes the fields that in names. It calls check before, in the
// same transaction; check may extend the change. Only these columns are written, so
// that concurrent updates of different fields do not overwrite each other.
func (r *Collection[T, F]) updateChecked(ctx context.Context, uid UID, in fieldmask.Input[T], check func(Tx, *fieldmask.Change[T]) error) (zero T, _ error) {
	TraceOf(ctx).NoteResource(r.kind.Name, uid)
	change, err := r.authorizeUpdate(ctx, uid, in)
	if err != nil {
		return zero, r.recordIfDenied(ctx, "updated", uid, err)
	}
	if len(change.Fields) == 0 {
		return r.getCurrent(ctx, uid)
	}
	var row T
	err = r.core.store.Write(ctx, func(tx Tx) (err error) {
		row, err = r.writeInTx(ctx, tx, uid, change, check)
		return err
	})
	if err != nil {
		return zero, r.recordIfDenied(ctx, "updated", uid, r.updateError(ctx, uid, change, err))
	}
	return row, nil
}

// getLocked reads a resource and locks its organisation, so that no grants change
// until the transaction ends.
func (r *Collection[T, F]) getLocked(ctx context.Context, tx Tx, uid UID) (zero T, _ error) {
	tx.Lock(uid.Root())
	return r.getRow(ctx, tx, uid)
}

// getCurrent reads a resource that the caller has been authorised for. It is the
// response to an update that changes nothing.
func (r *Collection[T, F]) getCurrent(ctx context.Context, uid UID) (T, error) {
	return r.getRow(ctx, r.core.store, uid)
}

// getRow reads a resource. It does not check the rights of the caller.
func (r *Collection[T, F]) getRow(ctx context.Context, from Conn, uid UID) (zero T, _ error) {
	rows, err := r.table.Get(ctx, from, Keys{UIDs: []UID{uid}})
	if err != nil {
		return zero, err
	}
	if len(rows) == 0 {
		return zero, r.kind.notFound(uid)
	}
	return rows[0], nil
}

// findRows reads those of some resources that exist. It does not check the rights of the caller.
func (r *Collection[T, F]) findRows(ctx context.Context, from Conn, uids []UID) (map[UID]T, error) {
	rows, err := r.table.Get(ctx, from, Keys{UIDs: slices.Compact(slices.Sorted(slices.Values(uids)))})
	found := make(map[UID]T, len(rows))
	for _, row := range rows {
		found[r.kind.UID(row)] = row
	}
	return found, err
}

// writeInTx stores the fields of an authorised change in a transaction and records
// its event. A change without fields changes nothing.
func (r *Collection[T, F]) writeInTx(ctx context.Context, tx Tx, uid UID, accepted *fieldmask.Change[T], check func(Tx, *fieldmask.Change[T]) error) (zero T, _ error) {
	rows, _, err := r.writeAllInTx(ctx, tx, []UID{uid}, []*fieldmask.Change[T]{accepted}, check)
	if err != nil {
		return zero, err
	}
	return rows[0], nil
}

// writeAllInTx does so with changes of many rows. After an error, it returns the index of the change that caused it, or
// noRow.
func (r *Collection[T, F]) writeAllInTx(ctx context.Context, tx Tx, uids []UID, accepted []*fieldmask.Change[T], check func(Tx, *fieldmask.Change[T]) error) (rows []T, failing int, err error) {
	rows = make([]T, len(uids))
	var changes []RowChange[T]
	var indices []int
	for _, i := range sortIndices(uids) {
		change := accepted[i].Clone()
		if err := r.mergeParts(ctx, tx, uids[i], change); err != nil {
			return nil, i, err
		}
		if err := check(tx, change); err != nil {
			return nil, i, err
		}
		if len(change.Fields) == 0 {
			if rows[i], err = r.getRow(ctx, tx, uids[i]); err != nil {
				return nil, i, err
			}
			continue
		}
		r.kind.Stamp(change.Row, uids[i], r.core.now())
		rows[i] = change.Row
		changes, indices = append(changes, RowChange[T]{change.Row, change.Fields}), append(indices, i)
	}
	before, err := r.table.UpdateAll(ctx, tx, changes...)
	switch {
	case err != nil && len(before) < len(indices):
		return nil, indices[len(before)], err
	case err != nil:
		return nil, noRow, err
	}
	for n, i := range indices {
		r.recordUpdate(ctx, tx, rows[i], describeChanges(accepted[i], before[n], rows[i], r.kind.Fields))
	}
	return rows, noRow, nil
}

// updateError converts an error of the store into that of an update.
func (r *Collection[T, F]) updateError(ctx context.Context, uid UID, accepted *fieldmask.Change[T], err error) error {
	switch {
	case errors.Is(err, ErrNotFound):
		return r.kind.notFound(uid)
	case errors.Is(err, ErrDuplicate):
		return r.alreadyExists(ctx, r.kind.parent(uid), accepted.Row)
	}
	return err
}

// recordUpdate records the event of an update.
func (r *Collection[T, F]) recordUpdate(ctx context.Context, tx Tx, row T, changes []EventChange) {
	e := r.core.event(ctx, r.kind.Event, "updated", r.kind.UID(row), r.kind.Group(row), row)
	e.Changes = changes
	tx.Record(e)
}

// authorizeUpdate authorises and decodes an update. Objects of which only parts
// are written are checked later, when they are merged.
func (r *Collection[T, F]) authorizeUpdate(ctx context.Context, uid UID, in fieldmask.Input[T]) (*fieldmask.Change[T], error) {
	var v violations
	if _, err := requireCaller(ctx); err != nil {
		return nil, err
	}
	if v.checkUID("uid", uid); len(v) == 0 {
		if _, err := require(ctx, uid, r.kind.UpdateCapabilities()...); err != nil {
			return nil, err
		}
	}
	c, found := in.DecodeUpdate(r.kind.Fields)
	v = append(v, found...)
	r.kind.Check(c.Row, func(field string) bool { return c.Writes(field) && !c.WritesPart(field) && !v.has(field) }, &v)
	if err := r.checkClaims(ctx, uid, c, &v); err != nil && len(v) == 0 {
		return nil, err
	}
	return c, v.sortByField(r.kind.fieldNames()).err()
}

// checkClaims rejects output-only fields of a body or a mask whose values differ from those
// of the resource. A body with the uid of the resource is taken for the resource as
// it was read: then volatile fields are not compared.
func (r *Collection[T, F]) checkClaims(ctx context.Context, uid UID, c *fieldmask.Change[T], v *violations) error {
	whole := slices.Contains(c.Claims, "uid") && r.kind.UID(c.Claimed) == uid
	claims := slices.DeleteFunc(slices.Clone(c.Claims), func(name string) bool {
		f := fieldmask.FindField(r.kind.Fields, name)
		return v.has(name) || whole && (name == "uid" || f.Mode == fieldmask.Volatile)
	})
	if len(claims) == 0 && len(c.Fixed) == 0 || !uid.Valid() {
		return nil
	}
	current, err := r.getCurrent(ctx, uid)
	if err != nil {
		return err
	}
	for _, name := range claims {
		if !fieldmask.SameField(c.Claimed, current, name) {
			v.add(name, "is set by the service and cannot be changed; leave it out, or send the value that was read")
		}
	}
	*v = append(*v, c.Conflicts(current)...)
	return nil
}

// mergeParts locks the resource and completes the objects of which a change writes
// parts with their stored members.
func (r *Collection[T, F]) mergeParts(ctx context.Context, tx Tx, uid UID, c *fieldmask.Change[T]) error {
	if len(c.Parts) == 0 {
		return nil
	}
	current, err := r.getLocked(ctx, tx, uid)
	if err != nil {
		return err
	}
	v := violations(c.Merge(current, c.Row))
	r.kind.Check(c.Row, func(field string) bool { return c.WritesPart(field) && !v.has(field) }, &v)
	return v.sortByField(r.kind.fieldNames()).err()
}

// maxCollisions limits how often a write is made again. Each collision means that another
// transaction has been committed.
const maxCollisions = 10

// retryCollisions calls write again if a transaction at the same time has made or deleted a row
// that it stores. Then write finds it, or finds that it is gone.
func retryCollisions(write func() error) error {
	for try := 1; ; try++ {
		err := write()
		switch {
		case !errors.Is(err, ErrDuplicate) && !errors.Is(err, ErrNotFound):
			return err
		case try == maxCollisions:
			return newAborted("other requests keep changing the same rows", err)
		}
	}
}

// remove is the complete Delete of a kind without special rules.
func (r *Collection[T, F]) remove(ctx context.Context, uid UID) error {
	return r.removeChecked(ctx, uid, allowDeletion)
}

// removeChecked deletes a resource. It calls check before, in the same
// transaction.
func (r *Collection[T, F]) removeChecked(ctx context.Context, uid UID, check func(Tx, UID) error) error {
	err := r.authorizeRemove(ctx, uid)
	if err == nil {
		err = r.removeError(ctx, uid, r.core.store.Write(ctx, func(tx Tx) error { return r.removeInTx(ctx, tx, uid, check) }))
	}
	return r.recordIfDenied(ctx, "deleted", uid, err)
}

// authorizeRemove authorises a deletion.
func (r *Collection[T, F]) authorizeRemove(ctx context.Context, uid UID) error {
	TraceOf(ctx).NoteResource(r.kind.Name, uid)
	if _, err := requireCaller(ctx); err != nil {
		return err
	}
	if err := invalidUID("uid", uid); err != nil {
		return err
	}
	_, err := require(ctx, uid, r.kind.Delete)
	return err
}

// removeInTx deletes a resource in a transaction and records its event.
func (r *Collection[T, F]) removeInTx(ctx context.Context, tx Tx, uid UID, check func(Tx, UID) error) error {
	if err := check(tx, uid); err != nil {
		return err
	}
	row, err := r.table.Delete(ctx, tx, uid)
	if err != nil {
		return err
	}
	tx.Record(r.core.event(ctx, r.kind.Event, "deleted", uid, r.kind.Group(row), row))
	return nil
}

// removeError converts an error of the store into that of a deletion.
func (r *Collection[T, F]) removeError(ctx context.Context, uid UID, err error) error {
	switch {
	case errors.Is(err, ErrNotFound):
		return r.kind.notFound(uid)
	case errors.Is(err, ErrReferenced):
		blocking, err := r.core.store.Dependents(ctx, r.kind.Name, uid)
		if err != nil {
			return err
		}
		return failedPrecondition(r.kind.Blocked, string(uid), r.kind.blockedBecause(blocking))
	}
	return err
}

// MaxDependents is how many dependents of one kind are counted.
const MaxDependents = 1000

// Dependents are the rows of a kind that refer to a row, so that it cannot be deleted.
type Dependents struct {
	Kind  string
	Count int // at most MaxDependents + 1
}

// spell writes how many dependents there are, such as 2 role bindings.
func (d Dependents) spell() string {
	kind := spellKind(d.Kind)
	switch {
	case d.Count == 1:
		return "1 " + kind
	case strings.HasSuffix(kind, "y"):
		kind = strings.TrimSuffix(kind, "y") + "ies"
	default:
		kind += "s"
	}
	if d.Count > MaxDependents {
		return fmt.Sprintf("more than %d %s", MaxDependents, kind)
	}
	return fmt.Sprintf("%d %s", d.Count, kind)
}

// blockedBecause says which rows prevent a deletion.
func (k *Kind[T]) blockedBecause(blocking []Dependents) string {
	verb := "still holds"
	if k.Blocked == "RESOURCE_IN_USE" {
		verb = "is in use by"
	}
	said := "other resources" // all of them were deleted in the meantime
	for i, d := range blocking {
		switch {
		case i == 0:
			said = d.spell()
		case i == len(blocking)-1:
			said += " and " + d.spell()
		default:
			said += ", " + d.spell()
		}
	}
	return fmt.Sprintf("the %s %s %s", spellKind(k.Name), verb, said)
}

// alreadyExists returns the error that names the resource in parent with the unique key of a
// row.
func (r *Collection[T, F]) alreadyExists(ctx context.Context, parent UID, row T) error {
	scope := newScope(Branch{Relation: Children, UID: parent})
	rows, err := r.table.List(ctx, r.core.store, Query[F]{Scope: scope, Filter: r.keyFilter(row), Order: r.kind.DefaultOrder, Limit: 1, Parts: PartItems})
	if err != nil {
		return err
	}
	var uid UID
	if len(rows.Items) > 0 { // it can have been deleted in the meantime
		uid = r.kind.UID(rows.Items[0])
	}
	return newAlreadyExists(r.kind.ref(), uid, r.kind.Unique...)
}
