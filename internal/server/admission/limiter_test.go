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

	"github.com/coder/websocket"

	"atrium/platform/core"
)

// A waiter is a request at a Controller in a test.
type waiter struct {
	*request
	decided atomic.Pointer[decision] // nil until the Controller has decided
	end     context.CancelFunc
}

// A decision is the result of the Controller for a request.
type decision struct {
	limit string
	err   error
}

// decide keeps the decision of the Controller.
func (w *waiter) decide(limit string, err error) { w.decided.Store(&decision{limit, err}) }

// isDone reports whether the Controller has decided.
func (w *waiter) isDone() bool { return w.decided.Load() != nil }

// decision returns the decision of the Controller, which is empty until it has decided.
func (w *waiter) decision() (d decision) {
	if decided := w.decided.Load(); decided != nil {
		d = *decided
	}
	return d
}

// arrive lets a request of a caller arrive at a Controller.
func arrive(t *testing.T, g *Controller, organization, caller string) *waiter {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &waiter{request: g.newRequest(ctx), end: cancel}
	go func() { w.decide(g.acquire(ctx, w.request, Key{organization, caller})) }()
	synctest.Wait()
	return w
}

// works reports whether the request has a slot.
func (w *waiter) works() bool { return w.isDone() && w.decision().err == nil }

// arriveMany lets n requests of a caller arrive.
func arriveMany(t *testing.T, g *Controller, n int, organization, caller string) []*waiter {
	t.Helper()
	all := make([]*waiter, n)
	for i := range all {
		all[i] = arrive(t, g, organization, caller)
	}
	return all
}

// serveAll lets requests work for took each, one after the other, until the Controller is empty. It
// returns the names of their callers in the order in which they got a slot.
func serveAll(t *testing.T, all []*waiter, took time.Duration) (order []string) {
	t.Helper()
	served := map[*waiter]bool{}
	for {
		synctest.Wait()
		before := len(served)
		for _, w := range all {
			if w.works() && !served[w] {
				served[w] = true
				order = append(order, w.key.Organization+"/"+w.key.Caller)
				time.Sleep(took)
				w.leave()
				break
			}
		}
		if len(served) == before {
			return order
		}
	}
}

func newTestController(slots int) *Controller {
	return New(Settings{
		Slots: slots, Connections: slots, Burst: 1,
		Client: func(address string) string { return "peer " + address },
		Refuse: func(w http.ResponseWriter, _ *http.Request, _ string, _ error) {
			w.WriteHeader(http.StatusTooManyRequests)
		},
	})
}

// expectEmpty fails if a gate still counts a request.
func expectEmpty(t *testing.T, g *Controller) {
	t.Helper()
	g.lock.Lock()
	defer g.lock.Unlock()
	if len(g.working) > 0 || g.root.waiting != 0 || g.root.working != 0 || len(g.shares) > 0 || len(g.root.children) > 0 {
		t.Errorf("the Controller still has %d working, %d waiting, %d shares", len(g.working), g.root.waiting, len(g.shares))
	}
}

// The attack is websockets that stay open. If each of them kept the slot of the request that
// opened it, the next request would wait.
func TestOpenWebsocketsHoldNoSlots(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(admitBefore(newTestController(1), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		_, _, _ = conn.Read(r.Context()) // until the client closes it
	})))
	t.Cleanup(server.Close)
	for range 2 {
		conn, _, err := websocket.Dial(t.Context(), server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.CloseNow() }()
	}
	answer, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("got status %d beside open websockets, want 200", answer.StatusCode)
	}
}

// The attack is one caller with many requests. Without turns by organization, the other
// request would be last.
func TestAFloodOfOneOrganizationDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		all := arriveMany(t, g, 30, "loud", "ann")
		all = append(all, arrive(t, g, "quiet", "bob"))
		if order := serveAll(t, all, time.Millisecond); len(order) != 31 || order[1] != "quiet/bob" {
			t.Errorf("the order is %v", order)
		}
		expectEmpty(t, g)
	})
}

// The attack is an organization with a thousand callers. If turns went by caller, the other
// organization would get a thousandth.
func TestAThousandCallersGetTheShareOfOneOrganization(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		var all []*waiter
		for n := range 1000 {
			all = append(all, arrive(t, g, "loud", fmt.Sprint("caller-", n)))
		}
		all = append(all, arriveMany(t, g, 10, "quiet", "bob")...)
		order := serveAll(t, all, 100*time.Microsecond)
		quiet := 0
		for _, name := range order[:21] {
			if name == "quiet/bob" {
				quiet++
			}
		}
		if quiet != 10 {
			t.Errorf("the quiet organization got %d of the first 21 turns, want 10", quiet)
		}
	})
}

// The attack is one caller of an organization who takes the turns of the others.
func TestACallerDelaysNoOtherOfItsOrganization(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		all := arriveMany(t, g, 20, "acme", "ann")
		all = append(all, arrive(t, g, "acme", "bob"))
		if order := serveAll(t, all, time.Millisecond); order[1] != "acme/bob" {
			t.Errorf("the order is %v", order)
		}
	})
}

// The attack is few requests that take long. If turns counted requests instead of time, the
// other organization would get a hundredth of the time.
func TestSharesAreOfTimeNotOfRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		used := map[string]time.Duration{}
		all := []*waiter{arrive(t, g, "slow", "ann"), arrive(t, g, "fast", "bob")}
		served := map[*waiter]bool{}
		for range 300 {
			synctest.Wait()
			for i, w := range all {
				if !w.works() || served[w] {
					continue
				}
				served[w] = true
				took := time.Millisecond
				if w.key.Organization == "slow" {
					took = 20 * time.Millisecond
				}
				time.Sleep(took)
				used[w.key.Organization] += took
				next := arrive(t, g, w.key.Organization, w.key.Caller) // so that the queues stay as long as they are
				w.leave()
				all[i] = next
				break
			}
		}
		if share := used["fast"].Seconds() / used["slow"].Seconds(); share < 0.5 || share > 2 {
			t.Errorf("the fast organization used %v, and the slow one %v", used["fast"], used["slow"])
		}
		for _, w := range all {
			w.end()
		}
	})
}

// The attack is one organization that holds every slot with requests that take long.
func TestAnOrganizationLeavesSlotsToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(8)
		working := 0
		all := arriveMany(t, g, 12, "loud", "ann")
		for _, w := range all {
			if w.works() {
				working++
			}
		}
		quiet := arrive(t, g, "quiet", "bob")
		if working != 6 || !quiet.works() {
			t.Errorf("%d requests of one organization work, want 6; the other works: %v", working, quiet.works())
		}
		serveAll(t, append(all, quiet), time.Millisecond)
		expectEmpty(t, g)
	})
}

// The attack is invented tokens, each with another name: all of them are one organization,
// with few slots, and their addresses are its callers.
func TestInventedTokensAreOneOrganization(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(8)
		hold := make(chan struct{})
		handler := admitBefore(g, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold }))
		for n := range 40 {
			r := httptest.NewRequest(http.MethodGet, "/registry/v2/repos", nil)
			r.Header.Set("Authorization", fmt.Sprint("Bearer invented-", n))
			r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", n)
			go handler.ServeHTTP(httptest.NewRecorder(), r)
		}
		synctest.Wait()
		if n := g.State().Working; n != 2 {
			t.Errorf("%d requests with invented tokens work at once, want 2", n)
		}
		if known := arrive(t, g, "acme", "ann"); !known.works() {
			t.Error("a known caller waits beside them")
		} else {
			known.leave()
		}
		close(hold)
		synctest.Wait()
		expectEmpty(t, g)
	})
}

// A request with a token that was accepted before belongs to the organization of its
// caller, until the token expires.
func TestATokenIsPresumedToHaveItsLastCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(8)
		var keys []Key
		handler := admitBefore(g, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { keys = append(keys, findRequest(w).presumed) }))
		ann := &core.Actor{Identities: []core.UID{core.UID(strings.Repeat("b", 40) + "/1"), core.UID(strings.Repeat("a", 40) + "/2")}, Expires: time.Now().Add(time.Minute)}
		for range 2 {
			ask(t, handler, "192.0.2.1:1", ann)
		}
		time.Sleep(2 * time.Minute)
		ask(t, handler, "192.0.2.1:1", ann)
		stranger, known := Key{}, Key{strings.Repeat("a", 40), ann.Key()}
		if len(keys) != 3 || keys[0] != stranger || keys[1] != known || keys[2] != stranger {
			t.Errorf("the requests are presumed to belong to %v", keys)
		}
	})
}

// A caller who has left every organization no longer belongs to the one of earlier requests.
func TestATokenWithoutAnOrganizationIsForgotten(t *testing.T) {
	t.Parallel()
	g := newTestController(8)
	token := g.callers.hash("a token")
	member := &core.Actor{Identities: []core.UID{core.UID(strings.Repeat("a", 40) + "/1")}, Expires: time.Now().Add(time.Hour)}
	for _, actor := range []*core.Actor{member, {Issuer: "https://issuer.example.com", Subject: "ann", Expires: member.Expires}} {
		q := &request{Controller: g, token: token, presumed: g.callers.find(token, time.Now()).key}
		if _, err := q.identify(actor); err != nil {
			t.Fatal(err)
		}
		if known := g.callers.find(token, time.Now()).key; (known.Caller != "") != (actor == member) {
			t.Errorf("the token of %v is presumed to be that of %v", actor.Identities, known)
		}
	}
}

// The attack is more requests than there is room for. After a burst, only queuePerSlot of
// them may wait for each slot.
func TestMoreRequestsThanMayWaitAreRefusedAfterABurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		all := arriveMany(t, g, 100, "loud", "ann")
		for _, w := range all[1:] {
			if w.isDone() {
				t.Fatalf("a request of a burst is refused: %v", w.decision().err)
			}
		}
		time.Sleep(maxWait + sweepInterval)
		synctest.Wait()
		waiting := 0
		for _, w := range all[1:] {
			if !w.isDone() {
				waiting++
			} else if e := core.AsError(w.decision().err); w.decision().limit != limitWait || e.Code != core.CodeUnavailable || e.RetryAfter < time.Second {
				t.Fatalf("refused with %s, %v", w.decision().limit, w.decision().err)
			}
		}
		if waiting >= queuePerSlot+1 {
			t.Errorf("after a burst %d requests wait, want fewer than %d", waiting, queuePerSlot+1)
		}
		all = append(all, arriveMany(t, g, queuePerSlot, "loud", "ann")...)
		late := arrive(t, g, "loud", "ann")
		if e := core.AsError(late.decision().err); !late.isDone() || late.decision().limit != limitQueue || e.Code != core.CodeResourceExhausted || e.RetryAfter < time.Second {
			t.Errorf("one more: %v, %s, %v", late.isDone(), late.decision().limit, late.decision().err)
		}
		// Whoever has less waiting takes the place of whoever has more.
		other := arrive(t, g, "quiet", "bob")
		if other.isDone() {
			t.Errorf("another organization is refused: %v", other.decision().err)
		}
		serveAll(t, append(all, other), time.Millisecond)
		if !other.works() {
			t.Error("another organization gets no slot")
		}
		expectEmpty(t, g)
	})
}

// The attack is one burst after the other. The requests of the next one would wait as long as the
// first ones, to be refused in the end. They may wait again when there was room for a while.
func TestAnOverloadIsOneBurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		burst := func(wantWaiting int) {
			t.Helper()
			all, waiting := arriveMany(t, g, 100, "loud", "ann"), 0
			for _, w := range all[1:] {
				if !w.isDone() {
					waiting++
				}
			}
			if waiting != wantWaiting {
				t.Errorf("%d requests wait, want %d", waiting, wantWaiting)
			}
			time.Sleep(maxWait + sweepInterval)
			serveAll(t, all, time.Millisecond)
			expectEmpty(t, g)
		}
		burst(99)
		burst(queuePerSlot)
		time.Sleep(calmTime)
		burst(99)
	})
}

// The attack is requests that wait and use memory.
func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		refused := 0
		for n := range maxQueue + 200 {
			go func() {
				w := &request{Controller: g}
				if _, err := g.acquire(t.Context(), w, Key{"loud", fmt.Sprint(n % 300)}); err != nil {
					refused++
				}
				w.leave()
			}()
			if n == 0 {
				synctest.Wait()
				arrive(t, g, "first", "eve") // it keeps the slot
			}
		}
		g.lock.Lock()
		waiting := g.root.waiting
		g.lock.Unlock()
		if waiting > maxQueue {
			t.Errorf("%d requests wait, want at most %d", waiting, maxQueue)
		}
	})
}

// When the queue is cut, a quiet organization keeps its place in it.
func TestTheFloodMakesRoomWhenTheQueueIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		stuck, first := arrive(t, g, "acme", "ann"), arrive(t, g, "acme", "ann")
		time.Sleep(maxWait / 2)
		flood := arriveMany(t, g, queuePerSlot, "acme", "ann")
		quiet := arrive(t, g, "beta", "bob")
		time.Sleep(maxWait/2 + 2*sweepInterval)
		synctest.Wait()
		if !first.isDone() {
			t.Error("the first request of the flood waits for too long")
		}
		if quiet.isDone() || !flood[queuePerSlot-1].isDone() {
			t.Errorf("the quiet request has ended: %v; the newest of the flood: %v", quiet.isDone(), flood[queuePerSlot-1].isDone())
		}
		stuck.leave()
		serveAll(t, append(flood, quiet), time.Millisecond)
		expectEmpty(t, g)
	})
}

// A request that cannot get a slot is answered, even if nobody ever leaves.
func TestNobodyWaitsForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		stuck := arrive(t, g, "acme", "ann")
		began := time.Now()
		next := arrive(t, g, "acme", "bob")
		time.Sleep(maxWait + sweepInterval)
		synctest.Wait()
		if !next.isDone() || next.decision().limit != limitWait || time.Since(began) > maxWait+2*sweepInterval {
			t.Errorf("after %v: %v, %s, %v", time.Since(began), next.isDone(), next.decision().limit, next.decision().err)
		}
		stuck.leave()
		expectEmpty(t, g)
	})
}

// A caller that goes away while it waits leaves no trace, and one that goes away while it
// works frees its slot once.
func TestACallerThatGoesAwayMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		first, gone, last := arrive(t, g, "acme", "ann"), arrive(t, g, "acme", "bob"), arrive(t, g, "acme", "eve")
		gone.end()
		synctest.Wait()
		if !gone.isDone() || gone.decision().err == nil || g.root.waiting != 1 {
			t.Errorf("the one that went away: %v, %v; %d wait", gone.isDone(), gone.decision().err, g.root.waiting)
		}
		first.leave()
		first.leave()
		synctest.Wait()
		if !last.works() || len(g.working) != 1 {
			t.Errorf("the last one works: %v, and %d work", last.works(), len(g.working))
		}
		last.leave()
		expectEmpty(t, g)
	})
}

// The attack is clients that send their bodies slowly, also those that nobody wants to read,
// or do not read their answers: they would hold every slot. Their slots are lent, and they
// get one again afterwards.
func TestSlowClientsHoldNoSlots(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sender", "ignored sender", "reader", "waits for an issuer"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newTestController(1)
				network := make(chan struct{})
				resumed := false
				handler := admitBefore(g, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					var err error
					switch name {
					case "sender":
						_, err = r.Body.Read(make([]byte, 1))
					case "ignored sender":
						err = r.Body.Close()
					case "waits for an issuer":
						resume := findRequest(w).Wait()
						<-network
						err = resume()
					default:
						_, _ = w.Write([]byte("x"))
						_, err = findRequest(w).TakeTurn(r.Context()) // to read more
					}
					resumed = err == nil && findRequest(w).state == isWorking
				}))
				r := httptest.NewRequest(http.MethodPost, "/", stalledBody{network})
				go handler.ServeHTTP(stalledWriter{httptest.NewRecorder(), network}, r)
				synctest.Wait()
				others := arriveMany(t, g, 2, "acme", "ann")
				time.Sleep(3 * sweepInterval)
				synctest.Wait()
				if !others[0].works() || others[1].isDone() {
					t.Fatalf("beside a slow client: %v, %v", others[0].works(), others[1].isDone())
				}
				network <- struct{}{}
				synctest.Wait()
				if resumed {
					t.Error("the slow client works without a slot")
				}
				others[0].leave()
				synctest.Wait()
				others[1].leave()
				synctest.Wait()
				if !resumed {
					t.Error("the slow client gets no slot again")
				}
				expectEmpty(t, g)
			})
		})
	}
}

// The attack is slow clients that go on all at once. They cannot be refused, so they must not
// make the queue too long for others.
func TestSlowClientsThatGoOnTakeNoRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestController(1)
		slow := make([]*waiter, 2*queuePerSlot)
		for i := range slow {
			slow[i] = arrive(t, g, "acme", "ann")
			slow[i].block()
			next := arrive(t, g, "acme", "eve") // It gets the slot.
			time.Sleep(3 * sweepInterval)
			synctest.Wait()
			next.leave()
		}
		stuck := arrive(t, g, "acme", "eve")
		for _, w := range slow {
			w.decided.Store(nil)
			w.hasBegun.Store(true)
			_ = w.unblock()
			go func() {
				turn, err := w.TakeTurn(w.ctx)
				if err == nil {
					turn.End()
				}
				w.decide("", err)
			}()
		}
		time.Sleep(maxWait / 2)
		quiet := arrive(t, g, "beta", "bob")
		time.Sleep(2 * sweepInterval)
		synctest.Wait()
		if quiet.isDone() {
			t.Errorf("the quiet request is refused: %v", quiet.decision().err)
		}
		stuck.leave()
		if order := serveAll(t, append(slow, quiet), time.Millisecond); len(order) != len(slow)+1 || g.root.resuming != 0 {
			t.Errorf("%d requests got a slot, and %d return", len(order), g.root.resuming)
		}
		expectEmpty(t, g)
	})
}

type stalledBody struct{ network chan struct{} }

func (b stalledBody) Read(to []byte) (int, error) {
	<-b.network
	return copy(to, "x"), nil
}

// Close reads the rest of the body, as that of a request does.
func (b stalledBody) Close() error {
	<-b.network
	return nil
}

type stalledWriter struct {
	http.ResponseWriter
	network chan struct{}
}

func (w stalledWriter) Write(b []byte) (int, error) {
	<-w.network
	return w.ResponseWriter.Write(b)
}
