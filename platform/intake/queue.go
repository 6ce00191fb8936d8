package intake

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"atrium/platform/core"
)

// The rows of sources are the queue, as those of deliveries are: each says when it is due, and until when a process holds it. All times in
// it are those of Store.Now, so that clocks of processes may differ.

// dueLimit is how many due sources are looked at, because other processes claim some of them meanwhile.
const dueLimit = 20

// A Queue is the queue of sources as one process uses it. It is safe for concurrent use.
type Queue struct {
	area  *Area
	lease time.Duration
}

// Queue returns a queue whose claims are valid for the duration of a lease, unless Renew extends them.
func (s Sources) Queue(lease time.Duration) *Queue { return &Queue{s.area, lease} }

// A Ticket is the right to run a source, which a process gets when it claims the source. Each claim has the next number, and only the
// newest ticket is valid: if the lease of a process has ended and another one has claimed the source, what the first reports is ignored.
type Ticket struct {
	Source core.UID
	Number int64
}

// Held is a valid ticket.
type Held struct {
	Ticket
	IsCancelled bool // whether somebody wants the run to end
}

// A Claim is a source that a process has to read.
type Claim struct {
	Ticket

	Source   *Source
	Password string // of its credentials
	Fault    string // why it cannot be read; "" if it can
}

// A Share says of which sources a process can read one more: of those of the operator, or of those of organizations that it is not busy with.
type Share struct {
	OfOperator bool
	Busy       []core.UID
}

// Claim takes the source of a share that has been due for longest and that no process holds. If there is none, it returns the time until
// another becomes due, which is 0 if none waits.
func (q *Queue) Claim(ctx context.Context, of Share) (*Claim, time.Duration, error) {
	now, err := q.area.Store.Now(ctx)
	if err != nil {
		return nil, 0, err
	}
	due, next, err := q.area.tables.DueSources(ctx, q.area.Store, now, of, dueLimit)
	if err != nil {
		return nil, 0, err
	}
	for _, uid := range due {
		if claimed, err := q.claim(ctx, uid); claimed != nil || err != nil {
			return claimed, 0, err
		}
	}
	if next.IsZero() {
		return nil, 0, nil
	}
	return nil, next.Sub(now.Time), nil
}

// claim takes a source if it is still due. It notes that a run has not ended whose process has.
func (q *Queue) claim(ctx context.Context, uid core.UID) (claimed *Claim, err error) {
	err = q.area.Store.Write(ctx, func(tx core.Tx) error {
		claimed = nil
		source, err := q.area.tables.Sources.GetForUpdate(ctx, tx, uid)
		if errors.Is(err, core.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil || source.isHeld(now) || source.NextRunTime.IsZero() || source.NextRunTime.After(now.Time) {
			return err
		}
		if source.State == Running {
			lost := &SourceRun{Number: int32(source.Ticket), State: Failed, StartTime: source.LastRunTime, EndTime: now, Error: "the server that read the source has stopped; another server reads it again"}
			if err := q.area.tables.AddRun(ctx, tx, uid, lost, keptRuns); err != nil {
				return err
			}
		}
		source.Ticket++
		source.State, source.LastRunTime, source.Lease, source.CancelAsked = Running, now, core.At(now.Add(q.lease)), false
		claimed = &Claim{Ticket: Ticket{uid, source.Ticket}, Source: source}
		return q.area.tables.Sources.Update(ctx, tx, source, "state", "ticket", "lease", "lastRunTime", "cancelAsked")
	})
	if err != nil || claimed == nil {
		return nil, err
	}
	if len(claimed.Source.EncryptedPassword) > 0 {
		if claimed.Password, err = q.area.secrets.DecryptSecret(claimed.Source.EncryptedPassword, uid); err != nil {
			claimed.Fault = "the service cannot read the password of the source; set its credentials again"
		}
	}
	return claimed, nil
}

// Renew extends the leases of tickets, and returns those that are still valid. The others have lost their source, and must stop.
func (q *Queue) Renew(ctx context.Context, tickets []Ticket) (valid []Held, err error) {
	err = q.area.Store.Write(ctx, func(tx core.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		valid, err = q.area.tables.RenewSources(ctx, tx, tickets, core.At(now.Add(q.lease)))
		return err
	})
	return valid, err
}

// Release gives a ticket back without a result, because its process ends. The source is due again.
func (q *Queue) Release(ctx context.Context, ticket Ticket) error {
	return q.finish(ctx, ticket, func(_ core.Tx, source *Source, _ core.Time) ([]string, error) {
		source.Lease, source.State = core.Time{}, Waiting
		if source.LastRun != nil {
			source.State = source.LastRun.State
		}
		return []string{"lease", "state"}, nil
	})
}

// End records the result of a run, with what is known then of what was read, unless another process has claimed the source meanwhile.
func (q *Queue) End(ctx context.Context, ticket Ticket, run SourceRun, marks map[string]*Mark) error {
	var ended *Source
	var change string
	err := q.finish(ctx, ticket, func(tx core.Tx, source *Source, now core.Time) ([]string, error) {
		run.Number, run.StartTime, run.EndTime = int32(ticket.Number), source.LastRunTime, now
		wasFailing := !source.FailingSince.IsZero()
		if !source.CancelAsked { // also by a change of what is read
			source.Marks = marks
		}
		source.record(&run, now, rand.Float64()) //nolint:gosec // jitter is no secret
		ended, change = source, ""
		switch isFailing := !source.FailingSince.IsZero(); {
		case isFailing && !wasFailing:
			change = "failed"
		case wasFailing && !isFailing:
			change = "recovered"
		}
		if change != "" && !source.UID.IsRoot() {
			ctx := core.WithActor(ctx, core.NewOperator("sources"))
			tx.Record(q.area.Event(ctx, SourceKind.Event, change, source.UID, source.UID.Parent(), source))
		}
		return []string{"state", "lease", "cancelAsked", "lastRun", "lastSuccessTime", "failingSince", "failures", "nextRunTime", "marks"},
			q.area.tables.AddRun(ctx, tx, source.UID, &run, keptRuns)
	})
	if err != nil || ended == nil {
		return err
	}
	q.area.options.Observer.SourceRan(ended.Type.Short(), run)
	logger := q.area.Logger.With("source", ended.UID, "name", ended.Name, "type", ended.Type.Short())
	switch change {
	case "failed":
		logger.Warn("a source cannot be read; retrying with growing delays", "error", run.Error)
	case "recovered":
		logger.Info("a source can be read again")
	}
	return nil
}

// finish changes the source of a ticket if that is still valid.
func (q *Queue) finish(ctx context.Context, ticket Ticket, change func(core.Tx, *Source, core.Time) ([]string, error)) error {
	return q.area.Store.Write(ctx, func(tx core.Tx) error {
		source, err := q.area.tables.Sources.GetForUpdate(ctx, tx, ticket.Source)
		if errors.Is(err, core.ErrNotFound) {
			return nil
		}
		if err != nil || source.Ticket != ticket.Number || source.State != Running {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		fields, err := change(tx, source, now)
		if err != nil {
			return err
		}
		return q.area.tables.Sources.Update(ctx, tx, source, fields...)
	})
}
