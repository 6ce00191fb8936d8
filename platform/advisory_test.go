package platform_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

func TestAdvisoriesAreFiltered(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		event := func(author, reviewer string, state inventory.ReviewState, set func(*inventory.AdvisoryEvent)) inventory.AdvisoryEvent {
			e := inventory.AdvisoryEvent{Author: author, Reviewer: reviewer, ReviewState: state}
			set(&e)
			return e
		}
		detected := func(e *inventory.AdvisoryEvent) { e.Detection = &inventory.Detection{Manual: &struct{}{}} }
		fixed := func(e *inventory.AdvisoryEvent) { e.Fixed = &inventory.Fixed{FixedVersion: "1.2.3"} }
		patched := func(e *inventory.AdvisoryEvent) {
			e.Patched = &inventory.Patched{PatchedVersions: []string{"1"}, Note: "n"}
		}
		_, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{
			{AdvisoryID: "GO-1", ArtifactName: "stdlib", ArtifactType: "go", Aliases: []string{"CVE-1", "GHSA-x"}, Origin: "osv",
				Events: []inventory.AdvisoryEvent{event("ada", "bob", inventory.ReviewStateApproved, detected), event("ada", "", "", fixed)}},
			{AdvisoryID: "GO-2", ArtifactName: "stdlib", ComponentName: "net/http", ArtifactArchitecture: "amd64", ComponentType: "pkg", ComponentLocation: "/a", LegacyAdvisoryID: "old",
				Events: []inventory.AdvisoryEvent{event("a", "b", inventory.ReviewStatePending, detected)}},
			{AdvisoryID: "GO-3_%", ArtifactName: "toolchain", Events: []inventory.AdvisoryEvent{event("eve", "", "", patched)}},
		})
		must(t, err)
		type f = inventory.AdvisoryFilter
		for what, x := range map[string]struct {
			f    f
			want string
		}{
			"all":                {f{}, "GO-1 GO-2 GO-3_%"},
			"ids":                {f{AdvisoryIDs: []string{"GO-1", "GO-3_%", "GO-9"}}, "GO-1 GO-3_%"},
			"artifact":           {f{ArtifactNames: []string{"stdlib"}}, "GO-1 GO-2"},
			"artifact and id":    {f{ArtifactNames: []string{"stdlib"}, AdvisoryIDs: []string{"GO-1", "GO-3_%"}}, "GO-1"},
			"type":               {f{ArtifactTypes: []string{"go"}}, "GO-1"},
			"architecture":       {f{ArtifactArchitectures: []string{"amd64"}}, "GO-2"},
			"component":          {f{ComponentNames: []string{"net/http"}, ComponentTypes: []string{"pkg"}, ComponentLocations: []string{"/a"}, LegacyAdvisoryIDs: []string{"old"}}, "GO-2"},
			"alias":              {f{Aliases: []string{"CVE-1"}}, "GO-1"},
			"origin":             {f{Origin: "osv"}, "GO-1"},
			"fixed":              {f{EventTypes: []inventory.EventType{inventory.EventTypeFixed}}, "GO-1"},
			"fixed or patched":   {f{EventTypes: []inventory.EventType{inventory.EventTypeFixed, inventory.EventTypePatched}}, "GO-1 GO-3_%"},
			"latest":             {f{LatestEventType: inventory.EventTypeDetection}, "GO-2"},
			"author":             {f{EventAuthors: []string{"a"}}, "GO-2"}, // The author a is not a part of ada.
			"without an author":  {f{ExcludeEventAuthors: []string{"a", "eve"}}, "GO-1"},
			"reviewer":           {f{EventReviewers: []string{"bob", "b"}}, "GO-1 GO-2"},
			"state":              {f{EventReviewStates: []inventory.ReviewState{inventory.ReviewStateApproved}}, "GO-1"},
			"latest is fixed":    {f{LatestEventType: inventory.EventTypeFixed}, "GO-1"},
			"a thousand authors": {f{EventAuthors: append(nobodies(999), "eve")}, "GO-3_%"},
			"without a thousand": {f{ExcludeEventAuthors: append(nobodies(999), "eve")}, "GO-1 GO-2"},
			"author's case":      {f{EventAuthors: []string{"ADA"}}, ""},
			"author's sign":      {f{EventAuthors: []string{"_", "%"}}, ""},
			"no type":            {f{ArtifactTypes: []string{""}}, "GO-2 GO-3_%"},
			"another event each": {f{EventTypes: []inventory.EventType{inventory.EventTypeFixed}, EventReviewers: []string{"bob"}}, "GO-1"},
			"text":               {f{Query: "NET/"}, "GO-2"},
			"text of an alias":   {f{Query: "ghsa"}, "GO-1"},
			"text with signs":    {f{Query: "_%"}, "GO-3_%"},
			"text across":        {f{Query: "1\\"}, ""},
		} {
			page, err := w.p.Advisories.List(acme.owner, core.ListRequest[*f]{OrderBy: "advisory_id", Filter: &x.f})
			must(t, err)
			var got []string
			for _, a := range page.Items {
				got = append(got, a.AdvisoryID)
			}
			if strings.Join(got, " ") != x.want || int(page.TotalCount) != len(got) {
				t.Errorf("%s: %q of %d, want %q", what, got, page.TotalCount, x.want)
			}
		}
		_, err = w.p.Advisories.List(acme.owner, core.ListRequest[*f]{Filter: &f{
			AdvisoryIDs: make([]string, 1001), EventTypes: []inventory.EventType{"FIXED"}, EventReviewStates: []inventory.ReviewState{"x"}, LatestEventType: "y", Query: "a\nb",
			EventAuthors: []string{"a\neve"}, ExcludeEventAuthors: []string{strings.Repeat("x", 60_000)}, EventReviewers: []string{""}}})
		if got := violationFields(err); got != "advisoryIds eventAuthors excludeEventAuthors eventReviewers eventReviewStates eventTypes latestEventType query" {
			t.Errorf("got %v, want 'advisoryIds eventAuthors excludeEventAuthors eventReviewers eventReviewStates eventTypes latestEventType query'", got)
		}
		one, err := w.p.Advisories.List(acme.owner, core.ListRequest[*f]{Filter: &f{AdvisoryIDs: []string{"GO-1"}}})
		must(t, err)
		read, err := w.p.Advisories.Get(acme.owner, one.Items[0].UID)
		must(t, err)
		if len(read.Events) != 2 || read.Events[0].Type() != inventory.EventTypeDetection || read.Events[1].Type() != inventory.EventTypeFixed || read.Events[0].UID.Parent() != read.UID {
			t.Errorf("%+v, want 2 of them", read.Events)
		}
	})
}

// nobodies returns n names that nothing has.
func nobodies(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("nobody %d", i)
	}
	return names
}

// everyVariant returns an event of each variant, with all its fields.
func everyVariant() []inventory.AdvisoryEvent {
	manual := &struct{}{}
	scan := &inventory.ScanV1{
		Scanner: "s", Subpackage: "sp", ComponentID: "ci", Component: "c", ComponentVersion: "cv", ComponentType: "ct", ComponentLocation: "cl",
		ArtifactVersion: "av", ScannerVersion: "sv", GrypeDBBuilt: "gb", GrypeDBChecksum: "gc",
	}
	return []inventory.AdvisoryEvent{
		{Findings: []byte{0, 255, '"'}, Author: "a", Reviewer: "r", ReviewState: inventory.ReviewStateRequestChanges, Issue: "https://example.com/1", Detection: &inventory.Detection{ScanV1: scan}},
		{Detection: &inventory.Detection{Manual: manual}},
		{Detection: &inventory.Detection{NVDAPI: &inventory.NVDAPI{CPESearched: "x", CPEFound: "y"}}},
		{Fixed: &inventory.Fixed{FixedVersion: "1", Note: "n", ScannerVersion: "s", GrypeDBBuilt: "b", GrypeDBChecksum: "c"}},
		{FalsePositiveDetermination: &inventory.FalsePositiveDetermination{Type: "TYPE_INLINE_MITIGATIONS_EXIST", Note: "n"}},
		{AnalysisNotPlanned: &inventory.Note{Note: "a"}, ReviewState: inventory.ReviewStateRejected},
		{FixNotPlanned: &inventory.Note{}},
		{PendingUpstreamFix: &inventory.Note{Note: "p"}},
		{TruePositiveDetermination: &inventory.Note{Note: "t"}},
		{Patched: &inventory.Patched{PatchedVersions: []string{"1", "2"}, Note: "n"}},
	}
}

func TestEveryVariantOfAnEventSurvives(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		made := &inventory.Advisory{
			AdvisoryID: "GO-1", ArtifactName: "stdlib", Events: everyVariant(),
			Severities: []inventory.Severity{{Type: "TYPE_CVSS_V2", Score: "1"}, {Type: "TYPE_CVSS_V3", Score: "2"}, {Type: "TYPE_CVSS_V4", Score: "3"}, {Type: "TYPE_UNSPECIFIED", Score: "high"}},
		}
		_, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{made})
		must(t, err)
		read, err := w.p.Advisories.Get(acme.owner, made.UID)
		must(t, err)
		for i := range read.Events {
			read.Events[i].UID = ""
		}
		if !reflect.DeepEqual(read.Events, everyVariant()) || !reflect.DeepEqual(read.Severities, made.Severities) {
			t.Errorf("read %+v, %v, want %v", read.Events, read.Severities, made.Severities)
		}
		again := &inventory.Advisory{AdvisoryID: "GO-1", ArtifactName: "stdlib", Events: everyVariant(), Severities: made.Severities}
		if done, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{again}); err != nil || done.Unchanged != 1 {
			t.Errorf("again: %+v (%v), want Unchanged 1", done, err)
		}
	})
}

// A list need not be sorted by time, and times can be equal.
func TestTheLatestEventIsTheOneThatBecameKnownLast(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		at := func(hours int, e inventory.AdvisoryEvent) inventory.AdvisoryEvent {
			e.CreateTime = core.At(epoch.Add(time.Duration(hours) * time.Hour))
			return e
		}
		detected := inventory.AdvisoryEvent{Detection: &inventory.Detection{}}
		fixed := inventory.AdvisoryEvent{Fixed: &inventory.Fixed{}}
		_, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{
			{AdvisoryID: "later first", ArtifactName: "a", Events: []inventory.AdvisoryEvent{at(2, fixed), at(1, detected)}},
			{AdvisoryID: "at once", ArtifactName: "a", Events: []inventory.AdvisoryEvent{at(1, detected), at(1, fixed)}},
			{AdvisoryID: "without time", ArtifactName: "a", Events: []inventory.AdvisoryEvent{at(1, fixed), detected}},
			{AdvisoryID: "at last found", ArtifactName: "a", Events: []inventory.AdvisoryEvent{at(1, fixed), at(2, detected)}},
			{AdvisoryID: "nothing", ArtifactName: "a"},
		})
		must(t, err)
		page, err := w.p.Advisories.List(acme.owner, core.ListRequest[*inventory.AdvisoryFilter]{OrderBy: "advisory_id", Filter: &inventory.AdvisoryFilter{LatestEventType: inventory.EventTypeFixed}})
		must(t, err)
		var got []string
		for _, a := range page.Items {
			got = append(got, a.AdvisoryID)
			if last := a.Events[len(a.Events)-1]; last.Fixed == nil {
				t.Errorf("%s: the events are not in the order of time: %+v", a.AdvisoryID, a.Events)
			}
		}
		if strings.Join(got, ", ") != "at once, later first, without time" {
			t.Errorf("%q end in a fix", got)
		}
	})
}

func TestAnImportRejectsValuesThatClientsCouldNotRead(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		note := &inventory.Note{}
		bad := map[string]inventory.AdvisoryEvent{
			"events[0]":                                 {FixNotPlanned: note, AnalysisNotPlanned: note},
			"events[0].detection":                       {Detection: &inventory.Detection{Manual: &struct{}{}, ScanV1: &inventory.ScanV1{}}},
			"events[0].reviewState":                     {FixNotPlanned: note, ReviewState: "GOOD"},
			"events[0].author":                          {FixNotPlanned: note, Author: "ann\nbob"}, // Such a text would look like two authors.
			"events[0].reviewer":                        {FixNotPlanned: note, Reviewer: "\x00"},
			"events[0].falsePositiveDetermination.type": {FalsePositiveDetermination: &inventory.FalsePositiveDetermination{Type: "WHIM"}},
		}
		for field, e := range bad {
			done, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{{AdvisoryID: "GO-1", ArtifactName: "a", Events: []inventory.AdvisoryEvent{e}}})
			if must(t, err); violationFields(done.Rejected[0]) != field {
				t.Errorf("%s: %v, want violations of %v", field, done.Rejected[0], field)
			}
		}
		done, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{{AdvisoryID: "GO-1", ArtifactName: "a", Severities: []inventory.Severity{{Type: "HIGH"}}}})
		if must(t, err); violationFields(done.Rejected[0]) != "severities[0].type" {
			t.Errorf("got %v, want violations of 'severities[0].type'", done.Rejected[0])
		}
		done, err = w.p.Feeds.ImportVulnerabilities(w.operator(), []*inventory.Vulnerability{{ID: "GO-1", References: []inventory.Reference{{Type: "HOME"}}, Severities: []inventory.Severity{{}, {Type: "HIGH"}}}})
		if must(t, err); violationFields(done.Rejected[0]) != "references[0].type severities[1].type" {
			t.Errorf("got %v, want violations of 'references[0].type severities[1].type'", done.Rejected[0])
		}
	})
}

func TestVulnerabilitiesAreFoundByIDAndAlias(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		_, err := w.p.Feeds.ImportVulnerabilities(w.operator(), []*inventory.Vulnerability{
			{ID: "GO-1", Summary: "s", Aliases: []string{"CVE-1", "GHSA-1"}, References: []inventory.Reference{{Type: "TYPE_WEB", URL: "https://example.com"}}},
			{ID: "GO-2", Aliases: []string{"CVE-1"}}, {ID: "CVE-1"}})
		must(t, err)
		found, errs := w.p.Vulnerabilities.GetMany(acme.owner, []string{"GHSA-1", "GO-2", "CVE-1", "none", "\xff", "GO-2"})
		for i, want := range []string{"GO-1", "GO-2", "CVE-1", "", "", "GO-2"} {
			if want == "" {
				expectRefused(t, "what is missing", errs[i], core.CodeNotFound)
			} else if errs[i] != nil || found[i].ID != want {
				t.Errorf("place %d is %+v (%v), want %s", i, found[i], errs[i], want)
			}
		}
		for what, x := range map[string]struct {
			f    *inventory.VulnerabilityFilter
			want []string
		}{
			"all":                {&inventory.VulnerabilityFilter{}, []string{"CVE-1", "GO-1", "GO-2"}},
			"id":                 {&inventory.VulnerabilityFilter{ID: "GO-1"}, []string{"GO-1"}},
			"alias":              {&inventory.VulnerabilityFilter{ID: "CVE-1"}, []string{"CVE-1", "GO-1", "GO-2"}},
			"ids":                {&inventory.VulnerabilityFilter{IDs: []string{"GHSA-1", "GO-2"}}, []string{"GO-1", "GO-2"}},
			"both":               {&inventory.VulnerabilityFilter{ID: "GO-2", IDs: []string{"GO-1", "GO-2"}}, []string{"GO-2"}},
			"both, one by alias": {&inventory.VulnerabilityFilter{ID: "GO-2", IDs: []string{"GHSA-1", "CVE-1"}}, []string{"GO-2"}},
			"conflict":           {&inventory.VulnerabilityFilter{ID: "GO-2", IDs: []string{"GO-1"}}, nil},
		} {
			page, err := w.p.Vulnerabilities.List(acme.owner, core.ListRequest[*inventory.VulnerabilityFilter]{Filter: x.f})
			must(t, err)
			var got []string
			for _, v := range page.Items {
				got = append(got, v.ID)
			}
			if !slices.Equal(got, x.want) || int(page.TotalCount) != len(got) {
				t.Errorf("%s: %q of %d, want %q", what, got, page.TotalCount, x.want)
			}
		}
		w.checkCounters()
	})
}

func TestReplicasShareTheDevelopmentKey(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		first, err := w.p.DevelopmentKey(t.Context())
		must(t, err)
		second, err := w.replica(w.store, platform.Options{}).DevelopmentKey(t.Context())
		if err != nil || !bytes.Equal(first, second) || len(first) < 100 {
			t.Errorf("%d bytes and %d (%v)", len(first), len(second), err)
		}
		must(t, w.p.Ready(t.Context()))
	})
}
