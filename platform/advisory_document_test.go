package platform_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// feed imports advisories into a group.
func (w *world) feed(group core.UID, advisories ...*inventory.Advisory) {
	w.Helper()
	done, err := w.p.Feeds.ImportAdvisories(w.operator(), group, advisories)
	if must(w, err); len(done.Rejected) > 0 {
		w.Fatalf("rejected: %v", done.Rejected)
	}
}

func day(n int) core.Time {
	return core.At(time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC))
}

// fixedOn returns an advisory with a fix on each of some days of January.
func fixedOn(id, artifact string, aliases string, days ...int) *inventory.Advisory {
	a := &inventory.Advisory{AdvisoryID: id, ArtifactName: artifact, Aliases: strings.Fields(aliases)}
	for _, n := range days {
		a.Events = append(a.Events, inventory.AdvisoryEvent{CreateTime: day(n), Fixed: &inventory.Fixed{FixedVersion: fmt.Sprint(n)}})
	}
	return a
}

// documents lists the first page of documents.
func (w *world) documents(ctx context.Context, f reports.DocumentFilter) ([]*reports.AdvisoryDocument, error) {
	page, err := w.p.AdvisoryDocuments.List(ctx, core.ListRequest[*reports.DocumentFilter]{Filter: &f})
	return page.Items, err
}

// describeDocuments returns the contents of documents as artifact: ids; artifact: ids.
func describeDocuments(documents []*reports.AdvisoryDocument) string {
	var all []string
	for _, d := range documents {
		text := d.ID + ":"
		for _, a := range d.Advisories {
			text += " " + a.ID
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestDocumentsAreTheAdvisoriesOfAnArtifactByIDAndCVE(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		gone := fixedOn("GO-5", "stdlib", "CVE-1")
		gone.DeleteTime = day(9)
		w.feed(acme.uid, fixedOn("GO-2", "stdlib", "CVE-2 CVE-1", 1), fixedOn("GO-1", "stdlib", "CVE-1", 1), fixedOn("GO-1", "net", "CVE-1"), gone)
		w.feed(w.group(acme.uid), fixedOn("GO-1", "stdlib", "CVE-1"))
		w.feed("", fixedOn("GO-3", "stdlib", ""), fixedOn("CVE-2", "Zlib", ""))
		for what, x := range map[string]struct {
			req  reports.DocumentFilter
			want string
		}{
			"all":          {reports.DocumentFilter{}, "Zlib: CVE-2; net: GO-1; stdlib: GO-1 GO-2 GO-3"},
			"one":          {reports.DocumentFilter{ID: "stdlib"}, "stdlib: GO-1 GO-2 GO-3"},
			"none":         {reports.DocumentFilter{ID: "STDLIB"}, ""},
			"an alias":     {reports.DocumentFilter{CVEs: []string{"CVE-1"}}, "net: GO-1; stdlib: GO-1 GO-2"},
			"id or alias":  {reports.DocumentFilter{CVEs: []string{"CVE-2", "none"}}, "Zlib: CVE-2; stdlib: GO-2"},
			"an id":        {reports.DocumentFilter{CVEs: []string{"GO-1"}}, "net: GO-1; stdlib: GO-1"},
			"both":         {reports.DocumentFilter{ID: "stdlib", CVEs: []string{"CVE-2"}}, "stdlib: GO-2"},
			"both, apart":  {reports.DocumentFilter{ID: "net", CVEs: []string{"CVE-2"}}, ""},
			"no CVE":       {reports.DocumentFilter{CVEs: []string{}}, ""},
			"withdrawn":    {reports.DocumentFilter{CVEs: []string{"GO-5"}}, ""},
			"part of a id": {reports.DocumentFilter{CVEs: []string{"CVE-"}}, ""},
		} {
			got, err := w.documents(acme.owner, x.req)
			if must(t, err); describeDocuments(got) != x.want {
				t.Errorf("%s: %q, want %q", what, describeDocuments(got), x.want)
			}
		}
		_, err := w.documents(acme.owner, reports.DocumentFilter{ID: "\x00", CVEs: make([]string, 1001)})
		if got := violationFields(err); got != "id cves" {
			t.Errorf("got %v, want 'id cves'", got)
		}
		found, errs := w.p.AdvisoryDocuments.GetMany(acme.owner, []string{"stdlib", "none", "net", "\xff", "stdlib"})
		if describeDocuments([]*reports.AdvisoryDocument{found[0], found[2], found[4]}) != "stdlib:; net:; stdlib:" {
			t.Errorf("%v", errs)
		}
		expectRefused(t, "a missing one", errs[1], core.CodeNotFound)
		expectRefused(t, "no text", errs[3], core.CodeNotFound)
	})
}

// An advisory of several groups appears once: in its latest form, and as long as one
// group has not withdrawn it.
func TestADocumentHoldsAnAdvisoryOfManyGroupsOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		newAdvisory := func(note string, changed, withdrawn int) *inventory.Advisory {
			a := &inventory.Advisory{AdvisoryID: "GO-1", ArtifactName: "stdlib", UpdateTime: day(changed), Events: []inventory.AdvisoryEvent{{FixNotPlanned: &inventory.Note{Note: note}}}}
			if withdrawn > 0 {
				a.DeleteTime = day(withdrawn)
			}
			return a
		}
		w.feed(acme.uid, newAdvisory("old", 1, 0))
		w.feed(w.group(acme.uid), newAdvisory("new", 3, 0))
		w.feed("", newAdvisory("withdrawn", 4, 4))
		w.feed(other.uid, newAdvisory("of others", 5, 0))
		documents, err := w.documents(acme.owner, reports.DocumentFilter{})
		if must(t, err); describeDocuments(documents) != "stdlib: GO-1" || documents[0].Advisories[0].Events[0].FixNotPlanned.Note != "new" {
			t.Errorf("%s, want stdlib: GO-1", describeDocuments(documents))
		}
	})
}

func TestADocumentShowsEventsInItsOwnWords(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		events := everyVariant()
		for i := range events[:len(events)-2] {
			events[i].CreateTime = day(20 - i)
		}
		w.feed(acme.uid, &inventory.Advisory{AdvisoryID: "DSA-1", ArtifactName: "openssl", ArtifactType: "Debian:12", CreateTime: day(1), Aliases: []string{"CVE-1"}, Events: events})
		documents, err := w.documents(acme.owner, reports.DocumentFilter{ID: "openssl"})
		must(t, err)
		got, _ := json.MarshalIndent(documents[0], "", " ")
		at := func(n int) string { return `"timestamp":"` + day(n).String() + `",` }
		want := `{"id":"openssl","advisories":[{"id":"DSA-1","events":[` + strings.Join([]string{
			`{` + at(1) + `"truePositiveDetermination":{"note":"t"}}`, // A determination without a time is as old as the advisory.
			`{` + at(13) + `"pendingUpstreamFix":{"note":"p"}}`,
			`{` + at(14) + `"fixNotPlanned":{}}`,
			`{` + at(15) + `"analysisNotPlanned":{"note":"a"}}`,
			`{` + at(16) + `"falsePositiveDetermination":{"type":"TYPE_INLINE_MITIGATIONS_EXIST","note":"n"}}`,
			`{` + at(17) + `"fixed":{"fixedVersion":"1","scannerVersion":"s","grypeDbBuilt":"b","grypeDbChecksum":"c"}}`,
			`{` + at(18) + `"detection":{"nvdapi":{"cpeSearched":"x","cpeFound":"y"}}}`,
			`{` + at(19) + `"detection":{"manual":{}}}`,
			`{` + at(20) + `"detection":{"scanv1":{"scanner":"s","subpackageName":"sp","componentId":"ci","componentName":"c","componentVersion":"cv",` +
				`"componentType":"ct","componentLocation":"cl","artifactVersion":"av","scannerVersion":"sv","grypeDbBuilt":"gb","grypeDbChecksum":"gc"}}}`,
		}, ",") + `],"aliases":["CVE-1"],"packageNamespace":"Debian:12"}]}`
		if text := compact(string(got)); text != want {
			t.Errorf("got\n%s\nwant\n%s", text, want)
		}
		for _, e := range documents[0].Advisories[0].Events {
			if e.Type == "" || e.Type == inventory.EventTypePatched {
				t.Errorf("%+v is of type %q", e, e.Type)
			}
		}
	})
}

func compact(indented string) string {
	var b strings.Builder
	for line := range strings.Lines(indented) {
		b.WriteString(strings.TrimSpace(line))
	}
	return strings.ReplaceAll(b.String(), `": `, `":`)
}

// Advisories of one organization are not shown to another. Feeds that are imported without a
// group are for all.
func TestDocumentsShowWhatTheCallerMaySeeAndFeedsForAll(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team := w.group(acme.uid)
		w.feed(acme.uid, fixedOn("ACME-1", "payments", "CVE-1", 1), fixedOn("GO-1", "stdlib", "CVE-1", 1))
		w.feed(team, fixedOn("ACME-2", "payments", "CVE-1", 1))
		w.feed(other.uid, fixedOn("OTHER-1", "payments", "CVE-1", 1))
		w.feed("", fixedOn("GO-1", "stdlib", "CVE-1", 1), fixedOn("GO-2", "net", "", 1))
		none, inTeam := w.memberWith(w.role(other.uid), other.uid, other.uid), w.memberWith(w.role(acme.uid, core.CapAdvisoriesList), team, team)
		for what, x := range map[string]struct {
			ctx  context.Context
			want string
		}{
			"the owner of acme":    {acme.owner, "net: GO-2; payments: ACME-1 ACME-2; stdlib: GO-1"},
			"the owner of other":   {other.owner, "net: GO-2; payments: OTHER-1; stdlib: GO-1"},
			"a member of the team": {inTeam, "net: GO-2; payments: ACME-2; stdlib: GO-1"},
			"without a capability": {none, "net: GO-2; stdlib: GO-1"},
		} {
			got, err := w.documents(x.ctx, reports.DocumentFilter{})
			if must(t, err); describeDocuments(got) != x.want {
				t.Errorf("%s sees %q, want %q", what, describeDocuments(got), x.want)
			}
			page, err := w.p.AdvisoryDocuments.List(x.ctx, core.ListRequest[*reports.DocumentFilter]{Filter: &reports.DocumentFilter{CVEs: []string{"CVE-1"}}})
			if want := strings.TrimPrefix(x.want, "net: GO-2; "); err != nil || describeDocuments(page.Items) != want || int(page.TotalCount) != len(page.Items) {
				t.Errorf("by CVE, %s sees %d, %q, want %q (%v)", what, page.TotalCount, describeDocuments(page.Items), want, err)
			}
			documents, errs := w.p.AdvisoryDocuments.GetMany(x.ctx, []string{"payments"})
			if what == "without a capability" {
				expectRefused(t, what, errs[0], core.CodeNotFound)
				documents[0] = &reports.AdvisoryDocument{ID: "payments"}
			}
			pages, errs := w.p.AdvisoryDocuments.ListAdvisories(x.ctx, core.ListRequest[*inventory.AdvisoryFilter]{}, documents)
			must(t, errs[0])
			var ids []string
			for _, a := range pages[0].Items {
				ids = append(ids, a.AdvisoryID)
			}
			if want := strings.Join(ids, " "); want != "" && !strings.Contains(x.want, "payments: "+want+";") || int(pages[0].TotalCount) != len(ids) || what != "without a capability" && want == "" {
				t.Errorf("%s sees %v of payments, want those of %q", what, ids, x.want)
			}
		}
		if _, err := w.p.Groups.Get(acme.owner, inventory.FeedGroup); err == nil {
			t.Error("the group of feeds can be read")
		}
		page, err := w.p.Advisories.List(acme.owner, core.ListRequest[*inventory.AdvisoryFilter]{})
		if must(t, err); page.TotalCount != 3 {
			t.Errorf("%d advisories, want the 3 of acme", page.TotalCount)
		}
	})
}

// Reports are made of the same advisories as documents.
func TestReportsDoNotTellAdvisoriesOfOthers(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		w.feed(acme.uid, fixedOn("ACME-1", "payments", "", 5))
		w.feed("", fixedOn("GO-1", "stdlib", "", 5))
		repo, err := w.p.Repos.Create(other.owner, other.uid, body[*inventory.Repo](`{"name": "shop"}`))
		must(t, err)
		_, err = w.p.Tags.Create(other.owner, repo.UID, body[*inventory.Tag](`{"name": "latest", "digest": %q}`, digest(1)))
		must(t, err)
		_, err = w.p.Registry.ImportImages(w.operator(), []*inventory.Image{{Repo: repo.UID, Digest: digest(1), Packages: []string{"payments", "stdlib"}}})
		must(t, err)
		reports, err := w.p.ResolvedVulnerabilities.ListAll(other.owner, reports.ResolvedVulnerabilityFilter{
			ImageRefs: []reports.ImageRef{{Repo: "shop"}}, StartTime: day(1), EndTime: day(30),
		})
		if must(t, err); len(reports) != 1 || len(reports[0].ResolvedVulns) != 1 || reports[0].ResolvedVulns[0].ID != "GO-1" {
			t.Errorf("got %+v, want only GO-1", reports)
		}
	})
}

// manyAdvisories returns n advisories about an artifact.
func manyAdvisories(n int, artifact string) []*inventory.Advisory {
	all := make([]*inventory.Advisory, n)
	for i := range all {
		all[i] = fixedOn(fmt.Sprintf("GO-%05d", i), artifact, "CVE-1")
	}
	return all
}

// A page ends early rather than hold many advisories, in both directions.
func TestAPageOfDocumentsEndsEarly(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.feed(acme.uid, manyAdvisories(600, "a")...)
		w.feed("", manyAdvisories(600, "b")...)
		w.feed(acme.uid, fixedOn("GO-1", "c", ""), fixedOn("GO-1", "d", ""))
		for _, x := range []struct {
			req  core.ListRequest[*reports.DocumentFilter]
			want string
		}{
			{core.ListRequest[*reports.DocumentFilter]{}, "a | b c d"},
			{core.ListRequest[*reports.DocumentFilter]{OrderBy: "id desc"}, "d c b | a"},
			{core.ListRequest[*reports.DocumentFilter]{Backward: true}, "b c d | a"},
			{core.ListRequest[*reports.DocumentFilter]{PageSize: 2}, "a | b c | d"},
			{core.ListRequest[*reports.DocumentFilter]{Skip: 1, PageSize: 2}, "b c | d"},
			{core.ListRequest[*reports.DocumentFilter]{PageSize: 3, Without: core.DocumentAdvisories}, "a b c | d"},
		} {
			var pages []string
			for req := x.req; ; req.Skip = 0 {
				page, err := w.p.AdvisoryDocuments.List(acme.owner, req)
				if must(t, err); page.TotalCount != 4 {
					t.Errorf("the total is %d, want 4", page.TotalCount)
				}
				var ids []string
				for _, d := range page.Items {
					ids = append(ids, d.ID)
				}
				pages = append(pages, strings.Join(ids, " "))
				if req.PageToken = page.NextPageToken(); req.PageToken == "" {
					break
				}
			}
			if got := strings.Join(pages, " | "); got != x.want {
				t.Errorf("%+v: %s, want %s", x.req, got, x.want)
			}
		}
	})
}

func TestADocumentOfTooManyAdvisoriesIsRejected(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		all := manyAdvisories(10_001, "stdlib")
		for batch := range slices.Chunk(all[:10_000], core.ImportBatch) {
			w.feed(acme.uid, batch...)
		}
		_, err := w.raw().ExecContext(t.Context(), "ANALYZE advisory") // A server does so by itself soon after an import.
		must(t, err)
		w.feed("", fixedOn("GO-00001", "stdlib", "CVE-1")) // This advisory exists already.
		got, err := w.documents(acme.owner, reports.DocumentFilter{})
		if must(t, err); len(got) != 1 || len(got[0].Advisories) != 10_000 {
			t.Errorf("%d documents, want one with 10,000 advisories", len(got))
		}
		w.feed("", all[10_000])
		for want, f := range map[string]reports.DocumentFilter{
			"cves: is required: the document stdlib holds more than 10000": {ID: "stdlib"},
			"cves: must be fewer: more than 10000":                         {CVEs: []string{"CVE-1"}},
		} {
			if _, err := w.documents(acme.owner, f); err == nil || !strings.HasPrefix(err.Error(), "Invalid argument: "+want) {
				t.Errorf("%+v: %v, want %s", f, err, want)
			}
		}
		if got, err := w.documents(acme.owner, reports.DocumentFilter{CVEs: []string{"GO-00007", "GO-00009"}}); describeDocuments(got) != "stdlib: GO-00007 GO-00009" {
			t.Errorf("%s (%v), want two advisories", describeDocuments(got), err)
		}
	})
}

// The latest form of an advisory decides by which names it is found.
func TestALostAliasFindsNoDocument(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.feed(acme.uid, fixedOn("GO-1", "stdlib", "CVE-1"), fixedOn("GO-2", "stdlib", "CVE-1"))
		lost := fixedOn("GO-1", "stdlib", "")
		lost.UpdateTime = core.At(epoch.Add(1000 * time.Hour))
		w.feed("", lost)
		if got, err := w.documents(acme.owner, reports.DocumentFilter{CVEs: []string{"CVE-1"}}); describeDocuments(got) != "stdlib: GO-2" {
			t.Errorf("%s (%v), want stdlib: GO-2", describeDocuments(got), err)
		}
	})
}

func TestDocumentsRequireAnIdentityAndNothingElse(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.feed(acme.uid, fixedOn("GO-1", "stdlib", ""))
		for what, ctx := range map[string]context.Context{"nobody": t.Context(), "a stranger": w.as("a stranger")} {
			code := map[string]core.Code{"nobody": core.CodeUnauthenticated, "a stranger": core.CodePermissionDenied}[what]
			_, err := w.documents(ctx, reports.DocumentFilter{})
			expectRefused(t, what, err, code)
			_, errs := w.p.AdvisoryDocuments.GetMany(ctx, []string{"stdlib", "none"})
			expectRefused(t, what, errs[0], code)
			expectRefused(t, what, errs[1], code)
		}
	})
}
