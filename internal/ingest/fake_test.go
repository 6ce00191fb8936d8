package ingest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"atrium/platform"
)

// A fakeCore keeps the imported records. Like the real core, it counts an existing record
// as unchanged or updated. It can reject one key; this stands for any rule.
type fakeCore struct {
	mu              sync.Mutex
	repos           map[string]*platform.ImportedRepo
	tags            map[string]*platform.ImportedTag
	images          map[string]*platform.Image
	advisories      map[string]*platform.Advisory
	vulnerabilities map[string]*platform.Vulnerability
	artifacts       map[string]*platform.ImportedArtifact
	sboms           map[string]*platform.ImportedSBOM // by repo, digest and architecture
	exploitations   map[string]*platform.Exploitation
	batches         []int
	rejected        string // Records with this key are rejected.
	err             error  // Every call returns this error.
}

func newFakeCore() *fakeCore {
	return &fakeCore{
		repos: map[string]*platform.ImportedRepo{}, tags: map[string]*platform.ImportedTag{}, images: map[string]*platform.Image{},
		advisories: map[string]*platform.Advisory{}, vulnerabilities: map[string]*platform.Vulnerability{},
		artifacts: map[string]*platform.ImportedArtifact{}, sboms: map[string]*platform.ImportedSBOM{},
		exploitations: map[string]*platform.Exploitation{},
	}
}

func put[T any](c *fakeCore, to map[string]*T, rows []*T, key func(*T) string) (platform.Imported, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := platform.Imported{Rejected: map[int]error{}}
	c.batches = append(c.batches, len(rows))
	twice := map[string]bool{}
	for i, row := range rows {
		k := key(row)
		switch old := to[k]; {
		case k == c.rejected || twice[k]:
			done.Rejected[i] = errors.New("is rejected")
			continue
		case old == nil:
			done.Added++
		case reflect.DeepEqual(old, row):
			done.Unchanged++
		default:
			done.Updated++
		}
		to[k], twice[k] = row, true
	}
	return done, c.err
}

func (c *fakeCore) destination() destination {
	uid := func(name string) platform.UID { return platform.UID("uid of " + name) }
	return destination{
		countUntagged: func(context.Context, []platform.ImageKey) (int, error) { return 0, nil },
		repos: func(_ context.Context, rows []*platform.ImportedRepo) (platform.Imported, error) {
			for _, r := range rows {
				r.UID = uid(r.Name)
			}
			return put(c, c.repos, rows, func(r *platform.ImportedRepo) string { return r.Name })
		},
		tags: func(_ context.Context, rows []*platform.ImportedTag) (platform.Imported, error) {
			return put(c, c.tags, rows, func(t *platform.ImportedTag) string { return string(t.Repo) + ":" + t.Name })
		},
		images: func(_ context.Context, rows []*platform.Image) (platform.Imported, error) {
			return put(c, c.images, rows, func(i *platform.Image) string { return string(i.Repo) + "@" + i.Digest })
		},
		advisories: func(_ context.Context, rows []*platform.Advisory) (platform.Imported, error) {
			return put(c, c.advisories, rows, func(a *platform.Advisory) string {
				return strings.TrimSpace(a.AdvisoryID + " " + a.ArtifactName + " " + a.ArtifactType)
			})
		},
		vulnerabilities: func(_ context.Context, rows []*platform.Vulnerability) (platform.Imported, error) {
			return put(c, c.vulnerabilities, rows, func(v *platform.Vulnerability) string { return v.ID })
		},
		artifacts: func(_ context.Context, rows []*platform.ImportedArtifact) (done, versions platform.Imported, err error) {
			for _, a := range rows {
				versions.Added += len(a.Versions)
			}
			done, err = put(c, c.artifacts, rows, func(a *platform.ImportedArtifact) string { return string(a.Ecosystem) + " " + a.Name })
			return done, versions, err
		},
		sboms: func(_ context.Context, rows []*platform.ImportedSBOM) (platform.Imported, error) {
			return put(c, c.sboms, rows, func(b *platform.ImportedSBOM) string {
				return strings.TrimSpace(string(b.Repo) + "@" + b.Digest + " " + b.Architecture)
			})
		},
		exploitations: func(_ context.Context, of platform.Catalogue, rows []*platform.Exploitation) (platform.Imported, error) {
			return put(c, c.exploitations, rows, func(e *platform.Exploitation) string { return e.ID })
		},
		keepKnownExploited: func(_ context.Context, ids []string) (removed int, err error) {
			for id := range c.exploitations {
				if !slices.Contains(ids, id) {
					delete(c.exploitations, id)
					removed++
				}
			}
			return removed, nil
		},
		findRepoOfPath: func(_ context.Context, path string) (platform.UID, error) {
			if c.repos[path] == nil {
				return "", errors.New("not found")
			}
			return uid(path), nil
		},
		findRepo: func(_ context.Context, name string) (platform.UID, error) {
			if c.repos[name] == nil {
				return "", nil
			}
			return uid(name), nil
		},
		getImages: func(_ context.Context, keys []platform.ImageKey) ([]*platform.Image, error) {
			images := make([]*platform.Image, len(keys))
			for i, k := range keys {
				images[i] = c.images[string(k.Repo)+"@"+k.Digest]
			}
			return images, nil
		},
		listSources: func(_ context.Context, registry string) (found []platform.RepoSource, err error) {
			for _, t := range c.tags {
				from := platform.RepoSource{Repo: t.Repo, Source: t.Source}
				if strings.HasPrefix(t.Source, registry+"/") && !slices.Contains(found, from) {
					found = append(found, from)
				}
			}
			return found, nil
		},
		pruneTags: func(_ context.Context, from platform.RepoSource, keep []string) (removed int, err error) {
			for key, t := range c.tags {
				if t.Repo == from.Repo && t.Source == from.Source && !slices.Contains(keep, t.Name) {
					delete(c.tags, key)
					removed++
				}
			}
			return removed, nil
		},
	}
}

// reports collects the problems that an import reports.
type reports []string

func (r *reports) options() Options {
	return Options{ReportProblem: func(at Place, reason error) { *r = append(*r, fmt.Sprintf("%s: %v", at, reason)) }}
}

func (r reports) check(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(r, want) {
		t.Errorf("reported\n%q\nwant\n%q", []string(r), want)
	}
}

func checkKinds(t *testing.T, got Summary, want ...KindCounts) {
	t.Helper()
	if !slices.Equal(got.Kinds, want) {
		t.Errorf("imported %+v, want %+v", got.Kinds, want)
	}
}

func keysOf[T any](m map[string]*T) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
