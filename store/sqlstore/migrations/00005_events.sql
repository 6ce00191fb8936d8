-- A refused change is a record too: denied says why. Feeds and deliveries
-- leave those out.
ALTER TABLE event ADD COLUMN denied {text} NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN actor_subject {text} NOT NULL DEFAULT '';
{postgres}UPDATE event SET actor_subject = actor::json ->> 'subject';
{sqlite}UPDATE event SET actor_subject = actor ->> 'subject';
DROP INDEX event_order;
DROP INDEX event_root;
CREATE INDEX event_order ON event (xact, seq) WHERE denied = '';
CREATE INDEX event_root ON event (root, xact, seq) WHERE denied = '';

-- The audit log reads the newest first: all of an organisation's or of a group
-- within it, of one actor's, and of what was refused. Ids sort by time.
ALTER TABLE event ADD COLUMN g2 {text};
ALTER TABLE event ADD COLUMN g3 {text};
UPDATE event SET g2 = substr(subject, 1, 57) WHERE length(subject) >= 57;
UPDATE event SET g3 = substr(subject, 1, 74) WHERE length(subject) >= 74;
CREATE INDEX event_log ON event (root, id);
CREATE INDEX event_log_g2 ON event (g2, id) WHERE g2 IS NOT NULL;
CREATE INDEX event_log_g3 ON event (g3, id) WHERE g3 IS NOT NULL;
CREATE INDEX event_log_actor ON event (actor_subject, root, id);
CREATE INDEX event_log_denied ON event (root, id) WHERE denied <> '';
DROP INDEX event_time;

-- How far recorded events have become deliveries. There is one row.
CREATE TABLE relay (
    id SMALLINT PRIMARY KEY,
    xact BIGINT NOT NULL,
    seq BIGINT NOT NULL
);
INSERT INTO relay (id, xact, seq) SELECT 1, COALESCE(max(xact), 0), COALESCE(max(seq), 0) FROM event;

-- While a secret is being changed the old one signs too. failing_since is when
-- a sink began to fail without a success since; disable_time is set when it
-- gets nothing more, for disable_reason.
ALTER TABLE subscription ADD COLUMN old_secret {bytes};
ALTER TABLE subscription ADD COLUMN old_secret_until {time};
ALTER TABLE subscription ADD COLUMN failing_since {time};
ALTER TABLE subscription ADD COLUMN disable_time {time};
ALTER TABLE subscription ADD COLUMN disable_reason {text} NOT NULL DEFAULT '';

-- An event on its way to a subscription. stage: 0 waits for others of its
-- subscription, 1 is to be given to the queue, 2 is there for its first
-- attempt, 3 for a further one, 4 has ended.
CREATE TABLE delivery (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} NOT NULL REFERENCES subscription (uid) ON DELETE CASCADE,
    g2 {text},
    g3 {text},
    event_id {text} NOT NULL,
    event_type {text} NOT NULL,
    state {text} NOT NULL,
    stage SMALLINT NOT NULL,
    attempts BIGINT NOT NULL,
    last_status BIGINT NOT NULL,
    last_error {text} NOT NULL,
    last_answer {text} NOT NULL,
    last_attempt_time {time} NOT NULL,
    next_attempt_time {time} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);
CREATE UNIQUE INDEX delivery_parent_event ON delivery (parent, event_id);
CREATE INDEX delivery_parent_create ON delivery (parent, create_time, uid);
CREATE INDEX delivery_parent_state ON delivery (parent, state, create_time, uid);
CREATE INDEX delivery_held ON delivery (parent, event_id) WHERE stage = 0;
CREATE INDEX delivery_outstanding ON delivery (parent) WHERE stage IN (1, 2);
CREATE INDEX delivery_ready ON delivery (next_attempt_time, uid) WHERE stage = 1;
CREATE INDEX delivery_queued ON delivery (next_attempt_time) WHERE stage IN (2, 3);
CREATE INDEX delivery_ended ON delivery (update_time) WHERE stage = 4;
