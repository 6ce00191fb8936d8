package iam

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// MaxBatchBindings is the maximum number of bindings in one batchCreate.
const MaxBatchBindings = 25

// A BindingBatch is a request for several role bindings on one group.
type BindingBatch struct {
	Parent    core.UID
	RoleUID   core.UID                          // role of the bindings that name none
	Requests  []core.BatchRequest[*RoleBinding] // their UIDs are the parent, or ""
	Malformed []fieldmask.Violation             // what could not be decoded
}

// CreateBatch makes up to MaxBatchBindings bindings on one group: all or none.
func (s RoleBindings) CreateBatch(ctx context.Context, batch BindingBatch) ([]*RoleBinding, error) {
	if _, err := core.RequireCaller(ctx); err != nil {
		return nil, err
	}
	ins, err := batch.listInputs()
	if err != nil {
		return nil, s.rows.Kind.AddArea(err)
	}
	bindings, err := s.createAll(ctx, batch.Parent, ins, "created.batch", core.ListOfRequests)
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created.batch", batch.Parent, err)
	}
	return bindings, nil
}

// listInputs checks the form of a batch, and lists the inputs of its bindings.
func (b BindingBatch) listInputs() ([]fieldmask.Input[*RoleBinding], error) {
	v := core.Violations(slices.Clone(b.Malformed))
	if len(v) == 0 && (len(b.Requests) == 0 || len(b.Requests) > MaxBatchBindings) {
		v.Add("requests", "must have 1 to %d items", MaxBatchBindings)
	}
	ins := make([]fieldmask.Input[*RoleBinding], len(b.Requests))
	for i, r := range b.Requests {
		if r.UID != "" && r.UID != b.Parent {
			v.Add(fmt.Sprintf("requests[%d].parent", i), "must be the parent of the batch")
		}
		if ins[i] = r.Input; b.RoleUID != "" {
			ins[i] = r.Input.WithDefault("roleUid", b.RoleUID)
		}
	}
	return ins, v.Err()
}

// bindingPlace returns the prefix of the fields of the i-th binding of a list in violations. There is none if the
// request is for one binding, and the list is "".
func bindingPlace(list string, i int) string {
	if list == "" {
		return ""
	}
	return fmt.Sprintf("%s[%d].roleBinding.", list, i)
}

// createAll makes bindings on a group. list is the list of the request that has them, or "" if it is for one.
func (s RoleBindings) createAll(ctx context.Context, parent core.UID, ins []fieldmask.Input[*RoleBinding], verb, list string) ([]*RoleBinding, error) {
	bindings, err := s.acceptAll(ctx, parent, ins, list)
	if err != nil {
		return nil, err
	}
	var made []*RoleBinding
	failing := core.NoRow
	store := func(tx core.Tx) (err error) {
		var keys map[core.UID]RuleKey
		if keys, failing, err = s.checkMayBind(ctx, tx, parent, bindings...); err != nil {
			return err
		}
		now := s.area.Now() // the transaction may have waited for others
		made = make([]*RoleBinding, len(bindings))
		for i, b := range bindings {
			made[i] = new(*b) // b stays unchanged, because the transaction can be retried
			made[i].CreateTime = now
		}
		var overfull core.UID
		err = tx.RunTogether(ctx,
			func(ctx context.Context) (err error) {
				overfull, err = s.area.checkBindings(ctx, tx, keys, made...)
				return err
			},
			func(ctx context.Context) error { return s.rows.Table.InsertShown(ctx, tx, made...) },
		)
		if overfull != "" {
			failing = slices.IndexFunc(bindings, func(b *RoleBinding) bool { return b.IdentityUID == overfull })
		}
		if err != nil {
			return err
		}
		s.recordBound(ctx, tx, made, verb)
		return nil
	}
	unit := store
	if list == "" { // it is a single one
		unit = func(tx core.Tx) error {
			one := new(RoleBinding)
			err := s.rows.MakeOnce(ctx, tx, parent, &one, func() error {
				if err := store(tx); err != nil {
					return err
				}
				one = made[0]
				return nil
			})
			made = []*RoleBinding{one}
			return err
		}
	}
	err = s.writeInPlaceOfExpired(ctx, parent, func() []*RoleBinding { return bindings }, unit)
	switch {
	case errors.Is(err, core.ErrDuplicate):
		failing, err = s.rows.FindDuplicate(ctx, slices.Repeat([]core.UID{parent}, len(bindings)), bindings)
		err = placeBinding(err, list, failing)
	case errors.Is(err, core.ErrNoParent):
		err = core.NewNotFound(core.GroupRef, parent)
	}
	if err != nil && list != "" && failing != core.NoRow {
		err = core.NameRequest(err, list, failing)
	}
	return made, err
}

// acceptAll authorizes and checks all bindings, and reports all violations.
func (s RoleBindings) acceptAll(ctx context.Context, parent core.UID, ins []fieldmask.Input[*RoleBinding], list string) ([]*RoleBinding, error) {
	bindings := make([]*RoleBinding, len(ins))
	var all core.Violations
	for i, in := range ins {
		place := bindingPlace(list, i)
		b, err := s.rows.AuthorizeCreate(ctx, parent, in)
		var e *core.Error
		if err != nil && (!errors.As(err, &e) || e.Code != core.CodeInvalidArgument) {
			return nil, err
		}
		bindings[i] = b
		if e == nil {
			b.checkReach(parent, place, &all)
			if err := b.checkExpiry(ctx, s.area.Store, place, &all); err != nil {
				return nil, err
			}
			continue
		}
		for _, x := range e.Violations {
			if x.Field != "parent" {
				x.Field = place + x.Field
			} else if i > 0 {
				continue // the parent is the same for all
			}
			all = append(all, x)
		}
	}
	return bindings, all.Err()
}

// recordBound records the events of new bindings, which are as the store shows them. Their time is that of the bindings,
// so that both tell the same of who had access at a time.
func (s RoleBindings) recordBound(ctx context.Context, tx core.Tx, bindings []*RoleBinding, verb string) {
	for _, b := range bindings {
		tx.Record(core.NewEvent(ctx, b.CreateTime, s.rows.Kind.Event, verb, b.UID, b.Group.UID, b))
	}
}

// placeBinding names in the violations of an error the binding of a list that has caused it, if any has.
func placeBinding(err error, list string, at int) error {
	var e *core.Error
	if errors.As(err, &e) && at != core.NoRow {
		for j := range e.Violations {
			e.Violations[j].Field = bindingPlace(list, at) + e.Violations[j].Field
		}
	}
	return err
}

// DeleteBatch deletes several role bindings: all or none. If there is a note, the events have it as
// that of a review, together with who made it.
func (s RoleBindings) DeleteBatch(ctx context.Context, uids []core.UID, note string) error {
	if err := checkReviewNote(note); err != nil {
		return s.rows.Kind.AddArea(err)
	}
	return s.rows.ChangeBatchBy(ctx, core.ListOfUIDs, uids, "deleted", func(tx core.Tx, sorted []core.UID) (int, error) { return s.unbindAll(ctx, tx, sorted, note) })
}

// unbindAll deletes bindings: those of owners of an organization one by one, because another one must remain after each, and all
// others together. After an error, it returns the index of the binding that caused it, or NoRow.
func (s RoleBindings) unbindAll(ctx context.Context, tx core.Tx, sorted []core.UID, note string) (failing int, _ error) {
	for _, uid := range sorted {
		tx.Lock(uid.Root())
	}
	found, err := s.area.Tables.RoleBindings.Get(ctx, tx, core.Keys{UIDs: sorted})
	if err != nil {
		return core.NoRow, err
	}
	var others []core.UID
	for i, uid := range sorted {
		at := slices.IndexFunc(found, func(b *RoleBinding) bool { return b.UID == uid })
		if at < 0 {
			return i, core.ErrNotFound
		}
		err = s.noteUnbinding(ctx, tx, found[at], note)
		if !found[at].isOfLastingOwner() {
			others = append(others, uid)
		} else if err == nil {
			err = s.rows.RemoveInTx(ctx, tx, uid, func(tx core.Tx, _ core.UID) error { return s.checkNotLastOwner(ctx, tx, found[at]) })
		}
		if err != nil {
			return i, err
		}
	}
	if len(others) == 0 {
		return core.NoRow, nil
	}
	if failing, err = s.rows.RemoveAllInTx(ctx, tx, others); failing != core.NoRow {
		failing = slices.Index(sorted, others[failing])
	}
	return failing, err
}
