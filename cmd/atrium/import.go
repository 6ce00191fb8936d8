package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"atrium/internal/ingest"
	"atrium/platform"
	"atrium/platform/core"
)

// importFlags are the flags that all imports share.
type importFlags struct {
	importRun
	Group string `placeholder:"UID" help:"Group to import into. Required."`
}

func (c *importFlags) check(f *faults) {
	c.importRun.check(f)
	checkUID(f, "group", c.Group)
}

// eventFlags are the flags of imports that record events.
type eventFlags struct {
	NoEvents bool `help:"Record no events for repos and tags."`
}

type importOSVCommand struct {
	importRun
	networkFlags
	Group string   `placeholder:"UID" help:"Group to import into, whose members see the advisories. Without it, everybody sees them as documents."`
	Path  []string `arg:"" help:"OSV records: .json and .yaml files, folders, .tar, .tar.gz and .zip."`
}

// Help returns the detailed help.
func (c *importOSVCommand) Help() string {
	return `Each record (https://ossf.github.io/osv-schema) is a document, in JSON or YAML. It becomes the metadata of a vulnerability and
one advisory for each package of each ecosystem that it names. An older record does not replace a newer one.

  id                              name of the vulnerability; required
  modified, published, withdrawn  times
  aliases                         other names, such as CVE-2026-12345
  upstream, related               ids of other vulnerabilities: those it comes from, and similar ones
  summary, details                a line, and Markdown
  severity                        CVSS vectors
  affected                        packages, with the versions that fix them; each can have a severity of its own
  references                      links

Without --group, the records are a feed for all organizations: every caller sees them in the documents of /advisory/v2/, and
no group lists them among its advisories. With --group, only callers who may list the advisories of that group see them.

Example of a record:
  {"id": "GO-2026-1", "modified": "2026-03-27T13:55:00Z", "aliases": ["CVE-2026-12345"], "summary": "A parser reads too far", "affected": [{"package": {"ecosystem": "Go", "name": "example.com/parser"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.4.2"}]}]}]}

Examples:
  atrium import osv --group UID advisories.json
  atrium import osv all.zip feeds/`
}

func (c *importOSVCommand) check(f *faults) {
	c.importRun.check(f)
	c.checkServer(f, c.placeFlags)
	switch {
	case c.Group != "":
		checkUID(f, "group", c.Group)
	case c.URL != "":
		f.add("group", "is required with --url: only the operator imports for all organizations")
	}
}

func (c *importOSVCommand) run(ctx context.Context, p program) error {
	if c.URL != "" {
		return (&upload{ingest.DeliverOSV, queryOf("group", c.Group), c.Path}).send(ctx, p, &c.networkFlags)
	}
	return c.importRun.runImport(ctx, p, "osv", ingest.Options{Group: core.UID(c.Group)}, func(ctx context.Context, to *platform.Platform, o ingest.Options) (ingest.Summary, error) {
		return ingest.ImportOSV(ctx, to, c.Path, o)
	})
}

type importRegistryCommand struct {
	importFlags
	networkFlags
	eventFlags
	File string `arg:"" help:"JSON lines, plain or gzip."`
}

// Help returns the detailed help.
func (c *importRegistryCommand) Help() string {
	return `Each line of the file is a JSON object of one kind. The lines may be in any order. A tag or an image names a repo of the file
or of the group. Without --no-events, each changed repo and tag creates an event.

  repo:   name; description, readme (Markdown)
  tag:    repo, name, digest (sha256: and 64 hex digits); deprecated
  image:  repo, digest; architectures (names, or objects with a name and a size in bytes), packages (names or
          package URLs; if one of them has a version, they are stored as an SBOM of the image), baseName and
          baseDigest (reference and digest of the image that it was built on)

The fields after a semicolon are optional. One line of each kind:
  {"kind": "repo", "name": "shop/api", "description": "Takes orders", "readme": "# Shop"}
  {"kind": "tag", "repo": "shop/api", "name": "1.4.2", "digest": "sha256:1111111111111111111111111111111111111111111111111111111111111111", "deprecated": false}
  {"kind": "image", "repo": "shop/api", "digest": "sha256:1111111111111111111111111111111111111111111111111111111111111111", "architectures": [{"name": "amd64", "size": 52428800}, "arm64"], "packages": ["bash", "pkg:npm/left-pad@1.3.0"]}

Example:
  atrium import registry --group UID registry.jsonl.gz`
}

func (c *importRegistryCommand) check(f *faults) {
	c.importFlags.check(f)
	c.checkServer(f, c.placeFlags)
}

func (c *importRegistryCommand) run(ctx context.Context, p program) error {
	if c.URL != "" {
		query := queryOf("group", c.Group)
		if c.NoEvents {
			query.Set("noEvents", "true")
		}
		return (&upload{ingest.DeliverRegistry, query, []string{c.File}}).send(ctx, p, &c.networkFlags)
	}
	return c.importInto(ctx, p, "registry", ingest.Options{NoEvents: c.NoEvents}, func(ctx context.Context, to *platform.Platform, o ingest.Options) (ingest.Summary, error) {
		return ingest.ImportRegistry(ctx, to, c.File, o)
	})
}

type importArtifactsCommand struct {
	importRun
	File string `arg:"" help:"JSON lines, plain or gzip."`
}

// Help returns the detailed help.
func (c *importArtifactsCommand) Help() string {
	return `Each line of the file is a JSON object: a library with its versions. Stored versions that a line does not name stay.

  library:  ecosystem (JAVA or PYTHON), name (of Maven, group:artifact); description, remediated, cudaVersion, versions
  version:  version; sizeBytes, time (of its publication)

The fields after a semicolon are optional. A line:
  {"ecosystem": "JAVA", "name": "com.example:parser", "description": "Reads archives", "remediated": false, "versions": [{"version": "1.4.2", "sizeBytes": 30423, "time": "2026-04-14T20:30:00Z"}]}

Example:
  atrium admin import artifacts libraries.jsonl.gz`
}

func (c *importArtifactsCommand) run(ctx context.Context, p program) error {
	return c.importRun.runImport(ctx, p, "artifacts", ingest.Options{}, func(ctx context.Context, to *platform.Platform, o ingest.Options) (ingest.Summary, error) {
		return ingest.ImportArtifacts(ctx, to, c.File, o)
	})
}

type reading = func(context.Context, *platform.Platform, ingest.Options) (ingest.Summary, error)

// importInto runs an import into the group.
func (c *importFlags) importInto(ctx context.Context, p program, source string, o ingest.Options, read reading) error {
	o.Group = core.UID(c.Group)
	return c.importRun.runImport(ctx, p, source, o, read)
}

type importOCICommand struct {
	importFlags
	eventFlags
	Registry    []string `arg:"" name:"registry[/repo]" help:"Registry, to import every repo of its catalog, or a single repo."`
	Concurrency int      `default:"8" help:"Number of concurrent requests, 1 to ${most_requests}."`
	Insecure    bool     `help:"Use plain http if https does not answer. Localhost is always allowed."`
	SBOMs       string   `name:"sboms" enum:"new,all,none" default:"new" help:"Images whose SBOMs are read: new (images that are not stored yet), all or none."`
	Prune       bool     `help:"Remove tags that came from this registry and that it no longer has, in repos that vanished or were read without an error."`
}

// maxConcurrency is the largest value of --concurrency.
const maxConcurrency = 64

func (c *importOCICommand) check(f *faults) {
	c.importFlags.check(f)
	if c.Concurrency < 1 || c.Concurrency > maxConcurrency {
		f.add("concurrency", "must be from 1 to %d", maxConcurrency)
	}
}

// Help returns the detailed help.
func (c *importOCICommand) Help() string {
	return `Reads tags, digests, architectures and sizes (bytes of config and compressed layers). A repo is named by its path
in the registry. Images that are stored already are not read again, so the command can be repeated at any time.

It also reads the SBOMs that the registry has about an image, SPDX and CycloneDX in JSON: attestations of BuildKit in the index,
attestations and SBOMs of cosign (tags that end in .att and .sbom), and artifacts that refer to the image. Signatures are
not verified. The SBOM with the most packages counts for each architecture, and the others are reported. With --sboms all,
the command also looks for SBOMs of images that are already stored.

Each tag stores the registry that it came from. --prune removes tags that the registry no longer has. It keeps tags that
came from another registry or were set by people. A repo that vanished from its registry is reported, and --prune
removes its tags. An empty catalog is an error, and nothing is pruned.

The command signs in with the credentials of docker login or podman login, or anonymously.

Examples:
  atrium admin import oci --group UID ghcr.io/acme/api docker.io/library/golang
  atrium admin import oci --group UID --prune --concurrency 16 registry.example.com
  atrium admin import oci --group UID localhost:5000`
}

func (c *importOCICommand) run(ctx context.Context, p program) error {
	return c.importInto(ctx, p, "oci", ingest.Options{NoEvents: c.NoEvents}, func(ctx context.Context, to *platform.Platform, o ingest.Options) (ingest.Summary, error) {
		from := ingest.OCISource{Names: c.Registry, Concurrency: c.Concurrency, Insecure: c.Insecure, Prune: c.Prune, SBOMs: ingest.SBOMChoice(c.SBOMs)}
		return ingest.ImportOCI(ctx, to, from, o)
	})
}

func writeSummary(out io.Writer, sum ingest.Summary) error {
	var rows strings.Builder
	rows.WriteString("added\tupdated\tunchanged\tfailed\t\n")
	for _, k := range sum.Kinds {
		fmt.Fprintf(&rows, "%d\t%d\t%d\t%d\t  %s\n", k.Added, k.Updated, k.Unchanged, k.Failed, k.Name)
	}
	if sum.Unreadable > 0 {
		fmt.Fprintf(&rows, "\t\t\t%d\t  unreadable\n", sum.Unreadable)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, err := io.WriteString(table, rows.String())
	err = errors.Join(err, table.Flush())
	for _, hint := range []struct {
		n    int
		text string
	}{
		{sum.Untagged, "images without a tag: %d; their findings count once a tag that is not deprecated points to them\n"},
		{sum.Waiting, "statements without a matching finding: %d; they apply once an image with such a finding is imported, unless a more specific decision exists\n"},
	} {
		if hint.n > 0 {
			_, writeErr := fmt.Fprintf(out, hint.text, hint.n)
			err = errors.Join(err, writeErr)
		}
	}
	for _, image := range sum.Images {
		if found := image.Findings; found != nil {
			_, writeErr := fmt.Fprintf(out, "%s@%s: %d packages; %d findings opened, %d resolved; %d open (%d critical, %d high)\n",
				image.Repo, image.Digest, image.Packages, found.Opened, found.Resolved, found.Open.Total, found.Open.Critical, found.Open.High)
			err = errors.Join(err, writeErr)
		}
	}
	for _, k := range sum.Kinds {
		for _, fate := range []struct {
			name string
			n    int
		}{{"vanished", k.Vanished}, {"removed", k.Removed}} {
			if fate.n > 0 {
				_, writeErr := fmt.Fprintf(out, "%s %s: %d\n", k.Name, fate.name, fate.n)
				err = errors.Join(err, writeErr)
			}
		}
	}
	return err
}

// explain returns the text of an error for the terminal.
func explain(err error) string { return ingest.Explain(err) }
