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

// pageSize is the number of names on a page of a hub's lists.
const pageSize = 3

// A hub is a registry for tests. It pages its lists, counts its requests, and lets
// tests answer in its place.
type hub struct {
	*testing.T
	host  string
	inner http.Handler

	mu            sync.Mutex
	requestCounts map[string]int // The keys have the form "METHOD path".
	running       int
	maxRunning    int // This is the largest number of concurrent requests.

	// handler may answer a request instead of the registry. In that case it returns true.
	handler func(w http.ResponseWriter, r *http.Request) bool
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{T: t, inner: ociregistry.New(ociregistry.Logger(stdlog.New(io.Discard, "", 0))), requestCounts: map[string]int{}}
	server := httptest.NewServer(h)
	server.Config.ErrorLog = stdlog.New(io.Discard, "", 0) // Some clients try https first.
	t.Cleanup(server.Close)
	h.host = strings.TrimPrefix(server.URL, "http://")
	return h
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.requestCounts[r.Method+" "+r.URL.Path]++
	h.running++
	h.maxRunning = max(h.maxRunning, h.running)
	handler := h.handler
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		h.running--
		h.mu.Unlock()
	}()
	switch {
	case handler != nil && handler(w, r):
	case r.URL.Path == "/v2/_catalog":
		h.page(w, r, "repositories")
	case strings.HasSuffix(r.URL.Path, "/tags/list"):
		h.page(w, r, "tags")
	default:
		h.inner.ServeHTTP(w, r)
	}
}

// page answers a page of a list, with a link to the next one.
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

// setHandler sets the handler that may answer in place of the registry.
func (h *hub) setHandler(handler func(http.ResponseWriter, *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.handler = handler
}

// failWith answers status to requests whose path has one of the suffixes.
func failWith(status int, suffixes ...string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		fails := slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(r.URL.Path, suffix) })
		if fails {
			w.WriteHeader(status)
		}
		return fails
	}
}

// requests returns how often each request was received.
func (h *hub) requests() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.requestCounts)
}

func (h *hub) countRequests(request string) int {
	return h.requests()[request]
}

func (h *hub) resetRequests() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requestCounts, h.maxRunning = map[string]int{}, 0
}

func (h *hub) check(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// push stores an image or index as repo:tag and returns its digest.
func (h *hub) push(reference string, what remote.Taggable) string {
	h.Helper()
	ref, err := name.ParseReference(h.host + "/" + reference)
	h.check(err)
	switch what := what.(type) {
	case v1.ImageIndex:
		h.check(remote.WriteIndex(ref, what))
	case v1.Image:
		h.check(remote.Write(ref, what))
	}
	described, err := remote.Get(ref)
	h.check(err)
	return described.Digest.String()
}

// putManifest stores content as a manifest without checking it.
func (h *hub) putManifest(reference, mediaType, content string) {
	h.Helper()
	repo, tag, _ := strings.Cut(reference, ":")
	request, err := http.NewRequestWithContext(h.Context(), http.MethodPut, "http://"+h.host+"/v2/"+repo+"/manifests/"+tag, strings.NewReader(content))
	h.check(err)
	request.Header.Set("Content-Type", mediaType)
	answer, err := http.DefaultClient.Do(request)
	h.check(err)
	h.check(answer.Body.Close())
	if answer.StatusCode != http.StatusCreated {
		h.Fatalf("put %s: %s, want StatusCode 201", reference, answer.Status)
	}
}

func (h *hub) remove(reference string) {
	h.Helper()
	ref, err := name.ParseReference(h.host + "/" + reference)
	h.check(err)
	h.check(remote.Delete(ref))
}

// image makes an image whose config names a platform: os/architecture/variant, or
// "" for none.
func (h *hub) image(platformName string) v1.Image {
	h.Helper()
	made, err := random.Image(300, 2)
	h.check(err)
	config, err := made.ConfigFile()
	h.check(err)
	config = config.DeepCopy()
	platform, err := v1.ParsePlatform(platformName)
	h.check(err)
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	made, err = mutate.ConfigFile(made, config)
	h.check(err)
	return made
}

// A part is an entry of an index, with the platform that the index names for it.
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
			h.check(err)
			adds[i].Platform = platform
		}
	}
	return mutate.AppendManifests(empty.Index, adds...)
}

// sizeOf returns the size of an image: its config and its layers.
func (h *hub) sizeOf(i v1.Image) int64 {
	h.Helper()
	m, err := i.Manifest()
	h.check(err)
	size := m.Config.Size
	for _, layer := range m.Layers {
		size += layer.Size
	}
	return size
}

// An outcome is the result of an import.
type outcome struct {
	Summary
	reports
	err error
}

// pull imports repos from the hub, or all of its repos if none is named.
func (h *hub) pull(to *fakeCore, change func(*OCISource), repos ...string) outcome {
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
	o.Summary, o.err = importOCI(h.Context(), to.destination(), from, o.options(), time.Millisecond)
	for i, report := range o.reports {
		o.reports[i] = strings.ReplaceAll(report, h.host, "HUB")
	}
	return o
}

// checkReports expects exactly these reports, in any order. Each pair has the beginning
// of a report and a text that it contains.
func (o outcome) checkReports(t *testing.T, want ...[2]string) {
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
