package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atrium/platform/fieldmask"
)

// AuthorizeCreate authorizes and checks a creation below parent and returns the
// new row.
func (r *Collection[T, F]) AuthorizeCreate(ctx context.Context, parent UID, in fieldmask.Input[T]) (zero T, _ error) {
	TraceOf(ctx).NoteResource(r.Kind.Name, parent)
	var v Violations
	if _, err := RequireCaller(ctx); err != nil {
		return zero, err
	}
	if v.CheckUID("parent", parent); len(v) == 0 {
		if _, err := Require(ctx, parent, r.Kind.CreateCapabilities()...); err != nil {
			return zero, err
		}
	}
	row := r.Decode(ctx, in, &v)
	if deepest := maxDepth - 1 - r.Kind.LevelsInside; !r.Kind.SharesUID && parent.Depth() > deepest {
		v.Add("parent", "is nested too deep: a %s can be at most %d levels below its organization; choose a group further up", r.Kind.Name, deepest)
	}
	if err := v.SortByField(r.Kind.FieldNames()).Err(); err != nil {
		return zero, err
	}
	uid := parent
	if !r.Kind.SharesUID {
		uid = parent.NewChild()
	}
	r.Kind.Stamp(row, uid, r.Core.Now())
	return row, nil
}

// Decode decodes and checks a row to be created.
func (r *Collection[T, F]) Decode(ctx context.Context, in fieldmask.Input[T], v *Violations) T {
	row, found := in.DecodeCreate(r.Kind.Fields, func(claimed T) bool { return r.Kind.UID(claimed).Valid() })
	*v = append(*v, found...)
	r.Kind.Check(row, func(field string) bool { return !v.Has(field) }, v)
	r.noteFingerprint(ctx, row)
	return row
}

// Create is the complete Create of a kind without special rules.
func (r *Collection[T, F]) Create(ctx context.Context, parent UID, in fieldmask.Input[T]) (zero T, _ error) {
	row, err := r.AuthorizeCreate(ctx, parent, in)
	if err != nil {
		return zero, r.RecordIfDenied(ctx, "created", parent, err)
	}
	return r.Insert(ctx, parent, row, func(Tx) error { return nil })
}

// Insert stores a row and records its event. It calls check before, in the same
// transaction.
func (r *Collection[T, F]) Insert(ctx context.Context, parent UID, row T, check func(Tx) error) (zero T, _ error) {
	err := r.Core.Store.Write(ctx, func(tx Tx) error {
		return r.MakeOnce(ctx, tx, parent, &row, func() error {
			if err := check(tx); err != nil {
				return err
			}
			return r.InsertInTx(ctx, tx, row)
		})
	})
	if err != nil {
		return zero, r.RecordIfDenied(ctx, "created", parent, r.InsertError(ctx, parent, row, err))
	}
	return row, nil
}

// InsertInTx stores a row in a transaction and records its event.
func (r *Collection[T, F]) InsertInTx(ctx context.Context, tx Tx, row T) error {
	created := r.creationEvent(ctx, row)
	created.SetBody(row)
	if err := r.Table.Insert(ctx, tx, row); err != nil {
		return err
	}
	tx.Record(created)
	return nil
}

// creationEvent returns the event of the creation of a row, without its body.
func (r *Collection[T, F]) creationEvent(ctx context.Context, row T) *Event {
	e := r.Core.Event(ctx, r.Kind.Event, "created", r.Kind.UID(row), r.Kind.Group(row), nil)
	if r.Kind.Begin != nil {
		r.Kind.Begin(row, e)
	}
	return e
}

// InsertError converts an error of the store into that of a creation.
func (r *Collection[T, F]) InsertError(ctx context.Context, parent UID, row T, err error) error {
	switch {
	case errors.Is(err, ErrDuplicate):
		return r.AlreadyExists(ctx, parent, row)
	case errors.Is(err, ErrNoParent):
		return NewNotFound(r.Kind.Parent, parent)
	}
	return err
}

// Update is the complete Update of a kind without special rules.
func (r *Collection[T, F]) Update(ctx context.Context, uid UID, in fieldmask.Input[T]) (T, error) {
	return r.UpdateChecked(ctx, uid, in, allowChange)
}

// UpdateChecked writes the fields that in names. It calls check before, in the
// same transaction; check may extend the change. Only these columns are written, so
// that concurrent updates of different fields do not overwrite each other.
func (r *Collection[T, F]) UpdateChecked(ctx context.Context, uid UID, in fieldmask.Input[T], check func(Tx, *fieldmask.Change[T]) error) (zero T, _ error) {
	TraceOf(ctx).NoteResource(r.Kind.Name, uid)
	change, err := r.AuthorizeUpdate(ctx, uid, in)
	if err != nil {
		return zero, r.RecordIfDenied(ctx, "updated", uid, err)
	}
	if len(change.Fields) == 0 {
		row, err := r.GetCurrent(ctx, uid)
		if err == nil {
			err = r.Kind.requireMatch(ctx, row)
		}
		return row, err
	}
	var row T
	err = r.Core.Store.Write(ctx, func(tx Tx) (err error) {
		row, err = r.writeInTx(ctx, tx, uid, change, check)
		return err
	})
	if err != nil {
		return zero, r.RecordIfDenied(ctx, "updated", uid, r.updateError(ctx, uid, change, err))
	}
	noteETag(ctx, r.Kind, &row, true)
	return row, nil
}

// GetLocked reads a resource and locks its organization, so that no grants change
// until the transaction ends.
func (r *Collection[T, F]) GetLocked(ctx context.Context, tx Tx, uid UID) (zero T, _ error) {
	tx.Lock(uid.Root())
	return r.GetRow(ctx, tx, uid)
}

// GetCurrent reads a resource that the caller has been authorized for. It is the
// response to an update that changes nothing.
func (r *Collection[T, F]) GetCurrent(ctx context.Context, uid UID) (T, error) {
	return r.GetRow(ctx, r.Core.Store, uid)
}

// GetRow reads a resource. It does not check the rights of the caller.
func (r *Collection[T, F]) GetRow(ctx context.Context, from Conn, uid UID) (zero T, _ error) {
	rows, err := r.Table.Get(ctx, from, Keys{UIDs: []UID{uid}})
	if err != nil {
		return zero, err
	}
	if len(rows) == 0 {
		return zero, r.Kind.NotFound(uid)
	}
	return rows[0], nil
}

// FindRows reads those of some resources that exist. It does not check the rights of the caller.
func (r *Collection[T, F]) FindRows(ctx context.Context, from Conn, uids []UID) (map[UID]T, error) {
	rows, err := r.Table.Get(ctx, from, Keys{UIDs: slices.Compact(slices.Sorted(slices.Values(uids)))})
	found := make(map[UID]T, len(rows))
	for _, row := range rows {
		found[r.Kind.UID(row)] = row
	}
	return found, err
}

// writeInTx stores the fields of an authorized change in a transaction and records
// its event. A change without fields changes nothing.
func (r *Collection[T, F]) writeInTx(ctx context.Context, tx Tx, uid UID, accepted *fieldmask.Change[T], check func(Tx, *fieldmask.Change[T]) error) (zero T, _ error) {
	rows, _, err := r.writeAllInTx(ctx, tx, []UID{uid}, []*fieldmask.Change[T]{accepted}, check)
	if err != nil {
		return zero, err
	}
	return rows[0], nil
}

// writeAllInTx does so with changes of many rows. After an error, it returns the index of the change that caused it, or
// NoRow.
func (r *Collection[T, F]) writeAllInTx(ctx context.Context, tx Tx, uids []UID, accepted []*fieldmask.Change[T], check func(Tx, *fieldmask.Change[T]) error) (rows []T, failing int, err error) {
	rows = make([]T, len(uids))
	var changes []RowChange[T]
	var indices []int
	for _, i := range SortIndices(uids) {
		change := accepted[i].Clone()
		if err := r.mergeParts(ctx, tx, uids[i], change); err != nil {
			return nil, i, err
		}
		if err := check(tx, change); err != nil {
			return nil, i, err
		}
		if len(change.Fields) == 0 {
			if rows[i], err = r.GetRow(ctx, tx, uids[i]); err == nil {
				err = r.Kind.requireMatch(ctx, rows[i])
			}
			if err != nil {
				return nil, i, err
			}
			continue
		}
		r.Kind.Stamp(change.Row, uids[i], r.Core.Now())
		rows[i] = change.Row
		changes, indices = append(changes, RowChange[T]{change.Row, change.Fields}), append(indices, i)
	}
	before, err := r.Table.UpdateAll(ctx, tx, changes...)
	switch {
	case err != nil && len(before) < len(indices):
		return nil, indices[len(before)], err
	case err != nil:
		return nil, NoRow, err
	}
	for n, i := range indices {
		if err := r.Kind.requireMatch(ctx, before[n]); err != nil { // the row is locked, so it is as it was when it was written
			return nil, i, err
		}
		r.RecordUpdate(ctx, tx, rows[i], DescribeChanges(accepted[i], before[n], rows[i], r.Kind.Fields))
	}
	return rows, NoRow, nil
}

// updateError converts an error of the store into that of an update.
func (r *Collection[T, F]) updateError(ctx context.Context, uid UID, accepted *fieldmask.Change[T], err error) error {
	switch {
	case errors.Is(err, ErrNotFound):
		return r.Kind.NotFound(uid)
	case errors.Is(err, ErrDuplicate):
		return r.AlreadyExists(ctx, r.Kind.parent(uid), accepted.Row)
	}
	return err
}

// RecordUpdate records the event of an update.
func (r *Collection[T, F]) RecordUpdate(ctx context.Context, tx Tx, row T, changes []EventChange) {
	e := r.Core.Event(ctx, r.Kind.Event, "updated", r.Kind.UID(row), r.Kind.Group(row), row)
	e.Changes = changes
	tx.Record(e)
}

// AuthorizeUpdate authorizes and decodes an update. Objects of which only parts
// are written are checked later, when they are merged.
func (r *Collection[T, F]) AuthorizeUpdate(ctx context.Context, uid UID, in fieldmask.Input[T]) (*fieldmask.Change[T], error) {
	var v Violations
	if _, err := RequireCaller(ctx); err != nil {
		return nil, err
	}
	if v.CheckUID("uid", uid); len(v) == 0 {
		if _, err := Require(ctx, uid, r.Kind.UpdateCapabilities()...); err != nil {
			return nil, err
		}
	}
	c, found := in.DecodeUpdate(r.Kind.Fields)
	v = append(v, found...)
	r.Kind.Check(c.Row, func(field string) bool { return c.Writes(field) && !c.WritesPart(field) && !v.Has(field) }, &v)
	if err := r.checkClaims(ctx, uid, c, &v); err != nil && len(v) == 0 {
		return nil, err
	}
	return c, v.SortByField(r.Kind.FieldNames()).Err()
}

// checkClaims rejects output-only fields of a body or a mask whose values differ from those
// of the resource. A body with the uid of the resource is taken for the resource as
// it was read: then volatile fields are not compared.
func (r *Collection[T, F]) checkClaims(ctx context.Context, uid UID, c *fieldmask.Change[T], v *Violations) error {
	whole := slices.Contains(c.Claims, "uid") && r.Kind.UID(c.Claimed) == uid
	claims := slices.DeleteFunc(slices.Clone(c.Claims), func(name string) bool {
		f := fieldmask.FindField(r.Kind.Fields, name)
		return v.Has(name) || whole && (name == "uid" || f.Mode == fieldmask.Volatile)
	})
	if len(claims) == 0 && len(c.Fixed) == 0 || !uid.Valid() {
		return nil
	}
	current, err := r.GetCurrent(ctx, uid)
	if err != nil {
		return err
	}
	for _, name := range claims {
		if !fieldmask.SameField(c.Claimed, current, name) {
			v.Add(name, "is set by the service and cannot be changed; leave it out, or send the value that was read")
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
	current, err := r.GetLocked(ctx, tx, uid)
	if err != nil {
		return err
	}
	v := Violations(c.Merge(current, c.Row))
	r.Kind.Check(c.Row, func(field string) bool { return c.WritesPart(field) && !v.Has(field) }, &v)
	return v.SortByField(r.Kind.FieldNames()).Err()
}

// MaxCollisions limits how often a write is made again. Each collision means that another
// transaction has been committed.
const MaxCollisions = 10

// RetryCollisions calls write again if a transaction at the same time has made or deleted a row
// that it stores. Then write finds it, or finds that it is gone.
func RetryCollisions(write func() error) error {
	for try := 1; ; try++ {
		err := write()
		switch {
		case !errors.Is(err, ErrDuplicate) && !errors.Is(err, ErrNotFound):
			return err
		case try == MaxCollisions:
			return NewAborted("other requests keep changing the same rows", err)
		}
	}
}

// Remove is the complete Delete of a kind without special rules.
func (r *Collection[T, F]) Remove(ctx context.Context, uid UID) error {
	return r.RemoveChecked(ctx, uid, allowDeletion)
}

// RemoveChecked deletes a resource. It calls check before, in the same
// transaction.
func (r *Collection[T, F]) RemoveChecked(ctx context.Context, uid UID, check func(Tx, UID) error) error {
	err := r.authorizeRemove(ctx, uid)
	if err == nil {
		err = r.removeError(ctx, uid, r.Core.Store.Write(ctx, func(tx Tx) error { return r.RemoveInTx(ctx, tx, uid, check) }))
	}
	return r.RecordIfDenied(ctx, "deleted", uid, err)
}

// authorizeRemove authorizes a deletion.
func (r *Collection[T, F]) authorizeRemove(ctx context.Context, uid UID) error {
	TraceOf(ctx).NoteResource(r.Kind.Name, uid)
	if _, err := RequireCaller(ctx); err != nil {
		return err
	}
	if err := InvalidUID("uid", uid); err != nil {
		return err
	}
	_, err := Require(ctx, uid, r.Kind.Delete)
	return err
}

// RemoveInTx deletes a resource in a transaction and records its event.
func (r *Collection[T, F]) RemoveInTx(ctx context.Context, tx Tx, uid UID, check func(Tx, UID) error) error {
	if err := check(tx, uid); err != nil {
		return err
	}
	row, err := r.Table.Delete(ctx, tx, uid)
	if err == nil {
		err = r.Kind.requireMatch(ctx, row)
	}
	if err != nil {
		return err
	}
	tx.Record(r.Core.Event(ctx, r.Kind.Event, "deleted", uid, r.Kind.Group(row), row))
	return nil
}

// removeError converts an error of the store into that of a deletion.
func (r *Collection[T, F]) removeError(ctx context.Context, uid UID, err error) error {
	switch {
	case errors.Is(err, ErrNotFound):
		return r.Kind.NotFound(uid)
	case errors.Is(err, ErrReferenced):
		blocking, err := r.Core.Store.Dependents(ctx, r.Kind.Name, uid)
		if err != nil {
			return err
		}
		return FailedPrecondition(r.Kind.Blocked, string(uid), r.Kind.blockedBecause(blocking))
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
	verb := "still contains"
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

// AlreadyExists returns the error that names the resource in parent with the unique key of a
// row.
func (r *Collection[T, F]) AlreadyExists(ctx context.Context, parent UID, row T) error {
	scope := NewScope(Branch{Relation: Children, UID: parent})
	rows, err := r.Table.List(ctx, r.Core.Store, Query[F]{Scope: scope, Filter: r.keyFilter(row), Order: r.Kind.DefaultOrder, Limit: 1, Parts: PartItems})
	if err != nil {
		return err
	}
	var uid UID
	if len(rows.Items) > 0 { // it can have been deleted in the meantime
		uid = r.Kind.UID(rows.Items[0])
	}
	return NewAlreadyExists(r.Kind.Ref(), uid, r.Kind.Unique...)
}
