// Package web serves the pages of a server: the console, the playground for GraphQL queries, the reference of the REST
// interface, and the guide. It must not know the API: its callers give the paths and the contents.
//
// There are two playgrounds. GraphiQL is a bundle that `make build` puts into dist/ if Node is installed; a program
// that was built with it serves it. The small page is one HTML file with its scripts and styles, written by hand. It is
// always included, and is the playground of a program that was built without GraphiQL. All pages load files only from
// their own host, and have a content security policy that allows no inline script.
package web

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
)

// dist contains only a placeholder until `make build` has filled it.
//
//go:embed builtin graphiql/index.html all:dist
var embedded embed.FS

// policy allows a page to load its own files and to send requests to its own host, and nothing else. The editor of
// GraphiQL needs styles in attributes, blob workers and fonts in data URLs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; " +
	"worker-src 'self' blob:; font-src 'self' data:; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Options configures the playground. The zero value is a playground for /graphql without examples.
type Options struct {
	// Endpoint is the path, on the same host, to which queries are posted. Empty means /graphql. GraphiQL reads the
	// schema at Endpoint + "/schema" for callers who may not introspect.
	Endpoint string

	// Token returns a bearer token to fill in, or "" for none. It may be nil. Set it in development mode only,
	// because anyone who can read the page has the token. It is called only if the request came over the loopback
	// interface and for a loopback host, or from a browser that has used the link.
	Token func(*http.Request) string

	// Link signs in browsers of other machines; nil means that there is none.
	Link *SignInLink

	// Examples are shown as tabs, in this order; the first is open at the start.
	Examples []Example

	// If Hidden is set, only the files that other pages share are served.
	Hidden bool

	// If Console is set, the header links to the console.
	Console bool
}

// Example is a query to start from.
type Example struct {
	// Name is the title of the tab. GraphiQL uses it only for a query whose operation has no name.
	Name      string `json:"name"`
	Query     string `json:"query"`     // a GraphQL document
	Variables string `json:"variables"` // a JSON object, or "" for none
}

// A pageView has the values for the templates of pages that send requests.
type pageView struct {
	Page       string // what the page is, in its title and its header
	Playground bool   // whether the header links to the playground
	Console    bool   // whether the header links to the console
	Endpoint   string
	Examples   []Example
	Token      string // the token that is filled in, or ""
	Settings   any    // data for the script
}

// settings has the values that the script of the page reads from a data block in the HTML.
type settings struct {
	Endpoint string    `json:"endpoint"`
	Token    string    `json:"token"`
	Examples []Example `json:"examples"`
	GraphiQL bool      `json:"graphiql"`
	Document string    `json:"document,omitempty"` // path of the OpenAPI document of the reference
}

// Playground serves GraphiQL, or without it the small page, at /playground. It serves the small page at /playground/small too,
// and the files of both below /playground/. Every other path is not found.
//
// ?query= and ?variables= in the URL of the page open a new tab with their values. The query runs only when the user
// starts it.
func Playground(opts Options) http.Handler { return newPlayground(opts, embedded) }

func newPlayground(opts Options, files fs.FS) http.Handler {
	if opts.Endpoint == "" {
		opts.Endpoint = "/graphql"
	}
	s := settings{Endpoint: opts.Endpoint, Examples: opts.Examples, GraphiQL: hasGraphiQL(files)}
	smallPage := newPage(files, "builtin/playground.html", s, opts)
	mainPage := smallPage
	if s.GraphiQL {
		mainPage = newPage(files, "graphiql/index.html", s, opts)
	}

	mux := http.NewServeMux()
	if !opts.Hidden {
		mux.Handle("GET /playground", mainPage)
		mux.Handle("GET /playground/small", smallPage)
	}
	for name, file := range loadAssets(files) {
		mux.Handle("GET /playground/"+name, file)
	}
	return addSecurityHeaders(mux)
}

// newPage serves the named template with the settings. It adds the token for a local browser, and for one that has used the link.
func newPage(files fs.FS, name string, s settings, opts Options) http.Handler {
	parsed := template.Must(template.ParseFS(files, name, "builtin/shared.html"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := s
		if opts.Token != nil && opts.Link.mayHoldToken(r) {
			s.Token = opts.Token(r)
		}
		var html bytes.Buffer
		view := pageView{Page: "playground", Console: opts.Console, Endpoint: s.Endpoint, Examples: s.Examples, Token: s.Token, Settings: s}
		if err := parsed.ExecuteTemplate(&html, path.Base(name), view); err != nil {
			http.Error(w, "the playground page could not be generated", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Cache-Control", "no-store") // the page may hold a token
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(html.Bytes())
	})
}

// addSecurityHeaders adds headers to every answer that isolate the pages from other sites.
func addSecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Frame-Options", "DENY") // in a frame, another site could steer clicks to the run button
		next.ServeHTTP(w, r)
	})
}
