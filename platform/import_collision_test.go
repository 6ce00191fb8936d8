package platform_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// Imports of the same records at the same time add each record once, and all succeed.
func TestEqualImportsAtTheSameTimeSucceed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		const imports, batches, perBatch = 4, 20, 20
		var added [imports]int
		importAll := func(i int) error {
			for b := range batches {
				tags := make([]*registry.ImportedTag, perBatch)
				for n := range tags {
					tags[n] = &registry.ImportedTag{Repo: repo, Tag: inventory.Tag{Name: fmt.Sprintf("t%d.%d", b, n), Digest: digest(n)}}
				}
				done, err := w.p.Registry.ImportTags(w.operator(), tags, core.ImportOptions{NoEvents: true})
				if err != nil {
					return fmt.Errorf("import %d, batch %d: %w", i, b, err)
				}
				added[i] += done.Added
			}
			return nil
		}
		var running sync.WaitGroup
		for i := range imports {
			running.Go(func() {
				if err := importAll(i); err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
		sum := 0
		for _, n := range added {
			sum += n
		}
		if stored := w.tagsIn(repo); sum != batches*perBatch || stored != batches*perBatch {
			t.Errorf("the imports added %d tags, and %d are stored, want %d", sum, stored, batches*perBatch)
		}
	})
}

// A collidingStore reports a collision for the first writes.
type collidingStore struct {
	platform.Store
	collisions int
}

func (s *collidingStore) Write(ctx context.Context, unit func(core.Tx) error) error {
	if s.collisions > 0 {
		s.collisions--
		return core.ErrDuplicate
	}
	return s.Store.Write(ctx, unit)
}

func TestAWriteThatCollidesAgainAndAgainIsAborted(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		store := &collidingStore{Store: w.store}
		p := w.replica(store, platform.Options{})
		imported := func() error {
			_, err := p.Registry.ImportTags(w.operator(), []*registry.ImportedTag{{Repo: repo, Tag: inventory.Tag{Name: "t", Digest: digest(1)}}}, core.ImportOptions{})
			return err
		}
		created := func() error {
			_, err := p.Tags.Create(acme.owner, repo, body[*inventory.Tag](`{"name": "u", "digest": %q}`, digest(1)))
			return err
		}
		for name, write := range map[string]func() error{"import": imported, "create": created} {
			store.collisions = 9
			if err := write(); err != nil {
				t.Errorf("%s with nine collisions: %v, want success", name, err)
			}
			store.collisions = 10
			expectRefused(t, name+" with ten collisions", write(), core.CodeAborted)
		}
	})
}
