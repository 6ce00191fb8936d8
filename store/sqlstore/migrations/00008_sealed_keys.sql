-- Whether the material of a key is encrypted with the encryption key. What is
-- not is encrypted by the next server that starts, since a migration does not
-- have that key.
ALTER TABLE shared_key ADD COLUMN sealed BOOLEAN NOT NULL DEFAULT false;
