package reports

import (
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// ImageComparisons compare images.
type ImageComparisons struct{ area *Area }

// An ImageComparison is what differs between two images.
type ImageComparison struct {
	From, To *inventory.Image

	added, removed []*inventory.ImagePackage
	changed        []PackageChange
	gone, new      []*inventory.Finding
}

// maxCompared limits the entries of each list of a comparison.
const maxCompared = 1000

func firstCompared[T any](all []T) []T { return all[:min(len(all), maxCompared)] }

// Added lists the first packages that only To holds.
func (c *ImageComparison) Added() []*inventory.ImagePackage { return firstCompared(c.added) }

// AddedCount returns the number of packages that only To holds.
func (c *ImageComparison) AddedCount() int { return len(c.added) }

// Removed lists the first packages that only From holds.
func (c *ImageComparison) Removed() []*inventory.ImagePackage { return firstCompared(c.removed) }

// RemovedCount returns the number of packages that only From holds.
func (c *ImageComparison) RemovedCount() int { return len(c.removed) }

// Changed lists the first packages of which both hold different versions.
func (c *ImageComparison) Changed() []PackageChange { return firstCompared(c.changed) }

// ChangedCount returns the number of packages of which both hold different versions.
func (c *ImageComparison) ChangedCount() int { return len(c.changed) }

// FindingsGone lists the first findings that only From has, the worst first.
func (c *ImageComparison) FindingsGone() []*inventory.Finding { return firstCompared(c.gone) }

// FindingsGoneCount returns the number of findings that only From has.
func (c *ImageComparison) FindingsGoneCount() int { return len(c.gone) }

// FindingsNew lists the first findings that only To has, the worst first.
func (c *ImageComparison) FindingsNew() []*inventory.Finding { return firstCompared(c.new) }

// FindingsNewCount returns the number of findings that only To has.
func (c *ImageComparison) FindingsNewCount() int { return len(c.new) }

// A PackageChange is a package of which two images hold different versions.
type PackageChange struct {
	Name, Ecosystem string
	Package         *inventory.Package
	From, To        []string // the versions, sorted as the ecosystem does
}

// Compare finds out what differs between two images: their packages, and the findings that are not resolved.
// A finding of the same advisory on the same package is the same, whatever its version.
func (s ImageComparisons) Compare(ctx context.Context, from, to core.ImageKey) (*ImageComparison, error) {
	keys := []core.ImageKey{from, to}
	images, errs := s.area.inventory.Images.Describe(ctx, keys)
	contents, failed := s.area.inventory.Images.Contents(ctx, keys)
	for _, err := range slices.Concat(errs, failed) {
		if err != nil {
			return nil, err
		}
	}
	c := &ImageComparison{From: images[0], To: images[1]}
	c.comparePackages(contents[0], contents[1])
	findings, err := s.area.inventory.Findings.ListUnresolved(ctx, keys)
	if err != nil {
		return nil, err
	}
	c.gone, c.new = findingsWithout(findings[0], findings[1]), findingsWithout(findings[1], findings[0])
	return c, nil
}

// comparePackages compares what two images hold, by package.
func (c *ImageComparison) comparePackages(from, to *inventory.ImageContent) {
	before, after := byPackage(from), byPackage(to)
	for _, p := range packageKeys(from) {
		was, is := before[p], after[p]
		if len(is) == 0 {
			c.removed = append(c.removed, was...)
		} else if x, y := versionsOf(was), versionsOf(is); !slices.Equal(x, y) {
			c.changed = append(c.changed, PackageChange{was[0].Name(), was[0].Ecosystem(), &was[0].Package, x, y})
		}
	}
	for _, p := range packageKeys(to) {
		if len(before[p]) == 0 {
			c.added = append(c.added, after[p]...)
		}
	}
}

// A packageKey identifies a package in every organization.
type packageKey struct{ ecosystem, name string }

func byPackage(c *inventory.ImageContent) map[packageKey][]*inventory.ImagePackage {
	all := map[packageKey][]*inventory.ImagePackage{}
	for i := range c.Packages {
		p := &c.Packages[i]
		key := packageKey{p.Ecosystem(), p.Package.NormalName()}
		all[key] = append(all[key], p)
	}
	return all
}

// packageKeys lists the packages, each once, in the order of the content.
func packageKeys(c *inventory.ImageContent) (keys []packageKey) {
	seen := map[packageKey]bool{}
	for i := range c.Packages {
		key := packageKey{c.Packages[i].Ecosystem(), c.Packages[i].Package.NormalName()}
		if !seen[key] {
			seen[key], keys = true, append(keys, key)
		}
	}
	return keys
}

func versionsOf(packages []*inventory.ImagePackage) []string {
	versions := make([]string, len(packages))
	for i, p := range packages {
		versions[i] = p.Version
	}
	return slices.Compact(versions)
}

// findingsWithout returns the findings to which none of others corresponds.
func findingsWithout(all, others []*inventory.Finding) (left []*inventory.Finding) {
	type key struct{ vulnerability, ecosystem, name string }
	of := func(f *inventory.Finding) key { return key{f.VulnerabilityID, f.Ecosystem, f.Package} }
	known := map[key]bool{}
	for _, f := range others {
		known[of(f)] = true
	}
	for _, f := range all {
		if !known[of(f)] {
			left = append(left, f)
		}
	}
	return left
}
