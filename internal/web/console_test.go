package web_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"atrium/internal/web"
)

// consoleBundle is a small bundle of the console.
var consoleBundle = fstest.MapFS{
	"dist/console/main.js.gz":      &fstest.MapFile{Data: compressText("script")},
	"dist/console/modules.json.gz": &fstest.MapFile{Data: compressText(`["main.js", "chunk-A.js"]`)},
	"dist/console/style.css.gz":    &fstest.MapFile{Data: compressText("styles")},
}

func askConsole(console http.Handler, path, host string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr, r.Host = "127.0.0.1:5000", host
	w := httptest.NewRecorder()
	console.ServeHTTP(w, r)
	return w
}

func TestEveryAddressOfTheConsoleIsItsPage(t *testing.T) {
	t.Parallel()
	console := web.ConsoleFrom(web.ConsoleOptions{Endpoint: "/graphql"}, consoleBundle)
	for _, path := range []string{"/console", "/console/", "/console/acme/shop/checkout", "/console/acme/~repos"} {
		w := askConsole(console, path, "localhost")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"endpoint":"/graphql"`) || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: status %d, want 200: %s", path, w.Code, w.Body)
		}
		if policy := w.Header().Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") || !strings.Contains(policy, "connect-src 'self';") {
			t.Errorf("%s: policy %s, want it without 'unsafe'", path, policy)
		}
	}
	for path, want := range map[string]int{"/console/~assets/main.js": 200, "/console/~assets/style.css": 200, "/console/~assets/other.js": 404, "/consoles": 404} {
		if w := askConsole(console, path, "localhost"); w.Code != want {
			t.Errorf("%s: status %d, want %d", path, w.Code, want)
		}
	}
}

func TestThePageOfTheConsoleShowsWhereItIsBeforeItsScript(t *testing.T) {
	t.Parallel()
	console := web.ConsoleFrom(web.ConsoleOptions{}, consoleBundle)
	for path, want := range map[string]string{
		"/console":                       `<ol><li><strong>Console</strong></li></ol>`,
		"/console/acme/a%3Cb%20c/~repos": `<ol><li><a href="/console/acme">acme</a></li><li><a href="/console/acme/a%3Cb%20c">a&lt;b c</a></li></ol>`,
	} {
		page := askConsole(console, path, "localhost").Body.String()
		for _, part := range []string{want, `<link rel="modulepreload" href="/console/~assets/chunk-A.js">`} {
			if !strings.Contains(page, part) {
				t.Errorf("%s has no %s:\n%s", path, part, page)
			}
		}
	}
}

func TestTheConsoleSendsRequestsToItsProvidersOnly(t *testing.T) {
	t.Parallel()
	console := web.ConsoleFrom(web.ConsoleOptions{Providers: []web.SignInProvider{
		{Issuer: "https://login.example.com/realms/a", ClientID: "console"}, {Issuer: "https://other.example.com:8443", ClientID: "console"},
	}}, consoleBundle)
	policy := askConsole(console, "/console", "localhost").Header().Get("Content-Security-Policy")
	if want := "connect-src 'self' https://login.example.com https://other.example.com:8443;"; !strings.Contains(policy, want) {
		t.Errorf("got %v, want a text with %s", policy, want)
	}
}

func TestTheConsoleHasATokenOnlyForALoopbackHost(t *testing.T) {
	t.Parallel()
	roles := func(*http.Request) map[string]string { return map[string]string{"viewer": "of the viewer"} }
	console := web.ConsoleFrom(web.ConsoleOptions{Token: func(*http.Request) string { return "secret" }, Roles: roles}, consoleBundle)
	for host, want := range map[string]bool{"localhost:8080": true, "127.0.0.1": true, "atrium.example.com": false} {
		for _, token := range []string{`"token":"secret"`, `"viewer":"of the viewer"`} {
			if given := strings.Contains(askConsole(console, "/console", host).Body.String(), token); given != want {
				t.Errorf("%s: %s is given: %v, want %v", host, token, given, want)
			}
		}
	}
}

func TestWithoutABundleTheConsoleSaysWhereItIs(t *testing.T) {
	t.Parallel()
	console := web.ConsoleFrom(web.ConsoleOptions{Playground: true}, fstest.MapFS{})
	w := askConsole(console, "/console/acme", "localhost")
	if w.Code != http.StatusNotImplemented || !strings.Contains(w.Body.String(), "make build") || !strings.Contains(w.Body.String(), `href="/playground"`) {
		t.Errorf("status %d, want 501: %s", w.Code, w.Body)
	}
	if w := askConsole(console, "/console/~assets/missing.css", "localhost"); w.Code != http.StatusOK {
		t.Errorf("its styles: status %d, want 200", w.Code)
	}
}

func TestTheServerEmbedsTheDocumentsOfTheConsole(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("console/generated/documents.json")
	if err != nil {
		t.Fatal(err)
	}
	var documents map[string]string
	if err := json.Unmarshal(content, &documents); err != nil || !maps.Equal(documents, web.ConsoleDocuments()) {
		t.Errorf("documents.json.gz differs from documents.json (%v): run node console/generate.mjs in web/", err)
	}
}
