package ingest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// registryData has the definitions of the official images. Tests that need it are
// skipped if it does not exist.
const registryData = "../../../shared/data/registry.jsonl.gz"

func importRegistryFile(t *testing.T, c *fakeCore, file string) (Summary, reports) {
	t.Helper()
	var r reports
	sum, err := importRegistry(t.Context(), c.destination(), file, r.options())
	if err != nil {
		t.Fatal(err)
	}
	return sum, r
}

func TestASecondImportOfTheOfficialImagesChangesNothing(t *testing.T) {
	t.Parallel()
	skipWithout(t, registryData)
	c := newFakeCore()
	sum, r := importRegistryFile(t, c, registryData)
	checkKinds(t, sum, KindCounts{Name: "repos", Added: 144}, KindCounts{Name: "tags", Added: 9849}, KindCounts{Name: "images", Added: 2057})
	r.check(t)
	for _, repo := range c.repos {
		if repo.Readme == "" {
			t.Errorf("%s has no readme", repo.Name)
		}
	}
	sum, _ = importRegistryFile(t, c, registryData)
	checkKinds(t, sum, KindCounts{Name: "repos", Unchanged: 144}, KindCounts{Name: "tags", Unchanged: 9849}, KindCounts{Name: "images", Unchanged: 2057})
}

const digest = "sha256:f6d3b8dcd1f60bb7dcb1b9fc301648b6db37f79b4c47fd458133bffb18e4ba6c"

func TestTagsAndImagesFindTheirRepoAnywhereInTheFile(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	c.repos["there"] = &registry.ImportedRepo{}
	sum, r := importRegistryFile(t, c, write(t, filepath.Join(t.TempDir(), "a.jsonl"), "\ufeff"+strings.Join([]string{
		`{"kind": "tag", "repo": "later", "name": "1", "digest": "` + digest + `", "deprecated": true, "unknown": 1}`,
		`{"kind": "repo", "name": "later", "description": "d", "readme": "r"}`,
		``,
		`{"kind": "image", "repo": "later", "digest": "` + digest + `", "architectures": ["amd64", {"name": "arm64", "size": 12}], "packages": ["bash"], "baseName": "debian:12", "baseDigest": "` + digest + `"}`,
		`{"kind": "tag", "repo": "there", "name": "1", "digest": "` + digest + `"}` + "\r",
		`{"kind": "tag", "repo": "later", "name": "1", "digest": "` + digest + `"}`,
	}, "\n")))
	r.check(t)
	checkKinds(t, sum, KindCounts{Name: "repos", Added: 1}, KindCounts{Name: "tags", Added: 2, Updated: 1}, KindCounts{Name: "images", Added: 1})
	want := &inventory.Image{
		Repo: "uid of later", Digest: digest, Packages: []string{"bash"},
		Architectures: []inventory.Architecture{{Name: "amd64"}, {Name: "arm64", Size: 12}},
		BaseName:      "debian:12", BaseDigest: digest,
	}
	if got := c.images["uid of later@"+digest]; !reflect.DeepEqual(got, want) {
		t.Errorf("image %+v, want %+v", got, want)
	}
	if c.tags["uid of later:1"].Deprecated {
		t.Error("the last line of a tag does not count")
	}
}

// Packages with versions become an SBOM, which has those that are known by their names too.
func TestPackageURLsOfALineBecomeAnSBOM(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	line := func(n int, packages string) string {
		return fmt.Sprintf(`{"kind": "image", "repo": "shop", "digest": "%s", "packages": [%s]}`, digestOf(n), packages)
	}
	file := write(t, filepath.Join(t.TempDir(), "a.jsonl"), strings.Join([]string{
		`{"kind": "repo", "name": "shop"}`,
		line(1, `"bash", "pkg:npm/left-pad@1.3.0", "pkg:npm/left-pad@1.2.0", "pkg:maven/org.slf4j/slf4j-api@2.0"`),
		line(2, `"bash", "pkg:npm/left-pad"`),
		line(3, `"pkg:npm/left-pad@1", "pkg:"`),
		`{"kind": "image", "repo": "shop", "digest": "` + digestOf(4) + `", "packages": ["pkg:npm/a@1"]}`,
	}, "\n"))
	c.rejected = "uid of shop@" + digestOf(4)
	sum, r := importRegistryFile(t, c, file)
	if len(r) != 2 || !strings.Contains(r[0]+r[1], "a.jsonl:4: packages[1]: ") || !strings.Contains(r[0]+r[1], "a.jsonl:5: is rejected") {
		t.Errorf("reported %q", r)
	}
	checkKinds(t, sum, KindCounts{Name: "repos", Added: 1}, KindCounts{Name: "tags"}, KindCounts{Name: "images", Added: 2, Failed: 2}, KindCounts{Name: "SBOMs", Added: 1})
	if got, want := c.held(), "uid of shop@"+digestOf(1)+": bash@ org.slf4j:slf4j-api@2.0 left-pad@1.2.0 left-pad@1.3.0"; got != want {
		t.Errorf("stored %s, want %s", got, want)
	}
	for n, want := range map[int]string{1: "[bash left-pad org.slf4j:slf4j-api]", 2: "[bash left-pad]"} {
		if got := fmt.Sprint(c.images["uid of shop@"+digestOf(n)].Packages); got != want {
			t.Errorf("the names of image %d are %s, want %s", n, got, want)
		}
	}
}

func TestBadLinesAreReportedOnceWithTheirNumber(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	c.rejected = "refused"
	path := write(t, filepath.Join(t.TempDir(), "a.jsonl.gz"), gzipOf(t, strings.Join([]string{
		`{"kind": "repo", "name": "r"}`,
		`{"kind": "repo", "name": 1}`,
		`{"kind": "repo", "name": "refused"}`,
		`{"kind": `,
		`{"kind": "chart"}`,
		`{"kind": "tag", "repo": "nowhere", "name": "1"}`,
		`{"kind": "tag", "name": "1"}`,
		`{"kind": "tag", "repo": "refused", "name": "\u0000"}`,
		`{"kind": "image", "repo": "r", "architectures": [{"size": 1}]}`,
		`{"kind": "image", "repo": "nowhere"}`,
		`{"kind": "repo", "name": "` + strings.Repeat("x", MaxRecord) + `"}`,
		`{"kind": "tag", "repo": "r", "name": "2"}`,
		`{"kind":"tag", "repo": "r"`,
		`{"kind": "tag", "repo": "r", "name": "3", "kind": "repo"}`,
		`{ "kind" :"image", "repo": "r", "kind": 1}`,
		`{"repo": "r", "name": "4"`,
		`{"repo": "r", "name": "4", "kind": "tag"}`,
		`{"kind": "tags", "repo": "r", "name": "5"}`,
	}, "\n")))
	sum, r := importRegistryFile(t, c, path)
	r.check(t,
		path+":2: name: must not be of the type number",
		path+":4: is not JSON: byte 10: unexpected end of JSON input",
		path+`:5: kind: must be "repo", "tag" or "image"`,
		path+":11: is larger than 16 MiB",
		path+":16: is not JSON: byte 26: unexpected end of JSON input",
		path+`:18: kind: must be "repo", "tag" or "image"`,
		path+":3: is rejected",
		path+`:9: architectures: must be names or {"name", "size"}`, // tags come after images
		path+`:10: repo: neither this file nor the group has one named "nowhere"`,
		path+":15: kind: must not be of the type number",
		path+`:6: repo: neither this file nor the group has one named "nowhere"`,
		path+":7: repo: is required",
		path+":8: contains the character U+0000, which no text may contain",
		path+":13: is not JSON: byte 27: unexpected end of JSON input",
		path+":14: kind: is given twice",
	)
	checkKinds(t, sum, KindCounts{Name: "repos", Added: 1, Failed: 2}, KindCounts{Name: "tags", Added: 2, Failed: 3}, KindCounts{Name: "images", Failed: 2})
	if sum.Unreadable != 8 || sum.Failed() != 15 {
		t.Errorf("%d unreadable, want 8, %d failed, want 15", sum.Unreadable, sum.Failed())
	}
}

func TestATruncatedFileIsReportedAtItsEnd(t *testing.T) {
	t.Parallel()
	whole := gzipOf(t, `{"kind": "repo", "name": "r"}`+"\n"+`{"kind": "tag", "repo": "r", "name": "2"}`+"\n")
	path := write(t, filepath.Join(t.TempDir(), "a.jsonl.gz"), whole[:len(whole)-6])
	c := newFakeCore()
	sum, r := importRegistryFile(t, c, path)
	r.check(t, path+":3: unexpected EOF")
	checkKinds(t, sum, KindCounts{Name: "repos", Added: 1}, KindCounts{Name: "tags", Added: 1}, KindCounts{Name: "images"})
}

// The attack is a pipe, which is empty when it is read for the second time: its tags would be
// missing without a word.
func TestAPipeAndAFolderAreRefused(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = w.WriteString(`{"kind": "repo", "name": "r"}` + "\n" + `{"kind": "tag", "repo": "r", "name": "2"}`)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	c := newFakeCore()
	if _, err := importRegistry(t.Context(), c.destination(), t.TempDir(), Options{}); err == nil || !strings.Contains(err.Error(), "is a folder; name a file of JSON lines") {
		t.Errorf("a folder: %v, want an error that says so", err)
	}
	_, err = importRegistry(t.Context(), c.destination(), fmt.Sprintf("/proc/self/fd/%d", r.Fd()), Options{})
	if err == nil || !strings.Contains(err.Error(), "must be a file and not a pipe") || len(c.repos) > 0 {
		t.Errorf("got %v with %d repos, want a refusal", err, len(c.repos))
	}
}

func TestProgressEndsAtTheWholeInput(t *testing.T) {
	t.Parallel()
	var last Progress
	path := write(t, filepath.Join(t.TempDir(), "a.jsonl"), `{"kind": "repo", "name": "r"}`+"\n"+`{"kind": "tag", "repo": "r", "name": "2"}`)
	_, err := importRegistry(t.Context(), newFakeCore().destination(), path, Options{ReportProgress: func(p Progress) { last = p }})
	if err != nil || last.Records != 2 || last.Read != last.Total || last.Total == 0 {
		t.Errorf("got %+v, %v, want Records 2", last, err)
	}
}
