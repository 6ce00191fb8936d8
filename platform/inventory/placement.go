package inventory

import (
	"cmp"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A PackageScope says what an image needs a package for.
type PackageScope string

// The scopes.
const (
	ScopeRequired    PackageScope = "PACKAGE_SCOPE_REQUIRED"    // a program does not run without it
	ScopeOptional    PackageScope = "PACKAGE_SCOPE_OPTIONAL"    // a program can run without it
	ScopeDevelopment PackageScope = "PACKAGE_SCOPE_DEVELOPMENT" // it is there to build or to test
)

var packageScopes = []PackageScope{ScopeRequired, ScopeOptional, ScopeDevelopment}

// Values lists the scopes.
func (PackageScope) Values() []string { return fieldmask.Texts(packageScopes) }

// mergeScopes returns the scope of a package for which documents have two. One that is needed somewhere is needed; otherwise it
// is only known if all say the same.
func mergeScopes(a, b PackageScope, isFirst bool) PackageScope {
	switch {
	case isFirst || b == ScopeRequired:
		return b
	case a == b || a == ScopeRequired:
		return a
	default:
		return ""
	}
}

// A Placement is what one document says of where a package comes from.
type Placement struct {
	Direct       *bool  // whether the project in the image depends on it itself; nil if the document does not say it
	IntroducedBy []int  // places in the document of the packages through which it comes, by name; nil if it is not known
	Layer        string // of the image, by its digest; "" if the document does not say it
}

// maxIntroducers limits the packages through which one comes.
const maxIntroducers = 20

// checkPlacement adds the violations of what a document says of the origin of a package.
func (p *InstalledPackage) checkPlacement(v *core.Violations, at func(field string) string, packages int) {
	v.CheckLine(at("supplier"), p.Supplier)
	v.CheckLine(at("layer"), p.Layer)
	if p.Scope != "" && !slices.Contains(packageScopes, p.Scope) {
		v.Add(at("scope"), "must be one of %v", p.Scope.Values())
	}
	if len(p.IntroducedBy) > maxIntroducers {
		v.Add(at("introducedBy"), "must have at most %d items", maxIntroducers)
	}
	if slices.ContainsFunc(p.IntroducedBy, func(place int) bool { return place < 0 || place >= packages }) {
		v.Add(at("introducedBy"), "must be places of packages of the document")
	}
}

// PlaceComponents returns the UIDs of the components of the packages of a document, sorted, each once, and their placements in the
// same order: nil if the document says nothing of them.
func PlaceComponents(components []*Component, packages []InstalledPackage) ([]core.UID, []Placement) {
	uids := uidsOf(components)
	placements, isPlaced, says := make([]Placement, len(uids)), make([]bool, len(uids)), false
	place := func(n int) int {
		at, _ := slices.BinarySearch(uids, components[n].UID)
		return at
	}
	for n, p := range packages {
		at := place(n)
		if isPlaced[at] {
			placements[at].Direct = mergeDirect(placements[at].Direct, p.Direct)
			continue
		}
		isPlaced[at] = true
		if says = says || p.Direct != nil || p.IntroducedBy != nil || p.Layer != ""; p.IntroducedBy != nil {
			placements[at].IntroducedBy = make([]int, len(p.IntroducedBy))
		}
		placements[at].Direct, placements[at].Layer = p.Direct, p.Layer
		for i, by := range p.IntroducedBy {
			placements[at].IntroducedBy[i] = place(by)
		}
	}
	if !says {
		placements = nil
	}
	return uids, placements
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

// mergeDirect returns whether a package is a direct dependency for which documents say two things: it is if one says so,
// and it is not if both say so.
func mergeDirect(a, b *bool) *bool {
	switch {
	case a == nil && (b == nil || !*b), a != nil && !*a && b == nil:
		return nil
	case a == nil || !*a:
		return b
	default:
		return a
	}
}

// DirectComponents say which components of an image the project in it depends on itself. It is not known of those that they lack.
type DirectComponents map[core.UID]*bool

// Add adds what a document says of a component.
func (d DirectComponents) Add(uid core.UID, says *bool) {
	was, known := d[uid]
	if !known {
		was = says
	}
	d[uid] = mergeDirect(was, says)
}

// HeldComponents are components that an image holds.
type HeldComponents struct {
	Components []*Component
	Direct     DirectComponents
}

// A PackageOrigin is what the documents of an image say of where a package comes from.
type PackageOrigin struct {
	Direct       *bool                // whether the project in the image depends on it itself; nil if it is not known
	IntroducedBy []IntroducingPackage // the packages through which it comes, by name; nil if it is not known
	Layer        string               // of the image, by its digest; "" if it is not known

	isSaid bool // whether a document has the package
}

// An IntroducingPackage is a package of an image through which another one comes.
type IntroducingPackage struct {
	Name      string `json:"name"`
	Version   string `json:"version,omitempty"`
	Ecosystem string `json:"ecosystem,omitempty"`
	PURL      string `json:"purl,omitempty"`

	PackageVersion core.UID `json:"-"`
}

// Add adds what a document says. The function at returns the component at a place of the document, or nil if it does not exist
// any more.
func (o *PackageOrigin) Add(from Placement, at func(place int) *Component) {
	if !o.isSaid {
		o.Direct = from.Direct
	}
	o.isSaid, o.Direct, o.Layer = true, mergeDirect(o.Direct, from.Direct), cmp.Or(o.Layer, from.Layer)
	if from.IntroducedBy == nil {
		return
	}
	if o.IntroducedBy == nil {
		o.IntroducedBy = []IntroducingPackage{}
	}
	for _, place := range from.IntroducedBy {
		if c := at(place); c != nil {
			o.IntroducedBy = append(o.IntroducedBy, IntroducingPackage{c.Version.Package.Name, c.Version.Version, c.Version.Package.Ecosystem, c.PURL, c.Version.UID})
		}
	}
	slices.SortFunc(o.IntroducedBy, func(a, b IntroducingPackage) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Ecosystem, b.Ecosystem), cmp.Compare(a.PURL, b.PURL))
	})
	o.IntroducedBy = slices.Compact(o.IntroducedBy)
	o.IntroducedBy = o.IntroducedBy[:min(len(o.IntroducedBy), maxIntroducers)]
}
