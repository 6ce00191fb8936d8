-- The events by type, except for those of new tags, which are most of all events. Without these
-- indexes, a page of a rare type reads the whole log of an organisation or group.
CREATE INDEX IF NOT EXISTS event_log_type ON event (root, type, id) WHERE type <> 'dev.atrium.api.platform.registry.tag.created.v1';
CREATE INDEX IF NOT EXISTS event_log_g2_type ON event (g2, type, id) WHERE g2 IS NOT NULL AND type <> 'dev.atrium.api.platform.registry.tag.created.v1';
CREATE INDEX IF NOT EXISTS event_log_g3_type ON event (g3, type, id) WHERE g3 IS NOT NULL AND type <> 'dev.atrium.api.platform.registry.tag.created.v1';
