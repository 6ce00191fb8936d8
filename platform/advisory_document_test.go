package platform_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"atrium/platform"
)

// feed imports advisories into a group.
func (w *world) feed(group platform.UID, advisories ...*platform.Advisory) {
	w.Helper()
	done, err := w.p.Advisories.Import(w.operator(), group, advisories)
	if must(w, err); len(done.Rejected) > 0 {
		w.Fatalf("rejected: %v", done.Rejected)
	}
}

func day(n int) platform.Time {
	return platform.At(time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC))
}

// fixedOn returns an advisory with a fix on each of some days of January.
func fixedOn(id, artifact string, aliases string, days ...int) *platform.Advisory {
	a := &platform.Advisory{AdvisoryID: id, ArtifactName: artifact, Aliases: strings.Fields(aliases)}
	for _, n := range days {
		a.Events = append(a.Events, platform.AdvisoryEvent{CreateTime: day(n), Fixed: &platform.Fixed{FixedVersion: fmt.Sprint(n)}})
	}
	return a
}

// describeDocuments returns the contents of documents as artifact: ids; artifact: ids.
func describeDocuments(documents []*platform.AdvisoryDocument) string {
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
		acme, other := w.found("acme"), w.found("other")
		gone := fixedOn("GO-5", "stdlib", "CVE-1")
		gone.DeleteTime = day(9)
		w.feed(acme.uid, fixedOn("GO-2", "stdlib", "CVE-2 CVE-1", 1), fixedOn("GO-1", "stdlib", "CVE-1", 1), fixedOn("GO-1", "net", "CVE-1"), gone)
		w.feed(w.group(acme.uid), fixedOn("GO-1", "stdlib", "CVE-1"))
		w.feed(other.uid, fixedOn("GO-3", "stdlib", ""), fixedOn("CVE-2", "Zlib", ""))
		for what, x := range map[string]struct {
			req  platform.DocumentRequest
			want string
		}{
			"all":          {platform.DocumentRequest{}, "Zlib: CVE-2; net: GO-1; stdlib: GO-1 GO-2 GO-3"},
			"one":          {platform.DocumentRequest{ID: "stdlib"}, "stdlib: GO-1 GO-2 GO-3"},
			"none":         {platform.DocumentRequest{ID: "STDLIB"}, ""},
			"an alias":     {platform.DocumentRequest{CVEs: []string{"CVE-1"}}, "net: GO-1; stdlib: GO-1 GO-2"},
			"id or alias":  {platform.DocumentRequest{CVEs: []string{"CVE-2", "none"}}, "Zlib: CVE-2; stdlib: GO-2"},
			"an id":        {platform.DocumentRequest{CVEs: []string{"GO-1"}}, "net: GO-1; stdlib: GO-1"},
			"both":         {platform.DocumentRequest{ID: "stdlib", CVEs: []string{"CVE-2"}}, "stdlib: GO-2"},
			"both, apart":  {platform.DocumentRequest{ID: "net", CVEs: []string{"CVE-2"}}, ""},
			"no CVE":       {platform.DocumentRequest{CVEs: []string{}}, ""},
			"withdrawn":    {platform.DocumentRequest{CVEs: []string{"GO-5"}}, ""},
			"part of a id": {platform.DocumentRequest{CVEs: []string{"CVE-"}}, ""},
		} {
			got, err := w.p.AdvisoryDocuments.List(w.with(w.role(other.uid), other.uid, other.uid), x.req)
			if must(t, err); describeDocuments(got) != x.want || got == nil {
				t.Errorf("%s: %q, want %q", what, describeDocuments(got), x.want)
			}
		}
		_, err := w.p.AdvisoryDocuments.List(acme.owner, platform.DocumentRequest{ID: "\x00", CVEs: make([]string, 1001)})
		if got := violationFields(err); got != "id cves" {
			t.Errorf("got %v, want 'id cves'", got)
		}
		found, errs := w.p.AdvisoryDocuments.GetMany(acme.owner, []string{"stdlib", "none", "net", "\xff", "stdlib"})
		if describeDocuments([]*platform.AdvisoryDocument{found[0], found[2], found[4]}) != "stdlib: GO-1 GO-2 GO-3; net: GO-1; stdlib: GO-1 GO-2 GO-3" {
			t.Errorf("%v", errs)
		}
		expectRefused(t, "a missing one", errs[1], platform.CodeNotFound)
		expectRefused(t, "no text", errs[3], platform.CodeNotFound)
	})
}

// An advisory of several groups appears once: in its latest form, and as long as one
// group has not withdrawn it.
func TestADocumentHoldsAnAdvisoryOfManyGroupsOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		newAdvisory := func(note string, changed, withdrawn int) *platform.Advisory {
			a := &platform.Advisory{AdvisoryID: "GO-1", ArtifactName: "stdlib", UpdateTime: day(changed), Events: []platform.AdvisoryEvent{{FixNotPlanned: &platform.Note{Note: note}}}}
			if withdrawn > 0 {
				a.DeleteTime = day(withdrawn)
			}
			return a
		}
		w.feed(acme.uid, newAdvisory("old", 1, 0))
		w.feed(w.group(acme.uid), newAdvisory("new", 3, 0))
		w.feed(other.uid, newAdvisory("withdrawn", 4, 4))
		documents, err := w.p.AdvisoryDocuments.List(acme.owner, platform.DocumentRequest{})
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
		w.feed(acme.uid, &platform.Advisory{AdvisoryID: "DSA-1", ArtifactName: "openssl", ArtifactType: "Debian:12", CreateTime: day(1), Aliases: []string{"CVE-1"}, Events: events})
		documents, err := w.p.AdvisoryDocuments.List(acme.owner, platform.DocumentRequest{ID: "openssl"})
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
			if e.Type == "" || e.Type == platform.EventTypePatched {
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

func TestTooManyDocumentsAreRejected(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		for batch := range 10 {
			advisories := make([]*platform.Advisory, platform.ImportBatch)
			for i := range advisories {
				advisories[i] = fixedOn(fmt.Sprintf("GO-%d", batch*platform.ImportBatch+i), "stdlib", "CVE-1")
			}
			w.feed(acme.uid, advisories...)
		}
		w.feed(other.uid, fixedOn("GO-1", "stdlib", "CVE-1")) // This advisory exists already.
		count := func(req platform.DocumentRequest) (n int, err error) {
			documents, err := w.p.AdvisoryDocuments.List(acme.owner, req)
			for _, d := range documents {
				n += len(d.Advisories)
			}
			return n, err
		}
		if n, err := count(platform.DocumentRequest{}); n != 10_000 || err != nil {
			t.Errorf("%d, want 10_000 (%v)", n, err)
		}
		w.feed(other.uid, fixedOn("GO-X", "stdlib", "CVE-1"))
		for want, req := range map[string]platform.DocumentRequest{
			"id: is required, or cves":            {},
			"cves: is required in addition to id": {ID: "stdlib"},
			"cves: must be fewer: more":           {CVEs: []string{"CVE-1"}},
		} {
			var trace platform.Trace
			_, err := w.p.AdvisoryDocuments.List(platform.WithTrace(acme.owner, &trace), req)
			if err == nil || !strings.HasPrefix(err.Error(), "Invalid argument: "+want) || trace.Statements.Load() != 1 {
				t.Errorf("%+v: %v after %d statements, want %s after one", req, err, trace.Statements.Load(), want)
			}
		}
		if n, err := count(platform.DocumentRequest{CVEs: []string{"GO-X", "GO-7"}}); n != 2 || err != nil {
			t.Errorf("%d, want 2 (%v)", n, err)
		}
		// Advisories whose latest form lost the alias are found and left out. They must
		// not count towards the limit, or others would be cut off.
		lost := []*platform.Advisory{fixedOn("GO-1", "stdlib", ""), fixedOn("GO-2", "stdlib", "")}
		for _, a := range lost {
			a.UpdateTime = platform.At(epoch.Add(1000 * time.Hour))
		}
		w.feed(other.uid, append(lost, fixedOn("GO-Z", "stdlib", "CVE-1"))...)
		if n, err := count(platform.DocumentRequest{CVEs: []string{"CVE-1"}}); err == nil || !strings.HasPrefix(err.Error(), "Invalid argument: cves: must be fewer: more") {
			t.Errorf("%d (%v), want a refusal", n, err)
		}
	})
}

func TestDocumentsRequireAnIdentityAndNothingElse(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.feed(acme.uid, fixedOn("GO-1", "stdlib", ""))
		for what, ctx := range map[string]context.Context{"nobody": t.Context(), "a stranger": w.as("a stranger")} {
			code := map[string]platform.Code{"nobody": platform.CodeUnauthenticated, "a stranger": platform.CodePermissionDenied}[what]
			_, err := w.p.AdvisoryDocuments.List(ctx, platform.DocumentRequest{})
			expectRefused(t, what, err, code)
			_, errs := w.p.AdvisoryDocuments.GetMany(ctx, []string{"stdlib", "none"})
			expectRefused(t, what, errs[0], code)
			expectRefused(t, what, errs[1], code)
		}
	})
}
