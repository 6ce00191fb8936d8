package platform

import (
	"context"
	"slices"
)

// An access review asks of each role binding whether it is still right. Confirm answers yes,
// DeleteBatch with a note answers no. Both are events, so the audit log has who answered what, when and why.
// What was confirmed counts until the binding changes.

// verbConfirmed is the verb of the event of a binding that somebody has confirmed.
const verbConfirmed = "confirmed"

// reviewFields are the fields that a review writes.
var reviewFields = []string{"reviewTime", "reviewer", "reviewNote"}

// Confirm notes that the caller has reviewed role bindings, and that they stay: all or none. It
// needs the right to delete them, because only then the caller has a choice.
func (s RoleBindings) Confirm(ctx context.Context, uids []UID, note string) ([]*RoleBinding, error) {
	if err := checkReviewNote(note); err != nil {
		return nil, s.kind.addArea(err)
	}
	confirmed := make([]*RoleBinding, len(uids))
	err := s.changeBatchBy(ctx, uids, verbConfirmed, func(tx Tx, sorted []UID) (int, error) {
		for i, uid := range sorted {
			b, err := s.confirmInTx(ctx, tx, uid, note)
			if err != nil {
				return i, err
			}
			confirmed[slices.Index(uids, uid)] = b
		}
		return noRow, nil
	})
	if err != nil {
		return nil, err
	}
	return confirmed, nil
}

// confirmInTx confirms a binding in a transaction, and records its event.
func (s RoleBindings) confirmInTx(ctx context.Context, tx Tx, uid UID, note string) (*RoleBinding, error) {
	b, err := s.getLocked(ctx, tx, uid)
	if err == nil {
		err = s.noteReview(ctx, tx, b, note)
	}
	if err != nil {
		return nil, err
	}
	tx.Record(s.p.event(ctx, s.kind.Event, verbConfirmed, uid, b.Group.UID, b))
	return b, nil
}

// noteReview writes into a binding that the caller has reviewed it.
func (s RoleBindings) noteReview(ctx context.Context, tx Tx, b *RoleBinding, note string) error {
	b.ReviewTime, b.Reviewer, b.ReviewNote = s.p.now(), eventActor(ctx, b.UID).Subject, note
	return s.rows(tx).Update(ctx, b, reviewFields...)
}

func checkReviewNote(note string) error {
	var v violations
	v.checkText("note", note, maxNoteBytes)
	return v.err()
}
