-- How bad an advisory's vulnerability is, in one value: rating and score as a
-- text that sorts, and what they are made of. count_class is what counters count it
-- by. The next migration fills them.
ALTER TABLE advisory ADD COLUMN severity {text} NOT NULL DEFAULT '0';
ALTER TABLE advisory ADD COLUMN severity_vector {text} NOT NULL DEFAULT '';
ALTER TABLE advisory ADD COLUMN severity_version {text} NOT NULL DEFAULT '';
ALTER TABLE advisory ADD COLUMN severity_source {text} NOT NULL DEFAULT '';
ALTER TABLE advisory ADD COLUMN count_class BIGINT NOT NULL DEFAULT 0;
