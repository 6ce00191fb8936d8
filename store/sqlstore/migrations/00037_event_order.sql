-- An event comes after the events of every transaction that ended before it was recorded. A
-- transaction gets its id when it writes for the first time. With this id alone, a transaction
-- of several rows could come before another one whose change it has overwritten.
{postgres}ALTER TABLE event ALTER COLUMN xact SET DEFAULT GREATEST(pg_current_xact_id()::text::bigint, pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1);
