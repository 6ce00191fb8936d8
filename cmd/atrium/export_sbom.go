package main

import (
	"bufio"
	"context"
	"errors"
	"syscall"

	"atrium/internal/export"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/reports"
)

type exportSBOMCommand struct {
	placeFlags
	networkFlags
	Image        string `placeholder:"PATH@DIGEST|PATH:TAG|UID" help:"Image: the path or the uid of its repo with a digest or a tag, or the uid of a tag. Required."`
	Architecture string `placeholder:"NAME" help:"Architecture of the SBOM, if the image has several SBOMs; all for the SBOM that covers all architectures."`
	Format       string `default:"cyclonedx" enum:"cyclonedx,spdx" help:"Format of the SBOM: cyclonedx (1.6) or spdx (2.3), in JSON."`
}

// Help returns the detailed help.
func (c *exportSBOMCommand) Help() string {
	return `Prints the SBOM of an image, from the stored data: its packages with their package URLs, source packages, licenses, suppliers, scopes
and layers, the dependencies between them, and the base of the image. ` + "`atrium import sbom`" + ` stores
the same packages in another database. The same content gives the same bytes. The source is the server of 'atrium login' or --url, or a database,
which servers may use meanwhile. The command needs about 2 KB of memory for each package. If the exit status is not 0, the output is not complete.

Examples:
  atrium export sbom --image acme/shop/checkout:1.4 > checkout.cdx.json
  atrium export sbom --image acme/shop/checkout@sha256:... --format spdx --architecture arm64 > checkout.spdx.json`
}

func (c *exportSBOMCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.checkServer(f, c.placeFlags)
	f.require("image", c.Image)
}

func (c *exportSBOMCommand) run(ctx context.Context, p program) error {
	if c.URL != "" {
		client, err := c.client.client(ctx)
		if err != nil {
			return err
		}
		return client.download(ctx, p, "export/sbom", queryOf("image", c.Image, "architecture", c.Architecture, "format", c.Format))
	}
	db, err := c.openExisting(ctx, platform.Options{NoSecrets: true})
	if err != nil {
		return err
	}
	defer db.close()
	req := reports.SBOMRequest{Image: c.Image}
	if c.Architecture != "" {
		req.Architecture = &c.Architecture
	}
	buffer := bufio.NewWriter(p.stdout)
	file := export.NewSBOMWriter(buffer, export.Format(c.Format), version)
	err = db.SBOMs.Read(core.WithActor(ctx, core.NewOperator("export")), req, func(page *reports.SBOMPage) error {
		return file.Write([]*reports.SBOMPage{page})
	})
	if err == nil {
		err = file.Close()
	}
	if err = errors.Join(err, buffer.Flush()); errors.Is(err, syscall.EPIPE) { // the reader of the output has closed it
		return nil
	}
	return err
}
