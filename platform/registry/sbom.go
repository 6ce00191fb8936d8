package registry

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/inventory"
)

// An SBOM says which versions of packages an image holds for one architecture.
type SBOM struct {
	Repo         core.UID
	Digest       string
	Architecture string                // as ecosystem.ArchitectureName spells it; "" means all
	Format       string                // such as "SPDX 2.3"
	Components   []core.UID            // sorted
	Placements   []inventory.Placement // of the components; nil if the document says nothing of them
	CreateTime   core.Time
}

// An ImportedSBOM is an SBOM as an import has read it.
type ImportedSBOM struct {
	Repo         core.UID
	Digest       string
	Architecture string
	Format       string
	Packages     []inventory.InstalledPackage
}

// maxSBOMPackages limits the packages of an image for one architecture.
const maxSBOMPackages = 50_000

// AuthorizeImport fails unless the caller has the capabilities on a group or a repo, and it exists. It is for callers who have not
// sent yet what they want to import. A refusal is recorded.
func (s *Registry) AuthorizeImport(ctx context.Context, on core.UID, needed ...core.Capability) error {
	if err := core.InvalidUID("group", on); err != nil {
		return err
	}
	if _, err := core.Require(ctx, on, needed...); err != nil {
		return s.repos.RecordIfDenied(ctx, "updated", on, err)
	}
	exists, err := s.core.Store.Exists(ctx, on)
	if err == nil && !exists {
		err = core.NewNotFound(core.GroupRef, on)
	}
	return err
}

// ImportSBOMs stores what images hold, by repo, digest and architecture. It replaces what an
// earlier document has said.
func (s *Registry) ImportSBOMs(ctx context.Context, all []*ImportedSBOM) (core.Imported, error) {
	if err := requireImportInto(ctx, core.CapSBOMsImport, all, func(b *ImportedSBOM) core.UID { return b.Repo }); err != nil {
		return core.Imported{}, err
	}
	return importIntoRepos(func() (core.Imported, error) { return s.importSBOMsOnce(ctx, all) })
}

func (s *Registry) importSBOMsOnce(ctx context.Context, all []*ImportedSBOM) (core.Imported, error) {
	repos := make([]core.UID, len(all))
	for i, b := range all {
		repos[i] = b.Repo
	}
	exists, err := s.inventory.FindRepos(ctx, repos)
	if err != nil {
		return core.Imported{}, err
	}
	components, sources := map[*ImportedSBOM][]*inventory.Component{}, map[core.UID]*inventory.PackageVersion{}
	type key struct {
		image        core.ImageKey
		architecture string
	}
	stored := map[key]*SBOM{}
	in := core.ImportPlan[*ImportedSBOM, key]{
		Key: func(b *ImportedSBOM) key { return key{core.ImageKey{Repo: b.Repo, Digest: b.Digest}, b.Architecture} },
		Check: func(b *ImportedSBOM, v *core.Violations) {
			checkRepoName(v, b.Repo, exists)
			if b.Check(v); len(*v) == 0 {
				components[b] = b.components(sources, s.core.Now())
			}
		},
		Existing: func(ctx context.Context, tx core.Tx, rows []*ImportedSBOM) ([]*ImportedSBOM, error) {
			keys := make([]core.ImageKey, len(rows))
			for i, b := range rows {
				keys[i] = core.ImageKey{Repo: b.Repo, Digest: b.Digest}
			}
			found, err := s.tables.SBOMs(ctx, tx, keys)
			known := make([]*ImportedSBOM, len(found))
			for i, b := range found {
				known[i] = &ImportedSBOM{Repo: b.Repo, Digest: b.Digest, Architecture: b.Architecture, Format: b.Format}
				stored[key{core.ImageKey{Repo: b.Repo, Digest: b.Digest}, b.Architecture}] = b
			}
			return known, err
		},
		IsUnchanged: func(known, b *ImportedSBOM) bool {
			uids, placements := inventory.PlaceComponents(components[b], b.Packages)
			was := stored[key{core.ImageKey{Repo: b.Repo, Digest: b.Digest}, b.Architecture}]
			return known.Format == b.Format && slices.Equal(was.Components, uids) && reflect.DeepEqual(was.Placements, placements)
		},
		Insert: func(ctx context.Context, tx core.Tx, rows []*ImportedSBOM) error {
			var added []*inventory.Component
			sboms, tasks := make([]*SBOM, len(rows)), make([]inventory.FindingTask, len(rows))
			for i, b := range rows {
				added = append(added, components[b]...)
				uids, placements := inventory.PlaceComponents(components[b], b.Packages)
				sboms[i] = &SBOM{Repo: b.Repo, Digest: b.Digest, Architecture: b.Architecture, Format: b.Format, Components: uids, Placements: placements, CreateTime: s.core.Now()}
				tasks[i] = inventory.FindingTask{Subject: b.Repo, Digest: b.Digest}
			}
			if err := s.inventory.PutComponents(ctx, tx, added, sources); err != nil {
				return err
			}
			if err := s.tables.PutSBOMs(ctx, tx, sboms); err != nil {
				return err
			}
			return s.tables.AddFindingTasks(ctx, tx, tasks)
		},
	}
	return in.Run(ctx, s.core.Store, all)
}

// Check checks a document.
func (b *ImportedSBOM) Check(v *core.Violations) {
	b.Architecture = ecosystem.ArchitectureName(b.Architecture)
	v.CheckDigest(b.Digest)
	v.CheckLine("architecture", b.Architecture)
	v.CheckLine("format", b.Format)
	if len(b.Packages) > maxSBOMPackages {
		v.Add("packages", "must have at most %d items", maxSBOMPackages)
		return
	}
	for i, p := range b.Packages {
		at := func(field string) string { return fmt.Sprintf("packages[%d].%s", i, field) }
		if p.Check(v, at, len(b.Packages)); len(*v) > 0 {
			return // the first fault of a document says enough
		}
	}
}

// components returns the components of the document, and adds the versions of source packages.
func (b *ImportedSBOM) components(sources map[core.UID]*inventory.PackageVersion, now core.Time) []*inventory.Component {
	all := make([]*inventory.Component, len(b.Packages))
	for i, p := range b.Packages {
		var source *inventory.PackageVersion
		if all[i], source = inventory.NewComponent(b.Repo.Root(), p, now); source != nil {
			sources[source.UID] = source
		}
	}
	return all
}
