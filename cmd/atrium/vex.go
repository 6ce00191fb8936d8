package main

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"atrium/internal/export"
	"atrium/internal/ingest"
	"atrium/platform"
	"atrium/platform/core"
)

type importVEXCommand struct {
	importFlags
	networkFlags
	Path []string `arg:"" help:"VEX documents: .json files, folders, .tar, .tar.gz and .zip."`
}

// Help returns the detailed help.
func (c *importVEXCommand) Help() string {
	return `Each statement of a document, in OpenVEX (https://openvex.dev), CycloneDX 1.4 to 1.6 or CSAF 2.0, becomes a decision of the
group about the findings of a vulnerability, by any of its names, including findings that appear later. A document
does not replace newer decisions about the same findings. What a person has decided about a single finding
takes precedence.

  not_affected         NOT_AFFECTED, with its justification
  fixed, resolved      NOT_AFFECTED: a product that has the fix is not affected
  under_investigation  IN_TRIAGE
  affected             OPEN, with the action statement as a note, whatever groups further up say

A product is a package (package URL), an image (its digest, also as pkg:oci/name@sha256:...), all images of a name
(pkg:oci/name?repository_url=ghcr.io/acme/name), or a package inside one of these (subcomponents). A package inside a package
applies to the images that contain both. A product without a package URL is identified by its name and version. Version
ranges are VERS ranges. A statement without a product applies to everything in the group. Components of other documents are
found if you import these together. Statements about images and packages that are not stored yet are counted, and apply later.

Example of a document:
  {"@context": "https://openvex.dev/ns/v0.2.0", "@id": "https://example.com/vex/1", "author": "acme", "timestamp": "2026-03-27T13:55:00Z", "version": 1, "statements": [{"vulnerability": {"name": "CVE-2026-12345"}, "products": [{"@id": "pkg:npm/left-pad@1.3.0"}], "status": "not_affected", "justification": "vulnerable_code_not_in_execute_path"}]}

Examples:
  atrium import vex --group UID product.openvex.json
  atrium import vex --group UID documents/ archive.tar.gz`
}

func (c *importVEXCommand) check(f *faults) {
	c.importFlags.check(f)
	c.checkServer(f, c.placeFlags)
}

func (c *importVEXCommand) run(ctx context.Context, p program) error {
	if c.URL != "" {
		return (&upload{ingest.DeliverVEX, queryOf("group", c.Group), c.Path}).send(ctx, p, &c.networkFlags)
	}
	return c.importInto(ctx, p, "vex", ingest.Options{}, func(ctx context.Context, to *platform.Platform, o ingest.Options) (ingest.Summary, error) {
		return ingest.ImportVEX(ctx, to, c.Path, o)
	})
}

type exportVEXCommand struct {
	databaseFlags
	Group  string `placeholder:"UID" help:"Print the decisions about findings of this group or repo. Either this or --image is required."`
	Image  string `placeholder:"REPO@DIGEST" help:"Print the decisions about findings of this image. REPO is the uid of a repo, or its path such as acme/shop/checkout."`
	Format string `default:"openvex" enum:"openvex,cyclonedx" help:"Format of the document: openvex or cyclonedx."`
	Author string `default:"atrium" help:"Author of the statements, in OpenVEX."`
}

// Help returns the detailed help.
func (c *exportVEXCommand) Help() string {
	return `Prints a VEX document with the decisions about findings: the decisions of the group, of the groups around it, and about single
findings. Decisions of groups and repos further down are listed for each existing finding. ` + "`atrium import vex`" + ` gives
the same states to the same images in another database. A server may use the database meanwhile.

Examples:
  atrium admin export vex --group UID > acme.openvex.json
  atrium admin export vex --image acme/shop/checkout@sha256:... --format cyclonedx > checkout.cdx.json`
}

func (c *exportVEXCommand) check(f *faults) {
	c.databaseFlags.check(f)
	switch {
	case (c.Group == "") == (c.Image == ""):
		f.add("group", "give either --group or --image")
	case c.Group != "":
		checkUID(f, "group", c.Group)
	default:
		if _, digest, found := strings.Cut(c.Image, "@"); !found || !strings.HasPrefix(digest, "sha256:") {
			f.add("image", "must be a repo and a digest, such as acme/shop/checkout@sha256:...")
		}
	}
}

func (c *exportVEXCommand) run(ctx context.Context, p program) error {
	db, err := c.openExisting(ctx, platform.Options{NoSecrets: true})
	if err != nil {
		return err
	}
	defer db.close()
	ctx = core.WithActor(ctx, core.NewOperator("export"))
	of := export.VEXOptions{Scope: core.UID(c.Group), Format: c.Format, Author: c.Author}
	if c.Image != "" {
		var repo string
		repo, of.Digest, _ = strings.Cut(c.Image, "@")
		if of.Scope = core.UID(repo); !of.Scope.Valid() {
			found, err := db.Repos.GetByPath(ctx, repo)
			if err != nil {
				return err
			}
			of.Scope = found.UID
		}
	}
	if err = export.VEX(ctx, db.Platform, p.stdout, of); errors.Is(err, syscall.EPIPE) { // the reader of the output has closed it
		return nil
	}
	return err
}
