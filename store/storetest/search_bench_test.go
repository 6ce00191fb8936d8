package storetest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// BenchmarkSearch measures the cost of searches in an organization of 500,000 tags, the
// size of their indexes, and the cost for writers of tags. Run it with
//
//	scripts/with-postgres go test ./store/storetest -run '^$' -bench BenchmarkSearch -benchtime 1x
func BenchmarkSearch(b *testing.B) {
	for b.Loop() {
		w := &bigWorld{world: newWorld(b, storetest.Postgres(b)), d: newDice(5)}
		w.root = w.group("", "big")
		tags := w.createSearchableRepos()
		w.bind("owner", iam.OwnerRole, w.root)
		w.bind("part", iam.ViewerRole, w.groups[1])
		w.exec(w.openDirect(), "VACUUM ANALYZE")
		w.reportIndexes(b)
		w.reportSearches(b)
		w.reportWrites(b, tags)
	}
}

// BenchmarkSearchOnSQLite measures the same searches on SQLite, and what the index adds
// to the file. Run it with
//
//	scripts/with-postgres go test ./store/storetest -run '^$' -bench BenchmarkSearchOnSQLite -benchtime 1x
func BenchmarkSearchOnSQLite(b *testing.B) {
	for b.Loop() {
		w := &bigWorld{world: newWorld(b, storetest.SQLite(b)), d: newDice(5)}
		w.root = w.group("", "big")
		began := time.Now()
		w.createSearchableRepos()
		b.Logf("601,000 rows came in %v", time.Since(began).Round(time.Millisecond))
		w.bind("owner", iam.OwnerRole, w.root)
		w.bind("part", iam.ViewerRole, w.groups[1])
		b.Log("pages of 4 KiB, by table: ", w.query(w.openDirect(), "SELECT sum(pageno > 0), name FROM dbstat WHERE name LIKE 'search%' OR name IN ('tag', 'tag_root_name') GROUP BY name"))
		for _, r := range w.searches() {
			ctx, began := w.contextOn(w.p, r.subject), time.Now()
			if err := r.run(ctx, w.p); err != nil {
				b.Errorf("%s: %v", r.name, err)
			}
			b.Logf("%s: %v", r.name, time.Since(began).Round(100*time.Microsecond))
		}
	}
}

// createSearchableRepos creates 1,000 groups of 100 repos of 5 tags. One tag in 10,000
// has the word needle, every other tag has the word build, and some caller sees one in a
// thousand groups.
func (b *bigWorld) createSearchableRepos() (repos []core.UID) {
	b.withoutIndexes(func() {
		for i := range 1000 {
			b.group(b.root, fmt.Sprint("group ", i))
		}
		chunks(b, 100_000, storetest.Tables.Inventory.Repos, func(i int) *inventory.Repo {
			r := &inventory.Repo{UID: b.d.below(b.groups[1+i%1000]), Name: fmt.Sprintf("image-%x/%d", b.d.IntN(1<<20), i), Description: "A container image, rebuilt every day", CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
			repos = append(repos, r.UID)
			return r
		})
		chunks(b, 500_000, storetest.Tables.Inventory.Tags, func(i int) *inventory.Tag {
			name := fmt.Sprintf("1.%d.%d-%x", b.d.IntN(90), i, b.d.IntN(1<<24))
			switch {
			case i%10_000 == 0:
				name += "-needle"
			case i%2 == 0:
				name += "-build"
			}
			return &inventory.Tag{UID: b.d.below(repos[i/5]), Name: name, Digest: "sha256:" + b.d.hex(32), CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
		})
	})
	return repos
}

func (b *bigWorld) reportIndexes(t *testing.B) {
	t.Helper()
	for _, row := range b.query(b.openDirect(), "SELECT indexrelname, pg_relation_size(indexrelid), pg_table_size(relid), (pg_relation_size(indexrelid) / greatest(1, n_live_tup)) FROM pg_stat_user_indexes JOIN pg_stat_user_tables USING (relid) WHERE indexrelname LIKE '%\\_search' OR indexrelname = 'tag_root_name' ORDER BY 1") {
		t.Logf("%s: %s bytes beside a table of %s bytes, %s for a row", row[0], row[1], row[2], row[3])
	}
}

// A timedSearch is a search that is measured.
type timedSearch struct {
	name, subject string
	run           func(context.Context, *platform.Platform) error
}

func (b *bigWorld) searches() []timedSearch {
	all, tags := []core.SearchKind(nil), []core.SearchKind{core.SearchTags}
	list := func(query string) func(context.Context, *platform.Platform) error {
		return func(ctx context.Context, p *platform.Platform) error {
			_, err := p.Tags.List(ctx, core.ListRequest[*inventory.TagFilter]{Filter: &inventory.TagFilter{Query: query}})
			return err
		}
	}
	search := func(query string, kinds []core.SearchKind) func(context.Context, *platform.Platform) error {
		return func(ctx context.Context, p *platform.Platform) error {
			_, err := p.Search.List(ctx, core.SearchRequest{Query: query, Kinds: kinds, PageSize: 20})
			return err
		}
	}
	return []timedSearch{
		{"needle, which 50 tags hold", "owner", search("needle", all)}, {"needle among tags", "owner", search("needle", tags)}, {"eedl need", "owner", search("eedl need", all)},
		{"build, which 250,000 tags hold", "owner", search("build", all)}, {"build among tags", "owner", search("build", tags)},
		{"1., with which all tags begin", "owner", search("1.", all)}, {"1.7, which many tags hold", "owner", search("1.7", all)}, {"image, which all repos hold", "owner", search("image", all)},
		{"nothing", "owner", search("zzzzzz", all)}, {"---, which has no trigram", "owner", search("---", tags)},
		{"needle by who sees a thousandth", "part", search("needle", all)}, {"build by who sees a thousandth", "part", search("build", all)},
		{"a list of tags by needle", "owner", list("needle")}, {"a list of tags by build", "owner", list("build")},
	}
}

func (b *bigWorld) reportSearches(t *testing.B) {
	t.Helper()
	p, e := b.replica(b.newSpy()), b.explainer()
	for _, r := range b.searches() {
		ctx := b.contextOn(p, r.subject)
		began := time.Now()
		statements, err := recordStatements(ctx, func(ctx context.Context) error { return r.run(ctx, p) })
		took := time.Since(began)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		costs := map[string][]int{}
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			for _, s := range statements {
				plan, err := e.explain(ctx, s, mode)
				if err != nil {
					t.Fatal(err)
				}
				costs[mode] = append(costs[mode], plan.buffers())
			}
		}
		t.Logf("%s: %v, buffers of each statement %v, planned once %v", r.name, took.Round(100*time.Microsecond), costs["force_custom_plan"], costs["force_generic_plan"])
	}
}

// reportWrites adds tags in batches, as imports do: without the index, and with more and
// more tags that may wait for their place in it.
func (b *bigWorld) reportWrites(t *testing.B, repos []core.UID) {
	t.Helper()
	for _, waiting := range []int{0, 64, 128, 512, 2048, 0, 128} {
		b.exec(b.openDirect(), "DROP INDEX IF EXISTS tag_search")
		if waiting > 0 {
			b.exec(b.openDirect(), fmt.Sprintf("CREATE INDEX tag_search ON tag USING gin (root, ('  ' || lower(name) || E'\n') gin_trgm_ops) WITH (gin_pending_list_limit = %d)", waiting))
		}
		b.exec(b.openDirect(), "CHECKPOINT")
		position := func() (at float64) {
			if _, err := fmt.Sscan(b.query(b.openDirect(), "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")[0][0], &at); err != nil {
				t.Fatal(err)
			}
			return at
		}
		before, began := position(), time.Now()
		for range 50 {
			b.insert(func(tx core.Tx) error {
				return storetest.Tables.Inventory.Tags.Insert(t.Context(), tx, times(200, func(i int) *inventory.Tag {
					name := fmt.Sprintf("%d.%d.%d-r%d-%d", b.d.IntN(9), b.d.IntN(30), b.d.IntN(50), b.d.IntN(9), b.d.IntN(1e6))
					return &inventory.Tag{UID: b.d.below(pick(b.d, repos)), Name: name, Digest: "sha256:" + b.d.hex(32), CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
				})...)
			})
		}
		t.Logf("10,000 tags while %d kB may wait for the index: %v, %.0f bytes of write-ahead log for each", waiting, time.Since(began).Round(time.Millisecond), (position()-before)/10_000)
	}
}
