package platform_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// openInBubble opens a platform whose clock is that of a bubble of synctest. A delay makes its store late.
func openInBubble(t *testing.T, delay *time.Duration) *world {
	t.Helper()
	w := &world{TB: t, store: storetest.Open(t, storetest.SQLite(t))}
	var store platform.Store = sharedClock{w.store, time.Now}
	if delay != nil {
		store = lateStore{store, delay}
	}
	p, err := platform.New(t.Context(), store, platform.Options{AllowIssuers: true, Clock: time.Now})
	must(t, err)
	w.p = p
	return w
}

// A lateStore looks later by the delay for what has ended, and for what to look at again.
type lateStore struct {
	platform.Store
	delay *time.Duration
}

type lateQueries struct {
	inventory.FindingQueries
	delay *time.Duration
}

func (s lateStore) Tables() platform.Tables {
	all := s.Store.Tables()
	all.Inventory.FindingQueries = lateQueries{all.Inventory.FindingQueries, s.delay}
	return all
}

func (q lateQueries) ExpiredTasks(ctx context.Context, on core.Conn, now core.Time, limit int) ([]inventory.FindingTask, error) {
	time.Sleep(*q.delay)
	return q.FindingQueries.ExpiredTasks(ctx, on, now, limit)
}

func (q lateQueries) FindingTasks(ctx context.Context, tx core.Tx, root core.UID, limit int) ([]inventory.FindingTask, error) {
	time.Sleep(*q.delay)
	return q.FindingQueries.FindingTasks(ctx, tx, root, limit)
}

// A process ends decisions to the millisecond, also those of another process that end before the one it waits for.
func TestADecisionEndsWhenItSays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := openInBubble(t, nil)
		p, acme := w.p, w.found("acme")
		repo := w.repo(acme.uid)
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0", "c@1.0.0")
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"), fixedIn("CVE-2", "b", "2.0.0"), fixedIn("CVE-3", "c", "2.0.0"))
		all, begun := w.listFindings(acme.uid), time.Now()
		accept := func(u inventory.FindingUpdate, passed time.Duration) {
			w.triage(acme.owner, u, fmt.Sprintf(`{"state": "FINDING_STATE_ACCEPTED", "expireTime": %q}`, begun.Add(passed).Format(time.RFC3339Nano)))
		}
		accept(inventory.FindingUpdate{UIDs: []core.UID{all[0].UID}}, 100*time.Minute)
		accept(inventory.FindingUpdate{Within: acme.uid, Where: vulnerabilities(all[1].VulnerabilityID)}, 10*time.Minute+50*time.Millisecond)
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.Findings.Follow(ctx) })
		open := func(passed time.Duration, want int64) {
			t.Helper()
			time.Sleep(passed - time.Since(begun))
			synctest.Wait()
			summary, err := p.Findings.Summarize(acme.owner, acme.uid)
			must(t, err)
			if summary.Open.Total != want {
				t.Errorf("after %s %d findings are open, want %d", passed, summary.Open.Total, want)
			}
		}
		open(time.Minute, 1)
		accept(inventory.FindingUpdate{UIDs: []core.UID{all[2].UID}}, 5*time.Minute+70*time.Millisecond)
		for _, step := range []struct {
			passed time.Duration
			open   int64
		}{
			{5*time.Minute + 69*time.Millisecond, 0}, {5*time.Minute + 70*time.Millisecond, 1}, {10*time.Minute + 49*time.Millisecond, 1},
			{10*time.Minute + 50*time.Millisecond, 2}, {100*time.Minute - time.Millisecond, 2}, {100 * time.Minute, 3},
		} {
			open(step.passed, step.open)
		}
		end()
		running.Wait()
	})
}

// Whoever comes when a decision has ended sees that it has ended, even if the database is slow; but nobody waits for longer than a second.
func TestCallersSeeThatADecisionHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		delay := 100 * time.Millisecond
		w := openInBubble(t, &delay)
		p, acme := w.p, w.found("acme")
		repo := w.repo(acme.uid)
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0")
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"), fixedIn("CVE-2", "b", "2.0.0"))
		begun := time.Now()
		for i, f := range w.listFindings(acme.uid) {
			end := begun.Add(time.Duration(i+1) * time.Hour).Format(time.RFC3339Nano)
			w.triage(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{f.UID}}, fmt.Sprintf(`{"state": "FINDING_STATE_ACCEPTED", "expireTime": %q}`, end))
		}
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.Findings.Follow(ctx) })
		come := func(passed, waits time.Duration, want int64) {
			t.Helper()
			time.Sleep(passed - time.Since(begun))
			came := time.Now()
			w.as("somebody")
			if waited := time.Since(came); waited != waits {
				t.Errorf("after %s a caller waits for %s, want %s", passed, waited, waits)
			}
			summary, err := p.Findings.Summarize(acme.owner, acme.uid)
			must(t, err)
			if summary.Open.Total != want {
				t.Errorf("after %s %d findings are open, want %d", passed, summary.Open.Total, want)
			}
		}
		come(time.Hour-time.Millisecond, 0, 0)
		come(time.Hour, delay, 1)
		come(time.Hour+delay, 0, 1)
		delay = time.Minute
		come(2*time.Hour, time.Second, 1)
		come(2*time.Hour+2*time.Second, 0, 1)
		come(2*time.Hour+10*time.Minute, 0, 2)
		end()
		running.Wait()
	})
}

// Whoever has written waits for the findings that follow, at most a tenth of a second, and then learns that they are not there yet.
func TestAWriteWaitsForItsFindings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		delay := 30 * time.Millisecond
		w := openInBubble(t, &delay)
		p, acme := w.p, w.found("acme")
		repo := w.repo(acme.uid)
		w.sbom(repo, digest(1), "a@1.0.0")
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"))
		request := core.WithTrace(acme.owner, &core.Trace{})
		write := func(what string, change func() error, pending bool, want int64) {
			t.Helper()
			synctest.Wait()
			began := time.Now()
			must(t, change())
			got := p.Findings.AwaitSettled(request)
			if waited := time.Since(began); waited > 100*time.Millisecond || got != pending {
				t.Errorf("%s: findings are pending after %s: %t, want %t", what, waited, got, pending)
			}
			summary, err := p.Findings.Summarize(acme.owner, acme.uid)
			must(t, err)
			if open := summary.Open.Total; open != want {
				t.Errorf("%s: %d findings are open, want %d", what, open, want)
			}
			if p.Findings.AwaitSettled(request) {
				t.Errorf("%s: what was told once is told again", what)
			}
		}
		var tag *inventory.Tag
		create := func() (err error) {
			tag, err = p.Tags.Create(request, repo, body[*inventory.Tag](`{"name": "v1", "digest": %q}`, digest(1)))
			return err
		}
		remove := func() error { return p.Tags.Delete(request, tag.UID) }
		write("where no background runs", create, true, 0)
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.Findings.Follow(ctx) })
		time.Sleep(time.Minute)
		write("a deletion", remove, false, 0)
		write("a creation", create, false, 1)
		write("a change of something else", func() error {
			_, err := p.Repos.Create(request, acme.uid, body[*inventory.Repo](`{"name": "other"}`))
			return err
		}, false, 1)
		delay = time.Minute
		write("a deletion on a slow database", remove, true, 1)
		time.Sleep(time.Hour)
		write("nothing", func() error { return nil }, false, 0)
		end()
		running.Wait()
	})
}
