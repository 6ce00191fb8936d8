-- +goose NO TRANSACTION
-- +goose Up
-- Fill in steps: each step is a transaction, so that servers wait only for the rows of one step.
-- If it is interrupted, it begins again, and skips what is done.
-- +goose StatementBegin
DO $$
DECLARE last bigint := 0; upto bigint;
BEGIN
    LOOP
        SELECT max(b.id) INTO upto FROM (SELECT id FROM note WHERE id > last ORDER BY id LIMIT 100) b;
        EXIT WHEN upto IS NULL;
        UPDATE note SET heading = title WHERE id > last AND id <= upto AND heading IS NULL;
        COMMIT;
        last := upto;
    END LOOP;
END $$;
-- +goose StatementEnd

-- An index that is made beside servers stays invalid if that is interrupted.
DROP INDEX IF EXISTS note_heading;
CREATE INDEX CONCURRENTLY note_heading ON note (heading, id);

-- PostgreSQL checks the rows beside servers, so that the last step need not read them.
ALTER TABLE note DROP CONSTRAINT IF EXISTS note_has_heading, ADD CONSTRAINT note_has_heading CHECK (heading IS NOT NULL) NOT VALID;
ALTER TABLE note VALIDATE CONSTRAINT note_has_heading;
