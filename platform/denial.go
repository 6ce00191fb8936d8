package platform

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

// What was refused is in the audit log before the refusal is answered. Whoever
// is refused must not be able to keep others from writing, so denials cost as
// few writes as can be: those that come while others are being stored are
// stored together, in one transaction at a time, and those that are equal
// within a minute are one row that counts them.

// refused is the answer to a change of verb that failed with err. A change
// that the caller had no right to is recorded.
func (r resources[T, F]) refused(ctx context.Context, verb string, subject UID, err error) error {
	if failure := r.p.recordDenial(ctx, r.kind.Event, verb, subject, err); failure != nil {
		err = failure
	}
	return r.kind.in(err)
}

// recordDenial records a change that was refused for lack of rights, where the
// organisation is there to read of it. It returns when that is stored, also
// where the caller has hung up. Where it cannot be stored, its error is what
// is to be answered: a refusal that nobody will ever read of is none.
func (p *Platform) recordDenial(ctx context.Context, kind, verb string, subject UID, err error) error {
	var refusal *Error
	actor := ActorOf(ctx)
	if !errors.As(err, &refusal) || refusal.Code != CodePermissionDenied || !subject.Valid() || actor == nil || actor.operator != "" {
		return nil
	}
	if err := Prove(ctx); err != nil {
		return err // who has just become somebody else was not refused
	}
	entry := p.event(ctx, kind, verb, subject, "", refusal.Metadata)
	if entry.Denied = refusal.Message; len(refusal.Metadata) == 0 {
		entry.Body = json.RawMessage("{}")
	}
	entry.Denial = entry.denialKey()
	if err := p.denials.record(entry); err != nil {
		p.options.Logger.Error("a denial was not recorded, and answered as UNAVAILABLE", "error", err, "type", entry.Type, "subject", subject)
		return Unavailable("the request is not permitted, and that could not be recorded; try again", err)
	}
	return nil
}

// denialInterval is how long equal denials are counted together.
const denialInterval = time.Minute

// denialKey names what a denial has in common with those that are equal to it.
func (e *Event) denialKey() string {
	same, _ := json.Marshal([]any{e.Actor, e.Type, e.Subject, e.Denied, e.Body, e.Time.Truncate(denialInterval)}) // plain data: it cannot fail
	sum := sha256.Sum256(same)
	return hex.EncodeToString(sum[:16])
}

const (
	// denialPatience is how long an answer waits for its denial to be stored.
	// It is less than what any request may take.
	denialPatience = 20 * time.Second
	denialBatch    = 500
)

// denials are those that are to be stored.
type denials struct {
	p       *Platform
	lock    sync.Mutex
	waiting []denial
	storing bool
}

// A denial is an entry of the log, and who waits for it to be stored.
type denial struct {
	entry  *Event
	stored chan error
}

// record stores an entry, with what else is there to be stored by then.
func (d *denials) record(entry *Event) error {
	one := denial{entry, make(chan error, 1)}
	d.lock.Lock()
	d.waiting = append(d.waiting, one)
	begin := !d.storing
	d.storing = true
	d.lock.Unlock()
	if begin {
		go d.storeAll()
	}
	return <-one.stored
}

// storeAll stores what is waiting, batch by batch, until nothing is.
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

// storeBatch stores a batch and tells who waits for it. Where one of it cannot
// be stored, that must be nobody else's loss.
func (d *denials) storeBatch(batch []denial) {
	err := d.store(batch)
	alone := err != nil && len(batch) > 1 && !errors.Is(err, context.DeadlineExceeded) && AsError(err).Code != CodeUnavailable
	for i, one := range batch {
		if alone {
			err = d.store(batch[i : i+1])
		}
		one.stored <- err
	}
}

// store writes denials in one transaction.
func (d *denials) store(batch []denial) error {
	ctx, cancel := context.WithTimeout(context.Background(), denialPatience)
	defer cancel()
	entries, err := d.placeEntries(ctx, batch)
	if err != nil || len(entries) == 0 {
		return err
	}
	return d.p.store.Write(ctx, func(tx Tx) error { tx.Record(entries...); return nil })
}

// placeEntries gives the entries of denials in organisations that are there, each
// with the nearest group that is. Equal ones are counted together. All
// replicas write them in the same order, so that none waits for another that
// waits for it.
func (d *denials) placeEntries(ctx context.Context, batch []denial) ([]*Event, error) {
	var asked []UID
	for _, one := range batch {
		asked = append(append(asked, one.entry.Subject.Ancestors()...), one.entry.Subject)
	}
	slices.Sort(asked)
	groups, err := TableOf[Group, GroupFilter](d.p.store).Get(ctx, Keys{uids: slices.Compact(asked)})
	if err != nil {
		return nil, err
	}
	there := map[UID]bool{}
	for _, g := range groups {
		there[g.UID] = true
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
			if there[uid] && len(uid) > len(entry.Group) {
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
