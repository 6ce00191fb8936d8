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

// Reference serves a page at /docs that shows an OpenAPI document, and the files of the page below /docs/. Every other
// path is not found. document is the path of the document on the same host. The page is Swagger UI, from a Go module,
// with the content security policy of the playground.
func Reference(document string) http.Handler {
	var html bytes.Buffer
	if err := template.Must(template.ParseFS(referenceFiles, "reference/index.html")).Execute(&html, document); err != nil {
		panic(err) // cannot fail with the embedded page
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
		mux.Handle("GET /docs/"+name, newAsset(name, readEmbedded(static.FS, name+gzipExtension), true))
	}
	for _, name := range []string{"reference.js", "reference.css"} {
		mux.Handle("GET /docs/"+name, newAsset(name, readEmbedded(referenceFiles, "reference/"+name), false))
	}
	return addSecurityHeaders(mux)
}

func readEmbedded(files embed.FS, name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the file is not embedded, so the build is broken
	}
	return content
}

func newAsset(name string, content []byte, gzipped bool) asset {
	return asset{name: name, content: content, gzipped: gzipped, sum: sha256.Sum256(content)}
}
