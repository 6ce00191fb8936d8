package export

import (
	"io"

	"atrium/internal/sbom"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// SBOMFormats are the formats of SBOMs; the first one is the default.
var SBOMFormats = []Format{CycloneDX, SPDX}

// scopes has the scopes of packages as documents name them.
var scopes = map[inventory.PackageScope]sbom.Scope{
	inventory.ScopeRequired: sbom.ScopeRequired, inventory.ScopeOptional: sbom.ScopeOptional, inventory.ScopeDevelopment: sbom.ScopeDevelopment,
}

// An sbomWriter writes pages of the packages of one document.
type sbomWriter struct {
	to      io.Writer
	format  Format
	version string
	file    sbom.Writer // nil before the first page
}

// NewSBOMWriter returns a writer of a document in one of SBOMFormats. The document names the version of the program.
func NewSBOMWriter(to io.Writer, format Format, version string) Writer[*reports.SBOMPage] {
	return &sbomWriter{to: to, format: format, version: version}
}

func (w *sbomWriter) Write(pages []*reports.SBOMPage) error {
	for _, page := range pages {
		if w.file == nil {
			w.begin(page.Of)
		}
		for _, p := range page.Packages {
			if err := w.file.Write(writtenPackage(p)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *sbomWriter) begin(of *reports.SBOMContent) {
	about := sbom.Description{
		Image: sbom.Image{Name: of.RepoName, Digest: of.Digest}, Architecture: of.Architecture, Base: sbom.Image{Name: of.Base.BaseName, Digest: of.Base.BaseDigest},
		Ecosystems: of.Ecosystems, Packages: of.IDs, Identity: of.Identity, Created: of.CreateTime.Time, Program: "atrium", Version: w.version,
		FirstOnly: of.Introduced > sbom.MaxEdges,
	}
	if w.format == SPDX {
		w.file = sbom.NewSPDXWriter(w.to, about)
	} else {
		w.file = sbom.NewCycloneDXWriter(w.to, about)
	}
}

// writtenPackage returns a package as documents write it.
func writtenPackage(p *reports.SBOMPackage) *sbom.Package {
	written := &sbom.Package{
		Name: p.Version.Package.Name, Version: p.Version.Version, Ecosystem: p.Version.Package.Ecosystem, PURL: p.PURL, Licenses: p.Licenses, Supplier: p.Supplier,
		Scope: scopes[p.Scope], Layer: p.Layer, Direct: p.Direct, IntroducedBy: p.IntroducedBy,
	}
	if p.SourceVersion != nil {
		written.SourceName, written.SourceVersion = p.SourceVersion.Package.Name, p.SourceVersion.Version
	}
	return written
}

func (w *sbomWriter) Close() error { return w.file.Close() }

func (*sbomWriter) Fail(any) error { return nil }
