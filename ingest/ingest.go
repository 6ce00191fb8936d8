package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"atrium/platform"
)

// MaxRecord is the largest document or line that is read, in bytes after
// decompression.
const MaxRecord = 16 << 20

var (
	errTooLarge = fmt.Errorf("is larger than %d MiB", MaxRecord>>20)
	errNUL      = errors.New("holds the character U+0000, which no text may")
)

// Options say where records go and who is told.
type Options struct {
	Group    platform.UID              // holds the advisories and repos
	NoEvents bool                      // record no events for repos and tags
	Bad      func(at Place, why error) // is told of every record that failed, and of repos that vanished; may be nil
	Progress func(Progress)            // is told after every record; may be nil
}

// A Place tells where a record stands in the input.
type Place struct {
	File   string // as the caller named it, or below a folder that it named
	Member string // of an archive; "" for a plain file
	Line   int    // from 1; 0 where a record is a whole file
}

// String is file:line, or file: member. Names that would do something to a
// terminal are quoted.
func (p Place) String() string {
	s := printable(p.File)
	if p.Member != "" {
		s += ": " + printable(p.Member)
	}
	if p.Line > 0 {
		s += fmt.Sprintf(":%d", p.Line)
	}
	return s
}

// document is the name of the file or member that holds the record.
func (p Place) document() string { return cmp.Or(p.Member, p.File) }

func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Progress tells how far an import is.
type Progress struct {
	Records     int   // read so far
	Read, Total int64 // of the input: bytes as it lies on disk, or shares of registries
}

// A Summary is what an import did.
type Summary struct {
	Kinds      []Kind // in the order of the import
	Unreadable int    // documents and lines of which not even the kind is known
}

// A Kind counts what became of the records of one kind.
type Kind struct {
	Name                              string // in the plural
	Added, Updated, Unchanged, Failed int
	Removed                           int // what the source no longer has, and the group neither
	Vanished                          int // repos that the source had, and no longer has
}

// Failed counts the records that were not imported.
func (s Summary) Failed() int {
	n := s.Unreadable
	for _, k := range s.Kinds {
		n += k.Failed
	}
	return n
}

// sink is what ingest needs of the core.
type sink struct {
	repos           func(context.Context, []*platform.ImportedRepo) (platform.Imported, error)
	tags            func(context.Context, []*platform.ImportedTag) (platform.Imported, error)
	images          func(context.Context, []*platform.Image) (platform.Imported, error)
	advisories      func(context.Context, []*platform.Advisory) (platform.Imported, error)
	vulnerabilities func(context.Context, []*platform.Vulnerability) (platform.Imported, error)
	artifacts       func(context.Context, []*platform.ImportedArtifact) (artifacts, versions platform.Imported, err error)

	// repoNamed finds a repo of the group; "" where there is none.
	repoNamed func(ctx context.Context, name string) (platform.UID, error)

	// imagesAt reads images in the order of keys; nil where there is none.
	imagesAt func(ctx context.Context, keys []platform.ImageKey) ([]*platform.Image, error)

	// sources lists the repos of the group that hold tags from a registry.
	sources func(ctx context.Context, registry string) ([]platform.RepoSource, error)

	// prune removes the tags that a source brought and that are not among keep.
	prune func(ctx context.Context, from platform.RepoSource, keep []string) (removed int, err error)
}

func into(p *platform.Platform, o Options, options platform.ImportOptions) sink {
	options.NoEvents = o.NoEvents
	return sink{
		repos: func(ctx context.Context, rows []*platform.ImportedRepo) (platform.Imported, error) {
			return p.Repos.Import(ctx, o.Group, rows, options)
		},
		tags: func(ctx context.Context, rows []*platform.ImportedTag) (platform.Imported, error) {
			return p.Tags.Import(ctx, rows, options)
		},
		images: p.Images.Import,
		advisories: func(ctx context.Context, rows []*platform.Advisory) (platform.Imported, error) {
			return p.Advisories.Import(ctx, o.Group, rows)
		},
		vulnerabilities: p.Vulnerabilities.Import,
		artifacts:       p.Artifacts.Import,
		repoNamed: func(ctx context.Context, name string) (platform.UID, error) {
			page, err := p.Repos.List(ctx, platform.ListRequest[platform.RepoFilter]{
				UIDP:   platform.UIDFilter{ChildrenOf: o.Group},
				Filter: platform.RepoFilter{Name: name}, PageSize: 1, Parts: platform.PartItems,
			})
			if err != nil || len(page.Items) == 0 {
				return "", err
			}
			return page.Items[0].UID, nil
		},
		imagesAt: func(ctx context.Context, keys []platform.ImageKey) ([]*platform.Image, error) {
			images, errs := p.Images.GetMany(ctx, keys)
			for _, err := range errs {
				var e *platform.Error
				known := errors.As(err, &e) && (e.Code == platform.CodeNotFound || e.Code == platform.CodeInvalidArgument)
				if err != nil && !known {
					return nil, err
				}
			}
			return images, nil
		},
		sources: func(ctx context.Context, registry string) ([]platform.RepoSource, error) {
			return p.Repos.Sources(ctx, o.Group, registry)
		},
		prune: func(ctx context.Context, from platform.RepoSource, keep []string) (int, error) {
			return p.Tags.Prune(ctx, from, keep, options)
		},
	}
}

// log keeps count of an import and tells the caller.
type log struct {
	options    Options
	progress   Progress
	unreadable int
}

func (l *log) bad(at Place, why error) {
	if l.options.Bad != nil {
		l.options.Bad(at, why)
	}
}

// unread reports what is no record of any kind.
func (l *log) unread(at Place, why error) {
	l.unreadable++
	l.bad(at, why)
}

func (l *log) record() {
	l.progress.Records++
	l.tell()
}

func (l *log) tell() {
	if l.options.Progress != nil {
		l.options.Progress(l.progress)
	}
}
