-- Deprecated tags have counters. Servers of the previous version, which do not know them,
-- must not change tags any more, so the column has a new name.
ALTER TABLE tag RENAME COLUMN deprecated TO is_deprecated;
