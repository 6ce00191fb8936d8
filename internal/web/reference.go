package web

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
)

//go:embed reference/*.html reference/*.css reference/contents.js reference/reference.js reference/samples.js
var referenceFiles embed.FS

// referenceBundle is the folder of Swagger UI.
const referenceBundle = bundleFolder + "/reference"

// ReferenceOptions configures the reference.
type ReferenceOptions struct {
	Document string // the path of the OpenAPI document, on the same host
	Endpoint string // the path of GraphQL, as in Options

	// Token returns a bearer token to fill in, as in Options.
	Token func(*http.Request) string

	// Link signs in browsers of other machines, as in Options.
	Link *SignInLink

	// If Playground is set, the header links to the playground.
	Playground bool

	// If Console is set, the header links to the console.
	Console bool
}

// Reference serves a page at /docs that shows an OpenAPI document, and the files of the page below /docs/. Every other
// path is not found. The page is Swagger UI, which `make build` embeds if Node is installed, below the header of the playground
// and with its content security policy, beside a list of the operations. Without it the page says so. The header needs files of the
// playground.
func Reference(opts ReferenceOptions) http.Handler { return newReference(opts, embedded) }

func newReference(opts ReferenceOptions, files fs.FS) http.Handler {
	mux := http.NewServeMux()
	name, status := "index.html", http.StatusOK
	if _, err := fs.Stat(files, referenceBundle+"/swagger-ui-bundle.js"+gzipExtension); err != nil {
		name, status = "missing.html", http.StatusNotImplemented
	} else {
		for name, file := range loadFolder(files, referenceBundle) {
			mux.Handle("GET /docs/"+name, file)
		}
	}
	page := newReferencePage(opts, name, status)
	mux.Handle("GET /docs", page)
	mux.Handle("GET /docs/{$}", page)
	for _, name := range []string{"contents.js", "reference.js", "samples.js", "reference.css"} {
		mux.Handle("GET /docs/"+name, newAsset(referenceFiles, "reference/"+name))
	}
	return addSecurityHeaders(mux)
}

// newReferencePage serves the named template with a token for a local browser, and for one that has used the link.
func newReferencePage(opts ReferenceOptions, name string, status int) http.Handler {
	parsed := template.Must(template.ParseFS(embedded, "builtin/shared.html"))
	template.Must(parsed.ParseFS(referenceFiles, "reference/"+name))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := settings{Endpoint: opts.Endpoint, Document: opts.Document}
		if opts.Token != nil && opts.Link.mayHoldToken(r) {
			s.Token = opts.Token(r)
		}
		var html bytes.Buffer
		view := pageView{Page: "REST reference", Playground: opts.Playground, Console: opts.Console, Endpoint: opts.Endpoint, Token: s.Token, Settings: s}
		if err := parsed.ExecuteTemplate(&html, name, view); err != nil {
			http.Error(w, "the page of the reference could not be generated", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Cache-Control", "no-store") // the page may hold a token
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(html.Bytes())
	})
}

func readEmbedded(files embed.FS, name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the file is not embedded, so the build is broken
	}
	return content
}
