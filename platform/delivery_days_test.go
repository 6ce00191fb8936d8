package platform_test

import (
	"cmp"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// A post delivers in simulated time to a sink that always gives the same answer.
type post struct {
	t      *testing.T
	store  platform.Store
	p      *platform.Platform
	ctx    context.Context // This is the context of the owner.
	org    core.UID
	answer webhooks.Attempt
	tried  map[core.UID][]time.Time
	queue  *webhooks.DeliveryQueue
	next   time.Time // At this time the next attempt is due.
}

func newPost(t *testing.T, answer webhooks.Attempt) *post {
	t.Helper()
	store := sharedClock{storetest.Open(t, storetest.SQLite(t)), time.Now}
	p, err := platform.New(t.Context(), store, platform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	org, err := p.Groups.Bootstrap(core.WithActor(t.Context(), core.NewOperator("test")), "acme", issuer, "owner")
	if err != nil {
		t.Fatal(err)
	}
	d := &post{t: t, store: store, p: p, org: org.Group.UID, answer: answer, tried: map[core.UID][]time.Time{}, queue: p.Webhooks.Queue(time.Minute)}
	actor, err := p.Authenticate(t.Context(), iam.Claims{Issuer: issuer, Subject: "owner", ServiceAudience: true})
	if err != nil {
		t.Fatal(err)
	}
	d.ctx = core.WithActor(t.Context(), actor)
	return d
}

func (d *post) subscribe() *webhooks.Subscription {
	d.t.Helper()
	s, err := d.p.Subscriptions.Create(d.ctx, d.org, fieldmask.TypedInput(&webhooks.Subscription{Sink: "https://sink.example.com/"}, "sink"))
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *post) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// round relays events and makes the attempts that are due.
func (d *post) round() {
	d.t.Helper()
	for {
		n, err := d.p.Webhooks.Relay(d.t.Context())
		d.must(err)
		if n == 0 {
			break
		}
	}
	for {
		due, err := d.queue.Due(d.t.Context())
		d.must(err)
		claimed, err := d.queue.Claim(d.t.Context(), due.UIDs)
		d.must(err)
		for _, ticket := range claimed {
			d.try(ticket)
		}
		if d.next = time.Now().Add(cmp.Or(due.Next, time.Hour)); len(claimed) == 0 {
			break
		}
	}
}

func (d *post) try(ticket webhooks.Ticket) {
	d.t.Helper()
	dispatch, err := d.p.Webhooks.BeginAttempt(d.t.Context(), ticket)
	d.must(err)
	if dispatch == nil {
		return
	}
	uid := ticket.Delivery
	d.tried[uid] = append(d.tried[uid], time.Now())
	_, err = d.p.Webhooks.EndAttempt(d.t.Context(), dispatch, d.answer)
	d.must(err)
}

func TestFiveDaysOfFailuresDisableASubscriptionAndSaySo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newPost(t, webhooks.Attempt{Status: 500})
		s := d.subscribe()
		start := time.Now()
		disabled := func() *webhooks.Subscription {
			got, err := d.p.Subscriptions.Get(d.ctx, s.UID)
			d.must(err)
			return got
		}
		d.round()
		for time.Since(start) < 5*24*time.Hour-time.Hour {
			time.Sleep(30 * time.Second)
			if time.Since(start)%(6*time.Hour) < 30*time.Second { // New events are recorded meanwhile.
				_, err := d.p.Repos.Create(d.ctx, d.org, fieldmask.TypedInput(&inventory.Repo{Name: newName()}, "name"))
				d.must(err)
				d.round()
			} else if !time.Now().Before(d.next) {
				d.round()
			}
		}
		if got := disabled(); !got.DisableTime.IsZero() {
			t.Fatalf("it was disabled after %s", got.DisableTime.Sub(start))
		}
		for range 4 {
			time.Sleep(time.Hour)
			_, err := d.p.Repos.Create(d.ctx, d.org, fieldmask.TypedInput(&inventory.Repo{Name: newName()}, "name"))
			d.must(err)
			d.round()
		}
		got := disabled()
		if got.DisableTime.IsZero() || got.DisableReason == "" {
			t.Fatalf("it is not disabled: %+v", got)
		}
		full := 0
		for _, at := range d.tried {
			if len(at) > 10 {
				t.Errorf("a delivery was tried %d times", len(at))
			}
			if len(at) == 10 {
				full++
				if took := at[9].Sub(at[0]); took < 68*time.Hour || took > 84*time.Hour {
					t.Errorf("ten attempts took %s", took)
				}
			}
		}
		if full == 0 {
			t.Error("no delivery was tried ten times")
		}
		d.checkEnded(s)
	})
}

// checkEnded expects that every delivery has failed, and that an event says that the
// subscription is disabled.
func (d *post) checkEnded(s *webhooks.Subscription) {
	d.t.Helper()
	request := core.ListRequest[*webhooks.DeliveryFilter]{UIDP: core.UIDFilter{ChildrenOf: s.UID}, PageSize: 200}
	page, err := d.p.Deliveries.List(d.ctx, request)
	d.must(err)
	for _, delivery := range page.Items {
		if delivery.State != webhooks.DeliveryFailed || delivery.LastError == "" {
			d.t.Errorf("%s is %s: %q, want State %v", delivery.UID, delivery.State, delivery.LastError, webhooks.DeliveryFailed)
		}
	}
	told := false
	log, err := d.p.AuditLog.List(d.ctx, events.AuditRequest{DescendantsOf: d.org})
	d.must(err)
	for _, e := range log.Items {
		told = told || e.Type == "dev.atrium.api.events.subscription.disabled.v1" && e.Subject == s.UID
	}
	if !told {
		d.t.Error("no event says that it was disabled")
	}
}
