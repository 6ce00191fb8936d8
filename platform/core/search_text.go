package core

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Queries and searched texts are normalized before they are compared, so that
// databases only need to compare bytes: the store folds their letters (Store.FoldText),
// each word is preceded by two blanks, and each text ends with a line break.

// wordStart precedes each word of a text.
const wordStart = "  "

// SearchText returns the words of texts, which are not folded. The first text is a name.
func SearchText(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		if start := searchStart(text); start != wordStart {
			b.WriteString(start + "\n")
		}
	}
	return b.String()
}

// searchStart returns the beginning of the search texts of rows whose name begins
// with text.
func searchStart(text string) string {
	return wordStart + strings.Join(strings.Fields(text), wordStart)
}

// shortWord is the minimum length of a word that is also searched inside of other
// words. Shorter ones occur in too many words, and no index can find them.
const shortWord = 3

// SearchWords returns the texts that a search text must contain, in any order, to
// match a folded query: the words of the query. A short word includes wordStart, so that
// it matches only at the start of a word.
func SearchWords(query string) []string {
	words := strings.Fields(query)
	for i, word := range words {
		if utf8.RuneCountInString(word) < shortWord {
			words[i] = wordStart + word
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// maxWords limits the words of a query.
const maxWords = 16

// CheckQuery checks a search query; "" means no query.
func (v *Violations) CheckQuery(text string) {
	const field = "query"
	switch words := strings.Fields(text); {
	case text == "":
	case len(words) == 0:
		v.Add(field, "must contain a word")
	case len(words) > maxWords:
		v.Add(field, "must have at most %d words", maxWords)
	default:
		v.CheckLine(field, text)
		v.CheckFilter(field, text)
	}
}

// A SearchField is a field that a search looks at.
type SearchField string

// The fields.
const (
	SearchName        SearchField = "NAME"
	SearchDescription SearchField = "DESCRIPTION"
	SearchAliases     SearchField = "ALIASES"
	SearchEmail       SearchField = "EMAIL"
)

// FieldText is a text of a row and its field.
type FieldText struct {
	Field SearchField
	Text  string
}

// JoinSearchText returns the text that searches look at.
func JoinSearchText(searched []FieldText) string {
	texts := make([]string, len(searched))
	for i, s := range searched {
		texts[i] = s.Text
	}
	return SearchText(texts...)
}

// matchedField returns the field of a row that contains the most words of a folded query;
// of several such fields, the first.
func matchedField(searched []FieldText, words []string, fold func(string) string) SearchField {
	most, best := 0, SearchName
	for _, s := range searched {
		text, held := fold(SearchText(s.Text)), 0
		for _, word := range words {
			if strings.Contains(text, word) {
				held++
			}
		}
		if held > most {
			most, best = held, s.Field
		}
	}
	return best
}
