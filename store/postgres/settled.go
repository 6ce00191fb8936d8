package postgres

import "fmt"

// Events are read in the order of their transactions' ids, up to the oldest
// transaction that may still commit some. Every transaction of the store that
// writes holds an advisory lock, so that others, of other databases or schemas,
// need not be waited for: however long they are open, they delay no event.

// writingClass is the class of the advisory lock that writers share.
const writingClass = 0x61747269 // atri

// beginWriting begins a transaction that holds the lock before it has an id.
var beginWriting = fmt.Sprintf("BEGIN; SELECT pg_advisory_xact_lock_shared(%d, 0)", writingClass)

// settled is the condition that every transaction with a lower id than that of
// event e has ended. The transactions under way are those of the statement's
// snapshot. Of them only such are passed by that provably are not the store's:
// whose connection holds neither the lock of writers, nor one on a table of this
// schema, as writers of older programs do. It reads pg_locks once, since a writer
// gives its id free before its lock: read apart, it could look like a stranger.
var settled = fmt.Sprintf(`e.xact < (WITH held AS MATERIALIZED (
	SELECT array_agg(l.transactionid) FILTER (WHERE l.locktype = 'transactionid') AS ids,
		bool_or(l.database = d.oid AND (l.locktype = 'advisory' AND l.classid = %d OR l.relation IN (
			SELECT c.oid FROM pg_class c WHERE c.relnamespace = (SELECT o.relnamespace FROM pg_class o WHERE o.oid = 'event'::regclass)))) AS ours
	FROM pg_locks l, pg_database d WHERE d.datname = current_database() AND l.granted AND l.pid IS NOT NULL GROUP BY l.pid)
SELECT LEAST(min(x::text::bigint), pg_current_xact_id_if_assigned()::text::bigint, pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
FROM pg_snapshot_xip(pg_current_snapshot()) x
WHERE NOT EXISTS (SELECT 1 FROM held h WHERE x::xid = ANY(h.ids) AND h.ours IS NOT TRUE))`, writingClass)
