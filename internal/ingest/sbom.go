package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"atrium/internal/sbom"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// An SBOMSource says which documents to import, and what they are about.
type SBOMSource struct {
	Paths []string // files, folders and archives; "-" means the pipe or the upload
	// Image is the image that all documents are about. If it is the zero value, each document names its image, and the group
	// of the import has its repo.
	Image        ImagePlace
	Architecture string // "" means that of the packages of each document
	Create       bool   // makes the repos and the tags that are missing
}

// ImageCounts says what came of the documents about an image.
type ImageCounts struct {
	Repo     core.UID `json:"repo"`
	Digest   string   `json:"digest"`
	Packages int      `json:"packages"` // of all architectures

	Findings *ImageFindings `json:"findings,omitempty"` // nil if nobody has asked
}

// ImportSBOM imports documents that say which packages images hold: SPDX and CycloneDX in JSON,
// also in in-toto statements and DSSE envelopes, and in JSON lines. It reads files, folders, tar archives (plain or
// gzip), zip archives, and a pipe. Of several documents about one image and architecture, it
// imports the one with the most packages. A document replaces what an earlier import has stored.
func ImportSBOM(ctx context.Context, p *platform.Platform, source SBOMSource, o Options) (Summary, error) {
	return importSBOM(ctx, newDestination(p, o, core.ImportOptions{}), source, o)
}

// importSBOM is ImportSBOM with a destination.
func importSBOM(ctx context.Context, d destination, source SBOMSource, o Options) (Summary, error) {
	l := &reporter{options: o}
	remove, err := l.readPipe(source.Paths...)
	if err != nil {
		return Summary{}, err
	}
	defer remove()
	r := &sbomImport{
		images: newImageFinder(d, source.Create), source: source, reporter: l,
		largest: map[sbomKey]contender{}, sboms: newSBOMBatch(d, l),
	}
	if err = r.run(ctx, source.Paths); err == nil {
		err = r.sboms.flush(ctx)
	}
	if err == nil {
		err = r.images.tag(ctx, l)
	}
	err = l.finish(err)
	sum := Summary{Kinds: append([]KindCounts{r.sboms.kind}, slices.Concat(countsOf(r.images.made), countsOf(r.images.tagged))...), Unreadable: l.unreadable}
	if err == nil {
		sum.Images = r.countImages()
		sum.Untagged, err = d.countUntagged(ctx, r.listStored())
	}
	return sum, err
}

// An sbomKey identifies an SBOM.
type sbomKey struct {
	core.ImageKey
	architecture string
}

func keyOfSBOM(b *registry.ImportedSBOM) sbomKey {
	return sbomKey{core.ImageKey{Repo: b.Repo, Digest: b.Digest}, b.Architecture}
}

// An sbomBatch is a batch of SBOMs.
type sbomBatch struct {
	*batch[registry.ImportedSBOM, sbomKey]
	packages int // of the collected SBOMs
}

const sbomKind = "SBOMs"

// maxBatchPackages is the number of packages at which a batch is sent. It decides how long a
// transaction takes.
const maxBatchPackages = 20_000

func newSBOMBatch(d destination, l *reporter) *sbomBatch {
	return &sbomBatch{batch: newBatch(sbomKind, l, d.sboms, keyOfSBOM)}
}

// add adds an SBOM that was read from that many bytes.
func (b *sbomBatch) add(ctx context.Context, record *registry.ImportedSBOM, at Place, bytes int) error {
	if err := b.batch.add(ctx, record, at, bytes); err != nil {
		return err
	}
	if b.packages += len(record.Packages); len(b.records) > 0 && b.packages < maxBatchPackages {
		return nil
	}
	b.packages = 0
	return b.send(ctx)
}

// countsOf returns counts unless they count nothing.
func countsOf(kind KindCounts) []KindCounts {
	if kind == (KindCounts{Name: kind.Name}) {
		return nil
	}
	return []KindCounts{kind}
}

// A contender is one of the documents about an image and an architecture.
type contender struct {
	at       Place
	packages int
}

// An sbomImport is the import of some documents.
type sbomImport struct {
	images   *imageFinder
	source   SBOMSource
	reporter *reporter
	sboms    *sbomBatch
	largest  map[sbomKey]contender
}

// listStored lists the images whose documents were to be imported.
func (r *sbomImport) listStored() []core.ImageKey {
	images := make([]core.ImageKey, 0, len(r.largest))
	for key := range r.largest {
		if image := r.images.resolve(key.ImageKey); image.Repo.Valid() || r.images.made.Name == "" {
			images = append(images, image)
		}
	}
	slices.SortFunc(images, func(a, b core.ImageKey) int {
		return cmp.Or(cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.Digest, b.Digest))
	})
	return slices.Compact(images) // an image has a document for each architecture
}

// countImages counts the packages of the images whose documents were to be imported.
func (r *sbomImport) countImages() []ImageCounts {
	packages := map[core.ImageKey]int{}
	for key, best := range r.largest {
		packages[r.images.resolve(key.ImageKey)] += best.packages
	}
	var all []ImageCounts
	for _, image := range r.listStored() {
		all = append(all, ImageCounts{Repo: image.Repo, Digest: image.Digest, Packages: packages[image]})
	}
	return all
}

// A readSBOM is a document that was read.
type readSBOM struct {
	*registry.ImportedSBOM
	at      Place
	bytes   int
	tag     string        // that the image is to have
	remarks []*sbom.Error // what the document does not say
	reason  error         // why it cannot be imported
}

// isRefused reports whether the document cannot be imported.
func (b *readSBOM) isRefused() bool { return b.reason != nil }

// run reads the documents twice: first to find the largest one about each image and architecture,
// and then to import those. Thus nothing is stored that a larger document replaces at once. A single document is read once.
func (r *sbomImport) run(ctx context.Context, paths []string) error {
	first := &reporter{options: Options{Upload: r.reporter.options.Upload, ReportProgress: func(so Progress) {
		r.reporter.progress.Read = so.Read
		r.reporter.reportProgress()
	}}}
	reader := documentReader{reporter: r.reporter, onlyJSON: true, limit: sbom.MaxBytes}
	if err := reader.measure(paths); err != nil {
		return err
	}
	r.reporter.progress.Total *= 2
	var only *readSBOM // the document, if there is a single one
	count := 0
	reader.reporter, reader.handle = first, func(at Place, document []byte) error {
		b, err := r.read(ctx, at, document)
		if err != nil {
			return err
		}
		if count++; count == 1 {
			only = b
		} else {
			only = nil
		}
		if b.isRefused() { // it is reported when the document is imported
			return nil
		}
		key := keyOfSBOM(b.ImportedSBOM)
		if best, found := r.largest[key]; !found || best.packages < len(b.Packages) {
			r.largest[key] = contender{at, len(b.Packages)}
		}
		return nil
	}
	if err := reader.read(ctx, paths); err != nil {
		return err
	}
	if only != nil && first.unreadable == 0 && first.progress.Records == 1 {
		r.reporter.progress.Read = r.reporter.progress.Total
		r.reporter.reading = only.at
		r.reporter.countRecord()
		return r.importDocument(ctx, only)
	}
	only, reader.unpacked = nil, 0
	reader.reporter, reader.handle = r.reporter, func(at Place, document []byte) error {
		b, err := r.read(ctx, at, document)
		if err != nil {
			return err
		}
		return r.importDocument(ctx, b)
	}
	return reader.read(ctx, paths)
}

// importDocument imports a document unless there is a larger one.
func (r *sbomImport) importDocument(ctx context.Context, b *readSBOM) error {
	switch {
	case sbom.IsOtherStatement(b.reason) && b.at.Line > 0: // cosign writes all attestations of an image in one file
		r.reporter.reportRemark(b.at, fmt.Errorf("is left out: %w", b.reason))
		return nil
	case b.isRefused():
		r.sboms.fail(b.at, b.reason)
		return nil
	}
	if best := r.largest[keyOfSBOM(b.ImportedSBOM)]; best.at != b.at {
		r.reporter.reportRemark(b.at, leftOut(len(b.Packages), best.at, best.packages))
		return nil
	}
	for _, remark := range b.remarks {
		r.reporter.reportRemark(b.at, remark)
	}
	if reason, err := r.images.make(ctx, b.ImportedSBOM, b.tag, b.at); reason != nil || err != nil {
		if reason != nil {
			r.sboms.fail(b.at, reason)
		}
		return err
	}
	return r.sboms.add(ctx, b.ImportedSBOM, b.at, b.bytes)
}

// leftOut says why a document is left out.
func leftOut(packages int, largest fmt.Stringer, most int) error {
	return fmt.Errorf("is left out: it has %d packages, and %s has %d for the same image and architecture", packages, largest, most)
}

// read reads a document, and finds its image. err says why the import must end.
func (r *sbomImport) read(ctx context.Context, at Place, document []byte) (b *readSBOM, err error) {
	b = &readSBOM{at: at, bytes: len(document)}
	var d *sbom.Document
	if d, b.reason = sbom.Parse(document); b.isRefused() {
		return b, nil
	}
	var image core.ImageKey
	if r.source.Image == (ImagePlace{}) {
		image, b.tag, b.reason, err = r.images.findSubject(ctx, d.Subject)
	} else {
		image, b.tag, b.reason, err = r.images.findNamed(ctx, r.source.Image, d.Subject)
	}
	if !b.isRefused() && err == nil {
		b.ImportedSBOM, b.remarks = newSBOM(d, image, cmp.Or(r.source.Architecture, d.Architecture())), d.Remarks
	}
	return b, err
}

// packageScopes has the scopes of documents as the inventory names them.
var packageScopes = map[sbom.Scope]inventory.PackageScope{
	sbom.ScopeRequired: inventory.ScopeRequired, sbom.ScopeOptional: inventory.ScopeOptional, sbom.ScopeDevelopment: inventory.ScopeDevelopment,
}

// newSBOM returns what a document says of an image.
func newSBOM(d *sbom.Document, image core.ImageKey, architecture string) *registry.ImportedSBOM {
	b := &registry.ImportedSBOM{
		Repo: image.Repo, Digest: image.Digest, Architecture: ecosystem.ArchitectureName(architecture), Format: d.Format, Packages: make([]inventory.InstalledPackage, len(d.Packages)),
	}
	for i, p := range d.Packages {
		b.Packages[i] = inventory.InstalledPackage{
			Name: p.Name, Version: p.Version, Ecosystem: p.Ecosystem, PURL: p.PURL, Licenses: p.Licenses, SourceName: p.SourceName, SourceVersion: p.SourceVersion,
			Supplier: p.Supplier, Scope: packageScopes[p.Scope], Placement: inventory.Placement{Direct: p.Direct, IntroducedBy: p.IntroducedBy, Layer: p.Layer},
		}
	}
	return b
}
