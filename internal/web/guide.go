package web

import (
	"bytes"
	"embed"
	"html"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed guide
var guideFiles embed.FS

// guidePage is what the template of the guide shows.
type guidePage struct {
	Name, Title string
	Part        string // the title of the part of the guide that begins with this page, or ""
	Body        template.HTML
	All         []*guidePage
	Next        *guidePage // nil for the last page
	Links       Links
}

// Links says which other pages the header of the guide links to.
type Links struct{ Playground, Console bool }

// Guide serves the pages of the guide at /guide, in the order of names; the first is the start. parts has the titles of the parts of the
// guide, by their first pages. search.json.gz among the files has the sections that the search finds. Every other path is not found. Guide
// panics if a page is missing, because the pages are embedded. links says which other pages there are.
func Guide(files fs.FS, names []string, parts map[string]string, links Links) http.Handler {
	pages := make([]*guidePage, len(names))
	for i, name := range names {
		pages[i] = newGuidePage(files, name)
		pages[i].Part = parts[name]
		if i > 0 {
			pages[i-1].Next = pages[i]
		}
	}
	layout := template.Must(template.ParseFS(guideFiles, "guide/page.html"))
	mux := http.NewServeMux()
	for i, page := range pages {
		page.All, page.Links = pages, links
		var text bytes.Buffer
		if err := layout.Execute(&text, page); err != nil {
			panic(err) // cannot fail with the embedded template
		}
		serve := newGuideHandler(text.Bytes())
		mux.Handle("GET /guide/"+page.Name, serve)
		if i == 0 {
			mux.Handle("GET /guide", serve)
			mux.Handle("GET /guide/{$}", serve)
		}
	}
	mux.Handle("GET /guide/guide.css", newAsset(guideFiles, "guide/guide.css"))
	mux.Handle("GET /guide/search.js", newAsset(guideFiles, "guide/search.js"))
	mux.Handle("GET /guide/search.json", newAsset(files, "search.json"+gzipExtension))
	return addSecurityHeaders(mux)
}

func newGuideHandler(text []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text)
	})
}

// newGuidePage makes a page of its HTML, which begins with its title.
func newGuidePage(files fs.FS, name string) *guidePage {
	source, err := fs.ReadFile(files, name+".html")
	if err != nil {
		panic(err) // the page is not embedded, so the build is broken
	}
	body := string(source)
	heading, _, _ := strings.Cut(body, "</h1>")
	_, title, _ := strings.Cut(heading, ">")
	return &guidePage{Name: name, Title: html.UnescapeString(title), Body: template.HTML(body)} //nolint:gosec // it was made of embedded text
}
