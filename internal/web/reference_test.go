package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"atrium/internal/web"
)

func TestTheReferenceIsWholeAndUnderThePolicy(t *testing.T) {
	t.Parallel()
	reference := web.ReferenceFrom(web.ReferenceOptions{Document: "/openapi.json", Endpoint: "/graphql", Token: func(*http.Request) string { return "secret" }, Playground: true}, fstest.MapFS{
		"dist/reference/swagger-ui-bundle.js.gz": {Data: compressText("let ui")}, "dist/reference/swagger-ui.css.gz": {Data: compressText("main {}")}, "dist/reference/licenses.txt.gz": {Data: compressText("a license")},
	})
	page, html := request{path: "/docs"}.send(reference)
	if page.Code != http.StatusOK || settings(t, html).Document != "/openapi.json" || settings(t, html).Token != "secret" || !strings.Contains(html, `href="/playground">Playground`) {
		t.Fatalf("status %d, want 200: %s, want it to contain %q", page.Code, html, `href="/playground">Playground`)
	}
	if remote, other := (request{path: "/docs", peer: "192.0.2.7:40000"}).send(reference); remote.Code != http.StatusOK || settings(t, other).Token != "" {
		t.Errorf("another machine is given the token: %s", other)
	}
	if slashed, same := (request{path: "/docs/"}).send(reference); slashed.Code != http.StatusOK || same != html {
		t.Errorf("/docs/ is another page: status %d, want 200", slashed.Code)
	}
	named := regexp.MustCompile(`(?:src|href)="(/docs/[^"]+)"`).FindAllStringSubmatch(html, -1)
	if len(named) != 6 {
		t.Errorf("the page names %v, want 6 of them", named)
	}
	for _, file := range named {
		answer, text := request{path: file[1]}.send(reference)
		if answer.Code != http.StatusOK || text == "" || !strings.Contains(answer.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: status %d, want 200: %v", file[1], answer.Code, answer.Header())
		}
	}
	if regexp.MustCompile(`(src|href)="(https?:)?//`).MatchString(html) {
		t.Error("the page names another host")
	}
	if strings.Contains(regexp.MustCompile(`<script( type="module")? src="[^"]*"( defer)?></script>|<script type="application/json"`).ReplaceAllString(html, ""), "<script") {
		t.Error("there is an inline script, which the policy forbids")
	}
	for path, status := range map[string]int{"/docs/nothing.js": http.StatusNotFound, "/docs/index.html": http.StatusNotFound} {
		if answer, _ := (request{path: path}).send(reference); answer.Code != status {
			t.Errorf("%s: status %d, want %d", path, answer.Code, status)
		}
	}
	if answer, _ := (request{method: http.MethodPost, path: "/docs"}).send(reference); answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") == "" {
		t.Errorf("POST: status %d, want 405: %v", answer.Code, answer.Header())
	}
}

func TestWithoutTheBundleTheReferenceSaysSo(t *testing.T) {
	t.Parallel()
	page, html := request{path: "/docs"}.send(web.ReferenceFrom(web.ReferenceOptions{Document: "/openapi.json", Endpoint: "/graphql"}, fstest.MapFS{}))
	if page.Code != http.StatusNotImplemented || !strings.Contains(html, "does not contain the page") || !strings.Contains(html, `href="/openapi.json"`) {
		t.Errorf("status %d, want 501 and a link to the document: %s", page.Code, html)
	}
}
