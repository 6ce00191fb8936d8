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

// Bounds of what one image may consist of.
const (
	maxNesting  = 4    // an index in an index in ...
	maxChildren = 1000 // of an index
)

// A manifest is what matters of one: of an index its children, of an image its
// size. An artifact that is neither has nothing.
type manifest struct {
	children []v1.Descriptor
	image    bool
	size     int64        // of an image: bytes of config and layers
	platform *v1.Platform // of an image's config, where that was read
	err      error        // it cannot be read
}

// readManifest tells index, image and artifact by what is in the manifest:
// the media types that registries send are not always true.
func readManifest(content []byte) (manifest, error) {
	var m struct {
		Config    v1.Descriptor   `json:"config"`
		Layers    []v1.Descriptor `json:"layers"`
		Manifests []v1.Descriptor `json:"manifests"`
	}
	if err := decodeLine(content, &m); err != nil {
		return manifest{}, err
	}
	image := m.Config.MediaType.IsConfig()
	switch {
	case image && len(m.Manifests) > 0:
		return manifest{}, errors.New("is an index and an image at once")
	case len(m.Manifests) > maxChildren:
		return manifest{}, fmt.Errorf("is an index of more than %d manifests", maxChildren)
	case !image:
		return manifest{children: slices.DeleteFunc(m.Manifests, attestation)}, nil
	}
	size := int64(0)
	for _, part := range append(m.Layers, m.Config) {
		if size += part.Size; part.Size < 0 || size < 0 {
			return manifest{}, errors.New("has sizes that cannot be")
		}
	}
	return manifest{image: true, size: size}, nil
}

// attestation tells what is said about an image, and runs nowhere.
func attestation(d v1.Descriptor) bool {
	return d.Annotations["vnd.docker.reference.type"] == "attestation-manifest" ||
		d.Platform != nil && d.Platform.OS == "unknown" && d.Platform.Architecture == "unknown"
}

// A manifestKey names a manifest in a repo.
type manifestKey struct {
	repo     name.Repository
	digest   v1.Hash
	platform bool // its config is to be read as well: nothing else tells the platform
}

// manifests are those that were read.
type manifests map[manifestKey]*manifest

// read reads roots and all that they hold, each once.
func (all manifests) read(ctx context.Context, n int, c *ociClient, roots []manifestKey, after func(error) error) error {
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
		err := together(ctx, n, level, func(ctx context.Context, r *reading) {
			r.manifest, r.err = c.manifest(ctx, r.key)
		}, func(r *reading) error {
			for _, child := range r.children {
				next = append(next, childKey(r.key.repo, child))
			}
			return after(r.err)
		})
		if err != nil {
			return err
		}
	}
	for _, key := range next { // one level too deep
		if all[key] == nil {
			all[key] = &manifest{err: fmt.Errorf("indexes hold each other more than %d deep", maxNesting)}
		}
	}
	return nil
}

func childKey(repo name.Repository, d v1.Descriptor) manifestKey {
	return manifestKey{repo, d.Digest, d.Platform == nil}
}

// architectures lists those of an image, in its own order.
func (all manifests) architectures(root manifestKey) ([]platform.Architecture, error) {
	if m := all[root]; m.err != nil {
		return nil, m.err
	}
	c := collector{all: all, indexes: map[manifestKey]bool{}}
	err := c.collect(root, nil)
	return c.found, err
}

// A collector gathers the architectures of one image.
type collector struct {
	all     manifests
	indexes map[manifestKey]bool // that were looked into
	found   []platform.Architecture
}

// collect adds what a manifest holds. Of several of one name, as Windows has
// them for its versions, the first counts.
func (c *collector) collect(key manifestKey, told *v1.Platform) error {
	m := c.all[key]
	switch {
	case absent(m.err):
		// A mirror may leave out what it does not need: the size is not known.
	case m.err != nil:
		return fmt.Errorf("manifest %s: %w", key.digest, m.err)
	case !m.image:
		return c.within(key, m.children)
	case told == nil:
		told = m.platform
	}
	if told == nil {
		return nil
	}
	called, err := architectureName(*told)
	if known := slices.ContainsFunc(c.found, func(a platform.Architecture) bool { return a.Name == called }); err == nil && called != "" && !known {
		c.found = append(c.found, platform.Architecture{Name: called, Size: m.size})
	}
	return err
}

func (c *collector) within(index manifestKey, children []v1.Descriptor) error {
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

// plainName is how the parts of a platform look, as far as they are known.
var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,31}$`)

// architectureName is the name of a platform's architecture, as
// platform.ArchitectureName spells it. It is "" for what runs nowhere.
func architectureName(p v1.Platform) (string, error) {
	for _, part := range []string{p.OS, p.Architecture, p.Variant} {
		if part != "" && !plainName.MatchString(part) {
			return "", fmt.Errorf("%.100q is no platform", p.String())
		}
	}
	spelled, variant := p.Architecture, withV(p.Variant)
	switch spelled + variant {
	case "", "unknown":
		return "", nil
	case "amd64v1", "arm64v8":
		variant = "" // goes without saying
	case "arm":
		variant = "v7"
	}
	spelled = platform.ArchitectureName(spelled + variant)
	if p.OS != "" && p.OS != "linux" {
		spelled = p.OS + "-" + spelled
	}
	return spelled, nil
}

// withV writes 7 as v7.
func withV(variant string) string {
	if variant != "" && variant[0] >= '0' && variant[0] <= '9' {
		return "v" + variant
	}
	return variant
}
