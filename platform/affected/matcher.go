package affected

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/google/osv-scalibr/semantic"
)

// A Matcher says which versions a set affects. It has read the versions of the set, so it is
// faster than the set if many versions are asked for. It can be used by several goroutines.
type Matcher struct {
	versions []string // sorted
	ranges   []parsedRange
}

// Matcher returns a matcher for versions of an ecosystem. The set need not be normalized.
func (s Set) Matcher(ecosystem string) *Matcher {
	m := &Matcher{versions: s.Versions}
	if !slices.IsSorted(m.versions) {
		m.versions = slices.Sorted(slices.Values(s.Versions))
	}
	for _, r := range s.Ranges {
		if r.Type != typeGit {
			m.ranges = append(m.ranges, r.parse(ecosystem))
		}
	}
	return m
}

// Affects reports whether a version is affected: whether the set lists it, or one of its ranges
// contains it. A range in which the version has no place does not contain it.
func (m *Matcher) Affects(version string) bool {
	return m.lists(version) || slices.ContainsFunc(m.ranges, func(r parsedRange) bool {
		at, ok := r.locate(version)
		return ok && r.contains(at)
	})
}

// Decides reports whether Affects knows the answer for a version. It does not if the set says
// nothing of versions, or if it does not list the version and has a range in which
// the version has no place: because the order of the ecosystem is not known, or because the
// version, or one of the range, cannot be read. Who asks must then say that it is not known, or
// decide by name.
func (m *Matcher) Decides(version string) bool {
	if len(m.versions)+len(m.ranges) == 0 {
		return false
	}
	return m.Affects(version) || !slices.ContainsFunc(m.ranges, func(r parsedRange) bool {
		_, ok := r.locate(version)
		return !ok
	})
}

// lists reports whether the set names a version, with or without a leading v.
func (m *Matcher) lists(version string) bool {
	version = strings.TrimPrefix(version, "v")
	_, bare := slices.BinarySearch(m.versions, version)
	_, withV := slices.BinarySearch(m.versions, "v"+version)
	return version != "" && (bare || withV)
}

// A fix is a version that ends a range.
type fix struct {
	parsedEvent
	branch int // 0 if it ends the part of the range that contains the installed version, or else 1
}

// FixedVersions returns the versions, later than the installed one, in which the vulnerability
// is fixed, each once. First come those of the branches that contain the installed version,
// then the others, both sorted. A fix that another range affects is left out. If the
// installed version has no place in a range, all fixes of the range count.
func (m *Matcher) FixedVersions(version string) []string {
	var fixes []fix
	for _, r := range m.ranges {
		fixes = append(fixes, r.fixesAfter(version)...)
	}
	slices.SortStableFunc(fixes, func(a, b fix) int {
		return cmp.Or(cmp.Compare(a.branch, b.branch), compareParsed(a.parsed, b.parsed))
	})
	var versions []string
	seen := map[string]bool{}
	for _, f := range fixes {
		if !seen[f.Fixed] && !m.Affects(f.Fixed) {
			versions = append(versions, f.Fixed)
		}
		seen[f.Fixed] = true
	}
	return versions
}

// LacksFix reports whether the set says that a version is affected and that all later ones are too. It does not of a version
// that it only lists, nor of a range that ends with the last affected version: whether there is a fix is then not known.
func (m *Matcher) LacksFix(version string) bool {
	lacks := false
	for _, r := range m.ranges {
		at, ok := r.locate(version)
		if !ok || r.contains(at) && (r.limit != nil && r.limit.rank() == 0 || slices.ContainsFunc(r.events, func(e parsedEvent) bool {
			return e.Introduced == "" && e.Limit == "" && !e.isReachedBy(at)
		})) {
			return false
		}
		lacks = lacks || r.contains(at)
	}
	return lacks
}

// locate reads a version. It fails if the version cannot be compared with the events.
func (r parsedRange) locate(version string) (at semantic.Version, ok bool) {
	if !r.isComparable {
		return nil, false
	}
	at, err := r.order.parse(version)
	return at, err == nil
}

// contains reports whether a version is in the range. As the schema of OSV says, the last
// event that the version has reached decides, and the version must be before one of the limits, which is the last one.
func (r parsedRange) contains(at semantic.Version) bool {
	if r.limit != nil && r.limit.isReachedBy(at) {
		return false
	}
	reached := sort.Search(len(r.events), func(i int) bool { return !r.events[i].isReachedBy(at) })
	for _, e := range slices.Backward(r.events[:reached]) {
		if e.Limit == "" {
			return e.Introduced != ""
		}
	}
	return false
}

// isReachedBy reports whether an event has happened at a version. The last affected version is
// affected itself.
func (e parsedEvent) isReachedBy(at semantic.Version) bool {
	c := e.compareTo(at)
	return c < 0 || c == 0 && e.LastAffected == ""
}

// fixesAfter returns the fixes of the range that are later than a version.
func (r parsedRange) fixesAfter(version string) (fixes []fix) {
	at, ok := r.locate(version)
	branch := 1
	if ok && r.contains(at) {
		branch = 0
	}
	for _, e := range r.events {
		if ok && e.isReachedBy(at) {
			continue
		}
		if e.Fixed != "" {
			fixes = append(fixes, fix{e, branch})
		}
		if e.Fixed != "" || e.LastAffected != "" {
			branch = 1
		}
	}
	return fixes
}
