package platform_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// A farStore is a store whose transactions of the background do not end, as on a database that answers late, while isFar is true.
type farStore struct {
	platform.Store
	mu    sync.Mutex
	isFar bool
	begun chan struct{} // receives when a transaction has its locks
}

type farQueries struct {
	inventory.FindingQueries
	store *farStore
}

func (s *farStore) Tables() platform.Tables {
	all := s.Store.Tables()
	all.Inventory.FindingQueries = farQueries{all.Inventory.FindingQueries, s}
	return all
}

func (s *farStore) setFar(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isFar = is
}

// FindingTasks is the first read of a transaction of the background, which has its locks then.
func (q farQueries) FindingTasks(ctx context.Context, tx core.Tx, root core.UID, limit int) ([]inventory.FindingTask, error) {
	tasks, err := q.FindingQueries.FindingTasks(ctx, tx, root, limit)
	q.store.mu.Lock()
	isFar := q.store.isFar
	q.store.mu.Unlock()
	if isFar && err == nil {
		q.store.begun <- struct{}{}
		<-ctx.Done()
		err = ctx.Err()
	}
	return tasks, err
}

// The background has the lock of the findings of an organization for many round trips. Whoever decides about findings, or deletes a
// repo, does not wait for it, and nothing is lost.
func TestTheWorkOnFindingsGivesWayToCallers(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		far := &farStore{Store: w.store, begun: make(chan struct{})}
		w.p = w.replica(far, platform.Options{})
		acme := w.found("acme")
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"))
		shop, gone := w.namedRepo(acme.uid, "shop"), w.namedRepo(acme.uid, "gone")
		w.sbom(shop, digest(1), "a@1.0.0")
		w.point(shop, "v1", digest(1))
		w.sbom(gone, digest(2), "a@1.0.0")
		w.settle()
		for name, change := range map[string]func() error{
			"a deletion": func() error { return w.p.Repos.Delete(acme.owner, gone) },
			"a decision": func() error {
				_, err := w.p.Findings.Update(acme.owner, inventory.FindingUpdate{
					Within: acme.uid, Where: &inventory.FindingFilter{VulnerabilityIDs: []string{"CVE-1"}},
					Change: body[*inventory.Finding](`{"state": "FINDING_STATE_ACCEPTED", "note": "known"}`),
				})
				return err
			},
		} {
			w.point(shop, "v2", digest(1)) // there is something to do
			far.setFar(true)
			ended := make(chan error)
			go func() {
				_, err := w.p.Findings.Reconcile(w.operator())
				ended <- err
			}()
			<-far.begun
			if err := change(); err != nil {
				t.Errorf("%s while the background works: %v", name, err)
			}
			if err := <-ended; err != nil {
				t.Errorf("the background fails for %s: %v", name, err)
			}
			far.setFar(false)
			w.settle()
		}
		page, err := w.p.Findings.List(acme.owner, core.ListRequest[*inventory.FindingFilter]{Filter: &inventory.FindingFilter{States: []inventory.FindingState{inventory.FindingAccepted}}})
		if err != nil || len(page.Items) != 1 {
			t.Errorf("%d findings are accepted (%v), want 1", len(page.Items), err)
		}
		if wrong, err := w.p.Findings.Review(w.operator()); wrong != 0 || err != nil {
			t.Errorf("%d findings are wrong (%v)", wrong, err)
		}
		w.checkCounters()
	})
}

// Whoever writes waits for the transactions of the background: on SQLite for each of them. So none of them begins with further advisories
// when it has taken long.
func TestTheWorkOnFindingsEndsItsTransactionsInTime(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		var packages []string
		var advisories []*inventory.Advisory
		for n := range 60 {
			packages = append(packages, fmt.Sprintf("p%d@1.0.0", n))
			advisories = append(advisories, fixedIn(fmt.Sprint("CVE-", n), fmt.Sprint("p", n), "2.0.0"))
		}
		shop := w.namedRepo(acme.uid, "shop")
		w.sbom(shop, digest(1), packages...)
		w.point(shop, "v1", digest(1))
		w.settle()
		w.advise(acme.uid, advisories...)
		now := time.Now()
		slow := w.replica(w.store, platform.Options{Clock: func() time.Time { now = now.Add(time.Minute); return now }})
		transactions := 0
		for done := 1; done > 0; transactions++ {
			var err error
			if done, err = slow.Findings.Reconcile(w.operator()); err != nil {
				t.Fatal(err)
			}
		}
		if transactions != 5 { // one spreads the advisories, three are about twenty each, and the last one finds nothing
			t.Errorf("%d transactions, want 5", transactions)
		}
	})
}
