package sqlstore

import (
	"context"
	"strings"

	"atrium/store/sqlstore/table"
)

// On PostgreSQL the search index needs two extensions from contrib, which not every
// server has and not every role may create.

// The lock of the statements in this file is that of other replicas, which may be making the
// indexes, and takes what it takes.
const lockSearchIndexes = `	PERFORM set_config('lock_timeout', '0', true);
	PERFORM pg_advisory_xact_lock(hashtext('atrium search index'));
`

// makeSearchExtensions creates the extensions if the role may do that, unless the last index
// exists.
const makeSearchExtensions = `DO $$
BEGIN
` + lockSearchIndexes + `	IF to_regclass('tag_search') IS NOT NULL THEN
		RETURN;
	END IF;
	BEGIN
		CREATE EXTENSION IF NOT EXISTS pg_trgm;
		CREATE EXTENSION IF NOT EXISTS btree_gin;
	EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
		RETURN;
	END;
END $$`

// makeSearchIndex creates one index if the extensions exist. It looks up the schema of an
// extension, which need not be in the search path. The pending list of the index is kept
// small, because every search reads it.
const makeSearchIndex = `DO $$
DECLARE trigrams text; organizations text;
BEGIN
` + lockSearchIndexes + `	SELECT quote_ident(n.nspname) INTO trigrams FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm';
	SELECT quote_ident(n.nspname) INTO organizations FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'btree_gin';
	IF to_regclass('{table}_search') IS NULL AND trigrams IS NOT NULL AND organizations IS NOT NULL THEN
		EXECUTE format('CREATE INDEX {table}_search ON {table} USING gin ({root}{content} %2$s.gin_trgm_ops) WITH (gin_pending_list_limit = 128)',
			organizations, trigrams);
	END IF;
END $$`

// searchIndexes returns the statements that create the indexes, the last one that of tags. They
// run at every start that migrates, because an operator may have created the extensions.
// Each is a transaction, because making an index blocks writes to its table until the
// transaction ends.
func searchIndexes() []string {
	run := []string{makeSearchExtensions}
	const root = "root %1$s.bytea_ops, "
	for _, t := range []struct{ table, root, content string }{
		{"artifact", "", "search"}, {"grp", root, "search"}, {"identity", root, "search"}, {"role", root, "search"}, {"repo", root, "search"},
		{"tag", root, `(''  '' || lower(name) || E''\n'')`},
	} {
		run = append(run, strings.NewReplacer("{table}", t.table, "{root}", t.root, "{content}", t.content).Replace(makeSearchIndex))
	}
	return run
}

// IsSearchIndexed reports whether searches use an index. Without it, a search reads
// all rows of some kinds, limited by statement_timeout.
func (s tables) IsSearchIndexed(ctx context.Context) (indexed bool, err error) {
	if s.Dialect.Trigrams {
		return true, nil
	}
	q := table.NewStatement(s.Dialect).Add("SELECT 1 WHERE to_regclass('tag_search') IS NOT NULL")
	err = s.Conn.Run(ctx, q.Build(func(func(...any) error) error { indexed = true; return nil }))
	return indexed, err
}
