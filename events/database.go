package events

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	_ "modernc.org/sqlite" // the driver of the queue's own file

	"atrium/store/dbfile"
)

// The tables of the queue hold nothing but the UIDs of deliveries. With
// PostgreSQL they are in the database itself, by a few connections of their
// own. With SQLite they are in a file beside it: river writes all the time,
// and a file has one writer.

// queueConnections are: one listens, the others fetch, insert and complete.
const queueConnections = 6

// client is what is used of river.Client, whose type has that of a
// transaction in it.
type client interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	InsertMany(ctx context.Context, jobs []river.InsertManyParams) ([]*rivertype.JobInsertResult, error)
	JobList(ctx context.Context, params *river.JobListParams) (*river.JobListResult, error)
}

// A connection leads to the tables of the queue.
type connection struct {
	migrate func(context.Context) error
	client  func(*river.Config) (client, error)
	resign  func(ctx context.Context, replica string) error // for a replica that is gone
	close   func()
}

// connect opens the queue that belongs to a database.
func connect(ctx context.Context, databaseURL string) (*connection, error) {
	if path, embedded := strings.CutPrefix(databaseURL, "sqlite:"); embedded {
		return connectSQLite(path)
	}
	return connectPostgres(ctx, databaseURL)
}

// QueueFile is the file beside a SQLite database: atrium.queue.db.
func QueueFile(path string) string {
	extension := filepath.Ext(path)
	return strings.TrimSuffix(path, extension) + ".queue" + extension
}

func connectSQLite(path string) (*connection, error) {
	path = QueueFile(path)
	if err := dbfile.Create(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return connectionOf(riversqlite.New(db), func(_ context.Context, work func() error) error { return work() }, func() { _ = db.Close() }), nil
}

func connectPostgres(ctx context.Context, databaseURL string) (*connection, error) {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return nil, errors.New("the PostgreSQL URL is not well formed") // pgx's error would show the password
	}
	config.MaxConns = queueConnections
	config.ConnConfig.ConnectTimeout = databaseTimeout
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	alone := func(ctx context.Context, work func() error) error {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		const lock, unlock = "SELECT pg_advisory_lock(hashtextextended('river', 0))", "SELECT pg_advisory_unlock(hashtextextended('river', 0))"
		if _, err := conn.Exec(ctx, lock); err != nil {
			return err
		}
		err = work()
		_, unlocking := conn.Exec(context.WithoutCancel(ctx), unlock)
		return errors.Join(err, unlocking)
	}
	return connectionOf(riverpgxv5.New(pool), alone, pool.Close), nil
}

// connectionOf puts one together. Alone runs work while no other replica does,
// where the engine has a way for that.
func connectionOf[T any](driver riverdriver.Driver[T], alone func(ctx context.Context, work func() error) error, end func()) *connection {
	return &connection{
		migrate: func(ctx context.Context) error { return migrate(ctx, driver, alone) },
		client:  func(c *river.Config) (client, error) { return river.NewClient(driver, c) },
		resign:  func(ctx context.Context, replica string) error { return resign(ctx, driver.GetExecutor(), replica) },
		close:   end,
	}
}

// leadershipTopic is what the replicas of the queue tell each other under that
// one has stopped looking after it.
const leadershipTopic = "river_leadership"

// resign ends the term of a replica as the one that looks after the queue,
// which without it would go on for up to 15 seconds. It does nothing where
// another is that one.
func resign(ctx context.Context, queue riverdriver.Executor, replica string) error {
	leader, err := queue.LeaderGetElectedLeader(ctx, &riverdriver.LeaderGetElectedLeaderParams{})
	if errors.Is(err, rivertype.ErrNotFound) || err == nil && leader.LeaderID != replica {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = queue.LeaderResign(ctx, &riverdriver.LeaderResignParams{ElectedAt: leader.ElectedAt, LeaderID: replica, LeadershipTopic: leadershipTopic})
	return err
}

const (
	// migrationTries bounds how often processes that start at once on one
	// file try to bring it up to date.
	migrationTries = 5
	migrationPause = 200 * time.Millisecond
)

func migrate[T any](ctx context.Context, driver riverdriver.Driver[T], alone func(ctx context.Context, work func() error) error) error {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		if state, err := migrator.Validate(ctx, nil); err == nil && state.OK { // as on almost every start
			return nil
		}
		err := alone(ctx, func() error {
			_, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
			return err
		})
		if err == nil {
			return nil
		}
		if try == migrationTries {
			return fmt.Errorf("the tables of the queue: %w", err)
		}
		select {
		case <-time.After(migrationPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Migrate brings the tables of the queue up to date. Several may do so at
// once.
func Migrate(ctx context.Context, databaseURL string) error {
	c, err := connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer c.close()
	return c.migrate(ctx)
}
