package platform

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Versions sort as their ecosystem sorts them, and the database must do it,
// since it cuts pages. So each version is kept with a key: a text whose bytes
// compare as the versions do. Equal keys are versions that the ecosystem takes
// for the same, such as 1.0 and 1.0.0.

// maxVersionKey bounds a key, so that a page token stays below 512 bytes. Only
// versions of more than some hundred bytes have so much to tell; what they
// differ in behind it does not sort them.
const maxVersionKey = 300

// versionKey is the key of a version. What the ecosystem's grammar does not
// know comes before all that it does.
func (e Ecosystem) versionKey(version string) string {
	var key string
	switch e {
	case EcosystemJava:
		key = mavenKey(version)
	case EcosystemPython:
		key = pythonKey(version)
	default:
		key = version
	}
	if len(key) <= maxVersionKey {
		return key
	}
	end := maxVersionKey
	for !utf8.RuneStart(key[end]) {
		end--
	}
	return key[:end]
}

// number is the part of a key for a decimal number of any length. A longer one
// is larger, so its length goes first. It begins with a letter, and none is
// the beginning of another.
func number(digits string) string {
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

// endOfText ends a part of a key that is any text: a text sorts before those
// that it begins. No version holds a control character.
const endOfText = "\x01"

// pythonVersion is the grammar of PEP 440, appendix B.
var pythonVersion = regexp.MustCompile(`^v?(?:(?P<epoch>[0-9]+)!)?(?P<release>[0-9]+(?:\.[0-9]+)*)` +
	`(?P<pre>[-_.]?(?P<phase>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<preNumber>[0-9]+)?)?` +
	`(?P<post>-(?P<bare>[0-9]+)|[-_.]?(?:post|rev|r)[-_.]?(?P<postNumber>[0-9]+)?)?` +
	`(?P<dev>[-_.]?dev[-_.]?(?P<devNumber>[0-9]+)?)?` +
	`(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`)

// What stands in a Python key for a part that is missing or there. Digits sort
// before the letters that numbers begin with.
const (
	pythonUnknown = "0"
	pythonKnown   = "1"
	partLeast     = "0" // before all that may stand in its place
	partThere     = "1"
	partMost      = "9" // after all
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
	key.WriteString(pythonKnown + number(part("epoch")))
	release := strings.Split(part("release"), ".")
	for len(release) > 0 && strings.Trim(release[len(release)-1], "0") == "" {
		release = release[:len(release)-1]
	}
	for _, n := range release {
		key.WriteString(number(n))
	}
	key.WriteString(endOfList)
	switch {
	case part("pre") != "":
		key.WriteString(pythonPhase(part("phase")) + number(part("preNumber")))
	case part("post") == "" && part("dev") != "":
		key.WriteString(partLeast) // 1.0.dev1 comes before 1.0a1
	default:
		key.WriteString(partMost)
	}
	if part("post") != "" {
		key.WriteString(partThere + number(part("bare")+part("postNumber")))
	} else {
		key.WriteString(partLeast)
	}
	if part("dev") != "" {
		key.WriteString(partThere + number(part("devNumber")))
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

// pythonLocal sorts words before numbers, and nothing before all.
func pythonLocal(local string) string {
	if local == "" {
		return ""
	}
	key := ""
	for _, word := range strings.FieldsFunc(local, func(c rune) bool { return strings.ContainsRune("-_.", c) }) {
		if strings.Trim(word, "0123456789") == "" {
			key += "2" + number(word)
		} else {
			key += "1" + word + endOfText
		}
	}
	return key
}
