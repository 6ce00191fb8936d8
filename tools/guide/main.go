// Command guide renders the pages of the guide, docs/*.md, as the HTML that the
// server shows, docs/pages.zip, with the index of its search. Its argument is the folder of Atrium.
package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: guide FOLDER")
		os.Exit(2)
	}
	if err := renderAll(filepath.Join(os.Args[1], "docs")); err != nil {
		fmt.Fprintln(os.Stderr, "guide:", err)
		os.Exit(1)
	}
}

// renderAll replaces the archive with the HTML of all pages.
func renderAll(docs string) error {
	sources, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil {
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(docs, "..", "CHANGELOG.md"))
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	pages := zip.NewWriter(&archive)
	var sections []section
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		html, err := render(changesMarker.ReplaceAllLiteral(text, listBreaks(changelog)))
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		name := strings.TrimSuffix(filepath.Base(source), ".md")
		sections = append(sections, splitSections(name, string(html))...)
		if err := addFile(pages, name+".html", html); err != nil {
			return err
		}
	}
	var index bytes.Buffer
	packed := gzip.NewWriter(&index)
	if err := errors.Join(json.NewEncoder(packed).Encode(sections), packed.Close()); err != nil {
		return err
	}
	if err := addFile(pages, "search.json.gz", index.Bytes()); err != nil {
		return err
	}
	if err := pages.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, "pages.zip"), archive.Bytes(), 0o644)
}

// addFile adds a file without a time, so that the archive depends on the Markdown only.
func addFile(archive *zip.Writer, name string, content []byte) error {
	file, err := archive.Create(name)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return err
}

// pageLink matches a link to another page, which works where the Markdown itself
// is read too.
var pageLink = regexp.MustCompile(`href="([a-z0-9-]+)\.md(#[^"]*)?"`)

// focusable lets people who use the keyboard scroll code and tables that are too wide. Text
// contains none of these tags, because its angle brackets are escaped.
var focusable = strings.NewReplacer(
	"<pre>", `<pre tabindex="0">`,
	"<table>", `<div class="wide" role="group" aria-label="Table" tabindex="0">`+"\n<table>",
	"</table>", "</table>\n</div>",
)

// render renders a page. HTML in the Markdown is left out.
func render(text []byte) ([]byte, error) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	var html bytes.Buffer
	if err := markdown.Convert(text, &html); err != nil {
		return nil, err
	}
	page, err := drawDiagrams(html.String())
	if err != nil {
		return nil, err
	}
	return []byte(focusable.Replace(pageLink.ReplaceAllString(page, `href="/guide/$1$2"`))), nil
}
