package pgpool

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	lockPause = 200 * time.Millisecond // pause between two tries to get a lock
	lockTries = 1500
)

// Lock waits for an advisory lock, whose key is an SQL expression, and holds it until
// release is called. The lock belongs to a transaction, because a pooler may run the
// statements of a session on several connections. A process that waits has no
// transaction, for which the creation of an index would wait.
func (p *Pool) Lock(ctx context.Context, key string) (release func(), err error) {
	for range lockTries {
		tx, locked, err := p.tryLock(ctx, key)
		if err != nil {
			return nil, err
		}
		if locked {
			return func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }, nil
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, fmt.Errorf("another process has been migrating the database for more than %s; try again", lockTries*lockPause)
}

// tryLock returns a transaction that holds the lock, unless another one holds it.
func (p *Pool) tryLock(ctx context.Context, key string) (tx pgx.Tx, locked bool, err error) {
	// The transaction is idle for as long as the lock is held.
	tx, err = p.BeginTx(ctx, pgx.TxOptions{BeginQuery: "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0"})
	if err != nil {
		return nil, false, err
	}
	// The simple protocol leaves no portal, whose snapshot would hold up the creation
	// of an index.
	err = tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock("+key+")", pgx.QueryExecModeSimpleProtocol).Scan(&locked)
	if err != nil || !locked {
		_ = tx.Rollback(context.WithoutCancel(ctx))
	}
	return tx, locked, err
}
