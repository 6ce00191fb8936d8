package sqlstore

import (
	"strconv"
	"strings"

	"atrium/platform"
)

// A Dialect is what the engines spell differently in the SQL that they share.
type Dialect struct {
	Placeholder string // before the number of an argument

	// List compares with the list that is argument n: the primary key. Among
	// does so for other columns. What is listed are texts, or the bytes of UIDs.
	List  func(n string, ofBytes bool) string
	Among func(n string, ofBytes bool) string

	// Parents is a table p of columns of the same length, whose rows p.i numbers
	// addRows 1; arg adds an argument and answers how it is spelled.
	Parents func(arg func(any) string, columns ...ParentColumn) string

	// PerParent reads, for every row of p, the rows of table as t that page
	// selects; page may use p.
	PerParent func(parents, table, columns, page string) string

	// KeepRow, behind a select of a row of t, keeps other transactions from
	// changing it; "" where there is one writer.
	KeepRow string

	// Settled is the condition that every transaction that was there before
	// that of an event e has ended.
	Settled string

	// Moment is how a moment is bound where database/sql binds it.
	Moment func(t platform.Time) any

	// Intervals is the number of whole intervals, of so many seconds each, that
	// lie between an origin and a column of times.
	Intervals func(column, origin, seconds string) string

	// NextTransaction is the lowest id that the next transaction can have; ""
	// where transactions have none.
	NextTransaction string

	// Slots is how many rows of counter a busy scope is spread over, so that
	// writers do not wait for each other.
	Slots int

	// Trigrams says that what words are looked for in has an index that is a table
	// of its own, which statements must begin with. Else it has one of extensions.
	Trigrams bool

	// Elements is a table e of the values of a column that keeps a list as JSON.
	Elements func(column string) string

	// TableExists finds a row where the table that is its argument is there.
	TableExists string

	// Pipelines says that statements sent together take one round trip.
	Pipelines bool

	// Triggers says that tables can be rebuilt beside servers that run: triggers
	// in PL/pgSQL take what these write along.
	Triggers bool

	// DDL replaces the tokens of migrations.
	DDL *strings.Replacer
}

// A ParentColumn is a column of the table p of parents: texts, or the bytes of
// UIDs.
type ParentColumn struct {
	Name  string
	Texts []string
	Bytes [][]byte // where Texts is nil
}

// Len is how many rows the column has.
func (c ParentColumn) Len() int { return len(c.Texts) + len(c.Bytes) }

// textPairs are the columns k and inside of texts.
func textPairs(keys, insides []string) []ParentColumn {
	return []ParentColumn{{Name: "k", Texts: keys}, {Name: "inside", Texts: insides}}
}

// underUIDs are the columns k and inside of UIDs and texts.
func underUIDs(keys [][]byte, insides []string) []ParentColumn {
	return []ParentColumn{{Name: "k", Bytes: keys}, {Name: "inside", Texts: insides}}
}

// A Statement is one SQL statement with its arguments and what is to be done
// with its rows.
type Statement struct {
	SQL  string
	Args []any

	// Row is called for each row; scan takes what database/sql takes.
	Row func(scan func(dest ...any) error) error

	// Affected is set to the number of rows changed, where Row is nil.
	Affected int64

	// Done is set when the statement has run and all of its rows were read.
	Done bool
}

// statement builds a Statement.
type statement struct {
	dialect *Dialect
	sql     strings.Builder
	args    []any
}

func (d *Dialect) statement() *statement { return &statement{dialect: d} }

// list is an argument that holds many texts; "x ?" with one becomes x = ANY
// or x IN.
type list []string

// among is a list that a column other than the primary key is compared with.
type among []string

// uidList and amongUIDs are the same for UIDs.
type (
	uidList   []platform.UID
	amongUIDs []platform.UID
)

// add appends SQL in which each ? stands for the next argument.
func (s *statement) add(sql string, args ...any) *statement {
	for _, arg := range args {
		before, after, _ := strings.Cut(sql, "?")
		s.sql.WriteString(before)
		switch arg := arg.(type) {
		case list:
			s.sql.WriteString(s.dialect.List(s.arg([]string(arg)), false))
		case among:
			s.sql.WriteString(s.dialect.Among(s.arg([]string(arg)), false))
		case uidList:
			s.sql.WriteString(s.dialect.List(s.arg(packedAll(arg)), true))
		case amongUIDs:
			s.sql.WriteString(s.dialect.Among(s.arg(packedAll(arg)), true))
		default:
			s.sql.WriteString(s.arg(arg))
		}
		sql = after
	}
	s.sql.WriteString(sql)
	return s
}

// arg adds an argument and answers how it is spelled.
func (s *statement) arg(value any) string {
	if u, ok := value.(platform.UID); ok {
		value = packed(u)
	}
	s.args = append(s.args, value)
	return s.dialect.Placeholder + strconv.Itoa(len(s.args))
}

func (s *statement) done(row func(scan func(dest ...any) error) error) *Statement {
	return &Statement{SQL: s.sql.String(), Args: s.args, Row: row}
}
