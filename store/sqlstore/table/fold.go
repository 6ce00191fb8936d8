package table

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the form in which searches compare texts: two texts have the same form if
// Unicode says that they differ only in case, or in how they encode the same characters. So ς, σ
// and Σ are one letter, ß is ss, and a letter with an accent is one character. The stored text of
// a row and the query both have this form, so that the databases only compare bytes.
//
// A text does not say whether it is Turkish, where the small form of I is ı and that of İ is i.
// So these four letters are one.
//
// The form is NFC. NFKC would also change what texts say: x² would become x2, and one sign can
// become several words.
func Fold(text string) string {
	small := strings.ToLower(norm.NFD.String(text)) // Fold exchanges the two cases of Cherokee letters, so there must be only one
	return norm.NFC.String(lettersI.Replace(cases.Fold().String(small)))
}

// lettersI replaces the small letters of Turkish in folded texts, where İ is i with a dot above.
var lettersI = strings.NewReplacer("i\u0307", "i", "ı", "i")

// SearchColumn returns the column of the search texts of a kind.
func SearchColumn[T any](textOf func(T) string) Column[T] {
	return Column[T]{"t.search", "", func(row T) any { return new(Fold(textOf(row))) }}
}
