package sqlstore

import (
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

var roles = table.New(&table.Definition[*iam.Role, *iam.RoleFilter]{
	Name:           "role",
	HasUniqueNames: true,
	UID:            func(r *iam.Role) core.UID { return r.UID },
	LiesIn:         parentUID,
	IsRootless:     iam.IsBuiltInRole,
	Columns: []table.Column[*iam.Role]{
		{SQL: "t.uid", To: func(r *iam.Role) any { return table.UIDOf(&r.UID) }},
		{SQL: "t.name", Field: "name", To: func(r *iam.Role) any { return &r.Name }},
		{SQL: "t.description", Field: "description", To: func(r *iam.Role) any { return &r.Description }},
		{SQL: "t.capabilities", Field: "capabilities", To: func(r *iam.Role) any { return table.JSONOf(&r.Capabilities) }},
		{SQL: "t.create_time", To: func(r *iam.Role) any { return table.TimeOf(&r.CreateTime) }},
		{SQL: "t.update_time", To: func(r *iam.Role) any { return table.TimeOf(&r.UpdateTime) }},
	},
	WriteOnly: []table.Column[*iam.Role]{
		table.SearchColumn((*iam.Role).SearchText),
	},
	SearchText: "t.search", SearchQuery: func(f *iam.RoleFilter) string { return f.Query },
	SearchTextOf: (*iam.Role).SearchText, SearchFields: []string{"name", "description"},
	Where: func(f *iam.RoleFilter, s *table.Statement) {
		s.AddName(f.Name)
		for _, c := range slices.Compact(slices.Sorted(slices.Values(f.Capabilities))) { // So their number has a limit.
			s.Add(" AND "+table.Confirm("t.capabilities LIKE ? ESCAPE '\\'"), table.LikePattern(`"`+c.WireName()+`"`))
		}
		s.AddWords("t.search", f.Query)
		s.AddChanged(&f.ChangeFilter)
	},
})

// SyncBuiltInRoles makes the stored built-in roles equal to those of this version.
// Several replicas may do so at the same time.
func (s *Store) SyncBuiltInRoles(ctx context.Context, builtIn []*iam.Role) error {
	return s.engine.Write(ctx, func(tx *dbconn.Tx) error {
		var run []*dbconn.Statement
		for _, r := range builtIn {
			q := table.NewStatement(s.Dialect)
			q.Add("INSERT INTO role (uid, root, name, description, capabilities, create_time, update_time, search) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
				r.UID, core.UID(""), r.Name, r.Description, table.JSONText(&r.Capabilities), core.Time{}, core.Time{}, table.Fold(r.SearchText()))
			q.Add(" ON CONFLICT (uid) DO UPDATE SET name = excluded.name, description = excluded.description, capabilities = excluded.capabilities, search = excluded.search")
			run = append(run, q.Build(nil))
		}
		return tx.Run(ctx, run...)
	})
}
