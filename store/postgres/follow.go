package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"atrium/store/sqlstore"
)

// How processes tell each other.
const (
	tellInterval = 20 * time.Millisecond // at most so often, however much is stored
	quiet        = 5 * time.Second       // who heard nothing for so long makes sure of being able to
	echoTimeout  = 5 * time.Second       // for what oneself told to come back
	firstRetry   = 100 * time.Millisecond
	lastRetry    = 30 * time.Second
)

// channel is what they tell each other by: one for every schema, whose name
// may be too long for that of a channel.
const channel = "'atrium_' || hashtextextended(current_schema(), 0)"

// Follow tells the other processes on this database when stored gives, and
// calls changed when one of them has told, or may have.
//
// It tells after the commit: a NOTIFY inside of a transaction makes writers
// commit one after the other. It tells through the pool and listens on a
// connection of its own, since a pooler in transaction mode lets only the
// former through; this process then hears not even itself, and is deaf.
func (e *Engine) Follow(ctx context.Context, stored <-chan struct{}, changed func(), deaf func(error)) {
	f := follower{e, rand.Text(), changed}
	var telling sync.WaitGroup
	telling.Go(func() { f.tellOthers(ctx, stored) })
	defer telling.Wait()
	reported, retry := false, firstRetry
	for {
		heard, err := f.listen(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case heard:
			reported, retry = false, firstRetry
		case !reported:
			reported = true
			deaf(err)
		}
		if !pause(ctx, retry) {
			return
		}
		retry = min(2*retry, lastRetry)
	}
}

// pause reports whether the time went by before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// A follower is one process that follows the others.
type follower struct {
	*Engine
	name    string // it tells as, and so knows itself
	changed func()
}

// tell says who has stored something, or echo.
func (f *follower) tell(ctx context.Context, who string) error {
	return f.Run(ctx, &sqlstore.Statement{SQL: "SELECT pg_notify(" + channel + ", $1)", Args: []any{who}})
}

// echo is what nobody says who stored something: it is told to be heard.
const echo = ""

// tellOthers tells at once what was stored first, and together what was
// stored soon after.
func (f *follower) tellOthers(ctx context.Context, stored <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-stored:
		}
		_ = f.tell(ctx, f.name) // whoever is not told looks by itself a little later
		if !pause(ctx, tellInterval) {
			return
		}
	}
}

// listen listens on a connection of its own for as long as that hears, and
// reports whether it ever did.
func (f *follower) listen(ctx context.Context) (heard bool, err error) {
	conn, err := f.subscribe(ctx)
	if err != nil {
		return false, err
	}
	defer hangUp(ctx, conn)
	f.changed() // what was told before has been missed
	silence := false
	for patience := time.Duration(0); ; {
		told, err := await(ctx, conn, patience)
		switch {
		case err == nil:
			heard, silence, patience = true, false, quiet
			if told.Payload != f.name && told.Payload != echo {
				f.changed()
			}
		case !errors.Is(err, context.DeadlineExceeded):
			return heard, err
		case silence:
			return heard, errors.New("what is told by NOTIFY is not heard by LISTEN")
		default:
			silence, patience = true, echoTimeout
			if err := f.tell(ctx, echo); err != nil {
				return heard, err
			}
		}
	}
}

func (f *follower) subscribe(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, f.pool.Config().ConnConfig.Copy())
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	var name string
	err = conn.QueryRow(within, "SELECT "+channel).Scan(&name)
	if err == nil {
		_, err = conn.Exec(within, "LISTEN "+pgx.Identifier{name}.Sanitize())
	}
	if err != nil {
		hangUp(ctx, conn)
		return nil, err
	}
	return conn, nil
}

func await(ctx context.Context, conn *pgx.Conn, patience time.Duration) (*pgconn.Notification, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return conn.WaitForNotification(ctx)
}

// hangUp ends a connection, also where ctx has ended.
func hangUp(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}
