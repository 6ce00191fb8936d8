-- Identity providers and who comes in by them, account associations, invites,
-- mappings of external groups, accepted terms.

CREATE TABLE identity_provider (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} NOT NULL REFERENCES grp (uid),
    g2 {text},
    g3 {text},
    name {text} NOT NULL,
    description {text} NOT NULL,
    default_role {text} NOT NULL REFERENCES role (uid),
    oidc {text} NOT NULL,
    issuer {text} NOT NULL,
    client_secret {bytes} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);
CREATE UNIQUE INDEX identity_provider_parent_name ON identity_provider (parent, name);
CREATE INDEX identity_provider_issuer ON identity_provider (issuer, uid);
CREATE INDEX identity_provider_role ON identity_provider (default_role);
CREATE INDEX identity_provider_parent_uid ON identity_provider (parent, uid);
CREATE INDEX identity_provider_parent_create ON identity_provider (parent, create_time, uid);
CREATE INDEX identity_provider_root_name ON identity_provider (root, name, uid);
CREATE INDEX identity_provider_root_create ON identity_provider (root, create_time, uid);
CREATE INDEX identity_provider_g2_name ON identity_provider (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX identity_provider_g3_name ON identity_provider (g3, name, uid) WHERE g3 IS NOT NULL;

-- What identities are found by beside their claim rules: the issuer and subject
-- of keys of their own, or the provider that made them and whom for. Without
-- the provider nobody comes in as them.
ALTER TABLE identity ADD COLUMN static_rule {text} NOT NULL DEFAULT '';
ALTER TABLE identity ADD COLUMN external_id {text} NOT NULL DEFAULT '';
ALTER TABLE identity ADD COLUMN provider {text} REFERENCES identity_provider (uid) ON DELETE SET NULL;
CREATE INDEX identity_static ON identity (static_rule, create_time, uid) WHERE static_rule <> '';
CREATE UNIQUE INDEX identity_external ON identity (external_id, provider) WHERE provider IS NOT NULL;
CREATE INDEX identity_provided ON identity (provider) WHERE provider IS NOT NULL;
{postgres}UPDATE identity SET static_rule = (static_keys::jsonb ->> 'issuer') || chr(2) || (static_keys::jsonb ->> 'subject') WHERE static_keys <> '';
{sqlite}UPDATE identity SET static_rule = json_extract(static_keys, '$.issuer') || char(2) || json_extract(static_keys, '$.subject') WHERE static_keys <> '';

-- An association has the UID of its group, which is its parent too.
CREATE TABLE account_association (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} NOT NULL REFERENCES grp (uid),
    g2 {text},
    g3 {text},
    name {text} NOT NULL,
    description {text} NOT NULL,
    amazon {text} NOT NULL,
    google {text} NOT NULL,
    platform {text} NOT NULL,
    azure {text} NOT NULL,
    github {text} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);
CREATE UNIQUE INDEX account_association_parent ON account_association (parent);
CREATE INDEX account_association_root_name ON account_association (root, name, uid);
CREATE INDEX account_association_root_create ON account_association (root, create_time, uid);
CREATE INDEX account_association_root_update ON account_association (root, update_time, uid);
CREATE INDEX account_association_g2_name ON account_association (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX account_association_g2_create ON account_association (g2, create_time, uid) WHERE g2 IS NOT NULL;
CREATE INDEX account_association_g3_name ON account_association (g3, name, uid) WHERE g3 IS NOT NULL;

CREATE TABLE group_invite (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} NOT NULL REFERENCES grp (uid),
    g2 {text},
    g3 {text},
    role {text} NOT NULL REFERENCES role (uid),
    email {text} NOT NULL,
    single_use BOOLEAN NOT NULL,
    key_id {text} NOT NULL,
    hash {bytes} NOT NULL,
    expiration_time {time} NOT NULL,
    create_time {time} NOT NULL
);
CREATE UNIQUE INDEX group_invite_key ON group_invite (key_id);
CREATE INDEX group_invite_role ON group_invite (role);
CREATE INDEX group_invite_parent_uid ON group_invite (parent, uid);
CREATE INDEX group_invite_parent_create ON group_invite (parent, create_time, uid);
CREATE INDEX group_invite_parent_expiration ON group_invite (parent, expiration_time, uid);
CREATE INDEX group_invite_root_create ON group_invite (root, create_time, uid);
CREATE INDEX group_invite_root_expiration ON group_invite (root, expiration_time, uid);
CREATE INDEX group_invite_g2_create ON group_invite (g2, create_time, uid) WHERE g2 IS NOT NULL;
CREATE INDEX group_invite_g3_create ON group_invite (g3, create_time, uid) WHERE g3 IS NOT NULL;

CREATE TABLE external_group_role_mapping (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} NOT NULL REFERENCES identity_provider (uid),
    g2 {text},
    g3 {text},
    external_group_id {text} NOT NULL,
    role {text} NOT NULL REFERENCES role (uid),
    scope {text} NOT NULL REFERENCES grp (uid),
    create_time {time} NOT NULL
);
CREATE UNIQUE INDEX external_group_role_mapping_unique ON external_group_role_mapping (parent, external_group_id, role, scope);
CREATE INDEX external_group_role_mapping_role ON external_group_role_mapping (role);
CREATE INDEX external_group_role_mapping_scope ON external_group_role_mapping (scope, uid);
CREATE INDEX external_group_role_mapping_parent_uid ON external_group_role_mapping (parent, uid);
CREATE INDEX external_group_role_mapping_parent_create ON external_group_role_mapping (parent, create_time, uid);
CREATE INDEX external_group_role_mapping_root_create ON external_group_role_mapping (root, create_time, uid);
CREATE INDEX external_group_role_mapping_g2_create ON external_group_role_mapping (g2, create_time, uid) WHERE g2 IS NOT NULL;

CREATE TABLE terms_acceptance (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} NOT NULL REFERENCES grp (uid),
    g2 {text},
    g3 {text},
    doc_id {text} NOT NULL,
    accepted_by {text} NOT NULL,
    create_time {time} NOT NULL
);
CREATE UNIQUE INDEX terms_acceptance_unique ON terms_acceptance (parent, doc_id);
CREATE INDEX terms_acceptance_parent_create ON terms_acceptance (parent, create_time, uid);
CREATE INDEX terms_acceptance_parent_uid ON terms_acceptance (parent, uid);

-- Scopes are few and big: see the foundation.
{postgres}ALTER TABLE identity_provider ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE account_association ALTER root SET (n_distinct = 20), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE group_invite ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE external_group_role_mapping ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE terms_acceptance ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200);
