package platform

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// What is looked for, and what it is looked for in, are brought into one form
// before they are compared, so that databases need only compare bytes: letters
// are lower case, every text and every word in it has two blanks before it, and
// every text ends with a line break.

// wordStart comes before each word of a text.
const wordStart = "  "

// SearchText is what words are looked for in, of texts of which the first is a
// name.
func SearchText(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		if start := SearchStart(text); start != wordStart {
			b.WriteString(start + "\n")
		}
	}
	return b.String()
}

// SearchStart is how the search text of a row begins whose name begins with
// text.
func SearchStart(text string) string {
	return wordStart + strings.Join(strings.Fields(strings.ToLower(text)), wordStart)
}

// shortWord is the length from which on a word is looked for inside of words. A
// shorter one is in too many of them, and no index helps to find it.
const shortWord = 3

// SearchWords are what a search text must hold, all of it and in any order, for
// a query to find it: the words of the query, in which a short one stands with
// what comes before each word.
func SearchWords(query string) []string {
	words := strings.Fields(strings.ToLower(query))
	for i, word := range words {
		if utf8.RuneCountInString(word) < shortWord {
			words[i] = wordStart + word
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// maxWords bounds a query.
const maxWords = 16

// query checks a text that rows are searched for; "" is none.
func (v *violations) query(text string) {
	const field = "query"
	switch words := strings.Fields(text); {
	case text == "":
	case len(words) == 0:
		v.add(field, "must hold a word")
	case len(words) > maxWords:
		v.add(field, "must be at most %d words", maxWords)
	default:
		v.line(field, text)
		v.filter(field, text)
	}
}

// A SearchField is one that a search looks at.
type SearchField string

// The fields.
const (
	SearchName        SearchField = "NAME"
	SearchDescription SearchField = "DESCRIPTION"
	SearchAliases     SearchField = "ALIASES"
	SearchEmail       SearchField = "EMAIL"
)

// searchedText is a text of a row, and the field that it stands in.
type searchedText struct {
	field SearchField
	text  string
}

func (g *Group) searched() []searchedText {
	return []searchedText{{SearchName, g.Name}, {SearchDescription, g.Description}}
}

func (i *Identity) searched() []searchedText {
	return []searchedText{{SearchName, i.Name}, {SearchDescription, i.Description}, {SearchEmail, i.Email}, {SearchEmail, i.EmailUnverified}}
}

func (r *Role) searched() []searchedText {
	return []searchedText{{SearchName, r.Name}, {SearchDescription, r.Description}}
}

func (r *Repo) searched() []searchedText {
	texts := []searchedText{{SearchName, r.Name}, {SearchDescription, r.Description}}
	for _, alias := range r.Aliases {
		texts = append(texts, searchedText{SearchAliases, alias})
	}
	return texts
}

func (t *Tag) searched() []searchedText { return []searchedText{{SearchName, t.Name}} }

// SearchText is what words are looked for in.
func (g *Group) SearchText() string { return textOf(g.searched()) }

// SearchText is what words are looked for in.
func (i *Identity) SearchText() string { return textOf(i.searched()) }

// SearchText is what words are looked for in.
func (r *Role) SearchText() string { return textOf(r.searched()) }

// SearchText is what words are looked for in.
func (r *Repo) SearchText() string { return textOf(r.searched()) }

func textOf(searched []searchedText) string {
	texts := make([]string, len(searched))
	for i, s := range searched {
		texts[i] = s.text
	}
	return SearchText(texts...)
}

// matchedField is the field of a row that holds the most of the words, the first
// one of several.
func matchedField(searched []searchedText, words []string) SearchField {
	most, best := 0, SearchName
	for _, s := range searched {
		text, held := SearchText(s.text), 0
		for _, word := range words {
			if strings.Contains(text, word) {
				held++
			}
		}
		if held > most {
			most, best = held, s.field
		}
	}
	return best
}
