package ingest

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// describeImage lists the architectures of a tag's image, with their sizes.
func describeImage(t *testing.T, c *fakeCore, repo, tag string) string {
	t.Helper()
	at := c.tags["uid of "+repo+":"+tag]
	if at == nil {
		return "no tag"
	}
	image := c.images[string(at.Repo)+"@"+at.Digest]
	if image == nil {
		return "no image"
	}
	var all []string
	for _, a := range image.Architectures {
		all = append(all, fmt.Sprintf("%s=%d", a.Name, a.Size))
	}
	return strings.Join(all, " ")
}

func TestEveryKindOfImageIsReadWithItsArchitecturesAndSizes(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	amd, arm64, arm7, i386, windows, older := h.image("linux/amd64"), h.image("linux/arm64/v8"), h.image("linux/arm/v7"), h.image("linux/386"), h.image("windows/amd64"), h.image("windows/amd64")
	multi := h.index(part{amd, "linux/amd64"}, part{h.image(""), "unknown/unknown"}, part{arm7, "linux/arm/v7"}, part{arm64, "linux/arm64/v8"},
		part{i386, "linux/386"}, part{windows, "windows/amd64:10.0.20348"}, part{older, "windows/amd64:10.0.17763"})
	h.push("r:multi", multi)
	h.push("r:alias", multi)
	h.push("r:docker", mutate.IndexMediaType(h.index(part{mutate.MediaType(mutate.ConfigMediaType(amd, types.DockerConfigJSON), types.DockerManifestSchema2), "linux/amd64"}), types.DockerManifestList))
	h.push("r:nested", h.index(part{h.index(part{arm64, "linux/arm64"}, part{i386, ""}), ""}, part{multi, ""}))
	h.push("r:single", arm7)
	lost := h.image("linux/ppc64le")
	h.push("r:mirror", h.index(part{lost, "linux/ppc64le"}, part{amd, "linux/amd64"}))
	lostDigest, err := lost.Digest()
	h.check(err)
	h.remove("r@" + lostDigest.String())
	h.push("r:chart", mutate.ConfigMediaType(h.image(""), "application/vnd.cncf.helm.config.v1+json"))
	h.push("r:sha256-"+strings.Repeat("a", 64)+".sig", h.image(""))
	h.putManifest("r:ancient", string(types.DockerManifestSchema1), `{"schemaVersion": 1, "name": "r", "tag": "ancient", "architecture": "amd64", "fsLayers": []}`)
	h.putManifest("r:mistold", "application/json; charset=utf-8", string(rawIndex(t, multi)))

	h.resetRequests()
	o := h.pull(c, nil, "r")
	if o.err != nil {
		t.Fatal(o.err)
	}
	o.checkReports(t, [2]string{"HUB/r:ancient: ", "schema 1, which is not supported"})
	all := fmt.Sprintf("amd64=%d armv7=%d arm64=%d 386=%d windows-amd64=%d", h.sizeOf(amd), h.sizeOf(arm7), h.sizeOf(arm64), h.sizeOf(i386), h.sizeOf(windows))
	for tag, want := range map[string]string{
		"multi": all, "alias": all, "mistold": all,
		"docker":  fmt.Sprintf("amd64=%d", h.sizeOf(amd)),
		"nested":  fmt.Sprintf("arm64=%d 386=%d amd64=%d armv7=%d windows-amd64=%d", h.sizeOf(arm64), h.sizeOf(i386), h.sizeOf(amd), h.sizeOf(arm7), h.sizeOf(windows)),
		"single":  fmt.Sprintf("armv7=%d", h.sizeOf(arm7)),
		"mirror":  fmt.Sprintf("ppc64le=0 amd64=%d", h.sizeOf(amd)),
		"chart":   "",
		"ancient": "no image",
		"sha256-" + strings.Repeat("a", 64) + ".sig": "",
	} {
		if got := describeImage(t, c, "r", tag); got != want {
			t.Errorf("%s runs on %q, want %q", tag, got, want)
		}
	}
	checkKinds(t, o.Summary, KindCounts{Name: "repos", Added: 1}, KindCounts{Name: "tags", Added: 10}, KindCounts{Name: "images", Added: 7, Failed: 1})
	for request, n := range h.requests() {
		// A manifest may be read once without its platform and once with it.
		if most := 2; strings.Contains(request, "/manifests/sha256:") && n > most {
			t.Errorf("%s was asked %d times", request, n)
		}
	}
}

func TestTheBaseOfAnImageIsThatOfItsAnnotations(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	on := func(name, digest string) map[string]string {
		return map[string]string{"org.opencontainers.image.base.name": name, "org.opencontainers.image.base.digest": digest, "other": "x"}
	}
	based, isImage := mutate.Annotations(h.image("linux/arm64"), on("docker.io/library/debian:12", digest)).(v1.Image)
	whole, isIndex := mutate.Annotations(h.index(part{based, "linux/arm64"}), on("debian:13", digestOf(2))).(v1.ImageIndex)
	odd, isOdd := mutate.Annotations(h.image("linux/amd64"), on("a\nb", "sha512:1")).(v1.Image)
	if !isImage || !isIndex || !isOdd {
		t.Fatal("annotations changed the kind of an image")
	}
	h.push("r:single", based)
	h.push("r:index", h.index(part{h.image("linux/amd64"), "linux/amd64"}, part{based, "linux/arm64"}))
	h.push("r:whole", whole)
	h.push("r:odd", odd)
	h.push("r:none", h.image("linux/386"))
	if o := h.pull(c, nil, "r"); o.err != nil {
		t.Fatal(o.err)
	}
	for tag, want := range map[string]string{
		"single": "docker.io/library/debian:12 " + digest, "index": "docker.io/library/debian:12 " + digest, "whole": "debian:13 " + digestOf(2), "odd": " ", "none": " ",
	} {
		at := c.tags["uid of r:"+tag]
		if image := c.images[string(at.Repo)+"@"+at.Digest]; image.BaseName+" "+image.BaseDigest != want {
			t.Errorf("%s is built on %q %q, want %q", tag, image.BaseName, image.BaseDigest, want)
		}
	}
}

func rawIndex(t *testing.T, index v1.ImageIndex) []byte {
	t.Helper()
	raw, err := index.RawManifest()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestAManifestOfManyTagsIsReadOnceAndAStoredOneNever(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	shared, other := h.index(part{h.image("linux/amd64"), "linux/amd64"}), h.image("linux/amd64")
	var digest string
	for n := range tagChunk + 10 { // The tags need two chunks.
		digest = h.push(fmt.Sprintf("r:t%d", n), shared)
	}
	h.resetRequests()
	o := h.pull(c, nil, "r")
	checkKinds(t, o.Summary, KindCounts{Name: "repos", Added: 1}, KindCounts{Name: "tags", Added: tagChunk + 10}, KindCounts{Name: "images", Added: 1})
	if n := h.countRequests("GET /v2/r/manifests/" + digest); n != 1 || o.err != nil {
		t.Errorf("it was read %d times, want 1 (%v)", n, o.err)
	}

	moved := h.push("r:t1", other)
	h.resetRequests()
	o = h.pull(c, nil, "r")
	checkKinds(t, o.Summary, KindCounts{Name: "repos", Unchanged: 1}, KindCounts{Name: "tags", Updated: 1, Unchanged: tagChunk + 9}, KindCounts{Name: "images", Added: 1, Unchanged: 1})
	if at := c.tags["uid of r:t1"].Digest; at != moved {
		t.Errorf("t1 is at %s, want %s", at, moved)
	}
	for request := range h.requests() {
		isReferrers := strings.HasSuffix(request, "/"+strings.Replace(moved, ":", "-", 1))
		if strings.HasPrefix(request, "GET /v2/r/manifests/") && !strings.HasSuffix(request, moved) && !isReferrers {
			t.Errorf("asked %s", request)
		}
	}
}

func TestAnImageStoredWithoutSizesIsCompleted(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	image := h.image("linux/amd64")
	key := "uid of r@" + h.push("r:1", image)
	c.images[key] = &inventory.Image{Repo: "uid of r", Digest: strings.TrimPrefix(key, "uid of r@"), Architectures: []inventory.Architecture{{Name: "amd64"}}, Packages: []string{"bash"}}
	o := h.pull(c, nil, "r")
	checkKinds(t, o.Summary, KindCounts{Name: "repos", Added: 1}, KindCounts{Name: "tags", Added: 1}, KindCounts{Name: "images", Updated: 1})
	if got := c.images[key]; got.Architectures[0].Size != h.sizeOf(image) || !slices.Equal(got.Packages, []string{"bash"}) {
		t.Errorf("got %+v, want Packages %v", got, []string{"bash"})
	}
}

// An odd entry of an index is left out, and its siblings are kept.
func TestOddManifestsInAnIndexAreLeftOutAndNamed(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	good, other := h.image("linux/amd64"), h.image("linux/arm64")
	h.push("r:good", good)
	h.push("r:other", other)
	h.push("r:nothing", h.image(""))
	h.putManifest("r:old", string(types.DockerManifestSchema1), `{"schemaVersion": 1}`)
	h.putManifest("r:artifact", string(types.OCIManifestSchema1), `{"config": {"mediaType": "application/x"}}`)
	entry := func(tag, platform string) string {
		ref, err := name.ParseReference(h.host + "/r:" + tag)
		h.check(err)
		described, err := remote.Head(ref)
		h.check(err)
		return fmt.Sprintf(`{"digest": %q, "size": 1, "platform": %s}`, described.Digest, platform)
	}
	index := func(tag string, entries ...string) {
		h.putManifest("r:"+tag, string(types.OCIImageIndex), `{"schemaVersion": 2, "manifests": [`+strings.Join(append(entries, entry("good", `{"os": "linux", "architecture": "amd64"}`)), ",")+`]}`)
	}
	index("capital", entry("other", `{"os": "Linux", "architecture": "ARM64"}`))
	index("empty", entry("other", `{"os": "", "architecture": ""}`))
	index("none", entry("other", `null`))
	index("slash", entry("other", `{"os": "linux", "architecture": "arm/v7"}`))
	index("whole", entry("other", `{"os": "linux", "architecture": "linux/arm/v6"}`))
	index("invalid", entry("other", `{"os": "li nux", "architecture": "arm64"}`))
	index("nowhere", entry("nothing", `{}`))
	index("schema1", entry("old", `{"os": "linux", "architecture": "arm64"}`))
	index("artifact", entry("artifact", `{"os": "linux", "architecture": "arm64"}`))
	o := h.pull(c, nil, "r")
	if o.err != nil {
		t.Fatal(o.err)
	}
	o.checkReports(t, [2]string{"HUB/r:old: ", "schema 1, which is not supported"},
		[2]string{"HUB/r:invalid: manifest sha256:", `has the platform "li nux/arm64", which is not valid, and is left out`},
		[2]string{"HUB/r:nowhere: manifest sha256:", "has no platform, and is left out"}, [2]string{"HUB/r:schema1: manifest sha256:", "schema 1"},
		[2]string{"HUB/r:artifact: manifest sha256:", "is neither an image nor an index, and is left out"})
	amd64, second := fmt.Sprint("amd64=", h.sizeOf(good)), fmt.Sprint("=", h.sizeOf(other))
	for tag, want := range map[string]string{
		"capital": "arm64" + second + " " + amd64, "empty": "arm64" + second + " " + amd64, "none": "arm64" + second + " " + amd64,
		"slash": "armv7" + second + " " + amd64, "whole": "armv6" + second + " " + amd64,
		"invalid": amd64, "nowhere": amd64, "schema1": amd64, "artifact": amd64,
	} {
		if got := describeImage(t, c, "r", tag); got != want {
			t.Errorf("%s runs on %q, want %q", tag, got, want)
		}
	}
}

func TestTheLinkToTheNextPageIsFoundAmongOthers(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		headers []string
		want    string
	}{
		{nil, ""},
		{[]string{`</a?last=1>; rel="next"`}, `</a?last=1>; rel="next"`},
		{[]string{`</a?last=1>;rel=next`}, `</a?last=1>; rel="next"`},
		{[]string{`</a?last=1>; title="x"; REL="prefetch NEXT"`}, `</a?last=1>; rel="next"`},
		{[]string{`</a?last=1>`}, `</a?last=1>; rel="next"`},
		{[]string{`</a?last=0>; rel="prev"`}, ""},
		{[]string{`</a>; rel="first", </a?last=1>; rel="next"`}, `</a?last=1>; rel="next"`},
		{[]string{`</a>; rel="first"`, `</a?last=1>; rel="next"`}, `</a?last=1>; rel="next"`},
		{[]string{`</a?last=1,b;c>; title="a, \"b; rel=prev"; rel="next"`}, `</a?last=1,b;c>; rel="next"`},
		{[]string{`nonsense`, `<`, `>;;,"`, `<a; rel="next"`}, ""},
		{[]string{`<` + strings.Repeat("a", maxLinkBytes+1) + `>; rel="next"`}, "error"},
	} {
		answer := &http.Response{Header: http.Header{"Link": x.headers}}
		err := keepNextLink(answer)
		got := strings.Join(answer.Header.Values("Link"), "|")
		if err != nil {
			got = "error"
		}
		if got != x.want {
			t.Errorf("%q leads to %q, want %q", x.headers, got, x.want)
		}
	}
}

func TestRetryAfterIsReadAsSecondsAndAsADate(t *testing.T) {
	t.Parallel()
	const now = "Thu, 26 Nov 2026 18:00:00 GMT"
	for after, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "Thu, 26 Nov 2026 18:00:09 GMT": 9 * time.Second, "Thursday, 26-Nov-26 18:01:00 GMT": time.Minute,
		"Thu, 26 Nov 2026 17:59:59 GMT": -time.Second, "soon": 0, "9999999999999": 0,
	} {
		answer := &http.Response{Header: http.Header{"Retry-After": {after}, "Date": {now}}}
		if got := parseRetryAfter(answer); got != want {
			t.Errorf("%q asks to wait %v, want %v", after, got, want)
		}
	}
}

func TestACatalogIsReadPageByPage(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	var want []string
	for n := range 2*pageSize + 1 {
		repo := fmt.Sprintf("team-%d/app", n)
		for tag := range n + 1 {
			h.push(fmt.Sprintf("%s:%d", repo, tag), h.image("linux/amd64"))
			want = append(want, fmt.Sprintf("uid of %s:%d", repo, tag))
		}
	}
	var last Progress
	o := h.pull(c, func(from *OCISource) { from.Concurrency = 2 })
	if o.err != nil || !slices.Equal(keysOf(c.tags), want) {
		t.Errorf("imported %q, want %q (%v)", keysOf(c.tags), want, o.err)
	}
	o.checkReports(t)
	if n := h.countRequests("GET /v2/_catalog"); n != 3 {
		t.Errorf("%d pages of the catalog, want 3", n)
	}
	sum, err := importOCI(t.Context(), c.destination(), OCISource{Names: []string{h.host}, Concurrency: 3}, Options{ReportProgress: func(p Progress) {
		if p.Read < last.Read || p.Read > p.Total {
			t.Errorf("from %+v to %+v", last, p)
		}
		last = p
	}}, 0)
	if err != nil || last.Records != 7+28 || sum.Kinds[1].Unchanged != 28 {
		t.Errorf("got %+v, %+v (%v), want Unchanged 28", last, sum, err)
	}
}

func TestTheNumberOfConcurrentRequestsIsLimited(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	for n := range 12 {
		h.push(fmt.Sprintf("r:%d", n), h.index(part{h.image("linux/amd64"), "linux/amd64"}, part{h.image("linux/arm64"), "linux/arm64"}))
	}
	h.resetRequests()
	o := h.pull(newFakeCore(), func(from *OCISource) { from.Concurrency = 3 }, "r")
	h.mu.Lock()
	defer h.mu.Unlock()
	if o.err != nil || h.maxRunning == 0 || h.maxRunning > 3 {
		t.Errorf("%d at once (%v)", h.maxRunning, o.err)
	}
}

func TestTagsAreRemovedOnlyOnRequest(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	for _, tag := range []string{"r:1", "r:2", "r:3", "r:4", "kept:1"} {
		h.push(tag, h.image("linux/amd64"))
	}
	h.pull(c, nil)
	h.remove("r:1")
	h.remove("r:4")
	if h.pull(c, nil, "r"); len(c.tags) != 5 {
		t.Errorf("left are %q, want 5 tags", keysOf(c.tags))
	}
	h.remove("kept:1")
	o := h.pull(c, func(from *OCISource) { from.Prune = true }, "r")
	if !slices.Equal(keysOf(c.tags), []string{"uid of kept:1", "uid of r:2", "uid of r:3"}) || o.Kinds[1].Removed != 2 || len(c.repos) != 2 {
		t.Errorf("left are %q, %+v, want Removed 2 and 2 repos", keysOf(c.tags), o)
	}
}

// hideRepos answers like a registry that has lost repos: its catalog omits them, and
// requests for their tags get status and body.
func hideRepos(h *hub, status int, body string, lost ...string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/v2/_catalog" {
			_, _ = fmt.Fprint(w, `{"repositories": ["kept"]}`)
			return true
		}
		repo, list := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v2/"), "/tags/list")
		if !list || !slices.Contains(lost, repo) {
			return false
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
		return true
	}
}

const nameUnknown = `{"errors": [{"code": "NAME_UNKNOWN", "message": "repository name not known to registry"}]}`

func TestARepoThatVanishedIsReportedAndEmptiedByPruning(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	for _, tag := range []string{"kept:1", "lost:1", "lost:2"} {
		h.push(tag, h.image("linux/amd64"))
	}
	h.pull(c, nil)
	c.tags["uid of lost:own"] = &registry.ImportedTag{Repo: "uid of lost", Tag: inventory.Tag{Name: "own"}} // A caller set this tag.
	h.setHandler(hideRepos(h, http.StatusNotFound, nameUnknown, "lost"))

	o := h.pull(c, nil)
	o.checkReports(t, [2]string{"HUB/lost: ", "has vanished from the registry; the tags that came from there stay (--prune removes them)"})
	if o.Kinds[0] != (KindCounts{Name: "repos", Unchanged: 1, Vanished: 1}) || o.Failed() != 0 || len(c.tags) != 4 {
		t.Errorf("%+v, left are %q, want Failed 0 and 4 tags", o, keysOf(c.tags))
	}
	o = h.pull(c, func(from *OCISource) { from.Prune = true }, "lost") // The caller named this repo.
	o.checkReports(t, [2]string{"HUB/lost: ", "has vanished from the registry; the tags that came from there are removed: 2"})
	if !slices.Equal(keysOf(c.tags), []string{"uid of kept:1", "uid of lost:own"}) || o.Kinds[1].Removed != 2 || o.Failed() != 0 || len(c.repos) != 2 {
		t.Errorf("%+v, left are %q, want Removed 2, Failed 0 and 2 repos", o, keysOf(c.tags))
	}
	o = h.pull(c, func(from *OCISource) { from.Prune = true }) // No tag of the import is left.
	if o.checkReports(t); o.Kinds[0].Vanished != 0 {
		t.Errorf("got %+v, want Vanished 0", o)
	}
	if o = h.pull(c, nil, "lost"); o.Failed() != 1 {
		t.Errorf("a repo of which the group has nothing: %+v", o)
	}
}

func TestNothingIsPrunedIfARepoMayStillExist(t *testing.T) {
	t.Parallel()
	for why, answer := range map[string]struct {
		status int
		body   string
	}{
		"nobody signed in":      {http.StatusUnauthorized, `{"errors": [{"code": "UNAUTHORIZED"}]}`},
		"access was lost":       {http.StatusForbidden, `{"errors": [{"code": "DENIED"}]}`},
		"something on the way":  {http.StatusNotFound, "<h1>404</h1>"},
		"another kind of error": {http.StatusNotFound, `{"errors": [{"code": "UNSUPPORTED"}]}`},
	} {
		h, c := newHub(t), newFakeCore()
		h.push("kept:1", h.image("linux/amd64"))
		h.push("hidden:1", h.image("linux/amd64"))
		h.pull(c, nil)
		h.setHandler(hideRepos(h, answer.status, answer.body, "hidden"))
		if o := h.pull(c, func(from *OCISource) { from.Prune = true }); o.Failed() != 1 || o.Kinds[0].Vanished != 0 || len(c.tags) != 2 {
			t.Errorf("%s: %+v, left are %q, want Failed 1, Vanished 0 and 2 tags", why, o, keysOf(c.tags))
		}
	}
}

func TestACatalogThatListsNothingIsAFailureAndPrunesNothing(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	h.push("r:1", h.image("linux/amd64"))
	h.pull(c, nil)
	h.setHandler(func(w http.ResponseWriter, r *http.Request) bool {
		_, _ = fmt.Fprint(w, `{"repositories": []}`)
		return true
	})
	o := h.pull(c, func(from *OCISource) { from.Prune = true })
	o.checkReports(t, [2]string{"HUB: ", "its catalog lists no repos, so nothing was imported or pruned; name the repos (REGISTRY/REPO) if the registry hides them"})
	if o.Failed() != 1 || len(c.tags) != 1 {
		t.Errorf("%+v, left are %q, want Failed 1 and 1 tags", o, keysOf(c.tags))
	}
}

func TestPruningLeavesTheTagsOfAnotherRegistryWithTheSamePath(t *testing.T) {
	t.Parallel()
	h, other, c := newHub(t), newHub(t), newFakeCore()
	for _, tag := range []string{"team/app:1", "team/app:2"} {
		h.push(tag, h.image("linux/amd64"))
	}
	other.push("team/app:3", h.image("linux/amd64"))
	prune := func(from *OCISource) { from.Prune = true }
	h.pull(c, prune)
	other.pull(c, prune)
	h.remove("team/app:1")
	h.pull(c, prune)
	if want := []string{"uid of team/app:2", "uid of team/app:3"}; !slices.Equal(keysOf(c.tags), want) {
		t.Errorf("left are %q, want %q", keysOf(c.tags), want)
	}
}

func TestARegistryWithoutHEADIsReadWithGET(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	h.push("r:1", h.image("linux/amd64"))
	h.setHandler(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
		return r.Method == http.MethodHead
	})
	if o := h.pull(c, nil, "r"); o.err != nil || o.Failed() != 0 || len(c.tags) != 1 {
		t.Errorf("got %+v, want Failed 0 and 1 tags", o)
	}
}

func TestTheSameRepoOfTwoRegistriesIsImportedOnce(t *testing.T) {
	t.Parallel()
	h, other, c := newHub(t), newHub(t), newFakeCore()
	first := h.push("r:1", h.image("linux/amd64"))
	other.push("r:1", h.image("linux/amd64"))
	o := h.pull(c, func(from *OCISource) { from.Names = append(from.Names, h.host, other.host) }, "r", "r")
	o.checkReports(t, [2]string{other.host + "/r: ", "the group can have only one repo r, and the import takes the one of HUB"})
	if o.err != nil || c.tags["uid of r:1"].Digest != first {
		t.Errorf("got %+v, want Digest %v", o, first)
	}
}

func TestInvalidRegistryNamesAreRejectedBeforeReading(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	o := h.pull(newFakeCore(), func(from *OCISource) {
		from.Names = append(from.Names, "golang", "https://ghcr.io/x", "ghcr.io/X", "ghcr.io/x:1", "gh cr.io")
	}, "r")
	if o.err == nil || strings.Count(o.err.Error(), "\n") != 4 || !strings.Contains(o.err.Error(), `"golang": must begin with the host of a registry, such as docker.io/golang`) || len(h.requests()) > 0 {
		t.Errorf("error %v, want a text with %q", o.err, `"golang": must begin with the host of a registry, such as docker.io/golang`)
	}
	o = h.pull(newFakeCore(), func(from *OCISource) { h.setHandler(failWith(http.StatusUnauthorized, "/v2/_catalog")) })
	o.checkReports(t, [2]string{"HUB: its catalog cannot be read: ", "401"})
	if o.err != nil || o.Failed() != 1 {
		t.Errorf("got %+v, want Failed 1", o)
	}
}

// This test sets environment variables, so it is not parallel.
func TestTheImportSignsInWithStoredCredentials(t *testing.T) {
	h, c := newHub(t), newFakeCore()
	h.push("r:1", h.image("linux/amd64"))
	h.setHandler(func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, _ := r.BasicAuth(); user == "me" && password == "secret" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="hub"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	home := t.TempDir()
	t.Setenv("DOCKER_CONFIG", home)
	if o := h.pull(c, nil, "r"); o.Failed() != 1 || !strings.Contains(o.reports[0], "401") {
		t.Errorf("as nobody: %+v, want Failed 1 and a text with '401'", o)
	}
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(`{"auths": {"`+h.host+`": {"username": "me", "password": "secret"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := h.pull(c, nil, "r"); o.Failed() != 0 || len(c.tags) != 1 {
		t.Errorf("as me: %+v, want Failed 0 and 1 tags", o)
	}
}

func TestArchitecturesAreSpelledAsTheAPIDocumentsThem(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"linux/amd64": "amd64", "linux/amd64/v1": "amd64", "linux/amd64/v3": "amd64v3", "linux/386": "386",
		"linux/arm": "armv7", "linux/arm/v5": "armv5", "linux/arm/v6": "armv6", "linux/arm/7": "armv7",
		"linux/arm64": "arm64", "linux/arm64/v8": "arm64", "linux/arm64/8": "arm64", "linux/arm64/v9": "arm64v9",
		"linux/ppc64le": "ppc64le", "linux/s390x": "s390x", "linux/riscv64": "riscv64", "linux/mips64le": "mips64le",
		"windows/amd64": "windows-amd64", "freebsd/arm64": "freebsd-arm64", "linux": "", "unknown/unknown": "", "": "",
		"Linux/ARM64": "arm64", "linux/x86_64": "amd64", "linux/aarch64": "arm64", "linux/armhf": "armv7", "windows/x86_64": "windows-amd64",
		"linux/a\x00b": "error", "linux/" + strings.Repeat("a", 40): "error", "Li\nnux/amd64": "error",
	} {
		p, err := v1.ParsePlatform(config)
		if err != nil {
			t.Fatal(err)
		}
		got, err := architectureName(*p)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q is %q, want %q", config, got, want)
		}
	}
}
