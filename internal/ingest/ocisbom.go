package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"atrium/internal/sbom"
	"atrium/platform/ecosystem"
)

// An SBOMChoice says for which images the SBOMs of a registry are read.
type SBOMChoice string

const (
	// NewSBOMs are those of images that are not stored yet.
	NewSBOMs SBOMChoice = "new"
	// AllSBOMs are those of all images that a tag points to.
	AllSBOMs SBOMChoice = "all"
	// NoSBOMs means that none is read.
	NoSBOMs SBOMChoice = "none"
)

// maxAttachments limits the manifests that are read because they are attached to one manifest.
const maxAttachments = 50

// attachmentTag matches the tags of what is attached to images: signatures, attestations and SBOMs.
var attachmentTag = regexp.MustCompile(`^sha256-[0-9a-f]{64}(\..+)?$`)

// A subject is a manifest of an image that documents can be about.
type subject struct {
	digest       v1.Hash
	architecture string    // "" for an index
	attested     []v1.Hash // manifests in the index that are about it
}

// subjects lists the manifests of an image that documents can be about, the root first.
func (all manifests) subjects(root manifestKey) []*subject {
	var found []*subject
	byDigest := map[v1.Hash]*subject{}
	var add func(key manifestKey, declared *v1.Platform)
	add = func(key manifestKey, declared *v1.Platform) {
		m := all[key]
		if m == nil || m.err != nil || byDigest[key.digest] != nil {
			return
		}
		s := &subject{digest: key.digest}
		found, byDigest[key.digest] = append(found, s), s
		if m.isImage {
			if platform := cmp.Or(declared, m.platform); platform != nil {
				s.architecture, _ = architectureName(*platform) // one that is not valid is left out of the image
			}
			return
		}
		for _, child := range m.children {
			add(childKey(key.repo, child), child.platform)
		}
		for _, a := range m.attested {
			if of := byDigest[a.subject]; of != nil {
				of.attested = append(of.attested, a.digest)
			}
		}
	}
	add(root, nil)
	return found
}

// An attachedSBOM is a document that a registry has about an image.
type attachedSBOM struct {
	digest       v1.Hash
	architecture string
	document     *sbom.Document
}

// An sbomSearch reads the documents about one image.
type sbomSearch struct {
	client   *ociClient
	tag      *ociTag
	subjects []*subject
	isTag    map[string]bool // tags of the repo

	found    []attachedSBOM
	problems []error // why documents cannot be used
	err      error   // why not all of them can be found
}

// importSBOMs imports the documents that the registry has about the images of tags.
func (r *ociImport) importSBOMs(ctx context.Context, all manifests, tags []*ociTag) error {
	var searches []*sbomSearch
	tagsOf := map[*ociRepo]map[string]bool{}
	for _, t := range tags {
		subjects := all.subjects(t.manifest())
		if attachmentTag.MatchString(t.name) || !slices.ContainsFunc(subjects, func(s *subject) bool { return s.architecture != "" }) {
			continue // this is no image
		}
		if tagsOf[t.repo] == nil {
			tagsOf[t.repo] = map[string]bool{}
			for _, tag := range t.repo.tags {
				tagsOf[t.repo][tag] = true
			}
		}
		searches = append(searches, &sbomSearch{client: r.client, tag: t, subjects: subjects, isTag: tagsOf[t.repo]})
	}
	err := runParallel(ctx, r.source.Concurrency, searches, func(ctx context.Context, s *sbomSearch) {
		for _, of := range s.subjects {
			if s.err == nil {
				s.err = s.read(ctx, of)
			}
		}
	}, func(s *sbomSearch) error {
		r.reporter.reportProgress()
		if err := r.checkAvailable(s.err); err != nil {
			return err
		}
		return r.addSBOMs(ctx, s)
	})
	if err != nil {
		return err
	}
	return r.sboms.flush(ctx)
}

// addSBOMs imports the largest document for each architecture, and reports the others.
func (r *ociImport) addSBOMs(ctx context.Context, s *sbomSearch) error {
	at := s.tag.place()
	for _, problem := range s.problems {
		r.sboms.fail(at, problem)
	}
	if s.err != nil {
		r.sboms.fail(at, fmt.Errorf("what is attached to the image cannot be read: %w", s.err))
	}
	slices.SortStableFunc(s.found, func(a, b attachedSBOM) int { return cmp.Compare(len(b.document.Packages), len(a.document.Packages)) })
	largest := map[string]attachedSBOM{}
	for _, f := range s.found {
		switch best, known := largest[f.architecture]; {
		case !known:
			largest[f.architecture] = f
			for _, remark := range f.document.Remarks {
				r.reporter.reportProblem(at, fmt.Errorf("the SBOM %s: %w", f.digest, remark))
			}
			if err := r.sboms.add(ctx, newSBOM(f.document, s.tag.image(), f.architecture), at, 0); err != nil {
				return err
			}
		case best.digest != f.digest:
			r.reporter.reportProblem(at, fmt.Errorf("the SBOM %s %w", f.digest, leftOut(len(f.document.Packages), best.digest, len(best.document.Packages))))
		}
	}
	return nil
}

// read reads the documents about one manifest: attestations of BuildKit, what the tags of cosign name, and if that is
// no SBOM, what refers to the manifest.
func (s *sbomSearch) read(ctx context.Context, of *subject) error {
	repo := s.tag.repo.Repository
	var attached []name.Reference
	for _, digest := range of.attested {
		attached = append(attached, repo.Digest(digest.String()))
	}
	tag := strings.Replace(of.digest.String(), ":", "-", 1)
	for _, suffix := range []string{".att", ".sbom"} {
		if s.isTag[tag+suffix] {
			attached = append(attached, repo.Tag(tag+suffix))
		}
	}
	before := len(s.found)
	if err := s.readAttached(ctx, of, attached); err != nil || len(s.found) > before {
		return err
	}
	referrers, err := s.client.readReferrers(ctx, repo.Digest(of.digest.String()))
	if err != nil {
		return err
	}
	attached = nil
	for _, d := range referrers {
		if mayBeSBOM(d.ArtifactType, d.Annotations) {
			attached = append(attached, repo.Digest(d.Digest.String()))
		}
	}
	return s.readAttached(ctx, of, attached)
}

// readAttached reads the documents in manifests that are attached to another one.
func (s *sbomSearch) readAttached(ctx context.Context, of *subject, attached []name.Reference) error {
	if len(attached) > maxAttachments {
		s.problems = append(s.problems, fmt.Errorf("%s has %d manifests attached, and the first %d are read", of.digest, len(attached), maxAttachments))
		attached = attached[:maxAttachments]
	}
	for _, ref := range attached {
		layers, err := s.client.readAttachment(ctx, ref)
		if err == nil {
			err = s.readLayers(ctx, of, layers)
		}
		if err != nil && (isTransient(err) || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			s.problems = append(s.problems, fmt.Errorf("%s: %w", ref.Identifier(), err))
		}
	}
	return nil
}

// readLayers reads the documents that layers are.
func (s *sbomSearch) readLayers(ctx context.Context, of *subject, layers []v1.Descriptor) error {
	for _, layer := range layers {
		if slices.ContainsFunc(s.found, func(f attachedSBOM) bool { return f.digest == layer.Digest }) {
			continue
		}
		text, err := s.client.readBlob(ctx, s.tag.repo.Repository.Digest(layer.Digest.String()), layer.Size)
		if err != nil {
			return err
		}
		d, err := sbom.Parse(text)
		if sbom.IsOtherStatement(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("SBOM %s: %w", layer.Digest, err)
		}
		architecture := cmp.Or(of.architecture, ecosystem.ArchitectureName(d.Architecture()))
		s.found = append(s.found, attachedSBOM{layer.Digest, architecture, d})
	}
	return nil
}

// sbomTypes are parts of the media types of SBOMs, and of what can contain one.
var sbomTypes = []string{"spdx", "cyclonedx", "sbom", "in-toto", "dsse", "sigstore.bundle"}

// predicateAnnotations name the type of a statement: those of BuildKit, of cosign, and of bundles.
var predicateAnnotations = []string{"in-toto.io/predicate-type", "predicateType", "dev.sigstore.bundle.predicateType"}

// mayBeSBOM reports whether something with a media type and annotations can be an SBOM, or contain one.
func mayBeSBOM(mediaType string, annotations map[string]string) bool {
	for _, a := range predicateAnnotations {
		if predicate := annotations[a]; predicate != "" && !sbom.IsSBOM(predicate) {
			return false
		}
	}
	return slices.ContainsFunc(sbomTypes, func(part string) bool { return strings.Contains(strings.ToLower(mediaType), part) })
}

// readReferrers lists the manifests that refer to another one. A registry that refuses the question has none.
func (c *ociClient) readReferrers(ctx context.Context, of name.Digest) (found []v1.Descriptor, err error) {
	err = c.call(ctx, func(ctx context.Context) error {
		index, err := remote.Referrers(of, remote.Reuse(c.puller), remote.WithContext(ctx))
		var status *transport.Error
		if errors.As(err, &status) && slices.Contains([]int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed}, status.StatusCode) {
			return nil
		}
		if err != nil {
			return err
		}
		list, err := index.IndexManifest()
		if err == nil {
			found = list.Manifests
		}
		return err
	})
	return found, err
}

// readAttachment returns those layers of a manifest that can be SBOMs.
func (c *ociClient) readAttachment(ctx context.Context, ref name.Reference) (layers []v1.Descriptor, err error) {
	err = c.call(ctx, func(ctx context.Context) error {
		got, err := c.puller.Get(ctx, ref)
		if err != nil {
			return err
		}
		var m struct {
			ArtifactType string          `json:"artifactType"`
			Layers       []v1.Descriptor `json:"layers"`
		}
		if err := decodeJSON(got.Manifest, &m); err != nil {
			return contentError{err}
		}
		for _, layer := range m.Layers {
			isJSON := strings.Contains(string(layer.MediaType), "json")
			if isJSON && (mayBeSBOM(string(layer.MediaType), layer.Annotations) || mayBeSBOM(m.ArtifactType, layer.Annotations)) {
				layers = append(layers, layer)
			}
		}
		return nil
	})
	return layers, err
}

// readBlob reads a blob of at most MaxRecord bytes.
func (c *ociClient) readBlob(ctx context.Context, ref name.Digest, size int64) (text []byte, err error) {
	if size > MaxRecord {
		return nil, fmt.Errorf("blob %s: %w", ref.DigestStr(), errTooLarge)
	}
	err = c.call(ctx, func(ctx context.Context) error {
		layer, err := c.puller.Layer(ctx, ref)
		if err != nil {
			return err
		}
		content, err := layer.Compressed() // as it is stored
		if err != nil {
			return err
		}
		defer content.Close()
		text, err = readLimited(content, MaxRecord)
		return err
	})
	return text, err
}
