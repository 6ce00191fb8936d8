package affected

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/osv-scalibr/semantic"
)

// An order is the name of an ecosystem that semantic knows, or of one whose order is not known.
type order string

// order returns the order of the versions of the range.
func (r Range) order(ecosystem string) order {
	order := orderOf(ecosystem)
	switch {
	case r.Type == typeGit:
		return "" // not known
	case r.Type == typeSemver && order != bitnami:
		return semver
	default:
		return order
	}
}

// maxVersion limits the length of a version in bytes, because reading numbers takes more than
// linear time.
const maxVersion = 1024

var (
	errTooLong  = fmt.Errorf("the version is longer than %d bytes", maxVersion)
	errNoNumber = errors.New("the version has no number in its place")
	errRange    = errors.New("it is a range of versions, and not one of them")
)

// Compare compares two versions in the order of an ecosystem, and returns a negative number if
// a is earlier, a positive one if it is later, and 0 if they are equal. It fails if
// the order of the ecosystem is not known, or if one of the versions is not valid in it.
func Compare(ecosystem, a, b string) (int, error) {
	order := orderOf(ecosystem)
	x, err := order.parse(a)
	if err != nil {
		return 0, fmt.Errorf("%s %.100q: %w", ecosystem, a, err)
	}
	y, err := order.parse(b)
	if err != nil {
		return 0, fmt.Errorf("%s %.100q: %w", ecosystem, b, err)
	}
	return x.Compare(y)
}

// isRange reports whether a text has what is in ranges of versions, and in no version of any ecosystem.
func isRange(version string) bool {
	return strings.ContainsAny(version, "*|,<> \t") || version != "" && strings.ContainsAny(version[:1], "^~=![(")
}

// parse reads a version. The parsers of most ecosystems take any text, and read one such as
// (devel), unknown or latest as a version before all others. Such texts say nothing, so parse
// refuses a version without a digit, and one of semantic versioning that does not
// begin with a number. It also refuses ranges, such as ^1.2, which documents have that were made without a lock file.
func (o order) parse(version string) (semantic.Version, error) {
	switch {
	case len(version) > maxVersion:
		return nil, errTooLong
	case isRange(version):
		return nil, errRange
	}
	if o == bitnami {
		o, version = nuGet, bitnamiRevision.ReplaceAllString(version, "$1.$2")
	}
	parsed, err := semantic.Parse(version, string(o))
	if err != nil {
		return nil, err
	}
	firstDigit := strings.IndexAny(version, "0123456789")
	_, isSemver := parsed.(semantic.SemverVersion)
	if firstDigit < 0 || isSemver && strings.TrimPrefix(version[:firstDigit], "v") != "" {
		return nil, errNoNumber
	}
	return parsed, nil
}

// compareParsed compares two versions. Versions of different orders, and those that could not
// be read, are not compared; it returns 0 for them.
func compareParsed(a, b semantic.Version) int {
	if a == nil || b == nil {
		return 0
	}
	c, _ := a.Compare(b) // fails only for versions of different orders
	return c
}

// A parsedEvent is an event with its version, which is nil if it is before or after all
// versions, or could not be read.
type parsedEvent struct {
	Event
	parsed semantic.Version
}

// A parsedRange has the events of a range sorted by version.
type parsedRange struct {
	order        order
	events       []parsedEvent
	limit        *parsedEvent // the last one; nil if there is none
	isComparable bool         // whether all versions could be read
}

// parse sorts the events by version. Of events with the same version, the last affected
// version comes last, because it is affected itself. If the events are not comparable, their
// order stays, except that the first of all versions begins it.
func (r Range) parse(ecosystem string) parsedRange {
	events := r.mendEvents()
	p := parsedRange{order: r.order(ecosystem), events: make([]parsedEvent, len(events)), isComparable: true}
	for i, e := range events {
		p.events[i].Event = e
		if e.rank() != 0 {
			continue
		}
		var err error
		if p.events[i].parsed, err = p.order.parse(e.version()); err != nil {
			p.isComparable = false
		}
	}
	slices.SortStableFunc(p.events, func(a, b parsedEvent) int {
		if a.rank() != 0 || b.rank() != 0 || !p.isComparable {
			return cmp.Compare(a.rank(), b.rank())
		}
		return cmp.Or(compareParsed(a.parsed, b.parsed), cmp.Compare(len(a.LastAffected), len(b.LastAffected)))
	})
	for i := range p.events {
		if p.events[i].Limit != "" {
			p.limit = &p.events[i]
		}
	}
	return p
}

// compareTo compares the version of an event with another one.
func (e parsedEvent) compareTo(at semantic.Version) int {
	return cmp.Or(e.rank(), compareParsed(e.parsed, at))
}

// version returns the version at which the event is.
func (e Event) version() string { return cmp.Or(e.Introduced, e.Fixed, e.LastAffected, e.Limit) }

// rank returns -1 for an event before all versions, 1 for one after them, and 0 for others.
func (e Event) rank() int {
	switch {
	case e.Introduced == firstVersion:
		return -1
	case e.Limit == noLimit:
		return 1
	default:
		return 0
	}
}
