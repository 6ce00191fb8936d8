package table

import (
	"strconv"
	"strings"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// A Statement builds a dbconn.Statement.
type Statement struct {
	Dialect *dbconn.Dialect
	Plan    dbconn.Plan
	Quick   bool
	slow    bool
	// isUniform means that the best plan is the same for all arguments, unless plan says
	// something else: the statement has lists of values, or consists of several selects.
	isUniform    bool
	Organization core.UID // organization of the branch that is being added; "" means that it is not known
	IsOfMany     bool     // whether the branch is one of many that are read in the same way
	sql          strings.Builder
	Args         []any
}

// NewStatement begins a statement.
func NewStatement(d *dbconn.Dialect) *Statement {
	s := &Statement{Dialect: d, Args: make([]any, 0, usualArgs)}
	s.sql.Grow(usualBytes)
	return s
}

// Most statements are no longer than this, and have no more arguments.
const usualBytes, usualArgs = 512, 4

// Keys is an argument with many texts for a primary key: "x ?" becomes x = ANY
// or x IN.
type Keys []string

// Values is an argument with many texts for a column other than the primary key.
type Values []string

// UIDKeys is the same for UIDs.
type UIDKeys []core.UID

// UIDValues is the same for UIDs.
type UIDValues []core.UID

// Add appends SQL in which each ? is replaced by the next argument.
func (s *Statement) Add(sql string, args ...any) *Statement {
	for _, arg := range args {
		before, after, _ := strings.Cut(sql, "?")
		s.sql.WriteString(before)
		switch arg := arg.(type) {
		case Keys:
			s.isUniform = true
			s.sql.WriteString(s.Dialect.InKeys(s.Arg([]string(arg)), false))
		case Values:
			if len(arg) == 1 { // with one value, an index gives the order of its rows
				s.sql.WriteString("= " + s.Arg(arg[0]))
				break
			}
			s.isUniform = true
			s.sql.WriteString(s.Dialect.InValues(s.Arg([]string(arg)), false))
		case UIDKeys:
			s.isUniform = true
			s.sql.WriteString(s.Dialect.InKeys(s.Arg(packAllUIDs(arg)), true))
		case UIDValues:
			s.isUniform = true
			s.sql.WriteString(s.Dialect.InValues(s.Arg(packAllUIDs(arg)), true))
		default:
			s.addArg(arg)
			s.sql.WriteString(s.Dialect.Placeholder)
			s.sql.WriteString(strconv.Itoa(len(s.Args)))
		}
		sql = after
	}
	s.sql.WriteString(sql)
	return s
}

// AddNow adds the time of the database.
func (s *Statement) AddNow() *Statement { return s.Add(s.Dialect.Now) }

// AddSlow is add for SQL that counts rows or searches for words.
func (s *Statement) AddSlow(sql string, args ...any) *Statement {
	s.slow = true
	return s.Add(sql, args...)
}

// AddUnion separates two selects.
func (s *Statement) AddUnion() *Statement {
	s.isUniform = true
	return s.Add(" UNION ALL ")
}

// Parents adds lists as arguments, and returns the table p of them: see Dialect.Parents.
func (s *Statement) Parents(columns ...dbconn.ParentColumn) string {
	s.isUniform = true
	return s.Dialect.Parents(s.Arg, columns...)
}

// AddPerParent adds what page, which follows the arguments of s, selects for each row of p:
// see Dialect.PerParent.
func (s *Statement) AddPerParent(parents, table, columns string, page *Statement) {
	s.Args, s.slow, s.isUniform = page.Args, s.slow || page.slow, s.isUniform || page.isUniform
	s.sql.WriteString(s.Dialect.PerParent(parents, table, columns, page.sql.String()))
}

// Follow begins a statement whose arguments follow those of s.
func (s *Statement) Follow() *Statement {
	page := NewStatement(s.Dialect)
	page.Args = s.Args
	return page
}

// Arg adds an argument and returns its placeholder.
func (s *Statement) Arg(value any) string {
	s.addArg(value)
	return s.Dialect.Placeholder + strconv.Itoa(len(s.Args))
}

func (s *Statement) addArg(value any) {
	if u, ok := value.(core.UID); ok {
		value = PackUID(u)
	}
	s.Args = append(s.Args, value)
}

// Build returns the statement. It calls row for each row that it has found; nil means that no row is read.
func (s *Statement) Build(row func(scan func(dest ...any) error) error) *dbconn.Statement {
	if s.Plan == dbconn.PlanAsNeeded && s.isUniform {
		s.Plan = dbconn.PlanOnce
	}
	return &dbconn.Statement{SQL: s.sql.String(), Args: s.Args, Plan: s.Plan, Slow: s.slow, Quick: s.Quick, Row: row}
}

// TextPairs returns the columns k and inside from texts.
func TextPairs(keys, insides []string) []dbconn.ParentColumn {
	return []dbconn.ParentColumn{{Name: "k", Texts: keys}, {Name: "inside", Texts: insides}}
}

// UIDPairs returns the columns k from UIDs and inside from texts.
func UIDPairs(keys [][]byte, insides []string) []dbconn.ParentColumn {
	return []dbconn.ParentColumn{{Name: "k", Bytes: keys}, {Name: "inside", Texts: insides}}
}
