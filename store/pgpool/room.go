package pgpool

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// PostgreSQL may accept fewer connections than the pool may have, because of a limit of the role, of
// the database or of the server. Then work waits for one of those that the pool has.

// A room limits the connections that are in use at the same time, once PostgreSQL has refused one.
type room struct {
	lock    sync.Mutex
	used    int
	limit   int
	until   time.Time // when the limit ends, and the pool may try to open another connection
	waiting []chan struct{}
}

// fullTime is how long the pool opens no further connection after PostgreSQL has refused one.
const fullTime = 5 * time.Second

// tooManyConnections is the code of the errors of a server that accepts no further connection.
const tooManyConnections = "53300"

// Acquire waits for a connection, which the caller must give to Release.
func (p *Pool) Acquire(ctx context.Context) (*pgxpool.Conn, error) {
	for {
		if err := p.room.enter(ctx, time.Now()); err != nil {
			return nil, err
		}
		conn, err := p.Pool.Acquire(ctx)
		if err == nil {
			return conn, nil
		}
		refused := (*pgconn.PgError)(nil)
		stat := p.Stat()
		existing := int(stat.AcquiredConns() + stat.IdleConns())
		isFull := errors.As(err, &refused) && refused.Code == tooManyConnections && existing > 0
		if isFull {
			p.room.shrink(existing, time.Now())
		}
		p.room.leave()
		if !isFull {
			return nil, err
		}
	}
}

// Release gives a connection back.
func (p *Pool) Release(conn *pgxpool.Conn) {
	conn.Release()
	p.room.leave()
}

// Ping fails if the server does not answer.
func (p *Pool) Ping(ctx context.Context) error {
	conn, err := p.Acquire(ctx)
	if err != nil {
		return err
	}
	defer p.Release(conn)
	return conn.Ping(ctx)
}

// enter waits until another connection may be in use.
func (r *room) enter(ctx context.Context, now time.Time) error {
	r.lock.Lock()
	if r.used < r.limit || !now.Before(r.until) {
		r.used++
		r.lock.Unlock()
		return nil
	}
	turn := make(chan struct{})
	r.waiting = append(r.waiting, turn)
	r.lock.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		if !r.giveUp(turn) { // its turn has come
			r.leave()
		}
		return ctx.Err()
	}
}

// giveUp removes one that waits. It reports whether it was still waiting.
func (r *room) giveUp(turn chan struct{}) bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	at := slices.Index(r.waiting, turn)
	if at >= 0 {
		r.waiting = slices.Delete(r.waiting, at, at+1)
	}
	return at >= 0
}

// shrink notes that PostgreSQL accepts no more than some connections.
func (r *room) shrink(to int, now time.Time) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.limit, r.until = to, now.Add(fullTime)
}

// leave lets those that wait use a connection.
func (r *room) leave() {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.used--
	for len(r.waiting) > 0 && r.used < r.limit {
		close(r.waiting[0])
		r.waiting = r.waiting[1:]
		r.used++
	}
}
