package inventory

import (
	"context"
	"slices"
	"strings"

	"atrium/platform/core"
)

// Name returns the name of the package.
func (p *ImagePackage) Name() string { return p.Package.Name }

// Ecosystem returns the ecosystem of the package; "" if it is not known.
func (p *ImagePackage) Ecosystem() string { return p.Package.Ecosystem }

// An imagePackageFilter restricts a list of the packages of an image.
type imagePackageFilter struct {
	PackageFilter
	Digest string // page tokens belong to the image
}

// matches reports whether a package meets the conditions. The function fold makes texts comparable.
func (f *imagePackageFilter) matches(p *Package, fold func(string) string) bool {
	isOf := func(ecosystem string) bool {
		return p.Ecosystem == ecosystem || !strings.Contains(ecosystem, ":") && strings.HasPrefix(p.Ecosystem, ecosystem+":")
	}
	isNamed := func(name string) bool {
		return (&Package{Name: name, Ecosystem: p.Ecosystem}).NormalName() == p.NormalName()
	}
	text := fold(core.SearchText(p.Name))
	lacks := func(word string) bool { return !strings.Contains(text, word) }
	return (f.Ecosystems == nil || slices.ContainsFunc(f.Ecosystems, isOf)) && (f.Names == nil || slices.ContainsFunc(f.Names, isNamed)) &&
		!slices.ContainsFunc(core.SearchWords(fold(f.Query)), lacks)
}

// Contents reads what images hold, with one read and one for the versions.
func (s Images) Contents(ctx context.Context, images []core.ImageKey) ([]*ImageContent, []error) {
	contents, errs := make([]*ImageContent, len(images)), make([]error, len(images))
	var readable []core.ImageKey // each once
	at, indices := map[core.ImageKey]int{}, make([]int, len(images))
	for i, key := range images {
		if errs[i] = s.checkReadable(ctx, key); errs[i] != nil {
			continue
		}
		n, known := at[key]
		if !known {
			n = len(readable)
			at[key], readable = n, append(readable, key)
		}
		indices[i] = n
	}
	if len(readable) == 0 {
		return contents, errs
	}
	found, err := s.area.tables.ImagePackages(ctx, s.area.Store, ImageKeys{readable})
	for i := range images {
		if errs[i] == nil {
			errs[i] = core.InArea(core.AreaRegistry, err)
		}
		if errs[i] == nil {
			contents[i] = found[indices[i]]
		}
	}
	return contents, errs
}

// ListPackages reads, for each image, a page of its packages, with the reads of Contents.
func (s Images) ListPackages(ctx context.Context, req core.ListRequest[*PackageFilter], images []core.ImageKey) ([]core.Page[*ImagePackage], []error) {
	of := &core.Collection[*ImagePackage, *imagePackageFilter]{Core: s.area.Core, Kind: &imagePackageKind}
	pages := make([]core.Page[*ImagePackage], len(images))
	contents, errs := s.Contents(ctx, images)
	for i, content := range contents {
		own := core.ListRequest[*imagePackageFilter]{
			UIDP: core.UIDFilter{ChildrenOf: images[i].Repo}, Filter: &imagePackageFilter{*core.FillFilter(req.Filter), images[i].Digest}, PageSize: req.PageSize, Empty: req.Empty,
			PageToken: req.PageToken, OrderBy: req.OrderBy, Skip: req.Skip, Backward: req.Backward, Parts: req.Parts, Malformed: req.Malformed,
		}
		q, err := of.BuildQuery(ctx, own)
		if errs[i] == nil {
			errs[i] = of.Kind.AddArea(err)
		}
		if errs[i] != nil {
			continue
		}
		var all []*ImagePackage
		for n := range content.Packages {
			p := &content.Packages[n]
			if p.place = n; !core.MatchesNothing(q.Filter) && q.Filter.matches(&p.Package, s.area.Store.FoldText) {
				all = append(all, p)
			}
		}
		pages[i] = of.NewPage(own, q, core.PageOf(of.Kind, q, all))
	}
	return pages, errs
}

// An ImageComparison is what differs between two images.
type ImageComparison struct {
	From, To *Image

	added, removed []*ImagePackage
	changed        []PackageChange
	gone, new      []*Finding
}

// maxCompared limits the entries of each list of a comparison.
const maxCompared = 1000

func firstCompared[T any](all []T) []T { return all[:min(len(all), maxCompared)] }

// Added lists the first packages that only To holds.
func (c *ImageComparison) Added() []*ImagePackage { return firstCompared(c.added) }

// AddedCount returns the number of packages that only To holds.
func (c *ImageComparison) AddedCount() int { return len(c.added) }

// Removed lists the first packages that only From holds.
func (c *ImageComparison) Removed() []*ImagePackage { return firstCompared(c.removed) }

// RemovedCount returns the number of packages that only From holds.
func (c *ImageComparison) RemovedCount() int { return len(c.removed) }

// Changed lists the first packages of which both hold different versions.
func (c *ImageComparison) Changed() []PackageChange { return firstCompared(c.changed) }

// ChangedCount returns the number of packages of which both hold different versions.
func (c *ImageComparison) ChangedCount() int { return len(c.changed) }

// FindingsGone lists the first findings that only From has, the worst first.
func (c *ImageComparison) FindingsGone() []*Finding { return firstCompared(c.gone) }

// FindingsGoneCount returns the number of findings that only From has.
func (c *ImageComparison) FindingsGoneCount() int { return len(c.gone) }

// FindingsNew lists the first findings that only To has, the worst first.
func (c *ImageComparison) FindingsNew() []*Finding { return firstCompared(c.new) }

// FindingsNewCount returns the number of findings that only To has.
func (c *ImageComparison) FindingsNewCount() int { return len(c.new) }

// A PackageChange is a package of which two images hold different versions.
type PackageChange struct {
	Name, Ecosystem string
	From, To        []string // the versions, sorted as the ecosystem does
}

// Compare finds out what differs between two images: their packages, and the findings that are not resolved.
// A finding of the same advisory on the same package is the same, whatever its version.
func (s Images) Compare(ctx context.Context, from, to core.ImageKey) (*ImageComparison, error) {
	keys := []core.ImageKey{from, to}
	images, errs := s.Describe(ctx, keys)
	contents, failed := s.Contents(ctx, keys)
	for _, err := range slices.Concat(errs, failed) {
		if err != nil {
			return nil, err
		}
	}
	c := &ImageComparison{From: images[0], To: images[1]}
	c.comparePackages(contents[0], contents[1])
	findings, err := s.area.Findings.ofImages(ctx, keys)
	if err != nil {
		return nil, err
	}
	c.gone, c.new = findingsWithout(findings[0], findings[1]), findingsWithout(findings[1], findings[0])
	return c, nil
}

// comparePackages compares what two images hold, by package.
func (c *ImageComparison) comparePackages(from, to *ImageContent) {
	before, after := from.byPackage(), to.byPackage()
	for _, p := range from.packageUIDs() {
		was, is := before[p], after[p]
		if len(is) == 0 {
			c.removed = append(c.removed, was...)
		} else if x, y := versionsOf(was), versionsOf(is); !slices.Equal(x, y) {
			c.changed = append(c.changed, PackageChange{was[0].Name(), was[0].Ecosystem(), x, y})
		}
	}
	for _, p := range to.packageUIDs() {
		if len(before[p]) == 0 {
			c.added = append(c.added, after[p]...)
		}
	}
}

// A packageKey identifies a package in every organisation.
type packageKey struct{ ecosystem, name string }

func (c *ImageContent) byPackage() map[packageKey][]*ImagePackage {
	all := map[packageKey][]*ImagePackage{}
	for i := range c.Packages {
		p := &c.Packages[i]
		key := packageKey{p.Ecosystem(), p.Package.NormalName()}
		all[key] = append(all[key], p)
	}
	return all
}

// packageUIDs lists the packages, each once, in the order of the content.
func (c *ImageContent) packageUIDs() (keys []packageKey) {
	seen := map[packageKey]bool{}
	for i := range c.Packages {
		key := packageKey{c.Packages[i].Ecosystem(), c.Packages[i].Package.NormalName()}
		if !seen[key] {
			seen[key], keys = true, append(keys, key)
		}
	}
	return keys
}

func versionsOf(packages []*ImagePackage) []string {
	versions := make([]string, len(packages))
	for i, p := range packages {
		versions[i] = p.Version
	}
	return slices.Compact(versions)
}

// findingsWithout returns the findings to which none of others corresponds.
func findingsWithout(all, others []*Finding) (left []*Finding) {
	type key struct{ vulnerability, ecosystem, name string }
	of := func(f *Finding) key { return key{f.VulnerabilityID, f.Ecosystem, f.Package} }
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
