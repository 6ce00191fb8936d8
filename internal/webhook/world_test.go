package webhook_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atrium/internal/webhook"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// patience is how long await waits. It allows for a very slow machine.
const patience = 60 * time.Second

// A world is a database with an organization whose events are delivered.
type world struct {
	t   testing.TB
	url string
	p   *platform.Platform
	ctx context.Context // The actor of this context is the owner of org.
	org core.UID
}

// onEachEngine runs test on every engine. The world has no replica yet.
func onEachEngine(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) { test(t, newWorld(t, url)) })
}

// timeScale shortens the five seconds before the second attempt to half a millisecond,
// and the five minutes before the third attempt to 30 milliseconds.
const timeScale = 0.0001

func newWorld(t testing.TB, url string) *world {
	t.Helper()
	w := &world{t: t, url: url}
	w.p = w.platform(storetest.Open(t, url))
	operator := core.WithActor(t.Context(), core.NewOperator("test"))
	org, err := w.p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
	if err != nil {
		t.Fatal(err)
	}
	w.org = org.Group.UID
	actor, err := w.p.Authenticate(t.Context(), iam.Claims{Issuer: "https://issuer.example.com", Subject: "owner", ServiceAudience: true})
	if err != nil {
		t.Fatal(err)
	}
	w.ctx = core.WithActor(t.Context(), actor)
	return w
}

func (w *world) platform(s platform.Store) *platform.Platform {
	w.t.Helper()
	p, err := platform.New(w.t.Context(), s, platform.Options{PrivateSinks: []string{sinkHost}, DeliveryTimeScale: timeScale})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// A replica is a running Deliverer.
type replica struct {
	sent atomic.Int64
	stop func()
}

// deliver starts a replica with a store of its own.
func (w *world) deliver(change ...func(*webhook.DelivererOptions)) *replica {
	w.t.Helper()
	return w.deliverFrom(w.platform(storetest.Open(w.t, w.url)), change...)
}

// deliverFrom starts a replica of the process that owns p.
func (w *world) deliverFrom(p *platform.Platform, change ...func(*webhook.DelivererOptions)) *replica {
	w.t.Helper()
	sender := webhook.NewSender(webhook.SenderOptions{Client: newSinkClient(), Keys: p.Webhooks.Keys, Issuer: "https://atrium.example.com"})
	r := new(replica)
	options := webhook.DelivererOptions{
		Logger: slog.New(slog.NewTextHandler(testLog{w.t}, nil)), PollInterval: 50 * time.Millisecond,
		Send: func(ctx context.Context, d *webhooks.Dispatch) webhooks.Attempt {
			r.sent.Add(1)
			return sender.Send(ctx, d)
		},
	}
	for _, c := range change {
		c(&options)
	}
	d := webhook.NewDeliverer(p, options)
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); d.Run(ctx) }()
	r.stop = func() { cancel(); <-ended }
	w.t.Cleanup(r.stop)
	return r
}

type testLog struct{ t testing.TB }

func (l testLog) Write(line []byte) (int, error) {
	l.t.Logf("%s", line)
	return len(line), nil
}

func (w *world) subscribe(sink string, types ...string) *webhooks.Subscription {
	w.t.Helper()
	s, err := w.p.Subscriptions.Create(w.ctx, w.org, fieldmask.TypedInput(&webhooks.Subscription{Sink: sink, Types: types}, "sink", "types"))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// write creates n repos and returns their uids.
func (w *world) write(n int) []core.UID {
	w.t.Helper()
	uids := make([]core.UID, n)
	for i := range uids {
		g, err := w.p.Repos.Create(w.ctx, w.org, fieldmask.TypedInput(&inventory.Repo{Name: strings.ToLower(rand.Text())}, "name"))
		if err != nil {
			w.t.Fatal(err)
		}
		uids[i] = g.UID
	}
	return uids
}

// A sink counts the events that it receives by subject, and keeps their ids.
type sink struct {
	url string

	lock  sync.Mutex
	count map[string]int    // This counts the arrivals of each subject.
	ids   map[string]string // This has the id of the event of each subject.
	torn  []string          // These subjects arrived with two different ids.
}

// newSink starts a sink that calls answer; if answer is nil, it answers 200.
func newSink(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, arrivals int)) *sink {
	t.Helper()
	s := &sink{count: map[string]int{}, ids: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrivals := s.note(r.Header.Get("ce-subject"), r.Header.Get("ce-id"))
		if answer != nil {
			answer(w, r, arrivals)
		}
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.url = "http://" + sinkHost + "/" + strings.TrimPrefix(server.URL, "http://127.0.0.1:")
	return s
}

// sinkHost is the host of the URLs of all sinks, which the platforms allow. Their paths
// begin with their ports.
const sinkHost = "sinks.test:80"

// newSinkClient returns a client that finds the sinks.
func newSinkClient() *http.Client { return &http.Client{Transport: &http.Transport{Proxy: locateSink}} }

// locateSink returns the URL of the server of a sink.
func locateSink(r *http.Request) (*url.URL, error) {
	port, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return url.Parse("http://127.0.0.1:" + port)
}

func (s *sink) note(subject, id string) (arrivals int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if before, ok := s.ids[subject]; ok && before != id {
		s.torn = append(s.torn, fmt.Sprintf("%s came as %s and as %s", subject, before, id))
	}
	s.ids[subject] = id
	s.count[subject]++
	return s.count[subject]
}

// countArrived counts the uids of which an event has arrived.
func (s *sink) countArrived(uids []core.UID) (n int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, uid := range uids {
		if s.count[string(uid)] > 0 {
			n++
		}
	}
	return n
}

func (s *sink) arrivals(uid core.UID) int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.count[string(uid)]
}

func (s *sink) total() (n int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, c := range s.count {
		n += c
	}
	return n
}

// await waits until done reports true.
func await(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("gave up waiting for %s after %s", what, patience)
		}
	}
}

// deliveries lists the deliveries of a subscription by event id.
func (w *world) deliveries(s *webhooks.Subscription) map[string]*webhooks.Delivery {
	w.t.Helper()
	all := map[string]*webhooks.Delivery{}
	request := core.ListRequest[*webhooks.DeliveryFilter]{UIDP: core.UIDFilter{ChildrenOf: s.UID}, PageSize: core.MaxPageSize}
	for {
		page, err := w.p.Deliveries.List(w.ctx, request)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, d := range page.Items {
			all[d.EventID] = d
		}
		if request.PageToken = page.NextPageToken(); request.PageToken == "" {
			return all
		}
	}
}

// awaitEnd waits until every delivery of a subscription has ended, and returns them.
func (w *world) awaitEnd(s *webhooks.Subscription) (all map[string]*webhooks.Delivery) {
	w.t.Helper()
	await(w.t, "the deliveries to end", func() bool {
		all = w.deliveries(s)
		for _, d := range all {
			if d.State == webhooks.DeliveryPending || d.State == webhooks.DeliveryRetrying {
				return false
			}
		}
		return len(all) > 0
	})
	return all
}

// A logBuffer is a log that can be read while it is written.
type logBuffer struct {
	lock sync.Mutex
	text strings.Builder
}

func (l *logBuffer) Write(line []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(line)
}

func (l *logBuffer) count(what string) int {
	l.lock.Lock()
	defer l.lock.Unlock()
	return strings.Count(l.text.String(), what)
}
