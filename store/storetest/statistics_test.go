package storetest_test

import (
	"strings"
	"testing"

	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// The schema of SQLite has statistics. Without them, each of these statements walks over all
// rows of the organization: with 800,000 findings, a page of advisories took more than 30 seconds.
func TestPlansOfSQLiteBeginWithWhatIsRare(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.SQLite(t))
	key := []byte("0123456789")
	for _, c := range []struct {
		name, sql, index string
		args             []any
	}{
		{"findings of an advisory", "SELECT COUNT(*) FROM finding t WHERE t.representative = ? AND t.root_key = ? AND t.rest >= ? AND t.rest < ? AND t.count_class > 0", "finding_representative", []any{key, key, key, key}},
		{"the worst findings of a vulnerability", "SELECT t.uid FROM finding t WHERE t.root_key = ? AND t.count_class > 0 AND t.representative IN (SELECT v.representative FROM advisory_alias a JOIN advisory v ON v.uid = a.uid WHERE a.alias = ?) ORDER BY t.severity DESC, t.rest DESC LIMIT 51", "finding_representative", []any{key, "CVE-2026-1"}},
		{"tags by uid", "SELECT COUNT(*) FROM tag t WHERE t.root_key = ? AND t.uid IN (SELECT u.parent FROM package_use u WHERE u.root_key = ? AND u.version = ?)", "sqlite_autoindex_tag_1", []any{key, key, key}},
		{"repos by uid", "SELECT COUNT(*) FROM repo t WHERE t.root_key = ? AND t.uid IN (SELECT u.parent FROM package_use u WHERE u.root_key = ? AND u.version = ?)", "sqlite_autoindex_repo_1", []any{key, key, key}},
		{"the worst findings of an organization", "SELECT t.uid FROM finding t WHERE t.root_key = ? AND t.count_class > 0 ORDER BY t.severity DESC, t.rest DESC LIMIT 51", "finding_root_key_severity", []any{key}},
		{"the deprecated tags of a repo", "SELECT t.uid FROM tag t WHERE t.parent_key = ? AND t.deprecated ORDER BY t.update_time DESC, t.local DESC LIMIT 51", "tag_parent_key_deprecated", []any{key}},
		{"the facets of repos", "SELECT COUNT(*), t.catalog_tier FROM json_each(?) j CROSS JOIN repo t WHERE t.root_key = unhex(j.value) GROUP BY t.catalog_tier", "repo_root_key_update", []any{"[]"}},
	} {
		steps := w.explainQueryPlan(t, dbconn.Statement{SQL: c.sql, Args: c.args})
		if plan := strings.Join(steps, "\n"); !strings.Contains(plan, "USING INDEX "+c.index+" ") && !strings.Contains(plan, "USING COVERING INDEX "+c.index+" ") {
			t.Errorf("%s do not use %s:\n%s", c.name, c.index, plan)
		}
	}
}
