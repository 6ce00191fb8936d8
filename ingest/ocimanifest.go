package ingest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"atrium/platform"
)

// Limits of the manifests of one image.
const (
	maxNesting  = 4    // levels of indexes within indexes
	maxChildren = 1000 // manifests in one index
)

// A manifest has the imported parts of a manifest: the children of an index, or
// the size of an image. Both are empty for an artifact that is neither.
type manifest struct {
	children []v1.Descriptor
	isImage  bool
	size     int64        // bytes of the config and the layers of an image
	platform *v1.Platform // platform of an image whose config was read
	err      error        // reason why the manifest cannot be read
}

// parseManifest parses the manifest of an index, an image or an artifact. Its content
// decides which, because the media types that registries send are not always right.
func parseManifest(content []byte) (manifest, error) {
	var m struct {
		Config    v1.Descriptor   `json:"config"`
		Layers    []v1.Descriptor `json:"layers"`
		Manifests []v1.Descriptor `json:"manifests"`
	}
	if err := decodeJSON(content, &m); err != nil {
		return manifest{}, err
	}
	isImage := m.Config.MediaType.IsConfig()
	switch {
	case isImage && len(m.Manifests) > 0:
		return manifest{}, errors.New("is both an index and an image")
	case len(m.Manifests) > maxChildren:
		return manifest{}, fmt.Errorf("is an index of more than %d manifests", maxChildren)
	case !isImage:
		return manifest{children: slices.DeleteFunc(m.Manifests, isAttestation)}, nil
	}
	size := int64(0)
	for _, part := range append(m.Layers, m.Config) {
		if size += part.Size; part.Size < 0 || size < 0 {
			return manifest{}, errors.New("has a size that is negative or too large")
		}
	}
	return manifest{isImage: true, size: size}, nil
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
		key manifestKey
		manifest
	}
	next := roots
	for range maxNesting {
		var level []*reading
		for _, key := range next {
			if all[key] == nil {
				r := &reading{key: key}
				all[key] = &r.manifest
				level = append(level, r)
			}
		}
		next = nil
		err := runParallel(ctx, n, level, func(ctx context.Context, r *reading) {
			r.manifest, r.err = c.readManifest(ctx, r.key)
		}, func(r *reading) error {
			for _, child := range r.children {
				next = append(next, childKey(r.key.repo, child))
			}
			return onRead(r.err)
		})
		if err != nil {
			return err
		}
	}
	for _, key := range next { // one level too deep
		if all[key] == nil {
			all[key] = &manifest{err: fmt.Errorf("indexes are nested more than %d deep", maxNesting)}
		}
	}
	return nil
}

func childKey(repo name.Repository, d v1.Descriptor) manifestKey {
	return manifestKey{repo, d.Digest, d.Platform == nil}
}

// architectures lists the architectures of an image, in the order of its index.
func (all manifests) architectures(root manifestKey) ([]platform.Architecture, error) {
	if m := all[root]; m.err != nil {
		return nil, m.err
	}
	c := collector{all: all, indexes: map[manifestKey]bool{}}
	err := c.collect(root, nil)
	return c.architectures, err
}

// A collector gathers the architectures of one image.
type collector struct {
	all           manifests
	indexes       map[manifestKey]bool // indexes that were collected already
	architectures []platform.Architecture
}

// collect adds the architectures of a manifest. declared is the platform that the
// index names for it. If several have the same name, such as the versions of
// Windows, the first one counts.
func (c *collector) collect(key manifestKey, declared *v1.Platform) error {
	m := c.all[key]
	switch {
	case isNotFound(m.err):
		// A mirror may leave out manifests that it does not need. The size is unknown.
	case m.err != nil:
		return fmt.Errorf("manifest %s: %w", key.digest, m.err)
	case !m.isImage:
		return c.collectIndex(key, m.children)
	case declared == nil:
		declared = m.platform
	}
	if declared == nil {
		return nil
	}
	name, err := architectureName(*declared)
	isKnown := slices.ContainsFunc(c.architectures, func(a platform.Architecture) bool { return a.Name == name })
	if err == nil && name != "" && !isKnown {
		c.architectures = append(c.architectures, platform.Architecture{Name: name, Size: m.size})
	}
	return err
}

// collectIndex adds the architectures of the manifests in an index.
func (c *collector) collectIndex(index manifestKey, children []v1.Descriptor) error {
	if c.indexes[index] {
		return nil
	}
	c.indexes[index] = true
	for _, child := range children {
		if err := c.collect(childKey(index.repo, child), child.Platform); err != nil {
			return err
		}
	}
	return nil
}

// platformPart matches a valid operating system, architecture or variant.
var platformPart = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,31}$`)

// architectureName returns the name of a platform's architecture, in the spelling
// of platform.ArchitectureName. It returns "" for a manifest that is for no platform.
func architectureName(p v1.Platform) (string, error) {
	for _, part := range []string{p.OS, p.Architecture, p.Variant} {
		if part != "" && !platformPart.MatchString(part) {
			return "", fmt.Errorf("%.100q is not a valid platform", p.String())
		}
	}
	name, variant := p.Architecture, prefixVariant(p.Variant)
	switch name + variant {
	case "", "unknown":
		return "", nil
	case "amd64v1", "arm64v8":
		variant = "" // the default variant
	case "arm":
		variant = "v7"
	}
	name = platform.ArchitectureName(name + variant)
	if p.OS != "" && p.OS != "linux" {
		name = p.OS + "-" + name
	}
	return name, nil
}

// prefixVariant writes the variant 7 as v7.
func prefixVariant(variant string) string {
	if variant != "" && variant[0] >= '0' && variant[0] <= '9' {
		return "v" + variant
	}
	return variant
}
