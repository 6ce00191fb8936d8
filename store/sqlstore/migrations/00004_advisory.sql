-- Documents and reports read advisories of all organisations, by what they
-- are about or by their names.
CREATE INDEX advisory_artifact ON advisory (artifact_name, advisory_id);
CREATE INDEX advisory_id ON advisory (advisory_id);
