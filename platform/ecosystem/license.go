package ecosystem

import (
	"slices"
	"strings"
	"unicode"
)

// NoLicense stands for a package of which no license is known, where licenses are asked for.
const NoLicense = "NONE"

// LicenseIDs lists the licenses that a text names: those of an expression of SPDX such as (MIT OR Apache-2.0), or the text itself if it is
// none. A license such as GPL-2.0+ is listed with and without the sign. Older packages of Rust write MIT/Apache-2.0.
func LicenseIDs(text string) (ids []string) {
	isSlashed := strings.Contains(text, "/") && !strings.Contains(text, ":")
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '(' || r == ')' || r == '/' && isSlashed })
	wantsOperator := false
	for i, word := range words {
		isOperator := isLicenseOperator(word)
		if isOperator != wantsOperator && (isOperator || !isSlashed) || !isOperator && !isLicenseID(word) || isOperator && i == len(words)-1 {
			return []string{text}
		}
		if wantsOperator = !isOperator; isOperator || slices.Contains(ids, word) {
			continue
		}
		ids = append(ids, word)
		if id, hasPlus := strings.CutSuffix(word, "+"); hasPlus && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if ids == nil {
		return []string{text}
	}
	return ids
}

func isLicenseOperator(word string) bool {
	return slices.ContainsFunc([]string{"AND", "OR", "WITH"}, func(operator string) bool { return strings.EqualFold(word, operator) })
}

// isLicenseID reports whether a word can be the id of a license, an exception, or a reference to another document.
func isLicenseID(word string) bool {
	word = strings.TrimSuffix(word, "+")
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return r > unicode.MaxASCII || r != '-' && r != '.' && r != ':' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// FoldLicense returns the form in which licenses are compared, whatever their case.
func FoldLicense(text string) string { return strings.ToLower(text) }

// HasLicense reports whether one of the licenses of a package is, or has in an expression, one of those that are asked for.
func HasLicense(licenses, asked []string) bool {
	for _, want := range asked {
		if want == NoLicense && len(licenses) == 0 {
			return true
		}
		for _, text := range licenses {
			isWanted := func(id string) bool { return FoldLicense(id) == FoldLicense(want) }
			if isWanted(text) || slices.ContainsFunc(LicenseIDs(text), isWanted) {
				return true
			}
		}
	}
	return false
}
