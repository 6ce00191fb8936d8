package inventory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"atrium/platform/affected"
	"atrium/platform/core"
)

// packagesLock is the lock of the versions of the packages of an organization. Who adds versions
// ranks them among the others, and must see those.
func packagesLock(root core.UID) core.UID { return "packages:" + root }

// putPackages stores those packages and versions that are new, and ranks the versions of their packages.
func (area *Area) putPackages(ctx context.Context, tx core.Tx, versions []*PackageVersion) error {
	added, err := listNew(ctx, area.tables, tx, versions)
	if err != nil || len(added) == 0 {
		return err
	}
	var last core.UID
	for _, v := range added { // they are sorted, and so are their organizations
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
