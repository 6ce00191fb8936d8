package main

import (
	"context"
	"fmt"

	"atrium/internal/ingest"
	"atrium/platform"
	"atrium/platform/core"
)

type importSBOMCommand struct {
	importRun
	networkFlags
	Image        string   `placeholder:"PATH@DIGEST" help:"Image that all documents are about: the path of its repo by names, with its digest, a tag or both (PATH:TAG@DIGEST)."`
	Group        string   `placeholder:"UID" help:"Group that contains the repos of the images. The path in --image then begins below this group. Required without --image."`
	Architecture string   `placeholder:"NAME" help:"Architecture that the documents are about. Without it, the architecture that their packages name."`
	Create       bool     `help:"Create the repo and the tag if they are missing, and move the tag to the image."`
	Path         []string `arg:"" name:"file" help:"SPDX and CycloneDX documents in JSON: .json and .jsonl files, folders, .tar, .tar.gz and .zip; - for standard input."`

	named ingest.ImageName
}

// Help returns the detailed help.
func (c *importSBOMCommand) Help() string {
	return `Reads SPDX 2.2, 2.3 and 3.0 and CycloneDX 1.2 to 1.7 in JSON, also in in-toto statements and in DSSE envelopes, whose signatures are
not verified. A .jsonl file and the standard input can hold several documents. A package URL (purl) identifies a package. A package
without one is stored by its name, and the advisories of ecosystems do not match it. The import reports a package that it cannot
read, with its place in the document, and imports the others. It reports how many packages of a document have no known
ecosystem, release or source package.

Without --image, a document must name its image and its digest, as the documents of syft do: docker.io/library/debian:12 is the
repo library/debian or debian of the group. With --create, a missing repo is created in the deepest group of its path that
exists, and the tag that --image or the document names points to the image.

A document replaces what was stored for the same image and architecture. Of several documents about them in one import, the
one with the most packages is stored, and the others are reported. A document has at most 64 MiB and 50,000 packages.

Examples:
  syft -o cyclonedx-json registry.example.com/checkout:1.4 | atrium import sbom --image acme/shop/checkout@sha256:1111111111111111111111111111111111111111111111111111111111111111 -
  atrium import sbom --group UID sboms.tar.gz documents/`
}

func (c *importSBOMCommand) check(f *faults) {
	c.importRun.check(f)
	c.checkServer(f, c.placeFlags)
	if c.Group != "" || c.Image == "" {
		checkUID(f, "group", c.Group)
	}
	if c.Image != "" {
		var err error
		if c.named, err = ingest.ParseImageName(c.Image); err != nil {
			f.add("image", "%s", err)
		}
	}
}

func (c *importSBOMCommand) run(ctx context.Context, p program) error {
	if c.URL != "" {
		query := queryOf("group", c.Group, "image", c.Image, "architecture", c.Architecture)
		if c.Create {
			query.Set("create", "true")
		}
		return (&upload{ingest.DeliverSBOM, query, c.Path}).send(ctx, p, &c.networkFlags)
	}
	return c.importRun.runImport(ctx, p, "sbom", ingest.Options{Group: core.UID(c.Group)}, func(ctx context.Context, to *platform.Platform, o ingest.Options) (ingest.Summary, error) {
		from := ingest.SBOMSource{Paths: c.Path, Architecture: c.Architecture, Create: c.Create}
		if c.Image != "" {
			var err error
			if from.Image, err = ingest.FindImage(ctx, to, o.Group, c.named, c.Create); err != nil {
				return ingest.Summary{}, fmt.Errorf("--image %.300q: %w", c.Image, err)
			}
		}
		return ingest.ImportSBOM(ctx, to, from, o)
	})
}
