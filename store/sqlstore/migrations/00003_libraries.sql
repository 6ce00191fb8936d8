-- The catalogue of libraries, which lies outside the tree of groups.

CREATE TABLE artifact (
    uid {text} PRIMARY KEY,
    ecosystem {text} NOT NULL,
    name {text} NOT NULL,
    description {text} NOT NULL,
    remediated BOOLEAN NOT NULL,
    cuda_version {text} NOT NULL,
    -- of its versions, so that a page of artifacts reads none of them
    latest_version {text} NOT NULL,
    version_count BIGINT NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL,
    -- what a free text is looked for in
    search {text} NOT NULL
);
CREATE UNIQUE INDEX artifact_ecosystem_name ON artifact (ecosystem, name);
CREATE INDEX artifact_ecosystem_uid ON artifact (ecosystem, uid);
CREATE INDEX artifact_ecosystem_create ON artifact (ecosystem, create_time, uid);
CREATE INDEX artifact_ecosystem_update ON artifact (ecosystem, update_time, uid);
CREATE INDEX artifact_ecosystem_cuda ON artifact (ecosystem, cuda_version, name, uid);
CREATE INDEX artifact_remediated_name ON artifact (ecosystem, name, uid) WHERE remediated;

-- version sorts by bytes as the ecosystem sorts versions; label is what one is
-- called.
CREATE TABLE artifact_version (
    uid {text} PRIMARY KEY,
    parent {text} NOT NULL REFERENCES artifact (uid),
    version {text} NOT NULL,
    label {text} NOT NULL,
    size_bytes BIGINT NOT NULL,
    create_time {time} NOT NULL,
    update_time {time} NOT NULL
);
CREATE UNIQUE INDEX artifact_version_parent_label ON artifact_version (parent, label);
CREATE INDEX artifact_version_parent_version ON artifact_version (parent, version, uid);
CREATE INDEX artifact_version_parent_uid ON artifact_version (parent, uid);
CREATE INDEX artifact_version_parent_create ON artifact_version (parent, create_time, uid);
CREATE INDEX artifact_version_parent_update ON artifact_version (parent, update_time, uid);

-- Few and big scopes, as in the first migration.
{postgres}ALTER TABLE artifact ALTER ecosystem SET (n_distinct = 2);
{postgres}ALTER TABLE artifact_version ALTER parent SET (n_distinct = 200);
