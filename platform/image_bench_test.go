//go:build unix

package platform_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/storetest"
)

// The images of benchmarks are in repos of imagesOfRepo, and hold packagesOfImage.
const imagesOfRepo, packagesOfImage = 20, 300

// eachBenchEngine runs a benchmark on every engine with an empty organization.
func eachBenchEngine(b *testing.B, run func(b *testing.B, w *world, acme org)) {
	for engine, open := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(engine, func(b *testing.B) {
			url := open(b)
			w := &world{TB: b, url: url, store: storetest.Open(b, url)}
			w.p = w.replica(w.store, platform.Options{})
			run(b, w, w.found("acme"))
		})
	}
}

// BenchmarkPairs measures how many bytes a package of an image takes with all that belongs to it: the dictionary, the indexes, what documents
// say, and who holds it. The images are what documents of many repos say: a base that repos share, and packages of their own, of
// which one in twenty changes from one image to the next. Half of the documents have dependencies. An iteration is an image:
//
//	scripts/with-postgres go test ./platform -run '^$' -bench BenchmarkPairs -benchtime 10000x
func BenchmarkPairs(b *testing.B) {
	tables := []string{"package", "package_version", "component", "package_license", "sbom", "image_status", "package_use"}
	eachBenchEngine(b, func(b *testing.B, w *world, acme org) {
		random := rand.New(rand.NewPCG(1, 1))
		size := func(table string) (bytes float64) {
			query := fmt.Sprintf("SELECT pg_total_relation_size('%s')", table)
			if w.url[:6] == "sqlite" {
				query = fmt.Sprintf("SELECT SUM(s.pgsize) FROM dbstat s JOIN sqlite_schema m ON m.name = s.name WHERE m.tbl_name = '%s'", table)
			}
			must(b, w.raw().QueryRow(query).Scan(&bytes))
			return bytes
		}
		empty := 0.0
		for _, table := range tables {
			empty += size(table)
		}
		began := processorTime()
		var held []inventory.InstalledPackage
		var repo core.UID
		b.ResetTimer()
		for first := 0; first < b.N; first += imagesOfRepo {
			repo = w.repo(acme.uid)
			held = packagesOfRepo(random)
			var all []*registry.ImportedSBOM
			var tags []*registry.ImportedTag
			for n := range min(imagesOfRepo, b.N-first) {
				for range packagesOfImage / 20 {
					renew(random, &held[random.IntN(len(held))])
				}
				all = append(all, &registry.ImportedSBOM{Repo: repo, Digest: digest(first + n), Format: "CycloneDX 1.6", Packages: slices.Clone(held)})
				tags = append(tags, &registry.ImportedTag{Repo: repo, Tag: inventory.Tag{Name: fmt.Sprint("1.", n), Digest: digest(first + n)}})
			}
			done, err := w.p.Registry.ImportSBOMs(w.operator(), all)
			must(b, err)
			for _, reason := range done.Rejected {
				b.Fatal(reason)
			}
			_, err = w.p.Registry.ImportTags(w.operator(), tags, core.ImportOptions{NoEvents: true})
			must(b, err)
			w.settle()
		}
		b.StopTimer()
		b.ReportMetric(float64((processorTime()-began).Microseconds())/1000/float64(b.N), "ms-of-cpu/image")
		pairs, total := float64(b.N*packagesOfImage), -empty
		for _, table := range tables {
			bytes := size(table)
			total += bytes
			b.ReportMetric(bytes/pairs, "B/"+table)
		}
		b.ReportMetric(total/pairs, "B/pair")
		var versions float64
		must(b, w.raw().QueryRow("SELECT COUNT(*) FROM package_version").Scan(&versions))
		b.ReportMetric(versions, "versions")
	})
}

// packagesOfRepo returns the packages of the first image of a repo, sorted as documents have them.
func packagesOfRepo(random *rand.Rand) []inventory.InstalledPackage {
	base, hasDependencies := random.IntN(30), random.IntN(2) == 0
	all := make([]inventory.InstalledPackage, packagesOfImage)
	for n := range all {
		p := &all[n]
		switch {
		case n < 120: // of the distribution
			p.Name, p.Ecosystem, p.Scope = fmt.Sprintf("lib-%d-%d", base%6, n), fmt.Sprintf("Debian:%d", 11+base%3), inventory.ScopeRequired
			if n%2 == 0 {
				p.SourceName = fmt.Sprintf("source-%d-%d", base%6, n/4)
			}
		case n < 160:
			p.Name, p.Ecosystem = fmt.Sprintf("example.com/owner-%d/module", popularPackage(random)), "Go"
		default:
			p.Name, p.Ecosystem = fmt.Sprintf("library-%d", popularPackage(random)), "npm"
		}
		for slices.ContainsFunc(all[:n], func(other inventory.InstalledPackage) bool { return other.Name == p.Name }) {
			p.Name += "-x"
		}
		p.Licenses = []string{[]string{"MIT", "Apache-2.0", "BSD-3-Clause", "GPL-2.0-or-later AND LGPL-2.1-only"}[len(p.Name)%4]}
		if renew(random, p); n < 120 { // what repos have of a base is of a few days
			p.Version = fmt.Sprintf("1.%d-%d", n%9, base%5)
			nameSource(p)
		}
		if hasDependencies && n > 170 {
			direct := n%8 == 0
			if p.Direct = &direct; !direct {
				p.IntroducedBy = []int{n - n%8}
			}
		}
	}
	return all
}

// popularPackage picks one of 8,000 packages, the first ones more often.
func popularPackage(random *rand.Rand) int { return int(8000 * random.Float64() * random.Float64()) }

// renew gives a package another version.
func renew(random *rand.Rand, p *inventory.InstalledPackage) {
	p.Version = fmt.Sprintf("%d.%d.%d", 1+random.IntN(2), random.IntN(4), random.IntN(3))
	nameSource(p)
}

// nameSource sets what follows from the version.
func nameSource(p *inventory.InstalledPackage) {
	switch p.Ecosystem {
	case "npm":
		p.PURL = "pkg:npm/" + p.Name + "@" + p.Version
	case "Go":
		p.Version = "v" + p.Version
		p.PURL = "pkg:golang/" + p.Name + "@" + p.Version
	default:
		p.PURL = "pkg:deb/debian/" + p.Name + "@" + p.Version + "?arch=amd64&distro=debian-" + p.Ecosystem[len("Debian:"):]
		if p.SourceName != "" {
			p.SourceVersion = p.Version
			p.PURL += "&upstream=" + p.SourceName
		}
	}
}

// BenchmarkAnAdvisoryOfManyImages measures how long it takes until an advisory about a package that all images hold is settled, and what
// reads take meanwhile. An iteration is an image; 20 images are of a repo.
//
//	GOMAXPROCS=2 scripts/with-postgres go test ./platform -run '^$' -bench BenchmarkAnAdvisoryOfManyImages -benchtime 50000x
func BenchmarkAnAdvisoryOfManyImages(b *testing.B) {
	eachBenchEngine(b, func(b *testing.B, w *world, acme org) {
		b.StopTimer()
		groups := []core.UID{acme.uid}
		for range 10 {
			groups = append(groups, w.group(acme.uid))
		}
		random := rand.New(rand.NewPCG(1, 1))
		for first := 0; first < b.N; first += imagesOfRepo {
			repo := w.repo(groups[random.IntN(len(groups))])
			var all []*registry.ImportedSBOM
			var tags []*registry.ImportedTag
			for n := range min(imagesOfRepo, b.N-first) {
				sbom := &registry.ImportedSBOM{Repo: repo, Digest: digest(first + n), Format: "CycloneDX 1.6"}
				for i := range 12 {
					p := inventory.InstalledPackage{Name: fmt.Sprint("library-", i), Ecosystem: "npm"}
					renew(random, &p)
					sbom.Packages = append(sbom.Packages, p)
				}
				all = append(all, sbom)
				tags = append(tags, &registry.ImportedTag{Repo: repo, Tag: inventory.Tag{Name: fmt.Sprint("1.", n), Digest: digest(first + n)}})
			}
			_, err := w.p.Registry.ImportSBOMs(w.operator(), all)
			must(b, err)
			_, err = w.p.Registry.ImportTags(w.operator(), tags, core.ImportOptions{NoEvents: true})
			must(b, err)
		}
		w.settle()
		w.advise(acme.uid, fixedIn("CVE-0", "library-1", "9.0.0")) // what is read meanwhile
		w.settle()
		if w.url[:6] != "sqlite" {
			_, err := w.raw().Exec("ANALYZE")
			must(b, err)
		}
		read := func() time.Duration {
			began := time.Now()
			_, err := w.p.Findings.List(acme.owner, core.ListRequest[*inventory.FindingFilter]{PageSize: 50})
			must(b, err)
			_, err = w.p.Findings.Summarize(acme.owner, groups[1+random.IntN(10)])
			must(b, err)
			return time.Since(began)
		}
		var before, beside []time.Duration
		for range 300 {
			before = append(before, read())
		}
		w.advise(acme.uid, fixedIn("CVE-1", "library-0", "9.0.0"))
		var settling sync.WaitGroup
		settled := make(chan struct{})
		used := processorTime()
		b.StartTimer()
		began, took := time.Now(), time.Duration(0)
		settling.Go(func() {
			defer close(settled)
			w.settle()
			took = time.Since(began)
		})
		for ended := false; !ended; {
			beside = append(beside, read())
			select {
			case <-settled:
				ended = true
			case <-time.After(10 * time.Millisecond):
			}
		}
		settling.Wait()
		b.StopTimer()
		summary, err := w.p.Findings.Summarize(w.operator(), acme.uid)
		must(b, err)
		if summary.Open.Total != 2*int64(b.N) {
			b.Errorf("%d findings are open", summary.Open.Total)
		}
		b.ReportMetric(took.Seconds(), "s")
		b.ReportMetric((processorTime() - used).Seconds(), "s-of-cpu")
		b.ReportMetric(percentile(before, 95), "ms-p95-before")
		b.ReportMetric(percentile(beside, 95), "ms-p95-beside")
	})
}

func percentile(all []time.Duration, p int) float64 {
	slices.Sort(all)
	return float64(all[len(all)*p/100].Microseconds()) / 1000
}
