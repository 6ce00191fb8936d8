package platform_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"atrium/platform/core"
	"atrium/platform/libraries"
)

type (
	artifactList = core.ListRequest[*libraries.ArtifactFilter]
	versionList  = core.ListRequest[*libraries.ArtifactVersionFilter]
)

// artifact returns a record for an import.
func artifact(ecosystem libraries.Ecosystem, name string, versions ...string) *libraries.ImportedArtifact {
	a := &libraries.ImportedArtifact{Artifact: libraries.Artifact{Ecosystem: ecosystem, Name: name}}
	for _, v := range versions {
		a.Versions = append(a.Versions, &libraries.ArtifactVersion{Version: v})
	}
	return a
}

// bring imports artifacts and expects these results for them and their versions.
func (w *world) bring(t *testing.T, artifacts, versions string, records ...*libraries.ImportedArtifact) {
	t.Helper()
	done, doneVersions, err := w.p.Artifacts.Import(w.operator(), records)
	expectImported(t, "artifacts", done, err, artifacts)
	expectImported(t, "versions", doneVersions, err, versions)
}

// shown returns the artifacts of a filter, each as name latest/count.
func (w *world) shown(t *testing.T, ctx context.Context, f *libraries.ArtifactFilter, orderBy string) string {
	t.Helper()
	page, err := w.p.Artifacts.List(ctx, artifactList{Filter: f, OrderBy: orderBy})
	must(t, err)
	var all []string
	for _, a := range page.Items {
		all = append(all, fmt.Sprintf("%s %s/%d", a.Name, a.LatestVersion, a.VersionCount))
	}
	if int(page.TotalCount) != len(page.Items) {
		t.Errorf("%+v: total %d of %v", f, page.TotalCount, all)
	}
	return strings.Join(all, ", ")
}

// versionsOf reads the versions of an artifact, two at a time.
func (w *world) versionsOf(t *testing.T, ctx context.Context, uid core.UID, orderBy string) string {
	t.Helper()
	var all []string
	for req := (versionList{OrderBy: orderBy, PageSize: 2}); ; {
		page, err := w.p.ArtifactVersions.ListOf(ctx, uid, req)
		must(t, err)
		for _, v := range page.Items {
			all = append(all, v.Version)
		}
		if req.PageToken = page.NextPageToken(); req.PageToken == "" {
			if int(page.TotalCount) != len(all) {
				t.Errorf("total %d of %v", page.TotalCount, all)
			}
			return strings.Join(all, " ")
		}
	}
}

func TestArtifactsAreImportedWithTheirVersions(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		const javaEco, python = libraries.EcosystemJava, libraries.EcosystemPython
		netty := func() *libraries.ImportedArtifact {
			return artifact(javaEco, "io.netty:netty", "4.1.0.Final", "4.1.100.Final", "4.1.99.Final", "4.2.0.RC1", "4.2.0.Alpha1")
		}
		numpy := func() *libraries.ImportedArtifact {
			return artifact(python, "numpy", "1.9.3", "1.26.4", "2.0.0rc1", "2.0.0.dev1")
		}
		w.bring(t, mustSucceed(3, 0, 0, 0), mustSucceed(9, 0, 0, 0), netty(), numpy(), artifact(python, "empty"))
		w.bring(t, mustSucceed(0, 0, 3, 0), mustSucceed(0, 0, 9, 0), netty(), numpy(), artifact(python, "empty"))
		both := &libraries.ArtifactFilter{Ecosystems: []libraries.Ecosystem{python, javaEco}}
		if got := w.shown(t, acme.owner, both, ""); got != "empty /0, io.netty:netty 4.2.0.RC1/5, numpy 2.0.0rc1/4" {
			t.Errorf("got %v, want 'empty /0, io.netty:netty 4.2.0.RC1/5, numpy 2.0.0rc1/4'", got)
		}
		page, err := w.p.Artifacts.List(acme.owner, artifactList{Filter: java})
		must(t, err)
		uid := page.Items[0].UID
		for orderBy, want := range map[string]string{
			"":            "4.2.0.RC1 4.2.0.Alpha1 4.1.100.Final 4.1.99.Final 4.1.0.Final",
			"version asc": "4.1.0.Final 4.1.99.Final 4.1.100.Final 4.2.0.Alpha1 4.2.0.RC1",
		} {
			if got := w.versionsOf(t, acme.owner, uid, orderBy); got != want {
				t.Errorf("by %q: %s, want %s", orderBy, got, want)
			}
		}

		// One version is new, one is changed, and one is not named. The last one stays.
		more := artifact(javaEco, "io.netty:netty", "4.1.0.Final", "4.2.0.Final")
		more.Versions[0].SizeBytes, more.Versions[0].CreateTime = 7, onDay(1)
		w.bring(t, mustSucceed(0, 1, 0, 0), mustSucceed(1, 1, 0, 0), more)
		if got := w.versionsOf(t, acme.owner, uid, ""); got != "4.2.0.Final 4.2.0.RC1 4.2.0.Alpha1 4.1.100.Final 4.1.99.Final 4.1.0.Final" {
			t.Errorf("got %v, want '4.2.0.Final 4.2.0.RC1 4.2.0.Alpha1 4.1.100.Final 4.1.99.Final 4.1.0.Final'", got)
		}
		w.bring(t, mustSucceed(0, 0, 1, 0), mustSucceed(0, 0, 2, 0), artifact(javaEco, "io.netty:netty", "4.1.0.Final", "4.2.0.Final")) // The record does not name the other versions.
		changed, err := w.p.Artifacts.Get(acme.owner, uid)                                                                              // The import does not change it.
		if err != nil || changed.LatestVersion != "4.2.0.Final" || changed.VersionCount != 6 || !changed.UpdateTime.After(changed.CreateTime.Time) {
			t.Errorf("got %+v (%v), want LatestVersion '4.2.0.Final' and VersionCount 6", changed, err)
		}
		first, err := w.p.ArtifactVersions.ListOf(acme.owner, uid, versionList{OrderBy: "version", PageSize: 1})
		must(t, err)
		v := first.Items[0]
		if v.Version != "4.1.0.Final" || v.Name != "io.netty:netty" || v.SizeBytes != 7 || v.CreateTime != onDay(1) || v.UpdateTime != changed.UpdateTime || v.UID.Parent() != uid {
			t.Errorf("%+v", v)
		}
		one, err := w.p.ArtifactVersions.Get(acme.owner, v.UID)
		if err != nil || *one != *v {
			t.Errorf("%+v (%v), want %+v", one, err, v)
		}
		if events := types(w.events()); strings.Contains(events, "librar") {
			t.Errorf("events: %s, want it without 'librar'", events)
		}
		w.checkCounters()
	})
}

func TestArtifactsAreFilteredAndCounted(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		torch := artifact(libraries.EcosystemPython, "torch", "2.1.0")
		torch.Description, torch.CudaVersion, torch.Remediated = "Tensors, on 100% of GPUs", "12.1", true
		older := artifact(libraries.EcosystemPython, "torch-cu118", "2.1.0")
		older.Description, older.CudaVersion = "tensors", "11.8"
		log4j := artifact(libraries.EcosystemJava, "log4j:log4j_core", "2.17.1")
		log4j.Remediated = true
		w.bring(t, mustSucceed(3, 0, 0, 0), mustSucceed(3, 0, 0, 0), torch, older, log4j)
		all := []libraries.Ecosystem{libraries.EcosystemPython, libraries.EcosystemJava, libraries.EcosystemPython}
		for want, f := range map[string]*libraries.ArtifactFilter{
			"log4j:log4j_core 2.17.1/1, torch 2.1.0/1, torch-cu118 2.1.0/1": {Ecosystems: all},
			"torch 2.1.0/1, torch-cu118 2.1.0/1":                            {Ecosystems: all, Query: "TENSORS"},
			"torch 2.1.0/1":                                                 {Ecosystems: all, Query: "0% OF"},
			"log4j:log4j_core 2.17.1/1":                                     {Ecosystems: all, Query: "4j_C"},
			"torch-cu118 2.1.0/1":                                           {Ecosystems: all, CudaVersion: "11.8"},
			"log4j:log4j_core 2.17.1/1, torch 2.1.0/1":                      {Ecosystems: all, Remediated: true},
			"": {Ecosystems: java.Ecosystems, CudaVersion: "12.1"},
		} {
			if got := w.shown(t, acme.owner, f, ""); got != want {
				t.Errorf("%+v: %q, want %q", f, got, want)
			}
		}
		counts, err := w.p.Artifacts.Counts(acme.owner, all)
		if err != nil || len(counts) != 2 || *counts[0] != (libraries.EcosystemCount{Ecosystem: libraries.EcosystemJava, TotalCount: 1}) || *counts[1] != (libraries.EcosystemCount{Ecosystem: libraries.EcosystemPython, TotalCount: 2}) {
			t.Errorf("%v, want 2 of them (%v)", counts, err)
		}
		// The order of the named ecosystems does not make another list.
		first, err := w.p.Artifacts.List(acme.owner, artifactList{Filter: &libraries.ArtifactFilter{Ecosystems: all}, PageSize: 1})
		must(t, err)
		next, err := w.p.Artifacts.List(acme.owner, artifactList{PageToken: first.NextPageToken(), Filter: &libraries.ArtifactFilter{
			Ecosystems: []libraries.Ecosystem{libraries.EcosystemJava, libraries.EcosystemPython},
		}})
		if err != nil || len(next.Items) != 2 || next.Items[0].Name != "torch" {
			t.Errorf("%+v, want 2 of them (%v)", next.Items, err)
		}
	})
}

func TestViolationsOfAListOfArtifactsAreNamed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for want, req := range map[string]artifactList{
			"ecosystems":           {},
			"ecosystems page_size": {Filter: &libraries.ArtifactFilter{Ecosystems: []libraries.Ecosystem{"COBOL", "ADA"}}, PageSize: -1},
			"ecosystems query cuda_version page_token": {Filter: &libraries.ArtifactFilter{Ecosystems: []libraries.Ecosystem{""}, Query: "\x00", CudaVersion: "\xff"}, PageToken: "x"},
			"order_by": {Filter: java, OrderBy: "version"},
			"query":    {Filter: &libraries.ArtifactFilter{Ecosystems: java.Ecosystems, Query: strings.Repeat("a", 60_000)}},
		} {
			_, err := w.p.Artifacts.List(acme.owner, req)
			if got := violationFields(err); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		_, err := w.p.Artifacts.Counts(acme.owner, nil)
		if got := violationFields(err); got != "ecosystems" {
			t.Errorf("got %v, want 'ecosystems'", got)
		}
		_, err = w.p.ArtifactVersions.ListOf(acme.owner, "log4j", versionList{Skip: -1, OrderBy: "size"})
		if got := violationFields(err); got != "artifact_id skip order_by" {
			t.Errorf("got %v, want 'artifact_id skip order_by'", got)
		}
		uid := w.artifact()
		for what, other := range map[string]core.UID{"a version": missingBelow(uid), "a group": acme.uid, "nothing": missingBelow(acme.uid).Root()[:39] + "x"} {
			_, err := w.p.ArtifactVersions.ListOf(acme.owner, other, versionList{})
			if other.Valid() {
				e := refusal(t, what, err, core.CodeNotFound)
				if e.Resource.Kind != "Artifact" || e.Resource.Name != string(other) || e.Area != "libraries" {
					t.Errorf("%s: %+v, want Kind 'Artifact', Name %v and Area 'libraries'", what, e, other)
				}
			} else if violationFields(err) != "artifact_id" {
				t.Errorf("%s: %v, want violations of 'artifact_id'", what, err)
			}
		}
		if got := w.versionsOf(t, acme.owner, uid, ""); got != "" {
			t.Errorf("an artifact without versions has %q", got)
		}
	})
}

func TestBadArtifactsAreRejectedWhole(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		long := strings.Repeat("x", 256)
		negative := artifact(libraries.EcosystemJava, "d", "1")
		negative.Versions[0].SizeBytes = -1
		odd := artifact("RUST", "")
		odd.Description, odd.CudaVersion = "two\nlines", "\x01"
		got, versions, err := w.p.Artifacts.Import(w.operator(), []*libraries.ImportedArtifact{
			odd, artifact("", long), artifact(libraries.EcosystemJava, "a", "1", ""), artifact(libraries.EcosystemJava, "b", "1", "2", "1"),
			artifact(libraries.EcosystemJava, "c", long), negative, artifact(libraries.EcosystemJava, "good", "1"), artifact(libraries.EcosystemJava, "good", "2"),
		})
		expectImported(t, "artifacts", got, err, mustSucceed(1, 0, 0, 7))
		expectImported(t, "versions", versions, err, mustSucceed(1, 0, 0, 0))
		want := "0: ecosystem name description cudaVersion, 1: ecosystem name, 2: versions.version, 3: versions.version, 4: versions.version, 5: versions.sizeBytes, 7: name"
		if fields := rejectedFields(got); fields != want {
			t.Errorf("%s, want %s", fields, want)
		}
		if got := w.shown(t, acme.owner, java, ""); got != "good 1/1" {
			t.Errorf("got %v, want 'good 1/1'", got)
		}
		_, _, err = w.p.Artifacts.Import(acme.owner, nil)
		expectRefused(t, "an owner", err, core.CodePermissionDenied)
	})
}

// Each import adds other versions to the same artifacts. The counts must include all
// versions.
func TestImportsOfTheSameArtifactAtOnceCountEveryVersion(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		const imports, records = 4, 20
		var running sync.WaitGroup
		for i := range imports {
			running.Go(func() {
				var all []*libraries.ImportedArtifact
				for n := range records {
					all = append(all, artifact(libraries.EcosystemJava, fmt.Sprint("a", (n+i*5)%records), fmt.Sprintf("1.%d", i+1), "1"))
				}
				if done, _, err := w.p.Artifacts.Import(w.operator(), all); err != nil || done.Added+done.Updated != records {
					t.Errorf("%+v (%v)", done, err)
				}
			})
		}
		running.Wait()
		page, err := w.p.Artifacts.List(acme.owner, artifactList{Filter: java})
		must(t, err)
		if page.TotalCount != records {
			t.Errorf("there are %d artifacts, want %d", page.TotalCount, records)
		}
		for _, a := range page.Items {
			versions := strings.Fields(w.versionsOf(t, acme.owner, a.UID, ""))
			if len(versions) != imports+1 || a.VersionCount != imports+1 || a.LatestVersion != versions[0] {
				t.Errorf("%+v has %v", a, versions)
			}
		}
		w.checkCounters()
	})
}
