-- What words are looked for in, as the program makes it of a row's texts. The
-- next migration fills it. Tags have it in an index only: it is their name.
ALTER TABLE grp ADD COLUMN search {text} NOT NULL DEFAULT '';
ALTER TABLE identity ADD COLUMN search {text} NOT NULL DEFAULT '';
ALTER TABLE role ADD COLUMN search {text} NOT NULL DEFAULT '';
ALTER TABLE repo ADD COLUMN search {text} NOT NULL DEFAULT '';
