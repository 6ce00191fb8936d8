package webhook_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"atrium/internal/webhook"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/webhooks"
)

// organization returns a world of another organization in the same database.
func (w *world) organization(name string) *world {
	w.t.Helper()
	org, err := w.p.Groups.Bootstrap(core.WithActor(w.t.Context(), core.NewOperator("test")), name, "https://issuer.example.com", "owner of "+name)
	if err != nil {
		w.t.Fatal(err)
	}
	actor, err := w.p.Authenticate(w.t.Context(), iam.Claims{Issuer: "https://issuer.example.com", Subject: "owner of " + name, ServiceAudience: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return &world{t: w.t, url: w.url, p: w.p, ctx: core.WithActor(w.t.Context(), actor), org: org.Group.UID}
}

const repoCreated = "dev.atrium.api.platform.registry.repo.created.v1"

// The attack is an organization with so many subscriptions to sinks that hang that each stays
// within its own limit, and together they use all slots.
func TestAnOrganizationWhoseSinksHangDelaysNoOther(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const subscriptions, each = 80, 8 // These are 640 attempts for 500 slots.
		for i := range subscriptions {
			w.subscribe(fmt.Sprintf("https://hanging.example.com/%d", i), repoCreated)
		}
		w.write(each)
		other := w.organization("other")
		healthy := newSink(t, nil)
		other.subscribe(healthy.url, repoCreated)
		released := make(chan struct{})
		var hanging atomic.Int64
		w.deliver(func(o *webhook.DelivererOptions) {
			send := o.Send
			o.DrainTimeout = time.Millisecond
			o.Send = func(ctx context.Context, d *webhooks.Dispatch) webhooks.Attempt {
				if d.Delivery.UID.Root() != w.org {
					return send(ctx, d)
				}
				hanging.Add(1)
				<-released // Thus no attempt ends while the other organization waits.
				return webhooks.Attempt{Error: "no answer within 15 s"}
			}
		})
		t.Cleanup(func() { close(released) }) // This cleanup runs before the replica is stopped.
		await(t, "the attempts to hang", func() bool { return hanging.Load() >= 250 })
		uids := other.write(20)
		await(t, "the events of the other organization", func() bool { return healthy.countArrived(uids) == len(uids) })
		if n := hanging.Load(); n > 250 {
			t.Errorf("%d attempts of one organization hang, want at most half of 500", n)
		}
	})
}
