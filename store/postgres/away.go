package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"atrium/platform"
	"atrium/store/sqlstore"
)

// answerTimeout is how long the server may be silent. A server that is there
// ends what takes long itself, by its statement_timeout: who says nothing for
// longer is away.
const answerTimeout = 4500 * time.Millisecond

// inTime does what the server must answer in time.
func (e *Engine) inTime(ctx context.Context, do func(context.Context) error) error {
	if e.patience == 0 {
		return do(ctx)
	}
	within, cancel := context.WithTimeout(ctx, e.patience)
	defer cancel()
	err := do(within)
	var said *pgconn.PgError
	if err != nil && within.Err() != nil && ctx.Err() == nil && !errors.As(err, &said) {
		return platform.Unavailable("the database does not answer", err)
	}
	return err
}

// Run reads outside of any transaction. A connection that turns out to be lost
// before it has given a row costs nothing: a new one is asked.
func (e *Engine) Run(ctx context.Context, statements ...*sqlstore.Statement) error {
	return e.inTime(ctx, func(ctx context.Context) error {
		rows, err := e.run(ctx, statements)
		if rows == 0 && lost(err) {
			e.pool.Reset() // the others are likely to be lost too
			_, err = e.run(ctx, statements)
		}
		return err
	})
}

// lost reports whether err is the end of a connection that had been there.
func lost(err error) bool {
	var refused *pgconn.ConnectError
	var said *pgconn.PgError
	switch {
	case !errors.Is(err, &platform.Error{Code: platform.CodeUnavailable}), errors.As(err, &refused):
		return false
	case errors.As(err, &said):
		return said.Code[:2] != "53" // it is there, and has too much to do
	default:
		return true
	}
}

// transact runs unit in a transaction.
func (e *Engine) transact(ctx context.Context, unit func(sqlstore.TxConn) error) error {
	var tx pgx.Tx
	begin := func(ctx context.Context) (err error) {
		tx, err = e.pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: beginWriting})
		return translate(err)
	}
	err := e.inTime(ctx, func(ctx context.Context) error {
		err := begin(ctx)
		if lost(err) {
			e.pool.Reset()
			err = begin(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = e.inTime(ctx, tx.Rollback) }() // once it is committed, it does nothing
	t := &transaction{conn: conn{querier: tx}, tx: tx, inTime: e.inTime}
	if err := unit(t); err != nil {
		return err
	}
	return t.inTime(ctx, tx.Commit)
}
