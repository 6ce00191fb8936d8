package storetest_test

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/store"
	"atrium/store/sqlstore"
)

// upgradedTables lists the tables whose UIDs become bytes in migration 10, each after the
// tables that it refers to. Then come the tables that do not change.
var upgradedTables = []string{
	"grp", "role", "identity_provider", "identity", "role_binding", "repo", "tag", "image", "advisory", "advisory_alias", "subscription", "delivery",
	"account_association", "group_invite", "external_group_role_mapping", "terms_acceptance", "issuer_proof", "artifact", "artifact_version",
	"vulnerability", "vulnerability_alias", "counter", "shared_key",
}

// uidColumns lists the columns with UIDs.
var uidColumns = []string{"uid", "root", "parent", "g2", "g3", "identity", "role", "repo", "provider", "default_role", "scope"}

// emptyVersion creates a database of an older version.
func emptyVersion(t *testing.T, url string, version int64) *world {
	t.Helper()
	m, err := openEngine(t, url).Migrator(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	if err := m.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return &world{t: t, url: url}
}

// downgrade writes the rows of a world into a database of schema 9, in which UIDs were
// texts.
func (w *world) downgrade(old *world) {
	w.t.Helper()
	w.copyTo(old, upgradedTables, textRow)
}

// copyTo writes the rows of tables into those of an older database, in the form that read
// returns.
func (w *world) copyTo(old *world, tables []string, read func(testing.TB, *sql.Rows) ([]string, []any)) {
	w.t.Helper()
	for _, table := range tables {
		w.copyTable(old, table, read)
	}
}

func (w *world) copyTable(old *world, table string, read func(testing.TB, *sql.Rows) ([]string, []any)) {
	w.t.Helper()
	order := ""
	if table == "grp" {
		order = " ORDER BY uid" // Parents come first.
	}
	rows, err := w.openDirect().QueryContext(w.t.Context(), "SELECT * FROM "+table+order)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		columns, row := read(w.t, rows)
		if columns, row = removeSeverity(columns, row); row == nil {
			continue
		}
		if i := slices.Index(columns, "is_deprecated"); i >= 0 {
			columns[i] = "deprecated"
		}
		marks := make([]string, len(columns))
		for i := range marks {
			marks[i] = fmt.Sprintf("$%d", i+1)
		}
		old.exec(old.openDirect(), "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(marks, ", ")+")", row...)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
}

// laterColumns lists columns that later migrations add.
var laterColumns = []string{"severity", "severity_vector", "severity_version", "severity_source", "count_class", "search", "fix_time", "changes", "root_key", "parent_key", "g2_key", "g3_key", "rest", "local"}

// removeSeverity removes the columns of a row that were added after schema 10. It removes
// counters that count by them.
func removeSeverity(columns []string, row []any) (kept []string, values []any) {
	isAdvisory := slices.Contains(columns, "advisory_id") // Advisories had a search text before.
	for i, column := range columns {
		if number, ok := row[i].(int64); ok && column == "kind" && number >= 126 {
			return nil, nil
		}
		if !slices.Contains(laterColumns, column) || isAdvisory && column == "search" {
			kept, values = append(kept, column), append(values, row[i])
		}
	}
	if slices.Contains(columns, "rest") {
		switch parent := row[slices.Index(columns, "parent")].(type) {
		case []byte:
			for i, name := range []string{"g2", "g3"} {
				if length := 28 + 8*i; len(parent) >= length {
					kept, values = append(kept, name), append(values, parent[:length])
				}
			}
		case string:
			for i, name := range []string{"g2", "g3"} {
				if g := platform.UID(parent).Enclosing(2 + i); g != "" {
					kept, values = append(kept, name), append(values, string(g))
				}
			}
		}
	}
	return kept, values
}

// textRow returns a row with UIDs as texts.
func textRow(t testing.TB, rows *sql.Rows) (columns []string, row []any) {
	t.Helper()
	columns, row = rowAsIs(t, rows)
	for i, column := range columns {
		if key, ok := row[i].([]byte); ok && slices.Contains(uidColumns, column) {
			uid, _ := platform.UnpackUID(key)
			row[i] = string(uid)
		}
	}
	return columns, row
}

func rowAsIs(t testing.TB, rows *sql.Rows) (columns []string, row []any) {
	t.Helper()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	row = make([]any, len(columns))
	to := make([]any, len(columns))
	for i := range row {
		to[i] = &row[i]
	}
	if err := rows.Scan(to...); err != nil {
		t.Fatal(err)
	}
	return columns, row
}

func TestADatabaseWhoseUIDsAreTextsIsUpgraded(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		engine := "postgres"
		if f.onSQLite() {
			engine = "sqlite"
		}
		ctx, list := f.contextAs("root"), platform.ListRequest[*platform.TagFilter]{PageSize: 7, OrderBy: "name desc"}
		first, err := f.p.Tags.List(ctx, list)
		if err != nil {
			t.Fatal(err)
		}

		old := emptyVersion(t, emptyDatabases[engine](t), 9)
		f.downgrade(old)
		upgradeInterrupted(t, old.url)
		after := *f
		after.world = newWorld(t, old.url)

		// Tokens from before the upgrade still work after it.
		list.PageToken = first.NextPageToken()
		want, err := f.p.Tags.List(ctx, list)
		if err != nil {
			t.Fatal(err)
		}
		got, err := after.p.Tags.List(after.contextAs("root"), list)
		if err != nil || !slices.EqualFunc(got.Items, want.Items, func(a, b *platform.Tag) bool { return a.UID == b.UID && a.Name == b.Name }) || got.TotalCount != want.TotalCount {
			t.Errorf("the page after the upgrade: %v, %v, want %v", got.Items, err, want.Items)
		}
		d := newDice(3)
		for _, l := range after.listings() {
			t.Run(l.name(), func(t *testing.T) {
				l.checkGet(t)
				l.checkRandomPage(t, d)
				l.checkEach(t, d)
			})
		}
		if wrong, err := after.store.Recount(t.Context()); wrong != 0 || err != nil {
			t.Errorf("recount found %d wrong counters (%v), want none", wrong, err)
		}
		for _, table := range upgradedTables {
			const count = "SELECT COUNT(*) FROM "
			if had, has := f.query(f.openDirect(), count+table)[0][0], after.query(after.openDirect(), count+table)[0][0]; had != has {
				t.Errorf("%s has %s rows after the upgrade, want %s", table, has, had)
			}
		}
	})
}

// upgradeInterrupted upgrades a database, and interrupts the upgrade many times at
// different points.
func upgradeInterrupted(t *testing.T, url string) {
	t.Helper()
	for patience := 50 * time.Millisecond; ; patience = patience * 3 / 2 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := store.Migrate(ctx, url)
		interrupted := ctx.Err() != nil
		cancel()
		switch {
		case err == nil:
			return
		case !interrupted:
			t.Fatal(err)
		}
	}
}

// An oldServer writes into a database of schema 9, as the servers of that time did. It
// knows what the database must contain.
type oldServer struct {
	*world
	d      dice
	groups []platform.UID
	uids   []platform.UID          // These are the uids of repos.
	texts  map[platform.UID]string // These are the descriptions of the existing repos.
}

const momentOfUpgrade = "2026-01-01T00:00:00Z"

func (o *oldServer) change(statement string, args ...any) (int64, error) {
	result, err := o.openDirect().ExecContext(o.t.Context(), statement, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (o *oldServer) addGroup(uid platform.UID) error {
	_, err := o.change("INSERT INTO grp (uid, root, parent, name, description, resource_limits, kind, status, verified, create_time, update_time) VALUES ($1, $2, $3, $1, '', '', '', '', false, $4, $4)",
		string(uid), string(uid.Root()), sql.NullString{String: string(uid.Parent()), Valid: !uid.IsRoot()}, momentOfUpgrade)
	if err == nil {
		o.groups = append(o.groups, uid)
	}
	return err
}

func (o *oldServer) addRepo() error {
	parent := pick(o.d, o.groups)
	uid := o.d.below(parent)
	_, err := o.change("INSERT INTO repo (uid, root, parent, g2, g3, name, description, catalog_tier, bundles, aliases, active_tags, sync_config, create_time, update_time) VALUES ($1, $2, $3, $4, NULL, $1, '', '', '', '', '', '', $5, $5)",
		string(uid), string(uid.Root()), string(parent), sql.NullString{String: string(parent), Valid: !parent.IsRoot()}, momentOfUpgrade)
	if err == nil {
		o.texts[uid], o.uids = "", append(o.uids, uid)
	}
	return err
}

// write makes one of several changes.
func (o *oldServer) write(i int) error {
	uid, text := pick(o.d, o.uids), fmt.Sprint("changed ", i)
	switch i % 4 {
	case 0:
		return o.addGroup(o.d.below(o.groups[0]))
	case 1:
		return o.addRepo()
	case 2:
		n, err := o.change("UPDATE repo SET description = $1 WHERE uid = $2", text, string(uid))
		if n == 1 {
			o.texts[uid] = text
		}
		return err
	default:
		n, err := o.change("DELETE FROM repo WHERE uid = $1", string(uid))
		if n == 1 {
			delete(o.texts, uid)
		}
		return err
	}
}

// Rows that servers write during the upgrade must exist after it. Writes of the old
// program after the upgrade must be rejected.
func TestServersWriteWhileUIDsBecomeBytes(t *testing.T) {
	t.Parallel()
	o := &oldServer{world: emptyVersion(t, emptyDatabases["postgres"](t), 9), d: newDice(11), texts: map[platform.UID]string{}}
	if err := o.addGroup(o.d.root()); err != nil {
		t.Fatal(err)
	}
	for range 12_000 { // The migration copies fewer rows at once.
		if err := o.addRepo(); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	m := must[*sqlstore.Migrator](t)(openEngine(t, o.url).Migrator(t.Context()))
	t.Cleanup(func() { _ = m.Close() })
	go func() { done <- m.UpTo(t.Context(), 10) }()
	migrated, refusedBefore, refusedAfter := false, 0, 0
	for i := 0; refusedAfter < 20; i++ {
		switch err := o.write(i); {
		case err == nil:
		case migrated:
			refusedAfter++
		case strings.Contains(err.Error(), "SQLSTATE 42P08"): // The new tables reject the write, because the migration is about to end.
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			migrated = true
		default:
			if refusedBefore++; refusedBefore > 1000 {
				t.Fatal("servers cannot write during the upgrade:", err)
			}
		}
		select {
		case err := <-done:
			if migrated = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
	}
	if err := o.addGroup(o.d.root()); err == nil {
		t.Error("an organisation was added whose UID is a text")
	}
	must[any](t)(nil, store.Migrate(t.Context(), o.url))
	o.checkUpgraded(t)
}

// checkUpgraded expects everything that was written, and nothing else.
func (o *oldServer) checkUpgraded(t *testing.T) {
	t.Helper()
	w := newWorld(t, o.url)
	rows := w.query(w.openDirect(), "SELECT encode(uid, 'hex'), description FROM repo")
	if len(rows) != len(o.texts) {
		t.Errorf("%d repos are there, want %d", len(rows), len(o.texts))
	}
	for _, row := range rows {
		key, err := hex.DecodeString(row[0])
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := platform.UnpackUID(key)
		if text, there := o.texts[uid]; !there || text != row[1] {
			t.Errorf("the repo %s (%v) says %q, want %q", uid, there, row[1], text)
		}
	}
	if n := w.query(w.openDirect(), "SELECT COUNT(*) FROM grp")[0][0]; n != fmt.Sprint(len(o.groups)) {
		t.Errorf("%s groups are there, want %d", n, len(o.groups))
	}
}
