package platform

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of text.
const (
	maxNameBytes        = 255
	maxDescriptionChars = 512
	maxReadmeBytes      = 256 << 10
)

// DigestPattern is what a digest must match.
const DigestPattern = "^sha256:[0-9a-f]{64}$"

var (
	namePattern   = regexp.MustCompile(`^[a-z0-9 ._-]{1,}$`)
	repoPattern   = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagPattern    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	digestPattern = regexp.MustCompile(DigestPattern)
)

// patternWords say in words what each pattern asks for.
var patternWords = map[*regexp.Regexp]string{
	namePattern:   "be made of lower-case letters, digits, spaces, dots, hyphens and underscores",
	repoPattern:   "be made of lower-case letters and digits, with dots, hyphens and underscores between them, and slashes between parts",
	tagPattern:    "be 1 to 128 letters, digits, dots, hyphens and underscores, not beginning with a dot or a hyphen",
	digestPattern: "be sha256: and 64 lower-case hex digits",
}

// Words is the description of a violation with words in the place of a pattern.
func (v Violation) Words() string {
	for pattern, words := range patternWords {
		for _, spelled := range []string{`match "` + pattern.String() + `"`, "match " + pattern.String()} {
			if before, after, found := strings.Cut(v.Description, spelled); found {
				return before + words + after
			}
		}
	}
	return v.Description
}

// name checks the name of a resource against a pattern. The words for a name
// that is missing or does not match are those of the published tutorial.
func (v *violations) name(s string, pattern *regexp.Regexp) {
	switch {
	case len(s) > maxNameBytes:
		v.add("name", "must be at most %d bytes", maxNameBytes)
	case !pattern.MatchString(s):
		v.add("name", `name must match "%s"`, pattern)
	}
}

// line checks an optional line of text.
func (v *violations) line(field, s string) {
	switch {
	case strings.ContainsFunc(s, unicode.IsControl):
		v.add(field, "must be one line without control characters")
	case !utf8.ValidString(s):
		v.add(field, "must be UTF-8")
	case utf8.RuneCountInString(s) > maxDescriptionChars:
		v.add(field, "must be at most %d characters", maxDescriptionChars)
	}
}

// label checks a short line of text that must not be empty.
func (v *violations) label(field, s string) {
	switch {
	case s == "":
		v.add(field, "is required")
	case len(s) > maxNameBytes:
		v.add(field, "must be at most %d bytes", maxNameBytes)
	default:
		v.line(field, s)
	}
}

// filter checks what rows are compared with: no row holds such text, and not
// every engine takes it.
func (v *violations) filter(field string, values ...string) {
	if slices.ContainsFunc(values, unstorable) {
		v.add(field, "must be UTF-8 without U+0000")
	}
}

func unstorable(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) }

// storable is what can be stored of a text, at most so many bytes.
func storable(s string, most int) string {
	s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}

// lines checks a list of lines of text.
func (v *violations) lines(field string, list []string, most int) {
	if len(list) > most {
		v.add(field, "must be at most %d", most)
		return
	}
	for _, s := range list {
		if s == "" {
			v.add(field, "must not hold an empty text")
			return
		}
		before := len(*v)
		if v.line(field, s); len(*v) > before {
			return
		}
	}
}

// oneOf checks an enum value; "" is unspecified and always good.
func oneOf[E ~string](v *violations, field string, value E, values []E) {
	if value == "" || slices.Contains(values, value) {
		return
	}
	v.add(field, "must be one of %s", strings.Join(textsOf(values), ", "))
}

func textsOf[E ~string](values []E) []string {
	texts := make([]string, len(values))
	for i, e := range values {
		texts[i] = string(e)
	}
	return texts
}

// parentOf is the containing group of most kinds.
func parentOf[T any](uid func(*T) UID) func(*T) UID {
	return func(row *T) UID { return uid(row).Parent() }
}
