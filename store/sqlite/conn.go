package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// querier is what *sql.DB and *sql.Tx have in common.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// A conn runs statements one after the other, because there are no round trips to
// save.
type conn struct{ querier }

// Run runs statements.
func (c conn) Run(ctx context.Context, statements ...*dbconn.Statement) error {
	core.TraceOf(ctx).NoteStatements(len(statements))
	for _, s := range statements {
		if err := c.run(ctx, s); err != nil {
			return translate(err)
		}
		s.Done = true
	}
	return nil
}

// run runs one statement and reads its rows.
func (c conn) run(ctx context.Context, s *dbconn.Statement) error {
	args, err := bind(s.Args)
	if err != nil {
		return err
	}
	if s.Row == nil {
		result, err := c.ExecContext(ctx, s.SQL, args...)
		if err != nil {
			return err
		}
		s.Affected, err = result.RowsAffected()
		return err
	}
	rows, err := c.QueryContext(ctx, s.SQL, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := s.Row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// rows is an argument for Dialect.Parents: the texts of each row of a table.
type rows [][]string

// bind converts arguments for SQLite: times into milliseconds, and lists into JSON,
// in which bytes are hex digits.
func bind(args []any) ([]any, error) {
	bound := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case core.Time:
			bound[i] = dbconn.StoredTime(arg).UnixMilli()
		case [][]byte:
			texts := make([]string, len(arg))
			for n, b := range arg {
				texts[n] = hex.EncodeToString(b)
			}
			text, err := json.Marshal(texts)
			if err != nil {
				return nil, err
			}
			bound[i] = string(text)
		case []string, rows:
			text, err := json.Marshal(arg)
			if err != nil {
				return nil, err
			}
			bound[i] = string(text)
		default:
			bound[i] = arg
		}
	}
	return bound, nil
}

// A transaction is a dbconn.TxConn on the only connection that writes.
type transaction struct{ conn }

// Copy inserts many rows with each statement.
func (t transaction) Copy(ctx context.Context, table string, columns []string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	core.TraceOf(ctx).NoteStatements(1)
	one := "(?" + strings.Repeat(", ?", len(columns)-1) + ")"
	insert := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES "
	per := maxVariables / len(columns)
	for len(rows) > 0 {
		n := min(per, len(rows))
		var args []any
		for _, row := range rows[:n] {
			args = append(args, row...)
		}
		bound, err := bind(args)
		if err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, insert+one+strings.Repeat(", "+one, n-1), bound...); err != nil {
			return translate(err)
		}
		rows = rows[n:]
	}
	return nil
}

// maxVariables keeps one insert at a size that SQLite parses fast.
const maxVariables = 250

// Commit runs statements. The engine commits when the unit has ended.
func (t transaction) Commit(ctx context.Context, statements ...*dbconn.Statement) error {
	return t.Run(ctx, statements...)
}

// LockCounters does nothing, because there is only one writer at a time.
func (transaction) LockCounters(context.Context) error { return nil }

// translate converts errors of SQLite into those of platform and sqlstore.
func translate(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch code := e.Code(); code {
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY:
		return core.ErrDuplicate
	case lib.SQLITE_CONSTRAINT_FOREIGNKEY:
		return dbconn.ErrForeignKey
	case lib.SQLITE_INTERRUPT:
		return context.DeadlineExceeded
	default:
		if trouble := describeTrouble(code); trouble != "" {
			return core.Unavailable(trouble, causeOf(code, err))
		}
		return err
	}
}

// causeOf returns err if its code tells more than describeTrouble, core.ErrLocked for a lock, for which an import tries again, and
// nil otherwise.
func causeOf(code int, err error) error {
	switch code & 0xff {
	case lib.SQLITE_IOERR:
		return err
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return core.ErrLocked
	}
	return nil
}

// describeTrouble describes an error that ends when somebody else has done something. It
// returns "" for other errors.
func describeTrouble(code int) string {
	switch code & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL: // our own processes write in turns
		return "another program has locked the database for too long; end that program, or its transaction"
	case lib.SQLITE_FULL:
		return "the disk of the database is full; make room"
	case lib.SQLITE_IOERR:
		return "the disk of the database cannot be read or written; check the disk"
	}
	return ""
}
