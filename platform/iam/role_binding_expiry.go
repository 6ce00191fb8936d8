package iam

import (
	"context"
	"errors"
	"slices"
	"time"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A binding that has expired gives nothing: the statements of the store that read grants leave it
// out, by the clock of the database. What is in this file only deletes its row and records an event,
// so it does not matter for any right when that happens.

// VerbExpired is the verb of the event of a binding that was deleted because it had expired.
const VerbExpired = "expired"

// checkExpiry checks that a binding, if it expires, does so in the future.
func (b *RoleBinding) checkExpiry(ctx context.Context, r core.Conn, prefix string, v *core.Violations) error {
	if b.ExpireTime.IsZero() {
		return nil
	}
	now, err := r.Now(ctx)
	if err == nil && !b.ExpireTime.After(now.Time) {
		v.Add(prefix+"expireTime", "must be in the future; leave it out for a binding that never expires")
	}
	return err
}

// ExpiryTick is the time between two searches for bindings that have expired. expiredAtOnce limits
// what one search returns.
const ExpiryTick, expiredAtOnce = time.Second, 100

// DeleteExpired deletes all role bindings that have expired, and records an event for each. Several
// processes may do so at the same time. Run calls it at intervals.
func (s RoleBindings) DeleteExpired(ctx context.Context) error {
	for {
		expired, err := s.area.Tables.ExpiredBindings(ctx, s.area.Store, expiredAtOnce)
		for _, uid := range expired {
			if err == nil {
				err = s.area.Store.Write(ctx, func(tx core.Tx) error { return s.deleteExpired(ctx, tx, uid) })
			}
		}
		if err != nil || len(expired) < expiredAtOnce {
			return err
		}
	}
}

// writeInPlaceOfExpired is Write for a change that gives bindings on a group their identities and roles. If there are
// such bindings already, they may have expired a moment ago. Others that have expired are left to DeleteExpired.
func (s RoleBindings) writeInPlaceOfExpired(ctx context.Context, group core.UID, wanted func() []*RoleBinding, change func(tx core.Tx) error) error {
	err := s.area.Store.Write(ctx, change)
	if !errors.Is(err, core.ErrDuplicate) {
		return err
	}
	ending, unnamed := false, core.WithoutActor(ctx) // the caller has not made a binding expire
	for _, b := range wanted() {
		found, err := s.rows.Table.List(ctx, s.area.Store, core.Query[*RoleBindingFilter]{
			Scope: core.NewScope(core.Branch{Relation: core.Children, UID: group}), Filter: bindingKeyFilter(b), Order: s.rows.Kind.DefaultOrder, Limit: 1, Parts: core.PartItems,
		})
		if err != nil {
			return err
		}
		if len(found.Items) == 0 || found.Items[0].ExpireTime.IsZero() {
			continue
		}
		ending = true
		if err := s.area.Store.Write(unnamed, func(tx core.Tx) error { return s.deleteExpired(unnamed, tx, found.Items[0].UID) }); err != nil {
			return err
		}
	}
	if !ending {
		return err
	}
	return s.area.Store.Write(ctx, change)
}

// makeLasting lets a binding never expire, and reports whether that changed it.
func (s RoleBindings) makeLasting(ctx context.Context, tx core.Tx, b *RoleBinding) (changed bool, err error) {
	if b.ExpireTime.IsZero() {
		return false, nil
	}
	change := &fieldmask.Change[*RoleBinding]{Row: b, Fields: []string{"expireTime"}}
	before := b.writtenFields()
	b.ExpireTime = core.Time{}
	b.forgetReview()
	if err := s.rows.Table.Update(ctx, tx, b, slices.Concat(change.Fields, reviewFields)...); err != nil {
		return false, err
	}
	s.rows.RecordUpdate(ctx, tx, b, core.DescribeChanges(change, before, b.writtenFields(), s.rows.Kind.Fields))
	return true, nil
}

// deleteExpired deletes a binding unless another process has deleted it, or somebody has given it
// another end.
func (s RoleBindings) deleteExpired(ctx context.Context, tx core.Tx, uid core.UID) error {
	current, err := s.rows.GetLocked(ctx, tx, uid)
	if e := (*core.Error)(nil); errors.As(err, &e) && e.Code == core.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	now, err := tx.Now(ctx)
	if err != nil || current.ExpireTime.IsZero() || current.ExpireTime.After(now.Time) {
		return err
	}
	row, err := s.rows.Table.Delete(ctx, tx, uid)
	if err != nil {
		return err
	}
	row.forgetReview()
	tx.Record(s.area.Event(ctx, s.rows.Kind.Event, VerbExpired, uid, row.Group.UID, row))
	return nil
}
