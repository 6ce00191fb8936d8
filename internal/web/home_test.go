package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"atrium/internal/web"
)

func TestThePageAtTheRootLeadsToThePagesThatAreServed(t *testing.T) {
	t.Parallel()
	guide := fstest.MapFS{"start.html": {Data: []byte("<h1>How to start</h1>")}}
	for _, c := range []struct {
		links web.Links
		doors []string
	}{
		{web.Links{Playground: true, Console: true}, []string{"/console", "/playground", "/docs"}},
		{web.Links{Console: true}, []string{"/console", "/docs"}},
		{web.Links{}, []string{"/docs"}},
	} {
		home := web.Home(web.HomeOptions{Links: c.links, Version: "<1.2>", Endpoint: "/graphql", Demonstration: c.links.Console, GuideFiles: guide, GuideNames: []string{"start"}, Pictures: fstest.MapFS{"console.png": {Data: []byte("\x89PNG")}}})
		page, html := request{path: "/"}.send(home)
		if page.Code != http.StatusOK || !strings.Contains(html, "&lt;1.2&gt;") || !strings.Contains(html, `<a href="/guide/start">How to start</a>`) {
			t.Errorf("status %d, want 200: %s, want the version and the guide", page.Code, html)
		}
		if got := strings.Contains(html, "development mode"); got != c.links.Console {
			t.Errorf("it says that there is a demonstration: %v, want %v", got, c.links.Console)
		}
		var doors []string
		for _, door := range regexp.MustCompile(`<a href="([^"]*)"><b>`).FindAllStringSubmatch(html, -1) {
			doors = append(doors, door[1])
		}
		if strings.Join(doors, " ") != strings.Join(c.doors, " ") {
			t.Errorf("with %+v, the page leads to %v, want %v", c.links, doors, c.doors)
		}
		answer, _ := request{path: "/home.png"}.send(home)
		if got := answer.Code == http.StatusOK && answer.Header().Get("Content-Type") == "image/png"; got != c.links.Console || got != strings.Contains(html, `src="/home.png"`) {
			t.Errorf("with %+v, the picture of the console is there: %v (%d)", c.links, got, answer.Code)
		}
		if strings.Contains(html, "<script") || !strings.Contains(page.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("the page has a script, or no policy: %v", page.Header())
		}
	}
}

func TestThePageAtTheRootHasOneStyleSheetOfItsOwn(t *testing.T) {
	t.Parallel()
	home := web.Home(web.HomeOptions{})
	for path, want := range map[string]int{"/home.css": http.StatusOK, "/home.html": http.StatusNotFound, "/nothing": http.StatusNotFound} {
		if answer, _ := (request{path: path}).send(home); answer.Code != want {
			t.Errorf("%s: status %d, want %d", path, answer.Code, want)
		}
	}
	if answer, _ := (request{method: http.MethodPost, path: "/"}).send(home); answer.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d, want 405", answer.Code)
	}
}
