package limit

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"

	"atrium/internal/graphql/refusal"
)

// Limits holds the limits of one document. They depend only on the document, so a document
// that was accepted once is always accepted. 0 turns a limit off.
type Limits struct {
	Tokens      int // lexical tokens, without comments
	NameBytes   int // length of a name, because an alias is repeated in every row of the response
	Definitions int // operations and fragments
	Fields      int // fields as written, counting a fragment once; validation compares each pair of fields
	Aliases     int // fields with an alias
	Depth       int // fields within fields, through fragments
	RootFields  int // fields of the operation itself, through fragments

	Cost   int // cost of an operation with its variables
	Values int // scalars in the response, computed from the page sizes
	Keys   int // keys of one field, such as nodes(ids:) and _entities(representations:)
}

// DefaultLimits returns limits that allow the standard introspection query and large
// dashboards.
func DefaultLimits() Limits {
	return Limits{
		Tokens: 1000, NameBytes: 256, Definitions: 20, Fields: 400, Aliases: 100, Depth: 15, RootFields: 20,
		Cost: 5000, Values: 200_000, Keys: 200,
	}
}

// Reason is the reason in the details of every error about a limit.
const Reason = "LIMIT_EXCEEDED"

// NewExceeded returns the error for exceeding a limit. requested is the counted amount; the
// real amount can be larger, because counting may have stopped.
func NewExceeded(name string, limit, requested int) *gqlerror.Error {
	return withDetails(&gqlerror.Error{
		Message:    fmt.Sprintf("Limit exceeded: %s, at most %d", name, limit),
		Extensions: map[string]any{"limit": map[string]any{"name": name, "value": limit, "requested": requested}},
	})
}

// withDetails adds details to an error about a limit.
func withDetails(refused *gqlerror.Error) *gqlerror.Error {
	err := refusal.NewInvalid("query", "must be within the limit: "+strings.TrimPrefix(refused.Message, "Limit exceeded: "))
	err.Reason, err.Message = Reason, refused.Message
	refused.Err = err
	return refused
}

// checkTokens counts the tokens of a document up to the limit, and checks each of them.
func (l Limits) checkTokens(source *ast.Source) *gqlerror.Error {
	tokens := 0
	var text []rune // the document, in which the positions of tokens count runes
	for input := lexer.New(source); ; {
		token, _ := input.ReadToken() // a token with an error is Invalid
		switch token.Kind {
		case lexer.EOF, lexer.Invalid:
			return nil
		case lexer.Comment:
			continue
		}
		tokens++
		if exceeds(tokens, l.Tokens) {
			return NewExceeded("tokens", l.Tokens, tokens)
		}
		if token.Kind == lexer.Name && exceeds(len(token.Value), l.NameBytes) {
			return NewExceeded("name-bytes", l.NameBytes, len(token.Value))
		}
		if token.Kind == lexer.String && strings.ContainsRune(token.Value, utf8.RuneError) {
			if text == nil {
				text = []rune(source.Input)
			}
			if err := checkEscapes(token, string(text[token.Pos.Start:token.Pos.End])); err != nil {
				return err
			}
		}
	}
}

// escapePattern matches an escape sequence in a text. A second group that is not empty is one
// surrogate without its pair.
var escapePattern = regexp.MustCompile(`(?i)\\u(d[89ab]..\\ud[c-f]..|(d[89a-f]..)|)|\\.`)

// checkEscapes rejects the escape of half of a surrogate pair in a text, as in JSON. gqlparser
// reads it as U+FFFD, which is another text.
func checkEscapes(token lexer.Token, written string) *gqlerror.Error {
	for { // one at a time: all of them could take hundreds of times the memory of the text
		found := escapePattern.FindStringSubmatchIndex(written)
		if found == nil {
			return nil
		}
		if single := found[4:6]; single[0] < single[1] {
			err := gqlerror.ErrorLocf(token.Pos.Src.Name, token.Pos.Line, token.Pos.Column, "Invalid character escape sequence: %s.", written[found[0]:found[1]])
			errcode.Set(err, errcode.ParseFailed)
			return err
		}
		written = written[found[1]:]
	}
}

func exceeds(n, limit int) bool { return limit > 0 && n > limit }

// check rejects a document that exceeds a limit on its size.
func (l Limits) check(document *ast.QueryDocument) *gqlerror.Error {
	m := meter{document: document, sizes: map[*ast.FragmentDefinition]selectionSize{}}
	var most selectionSize
	for _, operation := range document.Operations {
		most = most.combine(m.size(operation.SelectionSet), false)
	}
	for _, fragment := range document.Fragments { // unused fragments are validated too
		m.fragment(fragment)
	}
	if m.deferred {
		return gqlerror.WrapIfUnwrapped(refusal.NewUnimplemented("@defer is not served"))
	}
	for _, c := range []struct {
		name         string
		limit, count int
	}{
		{"definitions", l.Definitions, len(document.Operations) + len(document.Fragments)},
		{"fields", l.Fields, m.fields},
		{"aliases", l.Aliases, m.aliases},
		{"depth", l.Depth, most.depth},
		{"root-fields", l.RootFields, most.width},
		{"expandedFields", maxExpanded, m.widest},
	} {
		if exceeds(c.count, c.limit) {
			return NewExceeded(c.name, c.limit, c.count)
		}
	}
	return nil
}

// A selectionSize is the number of fields and levels of a selection set, including its
// fragments.
type selectionSize struct{ width, depth int }

// maxCount is the number at which counting stops, because nested fragments can double
// it with each level.
const maxCount = 1 << 30

// maxExpanded is the largest number of fields in one selection set, counting a fragment as
// often as it is spread. A document that people or tools write has a hundredth of it.
const maxExpanded = 10_000

// combine returns the size of two selection sets: their maximum, or their sum if they
// are merged.
func (s selectionSize) combine(other selectionSize, merged bool) selectionSize {
	width := max(s.width, other.width)
	if merged {
		width = min(s.width+other.width, maxCount)
	}
	return selectionSize{width, max(s.depth, other.depth)}
}

// A meter walks every selection set of a document once.
type meter struct {
	document *ast.QueryDocument
	sizes    map[*ast.FragmentDefinition]selectionSize

	fields, aliases int
	widest          int // width of the widest selection set
	deferred        bool
}

func (m *meter) size(set ast.SelectionSet) (s selectionSize) {
	for _, selection := range set {
		switch x := selection.(type) {
		case *ast.Field:
			m.fields++
			if x.Alias != x.Name {
				m.aliases++
			}
			s = s.combine(selectionSize{1, 1 + m.size(x.SelectionSet).depth}, true)
		case *ast.InlineFragment:
			m.deferred = m.deferred || x.Directives.ForName("defer") != nil
			s = s.combine(m.size(x.SelectionSet), true)
		case *ast.FragmentSpread:
			m.deferred = m.deferred || x.Directives.ForName("defer") != nil
			if fragment := m.document.Fragments.ForName(x.Name); fragment != nil {
				s = s.combine(m.fragment(fragment), true)
			}
		}
	}
	m.widest = max(m.widest, s.width)
	return s
}

func (m *meter) fragment(f *ast.FragmentDefinition) selectionSize {
	if s, known := m.sizes[f]; known {
		return s
	}
	m.sizes[f] = selectionSize{} // ends a cycle, which validation rejects
	m.sizes[f] = m.size(f.SelectionSet)
	return m.sizes[f]
}
