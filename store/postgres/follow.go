package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"atrium/store/pgpool"
	"atrium/store/sqlstore/dbconn"
)

// Timing of the notifications between processes.
const (
	notifyInterval = 20 * time.Millisecond // minimum interval between notifications
	silenceLimit   = 5 * time.Second       // time without notifications after which the connection is tested
	echoTimeout    = 5 * time.Second       // maximum time until a process receives its own notification
	firstRetry     = 100 * time.Millisecond
	lastRetry      = 30 * time.Second
)

// channel is the name of the notification channel. Each schema has its own; the
// name is a hash because the name of a schema can be too long.
const channel = "'atrium_' || hashtextextended(current_schema(), 0)"

// Follow notifies the other processes on this database for each element of stored, and
// calls changed when another process has sent a notification, or may have.
//
// Notifications are sent after the commit, because a NOTIFY inside of a transaction
// serializes all commits. They are sent through the pool and received on a separate
// connection. A pooler in transaction mode passes on only sending: where no direct
// connection is possible, the process receives none and polls.
func (e *Engine) Follow(ctx context.Context, stored <-chan struct{}, changed func(), onLost func(error)) {
	f := follower{e, rand.Text(), changed}
	var notifying sync.WaitGroup
	notifying.Go(func() { f.notifyOthers(ctx, stored) })
	defer notifying.Wait()
	if e.pool.Listen == nil {
		return // which was reported when the database was opened
	}
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
			onLost(err)
		}
		if !pgpool.Sleep(ctx, retry) {
			return
		}
		retry = min(2*retry, lastRetry)
	}
}

// A follower exchanges notifications with the other processes.
type follower struct {
	*Engine
	name    string // name of the process in its notifications, by which it recognizes them
	changed func()
}

// notify sends a notification with the name of the process that has stored
// something, or with echoPayload.
func (f *follower) notify(ctx context.Context, who string) error {
	return f.Run(ctx, &dbconn.Statement{SQL: "SELECT pg_notify(" + channel + ", $1)", Args: []any{who}})
}

// echoPayload is the payload of a notification that only tests the connection.
const echoPayload = ""

// notifyOthers sends a notification as soon as something is stored. It combines
// further notifications within the minimum interval.
func (f *follower) notifyOthers(ctx context.Context, stored <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-stored:
		}
		_ = f.notify(ctx, f.name) // other processes also poll
		if !pgpool.Sleep(ctx, notifyInterval) {
			return
		}
	}
}

// listen receives notifications on a separate connection until that fails. heard
// reports whether it ever received one.
func (f *follower) listen(ctx context.Context) (heard bool, err error) {
	conn, err := f.subscribe(ctx)
	if err != nil {
		return false, err
	}
	defer pgpool.CloseConn(ctx, conn)
	f.changed() // earlier notifications have been missed
	silence := false
	for patience := time.Duration(0); ; {
		notification, err := awaitNotification(ctx, conn, patience)
		switch {
		case err == nil:
			heard, silence, patience = true, false, silenceLimit
			if notification.Payload != f.name && notification.Payload != echoPayload {
				f.changed()
			}
		case !errors.Is(err, context.DeadlineExceeded):
			return heard, err
		case silence:
			return heard, errors.New("notifications sent with NOTIFY are not received by LISTEN; set --database-direct-url to a URL of the same database that leads past poolers")
		default:
			silence, patience = true, echoTimeout
			if err := f.notify(ctx, echoPayload); err != nil {
				return heard, err
			}
		}
	}
}

// subscribe opens the connection that receives notifications.
func (f *follower) subscribe(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, f.pool.Listen.Copy())
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, pgpool.ConnectTimeout)
	defer cancel()
	var name string
	err = conn.QueryRow(within, "SELECT "+channel).Scan(&name)
	if err == nil {
		_, err = conn.Exec(within, "LISTEN "+pgx.Identifier{name}.Sanitize())
	}
	if err != nil {
		pgpool.CloseConn(ctx, conn)
		return nil, err
	}
	return conn, nil
}

func awaitNotification(ctx context.Context, conn *pgx.Conn, patience time.Duration) (*pgconn.Notification, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return conn.WaitForNotification(ctx)
}
