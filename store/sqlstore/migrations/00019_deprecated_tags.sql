-- The deprecated tags, which are few among many.
CREATE INDEX tag_parent_deprecated ON tag (parent, update_time, uid) WHERE deprecated;
CREATE INDEX tag_root_deprecated ON tag (root, update_time, uid) WHERE deprecated;
CREATE INDEX tag_g2_deprecated ON tag (g2, update_time, uid) WHERE g2 IS NOT NULL AND deprecated;
CREATE INDEX tag_g3_deprecated ON tag (g3, update_time, uid) WHERE g3 IS NOT NULL AND deprecated;
