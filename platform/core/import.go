package platform

import (
	"context"
	"encoding/json"
	"errors"
)

// An import stores many records at once. It adds new records, replaces changed
// ones and skips equal ones, so that importing twice changes nothing. A batch is
// one transaction. Only operators can import (NewOperator).

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

// An importPlan defines how records of one kind are imported.
type importPlan[T any, K comparable] struct {
	key         func(T) K                                                 // identifies a record
	check       func(T, *violations)                                      // makes the same checks as a creation
	existing    func(ctx context.Context, tx Tx, rows []T) ([]T, error)   // reads the existing rows of these keys; it may return more
	isUnchanged func(known, row T) bool                                   // reports whether row needs no change
	replace     func(ctx context.Context, tx Tx, known T, row T) error    // replaces known by row; nil means that insert does it
	insert      func(ctx context.Context, tx Tx, rows []T) error          // inserts new rows
	markKept    func(ctx context.Context, tx Tx, kept []keptRow[T]) error // records the source of unchanged rows, or its time; nil means that neither is recorded
}

// A keptRow is a record that changes nothing, with the row that is known.
type keptRow[T any] struct{ known, row T }

// run imports one batch.
func (in importPlan[T, K]) run(ctx context.Context, store CoreStore, batch []T) (Imported, error) {
	rows, rejected := in.validate(batch)
	done := Imported{Rejected: rejected}
	if len(rows) == 0 {
		return done, nil
	}
	err := retryCollisions(func() error {
		return writePatiently(ctx, store, func(tx Tx) (err error) {
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

// writePatiently runs unit in a transaction. It runs unit again while another transaction has a
// lock that the unit needs, because an import waits for other imports longer than a request
// waits for other requests.
func writePatiently(ctx context.Context, store CoreStore, unit func(Tx) error) error {
	for try := 1; ; try++ {
		err := store.Write(ctx, unit)
		switch {
		case errors.Is(err, errUncertain): // a batch may be imported twice
			return Unavailable("the database did not answer whether it has stored these records; run the same command again", err)
		case ctx.Err() != nil || !errors.Is(err, ErrLocked):
			return err
		case try == maxLockTries:
			return Unavailable("another import has locked these records for too long; wait until it has ended, and run the same command again", nil)
		}
	}
}

// put writes new and changed rows.
func (in importPlan[T, K]) put(ctx context.Context, tx Tx, rows []T) (done Imported, err error) {
	stored, err := in.existing(ctx, tx, rows)
	if err != nil {
		return done, err
	}
	known := make(map[K]T, len(stored))
	for _, row := range stored {
		known[in.key(row)] = row
	}
	var inserted []T
	var kept []keptRow[T]
	for _, row := range rows {
		switch old, found := known[in.key(row)]; {
		case !found:
			done.Added++
			inserted = append(inserted, row)
		case in.isUnchanged(old, row):
			kept = append(kept, keptRow[T]{old, row})
		case in.replace == nil:
			done.Updated++
			inserted = append(inserted, row)
		default:
			done.Updated++
			if err := in.replace(ctx, tx, old, row); err != nil {
				return done, err
			}
		}
	}
	done.Unchanged = len(kept)
	if len(inserted) > 0 {
		if err := in.insert(ctx, tx, inserted); err != nil {
			return done, err
		}
	}
	if in.markKept == nil || done.Unchanged == 0 {
		return done, nil
	}
	return done, in.markKept(ctx, tx, kept)
}

// validate rejects records that are invalid or occur twice.
func (in importPlan[T, K]) validate(batch []T) (rows []T, rejected map[int]error) {
	seen := make(map[K]bool, len(batch))
	rejected = map[int]error{}
	for i, row := range batch {
		var v violations
		if in.check(row, &v); len(v) == 0 && seen[in.key(row)] {
			v.add("name", "is in this batch already")
		}
		if len(v) > 0 {
			rejected[i] = v.err()
			continue
		}
		seen[in.key(row)] = true
		rows = append(rows, row)
	}
	return rows, rejected
}

// requireOperator fails unless the caller is an operator.
func requireOperator(ctx context.Context) error {
	actor, err := requireCaller(ctx)
	if err == nil && actor.operator == "" {
		err = newRefusal("only a command of the operator may do this")
	}
	return err
}

// requireImport fails unless the caller is an operator and the group exists.
func (p *Core) requireImport(ctx context.Context, group UID) error {
	if err := requireOperator(ctx); err != nil {
		return err
	}
	if err := invalidUID("group", group); err != nil {
		return err
	}
	found, err := p.store.Exists(ctx, group)
	if err == nil && !found {
		return newNotFound(groupRef, group)
	}
	return err
}

// recordImported records a change of verb to each row, unless the operator
// wants no events.
func recordImported[T any, F filter](ctx context.Context, tx Tx, r *Collection[T, F], verb string, o ImportOptions, rows ...T) {
	if o.NoEvents {
		return
	}
	for _, row := range rows {
		tx.Record(r.core.event(ctx, r.kind.Event, verb, r.kind.UID(row), r.kind.Group(row), row))
	}
}

// noLimit is the limit of reads whose filter limits the number of rows.
const noLimit = 1 << 20

func alwaysTrue(string) bool { return true }

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}
