package registry

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// A Registry has the operations by which imports bring what is in a registry.
type Registry struct {
	core      *core.Core
	tables    Tables
	inventory *inventory.Area

	repos *core.Collection[*inventory.Repo, *inventory.RepoFilter]
	tags  *core.Collection[*inventory.Tag, *inventory.TagFilter]
}

// New returns the operations.
func New(c *core.Core, tables Tables, area *inventory.Area) *Registry {
	return &Registry{
		core: c, tables: tables, inventory: area,
		repos: core.NewCollection(c, &inventory.RepoKind, nil, tables.Repos), tags: core.NewCollection(c, &inventory.TagKind, nil, tables.Tags),
	}
}

// Tables has what imports read and write.
type Tables struct {
	Repos core.Table[*inventory.Repo, *inventory.RepoFilter]
	Tags  core.Table[*inventory.Tag, *inventory.TagFilter]

	Queries
}

// Queries read and write in other ways than a Table does.
type Queries interface {
	// Readmes reads the readmes of repos; missing repos are left out.
	Readmes(ctx context.Context, on core.Conn, keys core.Keys) ([]*inventory.Readme, error)

	// SetReadme replaces the readme of an existing repo.
	SetReadme(ctx context.Context, tx core.Tx, repo core.UID, content string) error

	// TagsOfSource reads the tags of a repo that were imported from a source.
	TagsOfSource(ctx context.Context, on core.Conn, from RepoSource) ([]*inventory.Tag, error)

	// RepoSources reads the sources of tags in the repos of a group that were
	// imported from a registry host.
	RepoSources(ctx context.Context, on core.Conn, group core.UID, registry string) ([]RepoSource, error)

	// ClaimTags sets the source of tags that still have their digests. It changes no update
	// times and records no events.
	ClaimTags(ctx context.Context, tx core.Tx, source string, tags []*inventory.Tag) error

	// LockTagsOfSource returns those of tags that still come from a source. They stay as they
	// are until the transaction ends.
	LockTagsOfSource(ctx context.Context, tx core.Tx, from RepoSource, tags []core.UID) ([]core.UID, error)

	// PutImages stores images, replacing those of the same repo and digest.
	PutImages(ctx context.Context, tx core.Tx, images []*inventory.Image) error

	// SBOMs reads the SBOMs of images.
	SBOMs(ctx context.Context, on core.Conn, keys []core.ImageKey) ([]*SBOM, error)

	// PutSBOMs stores SBOMs, replacing those of the same image and architecture.
	PutSBOMs(ctx context.Context, tx core.Tx, all []*SBOM) error

	// AddFindingTasks adds tasks for the findings of what was imported.
	AddFindingTasks(ctx context.Context, tx core.Tx, tasks []inventory.FindingTask) error
}
