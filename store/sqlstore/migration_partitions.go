package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"atrium/platform"
)

// partitionEvents is migration 33. On PostgreSQL the table of events becomes the first
// partition as it is, without a copy of its rows.
func partitionEvents(file string, dialect *Dialect) *goose.GoFunc {
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
		limited, err := concurrentRebuild{conn: conn}.partitionEvents(ctx, text)
		if err != nil && limited {
			err = errors.Join(err, dropLimit(ctx, db)) // servers continue without a limit
		}
		return err
	}}
}

// pastMargin is the time from the migration to the end of the first partition. Until the last
// step, events with later ids are refused, so it is longer than a clock can be wrong and
// than anyone can take to resume an interrupted migration. The next run begins again with
// a later end.
const pastMargin = 7 * 24 * time.Hour

// partitionEvents limits the ids of the existing events by a constraint, lets PostgreSQL
// check it while servers read and write, and then replaces the table. Because of the
// constraint, the replacement takes no scan, and blocks servers only for a moment. Servers
// of the previous version can still record changes after it, but no denials. limited
// reports whether the constraint may exist.
func (b concurrentRebuild) partitionEvents(ctx context.Context, text string) (limited bool, err error) {
	kinds, err := b.texts(ctx, "SELECT relkind::text FROM pg_class WHERE oid = 'event'::regclass")
	if err != nil || slices.Contains(kinds, "p") {
		return false, err // the last step had been done, but was not recorded
	}
	newest, err := b.texts(ctx, "SELECT id FROM event ORDER BY id DESC LIMIT 1")
	if err != nil {
		return false, err
	}
	end := endOfPast(time.Now())
	for _, id := range newest {
		if id >= end { // a clock was wrong
			end = max(endOfPast(platform.EventTime(id).Time), id+"0")
		}
	}
	if err := b.transact(ctx, dropEnd, "ALTER TABLE event ADD CONSTRAINT event_end CHECK (id < '"+strings.ReplaceAll(end, "'", "''")+"') NOT VALID"); err != nil {
		return true, err
	}
	return true, b.checkAndPartition(ctx, strings.ReplaceAll(text, "{end}", strings.ReplaceAll(end, "'", "''")))
}

// endOfPast returns the end of the first partition, which begins a whole hour.
func endOfPast(newest time.Time) string {
	return platform.FirstEventID(platform.At(newest.Add(pastMargin).Truncate(time.Hour)))
}

const dropEnd = "ALTER TABLE event DROP CONSTRAINT IF EXISTS event_end"

// dropLimit removes the constraint of a migration that has failed. It uses another
// connection, because that of the migration may be lost.
func dropLimit(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return concurrentRebuild{conn: conn}.transact(ctx, dropEnd)
}

// checkAndPartition does the steps after the limit was set.
func (b concurrentRebuild) checkAndPartition(ctx context.Context, text string) error {
	if err := b.exec(ctx, "ALTER TABLE event VALIDATE CONSTRAINT event_end"); err != nil {
		return err
	}
	grants, err := b.texts(ctx, `SELECT format('GRANT %s ON %I TO %s', a.privilege_type, t.name, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
		FROM pg_class c, aclexplode(c.relacl) a, unnest(ARRAY['event', 'event_partition']) AS t (name) WHERE c.oid = 'event'::regclass`)
	if err != nil {
		return err
	}
	owners, err := b.texts(ctx, `SELECT format('ALTER TABLE %I OWNER TO %I', t.name, pg_get_userbyid(c.relowner))
		FROM pg_class c, unnest(ARRAY['event', 'event_future', 'event_partition']) AS t (name) WHERE c.oid = 'event'::regclass`)
	if err != nil {
		return err
	}
	return b.transact(ctx, slices.Concat([]string{"LOCK TABLE event IN ACCESS EXCLUSIVE MODE", text}, owners, grants)...)
}
