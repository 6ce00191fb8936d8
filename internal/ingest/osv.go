package ingest

import (
	"context"

	"atrium/platform"
	"atrium/platform/core"
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
	advisories := newBatch("advisories", l, d.advisories, (*inventory.Advisory).Key)
	vulnerabilities := newBatch("vulnerability metadata", l, d.vulnerabilities, func(v *inventory.Vulnerability) string {
		return v.ID
	})
	reader := documentReader{reporter: l, handle: func(at Place, document []byte) error {
		record, err := parseOSV(document)
		if err != nil {
			l.reportUnreadable(at, err)
			return nil
		}
		for _, a := range record.advisories() {
			if err := advisories.add(ctx, a, at, len(document)/len(record.Affected)); err != nil {
				return err
			}
		}
		return vulnerabilities.add(ctx, record.vulnerability(), at, len(document))
	}}
	err := reader.measure(paths)
	if err == nil {
		err = reader.read(ctx, paths)
	}
	if err == nil {
		err = advisories.flush(ctx)
	}
	if err == nil {
		err = vulnerabilities.flush(ctx)
	}
	err = l.finish(err)
	return Summary{Kinds: []KindCounts{advisories.kind, vulnerabilities.kind}, Unreadable: l.unreadable}, err
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
