package sqlstore

import (
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/table"
)

var externalGroupRoleMappings = table.New(&table.Definition[*iam.ExternalGroupRoleMapping, *iam.ExternalGroupRoleMappingFilter]{
	Name:   "external_group_role_mapping",
	UID:    func(m *iam.ExternalGroupRoleMapping) core.UID { return m.UID },
	LiesIn: parentUID,
	Columns: []table.Column[*iam.ExternalGroupRoleMapping]{
		{SQL: "t.uid", To: func(m *iam.ExternalGroupRoleMapping) any {
			return table.UIDWithParent(&m.UID, &m.IdentityProviderUID)
		}},
		{SQL: "t.external_group_id", To: func(m *iam.ExternalGroupRoleMapping) any { return &m.ExternalGroupID }},
		{SQL: "t.role", To: func(m *iam.ExternalGroupRoleMapping) any { return table.UIDOf(&m.RoleUID) }},
		{SQL: "t.scope", To: func(m *iam.ExternalGroupRoleMapping) any { return table.UIDOf(&m.Scope) }},
		{SQL: "t.create_time", To: func(m *iam.ExternalGroupRoleMapping) any { return table.TimeOf(&m.CreateTime) }},
	},
	Where: func(f *iam.ExternalGroupRoleMappingFilter, s *table.Statement) {
		if f.ExternalGroupID != "" {
			s.Add(" AND t.external_group_id = ?", f.ExternalGroupID)
		}
		for _, x := range []struct {
			column string
			uid    core.UID
		}{{"parent", f.IdentityProvider}, {"role", f.Role}, {"scope", f.Scope}} {
			if x.uid != "" {
				s.Add(" AND t."+x.column+" = ?", x.uid)
			}
		}
		table.AddSince(s, "create_time", f.CreatedSince)
	},
})
