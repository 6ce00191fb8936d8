package platform

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"atrium/platform/fieldmask"
)

// Limits of texts.
const (
	maxNameBytes        = 512 // of groups, identities, roles and identity providers
	maxRepoBytes        = 255 // of repos, which clients of OCI registries accept
	maxLineBytes        = 255
	maxDescriptionChars = 512
	maxReadmeBytes      = 256 << 10
)

// DigestPattern is the pattern that digests must match.
const DigestPattern = "^sha256:[0-9a-f]{64}$"

var (
	namePattern = regexp.MustCompile(`^[a-z0-9 ._-]{1,}$`)
	repoPattern = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagPattern  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
)

// patternWords describes each pattern in words.
var patternWords = map[string]string{
	namePattern.String(): "be made of lower-case letters, digits, spaces, dots, hyphens and underscores",
	repoPattern.String(): "be made of lower-case letters and digits, with dots, hyphens and underscores between them, and slashes between parts",
	tagPattern.String():  "be 1 to 128 letters, digits, dots, hyphens and underscores, not beginning with a dot or a hyphen",
	DigestPattern:        "be sha256: and 64 lower-case hex digits",
}

// DescribeViolation returns the description of a violation, with a pattern replaced by words.
func DescribeViolation(v fieldmask.Violation) string {
	for pattern, words := range patternWords {
		for _, spelled := range []string{`match "` + pattern + `"`, "match " + pattern} {
			if before, after, found := strings.Cut(v.Description, spelled); found {
				return before + words + after
			}
		}
	}
	return v.Description
}

// checkName checks the name of a resource against a pattern and its longest length. The text of the
// violation is the one in the published tutorial.
func (v *violations) checkName(s string, pattern *regexp.Regexp, most int) {
	switch {
	case len(s) > most:
		v.add("name", "must be at most %d bytes", most)
	case !pattern.MatchString(s):
		v.add("name", `name must match "%s"`, pattern)
	}
}

// checkDigest checks a digest against DigestPattern, faster than a regular expression: an
// import checks many.
func (v *violations) checkDigest(s string) {
	if digits, found := strings.CutPrefix(s, "sha256:"); !found || len(digits) != 64 || !isLowerHex(digits) {
		v.add("digest", "must match %s", DigestPattern)
	}
}

// checkLine checks an optional line of text.
func (v *violations) checkLine(field, s string) {
	switch {
	case strings.ContainsFunc(s, unicode.IsControl):
		v.add(field, "must be one line without control characters")
	case !utf8.ValidString(s):
		v.add(field, "must be UTF-8")
	case utf8.RuneCountInString(s) > maxDescriptionChars:
		v.add(field, "must be at most %d characters", maxDescriptionChars)
	}
}

// checkRequiredLine checks a short line of text that must not be empty.
func (v *violations) checkRequiredLine(field, s string) {
	switch {
	case s == "":
		v.add(field, "is required")
	case len(s) > maxLineBytes:
		v.add(field, "must be at most %d bytes", maxLineBytes)
	default:
		v.checkLine(field, s)
	}
}

// checkRequiredLines checks a list of short lines of text, none of which may be empty. It reports only
// the first invalid one.
func (v *violations) checkRequiredLines(field string, list []string, most int) {
	if len(list) > most {
		v.add(field, "must be at most %d", most)
		return
	}
	before := len(*v)
	for i, s := range list {
		if v.checkRequiredLine(fmt.Sprintf("%s[%d]", field, i), s); len(*v) > before {
			return
		}
	}
}

// checkFilter rejects filter values that cannot be stored. No row contains them,
// and some databases do not accept them.
func (v *violations) checkFilter(field string, values ...string) {
	if slices.ContainsFunc(values, isUnstorable) {
		v.add(field, "must be UTF-8 without U+0000")
	}
}

func isUnstorable(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) }

// truncateStorable returns the part of a text that can be stored, with at most
// most bytes.
func truncateStorable(s string, most int) string {
	s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}

// maxListBytes limits the texts of a list together, so that a page of resources stays small.
const maxListBytes = 64 << 10

// maxLines limits the lists of lines of a repo, a tag or a package.
const maxLines = 1000

// checkLines checks a list of lines of text.
func (v *violations) checkLines(field string, list []string, most int) {
	if len(list) > most {
		v.add(field, "must be at most %d", most)
		return
	}
	size := 0
	for _, s := range list {
		if s == "" {
			v.add(field, "must not hold an empty text")
			return
		}
		before := len(*v)
		if v.checkLine(field, s); len(*v) > before {
			return
		}
		size += len(s)
	}
	if size > maxListBytes {
		v.add(field, "must be at most %d bytes in total", maxListBytes)
	}
}

// checkOneOf checks an enum value. "" means unspecified and is always valid.
func checkOneOf[E ~string](v *violations, field string, value E, values []E) {
	if value == "" || slices.Contains(values, value) {
		return
	}
	v.add(field, "must be one of %s", strings.Join(fieldmask.Texts(values), ", "))
}

// checkTimes checks two optional times, of which the second must not be before the first.
func (v *violations) checkTimes(firstField string, first Time, secondField string, second Time) {
	if !first.IsZero() && !second.IsZero() && second.Before(first.Time) {
		v.add(secondField, "must not be before %s", firstField)
	}
}

func (v *violations) checkUID(field string, u UID) {
	if u.Valid() {
		return
	}
	if typeName, isGlobal := u.globalType(); isGlobal {
		v.add(field, "must be a UID, and this is the global id of a %s: give its uid, not its id", typeName)
	} else {
		v.add(field, "must be a UID: 40 lower-case hex digits, then /-separated segments of 16")
	}
}

// checkRequiredUID checks a UID that must be given.
func (v *violations) checkRequiredUID(field string, u UID) {
	if u == "" {
		v.add(field, "is required")
		return
	}
	v.checkUID(field, u)
}

// checkText checks an optional text of several lines.
func (v *violations) checkText(field, s string, most int) {
	switch {
	case len(s) > most:
		v.add(field, "must be at most %d bytes", most)
	default:
		v.checkFilter(field, s)
	}
}
