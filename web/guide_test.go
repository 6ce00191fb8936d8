package web

import (
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

func TestTheGuideShowsPagesOfMarkdown(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"start.md": {Data: []byte("# The start\n\nSee [more](more.md#here).\n\n<!-- table -->\n\n```sh example\necho <b>\n```\n<script>alert(1)</script>\n")},
		"more.md":  {Data: []byte("# More\n\n## Here\n")},
	}
	guide := Guide(files, []string{"start", "more"}, Links{Playground: true}, map[string]string{"table": "| a |\n|---|\n| b |\n"})
	for _, path := range []string{"/guide", "/guide/", "/guide/start"} {
		status, page, header := getGuide(guide, path)
		if status != http.StatusOK || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: status %d, want 200: %v", path, status, header)
		}
		for _, part := range []string{
			"<title>The start – Atrium guide</title>", `href="/guide/more#here"`, "<td>b</td>", `<code class="language-sh">echo &lt;b&gt;`,
			`<a href="/guide/start" aria-current="page">`, `Next: <a href="/guide/more">More</a>`,
		} {
			if !strings.Contains(page, part) {
				t.Errorf("%s has no %s", path, part)
			}
		}
		if strings.Contains(page, "<script") {
			t.Errorf("%s has a script", path)
		}
	}
	if _, page, _ := getGuide(guide, "/guide/more"); strings.Contains(page, "Next:") || !strings.Contains(page, `<h2 id="here">`) {
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
	entries, err := docs.Files.ReadDir(".")
	if err != nil || len(entries) != len(docs.Names()) {
		t.Errorf("%d pages, of which %d are in the order (%v)", len(entries), len(docs.Names()), err)
	}
}
