// Package affected decides whether a version of a package is affected by a vulnerability, as
// OSV describes it (https://ossf.github.io/osv-schema): by listed versions, and by ranges
// in the order of the ecosystem. It is a leaf: it knows nothing of advisories, images and
// names of packages, and it must not read, store or count anything.
//
//	affected.go   sets, ranges and events, and their normal form
//	matcher.go    what a set says of a version
//	fix.go        the version that fixes several vulnerabilities
//	vers.go       ranges as VEX documents have them
//	order.go      reads versions, and puts events into the order of their versions
//	ecosystem.go  which order an ecosystem has, and which ecosystems are the same
//
// Every function takes any text as version or ecosystem, and never panics. Those that take
// an ecosystem want it as OSV names it, such as npm or Debian:12.
package affected

import "slices"

// A Set says which versions of one package a vulnerability affects. A version is affected if
// it is listed, or if one of the ranges contains it.
type Set struct {
	Ranges   []Range  `json:"ranges,omitempty"`
	Versions []string `json:"versions,omitempty"`
}

// A Range contains the versions between the events at which a vulnerability begins and ends.
type Range struct {
	Type   string  `json:"type"` // SEMVER, GIT, or ECOSYSTEM, which any other text means too
	Events []Event `json:"events"`
}

// The types of ranges whose versions are not in the order of the ecosystem.
const (
	typeSemver = "SEMVER"
	typeGit    = "GIT" // The events are commits, whose order is not known.
)

// An Event is the version at which a vulnerability begins or ends. One of the fields is set.
type Event struct {
	Introduced   string `json:"introduced,omitempty"`    // the first affected version; "0" is before all versions
	Fixed        string `json:"fixed,omitempty"`         // the first version that is not affected any more
	LastAffected string `json:"last_affected,omitempty"` // the last affected version
	Limit        string `json:"limit,omitempty"`         // no version from here on is in the range; "*" is after all versions
}

// Versions with a meaning of their own.
const (
	firstVersion = "0" // introduced before all versions
	noLimit      = "*" // a limit after all versions
)

// IsKnown reports whether the set says anything of versions. If not, it names neither
// versions nor ranges other than those of commits.
func (s Set) IsKnown() bool {
	return len(s.Versions) > 0 || slices.ContainsFunc(s.Ranges, func(r Range) bool { return r.Type != typeGit })
}

// Affects reports whether a version is affected. A range in which the version has no place
// does not contain it (see Matcher.Decides).
func (s Set) Affects(ecosystem, version string) bool { return s.Matcher(ecosystem).Affects(version) }

// FixedVersions is Matcher.FixedVersions for one version.
func (s Set) FixedVersions(ecosystem, version string) []string {
	return s.Matcher(ecosystem).FixedVersions(version)
}

// Normalize returns the set with ranges as Range.Normalize returns them, and merged as Merge
// does it.
func (s Set) Normalize(ecosystem string) Set {
	ranges := make([]Range, len(s.Ranges))
	for i, r := range s.Ranges {
		ranges[i] = r.Normalize(ecosystem)
	}
	return Merge(Set{ranges, s.Versions})
}

// Merge returns a set that affects what one of the sets does. Its versions are distinct and
// sorted as texts. Ranges of commits are left out, because they say nothing of a version.
func Merge(sets ...Set) (merged Set) {
	for _, s := range sets {
		merged.Versions = append(merged.Versions, s.Versions...)
		for _, r := range s.Ranges {
			if r.Type != typeGit {
				merged.Ranges = append(merged.Ranges, r)
			}
		}
	}
	slices.Sort(merged.Versions)
	merged.Versions = slices.Compact(merged.Versions)
	return merged
}

// Normalize returns the range with its events sorted by version, because the schema evaluates
// them in that order and allows any. Each event has one kind, and a range that says nowhere
// where it begins does so before all versions, as ranges of the oldest form do.
func (r Range) Normalize(ecosystem string) Range {
	parsed := r.parse(ecosystem)
	events := make([]Event, len(parsed.events))
	for i, e := range parsed.events {
		events[i] = e.Event
	}
	return Range{r.Type, events}
}

// mendEvents returns the events with one kind each, and at least one introduction.
func (r Range) mendEvents() []Event {
	events := make([]Event, 0, len(r.Events)+1)
	if !slices.ContainsFunc(r.Events, func(e Event) bool { return e.Introduced != "" }) {
		events = append(events, Event{Introduced: firstVersion})
	}
	for _, e := range r.Events {
		events = append(events, e.Split()...)
	}
	return events
}

// Split returns one event for each kind. The schema allows only one in an event, but not all
// databases keep to that.
func (e Event) Split() (events []Event) {
	for _, one := range []Event{{Introduced: e.Introduced}, {Fixed: e.Fixed}, {LastAffected: e.LastAffected}, {Limit: e.Limit}} {
		if one != (Event{}) {
			events = append(events, one)
		}
	}
	return events
}

// HasNoEnd reports whether the latest versions are in a normalized range.
func (r Range) HasNoEnd() bool {
	isLimit := func(e Event) bool { return e.Limit != "" }
	if slices.ContainsFunc(r.Events, func(e Event) bool { return isLimit(e) && e.Limit != noLimit }) {
		return false
	}
	events := slices.DeleteFunc(slices.Clone(r.Events), isLimit)
	return len(events) > 0 && events[len(events)-1].Introduced != ""
}
