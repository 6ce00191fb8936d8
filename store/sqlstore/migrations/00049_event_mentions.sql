-- The audit log of one resource: the events whose subject it is, and those that name it in their
-- bodies or changes. The index of actors has those that it caused.
CREATE INDEX event_log_subject ON event (subject, id);
CREATE TABLE event_mention (
    root {uid} NOT NULL,
    uid {uid} NOT NULL,
    event_id {text} NOT NULL,
    PRIMARY KEY (root, uid, event_id)
{postgres});
{sqlite}) WITHOUT ROWID;
CREATE INDEX event_mention_event ON event_mention (event_id);
