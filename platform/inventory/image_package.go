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
	return core.ReadOnce(images, func(images []core.ImageKey) ([]*ImageContent, []error) {
		contents, errs := make([]*ImageContent, len(images)), make([]error, len(images))
		var readable []core.ImageKey
		for i, key := range images {
			if errs[i] = s.checkReadable(ctx, key); errs[i] == nil {
				readable = append(readable, key)
			}
		}
		if len(readable) == 0 {
			return contents, errs
		}
		found, err := s.area.tables.ImagePackages(ctx, s.area.Store, ImageKeys{readable})
		for i := range images {
			switch {
			case errs[i] != nil:
			case err != nil:
				errs[i] = core.InArea(core.AreaRegistry, err)
			default:
				contents[i], found = found[0], found[1:]
			}
		}
		return contents, errs
	})
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
