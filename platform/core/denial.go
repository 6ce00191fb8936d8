package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
)

// A denied change is in the audit log before the client gets the error. Callers
// without rights must not be able to slow down the writes of others. Therefore
// denials need few writes: denials that arrive while others are being stored are
// stored together, in one transaction at a time, and equal denials within a
// minute share one row with a count. The row has the subject, the body and the
// message of the first one.

// RecordIfDenied records a change that failed because the caller lacks a
// capability, and returns the error for the client. It returns other errors, and
// nil, unchanged.
func (r *Collection[T, F]) RecordIfDenied(ctx context.Context, verb string, subject UID, err error) error {
	if failure := r.Core.recordDenial(ctx, r.Kind.Event, verb, subject, err); failure != nil {
		err = failure
	}
	return r.Kind.AddArea(err)
}

// recordDenial records a denied change if its organization exists. It returns
// when the record is stored, even if the client has disconnected. If the record
// cannot be stored, the client must get the error of recordDenial: no denial may
// go unrecorded.
func (c *Core) recordDenial(ctx context.Context, kind, verb string, subject UID, err error) error {
	var denial *Error
	actor := ActorOf(ctx)
	if conditionsOf(ctx).ValidateOnly { // nobody has tried to change anything
		return nil
	}
	if !errors.As(err, &denial) || denial.Code != CodePermissionDenied || !subject.Valid() || actor == nil || actor.Operator != "" {
		return nil
	}
	if err := Prove(ctx); err != nil {
		return err // the grants of the caller have changed: the request is run again
	}
	entry := c.Event(ctx, kind, verb, subject, "", denial.Metadata)
	if entry.Denied = denial.Message; len(denial.Metadata) == 0 {
		entry.Body = json.RawMessage("{}")
	}
	entry.Denial = entry.denialKey(actor)
	if err := c.denials.record(entry); err != nil {
		c.Logger.Error("recording a denied change failed; the client got UNAVAILABLE", "error", err, "type", entry.Type, "subject", subject)
		return Unavailable("the request is not permitted, and the denial could not be recorded in the audit log; try again", err)
	}
	return nil
}

// DenialInterval is the interval in which equal denials are counted together.
const DenialInterval = time.Minute

// denialKey returns a key that equal denials of the same interval share. All denials of one
// type are equal in an organization in which the caller holds nothing. Otherwise anybody with a
// token could fill the audit log of any organization, with one row for each UID.
func (e *Event) denialKey(caller *Actor) string {
	same := []any{e.Actor, e.Type, e.Subject, e.Denied, e.Body, e.Time.Truncate(DenialInterval)}
	if root := e.Subject.Root(); !slices.ContainsFunc(caller.Grants, func(g HeldGrant) bool { return g.Scope.Root() == root }) {
		same = []any{caller.Key(), caller.Issuer, caller.Subject, e.Type, root, e.Time.Truncate(DenialInterval)}
	}
	b, _ := json.Marshal(same) // cannot fail for plain data
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

const (
	// denialTimeout limits how long a response waits until its denial is stored.
	// It is less than the time limit of requests.
	denialTimeout = 20 * time.Second
	denialBatch   = 500
)

// denials collects the denials that are to be stored.
type denials struct {
	core    *Core
	lock    sync.Mutex
	waiting []denial
	storing bool
}

// A denial is an entry for the audit log, and a channel for the result of storing
// it.
type denial struct {
	entry  *Event
	stored chan error
}

// record stores an entry, together with other waiting entries.
func (d *denials) record(entry *Event) error {
	pending := denial{entry, make(chan error, 1)}
	d.lock.Lock()
	d.waiting = append(d.waiting, pending)
	begin := !d.storing
	d.storing = true
	d.lock.Unlock()
	if begin {
		go d.storeAll()
	}
	return <-pending.stored
}

// storeAll stores the waiting entries in batches until none is left.
func (d *denials) storeAll() {
	for {
		d.lock.Lock()
		batch := d.waiting[:min(len(d.waiting), denialBatch)]
		d.waiting = d.waiting[len(batch):]
		d.storing = len(batch) > 0
		d.lock.Unlock()
		if len(batch) == 0 {
			return
		}
		d.storeBatch(batch)
	}
}

// storeBatch stores a batch and reports the result to the waiting callers. If the
// batch fails, it stores each entry separately, so that one bad entry does not
// affect the others. It does not if the database is the reason, or may have stored them.
func (d *denials) storeBatch(batch []denial) {
	err := d.store(batch)
	separately := err != nil && len(batch) > 1 &&
		!errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrUncertain) && AsError(err).Code != CodeUnavailable
	for i, one := range batch {
		if separately {
			err = d.store(batch[i : i+1])
		}
		one.stored <- err
	}
}

// store writes denials in one transaction.
func (d *denials) store(batch []denial) error {
	ctx, cancel := context.WithTimeout(context.Background(), denialTimeout)
	defer cancel()
	entries, err := d.locateEntries(ctx, batch)
	if err != nil || len(entries) == 0 {
		return err
	}
	return d.core.Store.Write(ctx, func(tx Tx) error { tx.Record(entries...); return nil })
}

// locateEntries returns the entries of denials in existing organizations, each
// with its nearest existing group. Equal denials become one entry with a count.
// The entries are sorted, so that replicas which write the same entries cannot
// deadlock.
func (d *denials) locateEntries(ctx context.Context, batch []denial) ([]*Event, error) {
	var asked []UID
	for _, one := range batch {
		asked = append(append(asked, one.entry.Subject.Ancestors()...), one.entry.Subject)
	}
	slices.Sort(asked)
	groups, err := d.core.Store.ExistingGroups(ctx, slices.Compact(asked))
	if err != nil {
		return nil, err
	}
	exists := map[UID]bool{}
	for _, uid := range groups {
		exists[uid] = true
	}
	counted := map[string]*Event{}
	var entries []*Event
	for _, one := range batch {
		entry := *one.entry
		if known := counted[entry.Denial]; known != nil {
			known.Count += entry.Count
			continue
		}
		for _, uid := range append(entry.Subject.Ancestors(), entry.Subject) {
			if exists[uid] && len(uid) > len(entry.Group) {
				entry.Group = uid
			}
		}
		if entry.Group != "" {
			counted[entry.Denial] = &entry
			entries = append(entries, &entry)
		}
	}
	slices.SortFunc(entries, func(a, b *Event) int { return strings.Compare(a.Denial, b.Denial) })
	return entries, nil
}
