package platform_test

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"sync"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/registry"
	"atrium/store/storetest"
)

// A watchedStore calls onWrite before each transaction, and onLocked after one that has waited too
// long for a lock.
type watchedStore struct {
	platform.Store
	onWrite, onLocked func()
}

func (s *watchedStore) Write(ctx context.Context, unit func(core.Tx) error) error {
	s.onWrite()
	err := s.Store.Write(ctx, unit)
	if errors.Is(err, core.ErrLocked) {
		s.onLocked()
	}
	return err
}

// impatientStore returns a store of the same database with a short limit for waits. SQLite has
// no limit.
func (w *world) impatientStore(t *testing.T) platform.Store {
	if w.isSQLite() {
		return w.store
	}
	u, err := url.Parse(w.url)
	must(w, err)
	query := u.Query()
	query.Set("lock_timeout", "20ms")
	u.RawQuery = query.Encode()
	return storetest.Open(t, u.String())
}

func TestAnImportWaitsForAnotherOneLongerThanARequest(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		impatient := w.impatientStore(t)
		for lock, put := range map[core.UID]func(p *platform.Platform) (core.Imported, error){
			"feed": func(p *platform.Platform) (core.Imported, error) {
				return p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{{AdvisoryID: "GO-1", ArtifactName: "a"}})
			},
			"libraries": func(p *platform.Platform) (core.Imported, error) {
				done, _, err := p.Artifacts.Import(w.operator(), []*libraries.ImportedArtifact{{Artifact: libraries.Artifact{Ecosystem: "ECOSYSTEM_JAVA", Name: "a:b"}}})
				return done, err
			},
		} {
			store := &watchedStore{Store: impatient, onWrite: func() {}}
			p := w.replica(store, platform.Options{})
			var once sync.Once
			held, released, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			release := func() { once.Do(func() { close(released) }) }
			go func() {
				ended <- w.store.Write(w.Context(), func(tx core.Tx) error {
					tx.Lock(lock)
					_, err := tx.Exists(w.Context(), lock) // the lock is taken before it
					close(held)
					<-released
					return err
				})
			}()
			<-held
			locked := 0
			store.onLocked = func() {
				if locked++; locked == 2 {
					release()
				}
			}
			if w.isSQLite() {
				store.onWrite = release
			}
			done, err := put(p)
			release()
			must(t, <-ended)
			expectImported(t, string(lock), done, err, mustSucceed(1, 0, 0, 0))
			if !w.isSQLite() && locked < 2 {
				t.Errorf("%s: the import was locked %d times, want 2", lock, locked)
			}
		}
	})
}

// A lockedStore has a lock that is never free once onWrite is set. It calls onWrite with the
// number of the try.
type lockedStore struct {
	platform.Store
	onWrite func(try int)
	tries   int
	trouble error // of each try, or else core.ErrLocked
}

func (s *lockedStore) Write(ctx context.Context, unit func(core.Tx) error) error {
	if s.onWrite == nil {
		return s.Store.Write(ctx, unit)
	}
	s.tries++
	s.onWrite(s.tries)
	return cmp.Or(s.trouble, core.ErrLocked)
}

func TestAnImportEndsIfALockIsNeverFree(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		store := &lockedStore{Store: w.store}
		p := w.replica(store, platform.Options{})
		store.onWrite = func(int) {}
		put := func(ctx context.Context) error {
			store.tries = 0
			_, err := p.Feeds.ImportAdvisories(ctx, acme.uid, []*inventory.Advisory{{AdvisoryID: "GO-1", ArtifactName: "a"}})
			return err
		}
		err := put(w.operator())
		expectRefused(t, "a lock that is never free", err, core.CodeUnavailable)
		const want = "Unavailable: another import has locked these records for too long; wait until it has ended, and run the same command again"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		store.trouble = core.Unavailable("another program has locked the database", core.ErrLocked)
		if err := put(w.operator()); !errors.Is(err, store.trouble) || store.tries < 100 {
			t.Errorf("got %v after %d tries, want that another program has the lock", err, store.tries)
		}
		ctx, interrupt := context.WithCancel(w.operator())
		defer interrupt()
		store.onWrite = func(try int) {
			if try == 3 {
				interrupt()
			}
		}
		if err := put(ctx); err == nil || store.tries != 3 {
			t.Errorf("%v after %d tries, want an error after 3", err, store.tries)
		}
	})
}

func TestReadersDoNotWaitForAnImport(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		store := &heldStore{Store: w.store}
		importing := w.replica(store, platform.Options{})
		written, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		store.hold = func() { close(written); <-end }
		go func() {
			_, err := importing.Registry.ImportTags(w.operator(), []*registry.ImportedTag{{Repo: repo, Tag: inventory.Tag{Name: "new", Digest: digest(1)}}}, core.ImportOptions{})
			ended <- err
		}()
		<-written
		for _, want := range []int64{0, 1} {
			found, err := w.p.Tags.List(acme.owner, core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: repo}})
			must(t, err)
			if _, err := w.p.Repos.Get(acme.owner, repo); err != nil {
				t.Error(err)
			}
			if got := found.TotalCount; got != want || len(found.Items) != int(want) {
				t.Errorf("%d of %d tags are read, want %d", len(found.Items), got, want)
			}
			if want == 0 {
				close(end)
				must(t, <-ended)
			}
		}
	})
}
