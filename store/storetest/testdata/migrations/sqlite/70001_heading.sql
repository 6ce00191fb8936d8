-- +goose Up
-- No server runs beside a migration of SQLite, so it is one transaction.
ALTER TABLE note RENAME COLUMN title TO heading;
CREATE INDEX note_heading ON note (heading, id);
