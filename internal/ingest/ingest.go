package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/registry"
)

// MaxRecord is the largest document or line that is read, in bytes after
// decompression.
const MaxRecord = 16 << 20

const errTooLarge = sizeError(MaxRecord)

// A sizeError is the error of a document or a line that has more bytes than this.
type sizeError int

func (most sizeError) Error() string { return fmt.Sprintf("is larger than %d MiB", most>>20) }

var errNUL = errors.New("contains the character U+0000, which no text may contain")

// Options configures an import. Both functions may be nil.
type Options struct {
	Group    core.UID // the group into which advisories and repos are imported
	NoEvents bool     // record no events for repos and tags
	OwnOnly  bool     // import only what belongs to the group, and not what all organizations share
	// ReportProblem is called for every record that failed, and for every repo
	// that vanished from its registry.
	ReportProblem func(at Place, reason error)
	// ReportRemark is called for what was left out, and for what a document does not say. Without it, ReportProblem is.
	ReportRemark func(at Place, remark error)
	// ReportProgress is called after every record.
	ReportProgress func(Progress)
	// TemporaryFolder is where a large pipe is copied to; "" means that of the system.
	TemporaryFolder string
	// Pipe is what the path "-" stands for, unless there is an Upload.
	Pipe   io.Reader
	Upload *Upload
}

// A Place is the position of a record in the input.
type Place struct {
	File   string // path as the caller named it, or of a file below a folder that the caller named; "-" for a pipe or an upload
	Member string // the member of an archive; "" for a plain file
	Line   int    // counted from 1; 0 if the record is a whole file
}

// String returns file:line or file: member. It quotes names with characters that
// a terminal would interpret.
func (p Place) String() string {
	s := quoteUnprintable(p.File)
	if p.Member != "" {
		s += ": " + quoteUnprintable(p.Member)
	}
	if p.Line > 0 {
		s += fmt.Sprintf(":%d", p.Line)
	}
	return s
}

func quoteUnprintable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// A StoppedError is the error of an import that could not go on. All records before a place are
// imported, or were reported as failed.
type StoppedError struct {
	At  Place
	Err error
}

func (e *StoppedError) Error() string { return fmt.Sprintf("stopped at %s: %v", e.At, e.Err) }

// Unwrap returns the reason.
func (e *StoppedError) Unwrap() error { return e.Err }

// Progress says how much of the input has been read.
type Progress struct {
	Records     int   // records read so far
	Read, Total int64 // bytes of the input on disk; for registries, the same number for each repo
}

// A Summary is the result of an import.
type Summary struct {
	Kinds      []KindCounts  `json:"kinds"`              // counts by kind, in the order of the import
	Unreadable int           `json:"unreadable"`         // documents and lines whose kind could not be read
	Waiting    int           `json:"waiting,omitempty"`  // statements of VEX that decide about no finding now
	Untagged   int           `json:"untagged,omitempty"` // images of imported SBOMs whose findings do not count, because no live tag points to them
	Images     []ImageCounts `json:"images,omitempty"`   // the images of SBOMs
}

// A KindCounts counts the results for the records of one kind.
type KindCounts struct {
	Name      string `json:"name"` // plural, such as "repos"
	Added     int    `json:"added"`
	Updated   int    `json:"changed"`
	Unchanged int    `json:"unchanged"`
	Failed    int    `json:"refused"`
	Removed   int    `json:"removed,omitempty"`  // removed from the group, because the source no longer has them
	Vanished  int    `json:"vanished,omitempty"` // repos that were imported before and that the source no longer has
}

// Failed counts the records that were not imported.
func (s Summary) Failed() int {
	n := s.Unreadable
	for _, k := range s.Kinds {
		n += k.Failed
	}
	return n
}

// IsUseless reports whether there were records and none of them could be used, as of a page in place of an archive.
func (s Summary) IsUseless() bool {
	return s.Failed() > 0 && !slices.ContainsFunc(s.Kinds, func(k KindCounts) bool { return k.Added+k.Updated+k.Unchanged > 0 })
}

// A destination has the operations of the core that imports use.
type destination struct {
	repos           func(context.Context, []*registry.ImportedRepo) (core.Imported, error)
	tags            func(context.Context, []*registry.ImportedTag) (core.Imported, error)
	images          func(context.Context, []*inventory.Image) (core.Imported, error)
	advisories      func(context.Context, []*feeds.AdvisoryRecord) (core.Imported, error)
	vulnerabilities func(context.Context, []*inventory.Vulnerability) (core.Imported, error)
	artifacts       func(context.Context, []*libraries.ImportedArtifact) (artifacts, versions core.Imported, err error)
	sboms           func(context.Context, []*registry.ImportedSBOM) (core.Imported, error)
	exploitations   func(context.Context, feeds.Catalog, []*inventory.Exploitation) (core.Imported, error)

	// keepKnownExploited takes all vulnerabilities but these out of the catalog of those that
	// are known to be exploited.
	keepKnownExploited func(ctx context.Context, ids []string) (removed int, err error)

	// writesAtOnce reports whether imports need not wait for each other.
	writesAtOnce bool

	// findRepo finds a repo of the group by its name; "" if there is none.
	findRepo func(ctx context.Context, name string) (core.UID, error)

	// makeRepo makes a repo in a group; "" means the group of the import. One that somebody has made meanwhile is found.
	makeRepo func(ctx context.Context, group core.UID, name string) (core.UID, error)

	// setTag makes a tag, or moves the one that there is.
	setTag func(ctx context.Context, tag inventory.TagName, digest string) (changed, isNew bool, err error)

	// getImages reads images in the order of keys; nil for each that does not exist.
	getImages func(ctx context.Context, keys []core.ImageKey) ([]*inventory.Image, error)

	// countUntagged counts the images to which no tag points that is not deprecated.
	countUntagged func(ctx context.Context, images []core.ImageKey) (int, error)

	// listSources lists the repos of the group that have tags from a registry.
	listSources func(ctx context.Context, host string) ([]registry.RepoSource, error)

	// pruneTags removes the tags that came from source and are not in keep.
	pruneTags func(ctx context.Context, source registry.RepoSource, keep []string) (removed int, err error)
}

// newDestination returns the operations of p, with the group and settings of o.
func newDestination(p *platform.Platform, o Options, options core.ImportOptions) destination {
	options.NoEvents = o.NoEvents
	return destination{
		writesAtOnce: p.WritesAtOnce(),
		repos: func(ctx context.Context, rows []*registry.ImportedRepo) (core.Imported, error) {
			return p.Registry.ImportRepos(ctx, o.Group, rows, options)
		},
		tags: func(ctx context.Context, rows []*registry.ImportedTag) (core.Imported, error) {
			return p.Registry.ImportTags(ctx, rows, options)
		},
		images: p.Registry.ImportImages,
		advisories: func(ctx context.Context, records []*feeds.AdvisoryRecord) (core.Imported, error) {
			return p.Feeds.ImportRecords(ctx, o.Group, records)
		},
		vulnerabilities: p.Feeds.ImportVulnerabilities,
		artifacts:       p.Artifacts.Import,
		sboms:           p.Registry.ImportSBOMs,
		exploitations:   p.Feeds.ImportExploitations,

		keepKnownExploited: p.Feeds.KeepKnownExploited,
		findRepo:           func(ctx context.Context, name string) (core.UID, error) { return findRepo(ctx, p, o.Group, name) },
		makeRepo: func(ctx context.Context, group core.UID, name string) (core.UID, error) {
			if group == "" {
				group = o.Group
			}
			return makeRepo(ctx, p, group, name)
		},
		setTag: func(ctx context.Context, tag inventory.TagName, digest string) (changed, isNew bool, err error) {
			return setTag(ctx, p, tag, digest)
		},
		getImages: func(ctx context.Context, keys []core.ImageKey) ([]*inventory.Image, error) {
			images, errs := p.Images.GetMany(ctx, keys)
			for _, err := range errs {
				var e *core.Error
				isMissing := errors.As(err, &e) && (e.Code == core.CodeNotFound || e.Code == core.CodeInvalidArgument)
				if err != nil && !isMissing {
					return nil, err
				}
			}
			return images, nil
		},
		countUntagged: p.Images.CountUntagged,
		listSources: func(ctx context.Context, host string) ([]registry.RepoSource, error) {
			return p.Registry.ListSources(ctx, o.Group, host)
		},
		pruneTags: func(ctx context.Context, source registry.RepoSource, keep []string) (int, error) {
			return p.Registry.PruneTags(ctx, source, keep, options)
		},
	}
}

// A reporter counts the records of an import, and reports problems and progress to
// the caller. The batches of the import share it.
type reporter struct {
	options    Options
	progress   Progress
	reading    Place // the line or document that was read last
	collected  int   // number of records that were given to batches
	unreadable int
	pipeline   pipeline
}

func (l *reporter) reportProblem(at Place, reason error) {
	if l.options.ReportProblem != nil {
		l.options.ReportProblem(at, reason)
	}
}

// reportRemark reports what was left out, or what is not known of a record that is imported.
func (l *reporter) reportRemark(at Place, remark error) {
	if l.options.ReportRemark == nil {
		l.reportProblem(at, remark)
		return
	}
	l.options.ReportRemark(at, remark)
}

// finish waits until no batch is being imported. It returns the first error, that of the import before those of its batches, with
// the place of the first record that was read and is not imported. If all are, it is what was read last.
func (l *reporter) finish(err error) error {
	var first unsaved
	for _, b := range l.pipeline.batches {
		if failed := b.settle(); err == nil {
			err = failed
		}
		if u := b.firstUnsaved(); u.number > 0 && (first.number == 0 || u.number < first.number) {
			first = u
		}
	}
	if first.number == 0 {
		first.at = l.reading
	}
	if err == nil || first.at == (Place{}) {
		return err
	}
	return &StoppedError{first.at, err}
}

// reportUnreadable counts and reports a document or line whose kind could not be
// read.
func (l *reporter) reportUnreadable(at Place, reason error) {
	l.unreadable++
	l.reportProblem(at, reason)
}

func (l *reporter) countRecord() {
	l.progress.Records++
	l.reportProgress()
}

func (l *reporter) reportProgress() {
	if l.options.ReportProgress != nil {
		l.options.ReportProgress(l.progress)
	}
}
