package iam

import (
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// An access review asks of each role binding whether it is still right. Confirm answers yes,
// DeleteBatch with a note answers no. Both are events, so the audit log has who answered what, when and why.
// What was confirmed counts until the binding changes, or who acts as its identity, or what its role gives.

// VerbConfirmed is the verb of the event of a binding that somebody has confirmed.
const VerbConfirmed = "confirmed"

// reviewFields are the fields that a review writes.
var reviewFields = []string{"reviewTime", "reviewer", "reviewNote"}

// Confirm notes that the caller has reviewed role bindings, and that they stay: all or none. The input of a request has
// what the caller has seen of the binding; if that has changed, the error names each field. Confirm needs the right to
// delete the bindings, because only then the caller has a choice. Those of the caller are for other owners to confirm.
func (s RoleBindings) Confirm(ctx context.Context, requests []core.BatchRequest[*RoleBinding], note string) ([]*RoleBinding, error) {
	if err := checkReviewNote(note); err != nil {
		return nil, s.rows.Kind.AddArea(err)
	}
	confirmed, uids := make([]*RoleBinding, len(requests)), make([]core.UID, len(requests))
	for i, r := range requests {
		uids[i] = r.UID
	}
	err := s.rows.ChangeBatchBy(ctx, core.ListOfRequests, uids, VerbConfirmed, func(tx core.Tx, sorted []core.UID) (int, error) {
		changed := make([]core.Violations, len(uids))
		for n, uid := range sorted {
			i := slices.Index(uids, uid)
			b, found, err := s.confirmInTx(ctx, tx, requests[i], note)
			if err != nil {
				return n, err
			}
			for _, v := range found {
				changed[i].Add(core.IndexedField(core.ListOfRequests, i, v.Field), "%s", v.Description)
			}
			confirmed[i] = b
		}
		return core.NoRow, newChangedError(uids, changed)
	})
	if err != nil {
		return nil, err
	}
	return confirmed, nil
}

// confirmInTx confirms a binding in a transaction, and records its event. If the binding is not what the caller has
// seen, it returns a violation for each field instead.
func (s RoleBindings) confirmInTx(ctx context.Context, tx core.Tx, seen core.BatchRequest[*RoleBinding], note string) (*RoleBinding, core.Violations, error) {
	b, err := s.rows.GetLocked(ctx, tx, seen.UID)
	if err != nil {
		return nil, nil, err
	}
	if changed, err := b.compare(seen.Input); err != nil || len(changed) > 0 {
		return nil, changed, err
	}
	if err := s.checkNotOwn(ctx, tx, b); err != nil {
		return nil, nil, err
	}
	if err := s.noteReview(ctx, tx, b, note); err != nil {
		return nil, nil, err
	}
	tx.Record(s.area.Event(ctx, s.rows.Kind.Event, VerbConfirmed, b.UID, b.Group.UID, b))
	return b, nil, nil
}

// compare returns a violation for each field of an input that the binding has another value of.
func (b *RoleBinding) compare(seen fieldmask.Input[*RoleBinding]) (changed core.Violations, err error) {
	asked, malformed := seen.DecodeUpdate(RoleBindingKind.Fields)
	now := b.writtenFields()
	for _, field := range asked.Fields {
		if asked.Differs(now, field) {
			changed.Add(field, "has changed since the role binding was read; read it again before you confirm it")
		}
	}
	return changed, core.Violations(malformed).Err()
}

// newChangedError returns the error for role bindings of which some have changed since the caller has read them, or nil
// if none has.
func newChangedError(uids []core.UID, changed []core.Violations) error {
	var err *core.Error
	for i, found := range changed {
		if len(found) == 0 {
			continue
		}
		one := core.FailedPrecondition("ROLE_BINDING_CHANGED", string(uids[i]), found[0].Field+" "+found[0].Description)
		if err == nil {
			err = one
		} else {
			err.Preconditions = append(err.Preconditions, one.Preconditions...)
		}
		err.Violations = append(err.Violations, found...)
	}
	if err == nil {
		return nil
	}
	return err
}

// checkNotOwn fails if a binding is the caller's own, unless nobody else is sure to be able to review it: the
// organization has no other owner who can sign in.
func (s RoleBindings) checkNotOwn(ctx context.Context, tx core.Tx, b *RoleBinding) error {
	own := core.ActorOf(ctx).Identities
	if !slices.Contains(own, b.Identity.UID) {
		return nil
	}
	if others, err := s.area.Tables.HasOwner(ctx, tx, b.UID.Root(), "", own...); err != nil || !others {
		return err
	}
	return core.FailedPrecondition("OWN_ROLE_BINDING", string(b.UID), "you cannot review your own access; ask another owner of the organization to confirm the role binding")
}

// noteReview writes into a binding that the caller has reviewed it.
func (s RoleBindings) noteReview(ctx context.Context, tx core.Tx, b *RoleBinding, note string) error {
	b.ReviewTime, b.Reviewer, b.ReviewNote = s.area.Now(), core.ChangeActor(ctx, b.UID).Subject, note
	return s.rows.Table.Update(ctx, tx, b, reviewFields...)
}

// forgetReview removes the review from a binding that is not what was reviewed.
func (b *RoleBinding) forgetReview() { b.ReviewTime, b.Reviewer, b.ReviewNote = core.Time{}, "", "" }

// hideNotes removes the notes of reviewers from bindings that the caller may not list, but sees as their own.
func (s RoleBindings) hideNotes(ctx context.Context, bindings ...*RoleBinding) {
	for _, b := range bindings {
		if b != nil && !s.rows.Kind.ReadableBy(core.ActorOf(ctx), b.UID) {
			b.ReviewNote = ""
		}
	}
}

func checkReviewNote(note string) error {
	var v core.Violations
	v.CheckText("note", note, core.MaxNoteBytes)
	return v.Err()
}
