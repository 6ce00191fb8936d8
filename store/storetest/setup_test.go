package storetest_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"atrium/platform"
	"atrium/platform/iam"
	"atrium/store"
	"atrium/store/pgpool"
	"atrium/store/storetest"
)

func TestReplicasThatStartAtOnceMigrateOnce(t *testing.T) {
	t.Parallel()
	for engine, empty := range emptyDatabases {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			url := empty(t)
			runTogether(t, 5, func(int) error {
				if err := store.Migrate(t.Context(), url, nil); err != nil {
					return err
				}
				s, err := store.Open(t.Context(), url, store.Options{MaxConnections: 2})
				if err != nil {
					return err
				}
				defer func() { _ = s.Close() }()
				_, err = platform.New(t.Context(), s, platform.Options{})
				return err
			})
			states, err := store.Migrations(t.Context(), url)
			if err != nil || len(states) == 0 {
				t.Fatal(states, err)
			}
			for _, s := range states {
				if !s.Applied {
					t.Errorf("migration %d is not applied", s.Version)
				}
			}
			w := newWorld(t, url)
			ctx, org := w.createOrganization("acme")
			if _, err := w.p.Groups.Get(ctx, org.Group.UID); err != nil {
				t.Error(err)
			}
		})
	}
}

func emptySQLite(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "atrium.db") }

// A program that has nothing to migrate starts while a newer one migrates.
func TestAnUpToDateDatabaseNeedsNoLockToMigrate(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	pool := must[*pgpool.Pool](t)(pgpool.Open(t.Context(), url, pgpool.Options{}))
	defer pool.Close()
	release := must[func()](t)(pool.Lock(t.Context(), "4097083626"))
	defer release()
	within, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := store.Migrate(within, url, nil); err != nil {
		t.Error(err)
	}
}

// runTogether runs n functions concurrently and fails on the first error.
func runTogether(t *testing.T, n int, run func(i int) error) {
	t.Helper()
	for i, err := range runAtOnce(n, run) {
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
}

// runAtOnce starts n functions at the same moment and returns their errors.
func runAtOnce(n int, run func(i int) error) []error {
	errs := make([]error, n)
	var start, end sync.WaitGroup
	start.Add(1)
	for i := range n {
		end.Go(func() {
			start.Wait()
			errs[i] = run(i)
		})
	}
	start.Done()
	end.Wait()
	return errs
}

func TestBuiltInRolesAreBroughtUpToDateAsOftenAsOneLikes(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		db := w.openDirect()
		const read = "SELECT uid, name, description, capabilities FROM role ORDER BY uid"
		want := w.query(db, read)
		if len(want) == 0 {
			t.Fatal("there are no built-in roles")
		}
		w.exec(db, "UPDATE role SET name = 'old', capabilities = '' WHERE uid = $1", pack(iam.OwnerRole))
		runTogether(t, 5, func(int) error {
			_, err := platform.New(t.Context(), w.store, platform.Options{})
			return err
		})
		got := w.query(db, read)
		for i := range want {
			if len(got) != len(want) || got[i][1] != want[i][1] || got[i][3] != want[i][3] {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	})
}

func TestReplicasShareTheFirstKey(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		keys := make([]string, 5)
		runTogether(t, len(keys), func(i int) error {
			key, err := w.p.DevelopmentKey(t.Context())
			keys[i] = string(key)
			return err
		})
		for _, key := range keys {
			if key == "" || key != keys[0] {
				t.Fatal("replicas made keys of their own")
			}
		}
	})
}
