package platform_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
)

// named returns an advisory with other names.
func named(a *inventory.Advisory, aliases ...string) *inventory.Advisory {
	a.Aliases = aliases
	return a
}

// identified describes the findings with their UIDs and sources.
func (w *world) identified(within core.UID) string {
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

func TestAVulnerabilityOfSeveralRecordsIsOneFinding(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		w.sbom(repo, digest(1), "left-pad@1.0.0", "express@1.0.0")
		w.point(repo, "latest", digest(1))
		records := []*inventory.Advisory{
			named(fixedIn("GO-1", "left-pad", "1.3.0"), "GHSA-1", "CVE-1"), named(fixedIn("GHSA-1", "left-pad", "1.2.0"), "CVE-1"),
			named(fixedIn("CVE-1", "left-pad", "1.3.0")), named(fixedIn("PYSEC-1", "left-pad", "1.3.0"), "GHSA-1"),
			named(fixedIn("GHSA-1", "express", "2.0.0"), "CVE-1"), named(fixedIn("CVE-2", "left-pad", "1.3.0"), "GHSA-2"),
		}
		for _, i := range rand.Perm(len(records)) {
			group := acme.uid
			if rand.IntN(2) == 0 {
				group = ""
			}
			w.advise(group, records[i])
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
		w.advise(acme.uid, named(fixedIn("GO-1", "left-pad", "1.3.0"), "GHSA-1"))
		first, _, _ := strings.Cut(w.identified(repo), " ")
		_, err := w.p.Findings.Update(w.operator(), inventory.FindingUpdate{UIDs: []core.UID{core.UID(first)}, Change: fieldmask.TypedInput(&inventory.Finding{State: inventory.FindingInTriage}, "state")})
		must(t, err)
		w.advise("", named(fixedIn("CVE-1", "left-pad", "1.3.0"), "GHSA-1"))
		w.expect("a record of a feed", w.identified(repo), first+" CVE-1 [CVE-1 GO-1]")
		w.expect("what was decided", w.findings(repo, nil), "CVE-1 left-pad@1.0.0 IN_TRIAGE fixed in 1.3.0")
		w.advise("", named(fixedIn("CVE-9", "left-pad", "1.3.0"), "CVE-8"))
		w.settle()
		later := named(fixedIn("PYSEC-1", "left-pad", "1.3.0"), "CVE-8", "GHSA-1")
		w.advise("", later)
		w.expect("a record that joins two", w.identified(repo), first+" CVE-1 [CVE-1 CVE-9 GO-1 PYSEC-1]")
		w.expectCounters(acme.uid)
	})
}

// An advisory of one group must not change what others take for the same vulnerability.
func TestNoAdvisoryOfAGroupJoinsThoseOfOthers(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		repos := []core.UID{w.repo(w.group(acme.uid)), w.repo(other.uid)}
		w.advise("", named(fixedIn("CVE-1", "left-pad", "1.3.0")), named(fixedIn("CVE-2", "left-pad", "1.3.0")))
		for _, repo := range repos {
			w.sbom(repo, digest(1), "left-pad@1.0.0")
			w.point(repo, "latest", digest(1))
		}
		w.advise(repos[0].Parent(), named(fixedIn("X-1", "left-pad", "1.3.0"), "CVE-1", "CVE-2"))
		two := "CVE-1 left-pad@1.0.0 OPEN fixed in 1.3.0; CVE-2 left-pad@1.0.0 OPEN fixed in 1.3.0"
		for _, repo := range repos {
			w.expect("findings", w.findings(repo, nil), two)
		}
		w.expectCounters(acme.uid)
	})
}
