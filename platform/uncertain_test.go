package platform_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// An uncertainStore commits, and then says that nobody knows whether it has.
type uncertainStore struct {
	platform.Store
	isUncertain *atomic.Bool
}

func (s uncertainStore) Write(ctx context.Context, unit func(core.Tx) error) error {
	err := s.Store.Write(ctx, unit)
	if err == nil && s.isUncertain.Load() {
		err = core.Uncertain(errors.New("the connection is lost"))
	}
	return err
}

// uncertainReplica returns a platform whose store is uncertain until certain is called.
func (w *world) uncertainReplica() (p *platform.Platform, certain func()) {
	store := uncertainStore{w.store, new(atomic.Bool)}
	p = w.replica(store, platform.Options{})
	store.isUncertain.Store(true)
	return p, func() { store.isUncertain.Store(false) }
}

func TestAnUncertainChangeIsNotRepeated(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		before := w.events()
		p, _ := w.uncertainReplica()
		_, err := p.Subscriptions.Create(acme.owner, acme.uid, body[*webhooks.Subscription](`{"sink": "https://sink.example.com"}`))
		if e := refusal(t, "a creation", err, core.CodeAborted, "COMMIT_UNCERTAIN"); e.RetryAfter != 0 {
			t.Errorf("it may come again after %v", e.RetryAfter)
		}
		if made := since(w.events(), before); len(made) != 1 {
			t.Errorf("recorded %s, want one event", types(made))
		}
	})
}

// The change is refused whether or not its denial is recorded, so the caller may repeat it.
// Denials that were recorded together are not recorded again one by one.
func TestAnUncertainDenialIsRecordedOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const strangers = 50
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		p, _ := w.uncertainReplica()
		var refusing sync.WaitGroup
		for range strangers {
			stranger := w.as("stranger")
			refusing.Go(func() {
				expectRefused(t, "a change", p.Repos.Delete(stranger, repo), core.CodeUnavailable)
			})
		}
		refusing.Wait()
		recorded := 0
		for _, d := range w.denials() {
			recorded += d.count
		}
		if recorded != strangers {
			t.Errorf("%d denials are recorded, want %d", recorded, strangers)
		}
	})
}

// A request whose caller signs in for the first time has not begun, so it may come again.
func TestAnUncertainSignInMayBeRepeated(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.providerOf(acme.uid, workplace, iam.ViewerRole)
		before := w.events()
		p, certain := w.uncertainReplica()
		_, err := p.Authenticate(t.Context(), visitor("alice", nil))
		expectRefused(t, "the first try", err, core.CodeUnavailable)
		certain()
		actor, err := p.Authenticate(t.Context(), visitor("alice", nil))
		must(t, err)
		if made := since(w.events(), before); len(actor.Identities) != 1 || types(made) != "iam.identity.created iam.rolebindings.created" {
			t.Errorf("she acts as %v after %s, want one identity", actor.Identities, types(made))
		}
	})
}

// An import may be repeated, and its error says so.
func TestAnUncertainImportMayBeRepeated(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		p, certain := w.uncertainReplica()
		put := func() (core.Imported, error) {
			return p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{{AdvisoryID: "GO-1", ArtifactName: "a"}})
		}
		_, err := put()
		expectRefused(t, "the first try", err, core.CodeUnavailable)
		certain()
		again, err := put()
		expectImported(t, "the second try", again, err, mustSucceed(0, 0, 1, 0))
	})
}
