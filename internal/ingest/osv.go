package ingest

import (
	"context"
	"errors"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/platform/inventory"
)

// ImportOSV imports OSV records (https://ossf.github.io/osv-schema) from JSON and YAML files,
// folders, tar archives (plain or gzip) and zip archives. Each record becomes the
// metadata of a vulnerability and one advisory for each ecosystem and package that it
// affects. Other files in folders and archives are ignored. A path without any record counts as a
// failure.
func ImportOSV(ctx context.Context, p *platform.Platform, paths []string, o Options) (Summary, error) {
	return importOSV(ctx, newDestination(p, o, core.ImportOptions{}), paths, o)
}

// importOSV is ImportOSV with a destination.
func importOSV(ctx context.Context, d destination, paths []string, o Options) (Summary, error) {
	l := &reporter{options: o}
	remove, err := l.readPipe(paths...)
	if err != nil {
		return Summary{}, err
	}
	defer remove()
	advisories := recordBatch{batch: newBatch("advisories", l, d.advisories, func(r *feeds.AdvisoryRecord) string { return r.AdvisoryID })}
	vulnerabilities := newBatch("vulnerability metadata", l, d.vulnerabilities, func(v *inventory.Vulnerability) string {
		return v.ID
	})
	empty := map[string]core.Time{} // times of records that name no package: nothing is stored that an older record could be compared with
	isLaterPass, hasBundles := false, false
	reader := documentReader{reporter: l, handle: func(at Place, document []byte) error {
		record, err := parseOSV(document)
		if err != nil {
			if !isLaterPass {
				l.reportUnreadable(at, err)
			}
			return nil
		}
		whole := &feeds.AdvisoryRecord{AdvisoryID: record.ID, UpdateTime: record.modified, WithdrawnTime: record.withdrawn, Advisories: record.advisories()}
		if isBundle := len(whole.Advisories) > 0 && whole.Advisories[0].IsBundle(); isBundle != isLaterPass {
			hasBundles = hasBundles || isBundle
			return nil
		}
		if len(whole.Advisories) == 0 && empty[record.ID].Before(whole.UpdateTime.Time) {
			empty[record.ID] = whole.UpdateTime
		}
		if whole.UpdateTime.Before(empty[record.ID].Time) {
			advisories.kind.Unchanged += len(whole.Advisories)
		} else if err := advisories.add(ctx, whole, at, len(document)); err != nil {
			return err
		}
		if o.OwnOnly {
			return nil
		}
		return vulnerabilities.add(ctx, record.vulnerability(), at, len(document))
	}}
	if o.OwnOnly {
		l.reportRemark(Place{File: paths[0]}, ErrSharedMetadata)
	}
	if err = reader.measure(paths); err == nil {
		err = reader.read(ctx, paths)
	}
	if err == nil && hasBundles { // they come last: a bundle counts only while its vulnerabilities have no records
		isLaterPass, reader.unpacked, reader.reporter = true, 0, &reporter{options: Options{Upload: l.options.Upload}}
		err = reader.read(ctx, paths)
	}
	if err == nil {
		err = advisories.flush(ctx)
	}
	if err == nil {
		err = vulnerabilities.flush(ctx)
	}
	err = l.finish(err)
	kinds := []KindCounts{advisories.kind, vulnerabilities.kind}
	if o.OwnOnly {
		kinds = kinds[:1]
	}
	return Summary{Kinds: kinds, Unreadable: l.unreadable}, err
}

// ErrSharedMetadata is the remark of an import with OwnOnly.
var ErrSharedMetadata = errors.New("the advisories belong to the group; all organizations share the texts, links and aliases of vulnerabilities, and only the operator can import them, with `atrium import osv` on the server")

// A recordBatch is a batch of records. It is sent before it has too many advisories, which decide how long a transaction takes.
type recordBatch struct {
	*batch[feeds.AdvisoryRecord, string]
	advisories int // of the collected records
}

func (b *recordBatch) add(ctx context.Context, r *feeds.AdvisoryRecord, at Place, bytes int) error {
	if len(b.records) == 0 {
		b.advisories = 0
	}
	if b.advisories+len(r.Advisories) > core.ImportBatch {
		if err := b.send(ctx); err != nil {
			return err
		}
		b.advisories = 0
	}
	b.advisories += len(r.Advisories)
	return b.batch.add(ctx, r, at, bytes)
}

// ReadOSV reads OSV records as ImportOSV does, and imports nothing. It calls use for each record, with
// the record as JSON and its advisories. An error of use ends it.
func ReadOSV(ctx context.Context, paths []string, o Options, use func(document []byte, advisories []*inventory.Advisory) error) error {
	l := &reporter{options: o}
	reader := documentReader{reporter: l, handle: func(at Place, document []byte) error {
		record, err := parseOSV(document)
		if err != nil {
			l.reportUnreadable(at, err)
			return nil
		}
		return use(document, record.advisories())
	}}
	return reader.read(ctx, paths)
}
