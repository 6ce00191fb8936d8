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
	check := func(h HeldVersion) error {
		_, err := core.Require(ctx, h.Repo, core.CapRepoList, core.CapManifestMetadataList)
		return core.InArea(core.AreaRegistry, err)
	}
	return core.ReadPermitted(of, check, func(of []HeldVersion) ([]inventory.PackageOrigin, error) {
		found, err := s.area.tables.Origins(ctx, s.area.Store, of)
		return found, core.InArea(core.AreaRegistry, err)
	})
}
