package web

import (
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
	for path, want := range map[string]int{"/guide/nothing": 404, "/guide/guide.css": 200} {
		if status, _, _ := getGuide(guide, path); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
}

func TestEveryPageOfTheGuideIsInItsOrder(t *testing.T) {
	t.Parallel()
	entries, err := fs.ReadDir(docs.Pages(), ".")
	if err != nil || len(entries) != len(docs.Names()) {
		t.Errorf("%d pages, of which %d are in the order (%v)", len(entries), len(docs.Names()), err)
	}
}
