package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/storetest"
)

// benchmarkEngines runs a benchmark on every engine.
func benchmarkEngines(b *testing.B, bench func(b *testing.B, url string)) {
	b.Run("sqlite", func(b *testing.B) { bench(b, storetest.SQLite(b)) })
	b.Run("postgres", func(b *testing.B) { bench(b, storetest.Postgres(b)) })
}

// BenchmarkReads measures lists of 200,000 repos. "x-of-page-1" compares a page in the
// middle or at the end with the first page.
func BenchmarkReads(b *testing.B) {
	benchmarkEngines(b, func(b *testing.B, url string) {
		big := newBigWorld(newWorld(b, url), sizes{repos: 200_000, tags: 50_000, identities: 5_000, bindings: 10_000, advisories: 1_000, organizations: 200, events: 200})
		ctx := big.contextAs("owner")
		list := big.p.Repos.List
		type request = core.ListRequest[*inventory.RepoFilter]
		all := request{UIDP: descendantsOf(big.root)}
		first := measureRead(b, "page 1", 0, func() error { return askList(list, all)(ctx) })
		for _, page := range []int{10, 1000, 3900} {
			at := all
			at.Skip, at.PageSize = page*50-50, 1
			before, err := list(ctx, at)
			if err != nil || len(before.Items) == 0 {
				b.Fatal(err, "no such page")
			}
			req := all
			req.PageToken = before.Cursor(0)
			measureRead(b, fmt.Sprint("page ", page), first, func() error { return askList(list, req)(ctx) })
		}
		measureRead(b, "page 1000 by a skip", first, func() error {
			return askList(list, request{UIDP: descendantsOf(big.root), Skip: 50_000})(ctx)
		})
		measureRead(b, "total", first, func() error {
			_, err := list(ctx, request{UIDP: descendantsOf(big.root), Parts: core.PartTotal})
			return err
		})
		measureRead(b, "page 1 without total", first, func() error {
			return askList(list, request{UIDP: descendantsOf(big.root), Parts: core.PartItems})(ctx)
		})
		measureRead(b, "50 groups with 10 repos each", first, func() error { return askEach(big.p.Repos.ListEach, "name", big.groups[:50])(ctx) })
		twenty := big.contextAs("twenty")
		measureRead(b, "page 1 of 20 scopes", first, func() error { return askList(list, request{})(twenty) })
		measureRead(b, "page 1 of bindings", first, func() error {
			return askList(big.p.RoleBindings.List, core.ListRequest[*iam.RoleBindingFilter]{UIDP: descendantsOf(big.root)})(ctx)
		})
		measureRead(b, "who a token is", first, func() error {
			_, err := big.p.Authenticate(ctx, iam.Claims{Issuer: issuer, Subject: "twenty", ServiceAudience: true})
			return err
		})
	})
}

// measureRead measures one read and returns its time.
func measureRead(b *testing.B, name string, first time.Duration, read func() error) (each time.Duration) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			if err := read(); err != nil {
				b.Fatal(err)
			}
		}
		each = b.Elapsed() / time.Duration(b.N)
		if first > 0 {
			b.ReportMetric(float64(each)/float64(first), "x-of-page-1")
		}
	})
	return each
}

// BenchmarkImport measures batches of tags, distributed over repos as in registries,
// while the database grows.
func BenchmarkImport(b *testing.B) {
	benchmarkEngines(b, func(b *testing.B, url string) {
		w := newWorld(b, url)
		_, org := w.createOrganization("acme")
		repos := w.repos(org.Group.UID, 1000)
		d, n := newDice(3), 0
		for name, o := range map[string]core.ImportOptions{"with events": {}, "without events": {NoEvents: true}} {
			b.Run("tags "+name, func(b *testing.B) {
				for b.Loop() {
					batch := times(core.ImportBatch, func(i int) *registry.ImportedTag {
						return &registry.ImportedTag{Repo: repos[(n+i/50)%len(repos)].UID, Tag: inventory.Tag{Name: d.hex(8), Digest: "sha256:" + d.hex(32)}}
					})
					n += 20
					done, err := w.p.Registry.ImportTags(w.operator(), batch, o)
					if err != nil || done.Added != len(batch) {
						b.Fatalf("%+v, %v", done, err)
					}
				}
				b.ReportMetric(float64(core.ImportBatch*b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
		b.Run("advisories", func(b *testing.B) {
			for b.Loop() {
				batch := times(core.ImportBatch, func(int) *inventory.Advisory {
					id := d.hex(8)
					return &inventory.Advisory{AdvisoryID: id, ArtifactName: d.hex(2), Aliases: []string{"CVE-" + id}, Events: []inventory.AdvisoryEvent{{Fixed: &inventory.Fixed{FixedVersion: "1.2.3"}}}}
				})
				done, err := w.p.Feeds.ImportAdvisories(w.operator(), org.Group.UID, batch)
				if err != nil || done.Added != len(batch) {
					b.Fatalf("%+v, %v", done, err)
				}
			}
			b.ReportMetric(float64(core.ImportBatch*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	})
}

// BenchmarkCreate measures single creations, by one caller and by many.
func BenchmarkCreate(b *testing.B) {
	benchmarkEngines(b, func(b *testing.B, url string) {
		w := newWorld(b, url)
		ctx, org := w.createOrganization("acme")
		group := w.group(ctx, org.Group.UID, "a")
		create := func(name string) error {
			_, err := w.p.Repos.Create(ctx, group, input[*inventory.Repo](fmt.Sprintf(`{"name": %q}`, name)))
			return err
		}
		b.Run("one caller", func(b *testing.B) {
			d := newDice(uint64(time.Now().UnixNano()))
			for b.Loop() {
				if err := create("r" + d.hex(12)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "creates/s")
		})
		b.Run("sixteen callers", func(b *testing.B) {
			b.SetParallelism(8)
			seeds := make(chan uint64, 1)
			seeds <- 1
			b.RunParallel(func(pb *testing.PB) {
				seed := <-seeds
				seeds <- seed + 1
				d := newDice(seed ^ uint64(time.Now().UnixNano()))
				for pb.Next() {
					if err := create("r" + d.hex(12)); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "creates/s")
		})
	})
}
