package admission

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// A Key names an organization (Caller is "") or a caller of one. The organization of
// callers without a known token is "".
type Key struct{ Organization, Caller string }

// A share is what an organization, or a caller within one, gets of the slots. It exists
// while one of its requests waits or works.
//
// The next slot is for the organization with the fewest requests at work, and within it for
// the caller with the fewest. Of those with equally many it is for the one that has used
// slots for the shortest time. A new share begins with the time of the last one that was
// next: it neither waits for what others have used before, nor gains from the time in which
// it used nothing.
type share struct {
	key      Key
	parent   *share   // nil for the root
	children []*share // of the root and of organizations

	working  int        // number of requests that have a slot
	waiting  int        // number of requests in the queue that may be refused
	resuming int        // number of requests in the queue that have lent their slot
	queue    []*request // of a caller, the next one first

	used  time.Duration // for which requests have had a slot
	clock time.Duration // used of the child that was next
}

// share returns the share of a caller or an organization, and creates it if there is none.
func (l *limiter) share(key Key) *share {
	if s := l.shares[key]; s != nil {
		return s
	}
	parent := &l.root
	if key.Caller != "" {
		parent = l.share(Key{Organization: key.Organization})
	}
	s := &share{key: key, parent: parent, used: parent.clock}
	parent.children = append(parent.children, s)
	l.shares[key] = s
	return s
}

// drop removes a share that has no requests, and its organization if that has none.
func (l *limiter) drop(s *share) {
	for s.parent != nil && s.working+s.waiting+s.resuming == 0 && len(s.children) == 0 {
		i, last := slices.Index(s.parent.children, s), len(s.parent.children)-1
		s.parent.children[i] = s.parent.children[last]
		s.parent.children = slices.Delete(s.parent.children, last, last+1)
		delete(l.shares, s.key)
		s = s.parent
	}
}

// enqueue puts a request at the end of the queue of a caller, or at its start if the request
// has waited before.
func (s *share) enqueue(r *request) {
	if r.isResuming {
		s.queue = slices.Insert(s.queue, 0, r)
	} else {
		s.queue = append(s.queue, r)
	}
	s.addWaiting(r, 1)
}

// dequeue removes a request from the queue of a caller.
func (s *share) dequeue(r *request) {
	i := slices.Index(s.queue, r)
	s.queue = slices.Delete(s.queue, i, i+1)
	s.addWaiting(r, -1)
}

func (s *share) addWaiting(r *request, n int) {
	for ; s != nil; s = s.parent {
		if r.isResuming {
			s.resuming += n
		} else {
			s.waiting += n
		}
	}
}

func (s *share) addWorking(n int) {
	for ; s != nil; s = s.parent {
		s.working += n
	}
}

// charge adds the time for which a request has had a slot.
func (s *share) charge(used time.Duration) {
	for ; s != nil; s = s.parent {
		s.used += used
	}
}

// next returns the caller whose request is next, or nil if none may start. maxSlots returns
// how many requests of an organization may work.
func (s *share) next(maxSlots func(organization string) int) *share {
	for s.parent == nil || s.parent.parent == nil { // the root and organizations
		var first *share
		for _, child := range s.children {
			mayStart := child.waiting+child.resuming > 0 && (s.parent != nil || child.working < maxSlots(child.key.Organization))
			if mayStart && (first == nil || child.compare(first) < 0) {
				first = child
			}
		}
		if first == nil {
			return nil
		}
		s.clock = max(s.clock, first.used)
		s = first
	}
	return s
}

// compare is negative if the next slot is for s rather than for t, which has the same parent.
func (s *share) compare(t *share) int {
	return cmp.Or(cmp.Compare(s.working, t.working), cmp.Compare(s.used, t.used), cmp.Compare(s.waiting, t.waiting))
}

// longest returns the child with the most waiting requests that may be refused.
func (s *share) longest() *share {
	return slices.MaxFunc(s.children, func(a, b *share) int { return cmp.Compare(a.waiting, b.waiting) })
}

// newest returns the newest request of a caller that may be refused, or nil.
func (s *share) newest() *request {
	if last := len(s.queue) - 1; last >= 0 && !s.queue[last].isResuming {
		return s.queue[last]
	}
	return nil
}

// waitingRequests returns all requests in the queues below the root. The loop may remove the
// request that it has.
func (s *share) waitingRequests() iter.Seq[*request] {
	return func(yield func(*request) bool) {
		for _, organization := range slices.Backward(slices.Clone(s.children)) {
			for _, caller := range slices.Clone(organization.children) {
				for _, r := range slices.Clone(caller.queue) {
					if !yield(r) {
						return
					}
				}
			}
		}
	}
}
