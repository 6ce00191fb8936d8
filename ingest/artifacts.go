package ingest

import (
	"context"
	"strings"

	"atrium/platform"
)

// Artifacts imports libraries with their versions from a file of JSON lines,
// plain or gzip:
//
//	{"ecosystem": "JAVA", "name": "com.google.guava:guava", "description": "...", "remediated": false,
//	 "cudaVersion": "", "versions": [{"version": "33.4.8-jre", "sizeBytes": 3042362, "time": "2025-04-14T20:30:00Z"}]}
//
// The ecosystem is JAVA or PYTHON, or the wire name of one. A line is imported whole or not at all.
// What versions leave out is kept as it is known; versions that a line does
// not name stay.
func Artifacts(ctx context.Context, p *platform.Platform, file string, o Options) (Summary, error) {
	return importArtifacts(ctx, into(p, o, platform.ImportOptions{}), file, o)
}

func importArtifacts(ctx context.Context, to sink, file string, o Options) (Summary, error) {
	c := &catalog{log: &log{options: o}, versions: Kind{Name: "versions"}}
	c.artifacts = newBatch("artifacts", c.log, func(ctx context.Context, rows []*platform.ImportedArtifact) (platform.Imported, error) {
		artifacts, versions, err := to.artifacts(ctx, rows)
		c.versions.Added += versions.Added
		c.versions.Updated += versions.Updated
		c.versions.Unchanged += versions.Unchanged
		c.waiting = 0
		return artifacts, err
	}, func(a *platform.ImportedArtifact) any { return [2]string{string(a.Ecosystem), a.Name} })
	err := c.log.lines(ctx, file, 1, c.log.unread, func(at Place, line []byte) error { return c.line(ctx, at, line) })
	if err == nil {
		err = c.artifacts.flush(ctx)
	}
	return Summary{Kinds: []Kind{c.artifacts.kind, c.versions}, Unreadable: c.log.unreadable}, err
}

// A catalog is the import of one file.
type catalog struct {
	log       *log
	artifacts *batch[platform.ImportedArtifact]
	versions  Kind
	waiting   int // versions in the batch
}

func (c *catalog) line(ctx context.Context, at Place, line []byte) error {
	c.log.record()
	var a struct {
		Ecosystem   string `json:"ecosystem"`
		Name        string `json:"name"`
		Description string `json:"description"`
		Remediated  bool   `json:"remediated"`
		CudaVersion string `json:"cudaVersion"`
		Versions    []struct {
			Version   string        `json:"version"`
			SizeBytes int64         `json:"sizeBytes"`
			Time      platform.Time `json:"time"`
		} `json:"versions"`
	}
	if line == nil {
		c.log.unread(at, errTooLarge)
		return nil
	}
	if err := decodeLine(line, &a); err != nil {
		c.log.unread(at, err)
		return nil
	}
	record := &platform.ImportedArtifact{Artifact: platform.Artifact{
		Ecosystem: ecosystem(a.Ecosystem), Name: a.Name, Description: a.Description, Remediated: a.Remediated, CudaVersion: a.CudaVersion,
	}}
	for _, v := range a.Versions {
		record.Versions = append(record.Versions, &platform.ArtifactVersion{Version: v.Version, SizeBytes: v.SizeBytes, CreateTime: v.Time})
	}
	c.waiting += len(record.Versions)
	if err := c.artifacts.add(ctx, record, at, len(line)); err != nil || c.waiting < platform.ImportBatch {
		return err
	}
	return c.artifacts.flush(ctx) // versions make a transaction long, not artifacts
}

// ecosystem finds one by its wire name or the end of that. The core refuses
// others.
func ecosystem(name string) platform.Ecosystem {
	const prefix = "ECOSYSTEM_"
	if name != "" && !strings.HasPrefix(name, prefix) {
		name = prefix + name
	}
	return platform.Ecosystem(name)
}
