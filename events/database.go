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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	_ "modernc.org/sqlite" // the driver of the queue's file

	"atrium/platform"
	"atrium/store/dbfile"
	"atrium/store/pgpool"
)

// The tables of the queue contain only the UIDs of deliveries. With PostgreSQL
// they are in the database itself, and the queue has a connection pool of its
// own. With SQLite they are in a second file, because river writes all the time
// and a SQLite file has one writer.

// queueConnections is the size of that pool, whose connections fetch, insert and
// complete jobs. One more connection listens.
const queueConnections = 5

// client has the methods that this package uses of river.Client. It hides that
// type's parameter, which differs by engine.
type client interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	InsertMany(ctx context.Context, jobs []river.InsertManyParams) ([]*rivertype.JobInsertResult, error)
	JobList(ctx context.Context, params *river.JobListParams) (*river.JobListResult, error)
}

// A connection gives access to the tables of the queue.
type connection struct {
	migrate   func(context.Context) error
	check     func(context.Context) error // checks the tables: see checkTables
	newClient func(*river.Config) (client, error)
	resign    func(ctx context.Context, replica string) error               // gives up the leadership of a replica: see resign
	depth     func(ctx context.Context) (map[rivertype.JobState]int, error) // counts the jobs in each state
	indexes   []string                                                      // indexes that the queue rebuilds each night; nil means those of river
	close     func()
}

// connect opens the queue of a database.
func connect(ctx context.Context, databaseURL, directURL string) (*connection, error) {
	if path, embedded := strings.CutPrefix(databaseURL, "sqlite:"); embedded {
		return connectSQLite(path)
	}
	return connectPostgres(ctx, databaseURL, directURL)
}

// QueueFile returns the path of the queue's file for a SQLite database:
// atrium.queue.db for atrium.db.
func QueueFile(path string) string {
	extension := filepath.Ext(path)
	return strings.TrimSuffix(path, extension) + ".queue" + extension
}

// connectSQLite opens the file of the queue beside the database at path.
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
	withoutLock := func(_ context.Context, work func() error) error { return work() }
	c := newConnection(riversqlite.New(db), withoutLock, func() { _ = db.Close() })
	c.indexes = []string{} // those of river exist only in PostgreSQL
	return c, nil
}

// queueLimits are settings of every connection of the queue.
var queueLimits = map[string]string{"idle_in_transaction_session_timeout": "15s"}

// connectPostgres opens the pools of the queue.
func connectPostgres(ctx context.Context, databaseURL, directURL string) (*connection, error) {
	pool, err := pgpool.Open(ctx, databaseURL, pgpool.Options{Size: queueConnections, DirectURL: directURL, Limits: queueLimits})
	if err != nil {
		return nil, platform.Unavailable("the event queue does not answer", err)
	}
	driver := postgresDriver{Driver: riverpgxv5.New(pool.Pool)}
	closePool := pool.Close
	if pool.Listen != nil {
		listen, err := connectListener(ctx, pool.Listen)
		if err != nil {
			pool.Close()
			return nil, err
		}
		driver.listen = listen
		closePool = func() { pool.Close(); listen.Close() }
	}
	withLock := func(ctx context.Context, work func() error) error {
		release, err := pool.Lock(ctx, "hashtextextended('river', 0)")
		if err != nil {
			return err
		}
		defer release()
		return work()
	}
	return newConnection(driver, withLock, closePool), nil
}

// A postgresDriver is the driver of a queue that listens through another pool, or
// only polls because a pooler prevents notifications.
type postgresDriver struct {
	*riverpgxv5.Driver
	listen *pgxpool.Pool // nil means that the driver only polls
}

func (d postgresDriver) SupportsListener() bool { return d.listen != nil }

func (d postgresDriver) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return riverpgxv5.New(d.listen).GetListener(params)
}

// connectListener opens the pool of the one connection that listens.
func connectListener(ctx context.Context, listen *pgx.ConnConfig) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(listen.ConnString())
	if err != nil {
		return nil, err
	}
	config.ConnConfig, config.MaxConns, config.MinConns = listen.Copy(), 1, 0
	return pgxpool.NewWithConfig(ctx, config)
}

// A lockFunc runs work under a lock that other processes also take, if the engine has one.
type lockFunc func(ctx context.Context, work func() error) error

func newConnection[T any](driver riverdriver.Driver[T], withLock lockFunc, closePool func()) *connection {
	return &connection{
		migrate:   func(ctx context.Context) error { return migrate(ctx, driver, withLock) },
		check:     func(ctx context.Context) error { return checkTables(ctx, driver) },
		newClient: func(c *river.Config) (client, error) { return river.NewClient(driver, c) },
		resign:    func(ctx context.Context, replica string) error { return resign(ctx, driver.GetExecutor(), replica) },
		depth: func(ctx context.Context) (map[rivertype.JobState]int, error) {
			return driver.GetExecutor().JobCountByAllStates(ctx, &riverdriver.JobCountByAllStatesParams{})
		},
		close: closePool,
	}
}

// leadershipTopic is the topic on which river announces that the leader of the
// queue has resigned.
const leadershipTopic = "river_leadership"

// resign ends the leadership of a replica that has stopped, so that the others
// elect a new leader now and not up to 15 seconds later. It does nothing if
// replica is not the leader.
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
	// migrationTries is how often the migration is tried. On SQLite it can fail
	// when several processes that start together migrate the same file.
	migrationTries = 5
	migrationPause = 200 * time.Millisecond
)

// migrate migrates the tables of the queue to the newest version of this program.
func migrate[T any](ctx context.Context, driver riverdriver.Driver[T], withLock lockFunc) error {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		if state, err := migrator.Validate(ctx, nil); err == nil && state.OK { // nothing to migrate
			return checkTables(ctx, driver)
		}
		err := withLock(ctx, func() error {
			_, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
			return err
		})
		if err == nil {
			return nil
		}
		if try == migrationTries {
			return fmt.Errorf("migrate the tables of the event queue: %w", err)
		}
		select {
		case <-time.After(migrationPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// checkTables fails unless the tables of the queue are those that this program
// knows. Another program may have migrated them meanwhile.
func checkTables[T any](ctx context.Context, driver riverdriver.Driver[T]) error {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	known := migrator.AllVersions()
	newest := known[len(known)-1].Version
	state, err := migrator.Validate(ctx, nil)
	if err != nil {
		return platform.Unavailable("the event queue does not answer", err)
	}
	if !state.OK {
		return queueError("The tables of the event queue are older than version %d, which this program needs: run `atrium migrate up`, or `atrium serve` without --no-migrate.", newest)
	}
	applied, err := driver.GetExecutor().MigrationGetByLine(ctx, &riverdriver.MigrationGetByLineParams{Line: riverdriver.MigrationLineMain})
	if err != nil {
		return platform.Unavailable("the event queue does not answer", err)
	}
	for _, one := range applied {
		if one.Version > newest {
			return queueError("The tables of the event queue have version %d and this program knows version %d at most: run a newer atrium, or restore a backup that is older than the newer program.", one.Version, newest)
		}
	}
	return nil
}

func queueError(format string, versions ...any) error {
	return &platform.Error{Code: platform.CodeFailedPrecondition, Reason: "SCHEMA_MISMATCH", Message: fmt.Sprintf(format, versions...)}
}

// Migrate creates the tables of the event queue of a database, or updates them.
// Several processes may call it at the same time.
func Migrate(ctx context.Context, databaseURL string) error {
	c, err := connect(ctx, databaseURL, "")
	if err != nil {
		return err
	}
	defer c.close()
	return c.migrate(ctx)
}
