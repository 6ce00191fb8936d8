package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"html/template"
	"net/http"

	"github.com/swaggest/swgui/v5/static"
)

//go:embed reference
var referenceFiles embed.FS

// Reference serves a page at /docs that shows the OpenAPI document at a path of the page's own host, and the page's
// files below /docs/; every other path is not found. The page is Swagger UI, out of a Go module, under the policy of
// the playground: it needs nothing beyond its host.
func Reference(document string) http.Handler {
	var html bytes.Buffer
	if err := template.Must(template.ParseFS(referenceFiles, "reference/index.html")).Execute(&html, document); err != nil {
		panic(err) // the page is embedded, and the path is a string: the build is broken
	}
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(html.Bytes())
	})
	mux := http.NewServeMux()
	mux.Handle("GET /docs", page)
	mux.Handle("GET /docs/{$}", page)
	for _, name := range []string{"swagger-ui-bundle.js", "swagger-ui.css"} {
		mux.Handle("GET /docs/"+name, file(name, content(static.FS, name+packed), true))
	}
	for _, name := range []string{"reference.js", "reference.css"} {
		mux.Handle("GET /docs/"+name, file(name, content(referenceFiles, "reference/"+name), false))
	}
	return secured(mux)
}

func content(files embed.FS, name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // a file that is not embedded: the build is broken
	}
	return content
}

func file(name string, content []byte, gzipped bool) asset {
	return asset{name: name, content: content, gzipped: gzipped, sum: sha256.Sum256(content)}
}
