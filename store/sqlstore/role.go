package sqlstore

import (
	"context"
	"slices"

	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

var roles = newTable(&table[*platform.Role, *platform.RoleFilter]{
	name:        "role",
	uniqueNames: true,
	uid:         func(r *platform.Role) platform.UID { return r.UID },
	enclosed:    parentUID,
	rootless:    platform.IsBuiltInRole,
	columns: []column[*platform.Role]{
		{"t.uid", "", func(r *platform.Role) any { return keyOf(&r.UID) }},
		{"t.name", "name", func(r *platform.Role) any { return &r.Name }},
		{"t.description", "description", func(r *platform.Role) any { return &r.Description }},
		{"t.capabilities", "capabilities", func(r *platform.Role) any { return jsonOf(&r.Capabilities) }},
		{"t.create_time", "", func(r *platform.Role) any { return timeOf(&r.CreateTime) }},
		{"t.update_time", "", func(r *platform.Role) any { return timeOf(&r.UpdateTime) }},
	},
	writeOnly: []column[*platform.Role]{
		searchColumn((*platform.Role).SearchText),
	},
	searchText: "t.search", searchFor: func(f *platform.RoleFilter) string { return f.Query },
	searchOf: (*platform.Role).SearchText, searchFields: []string{"name", "description"},
	where: func(f *platform.RoleFilter, s *statement) {
		s.addName(f.Name)
		for _, c := range slices.Compact(slices.Sorted(slices.Values(f.Capabilities))) { // So their number has a limit.
			s.add(" AND "+confirm("t.capabilities LIKE ? ESCAPE '\\'"), likePattern(`"`+c.WireName()+`"`))
		}
		s.addWords("t.search", f.Query)
		s.addChanged(&f.ChangeFilter)
	},
})

// SyncBuiltInRoles makes the stored built-in roles equal to those of this version.
// Several replicas may do so at the same time.
func (s *Store) SyncBuiltInRoles(ctx context.Context, builtIn []*platform.Role) error {
	return s.engine.Write(ctx, func(tx *dbconn.Tx) error {
		var run []*dbconn.Statement
		for _, r := range builtIn {
			q := newStatement(s.dialect)
			q.add("INSERT INTO role (uid, root, name, description, capabilities, create_time, update_time, search) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
				r.UID, platform.UID(""), r.Name, r.Description, jsonText(&r.Capabilities), platform.Time{}, platform.Time{}, foldText(r.SearchText()))
			q.add(" ON CONFLICT (uid) DO UPDATE SET name = excluded.name, description = excluded.description, capabilities = excluded.capabilities, search = excluded.search")
			run = append(run, q.build(nil))
		}
		return tx.Run(ctx, run...)
	})
}
