package rest

import (
	"net/http"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

func TestDocumentsAndReportsHaveTheFormOfTheReference(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	ctx := core.WithActor(t.Context(), core.NewOperator("import"))
	at, err := core.ParseTime("2024-01-05T10:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.p.Feeds.ImportAdvisories(ctx, core.UID(w.org), []*inventory.Advisory{{
		AdvisoryID: "GO-1", ArtifactName: "base", ArtifactType: "Go", Aliases: []string{"CVE-1"}, Severities: []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: "9"}},
		Events: []inventory.AdvisoryEvent{
			{CreateTime: at, Findings: []byte{0, 255}, Detection: &inventory.Detection{Manual: &struct{}{}}}, {CreateTime: at, Fixed: &inventory.Fixed{FixedVersion: "2", Note: "n"}},
		},
	}}); err != nil {
		t.Fatal(err)
	}
	interval := "&start_time=2024-01-01T00:00:00Z&end_time=2024-02-01T00:00:00Z"
	report := `{"resolvedVulnsReports":[{"date":"2024-01-05T00:00:00.000Z","resolvedVulns":[{"id":"GO-1","aliases":["CVE-1"],` +
		`"cvssSeverities":[{"type":"TYPE_CVSS_V3","score":"9"}]}],"imageRef":{"repo":"` + w.repo + `","tags":["latest"]}}` + "\n" + `],"totalCount":"1","skipped":0}`
	for path, want := range map[string]string{
		"/advisory/v2/documents?id=base": `{"documents":[{"id":"base","advisories":[{"id":"GO-1","events":[{"timestamp":"2024-01-05T10:00:00.000Z","detection":{"manual":{}}},` +
			`{"timestamp":"2024-01-05T10:00:00.000Z","fixed":{"fixedVersion":"2"}}],"aliases":["CVE-1"],"packageNamespace":"Go"}]}` + "\n" + `],"totalCount":"1","skipped":0}`,
		"/advisory/v2/documents?cves=none&cves=CVE-0":                                                                  `{"documents":[],"totalCount":"0","skipped":0}`,
		"/advisory/v2beta1/images/resolvedVulns?imageRefs=base" + interval:                                             report,
		"/advisory/v2/images/resolvedVulns?image_refs=" + w.repo + ":latest,latest" + interval:                         report,
		"/advisory/v2/images/resolvedVulns?imageRefs=base:latest&imageRefs=" + w.repo + interval:                       report,
		"/advisory/v2/images/resolvedVulns?imageRefs=base&startTime=2025-01-01T00:00:00Z&endTime=2025-01-02T00:00:00Z": `{"resolvedVulnsReports":[],"totalCount":"0","skipped":0}`,
	} {
		if got := strings.TrimSpace(w.get(path).expectStatus(http.StatusOK).raw); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
		}
	}
	listed := w.get("/vulnerabilities/v2/advisories?advisoryIds=GO-1").expectStatus(http.StatusOK).raw
	if !strings.Contains(listed, `"findings":"AP8=","detection":{"manual":{}}}`) {
		t.Errorf("got %v, want a text with %q", listed, `"findings":"AP8=","detection":{"manual":{}}}`)
	}
	for path, want := range map[string]string{
		"/advisory/v2/documents?id=&cves=":                                  "id cves",
		"/advisory/v2/documents?id=a&id=b":                                  "id",
		"/advisory/v2/images/resolvedVulns":                                 "imageRefs start_time end_time",
		"/advisory/v2/images/resolvedVulns?imageRefs=:&end_time=tomorrow":   "imageRefs end_time start_time",
		"/advisory/v2/images/resolvedVulns?imageRefs=base:" + interval:      "imageRefs",
		"/advisory/v2/images/resolvedVulns?imageRefs=base:a,,b" + interval:  "imageRefs[0].tags",
		"/advisory/v2/images/resolvedVulns?imageRefs=base,other" + interval: "imageRefs[0].repo",
	} {
		got := w.do(http.MethodGet, path, "").expectStatus(http.StatusBadRequest)
		var fields []string
		for _, v := range got.json["details"].([]any)[1].(map[string]any)["fieldViolations"].([]any) {
			fields = append(fields, v.(map[string]any)["field"].(string))
		}
		if strings.Join(fields, " ") != want {
			t.Errorf("%s: %v, want %s", path, fields, want)
		}
	}
}

func TestDocumentsPageInBothVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := core.WithActor(t.Context(), core.NewOperator("import"))
	if _, err := w.p.Feeds.ImportAdvisories(ctx, "", []*inventory.Advisory{{AdvisoryID: "GO-1", ArtifactName: "lib-1"}, {AdvisoryID: "GO-2", ArtifactName: "lib-2"}}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/advisory/v2/documents?order_by=id%20desc&page_size=1":     "lib-2",
		"/advisory/v2beta1/documents?order_by=id%20desc&pageSize=1": "lib-2",
		"/advisory/v2/documents?skip=1":                             "lib-2",
	} {
		if got := w.get(path).expectStatus(http.StatusOK); got.items("documents", "id") != want || got.text("totalCount") != "2" {
			t.Errorf("%s: %s, want %s of 2", path, got.raw, want)
		}
	}
	next := w.get("/advisory/v2/documents?page_size=1").text("nextPageToken")
	last := w.get("/advisory/v2beta1/documents?page_size=1&page_token=" + next).expectStatus(http.StatusOK)
	if last.items("documents", "id") != "lib-2" || strings.Contains(last.raw, "nextPageToken") {
		t.Errorf("the second page is %s, want lib-2 and no token", last.raw)
	}
}
