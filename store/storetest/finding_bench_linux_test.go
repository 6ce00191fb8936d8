package storetest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// BenchmarkFindings measures the CPU of questions about 152,000 findings of one organization: of the process, and of
// PostgreSQL. Run it with
//
//	scripts/with-postgres go test ./store/storetest -run '^$' -bench BenchmarkFindings -benchtime 1x
func BenchmarkFindings(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		newExposedWorld(b, storetest.SQLite(b)).reportFindings(b, func(dbconn.Statement) time.Duration { return 0 })
	})
	b.Run("postgres", func(b *testing.B) {
		w := newExposedWorld(b, storetest.Postgres(b))
		e := w.explainer()
		w.reportFindings(b, func(s dbconn.Statement) time.Duration {
			if _, err := e.explain(b.Context(), s, "auto"); err != nil {
				b.Fatal(err)
			}
			return e.measureCPU(b, s)
		})
	})
}

// An exposedWorld has an organization with many findings, and those of one image.
type exposedWorld struct {
	*bigWorld
	shown []*inventory.Finding
}

// newExposedWorld returns an organization of 200 repos in ten groups, with 2,000 images of 76 findings each.
func newExposedWorld(t testing.TB, url string) *exposedWorld {
	const repos, tagsOfRepo, findingsOfImage, flaws = 200, 10, 76, 1_200
	w := &exposedWorld{bigWorld: &bigWorld{world: newWorld(t, url), d: newDice(7)}}
	ctx, tables := t.Context(), storetest.Tables.Inventory
	w.root = w.group("", "big")
	for i := range 10 {
		w.group(w.root, fmt.Sprint("group ", i))
	}
	w.bind("owner", iam.OwnerRole, w.root)
	advisories := times(flaws, func(i int) *inventory.Advisory {
		uid := w.d.below(w.root)
		return &inventory.Advisory{
			UID: uid, Representative: uid, AdvisoryID: fmt.Sprintf("GHSA-%d", i), Aliases: []string{fmt.Sprintf("CVE-2026-%d", i)}, ArtifactName: fmt.Sprint("package-", i/3),
			Severities: severities[i%len(severities)], CreateTime: w.randomTime(), UpdateTime: w.randomTime(),
		}
	})
	w.insert(func(tx core.Tx) error { return tables.Advisories.Insert(ctx, tx, advisories...) })
	ratings, ecosystems := core.SeverityRatings(), []string{"npm", "PyPI", "Debian:12"}
	w.withoutIndexes(func() {
		for n := range repos {
			repo := &inventory.Repo{UID: w.d.below(w.groups[1+n%10]), Name: fmt.Sprint("repo-", n), CreateTime: w.randomTime(), UpdateTime: w.randomTime()}
			var tags []*inventory.Tag
			var statuses []*inventory.ImageStatus
			var findings []*inventory.Finding
			var open inventory.OpenCounts
			for i := range tagsOfRepo {
				status := &inventory.ImageStatus{Repo: repo.UID, Digest: "sha256:" + w.d.hex(32), Number: int64(i + 1), IsLive: true, Basis: inventory.BasisVersion}
				tags = append(tags, &inventory.Tag{UID: w.d.below(repo.UID), Name: fmt.Sprint("1.", i), Digest: status.Digest, CreateTime: w.randomTime(), UpdateTime: w.randomTime()})
				for _, of := range w.d.Perm(flaws)[:findingsOfImage] {
					rating, chance := ratings[of%len(ratings)], w.d.Float64()
					f := &inventory.Finding{
						UID: w.d.below(repo.UID), Repo: repo.UID, Digest: status.Digest, Advisory: advisories[of].UID, Representative: advisories[of].UID, VulnerabilityID: advisories[of].Aliases[0],
						Package: advisories[of].ArtifactName, Ecosystem: ecosystems[of%3], InstalledVersion: "1.0.0", Basis: inventory.BasisVersion,
						Severity: inventory.AdvisorySeverity{Rating: rating}, EPSS: &chance, State: inventory.FindingOpen, IsLive: true, FirstSeenTime: w.randomTime(), UpdateTime: w.randomTime(),
					}
					if of%4 > 0 {
						f.FixedVersions = []string{"1.2.3"}
					}
					if w.d.IntN(50) == 0 {
						f.State = inventory.FindingAccepted
					} else {
						status.Open[rating.Rank()]++
					}
					findings = append(findings, f)
				}
				open = open.Plus(status.Open)
				statuses = append(statuses, status)
			}
			w.repos = append(w.repos, repo.UID)
			w.shown = findings[:findingsOfImage]
			w.insert(func(tx core.Tx) error {
				if err := tables.Repos.Insert(ctx, tx, repo); err != nil {
					return err
				}
				if err := tables.Tags.Insert(ctx, tx, tags...); err != nil {
					return err
				}
				tables.PutImageStatuses(tx, repo.UID, statuses)
				tables.ShiftOpenFindings(tx, repo, open, core.At(epoch))
				return tables.ReplaceFindings(ctx, tx, nil, findings)
			})
		}
	})
	w.analyze()
	return w
}

// reportFindings reports the CPU of questions. The function measure returns that of a statement outside of this process.
func (b *exposedWorld) reportFindings(t *testing.B, measure func(dbconn.Statement) time.Duration) {
	spy := b.newSpy()
	p := b.replica(spy)
	caller, all := b.contextOn(p, "owner"), descendantsOf(b.root)
	facets := func(scope core.UIDFilter, f inventory.FindingFilter) func(context.Context) error {
		return func(ctx context.Context) error {
			page, err := p.Findings.List(ctx, core.ListRequest[*inventory.FindingFilter]{UIDP: scope, Filter: &f, PageSize: 1, Parts: core.PartItems})
			if err == nil {
				_, err = p.Findings.Facets(ctx, []core.Page[*inventory.Finding]{page}, inventory.FindingFacetsSummed)
			}
			return err
		}
	}
	names := []string{"CVE-2026-100"}
	score := 0.0
	for _, q := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"facets of all findings", facets(all, inventory.FindingFilter{})},
		{"facets of all findings that are critical", facets(all, inventory.FindingFilter{Severities: []core.SeverityRating{core.SeverityCritical}})},
		{"facets of all findings of Debian", facets(all, inventory.FindingFilter{Ecosystems: []string{"Debian"}})},
		{"facets of the findings of a group", facets(descendantsOf(b.groups[1]), inventory.FindingFilter{})},
		{"facets of the findings of a repo", facets(childrenOf(b.repos[0]), inventory.FindingFilter{})},
		{"facets of all findings above a score", facets(all, inventory.FindingFilter{MinScore: &score})},
		{"facets of all findings since a time", facets(all, inventory.FindingFilter{FirstSeenSince: core.At(epoch)})},
		{"the number of findings since a time", func(ctx context.Context) error {
			_, err := p.Findings.List(ctx, core.ListRequest[*inventory.FindingFilter]{UIDP: all, Filter: &inventory.FindingFilter{FirstSeenSince: core.At(epoch)}, PageSize: 1, Parts: core.PartTotal})
			return err
		}},
		{"facets of the findings of a vulnerability", facets(all, inventory.FindingFilter{VulnerabilityIDs: names})},
		{"findings of a vulnerability", func(ctx context.Context) error {
			_, err := p.Findings.List(ctx, core.ListRequest[*inventory.FindingFilter]{Filter: &inventory.FindingFilter{VulnerabilityIDs: names}, PageSize: 20})
			return err
		}},
		{"repos of a vulnerability", func(ctx context.Context) error {
			_, err := p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{Filter: &inventory.RepoFilter{ImageConditions: inventory.ImageConditions{VulnerabilityIDs: names}}, PageSize: 20})
			return err
		}},
		{"tags of a vulnerability", func(ctx context.Context) error {
			_, err := p.Tags.List(ctx, core.ListRequest[*inventory.TagFilter]{Filter: &inventory.TagFilter{ImageConditions: inventory.ImageConditions{VulnerabilityIDs: names}}, PageSize: 20})
			return err
		}},
		{"images of a vulnerability", func(ctx context.Context) error {
			_, err := p.Images.ListAffected(ctx, core.ListRequest[*inventory.ImageFilter]{PageSize: 1, Parts: core.PartTotal}, names)
			return err
		}},
	} {
		t.Run(q.name, func(t *testing.B) {
			outside := time.Duration(0)
			for _, s := range must[[]dbconn.Statement](t)(recordStatements(caller, q.run)) {
				outside += measure(s)
			}
			reportCPU(t, func() { must[[]dbconn.Statement](t)(recordStatements(caller, q.run)) })
			t.ReportMetric(milliseconds(outside), "ms-of-postgres")
		})
	}
	t.Run("replace the findings of an image", func(t *testing.B) {
		states := []inventory.FindingState{inventory.FindingAccepted, inventory.FindingOpen}
		reportCPU(t, func() {
			old := b.shown
			b.shown = times(len(old), func(n int) *inventory.Finding {
				f := *old[n]
				f.State = states[0]
				return &f
			})
			states[0], states[1] = states[1], states[0]
			b.insert(func(tx core.Tx) error {
				return storetest.Tables.Inventory.ReplaceFindings(b.t.Context(), tx, old, b.shown)
			})
		})
	})
}

// reportCPU reports the CPU that a function takes in this process.
func reportCPU(t *testing.B, run func()) {
	const runs = 10
	before := ownTime()
	for range runs {
		run()
	}
	t.ReportMetric(milliseconds((ownTime()-before)/runs), "ms-of-cpu")
}
