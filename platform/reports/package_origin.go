package reports

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// A HeldVersion is a version of a package in an image.
type HeldVersion struct {
	core.ImageKey
	Version core.UID
}

// OriginQueries read where packages come from.
type OriginQueries interface {
	// Origins finds out where versions of packages come from in images, in their order, with one statement, and with two more if documents
	// say it. The origin of a source package is that of what was built of it.
	Origins(ctx context.Context, on core.Conn, of []HeldVersion) ([]inventory.PackageOrigin, error)
}

// PackageOrigins tell where the packages of findings come from.
type PackageOrigins struct{ area *Area }

// Read tells, for each version in an image, where it comes from, with the same reads for all. Callers need what they need for
// the packages of the image. The results are in the order of the versions; each has an origin or an error.
func (s PackageOrigins) Read(ctx context.Context, of []HeldVersion) ([]inventory.PackageOrigin, []error) {
	origins, errs := make([]inventory.PackageOrigin, len(of)), make([]error, len(of))
	var readable []HeldVersion
	var places []int
	for i, h := range of {
		if _, err := core.Require(ctx, h.Repo, core.CapRepoList, core.CapManifestMetadataList); err != nil {
			errs[i] = core.InArea(core.AreaRegistry, err)
		} else if h.Version != "" {
			readable, places = append(readable, h), append(places, i)
		}
	}
	if len(readable) == 0 {
		return origins, errs
	}
	found, err := s.area.tables.Origins(ctx, s.area.Store, readable)
	for n, i := range places {
		if err != nil {
			errs[i] = core.InArea(core.AreaRegistry, err)
			continue
		}
		origins[i] = found[n]
	}
	return origins, errs
}
