package pgpool

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A pooler in transaction mode runs each transaction on any of its connections to
// the server. It does not support what belongs to a session: settings, LISTEN, locks
// of a session and, except with pgbouncer 1.21 or newer, prepared statements.

// openPooled opens a pool through a pooler.
func openPooled(ctx context.Context, config *pgxpool.Config, limits map[string]string, o Options) (*Pool, error) {
	config = config.Copy()
	maps.DeleteFunc(config.ConnConfig.RuntimeParams, func(name, _ string) bool { _, isLimit := limits[name]; return isLimit })
	passes, err := probe(ctx, config.ConnConfig)
	if err != nil {
		return nil, err
	}
	if isChosen := o.QueryMode != "" || isGiven(config.ConnString(), "default_query_exec_mode"); !passes && !isChosen {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	p, err := open(ctx, config)
	if err != nil {
		return nil, err
	}
	delete(limits, planMode) // a session belongs to several clients
	p.Pooler, p.Limits = true, limits
	p.report(ctx, o)
	return p, nil
}

// report logs what the pooler does not support, and what is done instead.
func (p *Pool) report(ctx context.Context, o Options) {
	if o.Logger == nil {
		return
	}
	level, notifications := slog.LevelInfo, "received by --database-direct-url"
	if o.DirectURL == "" {
		level, notifications = slog.LevelWarn, "not received: events of other replicas come up to a second late, unless --database-direct-url leads past the pooler"
	}
	statements := "prepared once for a connection"
	if !p.Prepares {
		statements = "not prepared: they are planned for each execution"
	}
	o.Logger.Log(ctx, level, "a pooler is between this server and PostgreSQL", "statements", statements, "notifications", notifications)
}

const (
	probeTimeout = 2 * time.Second
	probeTries   = 3
)

// probe finds out whether a pooler supports prepared statements. It returns an error
// for a pooler that cannot be used.
func probe(ctx context.Context, config *pgx.ConnConfig) (passes bool, err error) {
	within, cancel := limitConnecting(ctx, config)
	defer cancel()
	first, err := pgx.ConnectConfig(within, config)
	if err != nil {
		return false, err
	}
	defer closeConn(ctx, first)
	if err := checkPooler(within, first, config); err != nil {
		return false, err
	}
	again, cancelAgain := limitConnecting(ctx, config) // a silent address takes its time again
	defer cancelAgain()
	second, err := pgx.ConnectConfig(again, config)
	if err != nil {
		return false, nil // the pooler accepts one connection, so the probe is not possible
	}
	defer closeConn(ctx, second)
	for range probeTries {
		conclusive, passes := probeOnce(ctx, first, second)
		if conclusive {
			return passes, nil
		}
	}
	return false, nil
}

// probeOnce prepares a statement on the first connection, lets the second occupy
// that connection of the server, and executes the statement on another. It is
// conclusive only if the pooler has used these connections.
func probeOnce(ctx context.Context, first, second *pgx.Conn) (conclusive, passes bool) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	name := "atrium_" + rand.Text()
	// Both run in one transaction. Otherwise, the second could run on another connection, because other programs use the pooler too.
	prepared, err := backend(ctx, first, "BEGIN; ")
	if err != nil {
		return true, false
	}
	if _, err := first.PgConn().Prepare(ctx, name, "SELECT pg_backend_pid()", nil); err != nil {
		return true, false
	}
	if _, err := first.PgConn().Exec(ctx, "COMMIT").ReadAll(); err != nil {
		return true, false
	}
	occupied, err := backend(ctx, second, "BEGIN; ")
	if err != nil {
		return true, false
	}
	result := first.PgConn().ExecPrepared(ctx, name, nil, nil, nil).Read()
	passes = result.Err == nil && len(result.Rows) == 1 && string(result.Rows[0][0]) != fmt.Sprint(prepared)
	// The statement is on the occupied connection, unless the pooler has renamed it.
	_, _ = second.PgConn().Exec(ctx, `DEALLOCATE "`+name+`"`).ReadAll()
	_, err = second.PgConn().Exec(ctx, "ROLLBACK").ReadAll()
	return err != nil || passes || result.Err != nil || occupied == prepared, passes
}

// checkPooler fails for a pooler that runs each statement on another connection, and for
// one that drops the schema in the URL.
func checkPooler(ctx context.Context, conn *pgx.Conn, config *pgx.ConnConfig) error {
	results, err := conn.PgConn().Exec(ctx, "BEGIN; SHOW search_path; COMMIT").ReadAll()
	var said *pgconn.PgError
	switch {
	case errors.As(err, &said) && strings.Contains(said.Message, "statement pooling"):
		return errors.New("the pooler of --database-url is in statement mode, in which there are no transactions; set it to transaction mode (pgbouncer: pool_mode = transaction)")
	case err != nil:
		return err
	}
	want, given := config.RuntimeParams["search_path"]
	if got := string(results[1].Rows[0][0]); given && !slices.Equal(schemas(got), schemas(want)) {
		return fmt.Errorf("the pooler of --database-url drops its search_path, %s; set it for the user: ALTER ROLE %s SET search_path = %[1]s", want, pgx.Identifier{config.User}.Sanitize())
	}
	return nil
}

// CheckDirect fails unless a direct URL leads to the same database and schema.
func CheckDirect(ctx context.Context, databaseURL, directURL string) error {
	through, err := identity(ctx, databaseURL)
	if err != nil {
		return err
	}
	direct, err := identity(ctx, directURL)
	switch {
	case err != nil:
		return fmt.Errorf("--database-direct-url: %w", err)
	case through != direct:
		return errors.New("--database-direct-url leads to another database or schema than --database-url; correct one of them")
	}
	return nil
}

// identity returns a text that identifies the server, the database and the schema.
func identity(ctx context.Context, databaseURL string) (string, error) {
	config, err := parseConnection(databaseURL)
	if err != nil {
		return "", err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return "", err
	}
	defer closeConn(ctx, conn)
	var found string
	err = conn.QueryRow(ctx, "SELECT concat_ws(' ', pg_postmaster_start_time(), (SELECT oid FROM pg_database WHERE datname = current_database()), current_schema())",
		pgx.QueryExecModeSimpleProtocol).Scan(&found)
	return found, err
}

// schemas returns the schemas of a search path.
func schemas(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == ',' || r == ' ' || r == '"' })
}

// closeConn closes a connection, even if ctx has ended.
func closeConn(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}
