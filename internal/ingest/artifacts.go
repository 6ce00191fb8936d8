package ingest

import (
	"context"
	"strings"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/libraries"
)

// ImportArtifacts imports libraries with their versions from a file of JSON lines,
// plain or gzip:
//
//	{"ecosystem": "JAVA", "name": "com.google.guava:guava", "description": "...", "remediated": false,
//	 "cudaVersion": "", "versions": [{"version": "33.4.8-jre", "sizeBytes": 3042362, "time": "2025-04-14T20:30:00Z"}]}
//
// The ecosystem is JAVA or PYTHON, or its wire name. Lines with different spellings of the name
// of a Python package (PEP 503) are about one library. A line is imported completely
// or not at all. Fields that a version leaves out keep their stored values;
// stored versions that a line does not name stay.
func ImportArtifacts(ctx context.Context, p *platform.Platform, file string, o Options) (Summary, error) {
	return importArtifacts(ctx, newDestination(p, o, core.ImportOptions{}), file, o)
}

// importArtifacts is ImportArtifacts with a destination.
func importArtifacts(ctx context.Context, d destination, file string, o Options) (Summary, error) {
	c := &artifactImport{reporter: &reporter{options: o}, versions: KindCounts{Name: "versions"}}
	c.artifacts = newBatch("artifacts", c.reporter, func(ctx context.Context, rows []*libraries.ImportedArtifact) (core.Imported, error) {
		artifacts, versions, err := d.artifacts(ctx, rows)
		c.versions.Added += versions.Added
		c.versions.Updated += versions.Updated
		c.versions.Unchanged += versions.Unchanged
		return artifacts, err
	}, (*libraries.ImportedArtifact).Key)
	err := c.reporter.readLines(ctx, file, 1, c.reporter.reportUnreadable, func(at Place, line []byte) error { return c.importLine(ctx, at, line) })
	if err == nil {
		err = c.artifacts.flush(ctx)
	}
	err = c.reporter.finish(err)
	return Summary{Kinds: []KindCounts{c.artifacts.kind, c.versions}, Unreadable: c.reporter.unreadable}, err
}

// An artifactImport is the import of one file of artifacts.
type artifactImport struct {
	reporter        *reporter
	artifacts       *batch[libraries.ImportedArtifact, libraries.ArtifactName]
	versions        KindCounts
	versionsInBatch int
}

// importLine imports one artifact with its versions.
func (c *artifactImport) importLine(ctx context.Context, at Place, line []byte) error {
	c.reporter.countRecord()
	var a struct {
		Ecosystem   string `json:"ecosystem"`
		Name        string `json:"name"`
		Description string `json:"description"`
		Remediated  bool   `json:"remediated"`
		CudaVersion string `json:"cudaVersion"`
		Versions    []struct {
			Version   string    `json:"version"`
			SizeBytes int64     `json:"sizeBytes"`
			Time      core.Time `json:"time"`
		} `json:"versions"`
	}
	if line == nil {
		c.reporter.reportUnreadable(at, errTooLarge)
		return nil
	}
	if err := decodeJSON(line, &a); err != nil {
		c.reporter.reportUnreadable(at, err)
		return nil
	}
	record := &libraries.ImportedArtifact{Artifact: libraries.Artifact{
		Ecosystem: toEcosystem(a.Ecosystem), Name: a.Name, Description: a.Description, Remediated: a.Remediated, CudaVersion: a.CudaVersion,
	}}
	for _, v := range a.Versions {
		record.Versions = append(record.Versions, &libraries.ArtifactVersion{Version: v.Version, SizeBytes: v.SizeBytes, CreateTime: v.Time})
	}
	if err := c.artifacts.add(ctx, record, at, len(line)); err != nil {
		return err
	}
	if len(c.artifacts.records) == 0 { // the record was sent
		c.versionsInBatch = 0
		return nil
	}
	if c.versionsInBatch += len(record.Versions); c.versionsInBatch < core.ImportBatch {
		return nil
	}
	c.versionsInBatch = 0
	return c.artifacts.send(ctx) // the number of versions decides how long a transaction takes
}

// toEcosystem completes a short name to the wire name. It does not check the name: the
// core refuses unknown ones.
func toEcosystem(name string) libraries.Ecosystem {
	const prefix = "ECOSYSTEM_"
	if name != "" && !strings.HasPrefix(name, prefix) {
		name = prefix + name
	}
	return libraries.Ecosystem(name)
}
