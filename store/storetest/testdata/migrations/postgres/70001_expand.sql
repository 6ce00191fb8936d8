-- +goose Up
-- Expand: title gets the new name "heading". The new column is empty, and servers of the previous
-- version continue with the old one. A trigger copies what they write. Writers wait behind the lock
-- of this change, so it does not wait for long.
SET LOCAL lock_timeout = '2s';
ALTER TABLE note ADD COLUMN heading text;
-- +goose StatementBegin
CREATE FUNCTION copy_title() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.heading := NEW.title;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER copy_title BEFORE INSERT OR UPDATE ON note FOR EACH ROW EXECUTE FUNCTION copy_title();
