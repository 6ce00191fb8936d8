package ingest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"atrium/platform/ecosystem"
	"atrium/platform/inventory"
)

// Limits of the manifests of one image.
const (
	maxNesting   = 4    // levels of indexes within indexes
	maxManifests = 1000 // manifests in all indexes together
)

var (
	errTooManyManifests = fmt.Errorf("has more than %d manifests in its indexes", maxManifests)
	errSchema1          = errors.New("is a manifest of schema 1, which is not supported; push the image again with a current tool")
)

// A contentError is the error of a manifest that was read but cannot be used. It stays, while
// other errors may be gone at the next import.
type contentError struct{ error }

func (e contentError) Unwrap() error { return e.error }

// A childManifest is an entry of an index.
type childManifest struct {
	digest   v1.Hash
	platform *v1.Platform // nil if the index does not name it
}

// An attestation is an entry of an index that is about another one, as BuildKit makes them.
type attestation struct{ digest, subject v1.Hash }

// A manifest has the imported parts of a manifest: the children of an index, or
// the size of an image. Both are empty for an artifact that is neither.
type manifest struct {
	children []childManifest
	attested []attestation // about children
	isImage  bool
	size     int64        // bytes of the config and the layers of an image
	platform *v1.Platform // platform of an image whose config was read
	err      error        // reason why the manifest cannot be read

	baseName, baseDigest string // of the image that it was built on
}

// parseManifest parses the manifest of an index, an image or an artifact. Its content
// decides which, because the media types that registries send are not always right.
func parseManifest(content []byte) (manifest, error) {
	var m struct {
		SchemaVersion int             `json:"schemaVersion"`
		Config        v1.Descriptor   `json:"config"`
		Layers        []v1.Descriptor `json:"layers"`
		Manifests     []v1.Descriptor `json:"manifests"`
		Annotations   map[string]any  `json:"annotations"`
	}
	if err := decodeJSON(content, &m); err != nil {
		return manifest{}, contentError{err}
	}
	isImage := m.Config.MediaType.IsConfig()
	switch {
	case m.SchemaVersion == 1:
		return manifest{}, contentError{errSchema1}
	case isImage && len(m.Manifests) > 0:
		return manifest{}, contentError{errors.New("is both an index and an image")}
	case len(m.Manifests) > maxManifests:
		return manifest{}, contentError{errTooManyManifests}
	case !isImage:
		return manifest{children: childrenOf(m.Manifests), attested: attestationsOf(m.Manifests), baseName: baseNameOf(m.Annotations), baseDigest: baseDigestOf(m.Annotations)}, nil
	}
	size := int64(0)
	for _, part := range append(m.Layers, m.Config) {
		if size += part.Size; part.Size < 0 || size < 0 {
			return manifest{}, contentError{errors.New("has a size that is negative or too large")}
		}
	}
	return manifest{isImage: true, size: size, baseName: baseNameOf(m.Annotations), baseDigest: baseDigestOf(m.Annotations)}, nil
}

// baseNameOf returns the reference of the base image that annotations name, or "" for none, or no line of text.
func baseNameOf(annotations map[string]any) string {
	name, _ := annotations["org.opencontainers.image.base.name"].(string)
	if len(name) > maxBaseName || strings.ContainsFunc(name, unicode.IsControl) {
		return ""
	}
	return name
}

// maxBaseName limits the reference of a base image, in bytes.
const maxBaseName = 255

// baseDigestOf returns the digest of the base image that annotations name, or "" for none, or another kind of digest.
func baseDigestOf(annotations map[string]any) string {
	digest, _ := annotations["org.opencontainers.image.base.digest"].(string)
	if hash, err := v1.NewHash(digest); err != nil || hash.Algorithm != "sha256" {
		return ""
	}
	return digest
}

// base returns what an image was built on: what its manifest says, or else the first manifest of its index that says it.
func (all manifests) base(root manifestKey) (name, digest string) {
	m := all[root]
	if m.baseName != "" || m.baseDigest != "" {
		return m.baseName, m.baseDigest
	}
	for _, child := range m.children {
		if c := all[childKey(root.repo, child)]; c != nil && (c.baseName != "" || c.baseDigest != "") {
			return c.baseName, c.baseDigest
		}
	}
	return "", ""
}

// childrenOf returns the imported parts of the entries of an index, without attestations.
func childrenOf(entries []v1.Descriptor) (children []childManifest) {
	for _, d := range entries {
		if isAttestation(d) {
			continue
		}
		child := childManifest{digest: d.Digest}
		if p := d.Platform; p != nil && p.Architecture != "" {
			child.platform = &v1.Platform{OS: p.OS, Architecture: p.Architecture, Variant: p.Variant}
		}
		children = append(children, child)
	}
	return children
}

// attestationsOf returns the entries of an index that are about other ones.
func attestationsOf(entries []v1.Descriptor) (found []attestation) {
	for _, d := range entries {
		if subject, err := v1.NewHash(d.Annotations["vnd.docker.reference.digest"]); err == nil && isAttestation(d) {
			found = append(found, attestation{d.Digest, subject})
		}
	}
	return found
}

// isAttestation reports whether a manifest is a statement about an image and not an
// image itself.
func isAttestation(d v1.Descriptor) bool {
	return d.Annotations["vnd.docker.reference.type"] == "attestation-manifest" ||
		d.Platform != nil && d.Platform.OS == "unknown" && d.Platform.Architecture == "unknown"
}

// A manifestKey identifies a manifest in a repo.
type manifestKey struct {
	repo          name.Repository
	digest        v1.Hash
	needsPlatform bool // read the config too, because the index does not name the platform
}

// manifests has the manifests that were read.
type manifests map[manifestKey]*manifest

// readTree reads roots and everything below them, each manifest once and at most n
// at the same time. It calls onRead with the error of each read, or nil, and stops if
// onRead returns an error.
func (all manifests) readTree(ctx context.Context, n int, c *ociClient, roots []manifestKey, onRead func(error) error) error {
	type reading struct {
		key  manifestKey
		root int // index of the root above it
		manifest
	}
	next, counts := make([]*reading, len(roots)), make([]int, len(roots))
	for i, key := range roots {
		next[i] = &reading{key: key, root: i}
	}
	for range maxNesting {
		var level []*reading
		for _, r := range next {
			if all[r.key] == nil {
				all[r.key] = &r.manifest
				level = append(level, r)
			}
		}
		next = nil
		err := runParallel(ctx, n, level, func(ctx context.Context, r *reading) {
			r.manifest, r.err = c.readManifest(ctx, r.key)
		}, func(r *reading) error {
			if counts[r.root]+len(r.children) > maxManifests {
				r.manifest = manifest{err: contentError{errTooManyManifests}}
			}
			counts[r.root] += len(r.children)
			for _, child := range r.children {
				next = append(next, &reading{key: childKey(r.key.repo, child), root: r.root})
			}
			return onRead(r.err)
		})
		if err != nil {
			return err
		}
	}
	for _, r := range next { // one level too deep
		if all[r.key] == nil {
			all[r.key] = &manifest{err: contentError{fmt.Errorf("indexes are nested more than %d deep", maxNesting)}}
		}
	}
	return nil
}

func childKey(repo name.Repository, child childManifest) manifestKey {
	return manifestKey{repo, child.digest, child.platform == nil}
}

// architectures lists the architectures of an image, in the order of its index. omitted has
// the reasons why manifests in the index are left out.
func (all manifests) architectures(root manifestKey) (found []inventory.Architecture, omitted []error, err error) {
	if m := all[root]; m.err != nil {
		return nil, nil, m.err
	}
	c := collector{all: all, root: root, indexes: map[manifestKey]bool{}}
	err = c.collect(root, nil)
	return c.architectures, c.omitted, err
}

// A collector gathers the architectures of one image.
type collector struct {
	all           manifests
	root          manifestKey
	indexes       map[manifestKey]bool // indexes that were collected already
	architectures []inventory.Architecture
	omitted       []error
}

// collect adds the architectures of a manifest. declared is the platform that the
// index names for it. If several have the same name, such as the versions of
// Windows, the first one counts.
func (c *collector) collect(key manifestKey, declared *v1.Platform) error {
	m := c.all[key]
	var odd contentError
	switch {
	case isNotFound(m.err):
		// A mirror may leave out manifests that it does not need. The size is unknown.
	case errors.As(m.err, &odd):
		c.omit(key, odd)
		return nil
	case m.err != nil:
		return fmt.Errorf("manifest %s: %w", key.digest, m.err)
	case !m.isImage && declared != nil && len(m.children) == 0:
		c.omit(key, errors.New("is neither an image nor an index"))
		return nil
	case !m.isImage:
		return c.collectIndex(key, m.children)
	case declared == nil:
		declared = m.platform
	}
	if declared == nil {
		declared = &v1.Platform{}
	}
	name, err := architectureName(*declared)
	switch {
	case err != nil:
		c.omit(key, err)
	case name == "":
		if key != c.root { // a single image without an architecture is often no program
			c.omit(key, errors.New("has no platform"))
		}
	case !slices.ContainsFunc(c.architectures, func(a inventory.Architecture) bool { return a.Name == name }):
		c.architectures = append(c.architectures, inventory.Architecture{Name: name, Size: m.size})
	}
	return nil
}

// omit records why a manifest is left out.
func (c *collector) omit(key manifestKey, reason error) {
	c.omitted = append(c.omitted, fmt.Errorf("manifest %s %w, and is left out", key.digest, reason))
}

// collectIndex adds the architectures of the manifests in an index.
func (c *collector) collectIndex(index manifestKey, children []childManifest) error {
	if c.indexes[index] {
		return nil
	}
	c.indexes[index] = true
	for _, child := range children {
		if err := c.collect(childKey(index.repo, child), child.platform); err != nil {
			return err
		}
	}
	return nil
}

// platformPart matches a valid operating system, architecture or variant.
var platformPart = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,31}$`)

// architectureName returns the name of a platform's architecture, in the spelling
// of ecosystem.ArchitectureName. It returns "" for a manifest that is for no platform.
func architectureName(p v1.Platform) (string, error) {
	if p.Architecture == "" || p.Architecture == "unknown" {
		return "", nil
	}
	parts := strings.Split(strings.ToLower(p.Architecture), "/") // some tools write arm/v7, or linux/arm/v7
	if os := strings.ToLower(p.OS); os != "" && parts[0] != os {
		parts = append([]string{os}, parts...)
	}
	if p.Variant != "" {
		parts = append(parts, strings.ToLower(p.Variant))
	}
	if len(parts) > 3 || slices.ContainsFunc(parts, func(part string) bool { return !platformPart.MatchString(part) }) {
		return "", fmt.Errorf("has the platform %.100q, which is not valid", p.String())
	}
	return ecosystem.ArchitectureName(strings.Join(parts, "/")), nil
}
