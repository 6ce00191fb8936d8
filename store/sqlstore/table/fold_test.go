package table

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func TestTextsOfTheSameLettersFoldAlike(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"Σίσυφος", "ΣΊΣΥΦΟΣ", "σίσυφοσ", norm.NFD.String("Σίσυφος")},
		{"straße", "STRASSE", "STRAẞE", "Strasse"},
		{"istanbul", "İstanbul", "İSTANBUL", "ISTANBUL", "i̇stanbul", "ıstanbul"},
		{"DİYARBAKIR", "Diyarbakır"},
		{"Ähre", "A\u0308HRE"}, {"ﬁle", "FILE"}, {"ῼ", "ΩΙ", "ῳ", "ωι"}, {"\u212b", "å"}, {"\u212a", "k"}, {"ᏸ", "Ᏸ"}, {"ΐ", "\u0390", "ι\u0308\u0301"},
		{"i\u0307\u0301", "í", "İ\u0301"},
	} {
		for _, text := range same[1:] {
			if got, want := Fold(text), Fold(same[0]); got != want {
				t.Errorf("%q folds to %q, and %q to %q", text, got, same[0], want)
			}
		}
	}
	for _, other := range [][2]string{{"x²", "x2"}, {"é", "e"}, {"σ", "ς́"}, {"日", "本"}} {
		if Fold(other[0]) == Fold(other[1]) {
			t.Errorf("%q and %q fold alike", other[0], other[1])
		}
	}
}

// Unicode's table of simple foldings in the standard library says which characters differ only
// in case.
func TestEveryCharacterFoldsLikeItsOtherForms(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r == '\ufffd' || r >= 0xd800 && r < 0xe000 {
			continue
		}
		text := string(r)
		folded := Fold(text)
		for _, same := range []string{folded, string(unicode.SimpleFold(r)), norm.NFC.String(text), norm.NFD.String(text), norm.NFC.String(folded)} {
			if got := Fold(same); got != folded {
				t.Errorf("%+q folds to %+q, and its form %+q to %+q", text, folded, same, got)
			}
		}
		if words := len(strings.Fields(folded)); words != len(strings.Fields(text)) {
			t.Errorf("%+q folds to %+q, which has %d words", text, folded, words)
		}
		if norm.NFC.String(folded) != folded {
			t.Errorf("%+q folds to %+q, which is not NFC", text, folded)
		}
	}
}
