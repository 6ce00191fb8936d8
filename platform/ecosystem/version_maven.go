package ecosystem

import (
	"regexp"
	"slices"
	"strings"
)

// Maven's order (POM reference, "Version Order Specification") splits a version
// into numbers and qualifiers. A dash, or a change between digit and letter, opens
// a nested list, which sorts before any number in the same position. A version that
// ends equals one that continues with zeros.
//
// This implementation ignores a dash before a qualifier, so 1.rc.2 equals 1-rc.2.
// Maven distinguishes the two, but no known artifact depends on it.

// The parts of a Maven version, in the order in which they sort in the same
// position.
const (
	mavenAlpha = 'a' + iota
	mavenBeta
	mavenMilestone
	mavenCandidate
	mavenSnapshot
	mavenReleaseBefore // a release qualifier before a part that sorts before the end
	mavenEnd
	mavenReleaseAfter // a release qualifier before a part that sorts after the end
	mavenServicePack
	mavenOther
	mavenDash
	mavenNumber
)

// A mavenPart is one number, one qualifier (with a number of its own, where
// one follows), or a dash.
type mavenPart struct {
	kind   byte
	text   string // text of a qualifier that is not known
	digits string // digits of the number; "" if a qualifier has none
}

// mavenKey returns the sort key of a version. Every text is a valid version.
func mavenKey(version string) string {
	var key strings.Builder
	for _, p := range mavenParts(strings.ToLower(version)) {
		key.WriteByte(p.kind)
		switch p.kind {
		case mavenDash:
		case mavenNumber:
			key.WriteString(p.digits)
		case mavenOther:
			key.WriteString(p.text + endOfText + p.digits + endOfText)
		default:
			key.WriteString(p.digits + endOfText) // without a number comes first
		}
	}
	key.WriteByte(mavenEnd)
	return key.String()
}

var (
	// A dash between a qualifier and its number is ignored.
	mavenNumbered = regexp.MustCompile(`([^-.0-9])-([0-9])`)
	mavenWord     = regexp.MustCompile(`([-.])|([^-.0-9]+)?([0-9]*)`)
)

// mavenParts splits a version at dots, at dashes, and between digits and other
// characters. An empty part before a dot or dash is a zero.
func mavenParts(version string) []mavenPart {
	var parts []mavenPart
	dash, there := false, false // before the word; since the last dot or dash
	add := func(p mavenPart) {
		if dash && len(parts) > 0 {
			parts = append(parts, mavenPart{kind: mavenDash})
		}
		parts = append(parts, p)
		dash, there = false, true
	}
	for _, word := range mavenWord.FindAllStringSubmatch(mavenNumbered.ReplaceAllString(version, "$1$2"), -1) {
		switch separator, name, digits := word[1], word[2], word[3]; {
		case separator != "":
			if !there {
				add(mavenPart{kind: mavenNumber, digits: numberKey("0")})
			}
			dash, there = separator == "-", false
		case name != "":
			add(mavenQualifier(name, digits))
		case digits != "":
			add(mavenPart{kind: mavenNumber, digits: numberKey(digits)})
		}
	}
	return trimMavenParts(parts)
}

// trimMavenParts drops parts that do not affect the order: zeros, dashes and
// release qualifiers at the end, and zeros and dashes before a qualifier.
func trimMavenParts(parts []mavenPart) []mavenPart {
	var kept []mavenPart // the parts from the end
	for _, p := range slices.Backward(parts) {
		next := mavenPart{kind: mavenEnd}
		if len(kept) > 0 {
			next = kept[len(kept)-1]
		}
		release := p.kind == mavenReleaseAfter && p.digits == ""
		switch {
		case next.kind < mavenDash && (p.kind == mavenDash || p.kind == mavenNumber && p.digits == numberKey("0")):
			continue
		case release && next.kind == mavenEnd:
			continue
		case release && next.kind < mavenEnd:
			p.kind = mavenReleaseBefore
		}
		kept = append(kept, p)
	}
	slices.Reverse(kept)
	return kept
}

// mavenQualifier returns the part for a qualifier and the digits after it. A
// single letter can abbreviate a qualifier if a number follows.
func mavenQualifier(name, digits string) mavenPart {
	p := mavenPart{}
	if digits != "" {
		p.digits = numberKey(digits)
	}
	switch name {
	case "alpha":
		p.kind = mavenAlpha
	case "beta":
		p.kind = mavenBeta
	case "milestone":
		p.kind = mavenMilestone
	case "rc", "cr":
		p.kind = mavenCandidate
	case "snapshot":
		p.kind = mavenSnapshot
	case "ga", "final", "release":
		p.kind = mavenReleaseAfter
		if p.digits == numberKey("0") {
			p.digits = "" // 1-ga0 is 1
		}
	case "sp":
		p.kind = mavenServicePack
	default:
		p.kind, p.text = mavenOther, name
	}
	if letters := map[string]byte{"a": mavenAlpha, "b": mavenBeta, "m": mavenMilestone}; digits != "" && letters[name] != 0 {
		p.kind = letters[name]
	}
	return p
}
