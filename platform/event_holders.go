package platform

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// holders read what the callers of live feeds hold: once for all feeds of a
// caller, and in one statement for many callers. While the store fails, feeds
// wait: no event is given by grants that may be too old.
type holders struct {
	store  Reader
	logger *slog.Logger
	reads  *atomic.Int64 // counts reads of events

	lock    sync.Mutex
	open    map[string]*holder // while a caller has feeds
	now     *grantRead         // is under way
	next    *grantRead         // has not begun; nil: nobody waits for it
	reading bool
}

// A holder is a caller with feeds. Its grants are shared by all of them.
type holder struct {
	key   string
	actor *Actor
	feeds int

	asked  *grantRead // the last that was asked for
	grants []grant
	read   int64 // grants are newer than the events of this read, and of those before
}

// A grantRead reads for every holder that asked before it began.
type grantRead struct {
	read   int64 // of events; those of it and before had been read when this one began
	asking []*holder
	done   chan struct{}
}

// enter gives the holder that a caller shares with its other feeds.
func (h *holders) enter(a *Actor) *holder {
	key := a.grantsKey()
	h.lock.Lock()
	defer h.lock.Unlock()
	if h.open[key] == nil {
		h.open[key] = &holder{key: key, actor: a, read: -1}
	}
	h.open[key].feeds++
	return h.open[key]
}

// grantsKey tells apart callers who may hold different things.
func (a *Actor) grantsKey() string {
	parts := make([]string, len(a.mapped))
	for i, m := range a.mapped {
		parts[i] = string(m.provider) + strconv.Quote(m.group)
	}
	slices.Sort(parts)
	key := strconv.Quote(a.operator) + a.Key()
	for _, part := range parts {
		key += part
	}
	return key
}

func (h *holders) leave(one *holder) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if one.feeds--; one.feeds == 0 {
		delete(h.open, one.key)
	}
}

// fresh gives the caller with what it holds, read after the events of a read
// had been read: of an event that was recorded after a right was lost, the loss
// is seen.
func (h *holders) fresh(ctx context.Context, one *holder, a *Actor, read int64) (*Actor, error) {
	if a.operator != "" {
		return a, nil
	}
	h.lock.Lock()
	defer h.lock.Unlock()
	for one.read < read {
		asked := h.ask(one, read)
		h.lock.Unlock()
		select {
		case <-asked.done:
			h.lock.Lock()
		case <-ctx.Done():
			h.lock.Lock()
			return nil, ctx.Err()
		}
	}
	fresh := *a
	fresh.grants = one.grants
	return &fresh, nil
}

// ask finds the read of grants that begins after a read of events, or began
// after it. Whoever calls it holds the lock.
func (h *holders) ask(one *holder, read int64) *grantRead {
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

// readAll reads until nobody waits.
func (h *holders) readAll() {
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

// grantsTimeout bounds one read of grants.
const grantsTimeout = 10 * time.Second

// readNow makes the read that is under way, and reports whether it succeeded.
// It gives the lock free meanwhile.
func (h *holders) readNow() bool {
	now := h.now
	now.read = h.reads.Load()
	actors := make([]*Actor, len(now.asking))
	for i, one := range now.asking {
		actors[i] = one.actor
	}
	h.lock.Unlock()
	ctx, cancel := context.WithTimeout(InBackground(context.Background()), grantsTimeout)
	held, err := readGrants(ctx, h.store, actors)
	cancel()
	h.lock.Lock()
	if err != nil {
		h.logger.Warn("live feeds wait: grants cannot be read; trying again", "error", err)
		return false
	}
	for i, one := range now.asking {
		one.grants, one.read = held[i], now.read
	}
	return true
}

// grantsAtOnce bounds the identities of one statement.
const grantsAtOnce = 1000

// readGrants reads what actors hold now, in their order: with one statement for
// the identities of all, and one for each identity provider.
func readGrants(ctx context.Context, r Reader, actors []*Actor) ([][]grant, error) {
	var identities []UID
	groups := map[UID][]string{}
	for _, a := range actors {
		identities = append(identities, a.Identities...)
		for _, m := range a.mapped {
			groups[m.provider] = append(groups[m.provider], m.group)
		}
	}
	slices.Sort(identities)
	bound := map[UID][]Grant{}
	for some := range slices.Chunk(slices.Compact(identities), grantsAtOnce) {
		found, err := r.Grants(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, g := range found {
			bound[g.Identity] = append(bound[g.Identity], g)
		}
	}
	given := map[mapped][]Grant{}
	for provider, listed := range groups {
		slices.Sort(listed)
		found, err := r.MappedGrants(ctx, provider, slices.Compact(listed)...)
		if err != nil {
			return nil, err
		}
		for _, g := range found {
			from := mapped{provider, g.ExternalGroup}
			given[from] = append(given[from], g)
		}
	}
	held := make([][]grant, len(actors))
	for i, a := range actors {
		for _, identity := range a.Identities {
			held[i] = append(held[i], effective(bound[identity])...)
		}
		for _, m := range a.mapped {
			held[i] = append(held[i], effective(given[m])...)
		}
	}
	return held, nil
}
