package source

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"atrium/internal/ingest"
	"atrium/platform/intake"
)

const (
	// maxDocuments is how many documents of an index with times may have changed, and maxListed how many one without times may list: each of
	// these is asked for in every run.
	maxDocuments = 10_000
	maxListed    = 1000
)

// A reading imports documents.
type reading = func(paths []string, o ingest.Options) (ingest.Summary, error)

// readDocuments fetches and imports the document or archive at the URL, or the documents that an index there lists: a .csv file of names
// and times, or a .txt file of names, as providers of CSAF have them.
func (u *run) readDocuments(ctx context.Context, read reading) error {
	at, err := url.Parse(u.source.URL)
	if err != nil {
		return err
	}
	switch path := strings.ToLower(at.Path); {
	case strings.HasSuffix(path, ".csv"):
		return u.readIndexed(ctx, at, read)
	case strings.HasSuffix(path, ".txt"):
		return u.readListed(ctx, at, read)
	}
	got, err := u.fetch(ctx, u.source.URL)
	if err != nil || got.isUnchanged {
		return err
	}
	return u.importDocuments(read, got)
}

// importDocuments imports those documents that have changed.
func (u *run) importDocuments(read reading, got ...*file) error {
	paths := pathsOf(got)
	if len(paths) == 0 {
		return nil
	}
	sum, err := read(paths, u.importOptions())
	return u.addImport(sum, err, got...)
}

// readIndexed reads the documents that have changed by an index with times.
func (u *run) readIndexed(ctx context.Context, index *url.URL, read reading) error {
	listed, err := u.fetch(ctx, u.source.URL)
	if err != nil || listed.isUnchanged {
		return err
	}
	known := u.marks[u.source.URL]
	if known == nil {
		known = &intake.Mark{}
	}
	changed, isPart, mark, err := news(listed.path, known, maxDocuments)
	switch {
	case err != nil:
		return fetchError{shownURL(u.source.URL), err.Error()}
	case isPart:
		return fetchError{shownURL(u.source.URL), fmt.Sprintf("the index has more than %d documents that are new", maxDocuments)}
	}
	names := make([]string, len(changed))
	for i, e := range changed {
		names[i] = e.name
	}
	got, err := u.fetchEach(ctx, u.resolve(index, names))
	if err != nil {
		return err
	}
	if err := u.importDocuments(read, got...); err != nil {
		return err
	}
	for _, f := range got {
		delete(u.marks, f.url) // the index knows when it changes
	}
	mark.ETag, mark.LastModified = listed.mark.ETag, listed.mark.LastModified
	u.marks[u.source.URL] = mark
	return nil
}

// readListed reads the documents of an index without times, each of which is asked whether it has changed.
func (u *run) readListed(ctx context.Context, index *url.URL, read reading) error {
	listed, err := u.fetchAll(ctx, u.source.URL)
	if err != nil {
		return err
	}
	names, err := readNames(listed.path)
	if err != nil {
		return fetchError{shownURL(u.source.URL), err.Error()}
	}
	u.fetched-- // the list itself is no document
	got, err := u.fetchEach(ctx, u.resolve(index, names))
	if err != nil {
		return err
	}
	return u.importDocuments(read, got...)
}

// fetchAll fetches a URL whether or not it has changed.
func (u *run) fetchAll(ctx context.Context, from string) (*file, error) {
	delete(u.marks, from)
	return u.fetch(ctx, from)
}

// readNames reads the lines of an index without times.
func readNames(path string) (names []string, err error) {
	text, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = text.Close() }()
	lines := bufio.NewReaderSize(text, maxEntryBytes)
	for number := 1; ; number++ {
		line, tooLong, err := lines.ReadLine()
		switch name := strings.TrimSpace(string(line)); {
		case errors.Is(err, io.EOF):
			return names, nil
		case err != nil:
			return nil, err
		case tooLong:
			return nil, fmt.Errorf("line %d of the index has more than %d bytes", number, maxEntryBytes)
		case name == "" || strings.HasPrefix(name, "#"):
		case len(names) == maxListed:
			return nil, fmt.Errorf("the index lists more than %d documents; name one with times, such as changes.csv", maxListed)
		default:
			names = append(names, name)
		}
	}
}

// resolve returns the URLs of names in an index. Those on other hosts are problems of the report.
func (u *run) resolve(index *url.URL, names []string) (urls []string) {
	for _, name := range names {
		ref, err := url.Parse(name)
		if err != nil {
			u.result.AddProblem(fmt.Sprintf("%s: %.100q is not the name of a document", shownURL(index.String()), name))
			continue
		}
		at := index.ResolveReference(ref)
		if !u.isOwnHost(at.String()) {
			u.result.AddProblem(fmt.Sprintf("%s: %.100q is on another host", shownURL(index.String()), name))
			continue
		}
		urls = append(urls, at.String())
	}
	return urls
}
