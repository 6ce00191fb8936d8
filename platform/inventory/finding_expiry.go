package inventory

import (
	"context"
	"fmt"
	"time"

	"atrium/platform/core"
)

// shortestEndWait is the least time between two looks for what has ended.
const shortestEndWait = 10 * time.Millisecond

// AwaitEnded waits, if an exception has just ended, until its findings are open again.
func (s Findings) AwaitEnded(ctx context.Context) { s.area.ends.Await(ctx, s.area.Now) }

// EndExpired gives back what decisions that have ended were about: it removes rules whose time is over, and opens the findings
// whose exceptions have ended, before all other tasks. It returns when the next one ends, or the zero time if none does.
func (s Findings) EndExpired(ctx context.Context) (next core.Time, err error) {
	if err := core.RequireOperator(ctx); err != nil {
		return core.Time{}, err
	}
	now := s.area.Now()
	next, err = s.area.tables.NextExpiry(ctx, s.area.Store, core.Time{})
	if err != nil || next.After(now.Time) || next.IsZero() {
		return next, err
	}
	err = core.WritePatiently(ctx, s.area.Store, func(tx core.Tx) error { return s.area.tables.EndTriageRules(ctx, tx, now) })
	for tries := 0; err == nil && tries <= core.MaxEndedTurns; {
		var tasks []FindingTask
		if tasks, err = s.area.tables.ExpiredTasks(ctx, s.area.Store, now, maxFindingTasks); err != nil || len(tasks) == 0 {
			break
		}
		var opened int
		switch opened, err = s.openExpired(ctx, tasks); {
		case opened == 0: // it gives way to callers
			tries++
		case opened == len(tasks) && opened < maxFindingTasks:
			return s.area.tables.NextExpiry(ctx, s.area.Store, now)
		default:
			tries = 0
		}
	}
	if err != nil {
		return core.Time{}, err
	}
	return s.area.tables.NextExpiry(ctx, s.area.Store, now)
}

// openExpired looks at images whose exceptions have ended, with a transaction for each organization, and returns their number. The
// tasks of an organization follow each other.
func (s Findings) openExpired(ctx context.Context, tasks []FindingTask) (opened int, err error) {
	for len(tasks) > 0 {
		root, n := tasks[0].Subject.Root(), 1
		for n < len(tasks) && tasks[n].Subject.Root() == root {
			n++
		}
		ended, _, err := s.reconcileInTurn(ctx, root, func(turn context.Context, tx core.Tx, images int) (int, error) {
			lockFindings(tx, root)
			ended, err := s.reconcileTasks(turn, tx, tasks[:n], images)
			return len(ended), err
		})
		if err != nil {
			return opened, fmt.Errorf("findings of %s: %w", root, err)
		}
		opened, tasks = opened+ended, tasks[n:]
	}
	return opened, nil
}

// followEnds ends exceptions when their time is over, until ctx ends. Each process does so.
func (s Findings) followEnds(ctx context.Context) {
	ending := s.area.NewChore("expired decisions were not ended; trying again every second")
	for ctx.Err() == nil {
		next, err := s.EndExpired(ctx)
		ending.Note(ctx, err)
		wait := taskInterval
		if err == nil {
			s.area.ends.Set(next)
		}
		if !next.IsZero() {
			wait = max(min(wait, next.Sub(s.area.Now().Time)), shortestEndWait)
		}
		look := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-look.C:
		}
		look.Stop()
	}
}
