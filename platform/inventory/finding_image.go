package inventory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atrium/platform/core"
)

// ImageFacts are what the findings of an image follow from.
type ImageFacts struct {
	Digest   string
	IsLive   bool     // whether a tag that is not deprecated points to the image
	Names    []string // names of packages, if the source of the image lists only names
	HasSBOM  bool
	Versions []core.UID   // versions of packages in the SBOMs
	Used     []core.UID   // versions that the uses have of the image if it is live, without those of source packages
	Status   *ImageStatus // nil if there is none yet

	basis FindingBasis // BasisName if Versions are made of names
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
	Versions []core.UID // versions that the uses of a live image have
	Open     OpenCounts

	IsAffected bool // whether it is stored with open findings
}

// A PackageUse is a version of a package that an image of a repo holds, or holds no more.
type PackageUse struct {
	Version core.UID
	Image   int64
	IsGone  bool
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

// readVersions reads the versions of packages of images, by digest, with those of source packages.
// Where only names are known, it makes versions of them; where nothing is known, the name of the
// repo stands for the package.
func (s Findings) readVersions(ctx context.Context, tx core.Tx, repo *Repo, facts []*ImageFacts) (map[string][]*PackageVersion, map[core.UID]*PackageVersion, error) {
	root := repo.UID.Root()
	all, named := []core.UID{}, []*PackageVersion{}
	for _, f := range facts {
		if all = slices.Concat(all, f.Versions, f.Used); !f.HasSBOM {
			if len(f.Names) == 0 {
				f.Names = []string{repo.Name}
			}
			for _, name := range f.Names {
				v := newPackageVersion(root, Package{Name: name}, "", s.area.Now())
				named, f.Versions = append(named, v), append(f.Versions, v.UID)
			}
			slices.Sort(f.Versions)
			f.Versions, f.basis = slices.Compact(f.Versions), BasisName
		}
	}
	if err := s.area.putPackages(ctx, tx, named); err != nil {
		return nil, nil, err
	}
	byUID, err := s.versionsByUID(ctx, tx, all)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range named {
		byUID[v.UID] = v
	}
	versions := make(map[string][]*PackageVersion, len(facts))
	for _, f := range facts {
		for _, uid := range f.Versions {
			if v := byUID[uid]; v != nil {
				versions[f.Digest] = append(versions[f.Digest], v)
				if source := byUID[v.Source]; source != nil {
					versions[f.Digest] = append(versions[f.Digest], source)
				}
			}
		}
		versions[f.Digest] = distinctVersions(versions[f.Digest])
	}
	return versions, byUID, nil
}

// distinctVersions sorts versions by UID, and leaves out those that occur again.
func distinctVersions(all []*PackageVersion) []*PackageVersion {
	slices.SortFunc(all, func(a, b *PackageVersion) int { return core.CompareTexts(a.UID, b.UID) })
	return slices.CompactFunc(all, func(a, b *PackageVersion) bool { return a.UID == b.UID })
}

// usedBefore lists the versions that the uses have of the image, sorted.
func (f *ImageFacts) usedBefore(byUID map[core.UID]*PackageVersion) (used []core.UID) {
	if f.Status == nil || !f.Status.IsLive {
		return nil
	}
	for _, uid := range f.Used {
		if used = append(used, uid); byUID[uid] != nil && byUID[uid].Source != "" {
			used = append(used, byUID[uid].Source)
		}
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// Named lists the versions that stand for names: those of an image without an SBOM.
func (s *ImageStatus) Named() []core.UID {
	if s.Basis == BasisName {
		return s.Versions
	}
	return nil
}

// versionsByUID reads versions of packages, and those of their source packages.
func (s Findings) versionsByUID(ctx context.Context, tx core.Tx, uids []core.UID) (map[core.UID]*PackageVersion, error) {
	byUID := make(map[core.UID]*PackageVersion, len(uids))
	for len(uids) > 0 {
		slices.Sort(uids)
		found, err := s.area.tables.PackageVersions.Get(ctx, tx, core.Keys{UIDs: slices.Compact(uids)})
		if err != nil {
			return nil, err
		}
		uids = nil
		for _, v := range found {
			if byUID[v.UID] = v; v.Source != "" && byUID[v.Source] == nil {
				uids = append(uids, v.Source)
			}
		}
	}
	return byUID, nil
}

// newStatus returns the status that follows from facts and the packages of the image.
func (f *ImageFacts) newStatus(versions []*PackageVersion) *ImageStatus {
	status := &ImageStatus{Digest: f.Digest, IsLive: f.IsLive, Basis: cmp.Or(f.basis, BasisVersion)}
	if f.Status != nil {
		status.Number, status.Open, status.IsAffected = f.Status.Number, f.Status.Open, f.Status.IsAffected
	}
	for _, v := range versions { // they are sorted
		status.Versions = append(status.Versions, v.UID)
	}
	return status
}

// changedUses lists what has changed in the uses of packages.
func changedUses(before []core.UID, is *ImageStatus) (uses []PackageUse) {
	var after []core.UID
	if is.IsLive {
		after = is.Versions
	}
	for _, v := range before {
		if _, stays := slices.BinarySearch(after, v); !stays {
			uses = append(uses, PackageUse{v, is.Number, true})
		}
	}
	for _, v := range after {
		if _, known := slices.BinarySearch(before, v); !known {
			uses = append(uses, PackageUse{v, is.Number, false})
		}
	}
	return uses
}
