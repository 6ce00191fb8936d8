-- Documents and reports read advisories of all organisations, by what they
-- are about or by their names. Of those that many organisations have, the one
-- that stands and changed last is the end of a range.
CREATE INDEX advisory_artifact ON advisory (artifact_name, advisory_id, delete_time, update_time, uid);
CREATE INDEX advisory_id ON advisory (advisory_id);
