-- The advisories of an artifact by advisory id. Without it, a list in this order reads all
-- advisories that other organisations have of the artifact, or sorts its own.
CREATE INDEX advisory_root_artifact_id ON advisory (root, artifact_name, advisory_id, uid) WHERE count_class > 0;
