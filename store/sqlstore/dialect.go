package sqlstore

import (
	"strconv"
	"strings"

	"atrium/platform"
)

// A Dialect holds the parts of SQL statements that differ between engines.
type Dialect struct {
	Placeholder string // before the number of an argument

	// InKeys compares with the list that is argument n: the primary key. Among
	// does so for other columns. What is listed are texts, or the bytes of UIDs.
	InKeys   func(n string, ofBytes bool) string
	InValues func(n string, ofBytes bool) string

	// Parents is a table p of columns of the same length, whose rows p.i numbers
	// addRows 1; arg adds an argument and answers how it is spelled.
	Parents func(arg func(any) string, columns ...ParentColumn) string

	// PerParent reads, for every row of p, the rows of table as t that page
	// selects; page may use p.
	PerParent func(parents, table, columns, page string) string

	// KeepRow, behind a select of a row of t, keeps other transactions from
	// changing it; "" where there is one writer.
	KeepRow string

	// NoEarlierWriters is the condition that every transaction that was there before
	// that of an event e has ended.
	NoEarlierWriters string

	// BindTime is how a moment is bound where database/sql binds it.
	BindTime func(t platform.Time) any

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

	// LimitLockWait begins a migration, whose wait for a lock holds up servers.
	LimitLockWait string

	// DDL replaces the tokens of migrations.
	DDL *strings.Replacer
}

// ParentColumn is a column of the table p of parents: texts, or the bytes of
// UIDs.
type ParentColumn struct {
	Name  string
	Texts []string
	Bytes [][]byte // used if Texts is nil
}

// Len returns the number of rows.
func (c ParentColumn) Len() int { return len(c.Texts) + len(c.Bytes) }

// textPairs makes the columns k and inside from texts.
func textPairs(keys, insides []string) []ParentColumn {
	return []ParentColumn{{Name: "k", Texts: keys}, {Name: "inside", Texts: insides}}
}

// underUIDs makes the columns k and inside from UIDs and texts.
func underUIDs(keys [][]byte, insides []string) []ParentColumn {
	return []ParentColumn{{Name: "k", Bytes: keys}, {Name: "inside", Texts: insides}}
}

// A Statement is one SQL statement with its arguments and the functions that
// receive its rows.
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
			s.sql.WriteString(s.dialect.InKeys(s.arg([]string(arg)), false))
		case valueList:
			if len(arg) == 1 { // so that an index gives the order of its rows
				s.sql.WriteString("= " + s.arg(arg[0]))
				break
			}
			s.sql.WriteString(s.dialect.InValues(s.arg([]string(arg)), false))
		case uidKeyList:
			s.sql.WriteString(s.dialect.InKeys(s.arg(packAllUIDs(arg)), true))
		case uidValueList:
			s.sql.WriteString(s.dialect.InValues(s.arg(packAllUIDs(arg)), true))
		default:
			s.sql.WriteString(s.arg(arg))
		}
		sql = after
	}
	s.sql.WriteString(sql)
	return s
}

// arg adds an argument and returns its placeholder.
func (s *statement) arg(value any) string {
	if u, ok := value.(platform.UID); ok {
		value = packUID(u)
	}
	s.args = append(s.args, value)
	return s.dialect.Placeholder + strconv.Itoa(len(s.args))
}

func (s *statement) build(row func(scan func(dest ...any) error) error) *Statement {
	return &Statement{SQL: s.sql.String(), Args: s.args, Row: row}
}
