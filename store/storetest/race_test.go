package storetest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// These tests check what must hold while many write. Each test has two stores on one
// database, like two replicas of the service.

const writers = 16

// replicas returns two platforms on the world's database.
func (w *world) replicas() [2]*platform.Platform {
	w.t.Helper()
	return [2]*platform.Platform{w.p, w.replica(storetest.Open(w.t, w.url))}
}

func TestCountersAreExactAfterManyWriters(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		replicas := w.replicas()
		groups := []core.UID{org.Group.UID, w.group(ctx, org.Group.UID, "a")}
		groups = append(groups, w.group(ctx, groups[1], "b"), w.group(ctx, org.Group.UID, "c"))
		repo := w.repo(ctx, groups[2], "shared")
		runTogether(t, writers+1, func(i int) error {
			if i == writers { // One more goroutine recounts during the writes and must find no error.
				for range 5 {
					if wrong, err := w.store.Recount(t.Context()); wrong != 0 || err != nil {
						return fmt.Errorf("%d counters are wrong: %w", wrong, err)
					}
				}
				return nil
			}
			p, d := replicas[i%2], newDice(uint64(i))
			for n := range 12 {
				made, err := p.Repos.Create(ctx, pick(d, groups), input[*inventory.Repo](fmt.Sprintf(`{"name": "r-%d-%d"}`, i, n)))
				if err != nil {
					return err
				}
				tag, err := p.Tags.Create(ctx, pick(d, []core.UID{repo, made.UID}), tagInput(fmt.Sprintf("t-%d-%d", i, n), digests[0]))
				if err != nil {
					return err
				}
				if n%3 != 0 {
					continue
				}
				if err := p.Tags.Delete(ctx, tag.UID); err != nil {
					return err
				}
				if tag.UID.Parent() != made.UID {
					err = p.Repos.Delete(ctx, made.UID)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		w.checkCounters(t, 0)
		for _, scope := range []core.UIDFilter{{DescendantsOf: groups[0]}, {ChildrenOf: groups[0]}, {DescendantsOf: groups[1]}, {ChildrenOf: groups[2]}} {
			got := total(t, ctx, w.p.Repos.List, scope)
			if want := int64(len(readEverything(t, ctx, w.p.Repos.List, scope))); got != want {
				t.Errorf("%+v: the total is %d, want %d", scope, got, want)
			}
		}
	})
}

func readEverything[T, F any](t *testing.T, ctx context.Context, list func(context.Context, core.ListRequest[F]) (core.Page[T], error), scope core.UIDFilter) (all []T) {
	t.Helper()
	for req := (core.ListRequest[F]{UIDP: scope, PageSize: 200}); ; {
		page, err := list(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Items...)
		if req.PageToken = page.NextPageToken(); req.PageToken == "" {
			return all
		}
	}
}

func TestWritersInDeepGroupsNeverDeadlock(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		replicas := w.replicas()
		all := []core.UID{org.Group.UID}
		for i := range 20 {
			all = append(all, w.group(ctx, all[max(0, len(all)-3)], fmt.Sprint("g", i)))
		}
		runTogether(t, writers, func(i int) error {
			p, d := replicas[i%2], newDice(uint64(i))
			for n := range 15 {
				name := fmt.Sprintf(`{"name": "n-%d-%d"}`, i, n)
				var err error
				switch d.IntN(3) {
				case 0:
					_, err = p.Groups.Create(ctx, pick(d, all), input[*iam.Group](name))
				case 1:
					_, err = p.Identities.Create(ctx, pick(d, all), input[*iam.Identity](name))
				default:
					_, err = p.Repos.Create(ctx, pick(d, all), input[*inventory.Repo](name))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		w.checkCounters(t, 0)
		if w.onSQLite() {
			return // With one writer there is nothing to wait for.
		}
		// A connection reports its statistics at the latest when it ends.
		if err := w.store.Close(); err != nil {
			t.Fatal(err)
		}
		if n := w.query(w.openDirect(), "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")[0][0]; n != "0" {
			t.Errorf("%s deadlocks, want 0", n)
		}
	})
}

func TestACreationInAGroupAndItsDeletionNeverBothSucceed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		replicas := w.replicas()
		root := org.Group.UID
		for i := range 25 {
			group := w.group(ctx, root, fmt.Sprint("g", i))
			repo := w.repo(ctx, root, fmt.Sprint("r", i))
			errs := runAtOnce(4, func(n int) (err error) {
				switch p := replicas[n%2]; n {
				case 0:
					_, err = p.Repos.Create(ctx, group, input[*inventory.Repo](`{"name": "r"}`))
				case 1:
					err = p.Groups.Delete(ctx, group)
				case 2:
					err = p.Repos.Delete(ctx, repo)
				default:
					_, err = p.Tags.Create(ctx, repo, tagInput("t", digests[0]))
				}
				return err
			})
			oneOfTwo(t, errs[0], errs[1], string(group))
			oneOfTwo(t, errs[3], errs[2], string(repo))
		}
		db := w.openDirect()
		for _, orphans := range []string{"repo WHERE parent NOT IN (SELECT uid FROM grp)", "tag WHERE parent NOT IN (SELECT uid FROM repo)"} {
			if n := w.query(db, "SELECT COUNT(*) FROM "+orphans)[0][0]; n != "0" {
				t.Errorf("%s orphans, want 0: %s", n, orphans)
			}
		}
		w.checkCounters(t, 0)
	})
}

// oneOfTwo expects that either a creation or the deletion of its parent happened, and
// that the other one failed with the right error.
func oneOfTwo(t *testing.T, created, deleted error, parent string) {
	t.Helper()
	switch {
	case created == nil && deleted == nil:
		t.Errorf("in %s something was created although it was deleted", parent)
	case created == nil:
		expectError(t, deleted, core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
	case deleted == nil:
		expectError(t, created, core.CodeNotFound, parent)
	default:
		t.Errorf("neither happened: %v, %v", created, deleted)
	}
}

func TestTwoPatchesOfDifferentFieldsBothSurvive(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		replicas := w.replicas()
		repo := w.repo(ctx, org.Group.UID, "nginx")
		for i := range 25 {
			runTogether(t, 3, func(n int) error {
				body, mask := fmt.Sprintf(`{"description": "d%d", "bundles": ["b%d"], "aliases": ["a%d"]}`, i, i, i), []string{"description", "bundles", "aliases"}[n]
				_, err := replicas[n%2].Repos.Update(ctx, repo, input[*inventory.Repo](body, mask))
				return err
			})
			got := must[*inventory.Repo](t)(w.p.Repos.Get(ctx, repo))
			if want := fmt.Sprint("d", i); got.Description != want || !slices.Equal(got.Bundles, []string{fmt.Sprint("b", i)}) || !slices.Equal(got.Aliases, []string{fmt.Sprint("a", i)}) {
				t.Fatalf("round %d leaves %+v, want Description %v, Bundles %v and Aliases %v", i, got, want, []string{fmt.Sprint("b", i)}, []string{fmt.Sprint("a", i)})
			}
		}
	})
}

func TestOfManyEqualCreationsOneWinsAndIsNamedToTheOthers(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		replicas := w.replicas()
		root, who := org.Group.UID, w.identity(ctx, org.Group.UID, "who")
		for kind, create := range map[string]func(p *platform.Platform) (core.UID, error){
			"repo": func(p *platform.Platform) (core.UID, error) {
				r, err := p.Repos.Create(ctx, root, input[*inventory.Repo](`{"name": "same"}`))
				return uidOf(r, err, func(r *inventory.Repo) core.UID { return r.UID })
			},
			"group": func(p *platform.Platform) (core.UID, error) {
				g, err := p.Groups.Create(ctx, root, input[*iam.Group](`{"name": "same"}`))
				return uidOf(g, err, func(g *iam.Group) core.UID { return g.UID })
			},
			"binding": func(p *platform.Platform) (core.UID, error) {
				b, err := p.RoleBindings.Create(ctx, root, bindInput(who, iam.EditorRole))
				return uidOf(b, err, func(b *iam.RoleBinding) core.UID { return b.UID })
			},
		} {
			made := make([]core.UID, 50)
			errs := runAtOnce(len(made), func(i int) (err error) {
				made[i], err = create(replicas[i%2])
				return err
			})
			winner := slices.MaxFunc(made, func(a, b core.UID) int { return len(a) - len(b) })
			won := 0
			for _, err := range errs {
				if err == nil {
					won++
					continue
				}
				expectError(t, err, core.CodeAlreadyExists, string(winner))
			}
			if won != 1 {
				t.Errorf("%d equal creations of a %s succeeded, want 1", won, kind)
			}
		}
		w.checkCounters(t, 0)
	})
}

func uidOf[T any](row T, err error, uid func(T) core.UID) (core.UID, error) {
	if err != nil {
		return "", err
	}
	return uid(row), nil
}

func TestManyWritersOfATagMakeOneTag(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		replicas := w.replicas()
		repo := w.repo(ctx, org.Group.UID, "nginx")
		runTogether(t, writers, func(i int) error {
			for range 8 {
				if _, err := replicas[i%2].Tags.Create(ctx, repo, tagInput("latest", digests[i%len(digests)])); err != nil {
					return err
				}
			}
			return nil
		})
		tags := readEverything(t, ctx, w.p.Tags.List, core.UIDFilter{ChildrenOf: repo})
		if len(tags) != 1 {
			t.Fatalf("there are %d tags, want 1", len(tags))
		}
		w.checkCounters(t, 0)
		if n := len(w.recordedTypes()); n != 4+writers*8 {
			t.Errorf("%d events were recorded, want %d", n, 4+writers*8)
		}
	})
}
