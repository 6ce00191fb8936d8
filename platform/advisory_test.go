package platform_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
)

func TestAdvisoriesAreFiltered(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		event := func(author, reviewer string, state platform.ReviewState, set func(*platform.AdvisoryEvent)) platform.AdvisoryEvent {
			e := platform.AdvisoryEvent{Author: author, Reviewer: reviewer, ReviewState: state}
			set(&e)
			return e
		}
		detected := func(e *platform.AdvisoryEvent) { e.Detection = &platform.Detection{Manual: &struct{}{}} }
		fixed := func(e *platform.AdvisoryEvent) { e.Fixed = &platform.Fixed{FixedVersion: "1.2.3"} }
		patched := func(e *platform.AdvisoryEvent) {
			e.Patched = &platform.Patched{PatchedVersions: []string{"1"}, Note: "n"}
		}
		_, err := w.p.Advisories.Import(w.operator(), acme.uid, []*platform.Advisory{
			{AdvisoryID: "GO-1", ArtifactName: "stdlib", ArtifactType: "go", Aliases: []string{"CVE-1", "GHSA-x"}, Origin: "osv",
				Events: []platform.AdvisoryEvent{event("ada", "bob", platform.ReviewStateApproved, detected), event("ada", "", "", fixed)}},
			{AdvisoryID: "GO-2", ArtifactName: "stdlib", ComponentName: "net/http", ArtifactArchitecture: "amd64", ComponentType: "pkg", ComponentLocation: "/a", LegacyAdvisoryID: "old",
				Events: []platform.AdvisoryEvent{event("a", "b", platform.ReviewStatePending, detected)}},
			{AdvisoryID: "GO-3_%", ArtifactName: "toolchain", Events: []platform.AdvisoryEvent{event("eve", "", "", patched)}},
		})
		must(t, err)
		type f = platform.AdvisoryFilter
		for what, x := range map[string]struct {
			f    f
			want string
		}{
			"all":               {f{}, "GO-1 GO-2 GO-3_%"},
			"ids":               {f{AdvisoryIDs: []string{"GO-1", "GO-3_%", "GO-9"}}, "GO-1 GO-3_%"},
			"artifact":          {f{ArtifactNames: []string{"stdlib"}}, "GO-1 GO-2"},
			"artifact and id":   {f{ArtifactNames: []string{"stdlib"}, AdvisoryIDs: []string{"GO-1", "GO-3_%"}}, "GO-1"},
			"type":              {f{ArtifactTypes: []string{"go"}}, "GO-1"},
			"architecture":      {f{ArtifactArchitectures: []string{"amd64"}}, "GO-2"},
			"component":         {f{ComponentNames: []string{"net/http"}, ComponentTypes: []string{"pkg"}, ComponentLocations: []string{"/a"}, LegacyAdvisoryIDs: []string{"old"}}, "GO-2"},
			"alias":             {f{Aliases: []string{"CVE-1"}}, "GO-1"},
			"origin":            {f{Origin: "osv"}, "GO-1"},
			"fixed":             {f{EventTypes: []platform.EventType{platform.EventTypeFixed}}, "GO-1"},
			"fixed or patched":  {f{EventTypes: []platform.EventType{platform.EventTypeFixed, platform.EventTypePatched}}, "GO-1 GO-3_%"},
			"latest":            {f{LatestEventType: platform.EventTypeDetection}, "GO-2"},
			"author":            {f{EventAuthors: []string{"a"}}, "GO-2"}, // not a part of ada
			"without an author": {f{ExcludeEventAuthors: []string{"a", "eve"}}, "GO-1"},
			"reviewer":          {f{EventReviewers: []string{"bob", "b"}}, "GO-1 GO-2"},
			"state":             {f{EventReviewStates: []platform.ReviewState{platform.ReviewStateApproved}}, "GO-1"},
			"text":              {f{Query: "NET/"}, "GO-2"},
			"text of an alias":  {f{Query: "ghsa"}, "GO-1"},
			"text with signs":   {f{Query: "_%"}, "GO-3_%"},
			"text across":       {f{Query: "1\\"}, ""},
		} {
			page, err := w.p.Advisories.List(acme.owner, platform.ListRequest[f]{OrderBy: "advisory_id", Filter: x.f})
			must(t, err)
			var got []string
			for _, a := range page.Items {
				got = append(got, a.AdvisoryID)
			}
			if strings.Join(got, " ") != x.want || int(page.TotalCount) != len(got) {
				t.Errorf("%s: %q of %d, want %q", what, got, page.TotalCount, x.want)
			}
		}
		_, err = w.p.Advisories.List(acme.owner, platform.ListRequest[f]{Filter: f{
			AdvisoryIDs: make([]string, 1001), EventTypes: []platform.EventType{"FIXED"}, EventReviewStates: []platform.ReviewState{"x"}, LatestEventType: "y", Query: "a\nb"}})
		if got := violated(err); got != "advisoryIds eventReviewStates eventTypes latestEventType query" {
			t.Error(got)
		}
		one, err := w.p.Advisories.List(acme.owner, platform.ListRequest[f]{Filter: f{AdvisoryIDs: []string{"GO-1"}}})
		must(t, err)
		read, err := w.p.Advisories.Get(acme.owner, one.Items[0].UID)
		must(t, err)
		if len(read.Events) != 2 || read.Events[0].Type() != platform.EventTypeDetection || read.Events[1].Type() != platform.EventTypeFixed || read.Events[0].UID.Parent() != read.UID {
			t.Errorf("%+v", read.Events)
		}
	})
}

func TestVulnerabilitiesAreFoundByIDAndAlias(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		_, err := w.p.Vulnerabilities.Import(w.operator(), []*platform.Vulnerability{
			{ID: "GO-1", Summary: "s", Aliases: []string{"CVE-1", "GHSA-1"}, References: []platform.Reference{{Type: "TYPE_WEB", URL: "https://example.com"}}},
			{ID: "GO-2", Aliases: []string{"CVE-1"}}, {ID: "CVE-1"}})
		must(t, err)
		found, errs := w.p.Vulnerabilities.GetMany(acme.owner, []string{"GHSA-1", "GO-2", "CVE-1", "none", "\xff", "GO-2"})
		for i, want := range []string{"GO-1", "GO-2", "CVE-1", "", "", "GO-2"} {
			if want == "" {
				refused(t, "what is missing", errs[i], platform.CodeNotFound)
			} else if errs[i] != nil || found[i].ID != want {
				t.Errorf("place %d is %+v (%v), want %s", i, found[i], errs[i], want)
			}
		}
		for what, x := range map[string]struct {
			f    platform.VulnerabilityFilter
			want []string
		}{
			"all":      {platform.VulnerabilityFilter{}, []string{"CVE-1", "GO-1", "GO-2"}},
			"id":       {platform.VulnerabilityFilter{ID: "GO-1"}, []string{"GO-1"}},
			"alias":    {platform.VulnerabilityFilter{ID: "CVE-1"}, []string{"CVE-1", "GO-1", "GO-2"}},
			"ids":      {platform.VulnerabilityFilter{IDs: []string{"GHSA-1", "GO-2"}}, []string{"GO-1", "GO-2"}},
			"both":     {platform.VulnerabilityFilter{ID: "GO-2", IDs: []string{"GO-1", "GO-2"}}, []string{"GO-2"}},
			"conflict": {platform.VulnerabilityFilter{ID: "GO-2", IDs: []string{"GO-1"}}, nil},
		} {
			page, err := w.p.Vulnerabilities.List(acme.owner, platform.ListRequest[platform.VulnerabilityFilter]{Filter: x.f})
			must(t, err)
			var got []string
			for _, v := range page.Items {
				got = append(got, v.ID)
			}
			if !slices.Equal(got, x.want) || int(page.TotalCount) != len(got) {
				t.Errorf("%s: %q of %d", what, got, page.TotalCount)
			}
		}
		w.counted()
	})
}

func TestReplicasShareTheDevelopmentKey(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		first, err := w.p.DevelopmentKey(t.Context())
		must(t, err)
		second, err := w.replica(w.store, platform.Options{}).DevelopmentKey(t.Context())
		if err != nil || !bytes.Equal(first, second) || len(first) < 100 {
			t.Errorf("%d bytes and %d (%v)", len(first), len(second), err)
		}
		must(t, w.p.Ready(t.Context()))
	})
}
