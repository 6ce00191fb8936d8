package storetest_test

import (
	"fmt"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/store/postgres"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

// Planning a statement with arrays or unions takes longer than running it, so it must be
// planned once for all arguments, whatever PostgreSQL decides by itself.
func TestStatementsOfArraysArePlannedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t))
	ctx, org := w.createOrganisation("acme")
	var groups []platform.UIDFilter
	for i := range 30 {
		groups = append(groups, childrenOf(w.group(ctx, org.Group.UID, fmt.Sprint("group ", i))))
	}
	engine, err := postgres.Open(t.Context(), w.url, postgres.Options{MaxConnections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	p := w.replica(sqlstore.New(engine))
	for range 8 {
		if _, errs := p.Repos.ListEach(ctx, platform.ListRequest[*platform.RepoFilter]{Parts: platform.PartItems}, groups); errs[0] != nil {
			t.Fatal(errs[0])
		}
		must[platform.Page[*platform.Repo]](t)(p.Repos.List(ctx, platform.ListRequest[*platform.RepoFilter]{}))
		must[*platform.Actor](t)(p.Authenticate(ctx, platform.Claims{Issuer: issuer, Subject: "owner", ServiceAudience: true}))
	}
	var once, each int
	var mode string
	for _, s := range []*sqlstore.Statement{
		{SQL: "SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements", Row: func(scan func(...any) error) error {
			var sql string
			var generic, custom int64
			if err := scan(&sql, &generic, &custom); err != nil {
				return err
			}
			if !strings.Contains(sql, "unnest(") && !strings.Contains(sql, " UNION ALL ") && !strings.Contains(sql, " = ANY(") {
				each++
				return nil
			}
			if once++; custom > 0 {
				t.Errorf("planned %d times for its arguments: %s", custom, sql)
			}
			return nil
		}},
		{SQL: "SELECT current_setting('plan_cache_mode')", Row: func(scan func(...any) error) error { return scan(&mode) }},
	} {
		if err := engine.Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if once < 2 || each < 2 || mode != "auto" {
		t.Errorf("%d statements are planned once, %d are left to PostgreSQL, whose mode is %s, want auto", once, each, mode)
	}
}

// A plan that was made while a table was nearly empty must not be used for the look-ups
// of the batches that fill it.
func TestLookUpsOfBatchesArePlannedForTheirArguments(t *testing.T) {
	t.Parallel()
	engine, err := postgres.Open(t.Context(), storetest.Postgres(t), postgres.Options{MaxConnections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	mode := func(values int) (mode string) {
		look := &sqlstore.Statement{SQL: "SELECT count(*) FROM unnest($1::text[])", Args: []any{make([]string, values)}}
		tell := &sqlstore.Statement{SQL: "SELECT current_setting('plan_cache_mode')", Row: func(scan func(...any) error) error { return scan(&mode) }}
		err := engine.Write(t.Context(), func(tx sqlstore.TxConn) error {
			if err := tx.Run(t.Context(), look); err != nil {
				return err
			}
			return tx.Run(t.Context(), tell)
		})
		if err != nil {
			t.Fatal(err)
		}
		return mode
	}
	for values, want := range map[int]string{2: "auto", 1000: "force_custom_plan"} {
		if got := mode(values); got != want {
			t.Errorf("after a look-up of %d values plans are %s, want %s", values, got, want)
		}
	}
	if got := mode(1); got != "auto" {
		t.Errorf("the transaction after that has plans %s, want auto", got)
	}
}
