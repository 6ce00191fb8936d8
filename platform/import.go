package platform

import (
	"context"
	"encoding/json"
	"errors"
)

// Imports bring many records at once: new ones are added, changed ones
// replaced, equal ones left alone, so that importing twice changes nothing. A
// batch is one transaction. They are an operator's commands (Operator).

// ImportBatch is a good number of records for one import call.
const ImportBatch = 1000

// Imported counts what an import did.
type Imported struct {
	Added, Updated, Unchanged int
	Rejected                  map[int]error // by place in the batch: why a record was left out
}

// ImportOptions are what the operator decides about an import.
type ImportOptions struct {
	NoEvents bool

	// Bare is for a source of bare names and digests: descriptions, readmes
	// and ends of life that are there stay as they are.
	Bare bool
}

// An intake is how records of one kind are imported.
type intake[T any, K comparable] struct {
	key     func(*T) K                                                // of which there is one
	check   func(*T, *violations)                                     // as a creation would
	known   func(ctx context.Context, tx Tx, rows []*T) ([]*T, error) // those there already; others too is no harm
	keeps   func(known, row *T) bool                                  // nothing is to be done for row
	replace func(ctx context.Context, tx Tx, known *T, row *T) error  // write row over known
	insert  func(ctx context.Context, tx Tx, rows []*T) error         // all new ones
	claim   func(ctx context.Context, tx Tx, kept []*T) error         // note who brought rows that are kept; nil: that is not noted
}

// run imports one batch.
func (in intake[T, K]) run(ctx context.Context, store Store, batch []*T) (Imported, error) {
	rows, rejected := in.sift(batch)
	done := Imported{Rejected: rejected}
	if len(rows) == 0 {
		return done, nil
	}
	put := func(tx Tx) (err error) {
		done, err = in.put(ctx, tx, rows)
		done.Rejected = rejected
		return err
	}
	err := store.Write(ctx, put)
	if errors.Is(err, ErrDuplicate) {
		err = store.Write(ctx, put) // another import brought the same meanwhile: now it is known
	}
	return done, err
}

// put writes the rows that are new or changed.
func (in intake[T, K]) put(ctx context.Context, tx Tx, rows []*T) (done Imported, err error) {
	there, err := in.known(ctx, tx, rows)
	if err != nil {
		return done, err
	}
	known := make(map[K]*T, len(there))
	for _, row := range there {
		known[in.key(row)] = row
	}
	var added, kept []*T
	for _, row := range rows {
		switch old := known[in.key(row)]; {
		case old == nil:
			added = append(added, row)
		case in.keeps(old, row):
			kept = append(kept, row)
		default:
			done.Updated++
			if err := in.replace(ctx, tx, old, row); err != nil {
				return done, err
			}
		}
	}
	done.Added, done.Unchanged = len(added), len(kept)
	if done.Added > 0 {
		if err := in.insert(ctx, tx, added); err != nil {
			return done, err
		}
	}
	if in.claim == nil || done.Unchanged == 0 {
		return done, nil
	}
	return done, in.claim(ctx, tx, kept)
}

// sift rejects records that are not as they must be, or come twice.
func (in intake[T, K]) sift(batch []*T) (rows []*T, rejected map[int]error) {
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

// operating demands an operator.
func operating(ctx context.Context) error {
	actor, err := caller(ctx)
	if err == nil && actor.operator == "" {
		err = denied("", "")
	}
	return err
}

// importing demands an operator and a group to import into.
func (p *Platform) importing(ctx context.Context, group UID) error {
	if err := operating(ctx); err != nil {
		return err
	}
	if err := invalidUID("group", group); err != nil {
		return err
	}
	found, err := p.store.Exists(ctx, group)
	if err == nil && !found {
		return missing("Group", group)
	}
	return err
}

// recordImported records a change of verb to each row, unless the operator
// wants no events.
func recordImported[T any, F filter](ctx context.Context, tx Tx, r resources[T, F], verb string, o ImportOptions, rows ...*T) {
	if o.NoEvents {
		return
	}
	for _, row := range rows {
		tx.Record(r.p.event(ctx, r.kind.Event, verb, r.kind.UID(row), r.kind.Group(row), row))
	}
}

// everything is the Limit of a read whose filter bounds it.
const everything = 1 << 20

func always(string) bool { return true }

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}
