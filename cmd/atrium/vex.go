package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"atrium/internal/ingest"
	"atrium/internal/vex"
	"atrium/platform"
)

type importVEXCommand struct {
	importFlags
	Path []string `arg:"" help:"VEX documents: .json files, folders, .tar, .tar.gz and .zip."`
}

// Help returns the detailed help.
func (c *importVEXCommand) Help() string {
	return `Each statement of a document, in OpenVEX (https://openvex.dev) or CycloneDX 1.4 to 1.6, becomes a decision of the group about
the findings of a vulnerability, also about those that appear later. A document that was made earlier than what is
stored about the same does not replace it. What a person has decided about a single finding counts more.

  not_affected         NOT_AFFECTED, with its justification
  fixed, resolved      NOT_AFFECTED: a product that has the fix is not affected
  under_investigation  IN_TRIAGE
  affected             OPEN, with the action statement as a note, whatever groups further up say

A product is a package (package URL), an image (its digest, also as pkg:oci/name@sha256:...), or a package inside an image
(subcomponents). Products of CycloneDX without a package URL are known by name and version. Ranges of versions are those of
VERS. A statement without a product is about everything in the group. Components of other documents are found if these are
imported together.

Example of a document:
  {"@context": "https://openvex.dev/ns/v0.2.0", "@id": "https://example.com/vex/1", "author": "acme", "timestamp": "2026-03-27T13:55:00Z", "version": 1, "statements": [{"vulnerability": {"name": "CVE-2026-12345"}, "products": [{"@id": "pkg:npm/left-pad@1.3.0"}], "status": "not_affected", "justification": "vulnerable_code_not_in_execute_path"}]}

Examples:
  atrium import vex --group UID product.openvex.json
  atrium import vex --group UID documents/ archive.tar.gz`
}

func (c *importVEXCommand) run(ctx context.Context, p program) error {
	return c.importInto(ctx, p, "vex", ingest.Options{}, func(ctx context.Context, to *platform.Platform, o ingest.Options) (ingest.Summary, error) {
		sum, err := ingest.ImportVEX(ctx, to, c.Path, o)
		if err == nil {
			err = to.Findings.Settle(ctx)
		}
		return sum, err
	})
}

type exportVEXCommand struct {
	databaseFlags
	Group  string `placeholder:"UID" help:"Print what was decided about the findings of this group or repo. This or --image is required."`
	Image  string `placeholder:"REPO@DIGEST" help:"Print what was decided about the findings of this image. REPO is the uid of a repo, or its path such as acme/shop/checkout."`
	Format string `default:"openvex" enum:"openvex,cyclonedx" help:"Form of the document: openvex or cyclonedx."`
	Author string `default:"atrium" help:"Who makes the statements, in OpenVEX."`
}

// Help returns the detailed help.
func (c *exportVEXCommand) Help() string {
	return `Prints a VEX document with what was decided about findings: the decisions of the group, of the groups around it, and those about
single findings. Decisions of groups and repos further down are given for the findings that there are. ` + "`atrium import vex`" + ` gives
the same states to the same images in another database. A server may use the database meanwhile.

Examples:
  atrium export vex --group UID > acme.openvex.json
  atrium export vex --image acme/shop/checkout@sha256:... --format cyclonedx > checkout.cdx.json`
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
	ctx = platform.WithActor(ctx, platform.NewOperator("export"))
	scope, digest, err := c.scope(ctx, db.Platform)
	if err != nil {
		return err
	}
	decided, err := db.Findings.Decisions(ctx, scope, digest)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.stdout)
	if err = errors.Join(c.write(out, statements(decided)), out.Flush()); errors.Is(err, syscall.EPIPE) { // the reader of the output has closed it
		return nil
	}
	return err
}

// scope returns the group or repo, and the digest of the image.
func (c *exportVEXCommand) scope(ctx context.Context, p *platform.Platform) (platform.UID, string, error) {
	if c.Group != "" {
		return platform.UID(c.Group), "", nil
	}
	repo, digest, _ := strings.Cut(c.Image, "@")
	if uid := platform.UID(repo); uid.Valid() {
		return uid, digest, nil
	}
	found, err := p.Repos.GetByPath(ctx, repo)
	if err != nil {
		return "", "", fmt.Errorf("--image: %w", err)
	}
	return found.UID, digest, nil
}

func (c *exportVEXCommand) write(out io.Writer, all []vex.Statement) error {
	id, now := uuid.New().URN(), time.Now().UTC().Truncate(time.Second)
	if c.Format == "cyclonedx" {
		return vex.WriteCycloneDX(out, id, now, all)
	}
	return vex.WriteOpenVEX(out, c.Author, id, now, all)
}

// statements returns what was decided: the rules, those that count less first, and then single findings.
func statements(d *platform.Decisions) (all []vex.Statement) {
	for _, r := range d.Rules {
		all = append(all, vex.Statement{
			Vulnerability: r.VulnerabilityID, Target: vex.Target{Digest: r.Digest, Package: r.Package, Ecosystem: r.Ecosystem, Version: r.Version},
			State: stateName(r.State), Justification: r.Justification, Note: r.Note, Time: r.CreateTime.Time, ExpireTime: r.ExpireTime.Time,
		})
	}
	for _, f := range d.Findings {
		s := vex.Statement{
			Vulnerability: f.VulnerabilityID, Target: vex.Target{Digest: f.Digest, Package: f.Package, Ecosystem: f.Ecosystem, Version: f.InstalledVersion},
			State: stateName(f.State), Justification: f.Justification, Note: f.Note, Time: f.UpdateTime.Time, ExpireTime: f.ExpireTime.Time,
		}
		if f.Package == f.Digest { // the advisory is about the image
			s.Target.Package = ""
		}
		all = append(all, s)
	}
	return all
}

func stateName(s platform.FindingState) string {
	return strings.TrimPrefix(string(s), "FINDING_STATE_")
}
