-- Deliveries as partitions on PostgreSQL, by the time at which they ended: see
-- delivery_partition.go. migration_partitions.go first limits that time to those before {end},
-- and then runs these statements in one transaction. SQLite keeps its table.

{postgres}ALTER TABLE delivery RENAME TO delivery_active;
{postgres}ALTER TABLE delivery_active RENAME CONSTRAINT delivery_pkey TO delivery_active_uid;
{postgres}ALTER INDEX delivery_parent_event RENAME TO delivery_active_parent_event;
{postgres}ALTER INDEX delivery_parent_create RENAME TO delivery_active_parent_create;
{postgres}ALTER INDEX delivery_parent_state RENAME TO delivery_active_parent_state;
{postgres}ALTER INDEX delivery_ended RENAME TO delivery_active_ended;

{postgres}CREATE TABLE delivery (
{postgres}    LIKE delivery_active INCLUDING DEFAULTS,
{postgres}    CONSTRAINT delivery_parent_fkey FOREIGN KEY (parent) REFERENCES subscription (uid) ON DELETE CASCADE
{postgres}) PARTITION BY RANGE (stage, update_time);
{postgres}CREATE INDEX delivery_parent_create ON delivery (parent, create_time, uid);
{postgres}CREATE INDEX delivery_parent_state ON delivery (parent, state, create_time, uid);
{postgres}ALTER TABLE delivery ATTACH PARTITION delivery_active FOR VALUES FROM (MINVALUE, MINVALUE) TO (4, '{end}');
{postgres}ALTER TABLE delivery_active DROP CONSTRAINT delivery_end;
{postgres}CREATE TABLE delivery_future PARTITION OF delivery FOR VALUES FROM (4, '{end}') TO (MAXVALUE, MAXVALUE);
{postgres}ALTER TABLE delivery_future ADD CONSTRAINT delivery_future_uid PRIMARY KEY (uid);
{postgres}CREATE INDEX delivery_future_ended ON delivery_future (update_time);
{postgres}CREATE UNIQUE INDEX delivery_future_parent_event ON delivery_future (parent, event_id);

-- The partitions of ended deliveries, in the order of their first times.
{postgres}CREATE TABLE delivery_partition (
{postgres}    name {text} PRIMARY KEY,
{postgres}    first_time {time} NOT NULL
{postgres});
{postgres}INSERT INTO delivery_partition (name, first_time) VALUES ('delivery_future', '{end}');
