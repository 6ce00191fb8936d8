package inventory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atrium/platform/affected"
	"atrium/platform/core"
)

// ImageFacts are what the findings of an image follow from.
type ImageFacts struct {
	Digest         string
	IsLive         bool     // whether a tag that is not deprecated points to the image
	Names          []string // names of packages, if the source of the image lists only names
	HasSBOM        bool
	Components     []core.UID // those of the SBOMs
	Direct         DirectComponents
	UsedComponents []core.UID   // those of which the uses have the versions, if the image is live
	Status         *ImageStatus // nil if there is none yet
}

// A Holder is a live image that holds a version of a package.
type Holder struct {
	Digest  string
	Version core.UID
}

// An ImageStatus is what follows from the facts about an image, beside its findings.
type ImageStatus struct {
	Repo     core.UID
	Digest   string
	Number   int64 // number of the image in its repo, from 1; 0 means that it has none yet
	IsLive   bool
	Basis    FindingBasis
	Versions []core.UID // versions that stand for names, of an image without an SBOM
	Unknown  int64      // number of its packages of which it is not known what affects them
	Open     OpenCounts

	Counted ImageMarks // how it is counted now
}

// ImageMarks say among which images one is counted, and how many unknown packages.
type ImageMarks struct {
	IsAffected, IsLive, IsKnown bool
	Unknown                     int64
}

// Marks returns the marks that follow from the status. The packages of an image are known if an SBOM tells them.
func (s *ImageStatus) Marks() ImageMarks {
	is := ImageMarks{IsAffected: s.Open.Total() > 0, IsLive: s.IsLive, IsKnown: s.IsLive && s.Basis == BasisVersion}
	if s.IsLive {
		is.Unknown = s.Unknown
	}
	return is
}

// A PackageUse is a version of a package that an image of a repo holds, or holds no more.
type PackageUse struct {
	Version  core.UID
	Image    int64
	Licenses []string // as the documents of the image spell them, sorted; ecosystem.NoLicense if they say none, nil if nothing is installed
	IsGone   bool
}

// OpenCounts counts open findings by the rank of their rating.
type OpenCounts [6]int64

func (c *OpenCounts) add(f *Finding, n int64) {
	if f.IsCounted() && f.IsOpen() {
		c[max(f.Severity.Rating.Rank(), 0)] += n
	}
}

// Plus returns the sums of two counts.
func (c OpenCounts) Plus(other OpenCounts) OpenCounts {
	for i := range c {
		c[i] += other[i]
	}
	return c
}

// Text returns a text that sorts by the number of the worst findings: six digits for each rating,
// the worst first, or "" if there are none.
func (c OpenCounts) Text() string {
	if c == (OpenCounts{}) {
		return ""
	}
	var b strings.Builder
	for rank := len(c) - 1; rank >= 0; rank-- {
		fmt.Fprintf(&b, "%06d", min(c[rank], 999_999))
	}
	return b.String()
}

// ParseOpenCounts reads a text of OpenCounts.Text.
func ParseOpenCounts(text string) (c OpenCounts) {
	for rank := len(c) - 1; rank >= 0 && len(text) >= 6; rank-- {
		c[rank], _ = strconv.ParseInt(text[:6], 10, 64) // the text was made of numbers
		text = text[6:]
	}
	return c
}

// Total returns the sum.
func (c OpenCounts) Total() (sum int64) {
	for _, n := range c {
		sum += n
	}
	return sum
}

// numberImages gives numbers to new images.
func (s Findings) numberImages(ctx context.Context, tx core.Tx, repo core.UID, statuses []*ImageStatus) error {
	last := int64(0)
	for _, status := range statuses {
		if status.Number != 0 {
			continue
		}
		if last == 0 {
			var err error
			if last, err = s.area.tables.LastImageNumber(ctx, tx, repo); err != nil {
				return err
			}
		}
		last++
		status.Number = last
	}
	return nil
}

// A content is an image with those of its packages that advisories are compared with.
type content struct {
	status     *ImageStatus
	candidates []candidate
	hasArrived bool // the image was not live before, or held other packages
}

// readContents reads what images hold, in the order of facts, and lists what changes in the uses of packages. Where
// only names are known, it makes versions of them; where nothing is known, the name of the repo stands for the package.
func (s Findings) readContents(ctx context.Context, tx core.Tx, repo *Repo, facts []*ImageFacts) (contents []*content, uses []PackageUse, err error) {
	var uids, sources []core.UID
	var named []*PackageVersion
	byName := map[string]*PackageVersion{}
	for _, f := range facts {
		if uids = slices.Concat(uids, f.Components, f.UsedComponents); f.HasSBOM {
			continue
		}
		if len(f.Names) == 0 {
			f.Names = []string{repo.Name}
		}
		for _, name := range f.Names {
			if byName[name] == nil {
				byName[name] = newPackageVersion(repo.UID.Root(), Package{Name: name}, "", s.area.Now())
				named = append(named, byName[name])
			}
		}
	}
	if err := s.area.putPackages(ctx, tx, named); err != nil {
		return nil, nil, err
	}
	slices.Sort(uids)
	components, err := s.area.tables.Components(ctx, tx, slices.Compact(uids))
	if err != nil {
		return nil, nil, err
	}
	byUID := make(map[core.UID]*Component, len(components))
	for _, c := range components {
		if byUID[c.UID] = c; c.Source != "" {
			sources = append(sources, c.Source)
		}
	}
	versions, err := s.versionsByUID(ctx, tx, sources)
	if err != nil {
		return nil, nil, err
	}
	contents, statuses, used := make([]*content, len(facts)), make([]*ImageStatus, len(facts)), make([]map[core.UID][]string, len(facts))
	for i, f := range facts {
		statuses[i] = f.newStatus()
		contents[i] = &content{status: statuses[i]}
		if f.HasSBOM {
			held := componentsAt(f.Components, byUID)
			contents[i].candidates, used[i], statuses[i].Unknown = candidates(held, versions, f.Direct), usesOf(held), countUnknown(held)
			continue
		}
		for _, name := range f.Names {
			contents[i].candidates = append(contents[i].candidates, candidate{PackageVersion: byName[name]})
			statuses[i].Versions = append(statuses[i].Versions, byName[name].UID)
		}
		slices.Sort(statuses[i].Versions)
		statuses[i].Versions = slices.Compact(statuses[i].Versions)
		used[i] = usesOfNames(statuses[i].Versions)
	}
	if err := s.numberImages(ctx, tx, repo.UID, statuses); err != nil {
		return nil, nil, err
	}
	for i, f := range facts {
		if !f.IsLive {
			used[i] = nil
		}
		changed := changedUses(statuses[i].Number, f.usedBefore(byUID), used[i])
		contents[i].hasArrived = f.Status == nil || !f.Status.IsLive || len(changed) > 0
		uses = append(uses, changed...)
	}
	return contents, uses, nil
}

// componentsAt returns the components with UIDs.
func componentsAt(uids []core.UID, byUID map[core.UID]*Component) []*Component {
	all := make([]*Component, 0, len(uids))
	for _, uid := range uids {
		if c := byUID[uid]; c != nil {
			all = append(all, c)
		}
	}
	return all
}

// countUnknown counts the installed packages of which it is not known what affects them.
func countUnknown(held []*Component) (n int64) {
	seen := map[core.UID]bool{}
	for _, c := range held {
		if !seen[c.Version.UID] && !affected.HasRecords(c.Version.Package.Ecosystem) {
			n++
		}
		seen[c.Version.UID] = true
	}
	return n
}

// usedBefore returns what the uses have of the image.
func (f *ImageFacts) usedBefore(byUID map[core.UID]*Component) map[core.UID][]string {
	switch {
	case f.Status == nil || !f.Status.IsLive:
		return nil
	case f.Status.Basis == BasisName:
		return usesOfNames(f.Status.Versions)
	}
	return usesOf(componentsAt(f.UsedComponents, byUID))
}

// versionsByUID reads versions of packages.
func (s Findings) versionsByUID(ctx context.Context, on core.Conn, uids []core.UID) (map[core.UID]*PackageVersion, error) {
	byUID := make(map[core.UID]*PackageVersion, len(uids))
	if len(uids) == 0 {
		return byUID, nil
	}
	slices.Sort(uids)
	found, err := s.area.tables.PackageVersions.Get(ctx, on, core.Keys{UIDs: slices.Compact(uids)})
	for _, v := range found {
		byUID[v.UID] = v
	}
	return byUID, err
}

// newStatus returns the status that follows from facts, without the versions.
func (f *ImageFacts) newStatus() *ImageStatus {
	status := &ImageStatus{Digest: f.Digest, IsLive: f.IsLive, Basis: BasisName}
	if f.HasSBOM {
		status.Basis = BasisVersion
	}
	if f.Status != nil {
		status.Number, status.Open, status.Counted = f.Status.Number, f.Status.Open, f.Status.Counted // what is unknown is counted anew
	}
	return status
}

// changedUses lists what changes in the uses of packages by an image. before and after have the licenses of the versions.
func changedUses(image int64, before, after map[core.UID][]string) (uses []PackageUse) {
	for v := range before {
		if _, stays := after[v]; !stays {
			uses = append(uses, PackageUse{v, image, nil, true})
		}
	}
	for v, licenses := range after {
		if was, known := before[v]; !known || !slices.Equal(was, licenses) {
			uses = append(uses, PackageUse{v, image, licenses, false})
		}
	}
	return uses
}
