package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Events are read in the order of transaction ids, up to the oldest running transaction that
// may still commit events. An event has the id of its transaction or, if that is higher, of
// the newest transaction that had ended when it was recorded. Every writing transaction of the store
// holds an advisory lock. Transactions without it, such as those of other databases
// or schemas, do not delay events.

// writingClass is the class of the advisory lock that writers share. Each schema has
// its own lock, whose number is schemaNumber.
const (
	writingClass = 0x61747269 // the letters "atri"
	schemaNumber = "hashtext(COALESCE(current_schema(), ''))"
)

// transactionTimeout limits a whole transaction that writes, on servers that can.
const transactionTimeout = "60s"

// beginTransaction begins a transaction. Each statement must see what was committed while an
// earlier one waited for a lock, whatever the server's default is.
const beginTransaction = "BEGIN ISOLATION LEVEL READ COMMITTED"

// limitWriting returns the statement that limits a transaction, and takes the lock before the
// transaction has an id.
func limitWriting(limits map[string]string) string {
	var all strings.Builder
	all.WriteString("SELECT ")
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		fmt.Fprintf(&all, "set_config('%s', '%s', true), ", name, strings.ReplaceAll(limits[name], "'", "''"))
	}
	fmt.Fprintf(&all, "pg_advisory_xact_lock_shared(%d, %s)", writingClass, schemaNumber)
	return all.String()
}

// removeLimits removes the limits that the rest of a transaction has.
const removeLimits = "SELECT set_config(s.name, '0', true) FROM pg_settings s WHERE s.name IN ('statement_timeout', 'transaction_timeout')"

// noEarlierWriters is the condition that every transaction with a lower id than
// that of event e has ended. The running transactions are those of the statement's
// snapshot. It ignores only transactions that certainly do not belong to the store:
// they do not hold the writers' lock of this schema. Locks are grouped by
// the process that holds them. Transactions that were prepared for two-phase commit have
// none, so only theirs are grouped by virtual transaction: a process that commits drops
// the number of its virtual transaction while its locks are being listed, so that some of
// its locks are listed with the number and some without. The condition reads pg_locks only
// once: a writer releases its id before its lock, so in two separate reads it could look
// like a foreign transaction.
var noEarlierWriters = fmt.Sprintf(`e.xact < (WITH held AS MATERIALIZED (
	SELECT array_agg(l.transactionid) FILTER (WHERE l.locktype = 'transactionid') AS ids,
		bool_or(l.database = d.oid AND l.locktype = 'advisory' AND l.classid = %d AND l.objid = (%s::bigint & 4294967295)::oid) AS ours
	FROM pg_locks l, pg_database d WHERE d.datname = current_database() AND l.granted GROUP BY l.pid, CASE WHEN l.pid IS NULL THEN l.virtualtransaction END)
SELECT LEAST(min(x::text::bigint), pg_current_xact_id_if_assigned()::text::bigint, pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
FROM pg_snapshot_xip(pg_current_snapshot()) x
WHERE NOT EXISTS (SELECT 1 FROM held h WHERE x::xid = ANY(h.ids) AND h.ours IS NOT TRUE))`, writingClass, schemaNumber)
