package inventory

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/operations"
)

// DecidedAtOnce is how many findings a decision in the background changes in a transaction, for which others who change findings wait.
const DecidedAtOnce = 2000

// A FindingDecision is what an operation has decided, so far as it came.
type FindingDecision struct {
	UpdatedCount int `json:"updatedCount"`
}

// UpdateInBackground is Update for findings within a group or repo, however many there are. It returns an operation, whose response is a
// FindingDecision, or nil if the caller asks for nothing but a check. Each transaction decides about some, by their UIDs, as a request of the
// caller with the rights of that moment. What it has decided stays, whatever happens to those after it. The first one stores the rule too.
func (s Findings) UpdateInBackground(ctx context.Context, u FindingUpdate) (*operations.Operation, error) {
	if _, err := core.RequireCaller(ctx); err != nil {
		return nil, err
	}
	var v core.Violations
	if len(u.UIDs) > 0 || u.Within == "" {
		v.Add("background", "can be given only with within and where")
		return nil, v.Err()
	}
	if _, err := s.authorizeTriage(ctx, &u); err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "changed", u.subject(ctx), err)
	}
	counted, err := s.list(ctx, s.area.Store, &u, nil, 0, core.PartTotal)
	if err != nil {
		return nil, err
	}
	if counted.Total == 0 {
		if err := requireExisting(ctx, s.area.Store, u.Within); err != nil {
			return nil, err
		}
	}
	return s.area.operations.Start(ctx, operations.UpdateFindings, u.Within, func(ctx context.Context, progress func(records, percent int)) (any, error) {
		return s.decide(ctx, &u, int(counted.Total), progress)
	})
}

// decide decides about the findings of an update, part by part.
func (s Findings) decide(ctx context.Context, u *FindingUpdate, total int, progress func(records, percent int)) (done FindingDecision, err error) {
	for u.walk = core.NewWalk(s.area.decidedAtOnce); u.walk.Next(); {
		n, err := s.decidePart(ctx, u)
		if err != nil {
			return done, err
		}
		done.UpdatedCount += n
		progress(done.UpdatedCount, 100*done.UpdatedCount/max(total, 1))
	}
	return done, nil
}

// decidePart decides about the next part, when it is the turn of its operation. A part that has begun is not cancelled, so that its
// findings are counted.
func (s Findings) decidePart(ctx context.Context, u *FindingUpdate) (int, error) {
	select {
	case s.area.deciding <- struct{}{}:
		defer func() { <-s.area.deciding }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ctx, err := s.area.iam.WithCurrentActor(context.WithoutCancel(ctx))
	if err != nil {
		return 0, err
	}
	updated, err := s.update(ctx, u, func(ctx context.Context, unit func(core.Tx) error) error {
		return core.WritePatiently(ctx, s.area.Store, unit)
	})
	return len(updated), err
}
