package admission

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atrium/platform/core"
)

// A reader is one read of a request.
type reader struct {
	turn atomic.Pointer[core.Turn] // nil until the read may begin
}

// read lets a request begin a read.
func (w *waiter) read(t *testing.T) *reader {
	t.Helper()
	r := &reader{}
	go func() {
		if turn, err := w.TakeTurn(w.ctx); err == nil {
			r.turn.Store(&turn)
		}
	}()
	synctest.Wait()
	return r
}

func (r *reader) reads() bool { return r.turn.Load() != nil }

func (r *reader) end() { (*r.turn.Load()).End() }

// The attack is one organization whose requests read many lists at once. Slots were shared by organization,
// and connections were not.
func TestTheReadsOfAnOrganizationHoldNoMoreConnectionsThanItsSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(8)
		var reads []*reader
		all := arriveMany(t, g, 20, "loud", "ann")
		for _, w := range all {
			for range 5 {
				if w.works() {
					reads = append(reads, w.read(t))
				}
			}
		}
		quiet := arrive(t, g, "quiet", "bob")
		own := quiet.read(t)
		reading := 0
		for _, r := range reads {
			if r.reads() {
				reading++
			}
		}
		if reading != 6 || !own.reads() {
			t.Errorf("one organization reads over %d connections, want 6 of 8; the other one reads: %v", reading, own.reads())
		}
		own.end()
		for _, w := range append(all, quiet) {
			w.end()
			w.leave()
		}
	})
}

// While there is room, a request need not read its lists one after the other.
func TestARequestReadsOverFewConnectionsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(8)
		w := arrive(t, g, "acme", "ann")
		first, second, third := w.read(t), w.read(t), w.read(t)
		if !first.reads() || !second.reads() || third.reads() {
			t.Errorf("three reads of a request run: %v, %v, %v, want two of them", first.reads(), second.reads(), third.reads())
		}
		if n := len(g.connections.working); n != 2 {
			t.Errorf("%d connections are in use, want 2", n)
		}
		first.end()
		synctest.Wait()
		if !third.reads() {
			t.Error("the third read does not follow the first one")
		}
		second.end()
		others := arriveMany(t, g, 5, "acme", "eve")
		reads := []*reader{}
		for _, other := range others {
			reads = append(reads, other.read(t))
		}
		again := w.read(t)
		if !reads[4].reads() || again.reads() {
			t.Errorf("one organization reads over the sixth connection: %v, and over the seventh: %v", reads[4].reads(), again.reads())
		}
		third.end()
		synctest.Wait()
		if !again.reads() {
			t.Error("the last read does not follow the third one")
		}
		for _, read := range append(reads, again) {
			read.end()
		}
		for _, request := range append(others, w) {
			request.leave()
		}
		if len(g.connections.shares)+len(g.connections.working) > 0 {
			t.Errorf("connections are in use after all reads have ended: %v", g.connections.working)
		}
		expectEmpty(t, g)
	})
}

// The attack is a client that reads the start of an answer slowly, while all slots are in use. The end of
// the answer needs no slot; reading more does.
func TestAnAnswerThatHasBegunWaitsForNoSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		network := make(chan struct{})
		written, hasRead := false, false
		handler := admitBefore(g, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("x"))
			written = true
			turn, err := findRequest(w).TakeTurn(r.Context())
			if hasRead = err == nil; hasRead {
				turn.End()
			}
		}))
		go handler.ServeHTTP(stalledWriter{httptest.NewRecorder(), network}, httptest.NewRequest(http.MethodGet, "/", nil))
		synctest.Wait()
		other := arrive(t, g, "acme", "ann")
		time.Sleep(3 * sweepInterval)
		synctest.Wait()
		network <- struct{}{}
		synctest.Wait()
		if !other.works() || !written || hasRead {
			t.Errorf("the other request works: %v; the answer is written: %v, and more is read: %v", other.works(), written, hasRead)
		}
		other.leave()
		synctest.Wait()
		if !hasRead {
			t.Error("the request does not read on")
		}
		expectEmpty(t, g)
	})
}

// The attack is requests whose bodies come late, while all slots are in use. They have not begun to work,
// so that they are refused as others are, and not held for ever.
func TestARequestThatWaitsTooLongForItsBodyAndASlotIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		network := make(chan struct{})
		handler := admitBefore(g, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := r.Body.Read(make([]byte, 1)); err != nil {
				w.WriteHeader(http.StatusBadRequest) // the handler takes it for the fault of the client
				_, _ = w.Write([]byte("the body could not be read"))
			}
		}))
		answer := httptest.NewRecorder()
		go handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", stalledBody{network}))
		synctest.Wait()
		stuck := arrive(t, g, "acme", "ann")
		time.Sleep(3 * sweepInterval)
		network <- struct{}{}
		time.Sleep(maxWait + 2*sweepInterval)
		synctest.Wait()
		if answer.Code != http.StatusTooManyRequests || answer.Body.Len() > 0 {
			t.Errorf("the answer is %d %q, want that of a refusal", answer.Code, answer.Body)
		}
		stuck.leave()
		expectEmpty(t, g)
	})
}

// A client that leaves makes room, also if it has sent a body: nobody else would read it, and net/http
// notices only at its end that the client has gone.
func TestAClientWithABodyThatGoesAwayMakesRoom(t *testing.T) {
	t.Parallel()
	g := newTestController(1)
	hold, gone := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/leaves" {
			defer close(gone)
		}
		admitBefore(g, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold })).ServeHTTP(w, r)
	}))
	defer server.Close()
	defer close(hold)
	send := func(ctx context.Context, path string) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+path, strings.NewReader("{}"))
		if err != nil {
			t.Error(err)
			return
		}
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_ = answer.Body.Close()
		}
	}
	go send(t.Context(), "/stays")
	for ; g.State().Working == 0; time.Sleep(time.Millisecond) {
	}
	ctx, leave := context.WithCancel(t.Context())
	go send(ctx, "/leaves")
	for ; g.State().Waiting == 0; time.Sleep(time.Millisecond) {
	}
	leave()
	<-gone
	if n := g.State().Waiting; n != 0 {
		t.Errorf("%d requests wait after the client has gone, want none", n)
	}
}

// The attack is the open pages of many people at once, each with many requests: more than the server can
// answer within a second, and fewer than within some.
func TestAPageThatManyPeopleOpenOpens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(6)
		var refused atomic.Int32
		for person := range 50 {
			for range 6 { // connections of a browser
				go func() {
					for range 2 {
						w := g.newRequest(t.Context())
						if _, err := g.acquire(t.Context(), w, Key{"acme", fmt.Sprint(person)}); err != nil {
							refused.Add(1)
							continue
						}
						time.Sleep(60 * time.Millisecond)
						w.leave()
					}
				}()
			}
		}
		time.Sleep(time.Minute)
		if n := refused.Load(); n > 0 {
			t.Errorf("%d of 600 requests are refused", n)
		}
		expectEmpty(t, g)
	})
}

// After a restart no token is known. The few slots of those without a known token are for finding out who the
// caller is; the request then goes on with a slot of its organization, which does not get more by new tokens.
func TestARequestWithANewTokenGoesOnWithASlotOfItsOrganization(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(8)
		hold := make(chan struct{})
		working := atomic.Int32{}
		handler := admitBefore(g, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			working.Add(1)
			<-hold
		}))
		for n := range 10 {
			uid := core.UID(fmt.Sprint(strings.Repeat("a", 40), "/", n))
			go ask(t, handler, "192.0.2.1:1", &core.Actor{Subject: fmt.Sprint(n), Identities: []core.UID{uid}, Expires: time.Now().Add(time.Hour)})
			synctest.Wait()
		}
		if n := working.Load(); n != 6 {
			t.Errorf("%d requests with new tokens of one organization work at once, want 6", n)
		}
		if other := arrive(t, g, "quiet", "bob"); !other.works() {
			t.Error("another organization waits beside them")
		} else {
			other.leave()
		}
		close(hold)
		synctest.Wait()
		if n := working.Load(); n != 10 {
			t.Errorf("%d of 10 requests are worked on", n)
		}
		expectEmpty(t, g)
	})
}

// Many people use a gateway, which has one identity.
func TestASharedIdentityHasTheLimitsOfManyPeople(t *testing.T) {
	t.Parallel()
	g := New(Settings{Rate: 1, Burst: 2, InFlight: 3, Shared: []core.UID{"gateway"}})
	for _, c := range []struct {
		identity core.UID
		want     int
	}{{"gateway", 2 * peopleOfShared}, {"ann", 2}} {
		ctx := core.WithActor(t.Context(), &core.Actor{Identities: []core.UID{c.identity}})
		admitted := 0
		for range 3 * peopleOfShared {
			if _, _, _, err := g.AdmitOperation(ctx); err == nil {
				admitted++
			}
		}
		if admitted != c.want {
			t.Errorf("%d operations of %s are admitted, want %d", admitted, c.identity, c.want)
		}
	}
}
