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

// answerTimeout is the maximum time without a response of the server. A running
// server ends long statements by its statement_timeout. Therefore a server without
// a response for longer is unavailable.
const answerTimeout = 4500 * time.Millisecond

// withTimeout calls do with a context that ends after the response timeout.
func (e *Engine) withTimeout(ctx context.Context, do func(context.Context) error) error {
	within, cancel := e.limitResponse(ctx)
	defer cancel()
	return explainTimeout(ctx, within, do(within))
}

// limitResponse returns a context that ends after the response timeout.
func (e *Engine) limitResponse(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.responseTimeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, e.responseTimeout)
}

// explainTimeout returns the error of work within a context from limitResponse: the
// server is unavailable if that context has ended before ctx.
func explainTimeout(ctx, within context.Context, err error) error {
	if err == nil {
		return nil
	}
	var said *pgconn.PgError
	if within.Err() != nil && ctx.Err() == nil && !errors.As(err, &said) {
		return platform.Unavailable("the database does not answer", err)
	}
	return err
}

// Run reads outside of any transaction. If the connection is lost before it has
// returned a row, Run tries again with a new one.
func (e *Engine) Run(ctx context.Context, statements ...*sqlstore.Statement) error {
	within, cancel := e.limitResponse(ctx)
	defer cancel()
	rows, err := e.runOnce(within, e.pool, statements)
	if rows == 0 && isConnectionLost(err) {
		e.pool.Reset() // the others are likely to be lost too
		_, err = e.runOnce(within, e.pool, statements)
	}
	return explainTimeout(ctx, within, err)
}

// isConnectionLost reports whether err is the loss of an existing connection.
func isConnectionLost(err error) bool {
	var refused *pgconn.ConnectError
	var said *pgconn.PgError
	switch {
	case !errors.Is(err, &platform.Error{Code: platform.CodeUnavailable}), errors.As(err, &refused):
		return false
	case errors.As(err, &said):
		return said.Code[:2] != "53" // the server is available and overloaded
	default:
		return true
	}
}

// transact runs unit in a transaction.
func (e *Engine) transact(ctx context.Context, unit func(sqlstore.TxConn) error) error {
	var tx pgx.Tx
	begin := func(ctx context.Context) (err error) {
		tx, err = e.pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: e.begin})
		return translate(err)
	}
	err := e.withTimeout(ctx, func(ctx context.Context) error {
		err := begin(ctx)
		if isConnectionLost(err) {
			e.pool.Reset()
			err = begin(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = e.withTimeout(ctx, tx.Rollback) }() // has no effect after a commit
	t := &transaction{conn: conn{querier: tx}, tx: tx, limit: e.limitResponse, prepared: e.prepares}
	if err := unit(t); err != nil {
		return err
	}
	within, cancel := t.limit(ctx)
	defer cancel()
	return explainTimeout(ctx, within, tx.Commit(within))
}
