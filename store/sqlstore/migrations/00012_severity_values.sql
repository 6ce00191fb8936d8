-- The values of what the last migration added are computed by the program, since
-- SQL cannot score a vector. While it works advisories can be read.
CREATE INDEX advisory_root_severity ON advisory (root, severity, uid);
CREATE INDEX advisory_g2_severity ON advisory (g2, severity, uid) WHERE g2 IS NOT NULL;
CREATE INDEX advisory_g3_severity ON advisory (g3, severity, uid) WHERE g3 IS NOT NULL;
-- The class beside the artifact, so that counting the advisories of repos reads
-- the index alone.
DROP INDEX advisory_root_artifact;
CREATE INDEX advisory_root_artifact ON advisory (root, artifact_name, uid, count_class);
