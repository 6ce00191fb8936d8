package core

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
	MaxNameBytes        = 512 // of groups, identities, roles and identity providers
	MaxRepoBytes        = 255 // of repos, which clients of OCI registries accept
	MaxLineBytes        = 255
	maxDescriptionChars = 512
	MaxReadmeBytes      = 256 << 10
)

// DigestPattern is the pattern that digests must match.
const DigestPattern = "^sha256:[0-9a-f]{64}$"

// The patterns of names.
var (
	NamePattern = regexp.MustCompile(`^[a-z0-9 ._-]{1,}$`)
	RepoPattern = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	TagPattern  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
)

// patternWords describes each pattern in words.
var patternWords = map[string]string{
	NamePattern.String(): "be made of lower-case letters, digits, spaces, dots, hyphens and underscores",
	RepoPattern.String(): "be made of lower-case letters and digits, with dots, hyphens and underscores between them, and slashes between parts",
	TagPattern.String():  "be 1 to 128 letters, digits, dots, hyphens and underscores, not beginning with a dot or a hyphen",
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

// CheckName checks the name of a resource against a pattern and its longest length. The text of the
// violation is the one in the published tutorial.
func (v *Violations) CheckName(s string, pattern *regexp.Regexp, most int) {
	switch {
	case len(s) > most:
		v.Add("name", "must be at most %d bytes", most)
	case !pattern.MatchString(s):
		v.Add("name", `name must match "%s"`, pattern)
	}
}

// CheckDigest checks a digest against DigestPattern, faster than a regular expression: an
// import checks many.
func (v *Violations) CheckDigest(s string) {
	if digits, found := strings.CutPrefix(s, "sha256:"); !found || len(digits) != 64 || !isLowerHex(digits) {
		v.Add("digest", "must match %s", DigestPattern)
	}
}

// CheckLine checks an optional line of text.
func (v *Violations) CheckLine(field, s string) {
	switch {
	case strings.ContainsFunc(s, unicode.IsControl):
		v.Add(field, "must be one line without control characters")
	case !utf8.ValidString(s):
		v.Add(field, "must be UTF-8")
	case utf8.RuneCountInString(s) > maxDescriptionChars:
		v.Add(field, "must be at most %d characters", maxDescriptionChars)
	}
}

// CheckRequiredLine checks a short line of text that must not be empty.
func (v *Violations) CheckRequiredLine(field, s string) {
	switch {
	case s == "":
		v.Add(field, "is required")
	case len(s) > MaxLineBytes:
		v.Add(field, "must be at most %d bytes", MaxLineBytes)
	default:
		v.CheckLine(field, s)
	}
}

// CheckRequiredLines checks a list of short lines of text, none of which may be empty. It reports only
// the first invalid one.
func (v *Violations) CheckRequiredLines(field string, list []string, most int) {
	if len(list) > most {
		v.Add(field, "must have at most %d items", most)
		return
	}
	before := len(*v)
	for i, s := range list {
		if v.CheckRequiredLine(fmt.Sprintf("%s[%d]", field, i), s); len(*v) > before {
			return
		}
	}
}

// CheckFilter rejects filter values that cannot be stored. No row contains them,
// and some databases do not accept them.
func (v *Violations) CheckFilter(field string, values ...string) {
	if slices.ContainsFunc(values, IsUnstorable) {
		v.Add(field, "must be UTF-8 without U+0000")
	}
}

// IsUnstorable reports whether no database can store a text.
func IsUnstorable(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) }

// TruncateStorable returns the part of a text that can be stored, with at most
// most bytes.
func TruncateStorable(s string, most int) string {
	s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}

// maxListBytes limits the texts of a list together, so that a page of resources stays small.
const maxListBytes = 64 << 10

// MaxLines limits the lists of lines of a repo, a tag or a package.
const MaxLines = 1000

// CheckLines checks a list of lines of text.
func (v *Violations) CheckLines(field string, list []string, most int) {
	if len(list) > most {
		v.Add(field, "must have at most %d items", most)
		return
	}
	size := 0
	for _, s := range list {
		if s == "" {
			v.Add(field, "must not contain an empty text")
			return
		}
		before := len(*v)
		if v.CheckLine(field, s); len(*v) > before {
			return
		}
		size += len(s)
	}
	if size > maxListBytes {
		v.Add(field, "must be at most %d bytes in total", maxListBytes)
	}
}

// CheckOneOf checks an enum value. "" means unspecified and is always valid.
func CheckOneOf[E ~string](v *Violations, field string, value E, values []E) {
	if value == "" || slices.Contains(values, value) {
		return
	}
	v.Add(field, "must be one of %s", strings.Join(fieldmask.Texts(values), ", "))
}

// CheckTimes checks two optional times, of which the second must not be before the first.
func (v *Violations) CheckTimes(firstField string, first Time, secondField string, second Time) {
	if !first.IsZero() && !second.IsZero() && second.Before(first.Time) {
		v.Add(secondField, "must not be before %s", firstField)
	}
}

// CheckUID adds a violation unless u is a UID.
func (v *Violations) CheckUID(field string, u UID) {
	if u.Valid() {
		return
	}
	if typeName, isGlobal := u.globalType(); isGlobal {
		v.Add(field, "must be a UID, and this is the global id of a %s: give its uid, not its id", typeName)
	} else {
		v.Add(field, "must be a UID: 40 lower-case hex digits, then /-separated segments of 16")
	}
}

// CheckRequiredUID checks a UID that must be given.
func (v *Violations) CheckRequiredUID(field string, u UID) {
	if u == "" {
		v.Add(field, "is required")
		return
	}
	v.CheckUID(field, u)
}

// CheckText checks an optional text of several lines.
func (v *Violations) CheckText(field, s string, most int) {
	switch {
	case len(s) > most:
		v.Add(field, "must be at most %d bytes", most)
	default:
		v.CheckFilter(field, s)
	}
}

// Limits of one update.
const (
	MaxNoteBytes = 8 << 10
)
