package ingest

import (
	"context"

	"atrium/platform"
)

// OSV imports OSV records (https://ossf.github.io/osv-schema) from JSON and YAML files,
// folders, tar archives (plain or gzip) and zip archives. Each record becomes
// the metadata of a vulnerability and one advisory per package that it
// affects. Files of other kinds within folders and archives are passed over; a
// path that holds no record at all is a failure.
func OSV(ctx context.Context, p *platform.Platform, paths []string, o Options) (Summary, error) {
	return importOSV(ctx, into(p, o, platform.ImportOptions{}), paths, o)
}

func importOSV(ctx context.Context, to sink, paths []string, o Options) (Summary, error) {
	l := &log{options: o}
	advisories := newBatch("advisories", l, to.advisories, func(a *platform.Advisory) any {
		return [2]string{a.AdvisoryID, a.ArtifactName}
	})
	vulnerabilities := newBatch("vulnerability metadata", l, to.vulnerabilities, func(v *platform.Vulnerability) any {
		return v.ID
	})
	from := source{log: l, each: func(at Place, document []byte) error {
		record, err := parseOSV(document)
		if err != nil {
			l.unread(at, err)
			return nil
		}
		for _, a := range record.advisories() {
			if err := advisories.add(ctx, a, at, len(document)/len(record.Affected)); err != nil {
				return err
			}
		}
		return vulnerabilities.add(ctx, record.vulnerability(), at, len(document))
	}}
	err := from.measure(paths)
	if err == nil {
		err = from.read(ctx, paths)
	}
	if err == nil {
		err = advisories.flush(ctx)
	}
	if err == nil {
		err = vulnerabilities.flush(ctx)
	}
	return Summary{Kinds: []Kind{advisories.kind, vulnerabilities.kind}, Unreadable: l.unreadable}, err
}
