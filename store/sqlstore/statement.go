package sqlstore

import (
	"strconv"
	"strings"

	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

// statement builds a Statement.
type statement struct {
	dialect *dbconn.Dialect
	plan    dbconn.Plan
	quick   bool
	slow    bool
	// isUniform means that the best plan is the same for all arguments, unless plan says
	// something else: the statement has lists of values, or consists of several selects.
	isUniform bool
	root      platform.UID // organisation of the branch that is being added; "" means that it is not known
	isOfMany  bool         // whether the branch is one of many that are read in the same way
	sql       strings.Builder
	args      []any
}

func newStatement(d *dbconn.Dialect) *statement {
	s := &statement{dialect: d, args: make([]any, 0, usualArgs)}
	s.sql.Grow(usualBytes)
	return s
}

// Most statements are no longer than this, and have no more arguments.
const usualBytes, usualArgs = 512, 4

// keyList is an argument with many texts for a primary key: "x ?" becomes x = ANY
// or x IN.
type keyList []string

// valueList is an argument with many texts for a column other than the primary key.
type valueList []string

// uidKeyList and uidValueList are the same for UIDs.
type (
	uidKeyList   []platform.UID
	uidValueList []platform.UID
)

// add appends SQL in which each ? is replaced by the next argument.
func (s *statement) add(sql string, args ...any) *statement {
	for _, arg := range args {
		before, after, _ := strings.Cut(sql, "?")
		s.sql.WriteString(before)
		switch arg := arg.(type) {
		case keyList:
			s.isUniform = true
			s.sql.WriteString(s.dialect.InKeys(s.arg([]string(arg)), false))
		case valueList:
			if len(arg) == 1 { // with one value, an index gives the order of its rows
				s.sql.WriteString("= " + s.arg(arg[0]))
				break
			}
			s.isUniform = true
			s.sql.WriteString(s.dialect.InValues(s.arg([]string(arg)), false))
		case uidKeyList:
			s.isUniform = true
			s.sql.WriteString(s.dialect.InKeys(s.arg(packAllUIDs(arg)), true))
		case uidValueList:
			s.isUniform = true
			s.sql.WriteString(s.dialect.InValues(s.arg(packAllUIDs(arg)), true))
		default:
			s.addArg(arg)
			s.sql.WriteString(s.dialect.Placeholder)
			s.sql.WriteString(strconv.Itoa(len(s.args)))
		}
		sql = after
	}
	s.sql.WriteString(sql)
	return s
}

// addNow adds the time of the database.
func (s *statement) addNow() *statement { return s.add(s.dialect.Now) }

// addSlow is add for SQL that counts rows or searches for words.
func (s *statement) addSlow(sql string, args ...any) *statement {
	s.slow = true
	return s.add(sql, args...)
}

// addUnion separates two selects.
func (s *statement) addUnion() *statement {
	s.isUniform = true
	return s.add(" UNION ALL ")
}

// parents adds lists as arguments, and returns the table p of them: see Dialect.Parents.
func (s *statement) parents(columns ...dbconn.ParentColumn) string {
	s.isUniform = true
	return s.dialect.Parents(s.arg, columns...)
}

// addPerParent adds what page, which follows the arguments of s, selects for each row of p:
// see Dialect.PerParent.
func (s *statement) addPerParent(parents, table, columns string, page *statement) {
	s.args, s.slow, s.isUniform = page.args, s.slow || page.slow, s.isUniform || page.isUniform
	s.sql.WriteString(s.dialect.PerParent(parents, table, columns, page.sql.String()))
}

// follow begins a statement whose arguments follow those of s.
func (s *statement) follow() *statement {
	page := newStatement(s.dialect)
	page.args = s.args
	return page
}

// arg adds an argument and returns its placeholder.
func (s *statement) arg(value any) string {
	s.addArg(value)
	return s.dialect.Placeholder + strconv.Itoa(len(s.args))
}

func (s *statement) addArg(value any) {
	if u, ok := value.(platform.UID); ok {
		value = packUID(u)
	}
	s.args = append(s.args, value)
}

func (s *statement) build(row func(scan func(dest ...any) error) error) *dbconn.Statement {
	if s.plan == dbconn.PlanAsNeeded && s.isUniform {
		s.plan = dbconn.PlanOnce
	}
	return &dbconn.Statement{SQL: s.sql.String(), Args: s.args, Plan: s.plan, Slow: s.slow, Quick: s.quick, Row: row}
}

// textPairs returns the columns k and inside from texts.
func textPairs(keys, insides []string) []dbconn.ParentColumn {
	return []dbconn.ParentColumn{{Name: "k", Texts: keys}, {Name: "inside", Texts: insides}}
}

// uidPairs returns the columns k from UIDs and inside from texts.
func uidPairs(keys [][]byte, insides []string) []dbconn.ParentColumn {
	return []dbconn.ParentColumn{{Name: "k", Bytes: keys}, {Name: "inside", Texts: insides}}
}
