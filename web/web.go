// Package web holds the page a person meets first: the playground, where GraphQL queries are written and run.
//
// There are two. GraphiQL is a bundle that `make build` puts into dist/ where Node is; a program built with it
// serves it. The small page is one HTML file with its scripts and styles, written by hand, and always there: it is
// the playground of a program that was built without GraphiQL. Either needs nothing beyond its own host, and keeps
// to a content security policy that allows no inline script. Beside them is the reference of the REST interface.
package web

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
)

// dist is empty but for a file that says so until `make build` has filled it.
//
//go:embed builtin graphiql/index.html all:dist
var embedded embed.FS

// policy lets the page load its own files and talk to its own host, and nothing else. Styles in attributes, blob
// workers and fonts in data URLs are what GraphiQL's editor needs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; " +
	"worker-src 'self' blob:; font-src 'self' data:; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Options says what the playground shows. The zero value is a playground without examples for /graphql.
type Options struct {
	// Endpoint is the path, on the page's own host, that queries are posted to. Empty means /graphql. GraphiQL
	// reads the schema at Endpoint + "/schema" for those who may not introspect.
	Endpoint string

	// Token returns a bearer token to fill in, or "" for none. It is for development mode only. It is asked
	// only when the request came over the loopback interface and for a loopback host: anyone who can read
	// the page has the token. May be nil.
	Token func(*http.Request) string

	// Examples are shown as tabs, in this order; the first is open at the start.
	Examples []Example
}

// Example is a query to start from.
type Example struct {
	// Name is on the tab. GraphiQL shows the name of the query's operation, and takes this for one that has none.
	Name      string `json:"name"`
	Query     string `json:"query"`     // a GraphQL document
	Variables string `json:"variables"` // a JSON object, or "" for none
}

// settings is what the page's script reads from the data block in the HTML.
type settings struct {
	Endpoint string    `json:"endpoint"`
	Token    string    `json:"token"`
	Examples []Example `json:"examples"`
	GraphiQL bool      `json:"graphiql"`
}

// Playground serves the page at /, the small page at /playground/small as well, and their files below
// /playground/; every other path is not found.
//
// In the page's URL, ?query= and ?variables= open a tab of their own with what they hold. They run only when
// the reader says so.
func Playground(opts Options) http.Handler { return playground(opts, embedded) }

func playground(opts Options, files fs.FS) http.Handler {
	if opts.Endpoint == "" {
		opts.Endpoint = "/graphql"
	}
	shown := settings{Endpoint: opts.Endpoint, Examples: opts.Examples, GraphiQL: hasGraphiQL(files)}
	small := page(files, "builtin/playground.html", shown, opts.Token)
	first := small
	if shown.GraphiQL {
		first = page(files, "graphiql/index.html", shown, opts.Token)
	}

	mux := http.NewServeMux()
	mux.Handle("GET /{$}", first)
	mux.Handle("GET /playground/small", small)
	for name, file := range assets(files) {
		mux.Handle("GET /playground/"+name, file)
	}
	return secured(mux)
}

// page writes the template called name with what it shows, and the token for whom it is meant.
func page(files fs.FS, name string, shown settings, token func(*http.Request) string) http.Handler {
	parsed := template.Must(template.ParseFS(files, name, "builtin/shared.html"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := shown
		if token != nil && isLocal(r) {
			shown.Token = token(r)
		}
		var html bytes.Buffer
		if err := parsed.ExecuteTemplate(&html, path.Base(name), shown); err != nil {
			http.Error(w, "the playground page could not be written", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Cache-Control", "no-store") // the page may hold a token
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(html.Bytes())
	})
}

// secured puts the headers on every answer that keep the page to itself.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Frame-Options", "DENY") // in a frame, another site could steer clicks to the run button
		next.ServeHTTP(w, r)
	})
}
