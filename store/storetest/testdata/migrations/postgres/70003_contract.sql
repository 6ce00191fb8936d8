-- +goose Up
-- Contract: from here on, servers of the previous version get errors until they are replaced.
SET LOCAL lock_timeout = '2s';
DROP TRIGGER copy_title ON note;
DROP FUNCTION copy_title();
ALTER TABLE note ALTER heading SET NOT NULL, DROP CONSTRAINT note_has_heading, DROP COLUMN title;
