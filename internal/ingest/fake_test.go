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

	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/registry"
)

// A fakeCore keeps the imported records. Like the real core, it counts an existing record
// as unchanged or updated. It can reject one key; this stands for any rule.
type fakeCore struct {
	mu              sync.Mutex
	repos           map[string]*registry.ImportedRepo
	tags            map[string]*registry.ImportedTag
	images          map[string]*inventory.Image
	advisories      map[string]*inventory.Advisory
	vulnerabilities map[string]*inventory.Vulnerability
	artifacts       map[string]*libraries.ImportedArtifact
	sboms           map[string]*registry.ImportedSBOM // by repo, digest and architecture
	exploitations   map[string]*inventory.Exploitation
	batches         []int
	rejected        string // Records with this key are rejected.
	err             error  // Every call returns this error.
}

func newFakeCore() *fakeCore {
	return &fakeCore{
		repos: map[string]*registry.ImportedRepo{}, tags: map[string]*registry.ImportedTag{}, images: map[string]*inventory.Image{},
		advisories: map[string]*inventory.Advisory{}, vulnerabilities: map[string]*inventory.Vulnerability{},
		artifacts: map[string]*libraries.ImportedArtifact{}, sboms: map[string]*registry.ImportedSBOM{},
		exploitations: map[string]*inventory.Exploitation{},
	}
}

func put[T any](c *fakeCore, to map[string]*T, rows []*T, key func(*T) string) (core.Imported, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := core.Imported{Rejected: map[int]error{}}
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
	uid := func(name string) core.UID { return core.UID("uid of " + name) }
	return destination{
		countUntagged: func(context.Context, []core.ImageKey) (int, error) { return 0, nil },
		repos: func(_ context.Context, rows []*registry.ImportedRepo) (core.Imported, error) {
			for _, r := range rows {
				r.UID = uid(r.Name)
			}
			return put(c, c.repos, rows, func(r *registry.ImportedRepo) string { return r.Name })
		},
		tags: func(_ context.Context, rows []*registry.ImportedTag) (core.Imported, error) {
			return put(c, c.tags, rows, func(t *registry.ImportedTag) string { return string(t.Repo) + ":" + t.Name })
		},
		images: func(_ context.Context, rows []*inventory.Image) (core.Imported, error) {
			return put(c, c.images, rows, func(i *inventory.Image) string { return string(i.Repo) + "@" + i.Digest })
		},
		advisories: func(_ context.Context, records []*feeds.AdvisoryRecord) (core.Imported, error) {
			var rows []*inventory.Advisory
			var of []int
			for i, r := range records {
				for _, a := range r.Advisories {
					rows, of = append(rows, a), append(of, i)
				}
			}
			done, err := put(c, c.advisories, rows, func(a *inventory.Advisory) string {
				return strings.TrimSpace(a.AdvisoryID + " " + a.ArtifactName + " " + a.ArtifactType)
			})
			rejected := map[int]error{}
			for i, reason := range done.Rejected {
				rejected[of[i]] = reason
			}
			done.Rejected = rejected
			return done, err
		},
		vulnerabilities: func(_ context.Context, rows []*inventory.Vulnerability) (core.Imported, error) {
			return put(c, c.vulnerabilities, rows, func(v *inventory.Vulnerability) string { return v.ID })
		},
		artifacts: func(_ context.Context, rows []*libraries.ImportedArtifact) (done, versions core.Imported, err error) {
			for _, a := range rows {
				versions.Added += len(a.Versions)
			}
			done, err = put(c, c.artifacts, rows, func(a *libraries.ImportedArtifact) string { return string(a.Ecosystem) + " " + a.Name })
			return done, versions, err
		},
		sboms: func(_ context.Context, rows []*registry.ImportedSBOM) (core.Imported, error) {
			return put(c, c.sboms, rows, func(b *registry.ImportedSBOM) string {
				return strings.TrimSpace(string(b.Repo) + "@" + b.Digest + " " + b.Architecture)
			})
		},
		exploitations: func(_ context.Context, of feeds.Catalog, rows []*inventory.Exploitation) (core.Imported, error) {
			return put(c, c.exploitations, rows, func(e *inventory.Exploitation) string { return e.ID })
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
		makeRepo: func(_ context.Context, _ core.UID, name string) (core.UID, error) {
			c.repos[name] = &registry.ImportedRepo{Repo: inventory.Repo{Name: name, UID: uid(name)}}
			return uid(name), nil
		},
		setTag: func(_ context.Context, tag inventory.TagName, digest string) (changed, isNew bool, err error) {
			key := string(tag.Repo) + ":" + tag.Name
			isNew = c.tags[key] == nil
			c.tags[key] = &registry.ImportedTag{Repo: tag.Repo, Tag: inventory.Tag{Name: tag.Name, Digest: digest}}
			return true, isNew, nil
		},
		findRepo: func(_ context.Context, name string) (core.UID, error) {
			if c.repos[name] == nil {
				return "", nil
			}
			return uid(name), nil
		},
		getImages: func(_ context.Context, keys []core.ImageKey) ([]*inventory.Image, error) {
			images := make([]*inventory.Image, len(keys))
			for i, k := range keys {
				images[i] = c.images[string(k.Repo)+"@"+k.Digest]
			}
			return images, nil
		},
		listSources: func(_ context.Context, host string) (found []registry.RepoSource, err error) {
			for _, t := range c.tags {
				from := registry.RepoSource{Repo: t.Repo, Source: t.Source}
				if strings.HasPrefix(t.Source, host+"/") && !slices.Contains(found, from) {
					found = append(found, from)
				}
			}
			return found, nil
		},
		pruneTags: func(_ context.Context, from registry.RepoSource, keep []string) (removed int, err error) {
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
