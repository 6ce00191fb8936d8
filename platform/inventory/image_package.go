package inventory

import (
	"context"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
)

// Name returns the name of the package.
func (p *ImagePackage) Name() string { return p.Package.Name }

// Ecosystem returns the ecosystem of the package; "" if it is not known.
func (p *ImagePackage) Ecosystem() string { return p.Package.Ecosystem }

// An ImagePackageFilter restricts a list of the packages of an image.
type ImagePackageFilter struct {
	PackageFilter
	Direct *bool          `json:",omitempty"` // leaves out those of which it is not known
	Scopes []PackageScope `json:",omitempty"`
	Digest string         // page tokens belong to the image
}

// Check adds the violations of the conditions.
func (f *ImagePackageFilter) Check(v *core.Violations) {
	f.PackageFilter.Check(v)
	for _, s := range f.Scopes {
		core.CheckOneOf(v, "scopes", s, packageScopes)
	}
}

// matches reports whether a package meets the conditions. The function fold makes texts comparable.
func (f *ImagePackageFilter) matches(p *ImagePackage, fold func(string) string) bool {
	isOf := func(name string) bool {
		return p.Ecosystem() == name || !strings.Contains(name, ":") && strings.HasPrefix(p.Ecosystem(), name+":")
	}
	isNamed := func(name string) bool {
		return (&Package{Name: name, Ecosystem: p.Ecosystem()}).NormalName() == p.Package.NormalName()
	}
	text := fold(core.SearchText(p.Name()))
	lacks := func(word string) bool { return !strings.Contains(text, word) }
	return (f.Ecosystems == nil || slices.ContainsFunc(f.Ecosystems, isOf)) && (f.Names == nil || slices.ContainsFunc(f.Names, isNamed)) &&
		!slices.ContainsFunc(core.SearchWords(fold(f.Query)), lacks) && (f.Direct == nil || p.Direct != nil && *p.Direct == *f.Direct) &&
		(f.Scopes == nil || slices.Contains(f.Scopes, p.Scope)) && (f.Licenses == nil || ecosystem.HasLicense(p.Licenses, f.Licenses))
}

// Contents reads what images hold, with one read and one for the versions.
func (s Images) Contents(ctx context.Context, images []core.ImageKey) ([]*ImageContent, []error) {
	return core.ReadOnce(images, func(images []core.ImageKey) ([]*ImageContent, []error) {
		check := func(key core.ImageKey) error { return s.checkReadable(ctx, key) }
		return core.ReadPermitted(images, check, func(keys []core.ImageKey) ([]*ImageContent, error) {
			found, err := s.area.tables.ImagePackages(ctx, s.area.Store, ImageKeys{keys})
			return found, core.InArea(core.AreaRegistry, err)
		})
	})
}

// ListPackages reads, for each image, a page of its packages, with the reads of Contents.
func (s Images) ListPackages(ctx context.Context, req core.ListRequest[*ImagePackageFilter], images []core.ImageKey) ([]core.Page[*ImagePackage], []error) {
	of := &core.Collection[*ImagePackage, *ImagePackageFilter]{Core: s.area.Core, Kind: &imagePackageKind}
	pages := make([]core.Page[*ImagePackage], len(images))
	contents, errs := s.Contents(ctx, images)
	for i, content := range contents {
		own := req
		own.UIDP = core.UIDFilter{ChildrenOf: images[i].Repo}
		own.Filter = core.EditFilter(req.Filter, func(f *ImagePackageFilter) { f.Digest = images[i].Digest })
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
			if p.place = n; !core.MatchesNothing(q.Filter) && q.Filter.matches(p, s.area.Store.FoldText) {
				all = append(all, p)
			}
		}
		pages[i] = of.NewPage(own, q, core.PageOf(of.Kind, q, all))
	}
	return pages, errs
}
