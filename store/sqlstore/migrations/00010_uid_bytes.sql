-- UIDs become bytes, which take less than half of their texts: in the rows, and
-- in every index. migration_bytes.go copies the rows of each table here into a
-- new one that takes its place. What stands behind "+indexes" is made when the
-- rows are there.
--
-- root, parent, g2 and g3 are as the first migration says. Events and counters
-- keep texts.

-- The check refuses texts, which a program of before would write.
CREATE TABLE grp (
    uid {uid} PRIMARY KEY CHECK (length(uid) % 8 = 4),
    root {uid} NOT NULL,
    parent {uid} REFERENCES grp (uid),
    g2 {uid},
    g3 {uid},
    name {text} NOT NULL,
    description {text} NOT NULL,
    resource_limits {text} NOT NULL,
    verified BOOLEAN NOT NULL,
    kind {text} NOT NULL,
    status {text} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);

-- Built-in roles have no parent and an empty root.
CREATE TABLE role (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} REFERENCES grp (uid),
    g2 {uid},
    g3 {uid},
    name {text} NOT NULL,
    description {text} NOT NULL,
    capabilities {text} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);

CREATE TABLE identity_provider (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} NOT NULL REFERENCES grp (uid),
    g2 {uid},
    g3 {uid},
    name {text} NOT NULL,
    description {text} NOT NULL,
    default_role {uid} NOT NULL REFERENCES role (uid),
    oidc {text} NOT NULL,
    issuer {text} NOT NULL,
    client_secret {bytes} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);

CREATE TABLE identity (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} NOT NULL REFERENCES grp (uid),
    g2 {uid},
    g3 {uid},
    name {text} NOT NULL,
    description {text} NOT NULL,
    email {text} NOT NULL,
    email_unverified {text} NOT NULL,
    company {text} NOT NULL,
    claim_match {text} NOT NULL,
    static_keys {text} NOT NULL,
    match_rule {text} NOT NULL,
    last_seen_time {time} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL,
    static_rule {text} NOT NULL DEFAULT '',
    external_id {text} NOT NULL DEFAULT '',
    provider {uid} REFERENCES identity_provider (uid) ON DELETE SET NULL
);

CREATE TABLE role_binding (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} NOT NULL REFERENCES grp (uid),
    g2 {uid},
    g3 {uid},
    identity {uid} NOT NULL REFERENCES identity (uid),
    role {uid} NOT NULL REFERENCES role (uid),
    create_time {time} NOT NULL
);

-- readme comes last: lists read what stands before it.
CREATE TABLE repo (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} NOT NULL REFERENCES grp (uid),
    g2 {uid},
    g3 {uid},
    name {text} NOT NULL,
    description {text} NOT NULL,
    catalog_tier {text} NOT NULL,
    bundles {text} NOT NULL,
    aliases {text} NOT NULL,
    active_tags {text} NOT NULL,
    sync_config {text} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL,
    readme {text} NOT NULL DEFAULT ''
);

-- g2 and g3 of a tag can be its repo, where that lies so high.
CREATE TABLE tag (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} NOT NULL REFERENCES repo (uid),
    g2 {uid},
    g3 {uid},
    name {text} NOT NULL,
    digest {text} NOT NULL,
    deprecated BOOLEAN NOT NULL,
    bundles {text} NOT NULL,
    class {text} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL,
    source {text} NOT NULL DEFAULT ''
);

CREATE TABLE image (
    repo {uid} NOT NULL REFERENCES repo (uid) ON DELETE CASCADE,
    digest {text} NOT NULL,
    architectures {text} NOT NULL,
    packages {text} NOT NULL,
    PRIMARY KEY (repo, digest)
);

CREATE TABLE advisory (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} NOT NULL REFERENCES grp (uid),
    g2 {uid},
    g3 {uid},
    advisory_id {text} NOT NULL,
    artifact_name {text} NOT NULL,
    artifact_type {text} NOT NULL,
    artifact_architecture {text} NOT NULL,
    component_name {text} NOT NULL,
    component_location {text} NOT NULL,
    component_type {text} NOT NULL,
    legacy_advisory_id {text} NOT NULL,
    author {text} NOT NULL,
    origin {text} NOT NULL,
    aliases {text} NOT NULL,
    events {text} NOT NULL,
    severities {text} NOT NULL,
    delete_time {time} NOT NULL,
    source_time {time} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL,
    search {text} NOT NULL,
    event_types {text} NOT NULL,
    event_authors {text} NOT NULL,
    event_reviewers {text} NOT NULL,
    event_review_states {text} NOT NULL,
    latest_event_type {text} NOT NULL
);

CREATE TABLE advisory_alias (
    alias {text} NOT NULL,
    uid {uid} NOT NULL REFERENCES advisory (uid) ON DELETE CASCADE,
    PRIMARY KEY (alias, uid)
);

CREATE TABLE subscription (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} NOT NULL REFERENCES grp (uid),
    g2 {uid},
    g3 {uid},
    sink {text} NOT NULL,
    types {text} NOT NULL,
    secret {bytes} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL,
    old_secret {bytes},
    old_secret_until {time},
    failing_since {time},
    disable_time {time},
    disable_reason {text} NOT NULL DEFAULT ''
);

CREATE TABLE delivery (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} NOT NULL REFERENCES subscription (uid) ON DELETE CASCADE,
    g2 {uid},
    g3 {uid},
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
    update_time {time} NOT NULL,
    ticket BIGINT NOT NULL DEFAULT 0
);

-- An association has the UID of its group, which is its parent too.
CREATE TABLE account_association (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} NOT NULL REFERENCES grp (uid),
    g2 {uid},
    g3 {uid},
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

CREATE TABLE group_invite (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} NOT NULL REFERENCES grp (uid),
    g2 {uid},
    g3 {uid},
    role {uid} NOT NULL REFERENCES role (uid),
    email {text} NOT NULL,
    single_use BOOLEAN NOT NULL,
    key_id {text} NOT NULL,
    hash {bytes} NOT NULL,
    expiration_time {time} NOT NULL,
    create_time {time} NOT NULL
);

CREATE TABLE external_group_role_mapping (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} NOT NULL REFERENCES identity_provider (uid),
    g2 {uid},
    g3 {uid},
    external_group_id {text} NOT NULL,
    role {uid} NOT NULL REFERENCES role (uid),
    scope {uid} NOT NULL REFERENCES grp (uid),
    create_time {time} NOT NULL
);

CREATE TABLE terms_acceptance (
    uid {uid} PRIMARY KEY,
    root {uid} NOT NULL,
    parent {uid} NOT NULL REFERENCES grp (uid),
    g2 {uid},
    g3 {uid},
    doc_id {text} NOT NULL,
    accepted_by {text} NOT NULL,
    create_time {time} NOT NULL
);

CREATE TABLE issuer_proof (
    root {uid} NOT NULL REFERENCES grp (uid) ON DELETE CASCADE,
    issuer {text} NOT NULL,
    method {text} NOT NULL,
    verify_time {time},
    check_time {time},
    PRIMARY KEY (issuer, root)
);

CREATE TABLE artifact (
    uid {uid} PRIMARY KEY,
    ecosystem {text} NOT NULL,
    name {text} NOT NULL,
    description {text} NOT NULL,
    remediated BOOLEAN NOT NULL,
    cuda_version {text} NOT NULL,
    latest_version {text} NOT NULL,
    version_count BIGINT NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL,
    search {text} NOT NULL
);

CREATE TABLE artifact_version (
    uid {uid} PRIMARY KEY,
    parent {uid} NOT NULL REFERENCES artifact (uid),
    version {text} NOT NULL,
    label {text} NOT NULL,
    size_bytes BIGINT NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);

-- +indexes

CREATE UNIQUE INDEX grp_parent_name ON grp (parent, name);
CREATE UNIQUE INDEX grp_root_name_unique ON grp (name) WHERE parent IS NULL;
CREATE INDEX grp_root_name ON grp (root, name, uid);
CREATE INDEX grp_root_create ON grp (root, create_time, uid);
CREATE INDEX grp_root_update ON grp (root, update_time, uid);
CREATE INDEX grp_parent_uid ON grp (parent, uid);
CREATE INDEX grp_parent_create ON grp (parent, create_time, uid);
CREATE INDEX grp_parent_update ON grp (parent, update_time, uid);
CREATE INDEX grp_g2_name ON grp (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX grp_g3_name ON grp (g3, name, uid) WHERE g3 IS NOT NULL;

CREATE UNIQUE INDEX role_parent_name ON role (parent, name);
CREATE INDEX role_root_name ON role (root, name, uid);
CREATE INDEX role_root_create ON role (root, create_time, uid);
CREATE INDEX role_parent_uid ON role (parent, uid);
CREATE INDEX role_parent_create ON role (parent, create_time, uid);
CREATE INDEX role_g2_name ON role (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX role_g3_name ON role (g3, name, uid) WHERE g3 IS NOT NULL;

CREATE UNIQUE INDEX identity_provider_parent_name ON identity_provider (parent, name);
CREATE INDEX identity_provider_role ON identity_provider (default_role);
CREATE INDEX identity_provider_parent_uid ON identity_provider (parent, uid);
CREATE INDEX identity_provider_parent_create ON identity_provider (parent, create_time, uid);
CREATE INDEX identity_provider_root_name ON identity_provider (root, name, uid);
CREATE INDEX identity_provider_root_create ON identity_provider (root, create_time, uid);
CREATE INDEX identity_provider_g2_name ON identity_provider (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX identity_provider_g3_name ON identity_provider (g3, name, uid) WHERE g3 IS NOT NULL;
CREATE INDEX identity_provider_issuer ON identity_provider (issuer, root, uid);

CREATE INDEX identity_match ON identity (match_rule, create_time, uid);
CREATE INDEX identity_root_name ON identity (root, name, uid);
CREATE INDEX identity_root_create ON identity (root, create_time, uid);
CREATE INDEX identity_root_update ON identity (root, update_time, uid);
CREATE INDEX identity_root_seen ON identity (root, last_seen_time, uid);
CREATE INDEX identity_parent_uid ON identity (parent, uid);
CREATE INDEX identity_parent_name ON identity (parent, name, uid);
CREATE INDEX identity_parent_create ON identity (parent, create_time, uid);
CREATE INDEX identity_parent_update ON identity (parent, update_time, uid);
CREATE INDEX identity_g2_name ON identity (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX identity_g3_name ON identity (g3, name, uid) WHERE g3 IS NOT NULL;
CREATE INDEX identity_static ON identity (static_rule, create_time, uid) WHERE static_rule <> '';
CREATE UNIQUE INDEX identity_external ON identity (external_id, provider) WHERE provider IS NOT NULL;
CREATE INDEX identity_provided ON identity (provider) WHERE provider IS NOT NULL;
CREATE INDEX identity_match_root ON identity (match_rule, root);

CREATE UNIQUE INDEX role_binding_unique ON role_binding (parent, identity, role);
CREATE INDEX role_binding_identity ON role_binding (identity, root, create_time, uid);
CREATE INDEX role_binding_role ON role_binding (role, root, create_time, uid);
CREATE INDEX role_binding_root_create ON role_binding (root, create_time, uid);
CREATE INDEX role_binding_parent_uid ON role_binding (parent, uid);
CREATE INDEX role_binding_parent_create ON role_binding (parent, create_time, uid);
CREATE INDEX role_binding_g2_create ON role_binding (g2, create_time, uid) WHERE g2 IS NOT NULL;
CREATE INDEX role_binding_g3_create ON role_binding (g3, create_time, uid) WHERE g3 IS NOT NULL;

CREATE UNIQUE INDEX repo_parent_name ON repo (parent, name);
CREATE INDEX repo_root_name ON repo (root, name, uid);
CREATE INDEX repo_root_create ON repo (root, create_time, uid);
CREATE INDEX repo_root_update ON repo (root, update_time, uid);
CREATE INDEX repo_parent_uid ON repo (parent, uid);
CREATE INDEX repo_parent_create ON repo (parent, create_time, uid);
CREATE INDEX repo_parent_update ON repo (parent, update_time, uid);
CREATE INDEX repo_g2_name ON repo (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX repo_g2_create ON repo (g2, create_time, uid) WHERE g2 IS NOT NULL;
CREATE INDEX repo_g3_name ON repo (g3, name, uid) WHERE g3 IS NOT NULL;
CREATE INDEX repo_g3_create ON repo (g3, create_time, uid) WHERE g3 IS NOT NULL;

CREATE UNIQUE INDEX tag_parent_name ON tag (parent, name);
CREATE INDEX tag_parent_digest ON tag (parent, substr(digest, 8, 16));
CREATE INDEX tag_parent_uid ON tag (parent, uid);
CREATE INDEX tag_parent_create ON tag (parent, create_time, uid);
CREATE INDEX tag_parent_update ON tag (parent, update_time, uid);
CREATE INDEX tag_root_name ON tag (root, name, uid);
CREATE INDEX tag_root_create ON tag (root, create_time, uid);
CREATE INDEX tag_root_update ON tag (root, update_time, uid);
CREATE INDEX tag_g2_name ON tag (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX tag_g2_create ON tag (g2, create_time, uid) WHERE g2 IS NOT NULL;
CREATE INDEX tag_g3_name ON tag (g3, name, uid) WHERE g3 IS NOT NULL;
CREATE INDEX tag_g3_create ON tag (g3, create_time, uid) WHERE g3 IS NOT NULL;
CREATE INDEX tag_parent_source ON tag (parent, source) WHERE source <> '';

CREATE UNIQUE INDEX advisory_unique ON advisory (parent, advisory_id, artifact_name);
CREATE INDEX advisory_parent_uid ON advisory (parent, uid);
CREATE INDEX advisory_parent_artifact ON advisory (parent, artifact_name, uid);
CREATE INDEX advisory_root_id ON advisory (root, advisory_id, uid);
CREATE INDEX advisory_root_artifact ON advisory (root, artifact_name, uid);
CREATE INDEX advisory_root_create ON advisory (root, create_time, uid);
CREATE INDEX advisory_root_update ON advisory (root, update_time, uid);
CREATE INDEX advisory_g2_id ON advisory (g2, advisory_id, uid) WHERE g2 IS NOT NULL;
CREATE INDEX advisory_g3_id ON advisory (g3, advisory_id, uid) WHERE g3 IS NOT NULL;
CREATE INDEX advisory_artifact ON advisory (artifact_name, advisory_id, delete_time, update_time, uid);
CREATE INDEX advisory_id ON advisory (advisory_id);
CREATE INDEX advisory_alias_uid ON advisory_alias (uid);

CREATE UNIQUE INDEX subscription_parent_sink ON subscription (parent, sink);
CREATE INDEX subscription_parent_uid ON subscription (parent, uid);
CREATE INDEX subscription_root_create ON subscription (root, create_time, uid);
CREATE INDEX subscription_g2_create ON subscription (g2, create_time, uid) WHERE g2 IS NOT NULL;

CREATE UNIQUE INDEX delivery_parent_event ON delivery (parent, event_id);
CREATE INDEX delivery_parent_create ON delivery (parent, create_time, uid);
CREATE INDEX delivery_parent_state ON delivery (parent, state, create_time, uid);
CREATE INDEX delivery_held ON delivery (parent, event_id) WHERE stage = 0;
CREATE INDEX delivery_outstanding ON delivery (parent) WHERE stage IN (1, 2);
CREATE INDEX delivery_ready ON delivery (next_attempt_time, uid) WHERE stage = 1;
CREATE INDEX delivery_queued ON delivery (next_attempt_time) WHERE stage IN (2, 3);
CREATE INDEX delivery_ended ON delivery (update_time) WHERE stage = 4;

CREATE UNIQUE INDEX account_association_parent ON account_association (parent);
CREATE INDEX account_association_root_name ON account_association (root, name, uid);
CREATE INDEX account_association_root_create ON account_association (root, create_time, uid);
CREATE INDEX account_association_root_update ON account_association (root, update_time, uid);
CREATE INDEX account_association_g2_name ON account_association (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX account_association_g3_name ON account_association (g3, name, uid) WHERE g3 IS NOT NULL;

CREATE UNIQUE INDEX group_invite_key ON group_invite (key_id);
CREATE INDEX group_invite_role ON group_invite (role);
CREATE INDEX group_invite_parent_uid ON group_invite (parent, uid);
CREATE INDEX group_invite_parent_create ON group_invite (parent, create_time, uid);
CREATE INDEX group_invite_parent_expiration ON group_invite (parent, expiration_time, uid);
CREATE INDEX group_invite_root_create ON group_invite (root, create_time, uid);
CREATE INDEX group_invite_root_expiration ON group_invite (root, expiration_time, uid);
CREATE INDEX group_invite_g2_create ON group_invite (g2, create_time, uid) WHERE g2 IS NOT NULL;
CREATE INDEX group_invite_g3_create ON group_invite (g3, create_time, uid) WHERE g3 IS NOT NULL;

CREATE UNIQUE INDEX external_group_role_mapping_unique ON external_group_role_mapping (parent, external_group_id, role, scope);
CREATE INDEX external_group_role_mapping_role ON external_group_role_mapping (role);
CREATE INDEX external_group_role_mapping_scope ON external_group_role_mapping (scope, uid);
CREATE INDEX external_group_role_mapping_parent_uid ON external_group_role_mapping (parent, uid);
CREATE INDEX external_group_role_mapping_parent_create ON external_group_role_mapping (parent, create_time, uid);
CREATE INDEX external_group_role_mapping_root_create ON external_group_role_mapping (root, create_time, uid);
CREATE INDEX external_group_role_mapping_g2_create ON external_group_role_mapping (g2, create_time, uid) WHERE g2 IS NOT NULL;

CREATE UNIQUE INDEX terms_acceptance_unique ON terms_acceptance (parent, doc_id);
CREATE INDEX terms_acceptance_parent_create ON terms_acceptance (parent, create_time, uid);
CREATE INDEX terms_acceptance_parent_uid ON terms_acceptance (parent, uid);

CREATE INDEX issuer_proof_root ON issuer_proof (root);
CREATE INDEX issuer_proof_due ON issuer_proof (check_time) WHERE method = 'file';

CREATE UNIQUE INDEX artifact_ecosystem_name ON artifact (ecosystem, name);
CREATE INDEX artifact_ecosystem_uid ON artifact (ecosystem, uid);
CREATE INDEX artifact_ecosystem_create ON artifact (ecosystem, create_time, uid);
CREATE INDEX artifact_ecosystem_update ON artifact (ecosystem, update_time, uid);
CREATE INDEX artifact_ecosystem_cuda ON artifact (ecosystem, cuda_version, name, uid);
CREATE INDEX artifact_remediated_name ON artifact (ecosystem, name, uid) WHERE remediated;

CREATE UNIQUE INDEX artifact_version_parent_label ON artifact_version (parent, label);
CREATE INDEX artifact_version_parent_version ON artifact_version (parent, version, uid);
CREATE INDEX artifact_version_parent_uid ON artifact_version (parent, uid);
CREATE INDEX artifact_version_parent_create ON artifact_version (parent, create_time, uid);
CREATE INDEX artifact_version_parent_update ON artifact_version (parent, update_time, uid);

-- Scopes are few and big: see the first migration.
{postgres}ALTER TABLE grp ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE identity ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE role ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE role_binding ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE repo ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE tag ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE advisory ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE subscription ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE identity_provider ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE group_invite ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE external_group_role_mapping ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE account_association ALTER root SET (n_distinct = 20), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE terms_acceptance ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200);
{postgres}ALTER TABLE artifact ALTER ecosystem SET (n_distinct = 2);
{postgres}ALTER TABLE artifact_version ALTER parent SET (n_distinct = 200);
