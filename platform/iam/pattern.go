package iam

import (
	"container/list"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"atrium/platform/core"
)

// Limits of the patterns of rules. Patterns run on requests of unknown callers.
const (
	maxPatternBytes = 512
	// maxProgram bounds the instructions that a pattern compiles to: a text of
	// maxPatternBytes stays below it, nested repetition does not.
	maxProgram = 1000
	// maxMatched limits the texts that are matched with patterns, in bytes.
	maxMatched = 1024
	// maxWork limits the work for the rules of one organization per token, in
	// instructions times bytes: a few milliseconds.
	maxWork = 1 << 19

	maxPatterns      = 4096     // number of compiled patterns in the cache
	maxPatternMemory = 16 << 20 // bytes of all compiled patterns in the cache
	instructionBytes = 128      // estimated memory of one instruction
)

// checkPattern checks a regular expression.
func checkPattern(v *core.Violations, field, expression string) {
	if len(expression) > maxPatternBytes {
		v.Add(field, "must be at most %d bytes", maxPatternBytes)
	} else if parsed, err := syntax.Parse(expression, syntax.Perl); err != nil {
		v.Add(field, "must be an RE2 pattern")
	} else if n := programSize(parsed); n > maxProgram {
		v.Add(field, "must compile to at most %d instructions, not %d; repeat less", maxProgram, n)
	}
}

// programSize counts the instructions that an expression compiles to.
func programSize(parsed *syntax.Regexp) int {
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return maxProgram + 1
	}
	return len(program.Inst)
}

// A compiledPattern is a pattern that is ready for matching.
type compiledPattern struct {
	text   string
	regexp *regexp.Regexp // nil means that the text is not a valid pattern, or is too large
	size   int            // number of instructions
}

// compile compiles a pattern, unless it is invalid or too large.
func compile(text string) *compiledPattern {
	c := &compiledPattern{text: text}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil || len(text) > maxPatternBytes {
		return c
	}
	if c.size = programSize(parsed); c.size > maxProgram {
		return c
	}
	if c.regexp, err = regexp.Compile(text); err == nil {
		c.regexp.Longest()
	}
	return c
}

func (c *compiledPattern) memory() int { return len(c.text) + c.size*instructionBytes }

// patterns is a cache of compiled patterns that evicts the least recently used
// ones. It is safe for concurrent use.
type patterns struct {
	lock   sync.Mutex
	byText map[string]*list.Element
	used   *list.List // the list of each *compiledPattern, the latest first
	memory int
}

func newPatterns() *patterns {
	return &patterns{byText: map[string]*list.Element{}, used: list.New()}
}

// get returns a compiled pattern from the cache, or compiles it and adds it to the cache.
func (p *patterns) get(text string) *compiledPattern {
	p.lock.Lock()
	if at, ok := p.byText[text]; ok {
		p.used.MoveToFront(at)
		p.lock.Unlock()
		return at.Value.(*compiledPattern) //nolint:forcetypeassert // nothing else is put in
	}
	p.lock.Unlock()
	c := compile(text) // compile without the lock, so that others need not wait
	p.lock.Lock()
	defer p.lock.Unlock()
	if _, ok := p.byText[text]; ok {
		return c
	}
	p.byText[text] = p.used.PushFront(c)
	p.memory += c.memory()
	for p.used.Len() > maxPatterns || p.memory > maxPatternMemory {
		oldest := p.used.Remove(p.used.Back()).(*compiledPattern) //nolint:forcetypeassert // nothing else is put in
		delete(p.byText, oldest.text)
		p.memory -= oldest.memory()
	}
	return c
}

// A matcher matches one token with the rules of one organization.
type matcher struct {
	patterns *patterns
	work     int // amount of work that has been done
}

// matchFull reports whether a pattern matches all of s. The pattern is not wrapped
// in \A(?: and )\z, because it could close that group. When the organization has
// used up its work limit, its patterns match nothing.
func (m *matcher) matchFull(pattern, s string) bool {
	if len(s) > maxMatched {
		return false
	}
	c := m.patterns.get(pattern)
	if c.regexp == nil {
		return false
	}
	if m.work += c.size * (len(s) + 1); m.work > maxWork {
		return false
	}
	at := c.regexp.FindStringIndex(s)
	return at != nil && at[0] == 0 && at[1] == len(s)
}

func (m *matcher) matchOne(exact, pattern, got string) bool {
	if exact != "" {
		return exact == got
	}
	return m.matchFull(pattern, got)
}

// literalPrefix returns the text with which every match of a pattern begins. whole
// reports whether a match contains nothing else.
func literalPrefix(pattern string) (prefix string, whole bool) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	return literalStart(parsed.Simplify())
}

// literalStart is literalPrefix for a parsed pattern.
func literalStart(re *syntax.Regexp) (prefix string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return "", false
		}
		return string(re.Rune), true
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpEmptyMatch:
		return "", true
	case syntax.OpCapture:
		return literalStart(re.Sub[0])
	case syntax.OpConcat:
		var text strings.Builder
		for _, part := range re.Sub {
			start, all := literalStart(part)
			text.WriteString(start)
			if !all {
				return text.String(), false
			}
		}
		return text.String(), true
	default:
		return "", false
	}
}
