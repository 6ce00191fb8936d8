-- What an update made of the fields that it named: a list in JSON, empty of what
-- is no update and of what was recorded before.
ALTER TABLE event ADD COLUMN changes {text} NOT NULL DEFAULT '';
