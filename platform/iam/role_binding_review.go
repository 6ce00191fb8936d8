package platform

import (
	"context"
	"slices"

	"atrium/platform/fieldmask"
)

// An access review asks of each role binding whether it is still right. Confirm answers yes,
// DeleteBatch with a note answers no. Both are events, so the audit log has who answered what, when and why.
// What was confirmed counts until the binding changes, or who acts as its identity, or what its role gives.

// verbConfirmed is the verb of the event of a binding that somebody has confirmed.
const verbConfirmed = "confirmed"

// reviewFields are the fields that a review writes.
var reviewFields = []string{"reviewTime", "reviewer", "reviewNote"}

// Confirm notes that the caller has reviewed role bindings, and that they stay: all or none. The input of a request has
// what the caller has seen of the binding; if that has changed, the error names each field. Confirm needs the right to
// delete the bindings, because only then the caller has a choice. Those of the caller are for other owners to confirm.
func (s RoleBindings) Confirm(ctx context.Context, requests []BatchRequest[*RoleBinding], note string) ([]*RoleBinding, error) {
	if err := checkReviewNote(note); err != nil {
		return nil, s.rows.kind.addArea(err)
	}
	confirmed, uids := make([]*RoleBinding, len(requests)), make([]UID, len(requests))
	for i, r := range requests {
		uids[i] = r.UID
	}
	err := s.rows.changeBatchBy(ctx, listOfRequests, uids, verbConfirmed, func(tx Tx, sorted []UID) (int, error) {
		changed := make([]violations, len(uids))
		for n, uid := range sorted {
			i := slices.Index(uids, uid)
			b, found, err := s.confirmInTx(ctx, tx, requests[i], note)
			if err != nil {
				return n, err
			}
			for _, v := range found {
				changed[i].add(indexedField(listOfRequests, i, v.Field), "%s", v.Description)
			}
			confirmed[i] = b
		}
		return noRow, newChangedError(uids, changed)
	})
	if err != nil {
		return nil, err
	}
	return confirmed, nil
}

// confirmInTx confirms a binding in a transaction, and records its event. If the binding is not what the caller has
// seen, it returns a violation for each field instead.
func (s RoleBindings) confirmInTx(ctx context.Context, tx Tx, seen BatchRequest[*RoleBinding], note string) (*RoleBinding, violations, error) {
	b, err := s.rows.getLocked(ctx, tx, seen.UID)
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
	tx.Record(s.area.event(ctx, s.rows.kind.Event, verbConfirmed, b.UID, b.Group.UID, b))
	return b, nil, nil
}

// compare returns a violation for each field of an input that the binding has another value of.
func (b *RoleBinding) compare(seen fieldmask.Input[*RoleBinding]) (changed violations, err error) {
	asked, malformed := seen.DecodeUpdate(roleBindingKind.Fields)
	now := b.writtenFields()
	for _, field := range asked.Fields {
		if asked.Differs(now, field) {
			changed.add(field, "has changed since the role binding was read; read it again, and decide anew")
		}
	}
	return changed, violations(malformed).err()
}

// newChangedError returns the error for role bindings of which some have changed since the caller has read them, or nil
// if none has.
func newChangedError(uids []UID, changed []violations) error {
	var err *Error
	for i, found := range changed {
		if len(found) == 0 {
			continue
		}
		one := failedPrecondition("ROLE_BINDING_CHANGED", string(uids[i]), found[0].Field+" "+found[0].Description)
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
// organisation has no other owner who can sign in.
func (s RoleBindings) checkNotOwn(ctx context.Context, tx Tx, b *RoleBinding) error {
	own := ActorOf(ctx).Identities
	if !slices.Contains(own, b.Identity.UID) {
		return nil
	}
	if others, err := s.area.tables.HasOwner(ctx, tx, b.UID.Root(), "", own...); err != nil || !others {
		return err
	}
	return failedPrecondition("OWN_ROLE_BINDING", string(b.UID), "nobody reviews their own access; let another owner of the organisation confirm the role binding")
}

// noteReview writes into a binding that the caller has reviewed it.
func (s RoleBindings) noteReview(ctx context.Context, tx Tx, b *RoleBinding, note string) error {
	b.ReviewTime, b.Reviewer, b.ReviewNote = s.area.now(), changeActor(ctx, b.UID).Subject, note
	return s.rows.table.Update(ctx, tx, b, reviewFields...)
}

// forgetReview removes the review from a binding that is not what was reviewed.
func (b *RoleBinding) forgetReview() { b.ReviewTime, b.Reviewer, b.ReviewNote = Time{}, "", "" }

// hideNotes removes the notes of reviewers from bindings that the caller may not list, but sees as their own.
func (s RoleBindings) hideNotes(ctx context.Context, bindings ...*RoleBinding) {
	for _, b := range bindings {
		if b != nil && !s.rows.kind.readableBy(ActorOf(ctx), b.UID) {
			b.ReviewNote = ""
		}
	}
}

func checkReviewNote(note string) error {
	var v violations
	v.checkText("note", note, maxNoteBytes)
	return v.err()
}
