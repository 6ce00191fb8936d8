package sqlstore

import "context"

// On PostgreSQL the search index needs two extensions from contrib, which not every
// server has and not every role may create.

// makeSearchIndexes creates the indexes if the extensions exist or can be created. It
// runs at every start that migrates, because an operator may have created the
// extensions. It looks up the schema of an extension, which need not be in the search
// path. The pending list of the index is kept small, because every search reads it.
const makeSearchIndexes = `DO $$
DECLARE trigrams text; organisations text; indexed record;
BEGIN
	PERFORM set_config('lock_timeout', '0', true); -- other replicas may be making them, which takes what it takes
	PERFORM pg_advisory_xact_lock(hashtext('atrium search index'));
	IF to_regclass('tag_search') IS NOT NULL THEN
		RETURN;
	END IF;
	BEGIN
		CREATE EXTENSION IF NOT EXISTS pg_trgm;
		CREATE EXTENSION IF NOT EXISTS btree_gin;
	EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
		RETURN;
	END;
	SELECT quote_ident(n.nspname) INTO trigrams FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm';
	SELECT quote_ident(n.nspname) INTO organisations FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'btree_gin';
	FOR indexed IN SELECT * FROM (VALUES ('grp', 'search'), ('identity', 'search'), ('role', 'search'), ('repo', 'search'),
		('tag', '(''  '' || lower(name) || E''\n'')')) AS v(name, content) LOOP
		EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I USING gin (root %s.bytea_ops, %s %s.gin_trgm_ops) WITH (gin_pending_list_limit = 128)',
			indexed.name || '_search', indexed.name, organisations, indexed.content, trigrams);
	END LOOP;
END $$`

// IsSearchIndexed reports whether searches use an index. Without it, a search reads
// all rows of some kinds, limited by statement_timeout.
func (s tables) IsSearchIndexed(ctx context.Context) (indexed bool, err error) {
	if s.dialect.Trigrams {
		return true, nil
	}
	q := s.dialect.statement().add("SELECT 1 WHERE to_regclass('tag_search') IS NOT NULL")
	err = s.conn.Run(ctx, q.build(func(func(...any) error) error { indexed = true; return nil }))
	return indexed, err
}
