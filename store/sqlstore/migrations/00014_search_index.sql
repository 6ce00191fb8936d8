-- The program fills what the last migration added, since SQL cannot lower all
-- letters. While it works the rows can be read. The indexes of PostgreSQL are made
-- behind it, where the extensions that they need are allowed.
SELECT 1;

-- An index of trigrams is a table of its own on SQLite. Its rows have numbers, which
-- those of resources do not keep. A column for each kind lets a search leave the
-- others out. Triggers write it along.
{sqlite}CREATE TABLE search_entry (id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE);
{sqlite}CREATE VIRTUAL TABLE search_index USING fts5(grp, identity, role, repo, tag, content='', contentless_delete=1, detail=column, tokenize='trigram case_sensitive 1');
{sqlite}INSERT INTO search_entry (uid) SELECT uid FROM grp ORDER BY uid;
{sqlite}CREATE TRIGGER grp_search_insert AFTER INSERT ON grp BEGIN INSERT INTO search_entry (uid) VALUES (NEW.uid); INSERT INTO search_index (rowid, grp) SELECT e.id, NEW.search FROM search_entry e WHERE e.uid = NEW.uid; END;
{sqlite}CREATE TRIGGER grp_search_update AFTER UPDATE OF search ON grp BEGIN DELETE FROM search_index WHERE rowid = (SELECT e.id FROM search_entry e WHERE e.uid = NEW.uid); INSERT INTO search_index (rowid, grp) SELECT e.id, NEW.search FROM search_entry e WHERE e.uid = NEW.uid; END;
{sqlite}CREATE TRIGGER grp_search_delete AFTER DELETE ON grp BEGIN DELETE FROM search_index WHERE rowid = (SELECT e.id FROM search_entry e WHERE e.uid = OLD.uid); DELETE FROM search_entry WHERE uid = OLD.uid; END;
{sqlite}INSERT INTO search_entry (uid) SELECT uid FROM identity ORDER BY uid;
{sqlite}CREATE TRIGGER identity_search_insert AFTER INSERT ON identity BEGIN INSERT INTO search_entry (uid) VALUES (NEW.uid); INSERT INTO search_index (rowid, identity) SELECT e.id, NEW.search FROM search_entry e WHERE e.uid = NEW.uid; END;
{sqlite}CREATE TRIGGER identity_search_update AFTER UPDATE OF search ON identity BEGIN DELETE FROM search_index WHERE rowid = (SELECT e.id FROM search_entry e WHERE e.uid = NEW.uid); INSERT INTO search_index (rowid, identity) SELECT e.id, NEW.search FROM search_entry e WHERE e.uid = NEW.uid; END;
{sqlite}CREATE TRIGGER identity_search_delete AFTER DELETE ON identity BEGIN DELETE FROM search_index WHERE rowid = (SELECT e.id FROM search_entry e WHERE e.uid = OLD.uid); DELETE FROM search_entry WHERE uid = OLD.uid; END;
{sqlite}INSERT INTO search_entry (uid) SELECT uid FROM role ORDER BY uid;
{sqlite}CREATE TRIGGER role_search_insert AFTER INSERT ON role BEGIN INSERT INTO search_entry (uid) VALUES (NEW.uid); INSERT INTO search_index (rowid, role) SELECT e.id, NEW.search FROM search_entry e WHERE e.uid = NEW.uid; END;
{sqlite}CREATE TRIGGER role_search_update AFTER UPDATE OF search ON role BEGIN DELETE FROM search_index WHERE rowid = (SELECT e.id FROM search_entry e WHERE e.uid = NEW.uid); INSERT INTO search_index (rowid, role) SELECT e.id, NEW.search FROM search_entry e WHERE e.uid = NEW.uid; END;
{sqlite}CREATE TRIGGER role_search_delete AFTER DELETE ON role BEGIN DELETE FROM search_index WHERE rowid = (SELECT e.id FROM search_entry e WHERE e.uid = OLD.uid); DELETE FROM search_entry WHERE uid = OLD.uid; END;
{sqlite}INSERT INTO search_entry (uid) SELECT uid FROM repo ORDER BY uid;
{sqlite}CREATE TRIGGER repo_search_insert AFTER INSERT ON repo BEGIN INSERT INTO search_entry (uid) VALUES (NEW.uid); INSERT INTO search_index (rowid, repo) SELECT e.id, NEW.search FROM search_entry e WHERE e.uid = NEW.uid; END;
{sqlite}CREATE TRIGGER repo_search_update AFTER UPDATE OF search ON repo BEGIN DELETE FROM search_index WHERE rowid = (SELECT e.id FROM search_entry e WHERE e.uid = NEW.uid); INSERT INTO search_index (rowid, repo) SELECT e.id, NEW.search FROM search_entry e WHERE e.uid = NEW.uid; END;
{sqlite}CREATE TRIGGER repo_search_delete AFTER DELETE ON repo BEGIN DELETE FROM search_index WHERE rowid = (SELECT e.id FROM search_entry e WHERE e.uid = OLD.uid); DELETE FROM search_entry WHERE uid = OLD.uid; END;
{sqlite}INSERT INTO search_entry (uid) SELECT uid FROM tag ORDER BY uid;
{sqlite}INSERT INTO search_index (rowid, tag) SELECT e.id, '  ' || lower(t.name) || char(10) FROM search_entry e JOIN tag t ON t.uid = e.uid;
{sqlite}CREATE TRIGGER tag_search_insert AFTER INSERT ON tag BEGIN INSERT INTO search_entry (uid) VALUES (NEW.uid); INSERT INTO search_index (rowid, tag) SELECT e.id, '  ' || lower(NEW.name) || char(10) FROM search_entry e WHERE e.uid = NEW.uid; END;
{sqlite}CREATE TRIGGER tag_search_delete AFTER DELETE ON tag BEGIN DELETE FROM search_index WHERE rowid = (SELECT e.id FROM search_entry e WHERE e.uid = OLD.uid); DELETE FROM search_entry WHERE uid = OLD.uid; END;
