package platform

import (
	"regexp"
	"slices"
	"strings"
)

// Maven's order (its POM reference, "Version Order Specification") reads a
// version as numbers and qualifiers. A dash, or a change between digit and
// letter, opens a list inside: what it holds matters less than any number in
// its place. A version that ends is as one that goes on with zeros.
//
// A dash before a qualifier is left out, so 1.rc.2 is 1-rc.2 here. Maven tells
// these two apart, by rules that no artifact's versions have been seen to need.

// The parts of a Maven version, in the order in which they sort where they
// stand in the same place.
const (
	mavenAlpha = 'a' + iota
	mavenBeta
	mavenMilestone
	mavenCandidate
	mavenSnapshot
	mavenReleaseBefore // a release qualifier, with something less than nothing behind it
	mavenEnd
	mavenReleaseAfter // a release qualifier, with something more than nothing behind it
	mavenServicePack
	mavenOther
	mavenDash
	mavenNumber
)

// A mavenPart is one number, one qualifier (with a number of its own, where
// one follows), or a dash.
type mavenPart struct {
	kind   byte
	text   string // of a qualifier that is not known
	digits string // "" where a qualifier has none
}

// mavenKey is the key of a version, of which every text is one.
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
	// A dash between a qualifier and its number counts for nothing.
	mavenNumbered = regexp.MustCompile(`([^-.0-9])-([0-9])`)
	mavenWord     = regexp.MustCompile(`([-.])|([^-.0-9]+)?([0-9]*)`)
)

// mavenParts cuts a version at dots, at dashes, and where digits meet others.
// Where nothing stands before a dot or dash, a zero does.
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
				add(mavenPart{kind: mavenNumber, digits: number("0")})
			}
			dash, there = separator == "-", false
		case name != "":
			add(mavenQualifier(name, digits))
		case digits != "":
			add(mavenPart{kind: mavenNumber, digits: number(digits)})
		}
	}
	return trimmed(parts)
}

// trimmed drops what changes nothing: zeros, dashes and release qualifiers at
// the end, zeros and dashes before a qualifier.
func trimmed(parts []mavenPart) []mavenPart {
	var kept []mavenPart // from the end
	for _, p := range slices.Backward(parts) {
		next := mavenPart{kind: mavenEnd}
		if len(kept) > 0 {
			next = kept[len(kept)-1]
		}
		release := p.kind == mavenReleaseAfter && p.digits == ""
		switch {
		case next.kind < mavenDash && (p.kind == mavenDash || p.kind == mavenNumber && p.digits == number("0")):
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

// mavenQualifier is a qualifier and the digits behind it. One letter stands
// for a qualifier where a number follows.
func mavenQualifier(name, digits string) mavenPart {
	p := mavenPart{}
	if digits != "" {
		p.digits = number(digits)
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
		if p.digits == number("0") {
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
