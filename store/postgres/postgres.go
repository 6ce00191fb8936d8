// Package postgres is the engine for PostgreSQL: many replicas and much data.
// It must not know any kind: statements come from package sqlstore.
package postgres

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"atrium/platform/core"
	"atrium/store/pgpool"
	"atrium/store/postgres/standby"
	"atrium/store/sqlstore/dbconn"
)

var dialect = dbconn.Dialect{
	Placeholder: "$",
	Size:        "pg_database_size(current_database())",
	InKeys:      func(n string, _ bool) string { return "= ANY(" + n + ")" },
	// This is a join, because PostgreSQL would filter by the array only after it
	// has read all rows that the first columns of the index find.
	InValues: func(n string, ofBytes bool) string { return "IN (SELECT unnest(" + n + arrayType(ofBytes) + "))" },
	Parents: func(arg func(any) string, columns ...dbconn.ParentColumn) string {
		lists, names := make([]string, len(columns)), make([]string, len(columns))
		for i, c := range columns {
			var list any = c.Texts
			if c.Texts == nil {
				list = c.Bytes
			}
			lists[i], names[i] = arg(list)+arrayType(c.Texts == nil), c.Name
		}
		return "unnest(" + strings.Join(lists, ", ") + ") WITH ORDINALITY p(" + strings.Join(names, ", ") + ", i)"
	},
	PerParent: func(parents, table, columns, page string) string {
		return parents + " CROSS JOIN LATERAL (SELECT " + columns + " FROM " + table + " t WHERE " + page + ") t"
	},
	Elements: func(column string) string {
		return "jsonb_array_elements_text(CAST(CASE " + column + " WHEN '' THEN '[]' ELSE " + column + " END AS jsonb)) AS e(value)"
	},
	JoinBytes:  func(arg, column string) string { return "CAST(" + arg + " AS bytea) || " + column },
	Lock:       "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
	LockShared: "SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))",
	Lateral:    true,
	KeepRow:    " FOR NO KEY UPDATE OF t", // the lock that an update takes
	Clients: "SELECT COALESCE(a.application_name, ''), COALESCE(host(a.client_addr), 'local'), COUNT(*), MIN(a.backend_start) FROM pg_stat_activity a" +
		" WHERE a.datname = current_database() AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid() GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2",
	Replication:      "SELECT COALESCE(r.application_name, ''), COALESCE(host(r.client_addr), 'local'), COALESCE(r.state, 'unknown'), COALESCE(EXTRACT(EPOCH FROM r.replay_lag), 0)::float8 FROM pg_stat_replication r ORDER BY 1, 2",
	SkipLocked:       " FOR UPDATE SKIP LOCKED",
	NoEarlierWriters: noEarlierWriters,
	Now:              "clock_timestamp()",
	BindTime:         func(t core.Time) any { return dbconn.StoredTime(t) },
	Intervals: func(column, origin, seconds string) string {
		return "CAST(FLOOR(EXTRACT(EPOCH FROM " + column + " - CAST(" + origin + " AS timestamptz)) / " + seconds + ") AS bigint)"
	},
	ReadTime: func(millis string) string {
		return "timestamptz 'epoch' + CAST(" + millis + " AS bigint) * interval '1 millisecond'"
	},
	NextTransaction: "pg_snapshot_xmax(pg_current_snapshot())::text::bigint",
	Slots:           16, // a total reads all slots, from as many pages in the worst case
	Pipelines:       true,
	Partitions:      true,
	LimitSharedWait: "SELECT set_config('lock_timeout', '20ms', true)",
	TableExists:     "SELECT 1 WHERE to_regclass(?) IS NOT NULL",
	Migrations:      "postgres",
}

func arrayType(ofBytes bool) string {
	if ofBytes {
		return "::bytea[]"
	}
	return "::text[]"
}

// Options are the settings of an engine.
type Options struct {
	MaxConnections int32        // size of the pool, unless the URL has pool_max_conns; 0 means four times the processors, from 8 to 20
	QueryMode      string       // a mode of pgx; "" means the best one that works
	DirectURL      string       // URL that leads past a pooler; "" if there is none
	ReadURLs       []string     // URLs of streaming standbys that answer reads
	Logger         *slog.Logger // receives what a pooler does not support, and which standbys answer; nil discards it

	// Credentials are asked for each new connection, by the URL as it is above; without an entry, those of the URL are used.
	Credentials map[string]pgpool.Credentials

	// Version is that of the program, which the names of connections have; "" leaves it out.
	Version string
}

// Engine is a PostgreSQL database.
type Engine struct {
	conn
	pool            *pgpool.Pool
	begin           string          // statement that limits a transaction that writes, right after its BEGIN
	responseTimeout time.Duration   // maximum time without a response; 0 means no limit
	lockTimeout     time.Duration   // how much longer a response may take for each lock
	breaker         *breaker        // stops what would be sent to a silent server
	standbys        dbconn.Standbys // nil means that there are none
}

var _ dbconn.Engine = (*Engine)(nil)

// limits are settings of every connection. A request has its own deadline in
// addition.
var limits = map[string]string{
	"statement_timeout":                   "4s",
	"lock_timeout":                        "2s",
	"idle_in_transaction_session_timeout": "15s", // such a transaction delays the feed of events
	"timezone":                            "UTC",
	"jit":                                 "off", // compiling a statement takes longer than most reads, and a large database makes PostgreSQL do it
}

// Open connects to a database.
func Open(ctx context.Context, url string, o Options) (*Engine, error) {
	pool, err := pgpool.Open(ctx, url, pgpool.Options{
		MaxConnections: o.MaxConnections, QueryMode: o.QueryMode, DirectURL: o.DirectURL, Limits: limits, PlanOnce: true, Logger: o.Logger, Version: o.Version,
		Credentials: o.Credentials[url], DirectCredentials: o.Credentials[o.DirectURL],
	})
	if err != nil {
		return nil, unavailable(url, err)
	}
	given, err := pgpool.Parse(url)
	if err != nil {
		pool.Close()
		return nil, err
	}
	e := &Engine{conn: conn{querier: pool, prepares: pool.Prepares, plansOnce: pool.PlansOnce}, pool: pool, responseTimeout: findResponseTimeout(given), lockTimeout: findLockTimeout(given)}
	e.breaker = newBreaker(pool.Answers, pool.Reset)
	forWriting := map[string]string{}
	maps.Copy(forWriting, pool.Limits)
	if pool.Version >= 17 && given.RuntimeParams["statement_timeout"] == "" && given.RuntimeParams["transaction_timeout"] == "" {
		forWriting["transaction_timeout"] = transactionTimeout
	}
	if pool.PlansOnce { // PostgreSQL decides how statements of transactions are planned, except those of transaction.plan
		forWriting["plan_cache_mode"] = "auto"
	}
	e.begin = limitWriting(forWriting)
	if len(o.ReadURLs) > 0 {
		set, err := standby.Open(ctx, e, standby.Options{
			URLs: o.ReadURLs, Driver: standbyDriver{}, Logger: o.Logger, Credentials: o.Credentials,
			Pool: pgpool.Options{MaxConnections: o.MaxConnections, QueryMode: o.QueryMode, Limits: limits, PlanOnce: true, Version: o.Version},
		})
		if err != nil {
			_ = e.Close()
			return nil, err
		}
		e.standbys = set
	}
	return e, nil
}

// unavailable explains why a connection could not be made. It returns other errors
// unchanged.
func unavailable(url string, err error) error {
	var failed *pgconn.ConnectError
	if !errors.As(err, &failed) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	config, malformed := pgpool.Parse(url)
	if malformed != nil {
		return err
	}
	return core.Unavailable("the database does not answer", explainError(&config.Config, err))
}

// Dialect returns the SQL dialect of PostgreSQL.
func (e *Engine) Dialect() *dbconn.Dialect {
	if !e.prepares {
		return &unsharedDialect
	}
	return &dialect
}

// unsharedDialect is the dialect without prepared statements. pgx then describes a statement
// before a pipeline, where LimitSharedWait does not limit its wait for a lock.
var unsharedDialect = func() dbconn.Dialect {
	d := dialect
	d.LimitSharedWait = ""
	return d
}()

// maxTries limits how often a transaction is run again after a conflict.
const maxTries = 5

// Connections returns the number of statements that can run at the same time.
func (e *Engine) Connections() int { return int(e.pool.Config().MaxConns) }

// Write runs unit in a transaction.
func (e *Engine) Write(ctx context.Context, unit func(dbconn.TxConn) error) error {
	for try := 1; ; try++ {
		err := e.transact(ctx, unit)
		if isReadOnly(err) {
			e.pool.Reset() // another server may have been promoted, which new connections find
			if try == 1 {
				continue
			}
		}
		if !errors.Is(err, errConflict) {
			return err
		}
		if try == maxTries {
			return &core.Error{Code: core.CodeAborted, Reason: "ABORTED", Message: "Aborted: too many concurrent requests change the same data; try again", RetryAfter: time.Second}
		}
		select {
		case <-time.After(time.Duration(try*try) * 5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Ping fails if the server does not answer.
func (e *Engine) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pgpool.ConnectTimeout)
	defer cancel()
	if err := e.pool.Ping(ctx); err != nil {
		return core.Unavailable("the database does not answer", explainError(&e.pool.Config().ConnConfig.Config, err))
	}
	e.breaker.isOpen.Store(false)
	return nil
}

// Pool describes the use of the connections.
func (e *Engine) Pool() dbconn.PoolState {
	stat := e.pool.Stat()
	return dbconn.PoolState{
		Used: int(stat.AcquiredConns()), Idle: int(stat.IdleConns()), Max: int(stat.MaxConns()),
		Waits: stat.EmptyAcquireCount(), Waited: stat.EmptyAcquireWaitTime(),
	}
}

// Standbys returns the standbys that answer reads, or nil if there are none.
func (e *Engine) Standbys() dbconn.Standbys { return e.standbys }

// Close ends every connection.
func (e *Engine) Close() error {
	if e.standbys != nil {
		e.standbys.Close()
	}
	e.breaker.end()
	e.pool.Close()
	return nil
}

// migrationLock is the key of the advisory lock by which replicas take turns to
// migrate, that of goose.
const migrationLock = "4097083626"

// Migrator returns a Migrator for the migrations in files, which uses a lock to exclude other replicas.
func (e *Engine) Migrator(files fs.FS) (*dbconn.Migrator, error) {
	config := e.pool.Config().ConnConfig.Copy()
	if e.pool.Pooler {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec // tables change between statements
	} else {
		config.RuntimeParams["statement_timeout"] = "0" // creating an index can take long
		config.RuntimeParams["lock_timeout"] = "0"      // it also waits for every transaction that is older
		delete(config.RuntimeParams, "plan_cache_mode") // the tables change
	}
	lock := func(ctx context.Context) (release func(), err error) { return e.pool.Lock(ctx, migrationLock) }
	return dbconn.NewMigrator(stdlib.OpenDB(*config), goose.DialectPostgres, files, lock)
}
