package platform_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// runs runs the background work of a platform until the test ends.
func runs(t testing.TB, p *platform.Platform) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
}

// Writers continue while the feed moves between replicas. Their transactions overlap, so
// events are not committed in the order of their numbers.
func TestTheFeedContinuesAtAnotherReplicaWithoutGapOrRepeat(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		replicas := []*platform.Platform{w.p, w.replica(storetest.Open(t, w.url), platform.Options{})}
		for _, p := range replicas {
			runs(t, p)
		}
		const writers, creates, hop = 8, 30, 40
		last := w.newest()
		var writing sync.WaitGroup
		for range writers {
			writing.Go(func() {
				for range creates {
					if _, err := replicas[0].Repos.Create(acme.owner, acme.uid, body[*inventory.Repo](`{"name": %q}`, w.name())); err != nil {
						t.Error(err)
					}
				}
			})
		}
		ctx, cancel := context.WithTimeout(acme.owner, time.Minute)
		defer cancel()
		var got []string
		for at := 1; len(got) < writers*creates; at = 1 - at {
			err := follow(ctx, replicas[at], events.EventRequest{After: &last, First: hop}, func(e *core.Event) error {
				got = append(got, e.ID)
				return nil
			})
			must(t, err)
			last = got[len(got)-1]
		}
		writing.Wait()
		if want := w.createdIDs(); !slices.Equal(got, want) {
			t.Errorf("the feed gave\n%v\nwant\n%v", got, want)
		}
	})
}

// newest returns the id of the last event.
func (w *world) newest() string {
	w.Helper()
	all := w.events()
	return all[len(all)-1].id
}

// createdIDs lists the events of created repos in the order of the feed.
func (w *world) createdIDs() (ids []string) {
	w.Helper()
	rows, err := w.raw().QueryContext(w.Context(), "SELECT id FROM event WHERE type LIKE '%repo.created.v1' ORDER BY xact, seq")
	must(w, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		must(w, rows.Scan(&id))
		ids = append(ids, id)
	}
	must(w, rows.Err())
	return ids
}

// A seenStore observes the reads of a feed.
type seenStore struct {
	platform.Store
	next   atomic.Pointer[func()] // This function runs once, after the next read of grants or events.
	read   atomic.Pointer[core.UID]
	given  atomic.Bool   // The event was read.
	passed chan struct{} // The channel is closed when grants were read after the event.
	once   sync.Once
}

// seenQueries are the queries of a seenStore.
type seenQueries struct {
	events.Queries
	iam.SignInQueries
	store *seenStore
}

func (s *seenStore) Tables() platform.Tables {
	all := s.Store.Tables()
	queries := seenQueries{all.Events, all.IAM.SignInQueries, s}
	all.Events, all.IAM.SignInQueries = queries, queries
	return all
}

func (q seenQueries) Grants(ctx context.Context, on core.Conn, identities []core.UID) ([]core.Grant, error) {
	if q.store.given.Load() {
		defer q.store.once.Do(func() { close(q.store.passed) })
	}
	defer q.store.then()
	return q.SignInQueries.Grants(ctx, on, identities)
}

func (q seenQueries) EventsAfter(ctx context.Context, on core.Conn, roots []core.UID, after core.EventPosition, limit int) ([]*core.Event, error) {
	return q.store.note(q.Queries.EventsAfter(ctx, on, roots, after, limit))
}

func (q seenQueries) EventsUpTo(ctx context.Context, on core.Conn, roots []core.UID, after, upTo core.EventPosition, limit int) ([]*core.Event, error) {
	return q.store.note(q.Queries.EventsUpTo(ctx, on, roots, after, upTo, limit))
}

func (s *seenStore) note(events []*core.Event, err error) ([]*core.Event, error) {
	defer s.then()
	if uid := s.read.Load(); uid != nil && slices.ContainsFunc(events, func(e *core.Event) bool { return e.Subject == *uid }) {
		s.given.Store(true)
	}
	return events, err
}

func (s *seenStore) then() {
	if do := s.next.Swap(nil); do != nil {
		(*do)()
	}
}

// The right is lost between the two reads of the feed, which is the worst moment. Grants
// that were read before would let the next event through.
func TestAFeedSendsNothingAfterAnotherReplicaRevokesTheRight(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		reader := w.member(acme.uid, "reader")
		bound := w.bind(acme.uid, reader, iam.ViewerRole)
		seen := &seenStore{Store: storetest.Open(t, w.url), passed: make(chan struct{})}
		other := w.replica(seen, platform.Options{})
		runs(t, w.p)
		runs(t, other)

		feed, err := other.Events.Open(w.as("reader"), events.EventRequest{})
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		heard, ended := make(chan core.UID, 10), make(chan error, 1)
		go func() {
			ended <- feed.Follow(ctx, func(e *core.Event) error { heard <- e.Subject; return nil })
		}()
		hears := func(want core.UID) (others []core.UID) {
			t.Helper()
			for {
				select {
				case got := <-heard:
					if got == want {
						return others
					}
					others = append(others, got)
				case <-time.After(time.Minute):
					t.Fatal("the feed does not go on")
				}
			}
		}
		hears(w.repo(acme.uid)) // Events that were not settled when the feed was opened come first.

		takeAway := func() {
			if err := w.p.RoleBindings.Delete(acme.owner, bound); err != nil {
				t.Error(err)
			}
			made, err := w.p.Repos.Create(acme.owner, acme.uid, body[*inventory.Repo](`{"name": "after"}`))
			if err != nil {
				t.Error(err)
				return
			}
			seen.read.Store(&made.UID)
		}
		seen.next.Store(&takeAway)
		w.repo(acme.uid) // The right is lost after the read of this event, or after the read of the grants for it.
		select {
		case <-seen.passed:
		case <-time.After(time.Minute):
			t.Fatal("the feed does not go on")
		}
		w.bind(acme.uid, reader, iam.ViewerRole)
		if others := hears(w.repo(acme.uid)); slices.Contains(others, *seen.read.Load()) {
			t.Error("an event was heard of that was recorded after the right was gone")
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the feed ended with %v, want %v", err, context.Canceled)
		}
	})
}
