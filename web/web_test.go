package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/web"
)

// shown is the data block of the page, as the page's script reads it.
type shown struct {
	Endpoint string
	Token    string
	Examples []web.Example
}

// get asks a playground as a client at the address peer would ask for http://host/path.
func get(opts web.Options, peer, host, path string) (*httptest.ResponseRecorder, string) {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr, r.Host = peer, host
	w := httptest.NewRecorder()
	web.Playground(opts).ServeHTTP(w, r)
	return w, w.Body.String()
}

func settings(t *testing.T, html string) (s shown) {
	t.Helper()
	block := regexp.MustCompile(`(?s)<script type="application/json" id="settings">(.*?)</script>`).FindStringSubmatch(html)
	if block == nil {
		t.Fatalf("no data block in %s", html)
	}
	if err := json.Unmarshal([]byte(block[1]), &s); err != nil {
		t.Fatalf("data block %s: %v", block[1], err)
	}
	return s
}

func TestATokenIsFilledInOnlyForALoopbackHostAskedFromThisMachine(t *testing.T) {
	t.Parallel()
	const local, other = "127.0.0.1:40000", "192.0.2.7:40000"
	for _, c := range []struct {
		peer, host string
		filled     bool
	}{
		{local, "localhost", true},
		{local, "LocalHost:8080", true},
		{local, "127.0.0.1:8080", true},
		{local, "127.9.8.7", true},
		{local, "[::1]:8080", true},
		{local, "[::1]", true},
		{"[::1]:40000", "localhost:8080", true},
		{"[::ffff:127.0.0.1]:40000", "localhost:8080", true},

		{local, "atrium.example.com", false},
		{local, "localhost.example.com", false},
		{local, "127.0.0.1.example.com:8080", false},
		{local, "127.1", false},
		{local, "192.168.1.5:8080", false},
		{local, "0.0.0.0:8080", false},
		{local, "[::]:8080", false},
		{local, "", false},
		{other, "localhost:8080", false},
		{other, "127.0.0.1", false},
		{"@", "localhost", false}, // a unix socket: whoever is behind it is not known
	} {
		opts := web.Options{Token: func(*http.Request) string { return "secret" }}
		_, html := get(opts, c.peer, c.host, "/")
		if got := settings(t, html).Token == "secret"; got != c.filled {
			t.Errorf("from %s for host %q: filled in is %v, want %v", c.peer, c.host, got, c.filled)
		}
		if !c.filled && strings.Contains(html, "secret") {
			t.Errorf("from %s for host %q: the token is in the page", c.peer, c.host)
		}
	}
}

func TestWhatTheOptionsHoldReachesThePageAsDataAndNeverAsMarkup(t *testing.T) {
	t.Parallel()
	const nasty = "</script><script>alert('1')</script><!-- \" & \u2028 é"
	opts := web.Options{
		Endpoint: "/api/graphql?" + nasty,
		Token:    func(*http.Request) string { return nasty },
		Examples: []web.Example{{Name: nasty, Query: nasty, Variables: nasty}, {Name: "second"}},
	}
	_, html := get(opts, "127.0.0.1:1", "localhost", "/")
	if strings.Contains(html, "<script>alert") {
		t.Errorf("unescaped: %s", html)
	}
	got := settings(t, html)
	if got.Endpoint != opts.Endpoint || got.Token != nasty || !slices.Equal(got.Examples, opts.Examples) {
		t.Errorf("got %+v, want what %+v holds", got, opts)
	}
}

func TestTheZeroOptionsGiveAPageForGraphql(t *testing.T) {
	t.Parallel()
	res, html := get(web.Options{}, "127.0.0.1:1", "localhost", "/?query={ping}")
	if res.Code != http.StatusOK || res.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("got %d, %s", res.Code, res.Header().Get("Content-Type"))
	}
	if got := settings(t, html); got.Endpoint != "/graphql" || got.Token != "" {
		t.Errorf("got %+v", got)
	}
}

func TestEveryAnswerKeepsThePageToItself(t *testing.T) {
	t.Parallel()
	for path, caching := range map[string]string{
		"/":                          "no-store",
		"/playground/playground.js":  "no-cache",
		"/playground/playground.css": "no-cache",
		"/nothing":                   "",
	} {
		res, _ := get(web.Options{}, "127.0.0.1:1", "localhost", path)
		for header, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
				"connect-src 'self'; worker-src 'self' blob:; font-src 'self' data:; img-src 'self' data:",
			"X-Content-Type-Options": "nosniff",
			"Referrer-Policy":        "no-referrer",
			"X-Frame-Options":        "DENY",
			"Cache-Control":          caching,
		} {
			if got := res.Header().Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", path, header, got, want)
			}
		}
	}
}

func TestThePageNamesOnlyFilesThatAreServed(t *testing.T) {
	t.Parallel()
	_, html := get(web.Options{}, "127.0.0.1:1", "localhost", "/")
	named := regexp.MustCompile(`(?:src|href)="(/playground/[^"]*)"`).FindAllStringSubmatch(html, -1)
	if len(named) != 2 {
		t.Fatalf("the page names %d files of its own, want the script and the style sheet", len(named))
	}
	for _, name := range named {
		res, body := get(web.Options{}, "127.0.0.1:1", "localhost", name[1])
		if res.Code != http.StatusOK || body == "" {
			t.Errorf("%s: %d, %d bytes", name[1], res.Code, len(body))
		}
	}
}

func TestAFileTheBrowserHasIsNotSentAgain(t *testing.T) {
	t.Parallel()
	first, _ := get(web.Options{}, "127.0.0.1:1", "localhost", "/playground/playground.js")
	r := httptest.NewRequest(http.MethodGet, "/playground/playground.js", nil)
	r.Header.Set("If-None-Match", first.Header().Get("ETag"))
	w := httptest.NewRecorder()
	web.Playground(web.Options{}).ServeHTTP(w, r)
	if w.Code != http.StatusNotModified {
		t.Errorf("got %d, want 304", w.Code)
	}
}

func TestOtherPathsAndMethodsAreRefused(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/favicon.ico", "/playground", "/playground/", "/playground/web.go", "/playground/playground.html"} {
		if res, _ := get(web.Options{}, "127.0.0.1:1", "localhost", path); res.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, res.Code)
		}
	}
	w := httptest.NewRecorder()
	web.Playground(web.Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %d, want 405", w.Code)
	}
}
