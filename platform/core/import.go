package core

import (
	"context"
	"encoding/json"
	"errors"
)

// An import stores many records at once. It adds new records, replaces changed
// ones and skips equal ones, so that importing twice changes nothing. A batch is
// one transaction. Operators can import (NewOperator), and callers what they hold a capability for.

// ImportBatch is the recommended number of records for one import call.
const ImportBatch = 1000

// Imported counts the records of an import by result.
type Imported struct {
	Added, Updated, Unchanged int
	Rejected                  map[int]error // reasons why records were rejected, by index in the batch
}

// ImportOptions are the options of an import.
type ImportOptions struct {
	NoEvents bool

	// NamesOnly is for sources that have only names and digests. Existing
	// descriptions, readmes and deprecations stay as they are.
	NamesOnly bool
}

// An ImportPlan defines how records of one kind are imported.
type ImportPlan[T any, K comparable] struct {
	Key         func(T) K                                                 // identifies a record
	Check       func(T, *Violations)                                      // makes the same checks as a creation
	Existing    func(ctx context.Context, tx Tx, rows []T) ([]T, error)   // reads the existing rows of these keys; it may return more
	IsUnchanged func(known, row T) bool                                   // reports whether row needs no change
	Replace     func(ctx context.Context, tx Tx, known T, row T) error    // replaces known by row; nil means that insert does it
	Insert      func(ctx context.Context, tx Tx, rows []T) error          // inserts new rows
	MarkKept    func(ctx context.Context, tx Tx, kept []KeptRow[T]) error // records the source of unchanged rows, or its time; nil means that neither is recorded

	// Finish does what follows when all rows are stored, and returns how many of the existing rows it has changed; nil means that nothing
	// follows.
	Finish func(ctx context.Context, tx Tx, existing []T) (int, error)
}

// A KeptRow is a record that changes nothing, with the row that is known.
type KeptRow[T any] struct{ Known, Row T }

// Run imports one batch.
func (in ImportPlan[T, K]) Run(ctx context.Context, store Store, batch []T) (Imported, error) {
	rows, rejected := in.validate(batch)
	done := Imported{Rejected: rejected}
	if len(rows) == 0 && in.Finish == nil {
		return done, nil
	}
	err := RetryCollisions(func() error {
		return WritePatiently(ctx, store, func(tx Tx) (err error) {
			done, err = in.put(ctx, tx, rows)
			done.Rejected = rejected
			return err
		})
	})
	return done, err
}

// maxLockTries limits how often a batch waits for a lock. One wait takes the time that a request
// may wait, which is two seconds unless the URL of the database says otherwise.
const maxLockTries = 150

// WritePatiently runs unit in a transaction. It runs unit again while another transaction has a
// lock that the unit needs, because an import waits for other imports longer than a request
// waits for other requests.
func WritePatiently(ctx context.Context, store Store, unit func(Tx) error) error {
	for try := 1; ; try++ {
		err := store.Write(ctx, unit)
		var said *Error // it says already who has the lock
		switch {
		case errors.Is(err, ErrUncertain): // a batch may be imported twice
			return Unavailable("the database did not answer whether it has stored these records; run the same command again", err)
		case ctx.Err() != nil || !errors.Is(err, ErrLocked) || try == maxLockTries && errors.As(err, &said):
			return err
		case try == maxLockTries:
			return Unavailable("another import has locked these records for too long; wait until it has ended, and run the same command again", nil)
		}
	}
}

// put writes new and changed rows.
func (in ImportPlan[T, K]) put(ctx context.Context, tx Tx, rows []T) (done Imported, err error) {
	stored, err := in.Existing(ctx, tx, rows)
	if err != nil {
		return done, err
	}
	known := make(map[K]T, len(stored))
	for _, row := range stored {
		known[in.Key(row)] = row
	}
	var inserted []T
	var kept []KeptRow[T]
	for _, row := range rows {
		switch old, found := known[in.Key(row)]; {
		case !found:
			done.Added++
			inserted = append(inserted, row)
		case in.IsUnchanged(old, row):
			kept = append(kept, KeptRow[T]{old, row})
		case in.Replace == nil:
			done.Updated++
			inserted = append(inserted, row)
		default:
			done.Updated++
			if err := in.Replace(ctx, tx, old, row); err != nil {
				return done, err
			}
		}
	}
	done.Unchanged = len(kept)
	if len(inserted) > 0 {
		if err := in.Insert(ctx, tx, inserted); err != nil {
			return done, err
		}
	}
	if in.Finish != nil {
		gone, err := in.Finish(ctx, tx, stored)
		if done.Updated += gone; err != nil {
			return done, err
		}
	}
	if in.MarkKept == nil || done.Unchanged == 0 {
		return done, nil
	}
	return done, in.MarkKept(ctx, tx, kept)
}

// validate rejects records that are invalid or occur twice.
func (in ImportPlan[T, K]) validate(batch []T) (rows []T, rejected map[int]error) {
	seen := make(map[K]bool, len(batch))
	rejected = map[int]error{}
	for i, row := range batch {
		var v Violations
		if in.Check(row, &v); len(v) == 0 && seen[in.Key(row)] {
			v.Add("name", "is in this batch already")
		}
		if len(v) > 0 {
			rejected[i] = v.Err()
			continue
		}
		seen[in.Key(row)] = true
		rows = append(rows, row)
	}
	return rows, rejected
}

// RequireOperator fails unless the caller is an operator.
func RequireOperator(ctx context.Context) error {
	actor, err := RequireCaller(ctx)
	if err == nil && actor.Operator == "" {
		err = NewRefusal("only a command of the operator may do this")
	}
	return err
}

// RequireOperatorOf fails unless the caller is an operator and the group exists.
func (c *Core) RequireOperatorOf(ctx context.Context, group UID) error {
	if err := RequireOperator(ctx); err != nil {
		return err
	}
	return c.requireGroup(ctx, group)
}

// RequireImport fails unless the caller may import into the group, and the group exists.
func (c *Core) RequireImport(ctx context.Context, needed Capability, group UID) error {
	if err := RequireImportInto(ctx, needed, []UID{group}); err != nil {
		return err
	}
	return c.requireGroup(ctx, group)
}

// RequireImportInto fails unless the caller may import into all groups or repos. What is no UID is left to the check of
// the record that names it.
func RequireImportInto(ctx context.Context, needed Capability, places []UID) error {
	actor, err := RequireCaller(ctx)
	if err != nil {
		return err
	}
	for _, uid := range places {
		if uid.Valid() && !actor.Can(needed, uid) {
			return actor.PermissionError(needed, uid)
		}
	}
	return nil
}

// requireGroup fails unless the group exists.
func (c *Core) requireGroup(ctx context.Context, group UID) error {
	if err := InvalidUID("group", group); err != nil {
		return err
	}
	found, err := c.Store.Exists(ctx, group)
	if err == nil && !found {
		return NewNotFound(GroupRef, group)
	}
	return err
}

// RecordImported records a change of verb to each row, unless the operator
// wants no events.
func RecordImported[T any, F Filter](ctx context.Context, tx Tx, r *Collection[T, F], verb string, o ImportOptions, rows ...T) {
	if o.NoEvents {
		return
	}
	for _, row := range rows {
		tx.Record(r.Core.Event(ctx, r.Kind.Event, verb, r.Kind.UID(row), r.Kind.Group(row), row))
	}
}

// NoLimit is the limit of reads whose filter limits the number of rows.
const NoLimit = 1 << 20

// EveryField says of each field that it was changed.
func EveryField(string) bool { return true }

// EqualJSON reports whether two values have the same JSON.
func EqualJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}
