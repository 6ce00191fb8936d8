package platform_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/platform/inventory"
)

// newRecord returns a record of a day about packages of npm, all versions of which before 2.0.0 are affected.
func newRecord(id string, day int, packages ...string) *feeds.AdvisoryRecord {
	r := &feeds.AdvisoryRecord{AdvisoryID: id, UpdateTime: onDay(day)}
	for _, name := range packages {
		a := fixedIn(id, name, "2.0.0")
		a.UpdateTime = r.UpdateTime
		r.Advisories = append(r.Advisories, a)
	}
	return r
}

// withdrawn withdraws a record.
func withdrawn(r *feeds.AdvisoryRecord) *feeds.AdvisoryRecord {
	r.WithdrawnTime = r.UpdateTime
	for _, a := range r.Advisories {
		a.DeleteTime = r.UpdateTime
	}
	return r
}

func (w *world) publish(group core.UID, records ...*feeds.AdvisoryRecord) core.Imported {
	w.Helper()
	done, err := w.p.Feeds.ImportRecords(w.operator(), group, records)
	must(w, err)
	for _, err := range done.Rejected {
		must(w, err)
	}
	return done
}

// listAffected lists the packages with open findings of a vulnerability, and those whose findings are resolved.
func (w *world) listAffected(within core.UID, id string) string {
	w.Helper()
	w.settle()
	names := func(state inventory.FindingState) string {
		page, err := w.p.Findings.List(w.operator(), core.ListRequest[*inventory.FindingFilter]{
			UIDP: core.UIDFilter{DescendantsOf: within}, Filter: &inventory.FindingFilter{VulnerabilityIDs: []string{id}, States: []inventory.FindingState{state}},
		})
		must(w, err)
		var found []string
		for _, f := range page.Items {
			found = append(found, f.Package)
		}
		slices.Sort(found)
		return strings.Join(found, "")
	}
	return names(inventory.FindingOpen) + " " + names(inventory.FindingResolved)
}

// imageWith makes an image to which a tag points, with version 1.0.0 of packages.
func (w *world) imageWith(group core.UID, packages ...string) core.UID {
	w.Helper()
	repo := w.repo(group)
	for i := range packages {
		packages[i] += "@1.0.0"
	}
	w.sbom(repo, digest(1), packages...)
	w.point(repo, "latest", digest(1))
	return repo
}

func TestWhatARecordNoLongerNamesIsGone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.imageWith(acme.uid, "a", "b", "c")
		for _, group := range []core.UID{acme.uid, ""} {
			id := "GO-" + string(group)
			for _, step := range []struct {
				what   string
				record *feeds.AdvisoryRecord
				counts string
				want   string
			}{
				{"three packages", newRecord(id, 1, "a", "b", "c"), mustSucceed(3, 0, 0, 0), "abc "},
				{"one is dropped", newRecord(id, 2, "a", "b"), mustSucceed(0, 1, 2, 0), "ab c"},
				{"the same record", newRecord(id, 2, "a", "b"), mustSucceed(0, 0, 2, 0), "ab c"},
				{"an older record", newRecord(id, 1, "a", "b", "c"), mustSucceed(0, 0, 3, 0), "ab c"},
				{"it is named again", newRecord(id, 3, "b", "c"), mustSucceed(0, 2, 1, 0), "bc a"},
				{"withdrawn, and it names only one", withdrawn(newRecord(id, 4, "b")), mustSucceed(0, 2, 0, 0), " abc"},
				{"it is back", newRecord(id, 5, "a", "b"), mustSucceed(0, 2, 0, 0), "ab c"},
				{"it names nothing", newRecord(id, 6), mustSucceed(0, 2, 0, 0), " abc"},
				{"nothing again", newRecord(id, 8), mustSucceed(0, 0, 0, 0), " abc"},
				{"an older one that names something", newRecord(id, 7, "a", "c"), mustSucceed(0, 0, 2, 0), " abc"},
				{"the newest", newRecord(id, 9, "c"), mustSucceed(0, 1, 0, 0), "c ab"},
			} {
				done := w.publish(group, step.record)
				expectImported(t, step.what, done, nil, step.counts)
				w.expect(step.what, w.listAffected(acme.uid, id), step.want)
			}
		}
		w.expectCounters(acme.uid)
	})
}

// An older record names a package that nothing was known of.
func TestAnOlderRecordAddsNoPackages(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.imageWith(acme.uid, "a", "b")
		w.publish(acme.uid, newRecord("GO-1", 2, "a"), newRecord("GO-2", 1, "a"))
		w.publish(acme.uid, newRecord("GO-1", 1, "a", "b"), newRecord("GO-2", 2, "a", "b"))
		w.expect("a newer one has dropped it", w.listAffected(acme.uid, "GO-1"), "a ")
		w.expect("a newer one has added it", w.listAffected(acme.uid, "GO-2"), "ab ")
		before := len(w.events())
		w.publish(acme.uid, newRecord("GO-1", 1, "b"), newRecord("GO-2", 3))
		w.settle()
		w.expect("the events", types(w.events()[before:]), "vulnerabilities.finding.resolved")
	})
}

// However records come, what the newest says counts, and a look confirms all findings.
func TestTheNewestRecordCountsInAnyOrder(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		random := rand.New(rand.NewPCG(1, 2))
		acme := w.found("acme")
		w.imageWith(acme.uid, "a", "b", "c", "d")
		const ids = 12
		for round := range 6 {
			var all [][]*feeds.AdvisoryRecord // of each id
			want := map[string]string{}
			for n := range ids {
				id := fmt.Sprintf("GO-%d-%d", round, n)
				var versions []*feeds.AdvisoryRecord
				for day := 1; day <= 4; day++ {
					names := slices.DeleteFunc([]string{"a", "b", "c", "d"}, func(string) bool { return random.IntN(2) == 0 })
					r := newRecord(id, day, names...)
					want[id] = strings.Join(names, "")
					if random.IntN(4) == 0 {
						r, want[id] = withdrawn(r), ""
					}
					versions = append(versions, r)
				}
				versions = append(versions, newRecord(id, 0, "a", "b", "c", "d"))
				random.Shuffle(4, func(i, j int) { versions[i], versions[j] = versions[j], versions[i] })
				slices.Reverse(versions) // what is stored first names something, so that later records meet its time
				all = append(all, versions)
			}
			for step := range 5 {
				var batch []*feeds.AdvisoryRecord
				for _, versions := range all {
					batch = append(batch, versions[step])
				}
				w.publish(acme.uid, batch...)
				if random.IntN(2) == 0 {
					_, err := w.p.Findings.Reconcile(w.operator())
					must(t, err)
				}
			}
			for id, names := range want {
				open, _, _ := strings.Cut(w.listAffected(acme.uid, id), " ")
				w.expect(id, open, names)
			}
		}
		w.expectCounters(acme.uid)
	})
}

// The statements of an import do not depend on what records no longer name.
func TestOneReadFindsWhatRecordsNoLongerName(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		count := func(day, records int, packages ...string) int64 {
			var all []*feeds.AdvisoryRecord
			for n := range records {
				all = append(all, newRecord(fmt.Sprint("GO-", n), day, packages...))
			}
			var trace core.Trace
			_, err := w.p.Feeds.ImportRecords(core.WithTrace(w.operator(), &trace), acme.uid, all)
			must(t, err)
			return trace.Statements.Load()
		}
		count(1, 50, "a", "b", "c")
		if one, many := count(1, 1, "a", "b", "c"), count(1, 50, "a", "b", "c"); one != many {
			t.Errorf("%d statements for one record and %d for 50, want the same", one, many)
		}
	})
}
