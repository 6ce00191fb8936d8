package webhook

import (
	"maps"
	"slices"
	"sync"

	"atrium/platform/core"
	"atrium/platform/webhooks"
)

const (
	// maxAttempts limits the attempts that one process makes at the same time.
	// It is high because attempts mostly wait for sinks.
	maxAttempts = 500
	// slotsPerSubscription limits those for one subscription, so that a sink that hangs
	// does not use all slots.
	slotsPerSubscription = 16
)

// slots has the running attempts of this process. It counts them in total, for each
// subscription, and for each organization.
type slots struct {
	lock    sync.Mutex
	total   int
	taken   map[core.UID]int
	tickets map[webhooks.Ticket]bool // tickets of the running attempts
	refused bool                     // whether a delivery has found no free slot
}

func newSlots() slots {
	return slots{taken: map[core.UID]int{}, tickets: map[webhooks.Ticket]bool{}}
}

// reserve takes slots for deliveries, and returns those that have got one. An organization
// gets slots only while it has fewer than are free. So one organization has at most half of
// them, and however many organizations have sinks that hang, some slots stay free for the
// others.
func (s *slots) reserve(due []core.UID) (reserved []core.UID) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, uid := range due {
		subscription := uid.Parent()
		if s.taken[subscription] == slotsPerSubscription || s.taken[uid.Root()] >= maxAttempts-s.total {
			s.refused = true
			continue
		}
		s.add(subscription, 1)
		reserved = append(reserved, uid)
	}
	return reserved
}

// occupy keeps the slots of the deliveries that were claimed, and frees the other reserved
// ones.
func (s *slots) occupy(reserved []core.UID, claimed []webhooks.Ticket) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, uid := range reserved {
		s.add(uid.Parent(), -1)
	}
	for _, ticket := range claimed {
		s.add(ticket.Delivery.Parent(), 1)
		s.tickets[ticket] = true
	}
}

// free frees the slot of a ticket. It returns whether a delivery may wait for it: one has
// found no free slot since the last call, or none was free.
func (s *slots) free(ticket webhooks.Ticket) (awaited bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	awaited, s.refused = s.refused || s.total == maxAttempts, false
	s.add(ticket.Delivery.Parent(), -1)
	delete(s.tickets, ticket)
	return awaited
}

// add changes the counts of a subscription. The caller must hold the lock.
func (s *slots) add(subscription core.UID, n int) {
	s.total += n
	for _, uid := range []core.UID{subscription, subscription.Root()} {
		if s.taken[uid] += n; s.taken[uid] == 0 {
			delete(s.taken, uid)
		}
	}
}

// haveRoom reports whether a slot is free.
func (s *slots) haveRoom() bool { return s.count() < maxAttempts }

// count returns the number of slots that are not free.
func (s *slots) count() int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.total
}

// held returns the tickets of the running attempts.
func (s *slots) held() []webhooks.Ticket {
	s.lock.Lock()
	defer s.lock.Unlock()
	return slices.Collect(maps.Keys(s.tickets))
}
