package web_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"atrium/internal/web"
)

// settingsBlock is the data block of a page, as its script reads it.
type settingsBlock struct {
	Endpoint string
	Document string
	Token    string
	Examples []web.Example
	GraphiQL bool
}

// sources returns the files of a fresh clone, with or without a bundle of GraphiQL.
func sources(t *testing.T, graphiql bool) fs.FS {
	t.Helper()
	files := fstest.MapFS{"dist/.gitignore": {}}
	for _, pattern := range []string{"builtin/*", "graphiql/index.html"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = &fstest.MapFile{Data: content}
		}
	}
	if graphiql {
		for name, content := range map[string]string{"main.js": "script", "style.css": "styles", "chunk-X.js": "more", "licenses.txt": "MIT"} {
			files["dist/"+name+".gz"] = &fstest.MapFile{Data: compressText(content)}
		}
	}
	return files
}

func compressText(text string) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return packed.Bytes()
}

// A request is a request to a playground. The zero value asks for /playground from this machine.
type request struct {
	method, peer, host, path string
	header                   map[string]string
}

func (q request) send(playground http.Handler) (*httptest.ResponseRecorder, string) {
	r := httptest.NewRequest(cmp.Or(q.method, http.MethodGet), cmp.Or(q.path, "/playground"), nil)
	r.RemoteAddr, r.Host = cmp.Or(q.peer, "127.0.0.1:40000"), cmp.Or(q.host, "localhost:8080")
	if q.host == noHost {
		r.Host = ""
	}
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	playground.ServeHTTP(w, r)
	return w, w.Body.String()
}

const noHost = "-"

// onBothPages runs a test with the small page at /playground and with GraphiQL there.
func onBothPages(t *testing.T, opts web.Options, test func(*testing.T, http.Handler)) {
	t.Helper()
	for name, graphiql := range map[string]bool{"small": false, "GraphiQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, web.PlaygroundFrom(opts, sources(t, graphiql)))
		})
	}
}

func settings(t *testing.T, html string) (s settingsBlock) {
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

func TestATokenIsFilledInOnlyForLocalBrowsers(t *testing.T) {
	t.Parallel()
	const local, other = "127.0.0.1:40000", "192.0.2.7:40000"
	opts := web.Options{Token: func(*http.Request) string { return "secret" }}
	onBothPages(t, opts, func(t *testing.T, playground http.Handler) {
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
			{local, noHost, false},
			{other, "localhost:8080", false},
			{other, "127.0.0.1", false},
			{"@", "localhost", false}, // The peer of a unix socket is unknown.
		} {
			for _, path := range []string{"/playground", "/playground/small"} {
				_, html := request{peer: c.peer, host: c.host, path: path}.send(playground)
				if got := settings(t, html).Token == "secret"; got != c.filled {
					t.Errorf("%s from %s for host %q: filled in is %v, want %v", path, c.peer, c.host, got, c.filled)
				}
				if !c.filled && strings.Contains(html, "secret") {
					t.Errorf("%s from %s for host %q: the token is in the page", path, c.peer, c.host)
				}
			}
		}
	})
}

func TestOptionsReachThePageAsDataAndNeverAsMarkup(t *testing.T) {
	t.Parallel()
	const nasty = "</script><script>alert('1')</script><!-- \" & \u2028 é"
	opts := web.Options{
		Endpoint: "/api/graphql?" + nasty,
		Token:    func(*http.Request) string { return nasty },
		Examples: []web.Example{{Name: nasty, Query: nasty, Variables: nasty}, {Name: "second"}},
	}
	onBothPages(t, opts, func(t *testing.T, playground http.Handler) {
		_, html := request{}.send(playground)
		if strings.Contains(html, "<script>alert") {
			t.Errorf("unescaped: %s, want it without '<script>alert'", html)
		}
		got := settings(t, html)
		if got.Endpoint != opts.Endpoint || got.Token != nasty || !slices.Equal(got.Examples, opts.Examples) {
			t.Errorf("got %+v, want what %+v holds", got, opts)
		}
	})
}

func TestTheZeroOptionsGiveAPageForGraphql(t *testing.T) {
	t.Parallel()
	onBothPages(t, web.Options{}, func(t *testing.T, playground http.Handler) {
		res, html := request{path: "/playground?query={ping}"}.send(playground)
		if res.Code != http.StatusOK || res.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("got status %d, want 200, %s, want text/html; charset=utf-8", res.Code, res.Header().Get("Content-Type"))
		}
		if got := settings(t, html); got.Endpoint != "/graphql" || got.Token != "" {
			t.Errorf("got %+v, want Endpoint '/graphql' and Token \"\"", got)
		}
	})
}

func TestGraphiQLIsThePageIfItWasBuiltAndTheSmallPageStays(t *testing.T) {
	t.Parallel()
	onBothPages(t, web.Options{}, func(t *testing.T, playground http.Handler) {
		_, first := request{}.send(playground)
		_, small := request{path: "/playground/small"}.send(playground)
		built := strings.HasSuffix(t.Name(), "GraphiQL")
		if got := strings.Contains(first, `<div id="graphiql">`); got != built {
			t.Errorf("GraphiQL at /playground: %v, want %v", got, built)
		}
		if !strings.Contains(small, `id="query"`) {
			t.Errorf("the small page is not at its own address: %s", small)
		}
		if got := settings(t, small).GraphiQL; got != built {
			t.Errorf("the small page says that GraphiQL is there: %v, want %v", got, built)
		}
	})
}

func TestTheEmbeddedFilesMakeAPage(t *testing.T) {
	t.Parallel()
	res, html := request{}.send(web.Playground(web.Options{}))
	if res.Code != http.StatusOK || !strings.Contains(html, "<title>Atrium playground</title>") {
		t.Errorf("got status %d, want 200: %s, want it to contain '<title>Atrium playground</title>'", res.Code, html)
	}
}

func TestEveryAnswerKeepsThePageToItself(t *testing.T) {
	t.Parallel()
	onBothPages(t, web.Options{}, func(t *testing.T, playground http.Handler) {
		for path, caching := range map[string]string{
			"/playground":                "no-store",
			"/playground/small":          "no-store",
			"/playground/playground.js":  "no-cache",
			"/playground/playground.css": "no-cache",
			"/nothing":                   "",
		} {
			res, _ := request{path: path}.send(playground)
			for header, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
					"connect-src 'self'; worker-src 'self' blob:; font-src 'self' data:; img-src 'self' data:; " +
					"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
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
	})
}

func TestThePageRefersOnlyToServedFiles(t *testing.T) {
	t.Parallel()
	onBothPages(t, web.Options{}, func(t *testing.T, playground http.Handler) {
		_, html := request{}.send(playground)
		named := regexp.MustCompile(`(?:src|href)="(/playground/[^"]*)"`).FindAllStringSubmatch(html, -1)
		if len(named) != 3 {
			t.Fatalf("the page names %d files of its own, want a script and two style sheets", len(named))
		}
		for _, name := range named {
			res, body := request{path: name[1]}.send(playground)
			if res.Code != http.StatusOK || body == "" {
				t.Errorf("%s: status %d, want 200, %d bytes", name[1], res.Code, len(body))
			}
		}
	})
}

func TestTheScriptsOfTheSmallPageImportOnlyServedFiles(t *testing.T) {
	t.Parallel()
	playground := web.PlaygroundFrom(web.Options{}, sources(t, false))
	_, script := request{path: "/playground/playground.js"}.send(playground)
	imported := regexp.MustCompile(`from '\./([^']*)'`).FindAllStringSubmatch(script, -1)
	if len(imported) == 0 {
		t.Fatal("no import found")
	}
	for _, name := range imported {
		res, _ := request{path: "/playground/" + name[1]}.send(playground)
		if got := res.Header().Get("Content-Type"); res.Code != http.StatusOK || got != "text/javascript; charset=utf-8" {
			t.Errorf("%s: status %d, want 200, %s, want text/javascript; charset=utf-8", name[1], res.Code, got)
		}
	}
}

func TestTheBundleIsCompressedForClientsThatAcceptIt(t *testing.T) {
	t.Parallel()
	playground := web.PlaygroundFrom(web.Options{}, sources(t, true))
	tags := map[string]bool{}
	for accept, encoding := range map[string]string{
		"gzip, deflate, br": "gzip",
		"br;q=1, gzip;q=.5": "gzip",
		"":                  "",
		"br":                "",
		"gzip;q=0":          "",
	} {
		res, body := request{path: "/playground/main.js", header: map[string]string{"Accept-Encoding": accept}}.send(playground)
		want := "script"
		if encoding == "gzip" {
			want = string(compressText("script"))
		}
		if got := res.Header().Get("Content-Encoding"); got != encoding || body != want {
			t.Errorf("Accept-Encoding %q: got %q as %q, want %q as %q", accept, body, got, want, encoding)
		}
		if got := res.Header().Get("Content-Type"); got != "text/javascript; charset=utf-8" {
			t.Errorf("Accept-Encoding %q: Content-Type %q, want text/javascript; charset=utf-8", accept, got)
		}
		if got := res.Header().Get("Vary"); got != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: Vary %q, want Accept-Encoding", accept, got)
		}
		tags[res.Header().Get("ETag")] = true
	}
	if len(tags) != 2 {
		t.Errorf("tags %v, want one for each form", tags)
	}
}

func TestAFileTheBrowserHasIsNotSentAgain(t *testing.T) {
	t.Parallel()
	playground := web.PlaygroundFrom(web.Options{}, sources(t, true))
	for _, path := range []string{"/playground/playground.js", "/playground/main.js"} {
		header := map[string]string{"Accept-Encoding": "gzip"}
		first, _ := request{path: path, header: header}.send(playground)
		header["If-None-Match"] = first.Header().Get("ETag")
		if again, _ := (request{path: path, header: header}).send(playground); again.Code != http.StatusNotModified {
			t.Errorf("%s: got %d, want 304", path, again.Code)
		}
	}
}

func TestOtherPathsAndMethodsAreRejected(t *testing.T) {
	t.Parallel()
	onBothPages(t, web.Options{}, func(t *testing.T, playground http.Handler) {
		for _, path := range []string{
			"/", "/favicon.ico", "/playground/", "/playground/web.go", "/playground/playground.html",
			"/playground/main.js.gz", "/playground/.gitignore", "/playground/index.html",
		} {
			if res, _ := (request{path: path}).send(playground); res.Code != http.StatusNotFound {
				t.Errorf("%s: status %d, want 404", path, res.Code)
			}
		}
		if res, _ := (request{method: http.MethodPost}).send(playground); res.Code != http.StatusMethodNotAllowed {
			t.Errorf("POST: got %d, want 405", res.Code)
		}
	})
}

func TestAHiddenPlaygroundServesOnlySharedFiles(t *testing.T) {
	t.Parallel()
	onBothPages(t, web.Options{Hidden: true}, func(t *testing.T, playground http.Handler) {
		for path, want := range map[string]int{"/playground": 404, "/playground/small": 404, "/playground/head.css": 200, "/playground/token.js": 200} {
			if answer, _ := (request{path: path}).send(playground); answer.Code != want {
				t.Errorf("%s: %d, want %d", path, answer.Code, want)
			}
		}
	})
}
