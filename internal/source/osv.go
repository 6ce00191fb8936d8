package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	"atrium/internal/ingest"
	"atrium/platform/core"
	"atrium/platform/intake"
)

// maxSingles is up to how many changed records are fetched one by one. If there are more, the archive of the ecosystem is.
const maxSingles = 1000

// osvID matches the ids of records, which are parts of URLs. The index of all ecosystems has the folder of each before its id.
var osvID = regexp.MustCompile(`^(?:([A-Za-z][A-Za-z0-9 .:()_-]{0,100})/)?([A-Za-z0-9][A-Za-z0-9._:-]{0,200})$`)

// readOSV reads the ecosystems of the source, all of its folder, or the one archive or document that it is. If one ecosystem cannot be
// read, the others are.
func (u *run) readOSV(ctx context.Context) error {
	folder := u.source.Folder()
	switch {
	case folder == "":
		_, err := u.readArchive(ctx, u.source.URL)
		return err
	case len(u.source.Ecosystems) == 0:
		return u.readEcosystem(ctx, folder)
	}
	var failed []error
	for _, ecosystem := range u.source.Ecosystems {
		err := u.readEcosystem(ctx, folder+"/"+url.PathEscape(ecosystem))
		if ctx.Err() != nil {
			return err
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// readEcosystem reads what has changed of the folder of an ecosystem, as its index says. Without an index, it reads the archive if that has
// changed.
func (u *run) readEcosystem(ctx context.Context, folder string) error {
	index, archive := folder+"/modified_id.csv", folder+"/all.zip"
	listed, err := u.fetch(ctx, index)
	switch {
	case isMissing(err):
		_, err := u.readArchive(ctx, archive)
		return err
	case err != nil || listed.isUnchanged:
		return err
	}
	changed, isPart, mark, err := news(listed.path, u.marks[index], maxSingles)
	if err != nil {
		return fetchError{shownURL(index), err.Error()}
	}
	mark.ETag, mark.LastModified = listed.mark.ETag, listed.mark.LastModified
	if isPart {
		var got *file
		if got, err = u.readArchive(ctx, archive); err == nil {
			mark = got.limit(mark)
		}
	} else {
		err = u.readRecords(ctx, folder, changed)
	}
	if err == nil {
		u.marks[index] = mark
	}
	return err
}

// limit returns the mark of an index whose records were read from the file, which can be older than the index.
func (f *file) limit(mark *intake.Mark) *intake.Mark {
	made, err := http.ParseTime(f.mark.LastModified)
	if err != nil || !made.Before(mark.Since.Time) {
		return mark
	}
	older := &intake.Mark{Since: core.At(made), Recent: map[string]core.Time{}}
	for name, at := range mark.Recent {
		if !at.After(made) {
			older.Recent[name] = at
		}
	}
	return older
}

// readArchive reads an archive of records if it has changed.
func (u *run) readArchive(ctx context.Context, archive string) (*file, error) {
	got, err := u.fetch(ctx, archive)
	if err != nil || got.isUnchanged {
		return got, err
	}
	return got, u.importOSV(ctx, got)
}

// readRecords reads single records.
func (u *run) readRecords(ctx context.Context, folder string, changed []entry) error {
	var urls []string
	for _, e := range changed {
		parts := osvID.FindStringSubmatch(e.name)
		if parts == nil {
			u.result.AddProblem(fmt.Sprintf("%s: %.100q is not the id of a record", shownURL(folder), e.name))
			continue
		}
		from := folder
		if parts[1] != "" {
			from += "/" + url.PathEscape(parts[1])
		}
		urls = append(urls, from+"/"+url.PathEscape(parts[2])+".json")
	}
	if len(urls) == 0 {
		return nil
	}
	got, err := u.fetchEach(ctx, urls)
	if err != nil || len(got) == 0 {
		return err
	}
	sum, err := ingest.ImportOSV(ctx, u.reader.platform, pathsOf(got), u.importOptions())
	return u.addImport(sum, err)
}

// importOSV imports the records of a file.
func (u *run) importOSV(ctx context.Context, got *file) error {
	sum, err := ingest.ImportOSV(ctx, u.reader.platform, []string{got.path}, u.importOptions())
	return u.addImport(sum, err, got)
}

func pathsOf(files []*file) []string {
	var paths []string
	for _, f := range files {
		if !f.isUnchanged {
			paths = append(paths, f.path)
		}
	}
	return paths
}
