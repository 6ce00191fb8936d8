-- +goose Up
-- The schema of PostgreSQL. That of SQLite is ../sqlite/00001_schema.sql: a test compares the columns
-- and the indexes of both.
--
-- uid is the packed form of a UID (core.UID.Packed). root, g2 and g3 are what contains a row on the first
-- three levels of the tree, and parent is what contains it directly. So "everything below X" is one
-- comparison for an X on any of these levels. Tables of large kinds have keys of these scopes instead of g2
-- and g3, and the ends of their UIDs: scope_key.go explains them.
--
-- An index of lists is named after the scope that it serves and the order of the rows: root is a list of
-- an organization, parent of the children of one resource, g2 and g3 of all that lies below a group of the
-- second or third level. A list has the order name, uid, create or update, by which clients can sort.
-- Texts are compared by bytes.
--
-- A time that is not set is the beginning of 1970. It is NULL only in columns that can be NULL.

-- Groups: a tree for each organization. The check refuses a UID that is not packed.
CREATE TABLE grp (
    uid bytea PRIMARY KEY CHECK (length(uid) % 8 = 4),
    root bytea NOT NULL, parent bytea REFERENCES grp (uid), g2 bytea, g3 bytea,
    name text COLLATE "C" NOT NULL, description text COLLATE "C" NOT NULL,
    resource_limits text COLLATE "C" NOT NULL,
    verified boolean NOT NULL,
    kind text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    create_time timestamptz NOT NULL, update_time timestamptz NOT NULL,
    labels text COLLATE "C" NOT NULL DEFAULT '',
    search text COLLATE "C" NOT NULL DEFAULT '' -- what a search looks for words in: search_text.go
);
-- A name is unique among the children of a group, and among organizations.
CREATE UNIQUE INDEX grp_parent_name ON grp (parent, name);
CREATE UNIQUE INDEX grp_root_name_unique ON grp (name) WHERE parent IS NULL;
-- Lists of an organization, of the children of a group, and below a group.
CREATE INDEX grp_root_name ON grp (root, name, uid);
CREATE INDEX grp_root_create ON grp (root, create_time, uid);
CREATE INDEX grp_root_update ON grp (root, update_time, uid);
CREATE INDEX grp_parent_uid ON grp (parent, uid);
CREATE INDEX grp_parent_create ON grp (parent, create_time, uid);
CREATE INDEX grp_parent_update ON grp (parent, update_time, uid);
CREATE INDEX grp_g2_name ON grp (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX grp_g3_name ON grp (g3, name, uid) WHERE g3 IS NOT NULL;
-- Labels of groups: each key, and each key=value. Lists by labels look each row up.
CREATE TABLE grp_label (
    alias text COLLATE "C" NOT NULL,
    uid bytea NOT NULL REFERENCES grp (uid) ON DELETE CASCADE,
    PRIMARY KEY (alias, uid)
);
-- The labels of a row that is changed or deleted.
CREATE INDEX grp_label_uid ON grp_label (uid);

-- Roles. Built-in ones have no parent and an empty root.
CREATE TABLE role (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea REFERENCES grp (uid), g2 bytea, g3 bytea,
    name text COLLATE "C" NOT NULL, description text COLLATE "C" NOT NULL,
    capabilities text COLLATE "C" NOT NULL,
    create_time timestamptz NOT NULL, update_time timestamptz NOT NULL,
    search text COLLATE "C" NOT NULL DEFAULT ''
);
-- A name is unique in a group. This index also serves the list of a group by name.
CREATE UNIQUE INDEX role_parent_name ON role (parent, name);
-- Lists of an organization, of a group, and below a group.
CREATE INDEX role_root_name ON role (root, name, uid);
CREATE INDEX role_root_create ON role (root, create_time, uid);
CREATE INDEX role_parent_uid ON role (parent, uid);
CREATE INDEX role_parent_create ON role (parent, create_time, uid);
CREATE INDEX role_g2_name ON role (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX role_g3_name ON role (g3, name, uid) WHERE g3 IS NOT NULL;

-- Identity providers. issuer is the issuer of their tokens.
CREATE TABLE identity_provider (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES grp (uid), g2 bytea, g3 bytea,
    name text COLLATE "C" NOT NULL, description text COLLATE "C" NOT NULL,
    default_role bytea NOT NULL REFERENCES role (uid),
    oidc text COLLATE "C" NOT NULL,
    issuer text COLLATE "C" NOT NULL,
    client_secret bytea NOT NULL,
    create_time timestamptz NOT NULL, update_time timestamptz NOT NULL
);
-- A name is unique in a group.
CREATE UNIQUE INDEX identity_provider_parent_name ON identity_provider (parent, name);
-- The providers that may admit the bearer of a token.
CREATE INDEX identity_provider_issuer ON identity_provider (issuer, root, uid);
-- Whether a role is in use, before it is deleted.
CREATE INDEX identity_provider_role ON identity_provider (default_role);
-- Lists of a group, of an organization, and below a group.
CREATE INDEX identity_provider_parent_uid ON identity_provider (parent, uid);
CREATE INDEX identity_provider_parent_create ON identity_provider (parent, create_time, uid);
CREATE INDEX identity_provider_root_name ON identity_provider (root, name, uid);
CREATE INDEX identity_provider_root_create ON identity_provider (root, create_time, uid);
CREATE INDEX identity_provider_g2_name ON identity_provider (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX identity_provider_g3_name ON identity_provider (g3, name, uid) WHERE g3 IS NOT NULL;

-- Identities. match_rule and static_rule are what a token is looked up by: rule_key.go explains them.
-- external_id is the user of a provider that the identity was made for. Without the provider, nobody signs
-- in as the identity.
CREATE TABLE identity (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES grp (uid),
    name text COLLATE "C" NOT NULL, description text COLLATE "C" NOT NULL,
    email text COLLATE "C" NOT NULL, email_unverified text COLLATE "C" NOT NULL,
    company text COLLATE "C" NOT NULL,
    claim_match text COLLATE "C" NOT NULL,
    static_keys text COLLATE "C" NOT NULL,
    match_rule text COLLATE "C" NOT NULL,
    last_seen_time timestamptz NOT NULL, create_time timestamptz NOT NULL, update_time timestamptz NOT NULL,
    static_rule text COLLATE "C" NOT NULL DEFAULT '',
    external_id text COLLATE "C" NOT NULL DEFAULT '',
    provider bytea REFERENCES identity_provider (uid) ON DELETE SET NULL,
    search text COLLATE "C" NOT NULL DEFAULT '',
    root_key bytea, parent_key bytea, g2_key bytea, g3_key bytea, rest bytea, local bytea
);
-- The identities whose rule a token matches, the oldest first, and how many rules of one key an organization has.
CREATE INDEX identity_match ON identity (match_rule, create_time, uid);
CREATE INDEX identity_match_root ON identity (match_rule, root);
-- The identities with keys of their own.
CREATE INDEX identity_static ON identity (static_rule, create_time, uid) WHERE static_rule <> '';
-- The identity of a user of a provider, and the identities of a provider that is deleted.
CREATE UNIQUE INDEX identity_external ON identity (external_id, provider) WHERE provider IS NOT NULL;
CREATE INDEX identity_provided ON identity (provider) WHERE provider IS NOT NULL;
-- Lists of an organization, also by the time when an identity was last seen.
CREATE INDEX identity_root_key_name ON identity (root_key, name, rest);
CREATE INDEX identity_root_key_create ON identity (root_key, create_time, rest);
CREATE INDEX identity_root_key_update ON identity (root_key, update_time, rest);
CREATE INDEX identity_root_key_seen ON identity (root_key, last_seen_time, rest);
-- Lists of a group, and below a group.
CREATE INDEX identity_parent_key_uid ON identity (parent_key, local);
CREATE INDEX identity_parent_key_create ON identity (parent_key, create_time, local);
CREATE INDEX identity_parent_key_update ON identity (parent_key, update_time, local);
CREATE INDEX identity_parent_name_local ON identity (parent, name, local);
CREATE INDEX identity_g2_key_name ON identity (g2_key, name, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX identity_g3_key_name ON identity (g3_key, name, rest) WHERE g3_key IS NOT NULL;

-- Role bindings: an identity has a role in a group.
CREATE TABLE role_binding (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES grp (uid),
    identity bytea NOT NULL REFERENCES identity (uid),
    role bytea NOT NULL REFERENCES role (uid),
    create_time timestamptz NOT NULL,
    root_key bytea, parent_key bytea, g2_key bytea, g3_key bytea, rest bytea, local bytea,
    expire_time timestamptz,
    review_time timestamptz, reviewer text NOT NULL DEFAULT '', review_note text NOT NULL DEFAULT ''
);
-- An identity has a role in a group once.
CREATE UNIQUE INDEX role_binding_unique ON role_binding (parent, identity, role);
-- The bindings of an identity, which every request of it needs, and those of a role.
CREATE INDEX role_binding_identity_key ON role_binding (identity, root_key, create_time, rest);
CREATE INDEX role_binding_role_key ON role_binding (role, root_key, create_time, rest);
-- The bindings that have expired, and those of an organization that will expire. Most bindings never do.
CREATE INDEX role_binding_expire ON role_binding (expire_time) WHERE expire_time IS NOT NULL;
CREATE INDEX role_binding_root_key_expire ON role_binding (root_key, expire_time) WHERE expire_time IS NOT NULL;
-- Lists of an organization, of a group, and below a group.
CREATE INDEX role_binding_root_key_create ON role_binding (root_key, create_time, rest);
CREATE INDEX role_binding_parent_key_uid ON role_binding (parent_key, local);
CREATE INDEX role_binding_parent_key_create ON role_binding (parent_key, create_time, local);
CREATE INDEX role_binding_g2_key_create ON role_binding (g2_key, create_time, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX role_binding_g3_key_create ON role_binding (g3_key, create_time, rest) WHERE g3_key IS NOT NULL;

-- Invites to a group. key_id finds the invite of a code, whose hash is stored.
CREATE TABLE group_invite (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES grp (uid), g2 bytea, g3 bytea,
    role bytea NOT NULL REFERENCES role (uid),
    email text COLLATE "C" NOT NULL,
    single_use boolean NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    expiration_time timestamptz NOT NULL, create_time timestamptz NOT NULL
);
-- The invite of a code.
CREATE UNIQUE INDEX group_invite_key ON group_invite (key_id);
-- Whether a role is in use, before it is deleted.
CREATE INDEX group_invite_role ON group_invite (role);
-- Lists of a group, of an organization, and below a group, also by the time when an invite expires.
CREATE INDEX group_invite_parent_uid ON group_invite (parent, uid);
CREATE INDEX group_invite_parent_create ON group_invite (parent, create_time, uid);
CREATE INDEX group_invite_parent_expiration ON group_invite (parent, expiration_time, uid);
CREATE INDEX group_invite_root_create ON group_invite (root, create_time, uid);
CREATE INDEX group_invite_root_expiration ON group_invite (root, expiration_time, uid);
CREATE INDEX group_invite_g2_create ON group_invite (g2, create_time, uid) WHERE g2 IS NOT NULL;
CREATE INDEX group_invite_g3_create ON group_invite (g3, create_time, uid) WHERE g3 IS NOT NULL;

-- Who is in a group of a provider has a role in the group "scope".
CREATE TABLE external_group_role_mapping (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES identity_provider (uid), g2 bytea, g3 bytea,
    external_group_id text COLLATE "C" NOT NULL,
    role bytea NOT NULL REFERENCES role (uid),
    scope bytea NOT NULL REFERENCES grp (uid),
    create_time timestamptz NOT NULL
);
-- A group of a provider has a role in a group once. This index also finds the mappings of a caller.
CREATE UNIQUE INDEX external_group_role_mapping_unique ON external_group_role_mapping (parent, external_group_id, role, scope);
-- Whether a role or a group is in use, before it is deleted.
CREATE INDEX external_group_role_mapping_role ON external_group_role_mapping (role);
CREATE INDEX external_group_role_mapping_scope ON external_group_role_mapping (scope, uid);
-- Lists of a provider, of an organization, and below a group.
CREATE INDEX external_group_role_mapping_parent_uid ON external_group_role_mapping (parent, uid);
CREATE INDEX external_group_role_mapping_parent_create ON external_group_role_mapping (parent, create_time, uid);
CREATE INDEX external_group_role_mapping_root_create ON external_group_role_mapping (root, create_time, uid);
CREATE INDEX external_group_role_mapping_g2_create ON external_group_role_mapping (g2, create_time, uid) WHERE g2 IS NOT NULL;

-- The cloud accounts of a group.
CREATE TABLE account_association (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES grp (uid), g2 bytea, g3 bytea,
    name text COLLATE "C" NOT NULL, description text COLLATE "C" NOT NULL,
    amazon text COLLATE "C" NOT NULL,
    google text COLLATE "C" NOT NULL,
    platform text COLLATE "C" NOT NULL,
    azure text COLLATE "C" NOT NULL,
    github text COLLATE "C" NOT NULL,
    create_time timestamptz NOT NULL, update_time timestamptz NOT NULL
);
-- A group has one association.
CREATE UNIQUE INDEX account_association_parent ON account_association (parent);
-- Lists of an organization, and below a group.
CREATE INDEX account_association_root_name ON account_association (root, name, uid);
CREATE INDEX account_association_root_create ON account_association (root, create_time, uid);
CREATE INDEX account_association_root_update ON account_association (root, update_time, uid);
CREATE INDEX account_association_g2_name ON account_association (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX account_association_g3_name ON account_association (g3, name, uid) WHERE g3 IS NOT NULL;

-- The terms that a group has accepted.
CREATE TABLE terms_acceptance (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES grp (uid), g2 bytea, g3 bytea,
    doc_id text COLLATE "C" NOT NULL,
    accepted_by text COLLATE "C" NOT NULL,
    create_time timestamptz NOT NULL
);
-- A group accepts a document once.
CREATE UNIQUE INDEX terms_acceptance_unique ON terms_acceptance (parent, doc_id);
-- Lists of a group.
CREATE INDEX terms_acceptance_parent_create ON terms_acceptance (parent, create_time, uid);
CREATE INDEX terms_acceptance_parent_uid ON terms_acceptance (parent, uid);

-- What organizations have proven of issuers: platform/iam/issuer.go explains it. An issuer that begins with
-- chr(1) stands for all issuers of a host, or for all.
CREATE TABLE issuer_proof (
    root bytea NOT NULL REFERENCES grp (uid) ON DELETE CASCADE,
    issuer text COLLATE "C" NOT NULL,
    method text COLLATE "C" NOT NULL,
    verify_time timestamptz NOT NULL, check_time timestamptz NOT NULL,
    PRIMARY KEY (issuer, root)
);
-- The proofs of an organization.
CREATE INDEX issuer_proof_root ON issuer_proof (root);
-- The proofs by file, which are checked again, the most urgent first.
CREATE INDEX issuer_proof_due ON issuer_proof (check_time) WHERE method = 'file';

-- The version of what decides who a caller is and what they hold, by scope: a root group, or the issuer
-- of a token or of a rule. Triggers change it with every change of the tables, also if an operator makes
-- the change. A request whose caller had an earlier request compares versions instead of reading all grants
-- again.
CREATE TABLE authority (
    scope text COLLATE "C" PRIMARY KEY,
    version text COLLATE "C" NOT NULL
);
-- +goose StatementBegin
CREATE FUNCTION change_authority(scopes text[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO authority (scope, version) SELECT s, gen_random_uuid()::text FROM (SELECT DISTINCT unnest(scopes) AS s ORDER BY 1) x
    ON CONFLICT (scope) DO UPDATE SET version = excluded.version
$$;
CREATE FUNCTION root_scope(root bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'root:' || encode(root, 'hex') $$;
CREATE FUNCTION rule_scope(rule text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'issuer:' || split_part(rule, chr(2), 1) $$;
CREATE FUNCTION change_authority_of_roots() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM change_authority(ARRAY(SELECT DISTINCT root_scope(root) FROM changed));
    RETURN NULL;
END $$;
CREATE FUNCTION change_authority_of_identities() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM change_authority(ARRAY(SELECT root_scope(root) FROM changed UNION SELECT rule_scope(match_rule) FROM changed));
    RETURN NULL;
END $$;
CREATE FUNCTION change_authority_of_identity() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM change_authority(ARRAY[root_scope(NEW.root), rule_scope(OLD.match_rule), rule_scope(NEW.match_rule)]);
    RETURN NULL;
END $$;
CREATE FUNCTION change_authority_of_issuer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM change_authority(ARRAY[root_scope(OLD.root), rule_scope(OLD.issuer)]);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM change_authority(ARRAY[root_scope(NEW.root), rule_scope(NEW.issuer)]);
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER role_binding_authority_insert AFTER INSERT ON role_binding REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
CREATE TRIGGER role_binding_authority_update AFTER UPDATE ON role_binding REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
CREATE TRIGGER role_binding_authority_delete AFTER DELETE ON role_binding REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
CREATE TRIGGER role_authority_insert AFTER INSERT ON role REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
CREATE TRIGGER role_authority_update AFTER UPDATE ON role REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
CREATE TRIGGER role_authority_delete AFTER DELETE ON role REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
CREATE TRIGGER external_group_role_mapping_authority_insert AFTER INSERT ON external_group_role_mapping REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
CREATE TRIGGER external_group_role_mapping_authority_update AFTER UPDATE ON external_group_role_mapping REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
CREATE TRIGGER external_group_role_mapping_authority_delete AFTER DELETE ON external_group_role_mapping REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_roots();
CREATE TRIGGER identity_authority_insert AFTER INSERT ON identity REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_identities();
CREATE TRIGGER identity_authority_delete AFTER DELETE ON identity REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION change_authority_of_identities();
CREATE TRIGGER identity_authority_update AFTER UPDATE ON identity FOR EACH ROW
    WHEN ((OLD.match_rule, OLD.claim_match, OLD.static_keys, OLD.static_rule, OLD.external_id, OLD.provider) IS DISTINCT FROM
          (NEW.match_rule, NEW.claim_match, NEW.static_keys, NEW.static_rule, NEW.external_id, NEW.provider))
    EXECUTE FUNCTION change_authority_of_identity();
CREATE TRIGGER identity_provider_authority AFTER INSERT OR UPDATE OR DELETE ON identity_provider FOR EACH ROW EXECUTE FUNCTION change_authority_of_issuer();
CREATE TRIGGER issuer_proof_authority AFTER INSERT OR UPDATE OR DELETE ON issuer_proof FOR EACH ROW EXECUTE FUNCTION change_authority_of_issuer();

-- Repos. readme and search come last, because lists read what stands before them.
CREATE TABLE repo (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES grp (uid),
    name text COLLATE "C" NOT NULL, description text COLLATE "C" NOT NULL,
    catalog_tier text COLLATE "C" NOT NULL,
    bundles text COLLATE "C" NOT NULL,
    aliases text COLLATE "C" NOT NULL,
    active_tags text COLLATE "C" NOT NULL,
    sync_config text COLLATE "C" NOT NULL,
    create_time timestamptz NOT NULL, update_time timestamptz NOT NULL,
    open_severity text COLLATE "C" NOT NULL DEFAULT '', affected boolean NOT NULL DEFAULT false, -- written by findings
    readme text COLLATE "C" NOT NULL DEFAULT '',
    labels text COLLATE "C" NOT NULL DEFAULT '',
    search text COLLATE "C" NOT NULL DEFAULT '',
    root_key bytea, parent_key bytea, g2_key bytea, g3_key bytea, rest bytea, local bytea
);
-- A name is unique in a group. This index also serves the list of a group by name.
CREATE UNIQUE INDEX repo_parent_name ON repo (parent, name);
-- Lists of an organization, of a group, and below a group.
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
-- Lists of the repos with open findings, the worst first.
CREATE INDEX repo_root_key_open ON repo (root_key, open_severity, rest);
CREATE INDEX repo_parent_key_open ON repo (parent_key, open_severity, local);
CREATE INDEX repo_g2_key_open ON repo (g2_key, open_severity, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX repo_g3_key_open ON repo (g3_key, open_severity, rest) WHERE g3_key IS NOT NULL;
-- Labels of repos: each key, and each key=value. Lists by labels look each row up.
CREATE TABLE repo_label (
    alias text COLLATE "C" NOT NULL,
    uid bytea NOT NULL REFERENCES repo (uid) ON DELETE CASCADE,
    PRIMARY KEY (alias, uid)
);
-- The labels of a row that is changed or deleted.
CREATE INDEX repo_label_uid ON repo_label (uid);

-- Tags of repos. source is where an import has brought a tag from, so that pruning one source leaves the
-- tags of others alone.
CREATE TABLE tag (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES repo (uid),
    name text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    deprecated boolean NOT NULL,
    bundles text COLLATE "C" NOT NULL,
    class text COLLATE "C" NOT NULL,
    create_time timestamptz NOT NULL, update_time timestamptz NOT NULL,
    source text COLLATE "C" NOT NULL DEFAULT '',
    open_severity text COLLATE "C" NOT NULL DEFAULT '', -- that of its image; written by findings
    root_key bytea, parent_key bytea, g2_key bytea, g3_key bytea, rest bytea, local bytea
);
-- A name is unique in a repo. This index also serves the list of a repo by name.
CREATE UNIQUE INDEX tag_parent_name ON tag (parent, name);
-- The tags that an import has brought into a repo.
CREATE INDEX tag_parent_source ON tag (parent, source) WHERE source <> '';
-- The tags of an image: a part of the digest is enough to find them.
CREATE INDEX tag_parent_key_digest ON tag (parent_key, substr(digest, 8, 6));
-- Repos by the image of a tag.
CREATE INDEX tag_root_key_digest ON tag (root_key, substr(digest, 8, 6));
-- Lists of an organization, of a repo, and below a group or a repo.
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
-- Tags with open findings, the worst last.
CREATE INDEX tag_parent_key_open ON tag (parent_key, open_severity, local) WHERE open_severity <> '';
CREATE INDEX tag_root_key_open ON tag (root_key, open_severity, rest) WHERE open_severity <> '';
CREATE INDEX tag_g2_key_open ON tag (g2_key, open_severity, rest) WHERE g2_key IS NOT NULL AND open_severity <> '';
CREATE INDEX tag_g3_key_open ON tag (g3_key, open_severity, rest) WHERE g3_key IS NOT NULL AND open_severity <> '';
-- Lists of the deprecated tags, which are few among many.
CREATE INDEX tag_parent_key_deprecated ON tag (parent_key, update_time, local, rest) WHERE deprecated;
CREATE INDEX tag_root_key_deprecated ON tag (root_key, update_time, rest) WHERE deprecated;
CREATE INDEX tag_g2_key_deprecated ON tag (g2_key, update_time, rest) WHERE g2_key IS NOT NULL AND deprecated;
CREATE INDEX tag_g3_key_deprecated ON tag (g3_key, update_time, rest) WHERE g3_key IS NOT NULL AND deprecated;

-- Images of repos.
CREATE TABLE image (
    repo bytea NOT NULL REFERENCES repo (uid) ON DELETE CASCADE,
    digest text COLLATE "C" NOT NULL,
    architectures text COLLATE "C" NOT NULL,
    packages text COLLATE "C" NOT NULL,
    base_name text COLLATE "C" NOT NULL, base_digest text COLLATE "C" NOT NULL,
    PRIMARY KEY (repo, digest)
);

-- Advisories. The columns from search to latest_event_type are made from those before them, for filters.
-- severity is a rating and a score as a text that sorts, and count_class is the class in which an advisory
-- is counted: open ones have the classes 1, 4, 7 and so on. fix_time is the time of the latest event if that
-- is a fix.
CREATE TABLE advisory (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES grp (uid),
    advisory_id text COLLATE "C" NOT NULL,
    artifact_name text COLLATE "C" NOT NULL, artifact_type text COLLATE "C" NOT NULL, artifact_architecture text COLLATE "C" NOT NULL,
    normal_name text COLLATE "C" NOT NULL, name_rule text COLLATE "C" NOT NULL, -- by which the ecosystem compares names: platform/ecosystem
    component_name text COLLATE "C" NOT NULL, component_location text COLLATE "C" NOT NULL, component_type text COLLATE "C" NOT NULL,
    legacy_advisory_id text COLLATE "C" NOT NULL,
    author text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    aliases text COLLATE "C" NOT NULL, upstream text COLLATE "C" NOT NULL, related text COLLATE "C" NOT NULL,
    events text COLLATE "C" NOT NULL,
    severities text COLLATE "C" NOT NULL,
    delete_time timestamptz NOT NULL, source_time timestamptz NOT NULL, create_time timestamptz NOT NULL, update_time timestamptz NOT NULL,
    search text COLLATE "C" NOT NULL,
    event_types text COLLATE "C" NOT NULL,
    event_authors text COLLATE "C" NOT NULL,
    event_reviewers text COLLATE "C" NOT NULL,
    event_review_states text COLLATE "C" NOT NULL,
    latest_event_type text COLLATE "C" NOT NULL,
    severity text COLLATE "C" NOT NULL DEFAULT '0', severity_vector text COLLATE "C" NOT NULL DEFAULT '',
    severity_version text COLLATE "C" NOT NULL DEFAULT '', severity_source text COLLATE "C" NOT NULL DEFAULT '',
    count_class bigint NOT NULL DEFAULT 0,
    representative bytea NOT NULL, -- the advisory that stands for all of the same vulnerability and package
    fix_time timestamptz,
    affected text COLLATE "C" NOT NULL DEFAULT '', -- ranges and versions that are affected; it comes last, because lists do not read it
    root_key bytea, parent_key bytea, g2_key bytea, g3_key bytea, rest bytea, local bytea
);
-- A group has one advisory with an id for a package of an ecosystem.
CREATE UNIQUE INDEX advisory_unique ON advisory (parent, advisory_id, normal_name, artifact_type);
-- Operators see the advisories of all organizations in documents and reports, by artifact or by id. Of those
-- that many organizations have, the one that is not withdrawn and changed last is the end of a range.
CREATE INDEX advisory_artifact ON advisory (artifact_name, advisory_id, artifact_type, delete_time, update_time, uid);
CREATE INDEX advisory_normal_name ON advisory (normal_name, artifact_name, advisory_id, artifact_type, delete_time, name_rule);
CREATE INDEX advisory_id ON advisory (advisory_id);
-- The advisories that one stands for.
CREATE INDEX advisory_representative ON advisory (representative);
-- Lists of an organization, of a group, and below a group.
CREATE INDEX advisory_root_key_id ON advisory (root_key, advisory_id, rest);
CREATE INDEX advisory_root_key_create ON advisory (root_key, create_time, rest);
CREATE INDEX advisory_root_key_update ON advisory (root_key, update_time, rest);
CREATE INDEX advisory_parent_key_uid ON advisory (parent_key, local);
CREATE INDEX advisory_parent_key_artifact ON advisory (parent_key, artifact_name, local);
CREATE INDEX advisory_g2_key_id ON advisory (g2_key, advisory_id, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX advisory_g3_key_id ON advisory (g3_key, advisory_id, rest) WHERE g3_key IS NOT NULL;
-- The advisories of an artifact by id. Without this index, a list in this order reads all advisories that
-- other organizations have of the artifact, or sorts its own.
CREATE INDEX advisory_root_key_artifact_id ON advisory (root_key, normal_name, advisory_id, rest) WHERE count_class > 0;
-- The documents of an organization and of a group below it, and the advisories of a document by id. The names
-- of documents are read from these indexes alone.
CREATE INDEX advisory_root_key_document ON advisory (root_key, artifact_name, advisory_id, rest) WHERE count_class > 0;
CREATE INDEX advisory_g2_key_document ON advisory (g2_key, artifact_name, advisory_id, rest) WHERE g2_key IS NOT NULL AND count_class > 0;
CREATE INDEX advisory_g3_key_document ON advisory (g3_key, artifact_name, advisory_id, rest) WHERE g3_key IS NOT NULL AND count_class > 0;
-- How many advisories of each class an artifact has: counting reads this index alone.
CREATE INDEX advisory_root_key_artifact ON advisory (root_key, normal_name, rest, count_class, name_rule);
-- Lists of an organization by artifact.
CREATE INDEX advisory_root_key_name ON advisory (root_key, artifact_name, rest);
-- Lists by severity: of all advisories, and of the open ones, which are few in most organizations.
CREATE INDEX advisory_root_key_severity ON advisory (root_key, severity, rest);
CREATE INDEX advisory_g2_key_severity ON advisory (g2_key, severity, rest) WHERE g2_key IS NOT NULL;
CREATE INDEX advisory_g3_key_severity ON advisory (g3_key, severity, rest) WHERE g3_key IS NOT NULL;
CREATE INDEX advisory_root_key_open ON advisory (root_key, severity, rest) WHERE count_class % 3 = 1;
CREATE INDEX advisory_g2_key_open ON advisory (g2_key, severity, rest) WHERE g2_key IS NOT NULL AND count_class % 3 = 1;
CREATE INDEX advisory_g3_key_open ON advisory (g3_key, severity, rest) WHERE g3_key IS NOT NULL AND count_class % 3 = 1;
-- The summary counts what was fixed in each month.
CREATE INDEX advisory_root_key_fix ON advisory (root_key, fix_time) WHERE fix_time IS NOT NULL;

-- Other names of an advisory. The primary key finds the advisories of a name.
CREATE TABLE advisory_alias (
    alias text COLLATE "C" NOT NULL,
    uid bytea NOT NULL REFERENCES advisory (uid) ON DELETE CASCADE,
    PRIMARY KEY (alias, uid)
);
-- The names of an advisory that is changed or deleted.
CREATE INDEX advisory_alias_uid ON advisory_alias (uid);

-- What feeds say about vulnerabilities.
CREATE TABLE vulnerability (
    uid text COLLATE "C" PRIMARY KEY,
    summary text COLLATE "C" NOT NULL, details text COLLATE "C" NOT NULL,
    refs text COLLATE "C" NOT NULL,
    severities text COLLATE "C" NOT NULL,
    aliases text COLLATE "C" NOT NULL, upstream text COLLATE "C" NOT NULL, related text COLLATE "C" NOT NULL,
    update_time timestamptz NOT NULL
);

-- Other names of a vulnerability. The primary key finds the vulnerabilities of a name.
CREATE TABLE vulnerability_alias (
    alias text COLLATE "C" NOT NULL,
    uid text COLLATE "C" NOT NULL REFERENCES vulnerability (uid) ON DELETE CASCADE,
    PRIMARY KEY (alias, uid)
);
-- The names of a vulnerability that is changed or deleted.
CREATE INDEX vulnerability_alias_uid ON vulnerability_alias (uid);

-- Packages of an organization: what its images hold. The last segment of a UID is a hash of the ecosystem and the
-- name. uses is how many repos hold the package.
CREATE TABLE package (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES grp (uid) ON DELETE CASCADE, g2 bytea, g3 bytea,
    ecosystem text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    normal_name text COLLATE "C" NOT NULL, -- by which the ecosystem compares names
    search text COLLATE "C" NOT NULL,
    uses bigint NOT NULL DEFAULT 0,
    create_time timestamptz NOT NULL
);
-- Lists of an organization. The packages of a name, which an advisory is about, of one organization or of all.
CREATE INDEX package_parent_name ON package (parent, name, uid) WHERE uses > 0;
CREATE INDEX package_normal ON package (normal_name, root);

-- Versions of packages. rank sorts as the ecosystem sorts versions.
CREATE TABLE package_version (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES package (uid) ON DELETE CASCADE, g2 bytea, g3 bytea,
    version text COLLATE "C" NOT NULL,
    rank text COLLATE "C" NOT NULL,
    create_time timestamptz NOT NULL
);
-- Lists of a package.
CREATE INDEX package_version_parent_rank ON package_version (parent, rank, uid);

-- Components: versions of packages with what documents say of them. The last segment of a UID is a hash of all columns, so
-- that no document changes what another one says. version and source are UIDs of versions; source is that of the source
-- package, about which distributions publish advisories, and NULL if the document names none.
CREATE TABLE component (
    uid bytea PRIMARY KEY,
    parent bytea NOT NULL REFERENCES package (uid) ON DELETE CASCADE,
    version bytea NOT NULL,
    source bytea,
    purl text COLLATE "C" NOT NULL,
    licenses text COLLATE "C" NOT NULL,
    supplier text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL
);
-- The components of a version, and those that were built of it.
CREATE INDEX component_version ON component (version);
CREATE INDEX component_source ON component (source) WHERE source IS NOT NULL;

-- Licenses that components of a package have, in the form in which they are compared, and those in expressions: which packages to look at
-- for a license. What holds a package under it is in package_use.
CREATE TABLE package_license (
    package bytea NOT NULL REFERENCES package (uid) ON DELETE CASCADE,
    license text COLLATE "C" NOT NULL,
    PRIMARY KEY (package, license)
);
-- The packages of a license, and so those of an organization.
CREATE INDEX package_license_license ON package_license (license, package);

-- SBOMs: the packages of an image for one architecture, or for all if that is empty. components has the ends of the
-- UIDs of components, 16 bytes each, sorted. placements has what the document says of where these come from (sbom.go),
-- and is empty if it says nothing. used has those whose versions package_use still has of the image: NULL if they
-- are the same.
CREATE TABLE sbom (
    repo bytea NOT NULL REFERENCES repo (uid) ON DELETE CASCADE,
    digest text COLLATE "C" NOT NULL,
    architecture text COLLATE "C" NOT NULL,
    format text COLLATE "C" NOT NULL,
    components bytea NOT NULL,
    placements bytea NOT NULL,
    used bytea,
    create_time timestamptz NOT NULL,
    PRIMARY KEY (repo, digest, architecture)
);

-- What follows from tags, SBOMs and advisories for each image that a tag points to or that has an SBOM. All of it, and
-- the tables package_use and finding, are written by platform/inventory/finding_reconcile.go alone. number is that of
-- the image in its repo, which lists of package_use have. live is whether a tag that is not deprecated points to the image,
-- other than the tag of a signature. versions has the
-- package versions of an image without SBOM, which stand for names. unknown counts the packages of which it is not known what affects
-- them, and open_severity the open findings.
CREATE TABLE image_status (
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES repo (uid) ON DELETE CASCADE,
    digest text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    live boolean NOT NULL,
    basis text COLLATE "C" NOT NULL,
    versions bytea NOT NULL,
    unknown bigint NOT NULL,
    open_severity text COLLATE "C" NOT NULL,
    affected boolean NOT NULL,
    parent_key bytea NOT NULL, -- by which the tags of the repo are found
    PRIMARY KEY (parent, number)
);
-- The status of an image.
CREATE UNIQUE INDEX image_status_digest ON image_status (parent, digest);

-- Which live images of a repo hold a version of a package: their numbers, as a list in JSON. There are several rows, with
-- parts of the numbers, if there are many.
CREATE TABLE package_use (
    root_key bytea NOT NULL, rest bytea NOT NULL,
    parent bytea NOT NULL REFERENCES repo (uid) ON DELETE CASCADE,
    package bytea NOT NULL,
    version bytea NOT NULL,
    part bigint NOT NULL,
    images text COLLATE "C" NOT NULL,
    licenses text COLLATE "C" NOT NULL, -- what documents say, in JSON; see store/sqlstore/package.go
    n bigint NOT NULL,
    PRIMARY KEY (parent, package, version, part)
);
-- The repos of an organization, or below a group, that hold a package or a version.
CREATE INDEX package_use_package ON package_use (root_key, package, rest, version);
CREATE INDEX package_use_version ON package_use (root_key, version, rest, n);

-- Findings: an advisory affects a version of a package of an image. advisory is the one that rates it, and representative stands for all of the same vulnerability.
-- count_class is the class in which a finding is counted: 0 means that its image is not live, and it is negative if the
-- finding is resolved. Above 24 are the classes of findings in triage, accepted or not affected.
CREATE TABLE finding (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES repo (uid) ON DELETE CASCADE,
    digest text COLLATE "C" NOT NULL,
    advisory bytea NOT NULL, representative bytea NOT NULL,
    vulnerability text COLLATE "C" NOT NULL,
    package text COLLATE "C" NOT NULL, ecosystem text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL, version_uid bytea,
    sources text COLLATE "C" NOT NULL, disputed_by text COLLATE "C" NOT NULL, -- ids of the advisories that say that it is affected, and that it is not
    binary_packages text COLLATE "C" NOT NULL, -- what the image holds that was built of a source package
    fixed_versions text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL, -- what the image needs the package for; empty if it is not known
    direct text COLLATE "C" NOT NULL, -- true, false, or empty: whether the project in the image depends on the package itself
    new_in_repo boolean NOT NULL, -- the image brought it, and no other one of the repo had it
    lacks_fix boolean NOT NULL, -- it is known that all later versions are affected
    severity text COLLATE "C" NOT NULL,
    known_exploited boolean NOT NULL,
    epss text COLLATE "C" NOT NULL, -- six digits, so that it sorts; empty if it is unknown
    basis text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    justification text COLLATE "C" NOT NULL, note text COLLATE "C" NOT NULL,
    assignee bytea, due_time timestamptz NOT NULL, due_set boolean NOT NULL, expire_time timestamptz NOT NULL,
    decision text COLLATE "C" NOT NULL, decided_by text COLLATE "C" NOT NULL,
    live boolean NOT NULL,
    first_seen_time timestamptz NOT NULL, resolved_time timestamptz NOT NULL, update_time timestamptz NOT NULL,
    count_class bigint NOT NULL,
    root_key bytea, parent_key bytea, g2_key bytea, g3_key bytea, rest bytea, local bytea
);
-- The findings of an image, and of an advisory in a repo, with what counts the repos that are affected. The index of
-- advisories has the organization too: else PostgreSQL 18 combines it with another index, and reads all findings of that.
CREATE INDEX finding_parent_digest ON finding (parent, digest);
CREATE INDEX finding_representative ON finding (representative, parent, count_class, root_key);
-- Lists of an organization, of a repo, and below a group: by severity. Lists of an organization: the newest, those that
-- are most likely exploited, and those to be fixed first.
CREATE INDEX finding_root_key_severity ON finding (root_key, severity, rest) WHERE count_class > 0;
CREATE INDEX finding_parent_key_severity ON finding (parent_key, severity, local) WHERE count_class > 0;
CREATE INDEX finding_g2_key_severity ON finding (g2_key, severity, rest) WHERE g2_key IS NOT NULL AND count_class > 0;
CREATE INDEX finding_g3_key_severity ON finding (g3_key, severity, rest) WHERE g3_key IS NOT NULL AND count_class > 0;
-- The same of findings that are resolved, and of those that somebody has looked at: each is a small part of all.
CREATE INDEX finding_root_key_resolved ON finding (root_key, severity, rest) WHERE count_class < 0;
CREATE INDEX finding_parent_key_resolved ON finding (parent_key, severity, local) WHERE count_class < 0;
CREATE INDEX finding_g2_key_resolved ON finding (g2_key, severity, rest) WHERE g2_key IS NOT NULL AND count_class < 0;
CREATE INDEX finding_g3_key_resolved ON finding (g3_key, severity, rest) WHERE g3_key IS NOT NULL AND count_class < 0;
CREATE INDEX finding_root_key_triaged ON finding (root_key, severity, rest) WHERE count_class > 24;
CREATE INDEX finding_parent_key_triaged ON finding (parent_key, severity, local) WHERE count_class > 24;
CREATE INDEX finding_g2_key_triaged ON finding (g2_key, severity, rest) WHERE g2_key IS NOT NULL AND count_class > 24;
CREATE INDEX finding_g3_key_triaged ON finding (g3_key, severity, rest) WHERE g3_key IS NOT NULL AND count_class > 24;
CREATE INDEX finding_root_key_first ON finding (root_key, first_seen_time, rest);
CREATE INDEX finding_root_key_epss ON finding (root_key, epss, rest) WHERE count_class > 0;
CREATE INDEX finding_root_key_due ON finding (root_key, due_time, rest) WHERE count_class > 0;
-- The findings of a vulnerability, those with the words of a search (finding_words.go), and those of a package.
CREATE INDEX finding_root_key_vulnerability ON finding (root_key, vulnerability, package, sources, count_class, rest);
CREATE INDEX finding_root_key_package ON finding (root_key, package, rest);
-- The findings about which a rule has decided, in a group or a repo.
CREATE INDEX finding_decision ON finding (decision, uid) WHERE count_class > 24;
-- The findings whose exception ends next.
CREATE INDEX finding_expire ON finding (expire_time) WHERE state <> 'FINDING_STATE_OPEN' AND count_class > 0;

-- How many findings a repo has of an ecosystem and a class, which is a count_class that is not 0. Facets of findings are sums of
-- these (finding_count.go): an organization has fewer of them than findings, and the primary key has those of every scope together.
CREATE TABLE finding_count (
    parent bytea NOT NULL REFERENCES repo (uid) ON DELETE CASCADE,
    ecosystem text COLLATE "C" NOT NULL,
    class bigint NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (parent, ecosystem, class)
);

-- By how much the number of open findings of a scope, which is a repo or a group above it, changed in a quarter of an hour, which is
-- counted from 1970: r0 to r5 by the rank of their rating. What was open at the end of a day, in any time zone, is what is open now
-- without the changes after it. Repos that are deleted leave the groups above.
CREATE TABLE open_finding_change (
    scope bytea NOT NULL,
    quarter bigint NOT NULL,
    r0 bigint NOT NULL, r1 bigint NOT NULL, r2 bigint NOT NULL, r3 bigint NOT NULL, r4 bigint NOT NULL, r5 bigint NOT NULL,
    PRIMARY KEY (scope, quarter)
);

-- What callers and VEX documents have decided about the findings of a vulnerability in a group or a repo (parent), also
-- of those that appear later. package, ecosystem, version and digest are empty if the rule is for any. So are the name of
-- images (image), and the product that an image must hold. A rule with a pattern, which is JSON, has neither a vulnerability
-- nor any of these. uid follows from what the rule is about.
CREATE TABLE triage_rule (
    uid bytea PRIMARY KEY,
    parent bytea NOT NULL,
    vulnerability text COLLATE "C" NOT NULL,
    package text COLLATE "C" NOT NULL, ecosystem text COLLATE "C" NOT NULL, version text COLLATE "C" NOT NULL, digest text COLLATE "C" NOT NULL,
    image text COLLATE "C" NOT NULL, product text COLLATE "C" NOT NULL, product_ecosystem text COLLATE "C" NOT NULL, product_version text COLLATE "C" NOT NULL,
    pattern text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    justification text COLLATE "C" NOT NULL, note text COLLATE "C" NOT NULL,
    expire_time timestamptz NOT NULL, create_time timestamptz NOT NULL,
    author text COLLATE "C" NOT NULL
);
-- The rules of the groups around a repo.
CREATE INDEX triage_rule_parent_vulnerability ON triage_rule (parent, vulnerability);
-- The rules that end next.
CREATE INDEX triage_rule_expire ON triage_rule (expire_time);

-- Within how many days the findings of a group or a repo are to be fixed; NULL means that they have no date.
CREATE TABLE due_policy (
    scope bytea PRIMARY KEY,
    known_exploited bigint, critical bigint, high bigint, medium bigint, low bigint,
    author text COLLATE "C" NOT NULL,
    update_time timestamptz NOT NULL
);

-- What catalogs say of how likely vulnerabilities are exploited. epss has six digits, and is empty if it is not known.
CREATE TABLE exploitation (
    id text COLLATE "C" PRIMARY KEY,
    known_date timestamptz NOT NULL,
    epss text COLLATE "C" NOT NULL
);

-- What may have changed findings, and has not been looked at: an image, a repo, an advisory, or an advisory in a repo.
CREATE TABLE finding_task (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    root bytea NOT NULL,
    subject bytea NOT NULL,
    digest text COLLATE "C" NOT NULL,
    advisory bytea
);
-- The tasks of an organization, the oldest first.
CREATE INDEX finding_task_root ON finding_task (root, id);

-- The catalog of libraries, which lies outside the tree of groups. latest_version and version_count are
-- facts about the versions, so that a page of artifacts reads no versions.
CREATE TABLE artifact (
    uid bytea PRIMARY KEY,
    ecosystem text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL, description text COLLATE "C" NOT NULL,
    remediated boolean NOT NULL,
    cuda_version text COLLATE "C" NOT NULL,
    latest_version text COLLATE "C" NOT NULL, version_count bigint NOT NULL,
    create_time timestamptz NOT NULL, update_time timestamptz NOT NULL,
    search text COLLATE "C" NOT NULL
);
-- A name is unique in an ecosystem. This index also serves the list by name.
CREATE UNIQUE INDEX artifact_ecosystem_name ON artifact (ecosystem, name);
-- Lists of an ecosystem.
CREATE INDEX artifact_ecosystem_uid ON artifact (ecosystem, uid);
CREATE INDEX artifact_ecosystem_create ON artifact (ecosystem, create_time, uid);
CREATE INDEX artifact_ecosystem_update ON artifact (ecosystem, update_time, uid);
-- Lists of the artifacts for a version of CUDA, and of those that are remediated.
CREATE INDEX artifact_ecosystem_cuda ON artifact (ecosystem, cuda_version, name, uid);
CREATE INDEX artifact_remediated_name ON artifact (ecosystem, name, uid) WHERE remediated;

-- Versions of artifacts. version sorts by bytes as the ecosystem sorts versions, and label is its name.
CREATE TABLE artifact_version (
    uid bytea PRIMARY KEY,
    parent bytea NOT NULL REFERENCES artifact (uid),
    version text COLLATE "C" NOT NULL, label text COLLATE "C" NOT NULL,
    size_bytes bigint NOT NULL,
    create_time timestamptz NOT NULL, update_time timestamptz NOT NULL
);
-- A label is unique among the versions of an artifact.
CREATE UNIQUE INDEX artifact_version_parent_label ON artifact_version (parent, label);
-- Lists of an artifact.
CREATE INDEX artifact_version_parent_version ON artifact_version (parent, version, uid);
CREATE INDEX artifact_version_parent_uid ON artifact_version (parent, uid);
CREATE INDEX artifact_version_parent_create ON artifact_version (parent, create_time, uid);
CREATE INDEX artifact_version_parent_update ON artifact_version (parent, update_time, uid);

-- Events. denied says why a change was denied, and is empty for one that took place. Equal denials of one
-- minute share a row: denial names what they have in common, and times is their number. changes is what an
-- update has changed, as a list in JSON.
--
-- (xact, seq) is the order of the feed. seq alone is assigned before the commit, so that a higher number can
-- be visible before a lower one. An event comes after the events of every transaction that ended before it was
-- recorded. A transaction gets its id when it writes for the first time, which can be long before its last
-- event, so the default is at least the newest transaction that has ended.
--
-- The table consists of partitions by id, which begins with the time: store/sqlstore/partition explains them.
-- event_future begins in 2020. The server makes partitions of it before they are needed.
CREATE TABLE event (
    seq bigint GENERATED ALWAYS AS IDENTITY,
    xact bigint NOT NULL DEFAULT GREATEST(pg_current_xact_id()::text::bigint, pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1),
    id text COLLATE "C" PRIMARY KEY,
    type text COLLATE "C" NOT NULL,
    root text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    grp text COLLATE "C" NOT NULL,
    actor text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    time timestamptz NOT NULL,
    denied text COLLATE "C" NOT NULL DEFAULT '',
    actor_subject text COLLATE "C" NOT NULL DEFAULT '',
    g2 text COLLATE "C", g3 text COLLATE "C",
    times bigint NOT NULL DEFAULT 1,
    denial text COLLATE "C",
    changes text COLLATE "C" NOT NULL DEFAULT ''
) PARTITION BY RANGE (id);
CREATE TABLE event_past PARTITION OF event FOR VALUES FROM (MINVALUE) TO ('016f5e66-e800-0000-0000-000000000000');
CREATE TABLE event_future PARTITION OF event FOR VALUES FROM ('016f5e66-e800-0000-0000-000000000000') TO (MAXVALUE);
-- A partition has one row for equal denials.
CREATE UNIQUE INDEX event_past_denial ON event_past (denial) WHERE denial IS NOT NULL;
CREATE UNIQUE INDEX event_future_denial ON event_future (denial) WHERE denial IS NOT NULL;
-- The feed, of all organizations and of one.
CREATE INDEX event_order ON event (xact, seq) WHERE denied = '';
CREATE INDEX event_root ON event (root, xact, seq) WHERE denied = '';
-- Denied changes on their way to sinks.
CREATE INDEX event_order_denied ON event (xact, seq) WHERE denied <> '';
-- The audit log of an organization or below a group, of one actor, and of what was denied. Ids sort by time.
CREATE INDEX event_log ON event (root, id);
CREATE INDEX event_log_g2 ON event (g2, id) WHERE g2 IS NOT NULL;
CREATE INDEX event_log_g3 ON event (g3, id) WHERE g3 IS NOT NULL;
CREATE INDEX event_log_actor ON event (actor_subject, root, id);
CREATE INDEX event_log_denied ON event (root, id) WHERE denied <> '';
-- The audit log by type. New tags, which are most of all events, are not in these indexes. Without
-- them, a page of a rare type would read the whole log.
CREATE INDEX event_log_type ON event (root, type, id) WHERE type <> 'dev.atrium.api.platform.registry.tag.created.v1';
CREATE INDEX event_log_g2_type ON event (g2, type, id) WHERE g2 IS NOT NULL AND type <> 'dev.atrium.api.platform.registry.tag.created.v1';
CREATE INDEX event_log_g3_type ON event (g3, type, id) WHERE g3 IS NOT NULL AND type <> 'dev.atrium.api.platform.registry.tag.created.v1';
-- The audit log of one resource: the events whose subject it is. The last segment of a UID suffices to find
-- it, and an index of whole UIDs would be twice as large.
CREATE INDEX event_log_subject ON event (substr(subject, length(subject) - 15), id);
-- What happened to each of the role bindings on a group, in the order of their UIDs. With the id, what
-- happened before a time is passed over without reading it.
CREATE INDEX event_log_binding ON event (grp, subject, xact, seq, id) WHERE denied = '' AND type >= 'dev.atrium.api.iam.rolebindings.' AND type < 'dev.atrium.api.iam.rolebindings/';

-- The resources that an event names in its body or changes, beside its subject.
CREATE TABLE event_mention (
    root bytea NOT NULL, uid bytea NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    subject bytea NOT NULL,
    PRIMARY KEY (root, uid, event_id, subject)
);
-- Retention deletes the mentions of events.
CREATE INDEX event_mention_event ON event_mention (event_id);

-- The partitions of events. last_xact is the highest transaction of the events of a sealed partition. It is
-- the highest bigint while the partition is open.
CREATE TABLE event_partition (
    name text COLLATE "C" PRIMARY KEY,
    first_id text COLLATE "C" NOT NULL,
    last_xact bigint NOT NULL DEFAULT 9223372036854775807
);
INSERT INTO event_partition (name, first_id) VALUES ('event_past', ''), ('event_future', '016f5e66-e800-0000-0000-000000000000');

-- An event whose id lies in a sealed partition opens it.
-- +goose StatementBegin
CREATE FUNCTION open_event_partition() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE event_partition SET last_xact = 9223372036854775807 WHERE name = TG_TABLE_NAME AND last_xact < 9223372036854775807;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- How far recorded events have become deliveries. There is one row.
CREATE TABLE relay (
    id smallint PRIMARY KEY,
    xact bigint NOT NULL,
    seq bigint NOT NULL,
    purged_before text COLLATE "C" NOT NULL DEFAULT '' -- events with smaller ids may have been deleted
);
INSERT INTO relay (id, xact, seq) VALUES (1, 0, 0);

-- Subscriptions. Until old_secret_until, the old secret signs too. failing_since is the time since which the
-- sink has failed without a success. A disabled subscription gets nothing any more.
CREATE TABLE subscription (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES grp (uid), g2 bytea, g3 bytea,
    sink text COLLATE "C" NOT NULL,
    conditions text COLLATE "C" NOT NULL, -- conditions of events
    findings text COLLATE "C" NOT NULL, -- conditions of events about findings
    types text COLLATE "C" NOT NULL,
    format text COLLATE "C" NOT NULL, digest text COLLATE "C" NOT NULL, -- how events are written, and how long they are collected
    secret bytea NOT NULL,
    create_time timestamptz NOT NULL, update_time timestamptz NOT NULL,
    old_secret bytea, old_secret_until timestamptz NOT NULL,
    failing_since timestamptz NOT NULL,
    disable_time timestamptz NOT NULL, disable_reason text COLLATE "C" NOT NULL DEFAULT '',
    begin_event text COLLATE "C" NOT NULL -- id of the event that created or enabled it: it gets no earlier ones
);
-- A group has one subscription for a sink.
CREATE UNIQUE INDEX subscription_parent_sink ON subscription (parent, sink);
-- Lists of a group, of an organization, and below a group.
CREATE INDEX subscription_parent_uid ON subscription (parent, uid);
CREATE INDEX subscription_root_create ON subscription (root, create_time, uid);
CREATE INDEX subscription_g2_create ON subscription (g2, create_time, uid) WHERE g2 IS NOT NULL;
CREATE INDEX subscription_g3_create ON subscription (g3, create_time, uid) WHERE g3 IS NOT NULL;

-- Sources: what the server reads by itself. Those of the operator have no parent and an empty root. A source is due at next_run_time, which is not
-- set if it is not to be read. A process that claims a source holds it until lease_time, and has a ticket with the number of the
-- claim. Results with older tickets are ignored. pause is the time between two runs in nanoseconds; marks say what was read.
CREATE TABLE source (
    uid bytea PRIMARY KEY,
    root bytea NOT NULL, parent bytea REFERENCES grp (uid), g2 bytea, g3 bytea,
    name text COLLATE "C" NOT NULL, type text COLLATE "C" NOT NULL, url text COLLATE "C" NOT NULL,
    ecosystems text COLLATE "C" NOT NULL, patterns text COLLATE "C" NOT NULL, prune boolean NOT NULL,
    pause bigint NOT NULL, paused boolean NOT NULL,
    credentials text COLLATE "C" NOT NULL, password bytea NOT NULL,
    create_time timestamptz NOT NULL, update_time timestamptz NOT NULL,
    state text COLLATE "C" NOT NULL,
    next_run_time timestamptz NOT NULL, last_run_time timestamptz NOT NULL, last_success_time timestamptz NOT NULL, failing_since timestamptz NOT NULL,
    failures integer NOT NULL,
    last_run text COLLATE "C" NOT NULL, marks text COLLATE "C" NOT NULL,
    ticket bigint NOT NULL, lease_time timestamptz NOT NULL, cancel_asked boolean NOT NULL
);
-- A name is unique in a group.
CREATE UNIQUE INDEX source_parent_name ON source (parent, name);
-- What is due, for all organizations.
CREATE INDEX source_next ON source (next_run_time, uid);
-- Those that fail, and then those that were not read for longest, for metrics and the page of the operator.
CREATE INDEX source_worst ON source (((failures = 0)), last_success_time, uid);
-- Lists of an organization, of a group, and below a group.
CREATE INDEX source_root_name ON source (root, name, uid);
CREATE INDEX source_root_create ON source (root, create_time, uid);
CREATE INDEX source_parent_uid ON source (parent, uid);
CREATE INDEX source_parent_create ON source (parent, create_time, uid);
CREATE INDEX source_g2_name ON source (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX source_g3_name ON source (g3, name, uid) WHERE g3 IS NOT NULL;
-- The last runs of each source.
CREATE TABLE source_run (
    source bytea NOT NULL REFERENCES source (uid) ON DELETE CASCADE,
    number bigint NOT NULL,
    report text COLLATE "C" NOT NULL,
    PRIMARY KEY (source, number)
);

-- Deliveries: an event on its way to a subscription. Those that have not ended are the queue: stage is 1 until
-- a delivery has ended, and then 4. A process that claims a delivery holds it until lease_time, and has a
-- ticket with the number of the claim. Results with older tickets are ignored.
--
-- The table consists of partitions by (stage, update_time): store/sqlstore/partition explains them.
-- delivery_active has what has not ended. delivery_future begins in 2020. The server makes partitions of it
-- before they are needed.
CREATE TABLE delivery (
    uid bytea NOT NULL,
    root bytea NOT NULL, parent bytea NOT NULL REFERENCES subscription (uid) ON DELETE CASCADE, g2 bytea, g3 bytea,
    event_id text COLLATE "C" NOT NULL, event_type text COLLATE "C" NOT NULL,
    events bigint NOT NULL DEFAULT 0, -- number of events of a digest; 0 for a delivery of one event
    state text COLLATE "C" NOT NULL,
    stage smallint NOT NULL,
    attempts bigint NOT NULL,
    last_status bigint NOT NULL,
    last_error text COLLATE "C" NOT NULL,
    last_answer text COLLATE "C" NOT NULL,
    last_attempt_time timestamptz NOT NULL, next_attempt_time timestamptz NOT NULL,
    create_time timestamptz NOT NULL, update_time timestamptz NOT NULL,
    ticket bigint NOT NULL DEFAULT 0, lease_time timestamptz NOT NULL DEFAULT 'epoch'
) PARTITION BY RANGE (stage, update_time);
CREATE TABLE delivery_active PARTITION OF delivery (CONSTRAINT delivery_active_uid PRIMARY KEY (uid)) FOR VALUES FROM (MINVALUE, MINVALUE) TO (4, '2020-01-01Z');
CREATE TABLE delivery_future PARTITION OF delivery (CONSTRAINT delivery_future_uid PRIMARY KEY (uid)) FOR VALUES FROM (4, '2020-01-01Z') TO (MAXVALUE, MAXVALUE);
-- An event is delivered to a subscription once.
CREATE UNIQUE INDEX delivery_active_parent_event ON delivery_active (parent, event_id);
CREATE UNIQUE INDEX delivery_future_parent_event ON delivery_future (parent, event_id);
-- Lists of a subscription: of all, and in one state.
CREATE INDEX delivery_parent_create ON delivery (parent, create_time, uid);
CREATE INDEX delivery_parent_state ON delivery (parent, state, create_time, uid);
-- delivery_due finds the oldest deliveries of the queue, and delivery_line those of one subscription after
-- another. Their conditions differ, so that no statement uses one in place of the other.
CREATE INDEX delivery_due ON delivery_active (next_attempt_time, event_id) WHERE stage = 1;
CREATE INDEX delivery_line ON delivery_active (parent, next_attempt_time, event_id) WHERE stage < 4;
-- The deliveries that ended before a time, which are deleted.
CREATE INDEX delivery_active_ended ON delivery_active (update_time) WHERE stage = 4;
CREATE INDEX delivery_future_ended ON delivery_future (update_time);

-- The events of digests, which are deliveries of several events in one message.
CREATE TABLE digest_event (
    parent bytea NOT NULL REFERENCES subscription (uid) ON DELETE CASCADE,
    delivery bytea NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (parent, delivery, event_id)
);
-- The rows of events that have been deleted.
CREATE INDEX digest_event_event ON digest_event (event_id);

-- The partitions of ended deliveries, in the order of their first times.
CREATE TABLE delivery_partition (
    name text COLLATE "C" PRIMARY KEY,
    first_time timestamptz NOT NULL
);
INSERT INTO delivery_partition (name, first_time) VALUES ('delivery_future', '2020-01-01Z');

-- How many rows of a kind lie below a scope (n), and how many are its children (nc): the sum over all slots.
CREATE TABLE counter (
    scope text COLLATE "C" NOT NULL,
    kind smallint NOT NULL,
    slot smallint NOT NULL,
    n bigint NOT NULL, nc bigint NOT NULL,
    PRIMARY KEY (scope, kind, slot)
);

-- What goes on after its request was answered, for a day: platform/operations explains it.
CREATE TABLE operation (
    uid bytea PRIMARY KEY,
    is_done boolean NOT NULL, is_cancelled boolean NOT NULL,
    expire_time timestamptz NOT NULL,
    body text COLLATE "C" NOT NULL
);
-- Those whose time is over.
CREATE INDEX operation_expire ON operation (expire_time);

-- Answers to creations with idempotency keys, for a day: platform/core/idempotency.go explains it.
CREATE TABLE idempotency_key (
    id bytea PRIMARY KEY,
    fingerprint bytea NOT NULL,
    answer text COLLATE "C" NOT NULL,
    expire_time timestamptz NOT NULL
);
-- Those whose time is over.
CREATE INDEX idempotency_key_expire ON idempotency_key (expire_time);

-- Secrets that replicas share: keys of page tokens, of the development issuer, of secrets in the store.
-- sealed means that the material is encrypted with the encryption key.
CREATE TABLE shared_key (
    purpose text COLLATE "C" NOT NULL,
    id smallint NOT NULL,
    material bytea NOT NULL,
    create_time timestamptz NOT NULL,
    sealed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (purpose, id)
);

-- A planner that does not know a value expects what the average scope contains: next to nothing if there are
-- many small ones. It would sort the rows of a big scope, or read all of them for a filter. So it is told
-- that scopes are few and big. A plan for such scopes costs small ones nothing.
-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['grp', 'role', 'identity_provider', 'group_invite', 'external_group_role_mapping', 'subscription'] LOOP
        EXECUTE format('ALTER TABLE %I ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100)', t);
    END LOOP;
    FOREACH t IN ARRAY ARRAY['identity', 'role_binding', 'repo', 'tag', 'advisory', 'finding'] LOOP
        EXECUTE format('ALTER TABLE %I ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER root_key SET (n_distinct = 20),
            ALTER parent_key SET (n_distinct = 200), ALTER g2_key SET (n_distinct = 50), ALTER g3_key SET (n_distinct = 100)', t);
    END LOOP;
END $$;
-- +goose StatementEnd
ALTER TABLE account_association ALTER root SET (n_distinct = 20), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
ALTER TABLE terms_acceptance ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200);
ALTER TABLE artifact ALTER ecosystem SET (n_distinct = 2);
ALTER TABLE artifact_version ALTER parent SET (n_distinct = 200);
