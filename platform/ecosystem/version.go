package ecosystem

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Versions are sorted in the order of their ecosystem. The database must sort
// them, because it reads pages. Therefore each version has a key: a text whose
// bytes sort like the versions. Versions that the ecosystem considers equal, such
// as 1.0 and 1.0.0, have equal keys.

// maxVersionKey limits a key, so that a page token stays below 512 bytes. Only
// versions of more than about a hundred bytes have longer keys. Differences after
// the limit do not affect the order.
const maxVersionKey = 300

// MavenVersionKey returns the sort key of a version in Maven's order. Every text is a valid
// version.
func MavenVersionKey(version string) string { return limitKey(mavenKey(version)) }

// PythonVersionKey returns the sort key of a version in the order of PEP 440. Versions that do
// not follow its grammar sort first.
func PythonVersionKey(version string) string { return limitKey(pythonKey(version)) }

func limitKey(key string) string {
	if len(key) <= maxVersionKey {
		return key
	}
	end := maxVersionKey
	for !utf8.RuneStart(key[end]) {
		end--
	}
	return key[:end]
}

// numberKey returns the part of a key for a decimal number of any length. It
// begins with the length, because a longer number is larger. It starts with a
// letter, and no such part is a prefix of another.
func numberKey(digits string) string {
	const short = 40
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		digits = "0"
	}
	if len(digits) <= short {
		return string(rune('A'+len(digits)-1)) + digits
	}
	return fmt.Sprintf("z%03d", len(digits)) + digits
}

// endOfText ends a part of a key that is free text, so that a text sorts before
// its extensions. Versions contain no control characters.
const endOfText = "\x01"

// pythonVersion is the grammar of PEP 440, appendix B.
var pythonVersion = regexp.MustCompile(`^v?(?:(?P<epoch>[0-9]+)!)?(?P<release>[0-9]+(?:\.[0-9]+)*)` +
	`(?P<pre>[-_.]?(?P<phase>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<preNumber>[0-9]+)?)?` +
	`(?P<post>-(?P<bare>[0-9]+)|[-_.]?(?:post|rev|r)[-_.]?(?P<postNumber>[0-9]+)?)?` +
	`(?P<dev>[-_.]?dev[-_.]?(?P<devNumber>[0-9]+)?)?` +
	`(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`)

// The parts of a Python key that mark missing and present parts of a version.
// Digits sort before the letters with which numbers begin.
const (
	pythonUnknown = "0"
	pythonKnown   = "1"
	partLeast     = "0" // sorts before all other values
	partThere     = "1"
	partMost      = "9" // sorts after all other values
	endOfList     = "!"
)

// pythonKey follows PEP 440: epoch, release without trailing zeros, then
// development release < pre-release < release < post-release, and the local
// version last.
func pythonKey(version string) string {
	m := pythonVersion.FindStringSubmatch(strings.ToLower(strings.TrimSpace(version)))
	if m == nil {
		return pythonUnknown + version
	}
	part := func(name string) string { return m[pythonVersion.SubexpIndex(name)] }
	key := strings.Builder{}
	key.WriteString(pythonKnown + numberKey(part("epoch")))
	release := strings.Split(part("release"), ".")
	for len(release) > 0 && strings.Trim(release[len(release)-1], "0") == "" {
		release = release[:len(release)-1]
	}
	for _, n := range release {
		key.WriteString(numberKey(n))
	}
	key.WriteString(endOfList)
	switch {
	case part("pre") != "":
		key.WriteString(pythonPhase(part("phase")) + numberKey(part("preNumber")))
	case part("post") == "" && part("dev") != "":
		key.WriteString(partLeast) // 1.0.dev1 comes before 1.0a1
	default:
		key.WriteString(partMost)
	}
	if part("post") != "" {
		key.WriteString(partThere + numberKey(part("bare")+part("postNumber")))
	} else {
		key.WriteString(partLeast)
	}
	if part("dev") != "" {
		key.WriteString(partThere + numberKey(part("devNumber")))
	} else {
		key.WriteString(partMost)
	}
	return key.String() + pythonLocal(part("local"))
}

func pythonPhase(name string) string {
	switch name[0] {
	case 'a':
		return "1"
	case 'b':
		return "2"
	default: // rc, c, pre and preview are the same
		return "3"
	}
}

// pythonLocal returns the part of a key for a local version. Words sort before
// numbers, and an absent local version sorts first.
func pythonLocal(local string) string {
	if local == "" {
		return ""
	}
	key := ""
	for _, word := range strings.FieldsFunc(local, func(c rune) bool { return strings.ContainsRune("-_.", c) }) {
		if strings.Trim(word, "0123456789") == "" {
			key += "2" + numberKey(word)
		} else {
			key += "1" + word + endOfText
		}
	}
	return key
}
