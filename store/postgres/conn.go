package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"atrium/platform/core"
	"atrium/store/postgres/standby"
	"atrium/store/sqlstore/dbconn"
)

// querier is what *pgxpool.Pool and *pgx.Conn have in common.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// A conn runs statements through a pool or in a transaction.
type conn struct {
	querier
	prepares  bool      // whether statements are prepared, outside of transactions
	plansOnce bool      // whether the session uses generic plans, unless a pipeline sets something else
	held      *heldRows // nil means that rows are passed on as they arrive
}

// run sends all statements at once and reads their results. It returns the number
// of rows.
func (c conn) run(ctx context.Context, statements []*dbconn.Statement) (count int, err error) {
	count, err = c.send(ctx, statements)
	return count, translate(err)
}

// send is run with the errors of pgx.
func (c conn) send(ctx context.Context, statements []*dbconn.Statement) (count int, err error) {
	statements = c.pipeline(statements)
	if len(statements) == 1 {
		s := statements[0]
		rows, err := c.Query(ctx, s.SQL, bind(s.Args)...)
		if err == nil {
			err = c.read(rows, s, &count)
		}
		s.Failed = err != nil
		return count, err
	}
	var batch pgx.Batch
	for _, s := range statements {
		batch.Queue(s.SQL, bind(s.Args)...)
	}
	results := c.SendBatch(ctx, &batch)
	defer func() {
		if closed := results.Close(); err == nil {
			err = closed
		}
	}()
	for _, s := range statements {
		rows, err := results.Query()
		if refused := (pgx.ErrPreprocessingBatch{}); errors.As(err, &refused) { // nothing was sent
			markFailed(statements, refused.SQL())
			return count, err
		}
		s.Failed = true // until it has ended, also if the caller panics on a row
		if err == nil {
			err = c.read(rows, s, &count)
		}
		if err != nil {
			return count, err
		}
		s.Failed = false
	}
	return count, nil
}

// markFailed records that the round trip has failed at the first statement with some SQL.
func markFailed(statements []*dbconn.Statement, sql string) {
	for _, s := range statements {
		if s.SQL == sql {
			s.Failed = true
			return
		}
	}
}

// read passes on the rows of a statement, and adds their number to count.
func (c conn) read(rows pgx.Rows, s *dbconn.Statement, count *int) error {
	defer rows.Close()
	d := decoder{held: c.held}
	for rows.Next() {
		if s.Row == nil {
			continue
		}
		if *count++; d.types == nil {
			d.types, d.fields = rows.Conn().TypeMap(), rows.FieldDescriptions()
			for _, f := range d.fields {
				d.formats = append(d.formats, f.Format)
			}
		}
		d.raw = rows.RawValues()
		if err := d.pass(s.Row); err != nil {
			return err
		}
	}
	rows.Close()
	err := d.end(s.Row, rows.Err())
	s.Affected, s.Done = rows.CommandTag().RowsAffected(), err == nil
	return err
}

// bind converts arguments for pgx.
func bind(args []any) []any { return appendBound(make([]any, 0, len(args)), args) }

// appendBound appends what bind returns.
func appendBound(bound, args []any) []any {
	for _, arg := range args {
		if t, ok := arg.(core.Time); ok {
			arg = dbconn.StoredTime(t)
		}
		bound = append(bound, arg)
	}
	return bound
}

// errConflict is the error of a transaction that conflicts with a concurrent one.
var errConflict = errors.New("lost against a concurrent transaction")

// translate converts errors of PostgreSQL into those of platform and sqlstore.
func translate(err error) error {
	var e *pgconn.PgError
	var away *pgconn.ConnectError
	var network net.Error
	var final *standby.FinalError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &final):
		return err
	case errors.As(err, &e):
		return translateCode(e)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &away), errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, pgconn.ErrConnClosed), pgconn.SafeToRetry(err):
		return core.Unavailable("the database does not answer", err)
	default:
		return err
	}
}

// readOnly is the code of the errors of a server that takes no writes, such as one
// that was a primary before another was promoted.
const readOnly = "25006"

func isReadOnly(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && said.Code == readOnly
}

// isTooLong reports whether the server has ended a transaction that was idle or under way for
// too long.
func isTooLong(e *pgconn.PgError) bool { return e.Code == "25P03" || e.Code == "25P04" }

// translateCode converts an error that the server returned.
func translateCode(e *pgconn.PgError) error {
	switch code := e.Code; {
	case code == "23505":
		return core.ErrDuplicate
	case code == "23503":
		return dbconn.ErrForeignKey
	case code == "40001", code == "40P01":
		return errConflict
	case code == "57014": // statement_timeout
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, e)
	case code == "55P03": // lock_timeout
		return fmt.Errorf("%w: %w: %w", context.DeadlineExceeded, core.ErrLocked, e)
	case isTooLong(e):
		return core.Unavailable("the database has ended a transaction that took too long", e)
	case code == readOnly:
		return core.Unavailable("the database does not accept writes", e)
	case code[:2] == "28":
		return core.Unavailable("the database refuses the user or the password of this server; its operator must correct them", e)
	case code == "3D000":
		return core.Unavailable("the database of this server does not exist; its operator must create it, or correct the URL", e)
	case code[:2] == "08", code[:3] == "57P", code[:2] == "53":
		return core.Unavailable("the database does not answer", e)
	default:
		return e
	}
}
