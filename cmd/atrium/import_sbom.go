package main

import (
	"context"
	"strings"

	"atrium/internal/ingest"
	"atrium/platform"
	"atrium/platform/core"
)

type importSBOMCommand struct {
	importRun
	Image        string   `placeholder:"PATH@DIGEST" help:"Image that all documents are about: the path of its repo by names, @ and its digest."`
	Group        string   `placeholder:"UID" help:"Group that has the repos of the images that the documents name. Required without --image."`
	Architecture string   `placeholder:"NAME" help:"Architecture that the documents are about. Without it, the architecture that their packages name."`
	Path         []string `arg:"" name:"file" help:"SPDX and CycloneDX documents in JSON: .json and .jsonl files, folders, .tar, .tar.gz and .zip; - for the standard input."`
}

// Help returns the detailed help.
func (c *importSBOMCommand) Help() string {
	return `Reads SPDX 2.2, 2.3 and 3.0 and CycloneDX 1.2 to 1.7 in JSON, also in in-toto statements and in DSSE envelopes, whose signatures are
not verified. A .jsonl file and the standard input can have several. Packages are known by their package URLs (purl). A package without one is stored by its name, and no advisory of an
ecosystem finds it. A package that cannot be read is named with its place in the document, and the others are imported.
The import says how many packages of a document have no known ecosystem, release or source package.

Without --image, a document must name its image and its digest, as the documents of syft do: docker.io/library/debian:12 is the
repo library/debian or debian of the group.

A document replaces what was stored for the same image and architecture. Of several documents about them in one import, the
one with the most packages is stored, and the others are reported. A document has at most 64 MiB and 50,000 packages.

Examples:
  syft -o cyclonedx-json registry.example.com/checkout:1.4 | atrium import sbom --image acme/shop/checkout@sha256:1111111111111111111111111111111111111111111111111111111111111111 -
  atrium import sbom --group UID sboms.tar.gz documents/`
}

func (c *importSBOMCommand) check(f *faults) {
	c.importRun.check(f)
	switch {
	case c.Image != "" && c.Group != "":
		f.add("group", "must not be given with --image, which names the repo")
	case c.Image == "":
		checkUID(f, "group", c.Group)
	case !strings.Contains(c.Image, "@sha256:"):
		f.add("image", "must be the path of a repo, @ and a digest, such as acme/shop/checkout@sha256:...")
	}
}

func (c *importSBOMCommand) run(ctx context.Context, p program) error {
	return c.importRun.runImport(ctx, p, "sbom", ingest.Options{Group: core.UID(c.Group)}, func(ctx context.Context, to *platform.Platform, o ingest.Options) (ingest.Summary, error) {
		from := ingest.SBOMSource{Paths: c.Path, Pipe: p.stdin, Image: c.Image, Architecture: c.Architecture}
		return ingest.ImportSBOM(ctx, to, from, o)
	})
}
