package ingest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/types"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

func TestFailuresAreNamedAndTheRestIsImported(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	broken := h.push("a:broken", h.image("linux/amd64"))
	part1 := h.image("linux/arm64")
	h.push("a:half", h.index(part{h.image("linux/amd64"), "linux/amd64"}, part{part1, "linux/arm64"}))
	partDigest, err := part1.Digest()
	h.check(err)
	h.push("a:fine", h.image("linux/amd64"))
	h.push("a:gone", h.image("linux/amd64"))
	h.push("a:refused", h.image("linux/amd64"))
	h.push("b:fine", h.image("linux/amd64"))
	h.push("listless:1", h.image("linux/amd64"))
	h.push("refused/repo:1", h.image("linux/amd64"))
	h.putManifest("a:both", string(types.OCIImageIndex), `{"config": {"mediaType": "`+string(types.OCIConfigJSON)+`"}, "manifests": [{}]}`)
	h.putManifest("a:strange", string(types.OCIManifestSchema1), `{"config": {"mediaType": "`+string(types.OCIConfigJSON)+`", "size": -5}}`)
	h.putManifest("a:text", string(types.OCIManifestSchema1), `{"config`)
	c.rejected = "refused/repo"
	internal := failWith(http.StatusInternalServerError, broken, partDigest.String(), "/listless/tags/list")
	h.setHandler(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/a/manifests/gone") {
			http.Error(w, `{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "it went"}]}`, http.StatusNotFound)
			return true
		}
		return internal(w, r)
	})
	to := c.destination()
	tags := to.tags
	to.tags = func(ctx context.Context, rows []*registry.ImportedTag) (core.Imported, error) {
		done, err := tags(ctx, rows)
		for i, row := range rows {
			if row.Name == "refused" {
				done.Rejected[i] = errors.New("is rejected")
			}
		}
		return done, err
	}
	c.tags["uid of a:old"] = &registry.ImportedTag{Repo: "uid of a", Tag: inventory.Tag{Name: "old", Source: h.host + "/a"}}
	c.tags["uid of b:old"] = &registry.ImportedTag{Repo: "uid of b", Tag: inventory.Tag{Name: "old", Source: h.host + "/b"}}
	c.tags["uid of listless:old"] = &registry.ImportedTag{Repo: "uid of listless", Tag: inventory.Tag{Name: "old", Source: h.host + "/listless"}}

	var o outcome
	o.Summary, o.err = importOCI(t.Context(), to, OCISource{Names: []string{h.host}, Concurrency: 4, Prune: true}, o.options(), time.Millisecond)
	if o.err != nil {
		t.Fatal(o.err)
	}
	o.checkReports(t,
		[2]string{h.host + "/a:broken: ", "status code 500"},
		[2]string{h.host + "/a:half: manifest " + partDigest.String(), "status code 500"},
		[2]string{h.host + "/a:gone: ", "it went"},
		[2]string{h.host + "/a:refused: ", "is rejected"},
		[2]string{h.host + "/a:both: ", "is both an index and an image"},
		[2]string{h.host + "/a:strange: ", "has a size that is negative or too large"},
		[2]string{h.host + "/a:text: ", "JSON"},
		[2]string{h.host + "/listless: ", "status code 500"},
		[2]string{h.host + "/refused/repo: ", "is rejected"},
	)
	if o.Failed() != 9 {
		t.Errorf("%d failed, want 9", o.Failed())
	}
	for _, tag := range []string{"uid of a:fine", "uid of a:broken", "uid of a:old", "uid of b:fine", "uid of listless:old"} {
		if c.tags[tag] == nil {
			t.Errorf("%s is not there", tag)
		}
	}
	if c.tags["uid of b:old"] != nil || o.Kinds[1].Removed != 1 {
		t.Errorf("%d removed, want 1, of %q", o.Kinds[1].Removed, keysOf(c.tags))
	}
	if n := h.countRequests("GET /v2/a/manifests/" + broken); n != maxTries {
		t.Errorf("%d tries, want %d", n, maxTries)
	}

	h.setHandler(nil) // The next import completes this one.
	if o := h.pull(c, nil, "a"); describeImage(t, c, "a", "broken") == "no image" || o.Kinds[2].Added != 3 {
		t.Errorf("got %+v, want Added 3", o.Kinds)
	}
}

func TestTextOfARegistryIsOneShortLine(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.push("r:1", h.image("linux/amd64"))
	h.setHandler(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/tags/list") {
			return false
		}
		http.Error(w, "\x1b[2Jall\r\nis "+strings.Repeat("w", 10000), http.StatusForbidden)
		return true
	})
	o := h.pull(newFakeCore(), nil, "r")
	if o.checkReports(t, [2]string{"HUB/r: ", "[2Jall is www"}); strings.ContainsAny(o.reports[0], "\x1b\r\n") || len(o.reports[0]) > 600 {
		t.Errorf("%q", o.reports)
	}
}

func TestTransientFailuresAreRetried(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	h.push("r:1", h.image("linux/amd64"))
	var asked atomic.Int64
	h.setHandler(func(w http.ResponseWriter, r *http.Request) bool {
		if r.TLS != nil || asked.Add(1)%maxTries == 0 {
			return false
		}
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	o := h.pull(c, func(from *OCISource) { from.Concurrency = 1 }, "r")
	if o.checkReports(t); o.err != nil || describeImage(t, c, "r", "1") == "no tag" {
		t.Errorf("%v, %+v", o.err, o.Summary)
	}
}

// The registry asks the importer to wait for an hour, so there is no retry.
func TestARegistryThatRefusesRequestsEndsTheImport(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	for n := range maxFailures + 5 {
		h.push(fmt.Sprintf("r:%d", n), h.image("linux/amd64"))
	}
	h.resetRequests()
	h.setHandler(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodHead {
			return false
		}
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	o := h.pull(newFakeCore(), nil, "r")
	if o.err == nil || !strings.Contains(o.err.Error(), "the last 20 requests failed") || !strings.Contains(o.err.Error(), "429") {
		t.Errorf("error %v, want a text with 'the last 20 requests failed' and a text with '429'", o.err)
	}
	for request, n := range h.requests() {
		if strings.HasPrefix(request, "HEAD ") && n > 1 {
			t.Errorf("%s %d times", request, n)
		}
	}
}

func TestAnInterruptedImportStopsAtOnceAndReportsNothing(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	for n := range 10 {
		h.push(fmt.Sprintf("r:%d", n), h.image("linux/amd64"))
	}
	ctx, interrupt := context.WithCancel(t.Context())
	h.setHandler(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodHead {
			return false
		}
		interrupt()
		w.WriteHeader(http.StatusServiceUnavailable) // The next attempt would follow after a minute.
		return true
	})
	var o outcome
	o.Summary, o.err = importOCI(ctx, c.destination(), OCISource{Names: []string{h.host + "/r"}, Concurrency: 3}, o.options(), time.Minute)
	if o.checkReports(t); !errors.Is(o.err, context.Canceled) || o.Failed() != 0 || len(c.tags) != 0 {
		t.Errorf("error %v, want %v, %+v", o.err, context.Canceled, o.Summary)
	}
}

// A registry may invent names and manifests without end.
func TestListsAndIndexesOfARegistryHaveLimits(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	var invented atomic.Int64
	h.setHandler(func(w http.ResponseWriter, r *http.Request) bool {
		n := invented.Add(1)
		names := fmt.Sprintf(`["n%d", "m%d"]`, n, n)
		if strings.Contains(r.URL.Path, "empty") {
			names = "[]"
		}
		w.Header().Set("Link", fmt.Sprintf(`<%s?last=%d>; rel="next"`, r.URL.Path, n))
		switch {
		case r.URL.Path == "/v2/":
		case r.URL.Path == "/v2/_catalog":
			fmt.Fprint(w, `{"repositories": `+names+`}`)
		case strings.HasSuffix(r.URL.Path, "/one/tags/list"):
			w.Header().Del("Link")
			fmt.Fprint(w, `{"tags": ["t"]}`)
		case strings.HasSuffix(r.URL.Path, "/tags/list"):
			fmt.Fprint(w, `{"tags": `+names+`}`)
		case r.Method == http.MethodHead:
			w.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("0", 64))
			w.Header().Set("Content-Type", string(types.OCIImageIndex))
			w.Header().Set("Content-Length", "2")
		default:
			return false
		}
		return true
	})
	limited := func(from *OCISource) { from.Concurrency, from.limits = 2, ociLimits{pages: 50, repos: 40, tags: 60} }
	for _, x := range []struct{ repo, want string }{
		{"many", "list more than 60 tags"}, {"empty", "has more than 50 pages"},
	} {
		o := h.pull(newFakeCore(), limited, x.repo)
		if o.checkReports(t, [2]string{"HUB/" + x.repo + ": ", x.want}); o.err != nil {
			t.Error(o.err)
		}
	}
	o := h.pull(newFakeCore(), func(from *OCISource) { limited(from); from.limits.tags = 1 })
	if len(o.reports) == 0 || !strings.Contains(strings.Join(o.reports, "\n"), "HUB: its catalog cannot be read: the catalog lists more than 40 repos") {
		t.Errorf("reports %q", o.reports)
	}
}

func TestAnImageHasALimitedNumberOfManifests(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	entries := func(n, from int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"digest": "sha256:%064x", "size": 1, "platform": {"os": "linux", "architecture": "a%d"}}`, from+i, from+i)
		}
		return `{"schemaVersion": 2, "manifests": [` + strings.Join(all, ",") + `]}`
	}
	index := string(types.OCIImageIndex)
	put := func(content string) string { // without a tag
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content)))
		h.putManifest("r:"+digest, index, content)
		return digest
	}
	const half = maxManifests * 3 / 5
	h.putManifest("r:large", index, entries(maxManifests+1, 0))
	h.putManifest("r:nested", index, `{"manifests": [{"digest": "`+put(entries(half, 1))+`"}, {"digest": "`+put(entries(half, maxManifests))+`"}]}`)
	o := h.pull(c, nil, "r")
	o.checkReports(t, [2]string{"HUB/r:large: ", "has more than 1000 manifests in its indexes"}, [2]string{"HUB/r:nested: manifest sha256:", "has more than 1000 manifests in its indexes, and is left out"})
	if got := strings.Count(describeImage(t, c, "r", "nested"), "="); got != half || o.err != nil {
		t.Errorf("%d architectures, want %d (%v)", got, half, o.err)
	}
}

func TestEndlessListsAndAnswersAreAborted(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	h.push("loop:1", h.image("linux/amd64"))
	h.push("cycle:1", h.image("linux/amd64"))
	h.push("large:1", h.image("linux/amd64"))
	h.push("other:1", h.image("linux/amd64"))
	h.setHandler(func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/v2/loop/tags/list":
			w.Header().Set("Link", `</v2/loop/tags/list?again>; rel="next"`)
			fmt.Fprint(w, `{"tags": []}`)
		case "/v2/cycle/tags/list": // Two pages link to each other.
			next := "even"
			if r.URL.RawQuery == "even" {
				next = "odd"
			}
			w.Header().Set("Link", `</v2/cycle/tags/list?`+next+`>; rel="next"`)
			fmt.Fprint(w, `{"tags": []}`)
		case "/v2/large/tags/list":
			fmt.Fprint(w, `{"tags": ["`+strings.Repeat("x", MaxRecord)+`"]}`)
		default:
			return false
		}
		return true
	})
	o := h.pull(c, nil)
	o.checkReports(t, [2]string{"HUB/loop: ", "does not end"}, [2]string{"HUB/cycle: ", "does not end"}, [2]string{"HUB/large: ", "is larger than 16 MiB"})
	if o.err != nil || len(c.tags) != 1 {
		t.Errorf("got %+v, want 1 tags", o)
	}
}
