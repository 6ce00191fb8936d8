package events

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// feedCallers reads the grants of the callers of live feeds: once for all feeds
// of a caller, and in one statement for many callers. While the store fails,
// feeds wait: no event is delivered with outdated grants.
type feedCallers struct {
	store    core.Conn
	tables   iam.Tables
	identify func(ctx context.Context, c iam.Claims) (*core.Actor, error) // finds the identities of a token again
	trouble  core.Chore                                                   // what the log says of reads
	reads    *atomic.Int64                                                // number of reads of events

	lock    sync.Mutex
	open    map[string]*feedCaller // callers with feeds
	now     *grantRead             // the read in progress
	next    *grantRead             // the read that has not started yet; nil means that no caller waits for one
	reading bool
}

// A feedCaller is a caller with feeds, which share its grants.
type feedCaller struct {
	key   string
	actor *core.Actor
	feeds int

	asked  *grantRead // the last read that was requested
	grants []core.HeldGrant
	read   int64           // the grants are newer than the events of this read and of earlier reads
	round  *core.FeedRound // nil between rounds

	confirmLock sync.Mutex
	isConfirmed bool // whether the token had its identities when the first feed was opened
	// These are the versions of the organizations and of the issuers at which the token had its
	// identities. A change of an identity changes the version of both.
	rootVersions, issuerVersions string
	isSignedOut                  bool // whether the token has lost an identity since
}

// A grantRead reads the grants of every caller that requested it before it began.
type grantRead struct {
	read   int64 // number of the last read of events before this read began
	asking []*feedCaller
	done   chan struct{}
}

// acquire returns the feedCaller that the feeds of an actor share.
func (h *feedCallers) acquire(ctx context.Context, a *core.Actor) (*feedCaller, error) {
	key := feedKeyOf(a)
	h.lock.Lock()
	if h.open[key] == nil {
		h.open[key] = &feedCaller{key: key, actor: a, read: -1}
	}
	one := h.open[key]
	one.feeds++
	h.lock.Unlock()
	if err := h.confirmFirst(ctx, one); err != nil {
		h.release(one)
		return nil, err
	}
	return one, nil
}

// confirmFirst confirms a caller before the first of its feeds asks for grants.
func (h *feedCallers) confirmFirst(ctx context.Context, one *feedCaller) error {
	one.confirmLock.Lock()
	defer one.confirmLock.Unlock()
	if one.isConfirmed {
		return nil
	}
	lost, err := h.confirm(ctx, []*feedCaller{one})
	switch {
	case err != nil:
		return err
	case len(lost) > 0:
		return errSignedOut
	}
	one.isConfirmed = true
	return nil
}

// feedKeyOf identifies actors that always have the same identities and grants, and expire at
// the same time: those of the same claims, while static keys keep their expiry.
func feedKeyOf(a *core.Actor) string {
	parts := make([]string, len(a.MappedGroups))
	for i, m := range a.MappedGroups {
		parts[i] = string(m.Provider) + strconv.Quote(m.Group)
	}
	slices.Sort(parts)
	key := strconv.Quote(a.Operator) + a.Key() + strings.Join(parts, "") + a.Expires.UTC().String()
	if a.Proof != nil {
		claims, _ := json.Marshal(iam.ClaimsOf(a)) // they were decoded from JSON
		sum := sha256.Sum256(claims)
		key += string(sum[:])
	}
	return key
}

// errSignedOut ends the feeds of a token that has lost an identity.
var errSignedOut = core.InArea(core.AreaEvents, core.Unauthenticated("the token no longer stands for the identity that opened the feed"))

// confirm returns the callers whose tokens no longer stand for their identities, also if it
// returns an error. It reads the identities of a token only if their rules can have changed.
func (h *feedCallers) confirm(ctx context.Context, callers []*feedCaller) (lost []*feedCaller, err error) {
	var roots []core.UID
	var issuers []string
	for _, one := range callers {
		roots, issuers = append(roots, rootsOf(one.actor)...), append(issuers, issuersOf(one.actor)...)
	}
	slices.Sort(roots)
	slices.Sort(issuers)
	if len(roots) == 0 {
		return nil, nil
	}
	versions, err := h.tables.AuthorityVersions(ctx, h.store, slices.Compact(roots), slices.Compact(issuers))
	if err != nil {
		return nil, err
	}
	for _, one := range callers {
		rootVersions, issuerVersions := joinVersions(versions.Roots, rootsOf(one.actor)), joinVersions(versions.Issuers, issuersOf(one.actor))
		if rootVersions == one.rootVersions || issuerVersions == one.issuerVersions {
			continue
		}
		fresh, err := h.identify(ctx, iam.ClaimsOf(one.actor))
		switch {
		case err != nil:
			return lost, err
		case !standsFor(fresh, one.actor):
			lost = append(lost, one)
			continue
		}
		kept := *one.actor
		kept.MappedGroups = fresh.MappedGroups
		one.rootVersions, one.issuerVersions = rootVersions, issuerVersions
		h.lock.Lock()
		one.actor = &kept
		h.lock.Unlock()
	}
	return lost, nil
}

func joinVersions[K comparable](versions map[K]string, keys []K) string {
	joined := ""
	for _, key := range keys {
		joined += versions[key] + " "
	}
	return joined
}

// rootsOf lists the organizations of the identities of a token. An operator has none.
func rootsOf(a *core.Actor) []core.UID {
	if a.Proof == nil {
		return nil
	}
	var roots []core.UID
	for _, identity := range a.Identities {
		roots = append(roots, identity.Root())
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// issuersOf lists the issuers that rules for a token can name.
func issuersOf(a *core.Actor) []string {
	if a.Proof == nil {
		return nil
	}
	return append([]string{"", iam.BearerOf(a).Issuer}, iam.BearerOf(a).Issuers...)
}

// standsFor reports whether a has all identities of b, the same keys if they have keys, and
// does not expire earlier.
func standsFor(a *core.Actor, b *core.Actor) bool {
	isShorter := !a.Expires.IsZero() && (b.Expires.IsZero() || a.Expires.Before(b.Expires))
	return !isShorter && a.StaticKeys == b.StaticKeys && !slices.ContainsFunc(b.Identities, func(uid core.UID) bool { return !slices.Contains(a.Identities, uid) })
}

func (h *feedCallers) release(one *feedCaller) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if one.feeds--; one.feeds == 0 {
		h.forget(one)
	}
}

// forget removes a caller, so that the next feed with its key begins anew. The caller of
// forget must hold the lock.
func (h *feedCallers) forget(one *feedCaller) {
	if h.open[one.key] == one {
		delete(h.open, one.key)
	}
}

// join returns the round of a caller, whose grants were read after the given read of events. Thus
// an event that was recorded after a grant was revoked is not delivered.
func (h *feedCallers) join(ctx context.Context, one *feedCaller, read int64) (*core.FeedRound, error) {
	h.lock.Lock()
	defer h.lock.Unlock()
	for one.actor.Operator == "" && one.read < read {
		asked := h.requestRead(one, read)
		h.lock.Unlock()
		select {
		case <-asked.done:
			h.lock.Lock()
		case <-ctx.Done():
			h.lock.Lock()
			return nil, ctx.Err()
		}
	}
	if one.isSignedOut {
		return nil, errSignedOut
	}
	if one.round == nil {
		h.beginRounds(one)
	}
	return one.round, nil
}

// beginRounds begins a round of each of some callers, which share answers, and ends these rounds after
// RoundTime. The caller must hold the lock.
func (h *feedCallers) beginRounds(callers ...*feedCaller) {
	answers := core.NewSharedAnswers()
	for _, one := range callers {
		fresh := *one.actor
		fresh.Grants = one.grants
		one.round = &core.FeedRound{Actor: &fresh, Answers: answers}
	}
	time.AfterFunc(core.RoundTime, func() {
		h.lock.Lock()
		defer h.lock.Unlock()
		for _, one := range callers {
			if one.round != nil && one.round.Answers == answers {
				one.round = nil
			}
		}
	})
}

// requestRead returns a read of grants that begins, or began, after the given
// read of events. The caller must hold the lock.
func (h *feedCallers) requestRead(one *feedCaller, read int64) *grantRead {
	if h.now != nil && one.asked == h.now && h.now.read >= read {
		return h.now
	}
	if h.next == nil {
		h.next = &grantRead{done: make(chan struct{})}
	}
	if one.asked != h.next {
		one.asked = h.next
		h.next.asking = append(h.next.asking, one)
	}
	if !h.reading {
		h.reading = true
		go h.readAll()
	}
	return h.next
}

// readAll reads grants until no caller waits.
func (h *feedCallers) readAll() {
	h.lock.Lock()
	defer h.lock.Unlock()
	for h.next != nil {
		h.now, h.next = h.next, nil
		for !h.readNow() && len(h.open) > 0 {
			h.lock.Unlock()
			time.Sleep(feedInterval)
			h.lock.Lock()
		}
		close(h.now.done)
		h.now = nil
	}
	h.reading = false
}

// grantsTimeout limits one read of grants.
const grantsTimeout = 10 * time.Second

// readNow runs the current read and reports whether it succeeded. It releases the
// lock in the meantime.
func (h *feedCallers) readNow() bool {
	now := h.now
	now.read = h.reads.Load()
	h.lock.Unlock()
	ctx, cancel := context.WithTimeout(core.InBackground(context.Background()), grantsTimeout)
	lost, err := h.confirm(ctx, now.asking)
	var held [][]core.HeldGrant
	if err == nil {
		actors := make([]*core.Actor, len(now.asking))
		for i, one := range now.asking {
			actors[i] = one.actor
		}
		held, err = iam.ReadGrants(ctx, h.tables, h.store, actors)
	}
	cancel()
	h.lock.Lock()
	for _, one := range lost {
		one.isSignedOut = true
		h.forget(one) // the token may get its identity back, and open other feeds
	}
	if h.trouble.Note(context.Background(), err); err != nil {
		return false
	}
	for i, one := range now.asking {
		one.grants, one.read = held[i], now.read
	}
	h.beginRounds(now.asking...)
	return true
}
