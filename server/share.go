package server

import (
	"cmp"
	"slices"
	"time"
)

// A shareKey names an organisation (caller is "") or a caller of one. The organisation
// of callers without a known token is "".
type shareKey struct{ organisation, caller string }

// A share is what an organisation, or a caller within one, gets of the slots of a gate. It
// exists while one of its requests waits or is at work.
//
// Who is next is decided by fair queueing: the time for which a share has used slots is its
// tag, and the share with the lowest tag is next. A new share begins with the time that each
// share has used on average, so that it neither waits for what others have used before, nor
// gains from the time in which it used nothing.
type share struct {
	key      shareKey
	parent   *share   // nil for the root
	children []*share // of the root and of organisations

	used    time.Duration // the tag
	average time.Duration // time that each child has used, if all have used the same

	waiting, working int       // requests of the share
	returning        int       // requests among the waiting ones that cannot be refused
	crowded          time.Time // when waiting last became more than 0
	queue            []*ticket // waiting requests of a caller, the oldest first
}

// addWaiting adds n to the requests that wait.
func (s *share) addWaiting(n int, now time.Time) {
	for ; s != nil; s = s.parent {
		if s.waiting == 0 {
			s.crowded = now
		}
		s.waiting += n
	}
}

// addReturning adds n to the waiting requests that cannot be refused.
func (s *share) addReturning(n int) {
	for ; s != nil; s = s.parent {
		s.returning += n
	}
}

// countRefusable returns how many of the waiting requests can be refused.
func (s *share) countRefusable() int { return s.waiting - s.returning }

// start counts a request that begins to work, and charges an estimate of its time.
func (s *share) start(estimate time.Duration) {
	s.charge(estimate)
	for ; s != nil; s = s.parent {
		s.working++
	}
}

// finish counts a request that has stopped to work, and corrects the estimate.
func (s *share) finish(correction time.Duration) {
	s.charge(correction)
	for ; s != nil; s = s.parent {
		s.working--
	}
}

// maxDeviation limits how far the tag of a share may be from the average, and so for how long
// it is preferred or has to wait because of what it did before.
const maxDeviation = 10 * time.Second

func (s *share) charge(used time.Duration) {
	for ; s.parent != nil; s = s.parent {
		average := s.parent.average + used/time.Duration(len(s.parent.children))
		s.parent.average = average
		s.used = min(max(s.used+used, average-maxDeviation), average+maxDeviation)
	}
}

// next returns the caller whose request is next, or nil if none may start. maxSlots returns
// how many requests of an organisation may work.
func (s *share) next(maxSlots func(organisation string) int) *share {
	for s.parent == nil || s.parent.parent == nil { // the root and organisations
		var first *share
		for _, child := range s.children {
			if child.waiting > 0 && (s.parent != nil || child.working < maxSlots(child.key.organisation)) && (first == nil || child.isBefore(first)) {
				first = child
			}
		}
		if first == nil {
			return nil
		}
		s = first
	}
	return s
}

// isBefore reports whether the next slot is for s rather than for t, which has the same parent.
// If both have used the same, as when one of them is new, those with fewer requests are first.
func (s *share) isBefore(t *share) bool {
	return cmp.Or(cmp.Compare(s.used, t.used), cmp.Compare(s.waiting, t.waiting)) < 0
}

// longest returns the child with the most waiting requests that can be refused.
func (s *share) longest() *share {
	return slices.MaxFunc(s.children, func(a, b *share) int { return cmp.Compare(a.countRefusable(), b.countRefusable()) })
}

// newest returns the newest request of a caller that may be refused, or nil.
func (s *share) newest() *ticket {
	if last := len(s.queue) - 1; last >= 0 && s.queue[last].state == isWaiting {
		return s.queue[last]
	}
	return nil
}
