package ingest

import (
	"encoding/json"
	"fmt"
	"io"
	stdlog "log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	ociregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// pageSize is how many names a page of a hub's lists has.
const pageSize = 3

// A hub is a registry of the test's own. It pages its lists, remembers what it
// was asked, and does as it is told.
type hub struct {
	*testing.T
	host  string
	inner http.Handler

	mu       sync.Mutex
	asked    map[string]int // times, by "METHOD path"
	underWay int
	most     int // under way at once

	// instead answers a request in the registry's place, if it returns true.
	instead func(w http.ResponseWriter, r *http.Request) bool
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{T: t, inner: ociregistry.New(ociregistry.Logger(stdlog.New(io.Discard, "", 0))), asked: map[string]int{}}
	server := httptest.NewServer(h)
	server.Config.ErrorLog = stdlog.New(io.Discard, "", 0) // of clients that try https first
	t.Cleanup(server.Close)
	h.host = strings.TrimPrefix(server.URL, "http://")
	return h
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked[r.Method+" "+r.URL.Path]++
	h.underWay++
	h.most = max(h.most, h.underWay)
	instead := h.instead
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		h.underWay--
		h.mu.Unlock()
	}()
	switch {
	case instead != nil && instead(w, r):
	case r.URL.Path == "/v2/_catalog":
		h.page(w, r, "repositories")
	case strings.HasSuffix(r.URL.Path, "/tags/list"):
		h.page(w, r, "tags")
	default:
		h.inner.ServeHTTP(w, r)
	}
}

// page answers a part of a list, and where the next one is.
func (h *hub) page(w http.ResponseWriter, r *http.Request, list string) {
	whole := httptest.NewRecorder()
	h.inner.ServeHTTP(whole, httptest.NewRequest(http.MethodGet, r.URL.Path, nil))
	var all map[string]json.RawMessage
	var names []string
	if whole.Code != http.StatusOK || json.Unmarshal(whole.Body.Bytes(), &all) != nil || json.Unmarshal(all[list], &names) != nil {
		maps.Copy(w.Header(), whole.Header())
		w.WriteHeader(whole.Code)
		_, _ = w.Write(whole.Body.Bytes())
		return
	}
	slices.Sort(names)
	last := r.URL.Query().Get("last")
	names = slices.DeleteFunc(names, func(name string) bool { return name <= last })
	if len(names) > pageSize {
		names = names[:pageSize]
		w.Header().Set("Link", fmt.Sprintf(`<%s?last=%s>; rel="next"`, r.URL.Path, names[pageSize-1]))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{list: names})
}

// answers lets instead answer from now on.
func (h *hub) answers(instead func(http.ResponseWriter, *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.instead = instead
}

// failing answers requests for paths that end so.
func failing(status int, suffixes ...string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		fails := slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(r.URL.Path, suffix) })
		if fails {
			w.WriteHeader(status)
		}
		return fails
	}
}

// requests are those that were made, with how often.
func (h *hub) requests() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.asked)
}

// times a request was made.
func (h *hub) times(request string) int {
	return h.requests()[request]
}

func (h *hub) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked, h.most = map[string]int{}, 0
}

func (h *hub) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// push stores an image or index as repo:tag and gives its digest.
func (h *hub) push(reference string, what remote.Taggable) string {
	h.Helper()
	ref, err := name.ParseReference(h.host + "/" + reference)
	h.must(err)
	switch what := what.(type) {
	case v1.ImageIndex:
		h.must(remote.WriteIndex(ref, what))
	case v1.Image:
		h.must(remote.Write(ref, what))
	}
	described, err := remote.Get(ref)
	h.must(err)
	return described.Digest.String()
}

// put stores a manifest as it is.
func (h *hub) put(reference, mediaType, content string) {
	h.Helper()
	repo, tag, _ := strings.Cut(reference, ":")
	request, err := http.NewRequestWithContext(h.Context(), http.MethodPut, "http://"+h.host+"/v2/"+repo+"/manifests/"+tag, strings.NewReader(content))
	h.must(err)
	request.Header.Set("Content-Type", mediaType)
	answer, err := http.DefaultClient.Do(request)
	h.must(err)
	h.must(answer.Body.Close())
	if answer.StatusCode != http.StatusCreated {
		h.Fatalf("put %s: %s", reference, answer.Status)
	}
}

func (h *hub) remove(reference string) {
	h.Helper()
	ref, err := name.ParseReference(h.host + "/" + reference)
	h.must(err)
	h.must(remote.Delete(ref))
}

// image makes one whose config tells its platform: os/architecture/variant, or
// "" for none.
func (h *hub) image(told string) v1.Image {
	h.Helper()
	made, err := random.Image(300, 2)
	h.must(err)
	config, err := made.ConfigFile()
	h.must(err)
	config = config.DeepCopy()
	platform, err := v1.ParsePlatform(told)
	h.must(err)
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	made, err = mutate.ConfigFile(made, config)
	h.must(err)
	return made
}

// A part is what an index holds, and the platform that the index tells of it.
type part struct {
	what     mutate.Appendable
	platform string
}

func (h *hub) index(parts ...part) v1.ImageIndex {
	h.Helper()
	adds := make([]mutate.IndexAddendum, len(parts))
	for i, p := range parts {
		adds[i].Add = p.what
		if p.platform != "" {
			platform, err := v1.ParsePlatform(p.platform)
			h.must(err)
			adds[i].Platform = platform
		}
	}
	return mutate.AppendManifests(empty.Index, adds...)
}

// sizeOf is how much is to be transferred for an image.
func (h *hub) sizeOf(i v1.Image) int64 {
	h.Helper()
	m, err := i.Manifest()
	h.must(err)
	size := m.Config.Size
	for _, layer := range m.Layers {
		size += layer.Size
	}
	return size
}

// An outcome is what became of an import.
type outcome struct {
	Summary
	reports
	err error
}

// pull imports from the hub: all of it, or repos.
func (h *hub) pull(to *core, change func(*OCISource), repos ...string) outcome {
	h.Helper()
	from := OCISource{Concurrency: 4}
	for _, repo := range repos {
		from.Names = append(from.Names, h.host+"/"+repo)
	}
	if len(repos) == 0 {
		from.Names = []string{h.host}
	}
	if change != nil {
		change(&from)
	}
	var o outcome
	o.Summary, o.err = importOCI(h.Context(), to.sink(), from, o.options(), time.Millisecond)
	for i, report := range o.reports {
		o.reports[i] = strings.ReplaceAll(report, h.host, "HUB")
	}
	return o
}

// reported wants reports that begin and end so, in any order.
func (o outcome) reported(t *testing.T, want ...[2]string) {
	t.Helper()
	left := slices.Clone([]string(o.reports))
	for _, w := range want {
		i := slices.IndexFunc(left, func(r string) bool { return strings.HasPrefix(r, w[0]) && strings.Contains(r, w[1]) })
		if i < 0 {
			t.Errorf("no report %q of\n%s", w, strings.Join(o.reports, "\n"))
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 {
		t.Errorf("unexpected reports\n%s", strings.Join(left, "\n"))
	}
}
