package storetest_test

import (
	"context"
	"net/url"
	"slices"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/store"
	"atrium/store/storetest"
)

// If the extensions of the index are not allowed, a search finds the same, and the store
// reports that it has no index until the extensions exist.
func TestASearchNeedsNoIndex(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		indexed := func() bool { return must[bool](t)(f.store.IsSearchIndexed(t.Context())) }
		if !indexed() {
			t.Fatal("searches have no index")
		}
		if f.onSQLite() {
			return
		}
		f.exec(f.openDirect(), "DROP EXTENSION pg_trgm CASCADE")
		if indexed() {
			t.Error("the store claims an index that is gone")
		}
		for _, query := range searchQueries {
			req := core.SearchRequest{Query: query, PageSize: 20}
			if got, _ := f.searchAll(t, f.contextAs("root"), req); !slices.Equal(got, f.expectedHits(f.callers[0], req)) {
				t.Errorf("%q finds %v without the index", query, got)
			}
		}
		if err := store.Migrate(t.Context(), f.url, nil); err != nil || !indexed() {
			t.Errorf("the index is not made when it can be: %v", err)
		}
	})
}

// Making an index blocks the writes to its table until its transaction ends, so each has its own.
// Therefore the others remain if one fails.
func TestEachSearchIndexIsMadeInATransactionOfItsOwn(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		if f.onSQLite() {
			return // It has no such indexes.
		}
		made := func() int {
			return len(f.query(f.openDirect(), "SELECT c.relname FROM pg_class c WHERE c.relkind = 'i' AND c.relname IN ('grp_search', 'identity_search', 'role_search', 'repo_search', 'tag_search')"))
		}
		f.exec(f.openDirect(), "DROP INDEX grp_search, identity_search, role_search, repo_search, tag_search")
		f.exec(f.openDirect(), "ALTER TABLE tag RENAME COLUMN name TO title")
		if err := store.Migrate(t.Context(), f.url, nil); err == nil || made() != 4 {
			t.Errorf("without the last one, %d indexes exist (%v), want 4", made(), err)
		}
		f.exec(f.openDirect(), "ALTER TABLE tag RENAME COLUMN title TO name")
		if err := store.Migrate(t.Context(), f.url, nil); err != nil || made() != 5 {
			t.Errorf("in the end, %d indexes exist (%v), want 5", made(), err)
		}
	})
}

// A role that may create tables but no extensions gets a database without the index. It
// gets the index as soon as somebody else has created the extensions.
func TestARoleThatMayMakeNoExtensionCanMigrate(t *testing.T) {
	t.Parallel()
	w := &world{t: t, url: storetest.EmptyPostgres(t)}
	role := w.createRole("LOGIN PASSWORD 'limited'")
	w.exec(w.openDirect(), "GRANT USAGE, CREATE ON SCHEMA public TO "+role)
	limited := must[*url.URL](t)(url.Parse(w.url))
	limited.User = url.UserPassword(role, "limited")
	for _, want := range []bool{false, true} {
		if err := store.Migrate(t.Context(), limited.String(), nil); err != nil {
			t.Fatal(err)
		}
		if indexed := must[bool](t)(storetest.Open(t, limited.String()).IsSearchIndexed(t.Context())); indexed != want {
			t.Errorf("searches have an index: %v, want %v", indexed, want)
		}
		w.exec(w.openDirect(), "CREATE EXTENSION IF NOT EXISTS pg_trgm")
		w.exec(w.openDirect(), "CREATE EXTENSION IF NOT EXISTS btree_gin")
	}
}

// createRole creates a role of PostgreSQL, which all databases share, until the test ends.
func (w *world) createRole(options string) (name string) {
	w.t.Helper()
	name = "limited_" + newDice(uint64(time.Now().UnixNano())).hex(8)
	w.exec(w.openDirect(), "CREATE ROLE "+name+" "+options)
	w.t.Cleanup(func() {
		for _, drop := range []string{"DROP OWNED BY ", "DROP ROLE "} {
			if _, err := w.openDirect().ExecContext(context.WithoutCancel(w.t.Context()), drop+name); err != nil {
				w.t.Error(err)
			}
		}
	})
	return name
}
