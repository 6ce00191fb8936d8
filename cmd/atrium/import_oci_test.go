package main

import (
	"fmt"
	"io"
	stdlog "log"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	ociregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	ociempty "github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"atrium/platform/core"
	"atrium/store/storetest"
)

// A hub is a container registry for a test.
type hub struct {
	t    *testing.T
	host string
}

func startHub(t *testing.T) hub {
	t.Helper()
	server := httptest.NewServer(ociregistry.New(ociregistry.Logger(stdlog.New(io.Discard, "", 0))))
	server.Config.ErrorLog = stdlog.New(io.Discard, "", 0) // Some clients try https first.
	t.Cleanup(server.Close)
	return hub{t, strings.TrimPrefix(server.URL, "http://")}
}

func (h hub) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h hub) tag(reference string) name.Tag {
	h.t.Helper()
	tag, err := name.NewTag(h.host + "/" + reference)
	h.must(err)
	return tag
}

// push stores an index of images for amd64 and arm64 with this number of layers, and an
// attestation. It returns the digest, and the size for arm64.
func (h hub) push(reference string, layers int64) (digest v1.Hash, size int64) {
	h.t.Helper()
	var index v1.ImageIndex = ociempty.Index
	for _, platform := range []string{"linux/amd64", "linux/arm64/v8", "unknown/unknown"} {
		image, err := random.Image(100, layers)
		h.must(err)
		parsed, err := v1.ParsePlatform(platform)
		h.must(err)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: parsed}})
		if parsed.Architecture != "arm64" {
			continue
		}
		manifest, err := image.Manifest()
		h.must(err)
		size = manifest.Config.Size
		for _, l := range manifest.Layers {
			size += l.Size
		}
	}
	h.must(remote.WriteIndex(h.tag(reference), index))
	digest, err := index.Digest()
	h.must(err)
	return digest, size
}

func TestARegistryIsImportedServedAndPruned(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		h := startHub(t)
		for n := range 5 {
			h.push(fmt.Sprintf("team/app:v%d", n), 1)
		}
		digest, size := h.push("tools:1", 3)
		server := start(t, url, "--dev") // Imports work while a server runs.
		acme, token := demoUID(t, server), strings.TrimSpace(mustRun(t, url, "token"))
		imported := func(args ...string) string {
			t.Helper()
			return mustRun(t, url, append([]string{"admin", "import", "oci", "--group", acme}, args...)...)
		}
		expectSummary(t, imported(h.host), "2 0 0 0 repos", "6 0 0 0 tags", "6 0 0 0 images")
		expectSummary(t, imported("--concurrency", "2", h.host+"/tools", h.host+"/team/app"), "0 0 2 0 repos", "0 0 6 0 tags", "0 0 6 0 images")

		_, body := server.get(token, "/registry/v2/repos?uidp.children_of="+acme+"&name=tools")
		repo := cutBetween(t, body, `"uid":"`, `"`)
		at := "/registry/v2/repos/" + repo + "/digests/" + digest.String()
		if _, body = server.get(token, at+"/architectures"); !strings.Contains(body, `["amd64","arm64"]`) {
			t.Errorf("architectures: %s, want it to contain %q", body, `["amd64","arm64"]`)
		}
		for _, name := range []string{"arm64", "arm64v8"} { // The first name is documented; official images use the second one.
			if _, body = server.get(token, at+"/size?architecture="+name); !strings.Contains(body, fmt.Sprintf(`"%d"`, size)) {
				t.Errorf("size of %s: %s, want %d", name, body, size)
			}
		}

		before := countDeletedTags(t, url, core.UID(acme)) // The demonstration has deleted some.
		h.must(remote.Delete(h.tag("team/app:v0")))
		h.must(remote.Delete(h.tag("team/app:v1")))
		h.push("team/app:v2", 2)
		expectSummary(t, imported(h.host), "0 0 2 0 repos", "0 1 3 0 tags", "1 0 3 0 images")
		expectSummary(t, imported("--prune", h.host), "0 0 2 0 repos", "0 0 4 0 tags", "0 0 4 0 images", "tags removed: 2")
		h.must(remote.Delete(h.tag("team/app:v2")))
		expectSummary(t, imported("--prune", "--no-events", h.host), "0 0 2 0 repos", "0 0 3 0 tags", "0 0 3 0 images", "tags removed: 1")
		if deleted := countDeletedTags(t, url, core.UID(acme)) - before; deleted != 2 {
			t.Errorf("events tell of %d deleted tags, want 2", deleted)
		}
		if out := mustRun(t, url, "admin", "recount"); !strings.HasPrefix(out, "0 ") {
			t.Errorf("recount: %s, want it to begin with '0 '", out)
		}

		out, errOut, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "admin", "import", "oci", "--group", acme, h.host+"/nothing", h.host+"/tools")
		expectSummary(t, out, "0 0 1 1 repos", "0 0 1 0 tags", "0 0 1 0 images")
		if exitCode(err) != 1 || !strings.Contains(errOut, h.host+"/nothing: ") || !strings.Contains(errOut, "NAME_UNKNOWN") {
			t.Errorf("%v\n%s, want it to contain 'NAME_UNKNOWN'", err, errOut)
		}
	})
}

func TestPruningOneRegistryKeepsTagsOfAnother(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		h, other := startHub(t), startHub(t)
		h.push("team/app:1", 1)
		h.push("team/app:2", 1)
		other.push("team/app:3", 1)
		acme := bootstrap(t, url)
		prune := func(host string) string {
			t.Helper()
			return mustRun(t, url, "admin", "import", "oci", "--group", acme, "--prune", host)
		}
		expectSummary(t, prune(h.host), "1 0 0 0 repos", "2 0 0 0 tags", "2 0 0 0 images")
		expectSummary(t, prune(other.host), "0 0 1 0 repos", "1 0 0 0 tags", "1 0 0 0 images")
		h.must(remote.Delete(h.tag("team/app:1")))
		expectSummary(t, prune(h.host), "0 0 1 0 repos", "0 0 1 0 tags", "0 0 1 0 images", "tags removed: 1")
		expectSummary(t, prune(other.host), "0 0 1 0 repos", "0 0 1 0 tags", "0 0 1 0 images")
		if out := mustRun(t, url, "admin", "recount"); !strings.HasPrefix(out, "0 ") {
			t.Errorf("recount: %s, want it to begin with '0 '", out)
		}
	})
}

func cutBetween(t *testing.T, text, before, after string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, before)
	inside, _, ends := strings.Cut(rest, after)
	if !found || !ends {
		t.Fatalf("no %s...%s in %s", before, after, text)
	}
	return inside
}

// countDeletedTags counts the events of deleted tags. The feed waits for older
// transactions in all databases of the cluster, including those of parallel tests.
func countDeletedTags(t *testing.T, url string, root core.UID) int {
	t.Helper()
	store := storetest.Open(t, url)
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		events, err := storetest.Tables.Events.EventsAfter(t.Context(), store, []core.UID{root}, core.EventPosition{}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		deleted := 0
		for _, e := range events {
			if strings.Contains(e.Type, ".tag.deleted") {
				deleted++
			}
		}
		if deleted > 0 || time.Now().After(deadline) {
			return deleted
		}
	}
}
