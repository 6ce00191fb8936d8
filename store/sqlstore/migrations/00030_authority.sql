-- The version of what decides who a caller is and what they hold, by scope: a root group, or
-- the issuer of a token or of a rule. Triggers change it with every change of the tables, also
-- if an older program or an operator makes the change. A request whose caller had an earlier
-- request compares versions instead of reading all grants again.
CREATE TABLE authority (
    scope {text} PRIMARY KEY,
    version {text} NOT NULL
);

{postgres}CREATE FUNCTION change_authority(scopes text[]) RETURNS void LANGUAGE sql AS $$
{postgres}    INSERT INTO authority (scope, version) SELECT s, gen_random_uuid()::text FROM (SELECT DISTINCT unnest(scopes) AS s ORDER BY 1) x
{postgres}    ON CONFLICT (scope) DO UPDATE SET version = excluded.version
{postgres}$$;
{postgres}CREATE FUNCTION root_scope(root bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'root:' || encode(root, 'hex') $$;
{postgres}CREATE FUNCTION rule_scope(rule text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'issuer:' || split_part(rule, chr(2), 1) $$;
{postgres}CREATE FUNCTION change_authority_of_roots() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
{postgres}    PERFORM change_authority(ARRAY(SELECT DISTINCT root_scope(root) FROM changed));
{postgres}    RETURN NULL;
{postgres}END $$;
{postgres}CREATE FUNCTION change_authority_of_identities() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
{postgres}    PERFORM change_authority(ARRAY(SELECT root_scope(root) FROM changed UNION SELECT rule_scope(match_rule) FROM changed));
{postgres}    RETURN NULL;
{postgres}END $$;
{postgres}CREATE FUNCTION change_authority_of_identity() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
{postgres}    PERFORM change_authority(ARRAY[root_scope(NEW.root), rule_scope(OLD.match_rule), rule_scope(NEW.match_rule)]);
{postgres}    RETURN NULL;
{postgres}END $$;
{postgres}CREATE FUNCTION change_authority_of_issuer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
{postgres}    IF TG_OP <> 'INSERT' THEN
{postgres}        PERFORM change_authority(ARRAY[root_scope(OLD.root), rule_scope(OLD.issuer)]);
{postgres}    END IF;
{postgres}    IF TG_OP <> 'DELETE' THEN
{postgres}        PERFORM change_authority(ARRAY[root_scope(NEW.root), rule_scope(NEW.issuer)]);
{postgres}    END IF;
{postgres}    RETURN NULL;
{postgres}END $$;

{postgres}CREATE TRIGGER role_binding_authority_insert AFTER INSERT ON role_binding REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
{postgres}CREATE TRIGGER role_binding_authority_update AFTER UPDATE ON role_binding REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
{postgres}CREATE TRIGGER role_binding_authority_delete AFTER DELETE ON role_binding REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
{postgres}CREATE TRIGGER role_authority_insert AFTER INSERT ON role REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
{postgres}CREATE TRIGGER role_authority_update AFTER UPDATE ON role REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
{postgres}CREATE TRIGGER role_authority_delete AFTER DELETE ON role REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
{postgres}CREATE TRIGGER external_group_role_mapping_authority_insert AFTER INSERT ON external_group_role_mapping REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
{postgres}CREATE TRIGGER external_group_role_mapping_authority_update AFTER UPDATE ON external_group_role_mapping REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
{postgres}CREATE TRIGGER external_group_role_mapping_authority_delete AFTER DELETE ON external_group_role_mapping REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
{postgres}CREATE TRIGGER identity_authority_insert AFTER INSERT ON identity REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_identities();
{postgres}CREATE TRIGGER identity_authority_delete AFTER DELETE ON identity REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_identities();
{postgres}CREATE TRIGGER identity_authority_update AFTER UPDATE ON identity FOR EACH ROW
{postgres}    WHEN ((OLD.match_rule, OLD.claim_match, OLD.static_keys, OLD.static_rule, OLD.external_id, OLD.provider) IS DISTINCT FROM
{postgres}          (NEW.match_rule, NEW.claim_match, NEW.static_keys, NEW.static_rule, NEW.external_id, NEW.provider))
{postgres}    EXECUTE FUNCTION change_authority_of_identity();
{postgres}CREATE TRIGGER identity_provider_authority AFTER INSERT OR UPDATE OR DELETE ON identity_provider FOR EACH ROW EXECUTE FUNCTION change_authority_of_issuer();
{postgres}CREATE TRIGGER issuer_proof_authority AFTER INSERT OR UPDATE OR DELETE ON issuer_proof FOR EACH ROW EXECUTE FUNCTION change_authority_of_issuer();

{sqlite}CREATE TRIGGER role_binding_authority_insert AFTER INSERT ON role_binding BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(NEW.root)), lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER role_binding_authority_update AFTER UPDATE ON role_binding BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(NEW.root)), lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER role_binding_authority_delete AFTER DELETE ON role_binding BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(OLD.root)), lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER role_authority_insert AFTER INSERT ON role BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(NEW.root)), lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER role_authority_update AFTER UPDATE ON role BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(NEW.root)), lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER role_authority_delete AFTER DELETE ON role BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(OLD.root)), lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER external_group_role_mapping_authority_insert AFTER INSERT ON external_group_role_mapping BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(NEW.root)), lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER external_group_role_mapping_authority_update AFTER UPDATE ON external_group_role_mapping BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(NEW.root)), lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER external_group_role_mapping_authority_delete AFTER DELETE ON external_group_role_mapping BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(OLD.root)), lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER identity_authority_insert AFTER INSERT ON identity BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(NEW.root)), lower(hex(randomblob(16)))), ('issuer:' || substr(NEW.match_rule, 1, instr(NEW.match_rule, char(2)) - 1), lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER identity_authority_delete AFTER DELETE ON identity BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(OLD.root)), lower(hex(randomblob(16)))), ('issuer:' || substr(OLD.match_rule, 1, instr(OLD.match_rule, char(2)) - 1), lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER identity_authority_update AFTER UPDATE OF match_rule, claim_match, static_keys, static_rule, external_id, provider ON identity BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(NEW.root)), lower(hex(randomblob(16)))), ('issuer:' || substr(OLD.match_rule, 1, instr(OLD.match_rule, char(2)) - 1), lower(hex(randomblob(16)))), ('issuer:' || substr(NEW.match_rule, 1, instr(NEW.match_rule, char(2)) - 1), lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER identity_provider_authority_insert AFTER INSERT ON identity_provider BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(NEW.root)), lower(hex(randomblob(16)))), ('issuer:' || NEW.issuer, lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER identity_provider_authority_update AFTER UPDATE ON identity_provider BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(OLD.root)), lower(hex(randomblob(16)))), ('issuer:' || OLD.issuer, lower(hex(randomblob(16)))), ('root:' || lower(hex(NEW.root)), lower(hex(randomblob(16)))), ('issuer:' || NEW.issuer, lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER identity_provider_authority_delete AFTER DELETE ON identity_provider BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(OLD.root)), lower(hex(randomblob(16)))), ('issuer:' || OLD.issuer, lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER issuer_proof_authority_insert AFTER INSERT ON issuer_proof BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(NEW.root)), lower(hex(randomblob(16)))), ('issuer:' || NEW.issuer, lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER issuer_proof_authority_update AFTER UPDATE ON issuer_proof BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(OLD.root)), lower(hex(randomblob(16)))), ('issuer:' || OLD.issuer, lower(hex(randomblob(16)))), ('root:' || lower(hex(NEW.root)), lower(hex(randomblob(16)))), ('issuer:' || NEW.issuer, lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
{sqlite}CREATE TRIGGER issuer_proof_authority_delete AFTER DELETE ON issuer_proof BEGIN
{sqlite}    INSERT INTO authority (scope, version) VALUES ('root:' || lower(hex(OLD.root)), lower(hex(randomblob(16)))), ('issuer:' || OLD.issuer, lower(hex(randomblob(16)))) ON CONFLICT (scope) DO UPDATE SET version = excluded.version;
{sqlite}END;
