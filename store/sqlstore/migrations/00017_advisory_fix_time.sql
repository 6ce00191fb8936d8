-- When an advisory was fixed: the time of its latest event, where that is a fix.
-- The program fills it in for what is there.
ALTER TABLE advisory ADD COLUMN fix_time {time};
CREATE INDEX advisory_root_fix ON advisory (root, fix_time) WHERE fix_time IS NOT NULL;
