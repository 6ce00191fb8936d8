package sqlstore

import (
	"strconv"
	"strings"

	"atrium/platform"
)

// A Dialect holds the parts of SQL statements that differ between engines.
type Dialect struct {
	Placeholder string // character that begins the placeholder of an argument, such as $

	// InKeys returns a comparison of the primary key with a list, whose placeholder is n.
	// The list holds texts, or UIDs as bytes. InValues does so for other columns.
	InKeys   func(n string, ofBytes bool) string
	InValues func(n string, ofBytes bool) string

	// Parents returns a table p of columns that have the same length. Its column p.i
	// numbers the rows from 1. arg adds an argument and returns its placeholder.
	Parents func(arg func(any) string, columns ...ParentColumn) string

	// PerParent returns SQL that reads, for every row of p, the rows of table that page
	// selects. They are named t, and page may use p.
	PerParent func(parents, table, columns, page string) string

	// JoinBytes returns SQL that joins an argument and a column, both of bytes.
	JoinBytes func(arg, column string) string

	// KeepRow is the clause of a select that locks the row of t until the transaction
	// ends. It is "" if there is only one writer.
	KeepRow string

	// SkipLocked is the clause of a select that locks its rows, and leaves out those that
	// another transaction has locked. It is "" if there is only one writer.
	SkipLocked string

	// NoEarlierWriters is the condition that every transaction before that of an event e
	// has ended.
	NoEarlierWriters string

	// BindTime returns the argument for a time if database/sql binds it.
	BindTime func(t platform.Time) any

	// Intervals returns the number of whole intervals of some seconds between an origin
	// and a column of times.
	Intervals func(column, origin, seconds string) string

	// Now is the time of the database server. It is "" if that is the time of this process.
	Now string

	// ReadTime returns the time of a column with milliseconds since 1970 as a text.
	ReadTime func(millis string) string

	// NextTransaction is the lowest id that the next transaction can have. It is "" if
	// transactions have no ids.
	NextTransaction string

	// Slots is the number of rows in counter for a busy scope, so that writers do not
	// wait for each other.
	Slots int

	// Trigrams means that the index of search texts is a separate table, with which
	// statements must begin. Otherwise the index comes from extensions.
	Trigrams bool

	// Elements returns a table e of the values of a column that contains a list in JSON.
	Elements func(column string) string

	// TableExists is a statement that finds a row if the table in its argument exists.
	TableExists string

	// Pipelines means that statements that are sent together take one round trip.
	Pipelines bool

	// Partitions means that events and deliveries are stored as partitions by time.
	Partitions bool

	// LimitSharedWait is the first statement of a round trip that requests share. It limits
	// the wait for a lock, because the lock is on what only some of them read. It is "" if
	// requests share no round trips.
	LimitSharedWait string

	// Migrations is the folder of the schema and its changes.
	Migrations string
}

// A ParentColumn is a column of the table of Dialect.Parents. It holds texts, or bytes
// such as UIDs and keys of scopes.
type ParentColumn struct {
	Name  string
	Texts []string
	Bytes [][]byte // used if Texts is nil
}

// Len returns the number of rows.
func (c ParentColumn) Len() int { return len(c.Texts) + len(c.Bytes) }

// textPairs returns the columns k and inside from texts.
func textPairs(keys, insides []string) []ParentColumn {
	return []ParentColumn{{Name: "k", Texts: keys}, {Name: "inside", Texts: insides}}
}

// uidPairs returns the columns k from UIDs and inside from texts.
func uidPairs(keys [][]byte, insides []string) []ParentColumn {
	return []ParentColumn{{Name: "k", Bytes: keys}, {Name: "inside", Texts: insides}}
}

// A Statement is one SQL statement with its arguments and the functions that
// receive its rows.
type Statement struct {
	SQL  string
	Args []any

	// Row is called for each row; scan accepts the same destinations as database/sql.
	Row func(scan func(dest ...any) error) error

	// The builder of the statement knows the following.

	Plan  Plan // how often PostgreSQL should plan the statement
	Slow  bool // whether it counts rows or searches for words: the other calls of a level do not wait for two of them
	Quick bool // whether it only finds a few rows by their keys, so that it may share a round trip with other requests

	// Several requests may run copies of one statement. Original is that statement; nil means
	// that this one is no copy. Of the copies in one round trip, only one runs.
	Original *Statement

	// Place restricts where the statement stands in a round trip.
	Place Place

	Outcome
}

// A Place is where a statement stands in a round trip.
type Place int

const (
	// Anywhere is the place of nearly all statements.
	Anywhere Place = iota
	// LimitsWait is the first place. The statement limits how long the others wait for locks,
	// which they may need also to be prepared.
	LimitsWait
	// Last means that no other statement may run after this one.
	Last
)

// An Outcome is what came of a statement. The engine sets it.
type Outcome struct {
	Affected int64 // number of changed rows, if the statement has no function for rows
	Done     bool  // whether the statement has run and all of its rows were read
	Failed   bool  // whether the round trip has failed at the statement; an engine without pipelines need not set it
}

// A Plan says how often PostgreSQL should plan a prepared statement.
type Plan int

const (
	// PlanAsNeeded means that the best plan can depend on the arguments, so PostgreSQL
	// decides.
	PlanAsNeeded Plan = iota
	// PlanOnce means that the best plan is the same for all arguments.
	PlanOnce
	// PlanOnceAlways is PlanOnce also in a transaction. Statements that read events have it,
	// because planning looks at every partition.
	PlanOnceAlways
	// PlanBySession means that there is only one good plan, which PostgreSQL finds by itself
	// in every setting.
	PlanBySession
)

// statement builds a Statement.
type statement struct {
	dialect *Dialect
	plan    Plan
	quick   bool
	slow    bool
	// isUniform means that the best plan is the same for all arguments, unless plan says
	// something else: the statement has lists of values, or consists of several selects.
	isUniform bool
	sql       strings.Builder
	args      []any

	// A probe has no dialect and no SQL. It only notes whether anything is added to it.
	isProbe, isAsked bool
}

func (d *Dialect) statement() *statement {
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
	if s.isProbe {
		s.isAsked = true
		return s
	}
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
func (s *statement) parents(columns ...ParentColumn) string {
	if s.isProbe {
		return ""
	}
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
	page := s.dialect.statement()
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

func (s *statement) build(row func(scan func(dest ...any) error) error) *Statement {
	if s.plan == PlanAsNeeded && s.isUniform {
		s.plan = PlanOnce
	}
	return &Statement{SQL: s.sql.String(), Args: s.args, Plan: s.plan, Slow: s.slow, Quick: s.quick, Row: row}
}
