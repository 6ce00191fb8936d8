package inventory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/ecosystem"
)

// An SBOM says which versions of packages an image holds for one architecture.
type SBOM struct {
	Repo         core.UID
	Digest       string
	Architecture string      // as ecosystem.ArchitectureName spells it; "" means all
	Format       string      // such as "SPDX 2.3"
	Components   []core.UID  // sorted
	Placements   []Placement // of the components; nil if the document says nothing of them
	CreateTime   core.Time
}

// An ImportedSBOM is an SBOM as an import has read it.
type ImportedSBOM struct {
	Repo         core.UID
	Digest       string
	Architecture string
	Format       string
	Packages     []InstalledPackage
}

// An InstalledPackage is a package of an image as a document describes it.
type InstalledPackage struct {
	Name, Version, Ecosystem, PURL string
	Licenses                       []string
	SourceName, SourceVersion      string // of the source package, if it has another name
	Supplier                       string
	Scope                          PackageScope
	Placement                      // with places in the list of packages
}

// maxSBOMPackages limits the packages of an image for one architecture.
const maxSBOMPackages = 50_000

// SBOMQueries read and write SBOMs in other ways than a Table does.
type SBOMQueries interface {
	// SBOMs reads the SBOMs of images.
	SBOMs(ctx context.Context, on core.Conn, keys ImageKeys) ([]*SBOM, error)

	// PutSBOMs stores SBOMs, replacing those of the same image and architecture.
	PutSBOMs(ctx context.Context, tx core.Tx, all []*SBOM) error
}

// ImportSBOMs stores what images hold, by repo, digest and architecture. It replaces what an
// earlier document has said.
func (s Images) ImportSBOMs(ctx context.Context, all []*ImportedSBOM) (core.Imported, error) {
	if err := core.RequireOperator(ctx); err != nil {
		return core.Imported{}, err
	}
	return importIntoRepos(func() (core.Imported, error) { return s.importSBOMsOnce(ctx, all) })
}

func (s Images) importSBOMsOnce(ctx context.Context, all []*ImportedSBOM) (core.Imported, error) {
	repos := make([]core.UID, len(all))
	for i, b := range all {
		repos[i] = b.Repo
	}
	exists, err := s.area.existingRepos(ctx, repos)
	if err != nil {
		return core.Imported{}, err
	}
	components, sources := map[*ImportedSBOM][]*Component{}, map[core.UID]*PackageVersion{}
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
				components[b] = b.components(sources, s.area.Now())
			}
		},
		Existing: func(ctx context.Context, tx core.Tx, rows []*ImportedSBOM) ([]*ImportedSBOM, error) {
			keys := make([]core.ImageKey, len(rows))
			for i, b := range rows {
				keys[i] = core.ImageKey{Repo: b.Repo, Digest: b.Digest}
			}
			found, err := s.area.tables.SBOMs(ctx, tx, ImageKeys{keys})
			known := make([]*ImportedSBOM, len(found))
			for i, b := range found {
				known[i] = &ImportedSBOM{Repo: b.Repo, Digest: b.Digest, Architecture: b.Architecture, Format: b.Format}
				stored[key{core.ImageKey{Repo: b.Repo, Digest: b.Digest}, b.Architecture}] = b
			}
			return known, err
		},
		IsUnchanged: func(known, b *ImportedSBOM) bool {
			uids, placements := b.contents(components[b])
			was := stored[key{core.ImageKey{Repo: b.Repo, Digest: b.Digest}, b.Architecture}]
			return known.Format == b.Format && slices.Equal(was.Components, uids) && reflect.DeepEqual(was.Placements, placements)
		},
		Insert: func(ctx context.Context, tx core.Tx, rows []*ImportedSBOM) error {
			var added []*Component
			sboms, tasks := make([]*SBOM, len(rows)), make([]FindingTask, len(rows))
			for i, b := range rows {
				added = append(added, components[b]...)
				uids, placements := b.contents(components[b])
				sboms[i] = &SBOM{Repo: b.Repo, Digest: b.Digest, Architecture: b.Architecture, Format: b.Format, Components: uids, Placements: placements, CreateTime: s.area.Now()}
				tasks[i] = FindingTask{Subject: b.Repo, Digest: b.Digest}
			}
			if err := s.area.putComponents(ctx, tx, added, sources); err != nil {
				return err
			}
			if err := s.area.tables.PutSBOMs(ctx, tx, sboms); err != nil {
				return err
			}
			return s.area.tables.AddFindingTasks(ctx, tx, tasks)
		},
	}
	return in.Run(ctx, s.area.Store, all)
}

// Check checks a document.
func (b *ImportedSBOM) Check(v *core.Violations) {
	b.Architecture = ecosystem.ArchitectureName(b.Architecture)
	v.CheckDigest(b.Digest)
	v.CheckLine("architecture", b.Architecture)
	v.CheckLine("format", b.Format)
	if len(b.Packages) > maxSBOMPackages {
		v.Add("packages", "must be at most %d", maxSBOMPackages)
		return
	}
	for i, p := range b.Packages {
		at := func(field string) string { return fmt.Sprintf("packages[%d].%s", i, field) }
		v.CheckRequiredLine(at("name"), p.Name)
		v.CheckFilter(at("version"), p.Version)
		v.CheckFilter(at("ecosystem"), p.Ecosystem)
		v.CheckLine(at("purl"), p.PURL)
		v.CheckFilter(at("sourceName"), p.SourceName)
		v.CheckFilter(at("sourceVersion"), p.SourceVersion)
		v.CheckLines(at("licenses"), p.Licenses, core.MaxLines)
		p.checkPlacement(v, at, len(b.Packages))
		if len(*v) > 0 {
			return // the first fault of a document says enough
		}
	}
}

// components returns the components of the document, and adds the versions of source packages.
func (b *ImportedSBOM) components(sources map[core.UID]*PackageVersion, now core.Time) []*Component {
	all := make([]*Component, len(b.Packages))
	for i, p := range b.Packages {
		var source *PackageVersion
		if all[i], source = newComponent(b.Repo.Root(), p, now); source != nil {
			sources[source.UID] = source
		}
	}
	return all
}

// uidsOf lists the UIDs of components, sorted, each once.
func uidsOf(components []*Component) []core.UID {
	uids := make([]core.UID, len(components))
	for i, c := range components {
		uids[i] = c.UID
	}
	slices.Sort(uids)
	return slices.Compact(uids)
}

// packagesLock is the lock of the versions of the packages of an organisation. Who adds versions
// ranks them among the others, and must see those.
func packagesLock(root core.UID) core.UID { return "packages:" + root }

// putPackages stores those packages and versions that are new, and ranks the versions of their packages.
func (area *Area) putPackages(ctx context.Context, tx core.Tx, versions []*PackageVersion) error {
	added, err := listNew(ctx, area.tables, tx, versions)
	if err != nil || len(added) == 0 {
		return err
	}
	var last core.UID
	for _, v := range added { // they are sorted, and so are their organisations
		if root := v.UID.Root(); root != last {
			tx.Lock(packagesLock(root))
			last = root
		}
	}
	// Another transaction may have stored some of them before the lock.
	if added, err = listNew(ctx, area.tables, tx, added); err != nil || len(added) == 0 {
		return err
	}
	packages := make([]core.UID, len(added))
	for i, v := range added {
		packages[i] = v.Package.UID
	}
	stored, err := area.tables.VersionsOfPackages(ctx, tx, slices.Compact(packages))
	if err != nil {
		return err
	}
	byPackage := map[core.UID][]*PackageVersion{}
	for _, v := range append(stored, added...) {
		byPackage[v.Package.UID] = append(byPackage[v.Package.UID], v)
	}
	var ranked []*PackageVersion
	for _, of := range slices.Compact(packages) {
		ranked = append(ranked, rank(byPackage[of])...)
	}
	if err := area.tables.InsertPackages(ctx, tx, added); err != nil {
		return err
	}
	return area.tables.SetRanks(ctx, tx, slices.DeleteFunc(ranked, func(v *PackageVersion) bool { return v.isNew }))
}

// listNew returns those of versions that are not stored, each once, sorted by UID.
func listNew(ctx context.Context, t PackageQueries, tx core.Tx, versions []*PackageVersion) ([]*PackageVersion, error) {
	if len(versions) == 0 {
		return nil, nil
	}
	byUID := make(map[core.UID]*PackageVersion, len(versions))
	for _, v := range versions {
		byUID[v.UID] = v
	}
	stored, err := t.StoredVersions(ctx, tx, slices.Sorted(maps.Keys(byUID)))
	for _, uid := range stored {
		delete(byUID, uid)
	}
	added := slices.SortedFunc(maps.Values(byUID), func(a, b *PackageVersion) int { return core.CompareTexts(a.UID, b.UID) })
	for _, v := range added {
		v.isNew = true
	}
	return added, err
}

// rank sets the ranks of all versions of a package, and returns those that have changed. A
// version that the ecosystem cannot compare comes first, and such versions are sorted as texts.
func rank(versions []*PackageVersion) (changed []*PackageVersion) {
	slices.SortFunc(versions, func(a, b *PackageVersion) int {
		order, err := affected.Compare(a.Package.Ecosystem, a.Version, b.Version)
		if err != nil {
			order = 0
		}
		return cmp.Or(order, cmp.Compare(a.Version, b.Version))
	})
	for i, v := range versions {
		if rank := fmt.Sprintf("%08d", i); v.Rank != rank {
			v.Rank = rank
			changed = append(changed, v)
		}
	}
	return changed
}
