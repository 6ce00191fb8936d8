package source_test

import (
	"fmt"
	"io"
	stdlog "log"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	ociregistry "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/intake"
	"atrium/platform/inventory"
)

// A hub is the registry that a web server has.
type hub struct{ *world }

func newHub(w *world) hub {
	w.web.setRegistry(ociregistry.New(ociregistry.Logger(stdlog.New(io.Discard, "", 0))))
	return hub{w}
}

// push stores an image under each of some tags, such as shop/web:1.
func (h hub) push(tags ...string) {
	h.t.Helper()
	image, err := random.Image(100, 1)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, tag := range tags {
		if err := remote.Write(h.reference(tag), image); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h hub) reference(tag string) name.Reference {
	ref, err := name.ParseReference(h.web.host()+"/"+tag, name.Insecure)
	if err != nil {
		h.t.Fatal(err)
	}
	return ref
}

// tags returns the tags of the organization, as repo:tag.
func (w *world) tags() (all []string) {
	w.t.Helper()
	repos, err := w.p.Repos.List(w.operator(), core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{DescendantsOf: w.org}})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, repo := range repos.Items {
		tags, err := w.p.Tags.List(w.operator(), core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: repo.UID}})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, tag := range tags.Items {
			all = append(all, repo.Name+":"+tag.Name)
		}
	}
	slices.Sort(all)
	return all
}

func TestARegistryIsReadByPatternsAndPruned(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, w *world) {
		hub := newHub(w)
		hub.push("shop/web:1", "shop/web:2")
		hub.push("shop/db:1")
		hub.push("other:1")
		s, _ := w.read(w.create(w.org, "registry", intake.OCI, w.web.URL, `, "patterns": ["shop/*"], "prune": true`))
		if got := w.tags(); s.State != intake.Succeeded || !slices.Equal(got, []string{"shop/db:1", "shop/web:1", "shop/web:2"}) {
			t.Fatalf("the source is %s with %+v, and the tags are %v", s.State, s.LastRun, got)
		}
		// One tag is new. The images of the others are stored, and not read again.
		hub.push("shop/web:3")
		s, asked := w.again(s)
		configs := slices.DeleteFunc(asked, func(path string) bool { return !strings.Contains(path, "/blobs/") })
		if got := w.tags(); s.State != intake.Succeeded || !slices.Equal(got, []string{"shop/db:1", "shop/web:1", "shop/web:2", "shop/web:3"}) || len(configs) != 1 {
			t.Errorf("with a new tag, the source is %s with %+v, the tags are %v, and asked for were %v", s.State, s.LastRun, got, configs)
		}
		// A tag that the registry no longer has is removed, and one that somebody made stays.
		repos, err := w.p.Repos.List(w.operator(), core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{DescendantsOf: w.org}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.p.Tags.Create(w.operator(), repos.Items[0].UID, fieldmask.JSONInput[*inventory.Tag](fmt.Appendf(nil, `{"name": "ours", "digest": "sha256:%064x"}`, 1), nil)); err != nil {
			t.Fatal(err)
		}
		if err := remote.Delete(hub.reference("shop/web:2")); err != nil {
			t.Fatal(err)
		}
		s, _ = w.again(s)
		want := []string{"shop/db:1", repos.Items[0].Name + ":ours", "shop/web:1", "shop/web:3"}
		slices.Sort(want)
		if got := w.tags(); s.State != intake.Succeeded || !slices.Equal(got, want) {
			t.Errorf("without the tag 2, the source is %s with %+v, and the tags are %v, want %v", s.State, s.LastRun, got, want)
		}
		// A registry that refuses removes nothing.
		w.web.setRegistry(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) { to.WriteHeader(http.StatusUnauthorized) }))
		s, _ = w.again(s)
		if got := w.tags(); s.State != intake.Failed || !strings.Contains(strings.Join(s.LastRun.Problems, "\n"), "its catalog cannot be read") || !slices.Equal(got, want) {
			t.Errorf("refused, the source is %s with %+v, and the tags are %v", s.State, s.LastRun, got)
		}
	})
}

// vexOf returns a document of OpenVEX about a vulnerability.
func vexOf(vulnerability, status string) []byte {
	return fmt.Appendf(nil, `{"@context": "https://openvex.dev/ns/v0.2.0", "@id": "https://example.com/%[1]s", "author": "acme", "timestamp": "2026-03-27T13:55:00Z", "version": 1, "statements": [
		{"vulnerability": {"name": %[1]q}, "products": [{"@id": "pkg:npm/a@1.0.0"}], "status": %[2]q, "justification": "component_not_present", "action_statement": "update"}]}`, vulnerability, status)
}

func TestDocumentsOfVEXAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, w *world) {
		w.web.put("/vex/changes.csv", []byte("\"2026/a.json\",\"2026-03-01T10:00:00Z\"\n\"2026/b.json\",\"2026-03-01T10:00:01Z\"\n"))
		w.web.put("/vex/2026/a.json", vexOf("CVE-2026-1", "not_affected"))
		w.web.put("/vex/2026/b.json", vexOf("CVE-2026-2", "not_affected"))
		s, asked := w.read(w.create(w.org, "vex", intake.VEX, w.web.URL+"/vex/changes.csv", ""))
		if s.State != intake.Succeeded || !slices.Equal(asked, []string{"/vex/2026/a.json", "/vex/2026/b.json", "/vex/changes.csv"}) || len(s.LastRun.Records) != 1 || s.LastRun.Records[0].Added != 2 {
			t.Fatalf("the source is %s with %+v, and asked for were %v", s.State, s.LastRun, asked)
		}
		w.web.put("/vex/changes.csv", []byte("\"2026/a.json\",\"2026-03-01T10:00:00Z\"\n\"2026/b.json\",\"2026-03-02T10:00:01Z\"\n"))
		w.web.put("/vex/2026/b.json", []byte(strings.ReplaceAll(string(vexOf("CVE-2026-2", "affected")), "03-27", "03-28")))
		s, asked = w.again(s)
		if s.State != intake.Succeeded || !slices.Equal(asked, []string{"/vex/2026/b.json", "/vex/changes.csv"}) || s.LastRun.Records[0].Updated != 1 {
			t.Errorf("with one changed document, the source is %s with %+v, and asked for were %v", s.State, s.LastRun, asked)
		}
		if s, asked = w.again(s); s.State != intake.Succeeded || !s.LastRun.IsUnchanged || !slices.Equal(asked, []string{"/vex/changes.csv"}) {
			t.Errorf("with nothing new, the source is %s with %+v, and asked for were %v", s.State, s.LastRun, asked)
		}
		// An index that cannot be read fails the run, and changes nothing of what is known.
		w.web.put("/vex/changes.csv", []byte("<html>Sign in</html>\n"))
		if s, _ = w.again(s); s.State != intake.Failed || !strings.Contains(s.LastRun.Error, "line 1 of the index must have a name and a time") {
			t.Errorf("with a page as its index, the source is %s with %+v", s.State, s.LastRun)
		}
		w.web.put("/vex/changes.csv", []byte("\"2026/b.json\",\"2026-03-02T10:00:01Z\"\n"))
		if s, asked = w.again(s); s.State != intake.Succeeded || !slices.Equal(asked, []string{"/vex/changes.csv"}) {
			t.Errorf("then the source is %s with %+v, and asked for were %v", s.State, s.LastRun, asked)
		}
	})
}

// sbomOf returns a document of CycloneDX about an image of the repo shop.
func sbomOf(image, pkg string) []byte {
	return fmt.Appendf(nil, `{"bomFormat": "CycloneDX", "specVersion": "1.5", "metadata": {"component": {"type": "container", "name": "shop", "version": %q}}, "components": [{"type": "library", "name": "x", "purl": %q}]}`, image, pkg)
}

func TestSBOMsAreReadByAList(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, w *world) {
		if _, err := w.p.Repos.Create(w.operator(), w.org, fieldmask.JSONInput[*inventory.Repo]([]byte(`{"name": "shop"}`), nil)); err != nil {
			t.Fatal(err)
		}
		one, two := fmt.Sprintf("sha256:%064x", 1), fmt.Sprintf("sha256:%064x", 2)
		w.web.put("/sboms/index.txt", []byte("# our images\none.json\n\ntwo.json\nthree.json\nhttps://other.example.com/four.json\n"))
		w.web.put("/sboms/one.json", sbomOf(one, "pkg:npm/a@1.0.0"))
		w.web.put("/sboms/two.json", sbomOf(two, "pkg:npm/b@1.0.0"))
		s, _ := w.read(w.create(w.org, "sboms", intake.SBOM, w.web.URL+"/sboms/index.txt", ""))
		if s.State != intake.Succeeded || s.LastRun.ReadRecords() != 2 {
			t.Fatalf("the source is %s with %+v", s.State, s.LastRun)
		}
		// One that is missing and one of another host are named, and do not fail the others.
		if p := strings.Join(s.LastRun.Problems, "\n"); s.LastRun.ProblemCount != 2 || !strings.Contains(p, "/sboms/three.json: the source answered with status 404") || !strings.Contains(p, "is on another host") {
			t.Errorf("the problems are %q", s.LastRun.Problems)
		}
		w.web.put("/sboms/two.json", sbomOf(two, "pkg:npm/b@1.0.1"))
		if s, _ = w.again(s); s.State != intake.Succeeded || s.LastRun.ReadRecords() != 1 || s.LastRun.Records[0].Updated != 1 {
			t.Errorf("with one changed document, the source is %s with %+v", s.State, s.LastRun)
		}
		// Documents that are refused are named, and asked for again.
		w.web.put("/sboms/one.json", []byte(`{"bomFormat": "CycloneDX", "specVersion": "1.5", "components": []}`))
		for range 2 {
			if s, _ = w.again(s); s.State != intake.Failed || !strings.Contains(strings.Join(s.LastRun.Problems, "\n"), "/sboms/one.json: names no digest") {
				t.Errorf("with a document that is refused, the source is %s with %+v", s.State, s.LastRun)
			}
		}
	})
}
