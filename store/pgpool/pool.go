// Package pgpool opens pools of connections to PostgreSQL, directly or through a
// pooler such as pgbouncer. It finds out what the pooler supports. It must not know
// any table.
package pgpool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ConnectTimeout is the time limit for opening a connection.
const ConnectTimeout = 5 * time.Second

// addressTimeout is the time limit for each address of a URL with several hosts. Two of
// them must fit into the time that a request has.
const addressTimeout = 2 * time.Second

// Options are the settings of a pool.
type Options struct {
	// MaxConnections is the size of the pool, unless the URL has pool_max_conns; 0 means
	// that of defaultConnections.
	MaxConnections int32
	// DirectURL leads past a pooler to the same database; "" if there is none.
	DirectURL string
	// QueryMode is the name of one of pgx's modes; "" means the best one that works.
	QueryMode string
	// Limits are settings of sessions, such as statement_timeout. Settings in the URL
	// take precedence.
	Limits map[string]string
	// PlanOnce makes sessions use generic plans, if statements are prepared and no pooler
	// shares the sessions.
	PlanOnce bool
	// Standby means that the URL leads to a standby, which takes no writes.
	Standby bool
	// Logger receives what a pooler does not support; nil discards that.
	Logger *slog.Logger
	// Version is that of the program, which the names of connections have; "" leaves it out.
	Version string
	// Credentials are asked for each new connection; nil means those of the URL.
	Credentials Credentials
	// DirectCredentials are the same for DirectURL.
	DirectCredentials Credentials
}

// Credentials return the user and the password of a new connection, which may have changed
// since the URL was read. Within the time limit of the connection they are called in several
// goroutines at once.
type Credentials func(ctx context.Context) (user, password string, err error)

// use makes connections ask for their credentials.
func (c Credentials) use(config *pgx.ConnConfig) {
	if c == nil {
		return
	}
	// This is the only hook that every way to connect calls, and pgx gives it a copy of its own.
	config.AfterNetConnect = func(ctx context.Context, one *pgconn.Config, connection net.Conn) (net.Conn, error) {
		user, password, err := c(ctx)
		if err != nil {
			return nil, err
		}
		one.User, one.Password = user, password
		return connection, nil
	}
}

// applicationName names the connections in pg_stat_activity, unless the URL or PGAPPNAME has another name.
const applicationName = "atrium"

// A Pool is a pool of connections.
type Pool struct {
	*pgxpool.Pool
	room room
	// Version is the major version of the server.
	Version int
	// Prepares means that named prepared statements are used.
	Prepares bool
	// PlansOnce means that sessions use generic plans.
	PlansOnce bool
	// Pooler means that a pooler may run each transaction on another of its connections.
	Pooler bool
	// Limits are the settings that the pooler does not pass on, so each transaction must
	// set them.
	Limits map[string]string
	// Listen has the settings of a connection for LISTEN; nil means that a pooler
	// prevents it.
	Listen *pgx.ConnConfig
}

// Open opens a pool. It fails if the server does not answer.
func Open(ctx context.Context, databaseURL string, o Options) (*Pool, error) {
	config, err := parse(databaseURL, o.MaxConnections, o.Standby)
	if err != nil {
		return nil, err
	}
	if err := setMode(config, o.QueryMode); err != nil {
		return nil, err
	}
	o.Credentials.use(config.ConnConfig)
	o.nameVersion(config.ConnConfig)
	limits := map[string]string{}
	maps.Copy(limits, o.Limits)
	if o.PlanOnce && prepares(config) {
		limits[planMode] = genericPlans
	}
	for name := range limits {
		if given, found := config.ConnConfig.RuntimeParams[name]; found {
			limits[name] = given
		}
	}
	maps.Copy(config.ConnConfig.RuntimeParams, limits)
	p, err := open(ctx, config)
	if err == nil && p.Pooler {
		p.Close()
	}
	if isLimitRefused(err, limits) || err == nil && p.Pooler {
		p, err = openPooled(ctx, config, limits, o)
	}
	if err != nil {
		return nil, err
	}
	if err := p.findListener(config.ConnConfig, o); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// The setting that decides how often prepared statements are planned.
const planMode, genericPlans = "plan_cache_mode", "force_generic_plan"

// prepares reports whether a pool uses named prepared statements.
func prepares(config *pgxpool.Config) bool {
	return config.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement
}

// open opens a pool and finds out whether a pooler is between it and the server.
func open(ctx context.Context, config *pgxpool.Config) (*Pool, error) {
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	within, cancel := limitConnecting(ctx, config.ConnConfig)
	defer cancel()
	var pooler bool
	var version int
	err = pool.AcquireFunc(within, func(conn *pgxpool.Conn) (err error) {
		if encoding := conn.Conn().PgConn().ParameterStatus("server_encoding"); encoding != "" && encoding != "UTF8" { // unknown: ""
			return fmt.Errorf("the database %s has the encoding %s, which has not all characters; create one with UTF8 (createdb --encoding=UTF8 --template=template0), and name it in --database-url",
				config.ConnConfig.Database, encoding)
		}
		_, _ = fmt.Sscanf(conn.Conn().PgConn().ParameterStatus("server_version"), "%d", &version) // unknown: 0
		pooler, err = isPooler(within, conn.Conn())
		return err
	})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &Pool{
		Pool: pool, Version: version, Pooler: pooler,
		Prepares: prepares(config), PlansOnce: config.ConnConfig.RuntimeParams[planMode] == genericPlans,
	}, nil
}

// Answers reports whether the server answers a new connection, if only to refuse it.
func (p *Pool) Answers(ctx context.Context) bool {
	config := p.Config().ConnConfig
	within, cancel := limitConnecting(ctx, config)
	defer cancel()
	conn, err := pgx.ConnectConfig(within, config)
	if err == nil {
		closeConn(ctx, conn)
	}
	return !pgconn.Timeout(err) && ctx.Err() == nil
}

// isPooler reports whether a pooler answers instead of the server. A pooler reports a
// process id that it has made up, to recognize requests to cancel a statement.
func isPooler(ctx context.Context, conn *pgx.Conn) (bool, error) {
	pid, err := backend(ctx, conn, "")
	return err == nil && pid != conn.PgConn().PID(), err
}

// backend runs the statement first, and returns the process id of the server process
// that serves the connection.
func backend(ctx context.Context, conn *pgx.Conn, first string) (pid uint32, err error) {
	results, err := conn.PgConn().Exec(ctx, first+"SELECT pg_backend_pid()").ReadAll()
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscan(string(results[len(results)-1].Rows[0][0]), &pid)
	return pid, err
}

// isLimitRefused reports whether a pooler has refused a connection because of a
// limit.
func isLimitRefused(err error, limits map[string]string) bool {
	var said *pgconn.PgError
	if !errors.As(err, &said) || !strings.Contains(said.Message, "unsupported startup parameter") {
		return false
	}
	return slices.ContainsFunc(slices.Collect(maps.Keys(limits)), func(name string) bool { return strings.Contains(said.Message, name) })
}

// findListener sets Listen: to the direct URL, or without a pooler to config.
func (p *Pool) findListener(config *pgx.ConnConfig, o Options) error {
	if o.DirectURL == "" {
		if !p.Pooler {
			p.Listen = config.Copy()
		}
		return nil
	}
	direct, err := parseConnection(o.DirectURL)
	if err != nil {
		return err
	}
	o.DirectCredentials.use(direct)
	o.nameVersion(direct)
	p.Listen = direct
	return nil
}

// parseConnection parses a URL for a connection that belongs to no pool. It leaves out the
// settings of a pool, such as pool_max_conns, which a server does not know.
func parseConnection(databaseURL string) (*pgx.ConnConfig, error) {
	config, err := pgxpool.ParseConfig(nameAddresses(databaseURL))
	if err != nil {
		return nil, explainURL(databaseURL, err)
	}
	one := config.ConnConfig
	if err := useLibpq(one); err != nil {
		return nil, err
	}
	nameConnections(one)
	requireWritable(one, databaseURL)
	limitAddresses(one, databaseURL)
	return one, nil
}

// parse parses a URL. The size of the pool is pool_max_conns of the URL if it has
// that. Errors must not show the URL, which may contain a password.
func parse(databaseURL string, maxConnections int32, standby bool) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(nameAddresses(databaseURL))
	if err != nil {
		return nil, explainURL(databaseURL, err)
	}
	if err := useLibpq(config.ConnConfig); err != nil {
		return nil, err
	}
	plain, err := Parse(databaseURL) // in which the settings of a pool are like any other parameter
	if err != nil {
		return nil, err
	}
	limitAddresses(config.ConnConfig, databaseURL)
	nameConnections(config.ConnConfig)
	if !standby {
		requireWritable(config.ConnConfig, databaseURL)
	}
	if _, given := plain.RuntimeParams["pool_max_conns"]; given {
		return config, nil
	}
	if config.MaxConns = maxConnections; config.MaxConns == 0 {
		config.MaxConns = defaultConnections()
	}
	return config, nil
}

// defaultConnections returns four for each processor that the process may use, which a container limits.
// With the largest number, three replicas and a fourth one that replaces one of them fit into the 100
// connections that PostgreSQL accepts by default.
func defaultConnections() int32 {
	return int32(min(max(minConnections, 4*runtime.GOMAXPROCS(0)), maxConnections)) //nolint:gosec // it is at most maxConnections
}

// The limits of the number of connections, unless the operator sets another number.
const minConnections, maxConnections = 8, 20

func nameConnections(config *pgx.ConnConfig) {
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = applicationName
	}
}

// nameVersion adds the version of the program to the name of a connection, so that the operator sees
// which replicas run which one. It does not change a name that the URL or PGAPPNAME has.
func (o Options) nameVersion(config *pgx.ConnConfig) {
	if o.Version != "" && config.RuntimeParams["application_name"] == applicationName {
		config.RuntimeParams["application_name"] += "/" + o.Version
	}
}

// requireWritable makes a URL with several hosts lead to the one that accepts writes,
// unless target_session_attrs in the URL selects one.
func requireWritable(config *pgx.ConnConfig, databaseURL string) {
	if countAddresses(config) > 1 && !isGiven(databaseURL, "target_session_attrs") {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
}

// limitAddresses sets the time limit of each address. A single address has that of the URL
// if there is one. Several addresses are tried one after the other, so that a silent one
// must leave time for the next: the URL can only shorten their limit.
func limitAddresses(config *pgx.ConnConfig, databaseURL string) {
	limit := ConnectTimeout
	switch {
	case countAddresses(config) > 1:
		limit = addressTimeout
	case config.ConnectTimeout > 0 && isGiven(databaseURL, "connect_timeout"):
		return
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > limit {
		config.ConnectTimeout = limit
	}
}

// limitConnecting returns a context in which every address can use up its time limit.
func limitConnecting(ctx context.Context, config *pgx.ConnConfig) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(countAddresses(config))*config.ConnectTimeout)
}

// countAddresses returns the number of addresses of a URL. The fallbacks of pgx can have the
// same address with and without TLS.
func countAddresses(config *pgx.ConnConfig) int {
	type address struct {
		host string
		port uint16
	}
	found := map[address]bool{{config.Host, config.Port}: true}
	for _, f := range config.Fallbacks {
		found[address{f.Host, f.Port}] = true
	}
	return len(found)
}

var modes = []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec}

// setMode sets the query mode that the options name. pgx has already set that of the URL. The simple
// protocol, which pgx accepts there, is refused: it puts the arguments into the text of a statement.
func setMode(config *pgxpool.Config, name string) error {
	if name == "" {
		name = config.ConnConfig.DefaultQueryExecMode.String()
	}
	for _, mode := range modes {
		if strings.ReplaceAll(name, "_", " ") == mode.String() {
			config.ConnConfig.DefaultQueryExecMode = mode
			return nil
		}
	}
	return fmt.Errorf("query mode %q is not one of cache_statement, cache_describe, describe_exec, exec", strings.ReplaceAll(name, " ", "_"))
}
