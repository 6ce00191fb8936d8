package web

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

//go:embed guide
var guideFiles embed.FS

// guidePage is what the template of the guide shows.
type guidePage struct {
	Name, Title string
	Body        template.HTML
	All         []*guidePage
	Next        *guidePage // nil for the last page
	Links       Links
}

// Links says which other pages the header of the guide links to.
type Links struct{ Playground, Console bool }

// Guide serves pages of Markdown at /guide, in the order of names; the first is the start. A comment such as
// <!-- roles --> in a page is replaced with the text of that name in generated. Every other path is not found. Guide
// panics if a page is missing, because the pages are embedded. links says which other pages there are.
func Guide(files fs.FS, names []string, links Links, generated map[string]string) http.Handler {
	pages := make([]*guidePage, len(names))
	for i, name := range names {
		pages[i] = newGuidePage(files, name, generated)
		if i > 0 {
			pages[i-1].Next = pages[i]
		}
	}
	layout := template.Must(template.ParseFS(guideFiles, "guide/page.html"))
	mux := http.NewServeMux()
	for i, page := range pages {
		page.All, page.Links = pages, links
		var html bytes.Buffer
		if err := layout.Execute(&html, page); err != nil {
			panic(err) // cannot fail with the embedded template
		}
		serve := newGuideHandler(html.Bytes())
		mux.Handle("GET /guide/"+page.Name, serve)
		if i == 0 {
			mux.Handle("GET /guide", serve)
			mux.Handle("GET /guide/{$}", serve)
		}
	}
	mux.Handle("GET /guide/guide.css", newAsset("guide.css", readEmbedded(guideFiles, "guide/guide.css"), false))
	return addSecurityHeaders(mux)
}

func newGuideHandler(html []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(html)
	})
}

// pageLink matches a link to another page of the guide, which works where the Markdown itself is read too.
var pageLink = regexp.MustCompile(`href="([a-z0-9-]+)\.md(#[^"]*)?"`)

func newGuidePage(files fs.FS, name string, generated map[string]string) *guidePage {
	source, err := fs.ReadFile(files, name+".md")
	if err != nil {
		panic(err) // the page is not embedded, so the build is broken
	}
	text := string(source)
	for marker, replacement := range generated {
		text = strings.ReplaceAll(text, "<!-- "+marker+" -->", replacement)
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	var html bytes.Buffer
	if err := markdown.Convert([]byte(text), &html); err != nil {
		panic(err) // writing to memory cannot fail
	}
	title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	body := pageLink.ReplaceAllString(html.String(), `href="/guide/$1$2"`)
	return &guidePage{Name: name, Title: title, Body: template.HTML(body)} //nolint:gosec // it was made of embedded text
}
