-- Keys of scopes, and the ends of UIDs: see scope_key.go. migration_scope_keys.go fills them
-- for the existing rows, creates the indexes behind "+indexes", and then does what stands
-- behind "+drop". Until then servers of the previous version work as before.

ALTER TABLE identity ADD COLUMN root_key {uid};
ALTER TABLE identity ADD COLUMN parent_key {uid};
ALTER TABLE identity ADD COLUMN g2_key {uid};
ALTER TABLE identity ADD COLUMN g3_key {uid};
ALTER TABLE identity ADD COLUMN rest {uid};
ALTER TABLE identity ADD COLUMN local {uid};

ALTER TABLE role_binding ADD COLUMN root_key {uid};
ALTER TABLE role_binding ADD COLUMN parent_key {uid};
ALTER TABLE role_binding ADD COLUMN g2_key {uid};
ALTER TABLE role_binding ADD COLUMN g3_key {uid};
ALTER TABLE role_binding ADD COLUMN rest {uid};
ALTER TABLE role_binding ADD COLUMN local {uid};

ALTER TABLE repo ADD COLUMN root_key {uid};
ALTER TABLE repo ADD COLUMN parent_key {uid};
ALTER TABLE repo ADD COLUMN g2_key {uid};
ALTER TABLE repo ADD COLUMN g3_key {uid};
ALTER TABLE repo ADD COLUMN rest {uid};
ALTER TABLE repo ADD COLUMN local {uid};

ALTER TABLE tag ADD COLUMN root_key {uid};
ALTER TABLE tag ADD COLUMN parent_key {uid};
ALTER TABLE tag ADD COLUMN g2_key {uid};
ALTER TABLE tag ADD COLUMN g3_key {uid};
ALTER TABLE tag ADD COLUMN rest {uid};
ALTER TABLE tag ADD COLUMN local {uid};

ALTER TABLE advisory ADD COLUMN root_key {uid};
ALTER TABLE advisory ADD COLUMN parent_key {uid};
ALTER TABLE advisory ADD COLUMN g2_key {uid};
ALTER TABLE advisory ADD COLUMN g3_key {uid};
ALTER TABLE advisory ADD COLUMN rest {uid};
ALTER TABLE advisory ADD COLUMN local {uid};

-- Scopes are few and big: see the first migration.
{postgres}ALTER TABLE identity ALTER root_key SET (n_distinct = 20), ALTER parent_key SET (n_distinct = 200), ALTER g2_key SET (n_distinct = 50), ALTER g3_key SET (n_distinct = 100);
{postgres}ALTER TABLE role_binding ALTER root_key SET (n_distinct = 20), ALTER parent_key SET (n_distinct = 200), ALTER g2_key SET (n_distinct = 50), ALTER g3_key SET (n_distinct = 100);
{postgres}ALTER TABLE repo ALTER root_key SET (n_distinct = 20), ALTER parent_key SET (n_distinct = 200), ALTER g2_key SET (n_distinct = 50), ALTER g3_key SET (n_distinct = 100);
{postgres}ALTER TABLE tag ALTER root_key SET (n_distinct = 20), ALTER parent_key SET (n_distinct = 200), ALTER g2_key SET (n_distinct = 50), ALTER g3_key SET (n_distinct = 100);
{postgres}ALTER TABLE advisory ALTER root_key SET (n_distinct = 20), ALTER parent_key SET (n_distinct = 200), ALTER g2_key SET (n_distinct = 50), ALTER g3_key SET (n_distinct = 100);

-- Servers of the previous version leave the columns empty.
{postgres}CREATE FUNCTION scope_key(uid bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT substr(sha256(uid), 1, 5) $$;
{postgres}CREATE FUNCTION set_scope_keys() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
{postgres}    NEW.root_key := scope_key(NEW.root);
{postgres}    NEW.parent_key := substr(sha256(NEW.parent), 1, 7);
{postgres}    NEW.g2_key := CASE WHEN length(NEW.parent) >= 28 THEN scope_key(substr(NEW.parent, 1, 28)) END;
{postgres}    NEW.g3_key := CASE WHEN length(NEW.parent) >= 36 THEN scope_key(substr(NEW.parent, 1, 36)) END;
{postgres}    NEW.rest := substr(NEW.uid, 21);
{postgres}    NEW.local := substr(NEW.uid, length(NEW.uid) - 7);
{postgres}    RETURN NEW;
{postgres}END $$;
{postgres}CREATE TRIGGER set_scope_keys BEFORE INSERT OR UPDATE ON identity FOR EACH ROW WHEN (NEW.rest IS NULL) EXECUTE FUNCTION set_scope_keys();
{postgres}CREATE TRIGGER set_scope_keys BEFORE INSERT OR UPDATE ON role_binding FOR EACH ROW WHEN (NEW.rest IS NULL) EXECUTE FUNCTION set_scope_keys();
{postgres}CREATE TRIGGER set_scope_keys BEFORE INSERT OR UPDATE ON repo FOR EACH ROW WHEN (NEW.rest IS NULL) EXECUTE FUNCTION set_scope_keys();
{postgres}CREATE TRIGGER set_scope_keys BEFORE INSERT OR UPDATE ON tag FOR EACH ROW WHEN (NEW.rest IS NULL) EXECUTE FUNCTION set_scope_keys();
{postgres}CREATE TRIGGER set_scope_keys BEFORE INSERT OR UPDATE ON advisory FOR EACH ROW WHEN (NEW.rest IS NULL) EXECUTE FUNCTION set_scope_keys();

-- +indexes

CREATE INDEX identity_root_key_name ON identity (root_key, name, rest);
CREATE INDEX identity_root_key_create ON identity (root_key, create_time, rest);
CREATE INDEX identity_root_key_update ON identity (root_key, update_time, rest);
CREATE INDEX identity_root_key_seen ON identity (root_key, last_seen_time, rest);
CREATE INDEX identity_parent_key_uid ON identity (parent_key, local);
CREATE INDEX identity_parent_key_create ON identity (parent_key, create_time, local);
CREATE INDEX identity_parent_key_update ON identity (parent_key, update_time, local);
CREATE INDEX identity_parent_name_local ON identity (parent, name, local);
CREATE INDEX identity_g2_key_name ON identity (g2_key, name, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX identity_g3_key_name ON identity (g3_key, name, rest) WHERE g3_key IS NOT NULL;

CREATE INDEX role_binding_identity_key ON role_binding (identity, root_key, create_time, rest);
CREATE INDEX role_binding_role_key ON role_binding (role, root_key, create_time, rest);
CREATE INDEX role_binding_root_key_create ON role_binding (root_key, create_time, rest);
CREATE INDEX role_binding_parent_key_uid ON role_binding (parent_key, local);
CREATE INDEX role_binding_parent_key_create ON role_binding (parent_key, create_time, local);
CREATE INDEX role_binding_g2_key_create ON role_binding (g2_key, create_time, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX role_binding_g3_key_create ON role_binding (g3_key, create_time, rest) WHERE g3_key IS NOT NULL;

CREATE INDEX repo_root_key_name ON repo (root_key, name, rest);
CREATE INDEX repo_root_key_create ON repo (root_key, create_time, rest);
CREATE INDEX repo_root_key_update ON repo (root_key, update_time, rest);
CREATE INDEX repo_parent_key_uid ON repo (parent_key, local);
CREATE INDEX repo_parent_key_create ON repo (parent_key, create_time, local);
CREATE INDEX repo_parent_key_update ON repo (parent_key, update_time, local);
CREATE INDEX repo_g2_key_name ON repo (g2_key, name, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX repo_g2_key_create ON repo (g2_key, create_time, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX repo_g3_key_name ON repo (g3_key, name, rest) WHERE g3_key IS NOT NULL;
CREATE INDEX repo_g3_key_create ON repo (g3_key, create_time, rest) WHERE g3_key IS NOT NULL;

CREATE INDEX tag_root_key_name ON tag (root_key, name, rest);
CREATE INDEX tag_root_key_create ON tag (root_key, create_time, rest);
CREATE INDEX tag_root_key_update ON tag (root_key, update_time, rest);
CREATE INDEX tag_parent_key_uid ON tag (parent_key, local);
CREATE INDEX tag_parent_key_create ON tag (parent_key, create_time, local);
CREATE INDEX tag_parent_key_update ON tag (parent_key, update_time, local);
CREATE INDEX tag_g2_key_name ON tag (g2_key, name, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX tag_g2_key_create ON tag (g2_key, create_time, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX tag_g3_key_name ON tag (g3_key, name, rest) WHERE g3_key IS NOT NULL;
CREATE INDEX tag_g3_key_create ON tag (g3_key, create_time, rest) WHERE g3_key IS NOT NULL;
CREATE INDEX tag_parent_key_digest ON tag (parent_key, substr(digest, 8, 6));
CREATE INDEX tag_parent_key_deprecated ON tag (parent_key, update_time, local, rest) WHERE deprecated;
CREATE INDEX tag_root_key_deprecated ON tag (root_key, update_time, rest) WHERE deprecated;
CREATE INDEX tag_g2_key_deprecated ON tag (g2_key, update_time, rest) WHERE g2_key IS NOT NULL AND deprecated;
CREATE INDEX tag_g3_key_deprecated ON tag (g3_key, update_time, rest) WHERE g3_key IS NOT NULL AND deprecated;

CREATE INDEX advisory_root_key_id ON advisory (root_key, advisory_id, rest);
CREATE INDEX advisory_root_key_create ON advisory (root_key, create_time, rest);
CREATE INDEX advisory_root_key_update ON advisory (root_key, update_time, rest);
CREATE INDEX advisory_root_key_artifact_id ON advisory (root_key, artifact_name, advisory_id, rest) WHERE count_class > 0;
CREATE INDEX advisory_root_key_artifact ON advisory (root_key, artifact_name, rest, count_class);
CREATE INDEX advisory_parent_key_uid ON advisory (parent_key, local);
CREATE INDEX advisory_parent_key_artifact ON advisory (parent_key, artifact_name, local);
CREATE INDEX advisory_g2_key_id ON advisory (g2_key, advisory_id, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX advisory_g3_key_id ON advisory (g3_key, advisory_id, rest) WHERE g3_key IS NOT NULL;
CREATE INDEX advisory_root_key_severity ON advisory (root_key, severity, rest);
CREATE INDEX advisory_g2_key_severity ON advisory (g2_key, severity, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX advisory_g3_key_severity ON advisory (g3_key, severity, rest) WHERE g3_key IS NOT NULL;
CREATE INDEX advisory_root_key_open ON advisory (root_key, severity, rest) WHERE count_class % 3 = 1;
CREATE INDEX advisory_g2_key_open ON advisory (g2_key, severity, rest) WHERE g2_key IS NOT NULL AND count_class % 3 = 1;
CREATE INDEX advisory_g3_key_open ON advisory (g3_key, severity, rest) WHERE g3_key IS NOT NULL AND count_class % 3 = 1;
CREATE INDEX advisory_root_key_fix ON advisory (root_key, fix_time) WHERE fix_time IS NOT NULL;

-- +drop

DROP INDEX identity_root_name;
DROP INDEX identity_root_create;
DROP INDEX identity_root_update;
DROP INDEX identity_root_seen;
DROP INDEX identity_parent_uid;
DROP INDEX identity_parent_name;
DROP INDEX identity_parent_create;
DROP INDEX identity_parent_update;
DROP INDEX identity_g2_name;
DROP INDEX identity_g3_name;
DROP INDEX role_binding_identity;
DROP INDEX role_binding_role;
DROP INDEX role_binding_root_create;
DROP INDEX role_binding_parent_uid;
DROP INDEX role_binding_parent_create;
DROP INDEX role_binding_g2_create;
DROP INDEX role_binding_g3_create;
DROP INDEX repo_root_name;
DROP INDEX repo_root_create;
DROP INDEX repo_root_update;
DROP INDEX repo_parent_uid;
DROP INDEX repo_parent_create;
DROP INDEX repo_parent_update;
DROP INDEX repo_g2_name;
DROP INDEX repo_g2_create;
DROP INDEX repo_g3_name;
DROP INDEX repo_g3_create;
DROP INDEX tag_parent_digest;
DROP INDEX tag_parent_uid;
DROP INDEX tag_parent_create;
DROP INDEX tag_parent_update;
DROP INDEX tag_root_name;
DROP INDEX tag_root_create;
DROP INDEX tag_root_update;
DROP INDEX tag_g2_name;
DROP INDEX tag_g2_create;
DROP INDEX tag_g3_name;
DROP INDEX tag_g3_create;
DROP INDEX tag_parent_deprecated;
DROP INDEX tag_root_deprecated;
DROP INDEX tag_g2_deprecated;
DROP INDEX tag_g3_deprecated;
DROP INDEX advisory_parent_uid;
DROP INDEX advisory_parent_artifact;
DROP INDEX advisory_root_id;
DROP INDEX advisory_root_artifact;
DROP INDEX advisory_root_artifact_id;
DROP INDEX advisory_root_create;
DROP INDEX advisory_root_update;
DROP INDEX advisory_g2_id;
DROP INDEX advisory_g3_id;
DROP INDEX advisory_root_severity;
DROP INDEX advisory_g2_severity;
DROP INDEX advisory_g3_severity;
DROP INDEX advisory_root_open;
DROP INDEX advisory_g2_open;
DROP INDEX advisory_g3_open;
DROP INDEX advisory_root_fix;
ALTER TABLE identity DROP COLUMN g2;
ALTER TABLE identity DROP COLUMN g3;
ALTER TABLE role_binding DROP COLUMN g2;
ALTER TABLE role_binding DROP COLUMN g3;
ALTER TABLE repo DROP COLUMN g2;
ALTER TABLE repo DROP COLUMN g3;
ALTER TABLE tag DROP COLUMN g2;
ALTER TABLE tag DROP COLUMN g3;
ALTER TABLE advisory DROP COLUMN g2;
ALTER TABLE advisory DROP COLUMN g3;
{postgres}DROP TRIGGER set_scope_keys ON identity;
{postgres}DROP TRIGGER set_scope_keys ON role_binding;
{postgres}DROP TRIGGER set_scope_keys ON repo;
{postgres}DROP TRIGGER set_scope_keys ON tag;
{postgres}DROP TRIGGER set_scope_keys ON advisory;
{postgres}DROP FUNCTION set_scope_keys();
{postgres}DROP FUNCTION scope_key(bytea);
