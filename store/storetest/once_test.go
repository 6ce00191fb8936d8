package storetest_test

import (
	"fmt"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/postgres"
	"atrium/store/sqlstore"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// Planning a page, or a statement with arrays or unions, takes longer than running it, so
// it must be planned once for all arguments, whatever PostgreSQL decides by itself. The
// plan of a list can depend on the arguments of its filter.
func TestMostReadsArePlannedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t))
	ctx, org := w.createOrganization("acme")
	var groups []core.UIDFilter
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
		if _, errs := p.Repos.ListEach(ctx, core.ListRequest[*inventory.RepoFilter]{Parts: core.PartItems}, groups); errs[0] != nil {
			t.Fatal(errs[0])
		}
		must[core.Page[*inventory.Repo]](t)(p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{UIDP: groups[0], PageSize: 1}))
		must[core.Page[*inventory.Repo]](t)(p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{UIDP: groups[0], Filter: &inventory.RepoFilter{Name: "web"}}))
		must[core.Page[*inventory.Advisory]](t)(p.Advisories.List(ctx, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: groups[0], PageSize: 1}))
		must[*core.Actor](t)(p.Authenticate(ctx, iam.Claims{Issuer: issuer, Subject: "owner", ServiceAudience: true}))
	}
	var once, filtered int
	var mode string
	for _, s := range []*dbconn.Statement{
		{SQL: "SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements", Row: func(scan func(...any) error) error {
			var sql string
			var generic, custom int64
			if err := scan(&sql, &generic, &custom); err != nil {
				return err
			}
			if strings.Contains(sql, "t.name = ") {
				if filtered++; custom == 0 {
					t.Errorf("not planned for its arguments: %s", sql)
				}
			} else if strings.Contains(sql, " FROM repo t ") || strings.Contains(sql, " FROM advisory t ") || strings.Contains(sql, " UNION ALL ") {
				if once++; custom > 0 {
					t.Errorf("planned %d times for its arguments: %s", custom, sql)
				}
			}
			return nil
		}},
		{SQL: "SELECT current_setting('plan_cache_mode')", Row: func(scan func(...any) error) error { return scan(&mode) }},
	} {
		if err := engine.Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if once < 4 || filtered < 1 || mode != "auto" {
		t.Errorf("%d statements are planned once, %d are left to PostgreSQL, whose mode is %s, want auto", once, filtered, mode)
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
	modes := func(values int) (during, after string) {
		look := &dbconn.Statement{SQL: "SELECT count(*) FROM unnest($1::text[])", Args: []any{make([]string, values)}}
		tell := func(mode *string) *dbconn.Statement {
			return &dbconn.Statement{SQL: "SELECT current_setting('plan_cache_mode')", Row: func(scan func(...any) error) error { return scan(mode) }}
		}
		err := engine.Write(t.Context(), func(tx dbconn.TxConn) error {
			if err := tx.Run(t.Context(), look, tell(&during)); err != nil {
				return err
			}
			return tx.Run(t.Context(), tell(&after))
		})
		if err != nil {
			t.Fatal(err)
		}
		return during, after
	}
	for values, want := range map[int]string{2: "auto", 1000: "force_custom_plan"} {
		during, after := modes(values)
		if during != want {
			t.Errorf("a look-up of %d values has plans %s, want %s", values, during, want)
		}
		if after != "auto" { // PostgreSQL would plan the check of a foreign key for each row that is inserted.
			t.Errorf("after a look-up of %d values plans are %s, want auto", values, after)
		}
	}
}

// PostgreSQL compiles a statement for some 30 ms if it estimates that the statement is
// expensive. In a large database it estimates that of many reads that take less than one.
func TestPostgreSQLCompilesNoStatement(t *testing.T) {
	t.Parallel()
	engine, err := postgres.Open(t.Context(), storetest.Postgres(t), postgres.Options{MaxConnections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	var reading, writing string
	ask := func(setting *string) *dbconn.Statement {
		return &dbconn.Statement{SQL: "SELECT current_setting('jit')", Row: func(scan func(...any) error) error { return scan(setting) }}
	}
	if err := engine.Run(t.Context(), ask(&reading)); err != nil {
		t.Fatal(err)
	}
	if err := engine.Write(t.Context(), func(tx dbconn.TxConn) error { return tx.Run(t.Context(), ask(&writing)) }); err != nil {
		t.Fatal(err)
	}
	if reading != "off" || writing != "off" {
		t.Errorf("jit is %s in reads and %s in transactions, want off", reading, writing)
	}
}
