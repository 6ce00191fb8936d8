-- One schema for every engine. {text} compares by bytes, {time} has
-- milliseconds, {serial} numbers rows in order of insertion, {xact} is the
-- transaction, in an order in which transactions can be waited for.
--
-- root, g2 and g3 are what encloses a row on the first three levels of the
-- tree, so that "all below X" is one equality for X on any of them.

CREATE TABLE grp (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} REFERENCES grp (uid),
    g2 {text},
    g3 {text},
    name {text} NOT NULL,
    description {text} NOT NULL,
    resource_limits {text} NOT NULL,
    verified BOOLEAN NOT NULL,
    kind {text} NOT NULL,
    status {text} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);
CREATE UNIQUE INDEX grp_parent_name ON grp (parent, name);
CREATE UNIQUE INDEX grp_root_name_unique ON grp (name) WHERE parent IS NULL;
CREATE INDEX grp_root_name ON grp (root, name, uid);
CREATE INDEX grp_root_create ON grp (root, create_time, uid);
CREATE INDEX grp_root_update ON grp (root, update_time, uid);
CREATE INDEX grp_parent_uid ON grp (parent, uid);
CREATE INDEX grp_parent_create ON grp (parent, create_time, uid);
CREATE INDEX grp_parent_update ON grp (parent, update_time, uid);
CREATE INDEX grp_g2_name ON grp (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX grp_g2_create ON grp (g2, create_time, uid) WHERE g2 IS NOT NULL;
CREATE INDEX grp_g3_name ON grp (g3, name, uid) WHERE g3 IS NOT NULL;
CREATE INDEX grp_g3_create ON grp (g3, create_time, uid) WHERE g3 IS NOT NULL;

CREATE TABLE identity (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} NOT NULL REFERENCES grp (uid),
    g2 {text},
    g3 {text},
    name {text} NOT NULL,
    description {text} NOT NULL,
    email {text} NOT NULL,
    email_unverified {text} NOT NULL,
    company {text} NOT NULL,
    claim_match {text} NOT NULL,
    static_keys {text} NOT NULL,
    -- what a token is looked up by: issuer and subject, or marks for patterns
    match_rule {text} NOT NULL,
    last_seen_time {time} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);
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
CREATE INDEX identity_g2_create ON identity (g2, create_time, uid) WHERE g2 IS NOT NULL;
CREATE INDEX identity_g3_name ON identity (g3, name, uid) WHERE g3 IS NOT NULL;
CREATE INDEX identity_g3_create ON identity (g3, create_time, uid) WHERE g3 IS NOT NULL;

-- Built-in roles have no parent and the root ''.
CREATE TABLE role (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} REFERENCES grp (uid),
    g2 {text},
    g3 {text},
    name {text} NOT NULL,
    description {text} NOT NULL,
    capabilities {text} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);
CREATE UNIQUE INDEX role_parent_name ON role (parent, name);
CREATE INDEX role_root_name ON role (root, name, uid);
CREATE INDEX role_root_create ON role (root, create_time, uid);
CREATE INDEX role_parent_uid ON role (parent, uid);
CREATE INDEX role_parent_create ON role (parent, create_time, uid);
CREATE INDEX role_g2_name ON role (g2, name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX role_g3_name ON role (g3, name, uid) WHERE g3 IS NOT NULL;

CREATE TABLE role_binding (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} NOT NULL REFERENCES grp (uid),
    g2 {text},
    g3 {text},
    identity {text} NOT NULL REFERENCES identity (uid),
    role {text} NOT NULL REFERENCES role (uid),
    create_time {time} NOT NULL
);
CREATE UNIQUE INDEX role_binding_unique ON role_binding (parent, identity, role);
CREATE INDEX role_binding_identity ON role_binding (identity, root, create_time, uid);
CREATE INDEX role_binding_role ON role_binding (role, root, create_time, uid);
CREATE INDEX role_binding_root_create ON role_binding (root, create_time, uid);
CREATE INDEX role_binding_parent_uid ON role_binding (parent, uid);
CREATE INDEX role_binding_parent_create ON role_binding (parent, create_time, uid);
CREATE INDEX role_binding_g2_create ON role_binding (g2, create_time, uid) WHERE g2 IS NOT NULL;
CREATE INDEX role_binding_g3_create ON role_binding (g3, create_time, uid) WHERE g3 IS NOT NULL;

-- readme comes last: lists read what stands before it.
CREATE TABLE repo (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} NOT NULL REFERENCES grp (uid),
    g2 {text},
    g3 {text},
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

-- g2 and g3 of a tag can be its repo, where that lies so high.
CREATE TABLE tag (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} NOT NULL REFERENCES repo (uid),
    g2 {text},
    g3 {text},
    name {text} NOT NULL,
    digest {text} NOT NULL,
    deprecated BOOLEAN NOT NULL,
    bundles {text} NOT NULL,
    class {text} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);
CREATE UNIQUE INDEX tag_parent_name ON tag (parent, name);
CREATE INDEX tag_parent_digest ON tag (parent, digest);
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

CREATE TABLE image (
    repo {text} NOT NULL REFERENCES repo (uid) ON DELETE CASCADE,
    digest {text} NOT NULL,
    architectures {text} NOT NULL,
    packages {text} NOT NULL,
    PRIMARY KEY (repo, digest)
);

CREATE TABLE advisory (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} NOT NULL REFERENCES grp (uid),
    g2 {text},
    g3 {text},
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
    -- what filters look at, made from the columns above
    search {text} NOT NULL,
    event_types {text} NOT NULL,
    event_authors {text} NOT NULL,
    event_reviewers {text} NOT NULL,
    event_review_states {text} NOT NULL,
    latest_event_type {text} NOT NULL
);
CREATE UNIQUE INDEX advisory_unique ON advisory (parent, advisory_id, artifact_name);
CREATE INDEX advisory_parent_uid ON advisory (parent, uid);
CREATE INDEX advisory_parent_artifact ON advisory (parent, artifact_name, uid);
CREATE INDEX advisory_root_id ON advisory (root, advisory_id, uid);
CREATE INDEX advisory_root_artifact ON advisory (root, artifact_name, uid);
CREATE INDEX advisory_root_create ON advisory (root, create_time, uid);
CREATE INDEX advisory_root_update ON advisory (root, update_time, uid);
CREATE INDEX advisory_g2_id ON advisory (g2, advisory_id, uid) WHERE g2 IS NOT NULL;
CREATE INDEX advisory_g2_artifact ON advisory (g2, artifact_name, uid) WHERE g2 IS NOT NULL;
CREATE INDEX advisory_g3_id ON advisory (g3, advisory_id, uid) WHERE g3 IS NOT NULL;

CREATE TABLE advisory_alias (
    alias {text} NOT NULL,
    uid {text} NOT NULL REFERENCES advisory (uid) ON DELETE CASCADE,
    PRIMARY KEY (alias, uid)
);
CREATE INDEX advisory_alias_uid ON advisory_alias (uid);

CREATE TABLE vulnerability (
    uid {text} PRIMARY KEY,
    summary {text} NOT NULL,
    details {text} NOT NULL,
    refs {text} NOT NULL,
    severities {text} NOT NULL,
    aliases {text} NOT NULL,
    update_time {time} NOT NULL
);

CREATE TABLE vulnerability_alias (
    alias {text} NOT NULL,
    uid {text} NOT NULL REFERENCES vulnerability (uid) ON DELETE CASCADE,
    PRIMARY KEY (alias, uid)
);
CREATE INDEX vulnerability_alias_uid ON vulnerability_alias (uid);

CREATE TABLE subscription (
    uid {text} PRIMARY KEY,
    root {text} NOT NULL,
    parent {text} NOT NULL REFERENCES grp (uid),
    g2 {text},
    g3 {text},
    sink {text} NOT NULL,
    types {text} NOT NULL,
    secret {bytes} NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);
CREATE UNIQUE INDEX subscription_parent_sink ON subscription (parent, sink);
CREATE INDEX subscription_parent_uid ON subscription (parent, uid);
CREATE INDEX subscription_root_create ON subscription (root, create_time, uid);
CREATE INDEX subscription_g2_create ON subscription (g2, create_time, uid) WHERE g2 IS NOT NULL;

-- How many rows of a kind lie below a scope (n) and how many are its children
-- (nc): the sum over slots.
CREATE TABLE counter (
    scope {text} NOT NULL,
    kind SMALLINT NOT NULL,
    slot SMALLINT NOT NULL,
    n BIGINT NOT NULL,
    nc BIGINT NOT NULL,
    PRIMARY KEY (scope, kind, slot)
);

-- (xact, seq) is the order of the feed: seq alone is handed out before the
-- commit, so that a later number can be seen before an earlier one.
CREATE TABLE event (
    seq {serial},
    xact {xact},
    id {text} NOT NULL UNIQUE,
    type {text} NOT NULL,
    root {text} NOT NULL,
    subject {text} NOT NULL,
    grp {text} NOT NULL,
    actor {text} NOT NULL,
    body {text} NOT NULL,
    time {time} NOT NULL
);
CREATE INDEX event_order ON event (xact, seq);
CREATE INDEX event_root ON event (root, xact, seq);
CREATE INDEX event_time ON event (time);

-- Secret material that replicas share: keys of page tokens, of the development
-- issuer, of secrets at rest.
CREATE TABLE shared_key (
    purpose {text} NOT NULL,
    id SMALLINT NOT NULL,
    material {bytes} NOT NULL,
    create_time {time} NOT NULL,
    PRIMARY KEY (purpose, id)
);

-- A planner that does not know a value expects what the average scope holds:
-- next to nothing, where there are many small ones. It would sort the rows of
-- a big one, or read all of them for a filter. So it is told that scopes are
-- few and big: a plan for those costs small ones nothing. SQLite has no such
-- estimates.
{postgres}ALTER TABLE grp ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE identity ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE role ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE role_binding ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE repo ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE tag ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE advisory ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
{postgres}ALTER TABLE subscription ALTER root SET (n_distinct = 20), ALTER parent SET (n_distinct = 200), ALTER g2 SET (n_distinct = 50), ALTER g3 SET (n_distinct = 100);
