package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"atrium/internal/webhook"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/webhooks"
)

// A chat keeps the texts of the messages that it receives.
type chat struct {
	url string

	lock  sync.Mutex
	texts []string
}

// newChat starts a chat that calls answer; if answer is nil, it answers 200.
func newChat(t testing.TB, answer http.HandlerFunc) *chat {
	t.Helper()
	c := &chat{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for name := range r.Header {
			if strings.HasPrefix(name, "Ce-") || strings.HasPrefix(name, "Webhook-") || name == "Authorization" {
				t.Errorf("a chat gets the header %s", name)
			}
		}
		var message struct{ Text string }
		if err := json.Unmarshal(body, &message); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		c.lock.Lock()
		c.texts = append(c.texts, message.Text)
		c.lock.Unlock()
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	c.url = "http://" + sinkHost + "/" + strings.TrimPrefix(server.URL, "http://127.0.0.1:")
	return c
}

// readTexts returns the texts, and in how many of them each name is.
func (c *chat) readTexts(names []string) (texts []string, times map[string]int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	times = map[string]int{}
	for _, name := range names {
		for _, text := range c.texts {
			if strings.Contains(text, "`"+name+"`") {
				times[name]++
			}
		}
	}
	return append(texts, c.texts...), times
}

func (w *world) subscribeChat(sink string, digest webhooks.Digest) *webhooks.Subscription {
	w.t.Helper()
	s, err := w.p.Subscriptions.Create(w.ctx, w.org, fieldmask.TypedInput(&webhooks.Subscription{Sink: sink, Types: []string{repoCreated}, Format: webhooks.FormatSlack, Digest: digest}, "sink", "types", "format", "digest"))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// nameRepos creates n repos and returns their names.
func (w *world) nameRepos(n int) []string {
	w.t.Helper()
	names := make([]string, n)
	for i, uid := range w.write(n) {
		repo, err := w.p.Repos.Get(w.ctx, uid)
		if err != nil {
			w.t.Fatal(err)
		}
		names[i] = repo.Name
	}
	return names
}

// awaitTold waits until the deliveries of a subscription have a number of events.
func (w *world) awaitTold(s *webhooks.Subscription, events int) {
	w.t.Helper()
	await(w.t, "the deliveries of all events", func() bool {
		told := 0
		for _, d := range w.deliveries(s) {
			told += int(d.EventCount())
		}
		return told >= events
	})
}

// A digest has what happened in its interval, once. Those of an hour are 0.36 s long on the scale of these tests.
func TestADigestHasEachEventOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		to := newChat(t, nil)
		s := w.subscribeChat(to.url, webhooks.DigestHourly)
		w.deliver()
		w.deliver()
		var names []string
		for range 4 {
			names = append(names, w.nameRepos(4)...)
		}
		w.awaitTold(s, len(names))
		told := 0
		for _, d := range w.awaitEnd(s) {
			told += int(d.EventCount())
		}
		texts, times := to.readTexts(names)
		for _, name := range names {
			if times[name] != 1 {
				t.Errorf("%s is told of %d times, want once", name, times[name])
			}
		}
		if told != len(names) || len(texts) > len(names)/2 {
			t.Errorf("%d messages tell of %d events, want fewer messages than %d of %d", len(texts), told, len(names)/2, len(names))
		}
	})
}

// Processes that end at any moment, as with kill -9, lose no event. One that has sent a message and has not recorded it sends the
// same again.
func TestNoEventOfADigestIsLostIfProcessesEnd(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		to := newChat(t, nil)
		s := w.subscribeChat(to.url, webhooks.DigestHourly)
		var names []string
		for range 20 {
			// The context of the sender ends while it sends, so that the result is never recorded.
			dying := w.deliver(quickLease, func(o *webhook.DelivererOptions) {
				send := o.Send
				o.DrainTimeout = 1
				o.Send = func(ctx context.Context, d *webhooks.Dispatch) webhooks.Attempt {
					send(ctx, d)
					<-ctx.Done()
					return webhooks.Attempt{Error: "killed"}
				}
			})
			names = append(names, w.nameRepos(1)...)
			before, _ := to.readTexts(names)
			await(t, "a message", func() bool {
				after, _ := to.readTexts(names)
				return len(after) > len(before)
			})
			dying.stop()
		}
		w.deliver(quickLease)
		w.awaitTold(s, len(names))
		told := map[core.UID]int32{}
		for _, d := range w.awaitEnd(s) {
			if d.State != webhooks.DeliveryDelivered {
				t.Errorf("delivery %+v, want it delivered", d)
			}
			told[d.UID] = d.EventCount()
		}
		texts, times := to.readTexts(names)
		total, distinct := 0, map[string]bool{}
		for _, n := range told {
			total += int(n)
		}
		for _, text := range texts {
			distinct[text] = true
		}
		for _, name := range names {
			if times[name] == 0 {
				t.Errorf("%s is lost", name)
			}
		}
		if total != len(names) || len(distinct) != len(told) {
			t.Errorf("%d deliveries of %d events sent %d different messages, want one each of %d events", len(told), total, len(distinct), len(names))
		}
	})
}

func TestATestTellsWhatTheReceiverAnswered(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		var status int
		to := newChat(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); _, _ = fmt.Fprint(w, "ok or not") })
		s := w.subscribeChat(to.url, webhooks.DigestDaily)
		w.deliver()
		for _, status = range []int{200, 404} {
			got, err := w.p.Subscriptions.Test(w.ctx, s.UID)
			if err != nil {
				t.Fatal(err)
			}
			if got.Delivered != (status == 200) || int(got.Status) != status || got.Answer != "ok or not" || (got.Error == "") != got.Delivered {
				t.Errorf("%d: got %+v", status, got)
			}
		}
		texts, _ := to.readTexts(nil)
		if len(texts) == 0 || !strings.HasPrefix(texts[0], "*Test: ") || !strings.Contains(texts[0], "nothing has happened") {
			t.Errorf("the sample is %q", texts)
		}
	})
}
