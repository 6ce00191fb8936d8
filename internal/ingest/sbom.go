package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"atrium/internal/sbom"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// An SBOMSource says which documents to import, and what they are about.
type SBOMSource struct {
	Paths []string  // files, folders and archives; "-" means Pipe
	Pipe  io.Reader // one document or one archive
	// Image is the image that all documents are about, as PATH@DIGEST: the path of its repo by
	// names, such as acme/shop/checkout. If it is "", each document names its image, and the group
	// of the import has its repo.
	Image        string
	Architecture string // "" means that of the packages of each document
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
	paths, remove, err := l.copyPipe(source.Paths, source.Pipe)
	if err != nil {
		return Summary{}, err
	}
	defer remove()
	r := &sbomImport{
		images: imageFinder{destination: d, repos: map[string]core.UID{}}, source: source, reporter: l,
		largest: map[sbomKey]contender{}, sboms: newSBOMBatch(d, l),
	}
	if source.Image != "" {
		r.image, err = r.images.findImage(ctx, source.Image)
	}
	if err == nil {
		err = r.run(ctx, paths)
	}
	if err == nil {
		err = r.sboms.flush(ctx)
	}
	err = l.finish(err)
	sum := Summary{Kinds: []KindCounts{r.sboms.kind}, Unreadable: l.unreadable}
	if err == nil {
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
	images   imageFinder
	source   SBOMSource
	reporter *reporter
	sboms    *sbomBatch
	image    core.ImageKey // that all documents are about; zero if each names its own
	largest  map[sbomKey]contender
}

// listStored lists the images whose documents were to be imported.
func (r *sbomImport) listStored() []core.ImageKey {
	images := make([]core.ImageKey, 0, len(r.largest))
	for key := range r.largest {
		images = append(images, key.ImageKey)
	}
	slices.SortFunc(images, func(a, b core.ImageKey) int {
		return cmp.Or(cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.Digest, b.Digest))
	})
	return slices.Compact(images) // an image has a document for each architecture
}

// run reads the documents twice: first to find the largest one about each image and architecture,
// and then to import those. Thus nothing is stored that a larger document replaces at once.
func (r *sbomImport) run(ctx context.Context, paths []string) error {
	first := &reporter{options: Options{ReportProgress: func(so Progress) {
		r.reporter.progress.Read = so.Read
		r.reporter.reportProgress()
	}}}
	reader := documentReader{reporter: r.reporter, onlyJSON: true, limit: sbom.MaxBytes}
	if err := reader.measure(paths); err != nil {
		return err
	}
	r.reporter.progress.Total *= 2
	reader.reporter, reader.handle = first, func(at Place, document []byte) error {
		b, _, reason, err := r.read(ctx, document)
		if reason != nil || err != nil {
			return err // the second time, the reason is reported
		}
		key := keyOfSBOM(b)
		if best, found := r.largest[key]; !found || best.packages < len(b.Packages) {
			r.largest[key] = contender{at, len(b.Packages)}
		}
		return nil
	}
	if err := reader.read(ctx, paths); err != nil {
		return err
	}
	reader.reporter, reader.handle = r.reporter, func(at Place, document []byte) error { return r.importDocument(ctx, at, document) }
	return reader.read(ctx, paths)
}

// importDocument imports a document unless there is a larger one.
func (r *sbomImport) importDocument(ctx context.Context, at Place, document []byte) error {
	b, remarks, reason, err := r.read(ctx, document)
	if err != nil {
		return err
	}
	switch {
	case sbom.IsOtherStatement(reason) && at.Line > 0: // cosign writes all attestations of an image in one file
		r.reporter.reportProblem(at, fmt.Errorf("is left out: %w", reason))
		return nil
	case reason != nil:
		r.sboms.fail(at, reason)
		return nil
	}
	if best := r.largest[keyOfSBOM(b)]; best.at != at {
		r.reporter.reportProblem(at, leftOut(len(b.Packages), best.at, best.packages))
		return nil
	}
	for _, remark := range remarks {
		r.reporter.reportProblem(at, remark)
	}
	return r.sboms.add(ctx, b, at, len(document))
}

// leftOut says why a document is left out.
func leftOut(packages int, largest fmt.Stringer, most int) error {
	return fmt.Errorf("is left out: it has %d packages, and %s has %d for the same image and architecture", packages, largest, most)
}

// read reads a document, and finds its image. remarks are what the document does not say; reason says why it cannot be
// imported, and err why the import must end.
func (r *sbomImport) read(ctx context.Context, document []byte) (b *registry.ImportedSBOM, remarks []*sbom.Error, reason, err error) {
	d, reason := sbom.Parse(document)
	if reason != nil {
		return nil, nil, reason, nil
	}
	image := r.image
	if image == (core.ImageKey{}) {
		if image, reason, err = r.images.findSubject(ctx, d.Subject); reason != nil || err != nil {
			return nil, nil, reason, err
		}
	}
	return newSBOM(d, image, cmp.Or(r.source.Architecture, d.Architecture())), d.Remarks, nil, nil
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

// An imageFinder finds images by what people and documents call them.
type imageFinder struct {
	destination destination
	repos       map[string]core.UID // repos of the group by name; "" if there is none
}

// findImage finds an image by PATH@DIGEST.
func (f imageFinder) findImage(ctx context.Context, text string) (core.ImageKey, error) {
	path, digest, found := strings.Cut(text, "@")
	if !found {
		return core.ImageKey{}, fmt.Errorf("--image %.300q: must be the path of the repo, @ and the digest, such as acme/shop/checkout@sha256:DIGEST", text)
	}
	repo, err := f.destination.findRepoOfPath(ctx, path)
	if err != nil {
		return core.ImageKey{}, fmt.Errorf("--image %.300q: %w", text, err)
	}
	return core.ImageKey{Repo: repo, Digest: digest}, nil
}

// findSubject finds the image that a document names. reason says why there is none.
func (f imageFinder) findSubject(ctx context.Context, subject sbom.Subject) (key core.ImageKey, reason, err error) {
	switch {
	case len(subject.Digests) == 0:
		return key, errors.New("names no digest of its image; name the image with --image PATH@sha256:DIGEST"), nil
	case subject.Name == "":
		return key, errors.New("does not name its image; name it with --image PATH@sha256:DIGEST"), nil
	}
	repo, err := f.findRepo(ctx, subject.Name)
	if err != nil {
		return key, nil, err
	}
	if repo == "" {
		return key, fmt.Errorf("is about %.300q, and the group has no repo of that name; name the image with --image PATH@sha256:DIGEST", subject.Name), nil
	}
	keys := make([]core.ImageKey, len(subject.Digests))
	for i, digest := range subject.Digests {
		keys[i] = core.ImageKey{Repo: repo, Digest: digest}
	}
	if len(keys) == 1 {
		return keys[0], nil, nil
	}
	known, err := f.destination.getImages(ctx, keys)
	if err != nil {
		return key, nil, fmt.Errorf("find images: %w", err)
	}
	for i, image := range known {
		if image != nil {
			return keys[i], nil, nil
		}
	}
	return keys[0], nil, nil
}

// findRepo finds the repo of the group that an image belongs to, by the name of the image: with its registry
// or without it, and official images of Docker Hub also without library.
func (f imageFinder) findRepo(ctx context.Context, image string) (core.UID, error) {
	names := []string{image}
	if ref, err := name.ParseReference(image); err == nil {
		path := ref.Context().RepositoryStr()
		names = []string{path, strings.TrimPrefix(path, "library/"), ref.Context().Name()}
	}
	for _, name := range names {
		uid, known := f.repos[name]
		if !known {
			var err error
			if uid, err = f.destination.findRepo(ctx, name); err != nil {
				return "", fmt.Errorf("find repo: %w", err)
			}
			f.repos[name] = uid
		}
		if uid != "" {
			return uid, nil
		}
	}
	return "", nil
}
