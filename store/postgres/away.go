package postgres

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// answerMargin is the time that a response may take beyond the statement_timeout.
const answerMargin = 500 * time.Millisecond

// findResponseTimeout returns the maximum time without a response of the server; 0 means
// no limit. A running server ends long statements by its statement_timeout, which the
// operator may have set in the URL. Therefore a server without a response for longer is
// unavailable.
func findResponseTimeout(given *pgx.ConnConfig) time.Duration {
	limit := parseTimeout(cmp.Or(given.RuntimeParams["statement_timeout"], limits["statement_timeout"]))
	if limit == 0 {
		return 0
	}
	return limit + answerMargin
}

// findLockTimeout returns how long a statement may wait for a lock. Without a limit for locks, that of
// statements ends the wait.
func findLockTimeout(given *pgx.ConnConfig) time.Duration {
	limit := parseTimeout(cmp.Or(given.RuntimeParams["lock_timeout"], limits["lock_timeout"]))
	return cmp.Or(limit, findResponseTimeout(given))
}

// timeUnits are the units of PostgreSQL, in milliseconds.
var timeUnits = map[string]float64{"us": 0.001, "": 1, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}

// parseTimeout parses a time limit as PostgreSQL does, which rounds it to milliseconds. It
// returns 0 for one that PostgreSQL rejects.
func parseTimeout(value string) time.Duration {
	number := strings.TrimRight(value, "dhimnsu ")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	unit, known := timeUnits[strings.TrimSpace(value[len(number):])]
	n = math.RoundToEven(n * unit)
	if err != nil || !known || !(n >= 0 && n <= math.MaxInt32) {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

// Run reads outside of any transaction. If the connection is lost before it has
// returned a row, Run tries again with a new one.
func (e *Engine) Run(ctx context.Context, statements ...*dbconn.Statement) error {
	if err := e.breaker.check(); err != nil {
		return err
	}
	w := e.breaker.await(ctx, e.responseTimeout)
	defer w.cancel()
	rows, err := e.runOnce(w.within, e.pool, statements)
	if rows == 0 && isConnectionLost(err) {
		e.pool.Reset() // the others are likely to be lost too
		_, err = e.runOnce(w.within, e.pool, statements)
	}
	return w.end(err)
}

// isConnectionLost reports whether err is the loss of an existing connection.
func isConnectionLost(err error) bool {
	var refused *pgconn.ConnectError
	var said *pgconn.PgError
	switch {
	case !errors.Is(err, &core.Error{Code: core.CodeUnavailable}), errors.As(err, &refused):
		return false
	case errors.As(err, &said):
		return said.Code[:2] != "53" // the server is available and overloaded
	default:
		return true
	}
}

// transact runs unit in a transaction.
func (e *Engine) transact(ctx context.Context, unit func(dbconn.TxConn) error) error {
	if err := e.breaker.check(); err != nil {
		return err
	}
	t := &transaction{engine: e, timeout: e.responseTimeout}
	defer t.end(ctx) // also if unit panics
	if err := unit(t); err != nil {
		return err
	}
	return t.Commit(ctx)
}

// isUncertain reports whether a COMMIT that failed with err may have taken effect: it was sent,
// and the server has not said that it has rejected it. An error other than ERROR, or one of
// class 08, only says that a session has ended: that of the server, or of a pooler before it.
// pgx says that nothing was sent through a closed connection, but it says so also of one that
// was lost afterwards.
func isUncertain(err error) bool {
	var said *pgconn.PgError
	var unsent pgx.ErrPreprocessingBatch
	switch {
	case err == nil, errors.As(err, &unsent):
		return false
	case pgconn.SafeToRetry(err):
		return errors.Is(err, pgconn.ErrConnClosed)
	case errors.As(err, &said):
		return !isTooLong(said) && (said.SeverityUnlocalized != "ERROR" || said.Code[:2] == "08")
	default:
		return true
	}
}
