package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"atrium/platform"
)

// A partitioning is a migration that turns a table of PostgreSQL into partitions. The table
// becomes the first partition as it is, without a copy of its rows.
type partitioning struct {
	table   string
	made    []string // tables that the file of the migration makes
	limit   string   // condition that the first partition has a row; {end} is the end of the partition
	findEnd func(concurrentRebuild, context.Context) (string, error)
}

// partitionEvents is migration 33.
func partitionEvents(file string, dialect *Dialect) *goose.GoFunc {
	return partitioning{"event", []string{"event", "event_future", "event_partition"}, "id < '{end}'", concurrentRebuild.findEndOfEvents}.migrate(file, dialect)
}

// partitionDeliveries is migration 34.
func partitionDeliveries(file string, dialect *Dialect) *goose.GoFunc {
	return partitioning{
		"delivery", []string{"delivery", "delivery_future", "delivery_partition"},
		"stage < '4'::smallint OR stage = '4'::smallint AND update_time < '{end}'", concurrentRebuild.findEndOfDeliveries,
	}.migrate(file, dialect)
}

func (p partitioning) migrate(file string, dialect *Dialect) *goose.GoFunc {
	if !dialect.Partitions {
		return &goose.GoFunc{RunTx: func(context.Context, *sql.Tx) error { return nil }}
	}
	text := dialect.DDL.Replace(file)
	return &goose.GoFunc{RunDB: func(ctx context.Context, db *sql.DB) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		limited, err := p.run(ctx, concurrentRebuild{conn: conn}, text)
		if err != nil && limited {
			err = errors.Join(err, p.dropLimit(ctx, db)) // servers continue without a limit
		}
		return err
	}}
}

// pastMargin is the time from the migration to the end of the first partition. Until the last
// step, rows with later times are refused, so it is longer than a clock can be wrong and
// than anyone can take to resume an interrupted migration. The next run begins again with
// a later end.
const pastMargin = 7 * 24 * time.Hour

// run limits the times of the existing rows by a constraint, lets PostgreSQL check it while
// servers read and write, and then replaces the table. Because of the constraint, the
// replacement takes no scan, and blocks servers only for a moment. Servers of the previous
// version can still write after it, except what needs a unique index of the whole table.
// limited reports whether the constraint may exist.
func (p partitioning) run(ctx context.Context, b concurrentRebuild, text string) (limited bool, err error) {
	kinds, err := b.texts(ctx, "SELECT relkind::text FROM pg_class WHERE oid = '"+p.table+"'::regclass")
	if err != nil || slices.Contains(kinds, "p") {
		return false, err // the last step had been done, but was not recorded
	}
	end, err := p.findEnd(b, ctx)
	if err != nil {
		return false, err
	}
	end = strings.ReplaceAll(end, "'", "''")
	limit := strings.ReplaceAll(p.limit, "{end}", end)
	if err := b.transact(ctx, p.dropEnd(), fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %[1]s_end CHECK (%s) NOT VALID", p.table, limit)); err != nil {
		return true, err
	}
	return true, p.checkAndReplace(ctx, b, strings.ReplaceAll(text, "{end}", end))
}

// findEndOfEvents returns the id at which the first partition of events ends.
func (b concurrentRebuild) findEndOfEvents(ctx context.Context) (string, error) {
	end := platform.FirstEventID(platform.At(addPastMargin(time.Now())))
	newest, err := b.texts(ctx, "SELECT id FROM event ORDER BY id DESC LIMIT 1")
	for _, id := range newest {
		if id >= end { // a clock was wrong
			end = max(platform.FirstEventID(platform.At(addPastMargin(platform.EventTime(id).Time))), id+"0")
		}
	}
	return end, err
}

// findEndOfDeliveries returns the time at which the first partition of deliveries ends.
func (b concurrentRebuild) findEndOfDeliveries(ctx context.Context) (string, error) {
	end := addPastMargin(time.Now())
	newest, err := b.texts(ctx, `SELECT to_char(d.update_time AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM delivery d WHERE d.stage = 4 ORDER BY d.update_time DESC LIMIT 1`)
	for _, text := range newest {
		at, failed := time.Parse(time.RFC3339, text)
		if err = errors.Join(err, failed); !at.Before(end) { // a clock was wrong
			end = addPastMargin(at)
		}
	}
	return end.UTC().Format(time.RFC3339), err
}

// addPastMargin returns the end of the first partition, which is a whole hour, from the time of
// its newest row.
func addPastMargin(newest time.Time) time.Time { return newest.Add(pastMargin).Truncate(time.Hour) }

// dropEnd returns the statement that removes the constraint.
func (p partitioning) dropEnd() string {
	return fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %[1]s_end", p.table)
}

// dropLimit removes the constraint of a migration that has failed. It uses another
// connection, because that of the migration may be lost.
func (p partitioning) dropLimit(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return concurrentRebuild{conn: conn}.transact(ctx, p.dropEnd())
}

// checkAndReplace does the steps after the limit was set. The new tables get the owner and
// the privileges of the old one.
func (p partitioning) checkAndReplace(ctx context.Context, b concurrentRebuild, text string) error {
	if err := b.exec(ctx, fmt.Sprintf("ALTER TABLE %s VALIDATE CONSTRAINT %[1]s_end", p.table)); err != nil {
		return err
	}
	from := fmt.Sprintf("unnest(ARRAY['%s']) AS t (name) WHERE c.oid = '%s'::regclass", strings.Join(p.made, "', '"), p.table)
	grants, err := b.texts(ctx, "SELECT format('GRANT %s ON %I TO %s', a.privilege_type, t.name, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)"+
		" FROM pg_class c, aclexplode(c.relacl) a, "+from)
	if err != nil {
		return err
	}
	owners, err := b.texts(ctx, "SELECT format('ALTER TABLE %I OWNER TO %I', t.name, pg_get_userbyid(c.relowner)) FROM pg_class c, "+from)
	if err != nil {
		return err
	}
	return b.transact(ctx, slices.Concat([]string{"LOCK TABLE " + p.table + " IN ACCESS EXCLUSIVE MODE", text}, owners, grants)...)
}
