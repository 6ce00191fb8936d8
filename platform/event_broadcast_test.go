package platform_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// A countingStore counts the statements that live feeds cost.
type countingStore struct {
	platform.Store
	events, grants, own atomic.Int64 // The counter own counts reads of events by a single feed.
}

// countingQueries are the queries of a countingStore.
type countingQueries struct {
	events.Queries
	iam.SignInQueries
	store *countingStore
}

func (s *countingStore) Tables() platform.Tables {
	all := s.Store.Tables()
	queries := countingQueries{all.Events, all.IAM.SignInQueries, s}
	all.Events, all.IAM.SignInQueries = queries, queries
	return all
}

func (q countingQueries) EventsAfter(ctx context.Context, on core.Conn, roots []core.UID, after core.EventPosition, limit int) ([]*core.Event, error) {
	q.store.events.Add(1)
	if len(roots) > 0 {
		q.store.own.Add(1)
	}
	return q.Queries.EventsAfter(ctx, on, roots, after, limit)
}

func (q countingQueries) EventsUpTo(ctx context.Context, on core.Conn, roots []core.UID, after, upTo core.EventPosition, limit int) ([]*core.Event, error) {
	q.store.events.Add(1)
	if len(roots) > 0 {
		q.store.own.Add(1)
	}
	return q.Queries.EventsUpTo(ctx, on, roots, after, upTo, limit)
}

func (q countingQueries) Grants(ctx context.Context, on core.Conn, identities []core.UID) ([]core.Grant, error) {
	q.store.grants.Add(1)
	return q.SignInQueries.Grants(ctx, on, identities)
}

// An audience is a number of open feeds.
type audience struct {
	heard atomic.Int64
	end   func()
}

// listening opens feeds, with callers in turn. When it returns, all of them have received
// the event that was recorded last, and the audience counts those after it. Earlier
// events may still arrive, because transactions of other tests can delay them.
func (w *world) listening(p *platform.Platform, org core.UID, feeds int, callers []context.Context) *audience {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	a := &audience{}
	var following sync.WaitGroup
	var open atomic.Int64
	var last core.UID
	recorded := make(chan struct{}) // It is closed when last is set.
	for i := range feeds {
		feed, err := p.Events.Open(callers[i%len(callers)], events.EventRequest{DescendantsOf: org})
		must(w, err)
		following.Go(func() {
			before := true
			err := feed.Follow(ctx, func(e *core.Event) error {
				<-recorded
				switch {
				case !before:
					a.heard.Add(1)
				case e.Subject == last:
					before = false
					open.Add(1)
				}
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				w.Errorf("a feed ended: %v", err)
			}
		})
	}
	last = w.repo(org)
	close(recorded)
	w.until("every feed is open", func() bool { return open.Load() == int64(feeds) })
	a.end = func() { cancel(); following.Wait() }
	w.Cleanup(a.end)
	return a
}

// until waits until done returns true.
func (w *world) until(what string, done func() bool) {
	w.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatalf("it does not happen that %s", what)
		}
	}
}

// many creates callers who may read an organization.
func (w *world) many(org core.UID, n int) []context.Context {
	var callers []context.Context
	for range n {
		callers = append(callers, w.memberWith(iam.ViewerRole, org, org))
	}
	return callers
}

// The attack is 1,000 subscriptions of one caller, or 10,000 of many callers, if each one
// reads every event itself.
func TestFeedsReadNewEventsAndGrantsTogether(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, elsewhere := w.found("acme"), w.found("elsewhere")
		counting := &countingStore{Store: storetest.Open(t, w.url)}
		p := w.replica(counting, platform.Options{})
		runs(t, p)
		for _, crowd := range []struct{ feeds, callers int }{{1_000, 1}, {10_000, 50}} {
			a := w.listening(p, acme.uid, crowd.feeds, w.many(acme.uid, crowd.callers))
			other := w.listening(p, elsewhere.uid, 1, []context.Context{elsewhere.owner})

			const events = 10
			counting.events.Store(0)
			counting.grants.Store(0)
			counting.own.Store(0)
			began := time.Now()
			for n := range int64(events) {
				w.repo(acme.uid)
				w.until("every feed hears", func() bool { return a.heard.Load() == (n+1)*int64(crowd.feeds) })
			}
			// The reader may be notified twice of each event, and it polls every second.
			most := int64(4*events) + 2*int64(time.Since(began)/time.Second)
			if n := counting.events.Load(); n > most || counting.own.Load() > 0 {
				t.Errorf("%d feeds cost %d reads of %d events, want at most %d; %d feeds read for themselves", crowd.feeds, n, events, most, counting.own.Load())
			}
			if n := counting.grants.Load(); n > events {
				t.Errorf("%d feeds of %d callers cost %d reads of grants for %d events", crowd.feeds, crowd.callers, n, events)
			}

			counting.grants.Store(0)
			w.repo(elsewhere.uid)
			w.until("the other hears", func() bool { return other.heard.Load() == 1 })
			if n := counting.grants.Load(); n != 1 || counting.own.Load() > 0 {
				t.Errorf("an event elsewhere cost %d reads of grants, want that of who hears of it; %d idle feeds read", n, counting.own.Load())
			}
			a.end()
			other.end()
		}
	})
}

// A feed with a slow reader keeps a limited part in memory. When it falls behind, it
// continues from the store, and later from memory again.
func TestASlowFeedContinuesWithoutGapOrRepeat(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		counting := &countingStore{Store: storetest.Open(t, w.url)}
		p := w.replica(counting, platform.Options{})
		runs(t, p)
		feed, err := p.Events.Open(acme.owner, events.EventRequest{DescendantsOf: acme.uid})
		must(t, err)
		const rounds, each = 2, 130 // This is more than a queue holds.
		ctx, cancel := context.WithCancel(t.Context())
		held, release, ended := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
		var got []string
		go func() {
			ended <- feed.Follow(ctx, func(e *core.Event) error {
				if got = append(got, e.ID); len(got)%each == 1 { // This is the first event of a round.
					held <- struct{}{}
					<-release
				}
				if len(got) == rounds*each {
					cancel()
				}
				return nil
			})
		}()
		for range rounds {
			w.repo(acme.uid)
			<-held
			for range each - 1 {
				w.repo(acme.uid)
			}
			release <- struct{}{}
		}
		<-ended
		cancel()
		if want := w.createdIDs(); !slices.Equal(got, want) {
			t.Errorf("the feed gave %d events\n%v\nwant %d\n%v", len(got), got, len(want), want)
		}
	})
}

// One statement reads the grants of many callers. Each caller must get only its own
// grants, including those of the groups in its token.
func TestCallersWhoseGrantsAreReadTogetherHearOnlyTheirOwn(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		provider := w.providerOf(acme.uid, workplace, w.role(acme.uid)) // The role has no capabilities.
		var teams []core.UID
		var callers []context.Context
		for i := range 3 {
			team, external := w.group(acme.uid), fmt.Sprint("team ", i)
			w.mappingTo(provider.UID, external, iam.ViewerRole, team)
			_, ctx := w.enter(visitor("alice", map[string]any{"groups": []any{external}})) // It is the same person each time.
			teams, callers = append(teams, team), append(callers, ctx)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		heard := make([]chan core.UID, len(callers))
		for i, caller := range callers {
			feed, err := w.p.Events.Open(caller, events.EventRequest{Types: []string{"dev.atrium.api.platform.registry.repo.created.v1"}})
			must(t, err)
			heard[i] = make(chan core.UID, 100)
			go func() {
				_ = feed.Follow(ctx, func(e *core.Event) error { heard[i] <- e.Subject.Parent(); return nil })
			}()
		}
		for range 5 {
			for _, team := range teams {
				w.repo(team)
			}
		}
		for i, team := range teams {
			for range 5 {
				select {
				case got := <-heard[i]:
					if got != team {
						t.Errorf("caller %d hears of %s, want %s", i, got, team)
					}
				case <-time.After(time.Minute):
					t.Fatalf("caller %d does not hear of its team", i)
				}
			}
		}
	})
}

// Feeds wait while new events cannot be read, and must not lose any.
func TestFeedsGoOnWhenTheStoreIsBack(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		failing := &failingStore{Store: storetest.Open(t, w.url), failed: make(chan struct{}, 1)}
		p := w.replica(failing, platform.Options{})
		runs(t, p)
		a := w.listening(p, acme.uid, 3, []context.Context{acme.owner})
		failing.away.Store(true)
		w.repo(acme.uid)
		<-failing.failed
		failing.away.Store(false)
		w.until("the event that was recorded meanwhile is given", func() bool { return a.heard.Load() == 3 })
	})
}

// A read of new events can return fewer than there are, because of a transaction that ends
// at this moment. A feed that takes it for complete would skip the others.
func TestAFeedSkipsNothingWhenAReadIsShort(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		p := w.replica(hesitantStore{storetest.Open(t, w.url)}, platform.Options{})
		const repos = 7
		for range repos {
			w.repo(acme.uid)
		}
		oldest := ""
		feed, err := p.Events.Open(acme.owner, events.EventRequest{DescendantsOf: acme.uid, Types: []string{"dev.atrium.api.platform.registry.repo.created.v1"}, After: &oldest, First: repos})
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		heard := 0
		if err := feed.Follow(ctx, func(*core.Event) error { heard++; return nil }); err != nil || heard != repos {
			t.Errorf("the feed has %d of %d events (%v)", heard, repos, err)
		}
	})
}

// A hesitantStore reads one new event at a time.
type hesitantStore struct{ platform.Store }

type hesitantQueries struct{ events.Queries }

func (s hesitantStore) Tables() platform.Tables {
	all := s.Store.Tables()
	all.Events = hesitantQueries{all.Events}
	return all
}

func (q hesitantQueries) EventsAfter(ctx context.Context, on core.Conn, roots []core.UID, after core.EventPosition, _ int) ([]*core.Event, error) {
	return q.Queries.EventsAfter(ctx, on, roots, after, 1)
}

type failingStore struct {
	platform.Store
	away   atomic.Bool
	failed chan struct{}
}

// failingQueries are the queries of a failingStore.
type failingQueries struct {
	events.Queries
	store *failingStore
}

func (s *failingStore) Tables() platform.Tables {
	all := s.Store.Tables()
	queries := failingQueries{all.Events, s}
	all.Events = queries
	return all
}

func (q failingQueries) EventsAfter(ctx context.Context, on core.Conn, roots []core.UID, after core.EventPosition, limit int) ([]*core.Event, error) {
	if q.store.away.Load() {
		select {
		case q.store.failed <- struct{}{}:
		default:
		}
		return nil, core.Unavailable("the test is away", nil)
	}
	return q.Queries.EventsAfter(ctx, on, roots, after, limit)
}
