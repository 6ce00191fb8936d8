package storetest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// BenchmarkBytes measures the size of a row of each kind with all its indexes, the bytes
// that it adds to the write-ahead log, and the rate of inserts. It logs the size of each
// index. As in imports, rows are inserted in batches and in random order, while the indexes
// exist. Run it with
//
//	scripts/with-postgres go test ./store/storetest -run '^$' -bench BenchmarkBytes -benchtime 1x
func BenchmarkBytes(b *testing.B) {
	for b.Loop() {
		w := newWarehouse(newWorld(b, storetest.Postgres(b)))
		w.fill(b)
	}
}

// A warehouse is one organization. Half of its repos are in one group of the second
// level, the others in groups of the third.
type warehouse struct {
	*bigWorld
	second, third []core.UID
}

func newWarehouse(world *world) *warehouse {
	w := &warehouse{bigWorld: &bigWorld{world: world, d: newDice(4)}}
	w.root = w.group("", "big")
	for i := range 100 {
		w.second = append(w.second, w.group(w.root, fmt.Sprint("second ", i)))
	}
	for i := range 400 {
		w.third = append(w.third, w.group(w.second[1+i%99], fmt.Sprint("third ", i)))
	}
	return w
}

// fill fills the warehouse and reports each kind.
func (w *warehouse) fill(b *testing.B) {
	identities := measure(b, w, "identity", 20_000, storetest.Tables.IAM.Identities, func(i int) *iam.Identity {
		parent := w.root
		if i%4 > 0 {
			parent = pick(w.d, w.third)
		}
		return &iam.Identity{
			UID: w.d.below(parent), Name: fmt.Sprintf("ident-%06d", i), Description: fmt.Sprint("Workload identity number ", i), CreateTime: w.randomTime(), UpdateTime: w.randomTime(),
			ClaimMatch: &iam.ClaimMatch{Issuer: "https://token.actions.example.com", Subject: fmt.Sprintf("repo:acme/project-%d:ref:refs/heads/main", i)},
		}
	})
	roles := times(40, func(i int) *iam.Role {
		return &iam.Role{UID: w.d.below(w.root), Name: fmt.Sprint("role ", i), CreateTime: w.randomTime(), UpdateTime: w.randomTime()}
	})
	w.insert(func(tx core.Tx) error { return storetest.Tables.IAM.Roles.Insert(b.Context(), tx, roles...) })
	measure(b, w, "role_binding", 30_000, storetest.Tables.IAM.RoleBindings, func(i int) *iam.RoleBinding {
		group := w.root
		if i%5 > 0 {
			group = pick(w.d, w.third)
		}
		return &iam.RoleBinding{UID: w.d.below(group), IdentityUID: identities[i%len(identities)].UID, RoleUID: roles[i/len(identities)].UID, CreateTime: w.randomTime()}
	})
	repos := measure(b, w, "repo", 30_000, storetest.Tables.Inventory.Repos, func(i int) *inventory.Repo {
		group := w.second[0]
		if i%2 > 0 {
			group = pick(w.d, w.third)
		}
		return &inventory.Repo{
			UID: w.d.below(group), Name: "image-" + w.d.hex(8), CreateTime: w.randomTime(), UpdateTime: w.randomTime(),
			Description: fmt.Sprintf("Hardened container image number %d, rebuilt every day from source.", i),
		}
	})
	measure(b, w, "tag", 120_000, storetest.Tables.Inventory.Tags, func(i int) *inventory.Tag {
		made := w.randomTime()
		return &inventory.Tag{
			UID: w.d.below(repos[i/4].UID), Name: fmt.Sprintf("1.%d.%02d", w.d.IntN(30), i%4), Digest: "sha256:" + w.d.hex(32), CreateTime: made, UpdateTime: made,
		}
	})
	measure(b, w, "advisory", 30_000, storetest.Tables.Inventory.Advisories, func(i int) *inventory.Advisory {
		return standAlone(&inventory.Advisory{UID: w.d.below(w.root), AdvisoryID: fmt.Sprintf("CGA-%s", w.d.hex(6)), ArtifactName: fmt.Sprint("package-", w.d.IntN(3000)), CreateTime: w.randomTime(), UpdateTime: w.randomTime()})
	})
}

// measure inserts rows of a kind and reports their size.
func measure[T any](b *testing.B, w *warehouse, table string, n int, rows core.RowWriter[T], one func(i int) T) []T {
	b.Helper()
	all := times(n, one)
	const position = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"
	number := func(query string) float64 {
		var n float64
		if _, err := fmt.Sscan(w.query(w.openDirect(), query)[0][0], &n); err != nil {
			b.Fatal(err)
		}
		return n
	}
	logged, began := number(position), time.Now()
	for batch := range slices.Chunk(all, core.ImportBatch) {
		w.insert(func(tx core.Tx) error { return rows.Insert(b.Context(), tx, batch...) })
	}
	took := time.Since(began)
	count := number("SELECT count(*) FROM " + table)
	b.ReportMetric((number(position)-logged)/float64(n), "wal-B/"+table)
	b.ReportMetric(number("SELECT pg_total_relation_size('"+table+"')")/count, "B/"+table)
	b.ReportMetric(number("SELECT pg_relation_size('"+table+"')")/count, "heap-B/"+table)
	b.ReportMetric(float64(n)/took.Seconds(), table+"s/s")
	b.Log(w.query(w.openDirect(), fmt.Sprintf("SELECT round(pg_relation_size(indexrelid) / %f) || ' B in ' || indexrelname FROM pg_stat_user_indexes WHERE relname = '%s' ORDER BY pg_relation_size(indexrelid) DESC", count, table)))
	return all
}
