package platform_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// withAliases returns an advisory with other names.
func withAliases(a *inventory.Advisory, aliases ...string) *inventory.Advisory {
	a.Aliases = aliases
	return a
}

// A vulnerability of ten records costs one row, one event and one count of each kind.
func TestAVulnerabilityOfTenRecordsCostsOne(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.imageWith(acme.uid, "a")
		var all []*inventory.Advisory
		for i := range 10 {
			all = append(all, withAliases(fixedIn(fmt.Sprintf("X-%d", i), "a", "2.0.0"), "CVE-1"))
		}
		w.settle()
		before := len(w.events())
		w.advise("", all...)
		w.settle()
		var opened inventory.FindingChange
		if sent := w.events()[before:]; types(sent) != "vulnerabilities.finding.opened" {
			t.Fatalf("its events are %s", types(sent))
		} else if must(t, json.Unmarshal([]byte(sent[0].body), &opened)); opened.Count != 1 || len(opened.Findings[0].Sources) != 10 {
			t.Errorf("the event is %s", sent[0].body)
		}
		for _, count := range []string{"SELECT COUNT(*) FROM finding", "SELECT CAST(SUM(n) AS BIGINT) FROM finding_count"} {
			var n int
			must(t, w.raw().QueryRow(count).Scan(&n))
			if n != 1 {
				t.Errorf("%s: %d", count, n)
			}
		}
		summary, err := w.p.Findings.Summarize(w.operator(), repo)
		must(t, err)
		if summary.Open.Total != 1 {
			t.Errorf("the summary is %+v", summary)
		}
		w.expectCounters(acme.uid)
	})
}

// identify describes the findings with their UIDs and sources.
func (w *world) identify(within core.UID) string {
	w.Helper()
	w.settle()
	page, err := w.p.Findings.List(w.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: within}})
	must(w, err)
	var all []string
	for _, f := range page.Items {
		all = append(all, fmt.Sprint(f.UID, " ", f.VulnerabilityID, " ", f.Sources))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// pickPlace returns where to import an advisory: in a group, or as a feed for all. That of GitHub links others, which a group cannot do
// for what feeds have.
func pickPlace(group core.UID, a *inventory.Advisory) core.UID {
	if strings.HasPrefix(a.AdvisoryID, "GHSA-") || rand.IntN(2) == 0 {
		return ""
	}
	return group
}

func TestAVulnerabilityOfSeveralRecordsIsOneFinding(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		w.sbom(repo, digest(1), "left-pad@1.0.0", "express@1.0.0")
		w.point(repo, "latest", digest(1))
		records := []*inventory.Advisory{
			withAliases(fixedIn("GO-1", "left-pad", "1.3.0"), "GHSA-1", "CVE-1"), withAliases(fixedIn("GHSA-1", "left-pad", "1.2.0"), "CVE-1"),
			withAliases(fixedIn("CVE-1", "left-pad", "1.3.0")), withAliases(fixedIn("PYSEC-1", "left-pad", "1.3.0"), "GHSA-1"),
			withAliases(fixedIn("GHSA-1", "express", "2.0.0"), "CVE-1"), withAliases(fixedIn("CVE-2", "left-pad", "1.3.0"), "GHSA-2"),
		}
		for _, i := range rand.Perm(len(records)) {
			w.advise(pickPlace(acme.uid, records[i]), records[i])
			w.settle()
		}
		w.advise("", records[0]) // in two places
		w.expect("each vulnerability once", w.findings(repo, nil), "CVE-1 express@1.0.0 OPEN fixed in 2.0.0; CVE-1 left-pad@1.0.0 OPEN fixed in 1.3.0; CVE-2 left-pad@1.0.0 OPEN fixed in 1.3.0")
		w.expectCounters(acme.uid)
	})
}

func TestAFindingStaysTheSameWhenRecordsCome(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		w.sbom(repo, digest(1), "left-pad@1.0.0")
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, withAliases(fixedIn("GO-1", "left-pad", "1.3.0"), "GHSA-1"))
		first, _, _ := strings.Cut(w.identify(repo), " ")
		_, err := w.p.Findings.Update(w.operator(), inventory.FindingUpdate{UIDs: []core.UID{core.UID(first)}, Change: fieldmask.TypedInput(&inventory.Finding{State: inventory.FindingInTriage}, "state")})
		must(t, err)
		w.advise("", withAliases(fixedIn("CVE-1", "left-pad", "1.3.0"), "GHSA-1"))
		w.expect("a record of a feed", w.identify(repo), first+" CVE-1 [CVE-1 GO-1]")
		w.expect("what was decided", w.findings(repo, nil), "CVE-1 left-pad@1.0.0 IN_TRIAGE fixed in 1.3.0")
		w.advise("", withAliases(fixedIn("CVE-9", "left-pad", "1.3.0"), "CVE-8"))
		w.settle()
		later := withAliases(fixedIn("PYSEC-1", "left-pad", "1.3.0"), "CVE-8", "GHSA-1")
		w.advise("", later)
		w.expect("a record that joins two", w.identify(repo), first+" CVE-1 [CVE-1 CVE-9 GO-1 PYSEC-1]")
		w.expectCounters(acme.uid)
	})
}

// An advisory of one group must not change what others take for the same vulnerability.
func TestNoAdvisoryOfAGroupJoinsThoseOfOthers(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		repos := []core.UID{w.repo(w.group(acme.uid)), w.repo(other.uid)}
		w.advise("", withAliases(fixedIn("CVE-1", "left-pad", "1.3.0")), withAliases(fixedIn("CVE-2", "left-pad", "1.3.0")))
		for _, repo := range repos {
			w.sbom(repo, digest(1), "left-pad@1.0.0")
			w.point(repo, "latest", digest(1))
		}
		w.advise(repos[0].Parent(), withAliases(fixedIn("X-1", "left-pad", "1.3.0"), "CVE-1", "CVE-2"))
		two := "CVE-1 left-pad@1.0.0 OPEN fixed in 1.3.0; CVE-2 left-pad@1.0.0 OPEN fixed in 1.3.0"
		for _, repo := range repos {
			w.expect("findings", w.findings(repo, nil), two)
		}
		w.expectCounters(acme.uid)
	})
}

// describeOnce describes the findings of a repo by all that follows from advisories.
func (w *world) describeOnce(repo core.UID) string {
	w.Helper()
	w.settle()
	page, err := w.p.Findings.List(w.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: repo}})
	must(w, err)
	lists, err := w.p.Findings.ListAdvisories(w.operator(), page.Items)
	must(w, err)
	var all []string
	for i, f := range page.Items {
		named := map[string]bool{}
		for _, a := range lists[i] {
			named[a.AdvisoryID] = true
		}
		for _, id := range slices.Concat(f.Sources, f.DisputedBy) {
			if !named[id] {
				w.Errorf("the advisories of %s lack %s", f.VulnerabilityID, id)
			}
		}
		if len(lists[i]) == 0 || lists[i][0].UID != f.Advisory && !slices.Contains(f.DisputedBy, lists[i][0].AdvisoryID) {
			w.Errorf("the first advisory of %s is not the one that rates it", f.VulnerabilityID)
		}
		all = append(all, fmt.Sprint(f.VulnerabilityID, " ", f.Package, " ", strings.TrimPrefix(string(f.Severity.Rating), "SEVERITY_RATING_"), " ", f.Sources, " ", f.DisputedBy, " ", f.FixedVersions))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// inDebian returns an advisory of Debian about openssl, which comes from other vulnerabilities.
func inDebian(id, fixed string, upstream ...string) *inventory.Advisory {
	a := fixedInRelease(id, "Debian:12", "openssl", fixed)
	a.Upstream = upstream
	return a
}

// What is found must not depend on which record came first, nor on whether the image was there before.
func TestTheOrderOfRecordsDoesNotMatter(t *testing.T) {
	unrated := func(a *inventory.Advisory) *inventory.Advisory { a.Severities = nil; return a }
	low := func(a *inventory.Advisory) *inventory.Advisory { a.Severities[0].Score = "2.0"; return a }
	records := func() []*inventory.Advisory {
		return []*inventory.Advisory{
			withAliases(unrated(fixedIn("GO-1", "left-pad", "0.9.0")), "GHSA-1"), withAliases(low(fixedIn("GHSA-1", "left-pad", "1.3.0")), "CVE-1"),
			fixedIn("CVE-1", "left-pad", "2.0.0"), withAliases(unrated(fixedIn("GO-2", "left-pad", "1.3.0")), "GHSA-2"),
			inDebian("DEBIAN-CVE-3", "3.0.11-1", "CVE-3"), inDebian("DEBIAN-CVE-4", "3.0.10-1", "CVE-4", "UBUNTU-CVE-4"),
			inDebian("DSA-1", "3.0.11-1", "CVE-3", "CVE-4"), inDebian("DSA-2", "3.0.12-1", "CVE-4", "CVE-5"), inDebian("DSA-3", "3.0.11-1", "CVE-3"),
		}
	}
	const want = "CVE-1 left-pad LOW [CVE-1 GHSA-1] [GO-1] [2.0.0]; CVE-3 openssl CRITICAL [DEBIAN-CVE-3 DSA-3] [] [3.0.11-1]; " +
		"CVE-4 openssl CRITICAL [DEBIAN-CVE-4] [] [3.0.10-1]; DSA-2 openssl CRITICAL [DSA-2] [] [3.0.12-1]; GHSA-2 left-pad UNKNOWN [GO-2] [] [1.3.0]"
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		all := records()
		show := rand.IntN(len(all))
		for n, i := range rand.Perm(len(all)) {
			if n == show {
				_, err := w.p.Registry.ImportSBOMs(w.operator(), []*registry.ImportedSBOM{{Repo: repo, Digest: digest(1), Format: "CycloneDX 1.5", Packages: []inventory.InstalledPackage{
					{Name: "left-pad", Version: "1.0.0", Ecosystem: "npm"}, libssl("openssl"),
				}}})
				must(t, err)
				w.point(repo, "latest", digest(1))
			}
			w.advise(pickPlace(acme.uid, all[i]), all[i])
			if rand.IntN(2) == 0 {
				w.settle()
			}
		}
		w.expect("findings", w.describeOnce(repo), want)
		w.expectCounters(acme.uid)
	})
}

// An advisory of a distribution about several vulnerabilities is no vulnerability beside them.
func TestABundleCountsUntilItsVulnerabilitiesHaveRecords(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		_, err := w.p.Registry.ImportSBOMs(w.operator(), []*registry.ImportedSBOM{{Repo: repo, Digest: digest(1), Format: "CycloneDX 1.5", Packages: []inventory.InstalledPackage{libssl("openssl")}}})
		must(t, err)
		w.point(repo, "latest", digest(1))
		w.advise("", inDebian("DSA-1", "3.0.11-1", "CVE-3", "CVE-4"))
		w.expect("a bundle", w.describeOnce(repo), "DSA-1 openssl CRITICAL [DSA-1] [] [3.0.11-1]")
		w.advise("", inDebian("DEBIAN-CVE-3", "3.0.11-1", "CVE-3"))
		w.expect("one of two", w.describeOnce(repo), "CVE-3 openssl CRITICAL [DEBIAN-CVE-3] [] [3.0.11-1]; DSA-1 openssl CRITICAL [DSA-1] [] [3.0.11-1]")
		w.advise(acme.uid, inDebian("DEBIAN-CVE-4", "3.0.11-1", "CVE-4"))
		w.expect("both", w.describeOnce(repo), "CVE-3 openssl CRITICAL [DEBIAN-CVE-3] [] [3.0.11-1]; CVE-4 openssl CRITICAL [DEBIAN-CVE-4] [] [3.0.11-1]")
		w.expect("nothing was fixed", w.findings(repo, &inventory.FindingFilter{States: []inventory.FindingState{inventory.FindingResolved}}), "")
		gone := inDebian("DEBIAN-CVE-4", "3.0.11-1", "CVE-4")
		gone.DeleteTime = onDay(1)
		w.advise(acme.uid, gone)
		w.expect("one is withdrawn", w.describeOnce(repo), "CVE-3 openssl CRITICAL [DEBIAN-CVE-3] [] [3.0.11-1]; DSA-1 openssl CRITICAL [DSA-1] [] [3.0.11-1]")
		w.expectCounters(acme.uid)
	})
}

// A record can say that two ids are the same, and later that they are not.
func TestVulnerabilitiesThatAreNotTheSameAfterAll(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.imageWith(acme.uid, "a")
		w.publish("", newRecord("CVE-1", 1, "a"))
		w.settle()
		first, _, _ := strings.Cut(w.identify(repo), " ")
		for range 3 { // the findings that are joined have the UIDs of either
			w.advise("", newRecord("CVE-2", 2, "a").Advisories[0])
			w.expectOnce(repo, 2)
			w.advise("", withAliases(fixedIn("GO-1", "a", "2.0.0"), "CVE-1", "CVE-2"))
			w.expectOnce(repo, 1)
			w.expect("joined", w.identify(repo), first+" CVE-1 [CVE-1 CVE-2 GO-1]")
			w.advise("", withAliases(fixedIn("GO-1", "a", "2.0.0"), "CVE-2"))
			w.expectOnce(repo, 2)
			w.advise("", withAliases(fixedIn("GO-1", "a", "2.0.0"), "CVE-1"))
			w.expectOnce(repo, 2)
		}
		w.expectCounters(acme.uid)
	})
}

// expectOnce expects a number of findings.
func (w *world) expectOnce(repo core.UID, n int) {
	w.Helper()
	if all := w.describeOnce(repo); strings.Count(all, ";") != n-1 {
		w.Errorf("expected %d findings, got %s", n, all)
	}
}

// The advisory that represents the others can be withdrawn: the finding stays, and shows one that is not.
func TestAFindingOutlivesTheFirstOfItsAdvisories(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.imageWith(acme.uid, "a")
		w.publish("", newRecord("CVE-1", 1, "a"))
		w.settle()
		first, _, _ := strings.Cut(w.identify(repo), " ")
		w.advise("", withAliases(fixedIn("GO-1", "a", "2.0.0"), "CVE-1"))
		w.publish("", withdrawn(newRecord("CVE-1", 2, "a")))
		w.expect("the other one", w.identify(repo), first+" CVE-1 [GO-1]")
		w.expect("with its advisory", w.describeOnce(repo), "CVE-1 a CRITICAL [GO-1] [] [2.0.0]")
		w.expect("by either name", w.listAffected(acme.uid, "GO-1")+w.listAffected(acme.uid, "CVE-1"), "a a ")
		w.publish("", newRecord("CVE-1", 3, "a"))
		w.expect("it is back", w.identify(repo), first+" CVE-1 [CVE-1 GO-1]")
		w.expectCounters(acme.uid)
	})
}

// Of a record that is in several places, the form that changed last counts.
func TestTheLatestFormOfARecordCounts(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.imageWith(acme.uid, "a")
		w.publish("", newRecord("CVE-1", 1, "a"))
		narrowed := newRecord("CVE-1", 2, "a")
		narrowed.Advisories[0].Affected.Ranges[0].Events[1].Fixed = "0.9.0"
		w.publish(acme.uid, narrowed)
		w.expect("it is not affected", w.describeOnce(repo), "")
		widened := newRecord("CVE-1", 3, "a")
		widened.Advisories[0].Affected.Ranges[0].Events[1].Fixed = "3.0.0"
		w.publish("", widened)
		w.expect("it is, after all", w.describeOnce(repo), "CVE-1 a CRITICAL [CVE-1] [] [3.0.0]")
		w.expectCounters(acme.uid)
	})
}
