package ingest

import (
	"cmp"
	"slices"

	"github.com/google/osv-scalibr/semantic"
)

// An osvRange describes affected versions by events: those at which the vulnerability begins
// and ends.
type osvRange struct {
	Type   string     `json:"type"`
	Repo   string     `json:"repo"` // if the range is one of commits
	Events []osvEvent `json:"events"`

	osvEvent // Before version 0.8 of the schema, a range had no list but one event of each kind.
}

type osvEvent struct {
	Introduced   string `json:"introduced"`
	Fixed        string `json:"fixed"`
	LastAffected string `json:"last_affected"`
	Limit        string `json:"limit"`
}

// Versions with a meaning of their own.
const (
	firstVersion = "0" // introduced before all versions
	noLimit      = "*" // a limit after all versions
)

// split returns one event for each kind. The schema allows only one in an event, but not all
// databases keep to that.
func (e osvEvent) split() (events []osvEvent) {
	for _, one := range []osvEvent{{Introduced: e.Introduced}, {Fixed: e.Fixed}, {LastAffected: e.LastAffected}, {Limit: e.Limit}} {
		if one != (osvEvent{}) {
			events = append(events, one)
		}
	}
	return events
}

// version returns the version at which the event is.
func (e osvEvent) version() string { return cmp.Or(e.Introduced, e.Fixed, e.LastAffected, e.Limit) }

// normalize sorts the events of a range by version, because the schema evaluates them in that
// order and allows any. It brings ranges of the oldest form into that of today.
func (r *osvRange) normalize(ecosystem string) {
	var events []osvEvent
	for _, e := range r.Events {
		events = append(events, e.split()...)
	}
	for _, e := range r.osvEvent.split() {
		if !slices.Contains(events, e) {
			events = append(events, e)
		}
	}
	if len(r.Events) == 0 && r.Introduced == "" {
		events = append(events, osvEvent{Introduced: firstVersion})
	}
	r.Events, r.osvEvent = sortEvents(events, r.versionParser(ecosystem)), osvEvent{}
}

type versionParser = func(string) (semantic.Version, error)

// versionParser returns the parser of the versions of a range.
func (r *osvRange) versionParser(ecosystem string) versionParser {
	switch r.Type {
	case "GIT": // The order of commits is not known.
		ecosystem = ""
	case "SEMVER":
		ecosystem = "Go"
	}
	return func(version string) (semantic.Version, error) { return semantic.Parse(version, ecosystem) }
}

// sortEvents sorts events by version. If a version cannot be parsed, the order stays, except
// that the first of all versions begins it. Of events with the same version, the last affected
// version comes last, because it is affected itself.
func sortEvents(events []osvEvent, parse versionParser) []osvEvent {
	type parsedEvent struct {
		osvEvent
		parsed semantic.Version
	}
	parsed, isComparable := make([]parsedEvent, len(events)), true
	for i, e := range events {
		parsed[i].osvEvent = e
		if e.rank() != 0 {
			continue
		}
		var err error
		if parsed[i].parsed, err = parse(e.version()); err != nil {
			isComparable = false
		}
	}
	slices.SortStableFunc(parsed, func(a, b parsedEvent) int {
		if a.rank() != 0 || b.rank() != 0 || !isComparable {
			return cmp.Compare(a.rank(), b.rank())
		}
		c, _ := a.parsed.CompareStr(b.version()) // parse has accepted it
		return cmp.Or(c, cmp.Compare(len(a.LastAffected), len(b.LastAffected)))
	})
	for i := range parsed {
		events[i] = parsed[i].osvEvent
	}
	return events
}

// rank returns -1 for an event before all versions, 1 for one after them, and 0 for others.
func (e osvEvent) rank() int {
	switch {
	case e.Introduced == firstVersion:
		return -1
	case e.Limit == noLimit:
		return 1
	default:
		return 0
	}
}

// hasNoEnd reports whether the latest versions are affected.
func (r osvRange) hasNoEnd() bool {
	isLimit := func(e osvEvent) bool { return e.Limit != "" }
	if slices.ContainsFunc(r.Events, func(e osvEvent) bool { return isLimit(e) && e.Limit != noLimit }) {
		return false
	}
	events := slices.DeleteFunc(slices.Clone(r.Events), isLimit)
	return len(events) > 0 && events[len(events)-1].Introduced != ""
}
