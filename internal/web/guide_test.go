package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"atrium/docs"
)

func getGuide(handler http.Handler, path string) (int, string, http.Header) {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String(), w.Header()
}

func TestTheGuideShowsPages(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"start.html": {Data: []byte("<h1 id=\"the-start\">The &lt;start&gt;</h1>\n")},
		"more.html":  {Data: []byte("<h1 id=\"more\">More</h1>\n")},
	}
	var index bytes.Buffer
	packed := gzip.NewWriter(&index)
	_, _ = packed.Write([]byte("[]"))
	_ = packed.Close()
	files["search.json.gz"] = &fstest.MapFile{Data: index.Bytes()}
	guide := Guide(files, []string{"start", "more"}, map[string]string{"more": "The <rest>"}, Links{Playground: true})
	for _, path := range []string{"/guide", "/guide/", "/guide/start"} {
		status, page, header := getGuide(guide, path)
		if status != http.StatusOK || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: status %d, want 200: %v", path, status, header)
		}
		for _, part := range []string{
			"<title>The &lt;start&gt; – Atrium guide</title>", "</h1>\n",
			`<a href="/guide/start" aria-current="page">`, "<li class=\"part\">The &lt;rest&gt;</li>\n    <li><a href=\"/guide/more\">", `Next: <a href="/guide/more">More</a>`,
		} {
			if !strings.Contains(page, part) {
				t.Errorf("%s has no %s:\n%s", path, part, page)
			}
		}
	}
	if _, page, _ := getGuide(guide, "/guide/more"); strings.Contains(page, "Next:") || !strings.Contains(page, `<h1 id="more">`) {
		t.Error("the last page is not as it must be")
	}
	for path, want := range map[string]int{"/guide/nothing": 404, "/guide/guide.css": 200, "/guide/search.js": 200, "/guide/search.json": 200} {
		if status, _, _ := getGuide(guide, path); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
}

func TestEveryPageOfTheGuideIsInItsOrder(t *testing.T) {
	t.Parallel()
	entries, err := fs.ReadDir(docs.Pages(), ".")
	if err != nil || len(entries) != len(docs.Names())+1 { // and search.json.gz
		t.Errorf("%d files, want search.json.gz and %d pages (%v)", len(entries), len(docs.Names()), err)
	}
}

// What the search finds is on its page. The archive is compressed, so it is read in another way than embedded files.
func TestTheSearchOfTheGuideFindsHeadings(t *testing.T) {
	t.Parallel()
	guide := Guide(docs.Pages(), docs.Names(), docs.Parts(), Links{})
	status, text, header := getGuide(guide, "/guide/search.json")
	var sections []struct{ Page, Anchor, Heading, Text string }
	if err := json.Unmarshal([]byte(text), &sections); err != nil || status != http.StatusOK || header.Get("Content-Type") != "application/json" || header.Get("ETag") == "" {
		t.Fatalf("status %d, %v: %v", status, header, err)
	}
	pages := map[string]string{}
	for _, s := range sections {
		page, known := pages[s.Page]
		if !known {
			_, page, _ = getGuide(guide, "/guide/"+s.Page)
			pages[s.Page] = page
		}
		if s.Heading == "" || known && !strings.Contains(page, ` id="`+s.Anchor+`">`) || known == (s.Anchor == "") {
			t.Errorf("%s#%s (%s) leads nowhere", s.Page, s.Anchor, s.Heading)
		}
	}
	if len(pages) != len(docs.Names()) || len(sections) < 100 {
		t.Errorf("the search knows %d pages and %d sections", len(pages), len(sections))
	}
}
