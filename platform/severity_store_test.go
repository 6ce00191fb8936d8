package platform_test

import (
	"fmt"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

const (
	criticalVector = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"
	mediumVector   = "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:N/I:N/A:H"
	lowVector      = "CVSS:3.1/AV:P/AC:H/PR:H/UI:R/S:U/C:L/I:N/A:N"
)

func cvss3(vector string) []inventory.Severity {
	return []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: vector}}
}

// rating returns the rating of an advisory, and the counters of ratings.
func (w *world) rating(o org, id string) string {
	w.Helper()
	type request = core.ListRequest[*inventory.AdvisoryFilter]
	page, err := w.p.Advisories.List(o.owner, request{Filter: &inventory.AdvisoryFilter{AdvisoryIDs: []string{id}}})
	must(w, err)
	if len(page.Items) != 1 {
		return fmt.Sprint(len(page.Items), " found")
	}
	s := page.Items[0].Severity
	rated, err := w.p.Advisories.List(o.owner, request{Filter: &inventory.AdvisoryFilter{Severities: []core.SeverityRating{s.Rating}}})
	must(w, err)
	wrong, err := w.store.Recount(w.Context())
	must(w, err)
	if int(rated.TotalCount) != len(rated.Items) || wrong != 0 {
		w.Errorf("%d advisories are %s, and %d are counted; %d counters are wrong", len(rated.Items), s.Rating, rated.TotalCount, wrong)
	}
	return s.SortKey() + " " + string(s.Source)
}

func TestAnAdvisoryInheritsFromItsVulnerability(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		vulnerability := func(id string, severities []inventory.Severity, aliases ...string) {
			t.Helper()
			_, err := w.p.Feeds.ImportVulnerabilities(w.operator(), []*inventory.Vulnerability{{ID: id, Severities: severities, Aliases: aliases}})
			must(t, err)
		}
		advise := func(o org, a inventory.Advisory) {
			t.Helper()
			a.ArtifactName = "lib"
			_, err := w.p.Feeds.ImportAdvisories(w.operator(), o.uid, []*inventory.Advisory{&a})
			must(t, err)
		}
		expect := func(o org, id, want string) {
			t.Helper()
			if got := w.rating(o, id); got != want {
				t.Errorf("%s is rated %s, want %s", id, got, want)
			}
		}
		const inherited, own = " SEVERITY_SOURCE_VULNERABILITY", " SEVERITY_SOURCE_ADVISORY"
		advise(acme, inventory.Advisory{AdvisoryID: "GO-1", Aliases: []string{"CVE-1"}})
		advise(acme, inventory.Advisory{AdvisoryID: "GO-2", Aliases: []string{"CVE-1"}, Severities: cvss3(lowVector)})
		advise(acme, inventory.Advisory{AdvisoryID: "GO-3", Aliases: []string{"CVE-1"}, Severities: cvss3("CVSS:3.1/AV:N")}) // This vector is cut off.
		expect(acme, "GO-1", "0 ")
		expect(acme, "GO-3", "0 ")
		vulnerability("GHSA-1", cvss3(criticalVector), "CVE-1")
		expect(acme, "GO-1", "5098"+inherited)
		expect(acme, "GO-3", "5098"+inherited)
		advise(acme, inventory.Advisory{AdvisoryID: "GO-4", Aliases: []string{"CVE-1"}, Severities: cvss3("CVSS:3.1/AV:N")})
		expect(acme, "GO-4", "5098"+inherited)
		expect(acme, "GO-2", "2016"+own)
		advise(other, inventory.Advisory{AdvisoryID: "GO-1", Aliases: []string{"CVE-1"}})
		expect(other, "GO-1", "5098"+inherited)

		vulnerability("GHSA-1", cvss3(mediumVector), "CVE-1")
		expect(acme, "GO-1", "3065"+inherited)
		expect(other, "GO-1", "3065"+inherited)
		vulnerability("GHSA-1", cvss3(mediumVector)) // It loses the alias.
		expect(acme, "GO-1", "0 ")
		vulnerability("GO-1", []inventory.Severity{{Score: "Moderate"}})
		expect(acme, "GO-1", "3 SEVERITY_SOURCE_FEED")
		advise(acme, inventory.Advisory{AdvisoryID: "GO-1", Severities: cvss3(lowVector)})
		expect(acme, "GO-1", "2016"+own)
		expect(other, "GO-1", "3 SEVERITY_SOURCE_FEED")
	})
}

func TestWithdrawnAdvisoriesAreLeftOut(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		fixed := []inventory.AdvisoryEvent{{Fixed: &inventory.Fixed{}}}
		_, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{
			{AdvisoryID: "GO-1", ArtifactName: "lib", Events: fixed}, {AdvisoryID: "GO-2", ArtifactName: "lib", Events: fixed, DeleteTime: core.At(epoch.Add(-2 * time.Hour))},
		})
		must(t, err)
		for _, x := range []struct {
			f    *inventory.AdvisoryFilter
			want int
		}{
			{&inventory.AdvisoryFilter{}, 1}, {&inventory.AdvisoryFilter{Withdrawn: true}, 2}, {&inventory.AdvisoryFilter{LatestEventType: inventory.EventTypeFixed}, 1},
			{&inventory.AdvisoryFilter{LatestEventType: inventory.EventTypeFixed, Withdrawn: true}, 2}, {&inventory.AdvisoryFilter{ArtifactNames: []string{"lib"}}, 1},
		} {
			page, err := w.p.Advisories.List(acme.owner, core.ListRequest[*inventory.AdvisoryFilter]{Filter: x.f, OrderBy: "advisory_id"})
			must(t, err)
			if len(page.Items) != x.want || int(page.TotalCount) != x.want {
				t.Errorf("%+v: %d of %d, want %d", x.f, len(page.Items), page.TotalCount, x.want)
			}
		}
		documents, err := w.documents(acme.owner, reports.DocumentFilter{ID: "lib"})
		must(t, err)
		if len(documents) != 1 || len(documents[0].Advisories) != 1 {
			t.Errorf("documents hold %+v, want 1 of them", documents)
		}
		restored := &inventory.Advisory{AdvisoryID: "GO-2", ArtifactName: "lib", Events: fixed, UpdateTime: core.At(epoch.Add(time.Hour))}
		_, err = w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{restored})
		must(t, err)
		if got := w.rating(acme, "GO-2"); got != "0 " {
			t.Errorf("it stands again, and is %s, want %q", got, "0 ")
		}
	})
}
