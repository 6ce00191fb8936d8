-- Events as partitions by time on PostgreSQL: see event_partition.go. migration_partitions.go
-- first limits the ids of the existing events to those before {end}, and then runs these
-- statements in one transaction. SQLite keeps its table.

{postgres}ALTER TABLE event RENAME TO event_past;
{postgres}ALTER TABLE event_past DROP CONSTRAINT event_pkey;
{postgres}ALTER TABLE event_past RENAME CONSTRAINT event_id_key TO event_past_id;
{postgres}ALTER INDEX event_order RENAME TO event_past_order;
{postgres}ALTER INDEX event_root RENAME TO event_past_root;
{postgres}ALTER INDEX event_log RENAME TO event_past_log;
{postgres}ALTER INDEX event_log_g2 RENAME TO event_past_log_g2;
{postgres}ALTER INDEX event_log_g3 RENAME TO event_past_log_g3;
{postgres}ALTER INDEX event_log_actor RENAME TO event_past_log_actor;
{postgres}ALTER INDEX event_log_denied RENAME TO event_past_log_denied;
{postgres}ALTER INDEX event_denial RENAME TO event_past_denial;

-- Numbers continue where those of the old table end.
{postgres}CREATE TABLE event (LIKE event_past INCLUDING DEFAULTS INCLUDING IDENTITY) PARTITION BY RANGE (id);
{postgres}SELECT setval(pg_get_serial_sequence('event', 'seq'), nextval(pg_get_serial_sequence('event_past', 'seq')));
{postgres}ALTER TABLE event_past ALTER seq DROP IDENTITY;
{postgres}ALTER TABLE event ADD CONSTRAINT event_id_key UNIQUE (id);
{postgres}CREATE INDEX event_order ON event (xact, seq) WHERE denied = '';
{postgres}CREATE INDEX event_root ON event (root, xact, seq) WHERE denied = '';
{postgres}CREATE INDEX event_log ON event (root, id);
{postgres}CREATE INDEX event_log_g2 ON event (g2, id) WHERE g2 IS NOT NULL;
{postgres}CREATE INDEX event_log_g3 ON event (g3, id) WHERE g3 IS NOT NULL;
{postgres}CREATE INDEX event_log_actor ON event (actor_subject, root, id);
{postgres}CREATE INDEX event_log_denied ON event (root, id) WHERE denied <> '';
{postgres}ALTER TABLE event ATTACH PARTITION event_past FOR VALUES FROM (MINVALUE) TO ('{end}');
{postgres}ALTER TABLE event_past DROP CONSTRAINT event_end;
{postgres}CREATE TABLE event_future PARTITION OF event FOR VALUES FROM ('{end}') TO (MAXVALUE);
{postgres}CREATE UNIQUE INDEX event_future_denial ON event_future (denial) WHERE denial IS NOT NULL;

-- The partitions, in the order of their first ids. last_xact is the highest transaction of the
-- events of a sealed partition. It is the highest bigint while the partition is open.
{postgres}CREATE TABLE event_partition (
{postgres}    name {text} PRIMARY KEY,
{postgres}    first_id {text} NOT NULL,
{postgres}    last_xact bigint NOT NULL DEFAULT 9223372036854775807
{postgres});
{postgres}INSERT INTO event_partition (name, first_id) VALUES ('event_past', ''), ('event_future', '{end}');

-- An event whose id lies in a sealed partition opens it.
{postgres}CREATE FUNCTION open_event_partition() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
{postgres}    UPDATE event_partition SET last_xact = 9223372036854775807 WHERE name = TG_TABLE_NAME AND last_xact < 9223372036854775807;
{postgres}    RETURN NULL;
{postgres}END $$;
