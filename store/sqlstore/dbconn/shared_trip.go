package dbconn

import (
	"context"
	"errors"
	"slices"
	"time"

	"atrium/platform/core"
)

// A quickCall is a call whose statements may share a round trip.
type quickCall struct {
	ctx        context.Context //nolint:containedctx // the context of the call
	statements []*Statement
	start      time.Time
	turn       chan bool // receives true when the call must begin a round trip, and false when its statements have run

	// The round trip sets these.
	isShared bool
	isUndone bool // whether the failure of another call has kept its statements from running
	err      error
}

// A sharedTrip has the statements of a round trip. Those with the same original run once.
type sharedTrip struct {
	statements []*Statement
	copied     []*copiedStatement
}

// A copiedStatement is a statement whose rows go to all copies of its original.
type copiedStatement struct {
	Statement
	copies []*Statement
}

func newSharedTrip(dialect *Dialect, calls []*quickCall) *sharedTrip {
	t := &sharedTrip{statements: []*Statement{{SQL: dialect.LimitSharedWait, Plan: PlanBySession, Place: LimitsWait}}}
	for _, c := range calls {
		c.isShared = true
		for _, s := range c.statements {
			t.add(s)
		}
	}
	return t
}

// add adds a statement.
func (t *sharedTrip) add(s *Statement) {
	if s.Original == nil {
		t.statements = append(t.statements, s)
		return
	}
	i := slices.IndexFunc(t.copied, func(copied *copiedStatement) bool { return copied.Original == s.Original })
	if i >= 0 {
		t.copied[i].copies = append(t.copied[i].copies, s)
		return
	}
	copied := &copiedStatement{*s, []*Statement{s}}
	copied.Row = copied.pass
	t.copied = append(t.copied, copied)
	t.statements = append(t.statements, &copied.Statement)
}

// pass passes a row on to all copies.
func (s *copiedStatement) pass(scan func(dest ...any) error) error {
	for _, each := range s.copies {
		if err := each.Row(scan); err != nil {
			return err
		}
	}
	return nil
}

// tellCopies tells the copies of the statements what came of them.
func (t *sharedTrip) tellCopies() {
	for _, copied := range t.copied {
		for _, s := range copied.copies {
			s.Outcome = copied.Outcome
		}
	}
}

// conclude decides what becomes of the calls whose round trip has ended with err:
//   - All calls get the error if the database did not answer at all, or not in time.
//   - Otherwise, the call whose statement failed gets the error. It does not run again, because
//     it may have received rows. A statement that waited for a lock has none: its call runs
//     again, and may wait longer.
//   - The other calls with statements that are not done run again.
func conclude(calls []*quickCall, err error) {
	isDone := func(s *Statement) bool { return s.Done }
	hasFailed := func(s *Statement) bool { return s.Failed }
	isAnswered := slices.ContainsFunc(calls, func(c *quickCall) bool { return slices.ContainsFunc(c.statements, isDone) })
	isForAll := errors.Is(err, &core.Error{Code: core.CodeUnavailable}) && (!isAnswered || errors.Is(err, context.DeadlineExceeded))
	isLocked := errors.Is(err, core.ErrLocked)
	for _, c := range calls {
		switch {
		case len(listUndone(c.statements)) == 0:
		case isForAll, !isLocked && slices.ContainsFunc(c.statements, hasFailed):
			c.err = err
		default:
			c.isUndone = true
		}
	}
}
