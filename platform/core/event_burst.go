package core

import (
	"context"
	"sync"
	"time"
)

// A Burst holds the events that a live feed delivers together. Objects that they
// refer to can be read together too, with the grants of the caller at that time.
type Burst struct {
	Actor  *Actor // the caller
	Events []*Event

	round  *FeedRound
	checks accessChecks // of what was read for the answers
	once   sync.Once
	kept   any
}

// NewBurst returns a burst for the caller of a round.
func NewBurst(r *FeedRound) *Burst { return &Burst{Actor: r.Actor, round: r} }

// Record lets read read n keys for an answer, with a context that records the checks whether the caller may read
// what they name. Other callers share only what was read in this way.
func (b *Burst) Record(ctx context.Context, n int, read func(context.Context)) {
	recorded := *b.Actor
	recorded.checks = &accessChecks{}
	read(WithActor(ctx, &recorded))
	b.checks.addRead(recorded.checks, n)
}

// MayRead reports whether the caller may read the resource uid of a kind. Other callers share the answer only if the same
// holds for them.
func (b *Burst) MayRead(kind AnyKind, uid UID) bool {
	isReadable := kind.ReadableBy(b.Actor, uid)
	b.checks.add(accessCheck{func(other *Actor) bool { return kind.ReadableBy(other, uid) }, isReadable})
	return isReadable
}

// Memoize returns the value that begin returns, and calls begin only once for all
// events of a burst.
func (b *Burst) Memoize(begin func() any) any {
	b.once.Do(func() { b.kept = begin() })
	return b.kept
}

// Share returns an answer to an event, which answer computes with the Actor of its burst. Feeds with the same key that
// deliver the event at about the same time share answers that are sharable: those of the same caller and, with isForAll, those
// of other callers who may read the same objects. isForAll says that the answer depends on the caller only by what Record
// records.
func (e *Event) Share(key any, isForAll bool, answer func() (data []byte, isSharable bool)) []byte {
	if e.Burst != nil {
		round := e.Burst.round
		if isForAll {
			if data, found := round.Answers.find(answerKey{e.ID, key, nil}).get(e.Burst, answer); found {
				return data
			}
		}
		if data, found := round.Answers.find(answerKey{e.ID, key, round.Actor}).get(e.Burst, answer); found {
			return data
		}
	}
	data, _ := answer()
	return data
}

// A FeedRound is a caller with the grants of a time, and the answers that its live feeds share with those
// of all callers whose grants were read with it. No answer is older than the grants.
type FeedRound struct {
	Actor   *Actor
	Answers *SharedAnswers
}

const (
	// RoundTime is how long feeds may join a round. A client that is slow gets objects as they are
	// when its events are delivered.
	RoundTime = time.Second
	// maxShared limits the answers of a round. Feeds that deliver together are never far apart.
	maxShared = 1024
	// maxUnshared is how often others wait for an answer that turns out not to be sharable.
	maxUnshared = 3
)

// SharedAnswers are the answers of a round.
type SharedAnswers struct {
	lock sync.Mutex
	all  map[answerKey]*sharedAnswer
}

// An answerKey identifies what an answer is given to.
type answerKey struct {
	event  string // the id
	key    any
	caller *Actor // nil means all
}

// NewSharedAnswers returns the answers of a round, of which there are none yet.
func NewSharedAnswers() *SharedAnswers { return &SharedAnswers{all: map[answerKey]*sharedAnswer{}} }

// find returns the answer with a key, which may have no data yet.
func (s *SharedAnswers) find(k answerKey) *sharedAnswer {
	s.lock.Lock()
	defer s.lock.Unlock()
	a := s.all[k]
	if a == nil {
		if len(s.all) == maxShared {
			clear(s.all)
		}
		a = &sharedAnswer{}
		s.all[k] = a
	}
	return a
}

// A sharedAnswer is an answer to an event.
type sharedAnswer struct {
	lock     sync.Mutex
	unshared int           // number of answers that were not sharable
	data     []byte        // nil until there is a sharable answer
	caller   *Actor        // the caller for whom it was computed
	checks   *accessChecks // those on which it depends
}

// get returns the data of the answer if it holds for the caller of a burst. The first one computes it
// while others wait.
func (s *sharedAnswer) get(b *Burst, answer func() (data []byte, isSharable bool)) (_ []byte, found bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	switch {
	case s.data != nil:
		return s.data, s.caller == b.round.Actor || s.checks.haveSameOutcomes(b.round.Actor)
	case s.unshared == maxUnshared:
		return nil, false
	}
	data, isSharable := answer()
	if isSharable {
		s.data, s.caller, s.checks = data, b.round.Actor, b.checks.soFar()
	} else {
		s.unshared++
	}
	return data, true
}
