package rpc

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/fieldmask"
)

const advisoryService = "/platform.advisory.v2.SecurityAdvisoryService/"

// fixOpenSSL creates an image of nginx that contains openssl, which was fixed on the 5th.
func (w *world) fixOpenSSL() (repo string) {
	w.t.Helper()
	ctx := platform.WithActor(w.t.Context(), platform.NewOperator("import"))
	made, err := w.p.Repos.Create(ctx, platform.UID(w.org), fieldmask.JSONInput[*platform.Repo]([]byte(`{"name": "nginx"}`), nil))
	if err != nil {
		w.t.Fatal(err)
	}
	tagged := fieldmask.JSONInput[*platform.Tag]([]byte(`{"name": "latest", "digest": "`+someDigest+`"}`), nil)
	if _, err := w.p.Tags.Create(ctx, made.UID, tagged); err != nil {
		w.t.Fatal(err)
	}
	image := platform.Image{Repo: made.UID, Digest: someDigest, Packages: []string{"openssl"}}
	if _, err := w.p.Images.Import(ctx, []*platform.Image{&image}); err != nil {
		w.t.Fatal(err)
	}
	fixed := platform.AdvisoryEvent{
		CreateTime: platform.At(time.Date(2026, time.January, 5, 6, 0, 0, 0, time.UTC)), Fixed: &platform.Fixed{FixedVersion: "3.0.1"},
	}
	if _, err := w.p.Advisories.Import(ctx, platform.UID(w.org), []*platform.Advisory{
		{AdvisoryID: "GO-1", ArtifactName: "openssl", ArtifactType: "Debian:12", Aliases: []string{"CVE-1"}, Events: []platform.AdvisoryEvent{fixed}},
		{AdvisoryID: "GO-2", ArtifactName: "zlib"},
	}); err != nil {
		w.t.Fatal(err)
	}
	return string(made.UID)
}

func TestDocumentsDoNotTellAdvisoriesOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fixOpenSSL()
	ctx := platform.WithActor(t.Context(), platform.NewOperator("import"))
	must[*platform.Organisation](t)(w.p.Groups.Bootstrap(ctx, "other", testIssuer, "owner-of-other"))
	must[platform.Imported](t)(w.p.Advisories.Import(ctx, "", []*platform.Advisory{{AdvisoryID: "GO-7", ArtifactName: "curl"}, {AdvisoryID: "GO-8", ArtifactName: "git"}}))
	for asked, want := range map[string]string{
		`{}`:                 `{"documents":[{"id":"curl","advisories":[{"id":"GO-7"}]},{"id":"git","advisories":[{"id":"GO-8"}]}],"totalCount":"2"}`,
		`{"skip": 1}`:        `{"documents":[{"id":"git","advisories":[{"id":"GO-8"}]}],"totalCount":"2","skipped":1}`,
		`{"cves": ["GO-1"]}`: `{"totalCount":"0"}`,
	} {
		if status, _, got := w.post("owner-of-other", advisoryService+"ListDocuments", asked); status != http.StatusOK || compact(got) != want {
			t.Errorf("%s: %d\ngot  %s\nwant %s", asked, status, compact(got), want)
		}
	}
}

func TestDocumentsAreListedByIDAndByVulnerability(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fixOpenSSL()
	openssl := `{"id":"openssl","advisories":[{"id":"GO-1","events":[{"timestamp":"2026-01-05T06:00:00Z","fixed":{"fixedVersion":"3.0.1"}}],` +
		`"aliases":["CVE-1"],"packageNamespace":"Debian:12"}]}`
	zlib := `{"id":"zlib","advisories":[{"id":"GO-2"}]}`
	for asked, want := range map[string]string{
		`{}`: openssl + "," + zlib, `{"id": "zlib"}`: zlib, `{"cves": ["CVE-1", "CVE-9"]}`: openssl, `{"id": "zlib", "cves": ["CVE-1"]}`: "",
	} {
		total := strings.Count(want, `{"id":"`) - strings.Count(want, `"id":"GO`)
		if want = fmt.Sprintf(`{"documents":[%s],"totalCount":"%d"}`, want, total); total == 0 {
			want = `{"totalCount":"0"}`
		}
		if status, _, got := w.post(theOwner, advisoryService+"ListDocuments", asked); status != http.StatusOK || compact(got) != want {
			t.Errorf("%s: %d\ngot  %s\nwant %s", asked, status, compact(got), want)
		}
	}
}

// The first version of the contract had no pages, and its clients do not see a token of the next one.
func TestARequestWithoutFieldsForPagingGetsAllDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const many = 2*platform.MaxPageSize + 1
	var advisories []*platform.Advisory
	for i := range many {
		advisories = append(advisories, &platform.Advisory{AdvisoryID: fmt.Sprintf("GO-%d", i), ArtifactName: fmt.Sprintf("library-%d", i)})
	}
	ctx := platform.WithActor(t.Context(), platform.NewOperator("import"))
	must[platform.Imported](t)(w.p.Advisories.Import(ctx, platform.UID(w.org), advisories))
	for asked, want := range map[string]int{`{}`: many, `{"cves": ["GO-1"]}`: 1, `{"pageSize": 7}`: 7, `{"orderBy": "name desc"}`: platform.DefaultPageSize, `{"skip": 400}`: 1} {
		status, _, got := w.post(theOwner, advisoryService+"ListDocuments", asked)
		if n := strings.Count(got, `"advisories"`); status != http.StatusOK || n != want {
			t.Errorf("%s: %d, %d documents, want %d", asked, status, n, want)
		}
	}
	if status, _, got := w.post("stranger", advisoryService+"ListDocuments", `{}`); status == http.StatusOK {
		t.Errorf("a stranger gets %s", got)
	}
}

// compact removes the spaces that protojson inserts at random.
func compact(text string) string { return strings.ReplaceAll(text, " ", "") }

func TestFixesInImagesAreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.fixOpenSSL()
	january := `"startTime": "2026-01-01T00:00:00Z", "endTime": "2026-02-01T00:00:00Z"`
	want := `{"resolvedVulnsReports":[{"date":"2026-01-05T00:00:00Z","resolvedVulns":[{"id":"GO-1","aliases":["CVE-1"]}],` +
		`"imageRef":{"repo":"` + repo + `","tags":["latest"]}}],"totalCount":"1"}`
	for _, ref := range []string{`{"repo": "nginx"}`, `{"repo": "` + repo + `", "tags": ["latest"]}`} {
		status, _, got := w.post(theOwner, advisoryService+"ListResolvedVulnsReports", `{"imageRefs": [`+ref+`], `+january+`}`)
		if status != http.StatusOK || compact(got) != want {
			t.Errorf("%s: %d\ngot  %s\nwant %s", ref, status, compact(got), want)
		}
	}
	for asked, fields := range map[string][]string{
		`{}`:                                   {`"imageRefs"`, `"start_time"`, `"end_time"`},
		`{"imageRefs": [{}], ` + january + `}`: {`"imageRefs[0].repo"`},
	} {
		status, _, got := w.post(theOwner, advisoryService+"ListResolvedVulnsReports", asked)
		for _, field := range fields {
			if status != http.StatusBadRequest || !strings.Contains(got, field) {
				t.Errorf("%s: status %d without %s, want 400: %s", asked, status, field, got)
			}
		}
	}
}
