package storetest_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/store"
)

// upgradedTables are those whose UIDs migration 10 makes bytes of, each after
// those that it refers to, and then those that stay as they are.
var upgradedTables = []string{
	"grp", "role", "identity_provider", "identity", "role_binding", "repo", "tag", "image", "advisory", "advisory_alias", "subscription", "delivery",
	"account_association", "group_invite", "external_group_role_mapping", "terms_acceptance", "issuer_proof", "artifact", "artifact_version",
	"vulnerability", "vulnerability_alias", "counter", "shared_key",
}

// uidColumns are the columns that hold UIDs.
var uidColumns = []string{"uid", "root", "parent", "g2", "g3", "identity", "role", "repo", "provider", "default_role", "scope"}

// emptyVersion makes a database as an older program left it.
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

// downgrade writes what a world holds into a database of schema 9, in which
// UIDs were texts.
func (w *world) downgrade(t *testing.T, old *world) {
	t.Helper()
	for _, table := range upgradedTables {
		order := ""
		if table == "grp" {
			order = " ORDER BY uid" // parents first
		}
		rows, err := w.raw().QueryContext(t.Context(), "SELECT * FROM "+table+order)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		marks := make([]string, len(columns))
		for i := range marks {
			marks[i] = fmt.Sprintf("$%d", i+1)
		}
		insert := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(marks, ", ") + ")"
		for rows.Next() {
			row := make([]any, len(columns))
			to := make([]any, len(columns))
			for i := range row {
				to[i] = &row[i]
			}
			if err := rows.Scan(to...); err != nil {
				t.Fatal(err)
			}
			for i, column := range columns {
				if key, ok := row[i].([]byte); ok && slices.Contains(uidColumns, column) {
					uid, _ := platform.UnpackUID(key)
					row[i] = string(uid)
				}
			}
			old.exec(old.raw(), insert, row...)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADatabaseWhoseUIDsAreTextsIsUpgraded(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		engine := "postgres"
		if f.onSQLite() {
			engine = "sqlite"
		}
		ctx, list := f.as("root"), platform.ListRequest[platform.TagFilter]{PageSize: 7, OrderBy: "name desc"}
		first, err := f.p.Tags.List(ctx, list)
		if err != nil {
			t.Fatal(err)
		}

		old := emptyVersion(t, emptyDatabases[engine](t), 9)
		f.downgrade(t, old)
		if err := store.Migrate(t.Context(), old.url); err != nil {
			t.Fatal(err)
		}
		after := *f
		after.world = newWorld(t, old.url)

		// What was handed out before the upgrade goes on after it.
		list.PageToken = first.NextPageToken
		want, err := f.p.Tags.List(ctx, list)
		if err != nil {
			t.Fatal(err)
		}
		got, err := after.p.Tags.List(after.as("root"), list)
		if err != nil || !slices.EqualFunc(got.Items, want.Items, func(a, b *platform.Tag) bool { return a.UID == b.UID && a.Name == b.Name }) || got.TotalCount != want.TotalCount {
			t.Errorf("the page after the upgrade: %v, %v, want %v", got.Items, err, want.Items)
		}
		d := newDice(3)
		for _, l := range after.listings() {
			t.Run(l.name(), func(t *testing.T) {
				l.get(t)
				l.ask(t, d)
				l.askEach(t, d)
			})
		}
		if wrong, err := after.store.Recount(t.Context()); wrong != 0 || err != nil {
			t.Errorf("recount found %d wrong counters (%v), want none", wrong, err)
		}
		for _, table := range upgradedTables {
			const count = "SELECT COUNT(*) FROM "
			if had, has := f.query(f.raw(), count+table)[0][0], after.query(after.raw(), count+table)[0][0]; had != has {
				t.Errorf("%s has %s rows after the upgrade, want %s", table, has, had)
			}
		}
	})
}

// What servers write during the upgrade is there after it; what a server of the
// old program would write after it is refused.
func TestServersWriteWhileUIDsBecomeBytes(t *testing.T) {
	t.Parallel()
	old := emptyVersion(t, emptyDatabases["postgres"](t), 9)
	d := newDice(11)
	root := d.root()
	db := old.raw()
	const moment = "2026-01-01T00:00:00Z"
	addGroup := func(uid platform.UID) error {
		_, err := db.ExecContext(t.Context(), "INSERT INTO grp (uid, root, parent, name, description, resource_limits, kind, status, verified, create_time, update_time) VALUES ($1, $2, $3, $1, '', '', '', '', false, $4, $4)",
			string(uid), string(uid.Root()), sql.NullString{String: string(uid.Parent()), Valid: !uid.IsRoot()}, moment)
		return err
	}
	addRepo := func(uid platform.UID) error {
		_, err := db.ExecContext(t.Context(), "INSERT INTO repo (uid, root, parent, g2, g3, name, description, catalog_tier, bundles, aliases, active_tags, sync_config, create_time, update_time) VALUES ($1, $2, $3, $4, $5, $1, '', '', '', '', '', '', $6, $6)",
			string(uid), string(root), string(uid.Parent()), sql.NullString{String: string(uid.Parent().Enclosing(2)), Valid: uid.Parent().Depth() > 1}, nil, moment)
		return err
	}
	described := map[platform.UID]string{} // the repos that must be there
	var uids []platform.UID
	if err := addGroup(root); err != nil {
		t.Fatal(err)
	}
	add := func(parent platform.UID) error {
		uid := d.below(parent)
		err := addRepo(uid)
		if err == nil {
			described[uid], uids = "", append(uids, uid)
		}
		return err
	}
	for range 12_000 { // more than are copied at once
		if err := add(root); err != nil {
			t.Fatal(err)
		}
	}
	groups := []platform.UID{root}

	done := make(chan error, 1)
	go func() { done <- store.Migrate(t.Context(), old.url) }()
	writes, migrated := 0, false
	for refused := 0; !migrated || refused < 20; writes++ {
		var err error
		switch uid := pick(d, uids); writes % 4 {
		case 0:
			group := d.below(root)
			if err = addGroup(group); err == nil {
				groups = append(groups, group)
			}
		case 1:
			err = add(pick(d, groups))
		case 2:
			text := fmt.Sprint("changed ", writes)
			var result sql.Result
			if result, err = db.ExecContext(t.Context(), "UPDATE repo SET description = $1 WHERE uid = $2", text, string(uid)); err == nil {
				if n, _ := result.RowsAffected(); n == 1 {
					described[uid] = text
				} else if _, there := described[uid]; there && !migrated {
					err = fmt.Errorf("%s is not there", uid)
				}
			}
		case 3:
			var result sql.Result
			if result, err = db.ExecContext(t.Context(), "DELETE FROM repo WHERE uid = $1", string(uid)); err == nil {
				if n, _ := result.RowsAffected(); n == 1 {
					delete(described, uid)
				}
			}
		}
		if err != nil {
			refused++
		}
		select {
		case err := <-done:
			if migrated = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
		if refused > 1000 && !migrated {
			t.Fatal("servers cannot write during the upgrade:", err)
		}
	}
	t.Log(writes, "writes during the upgrade")

	w := newWorld(t, old.url)
	rows := w.query(w.raw(), "SELECT encode(uid, 'hex'), description FROM repo")
	if len(rows) != len(described) {
		t.Errorf("%d repos are there, want %d", len(rows), len(described))
	}
	for _, row := range rows {
		var key []byte
		if _, err := fmt.Sscanf(row[0], "%x", &key); err != nil {
			t.Fatal(err)
		}
		uid, ok := platform.UnpackUID(key)
		if text, there := described[uid]; !ok || !there || text != row[1] {
			t.Errorf("the repo %s (%v) says %q, want %q", uid, there, row[1], text)
		}
	}
	if n := w.query(w.raw(), "SELECT COUNT(*) FROM grp")[0][0]; n != fmt.Sprint(len(groups)) {
		t.Errorf("%s groups are there, want %d", n, len(groups))
	}
}
