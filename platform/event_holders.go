package platform

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// holders read what the callers of live feeds hold: once for all feeds of a
// caller, and in one statement for many callers.
type holders struct {
	store Reader
	reads *atomic.Int64 // counts reads of events

	lock    sync.Mutex
	open    map[string]*holder // while a caller has feeds
	next    *grantRead         // has not begun; nil: nobody waits
	reading bool
}

// A holder is a caller with feeds. Its grants are shared by all of them.
type holder struct {
	key   string
	actor *Actor
	feeds int

	grants []grant
	read   int64 // grants are newer than the events of this read, and of those before
}

// A grantRead reads for every holder that asked before it began.
type grantRead struct {
	asking []*holder
	done   chan struct{}
	err    error
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
	if one.read < read {
		next := h.ask(one)
		h.lock.Unlock()
		var err error
		select {
		case <-next.done:
			err = next.err
		case <-ctx.Done():
			err = ctx.Err()
		}
		h.lock.Lock()
		if err != nil {
			return nil, err
		}
	}
	fresh := *a
	fresh.grants = one.grants
	return &fresh, nil
}

// ask adds a holder to the next read. A read that is under way may have begun
// too early.
func (h *holders) ask(one *holder) *grantRead {
	if h.next == nil {
		h.next = &grantRead{done: make(chan struct{})}
	}
	if !slices.Contains(h.next.asking, one) {
		h.next.asking = append(h.next.asking, one)
	}
	if !h.reading {
		h.reading = true
		go h.readAll()
	}
	return h.next
}

// grantsTimeout bounds one read of grants.
const grantsTimeout = 10 * time.Second

// readAll reads until nobody waits.
func (h *holders) readAll() {
	h.lock.Lock()
	defer h.lock.Unlock()
	for h.next != nil {
		now, read := h.next, h.reads.Load()
		h.next = nil
		h.lock.Unlock()
		actors := make([]*Actor, len(now.asking))
		for i, one := range now.asking {
			actors[i] = one.actor
		}
		ctx, cancel := context.WithTimeout(InBackground(context.Background()), grantsTimeout)
		held, err := readGrants(ctx, h.store, actors)
		cancel()
		h.lock.Lock()
		for i, grants := range held {
			now.asking[i].grants, now.asking[i].read = grants, read
		}
		now.err = err
		close(now.done)
	}
	h.reading = false
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
