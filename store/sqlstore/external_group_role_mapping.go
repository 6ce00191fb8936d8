package sqlstore

import "atrium/platform"

var externalGroupRoleMappings = NewTable(&Definition[*platform.ExternalGroupRoleMapping, *platform.ExternalGroupRoleMappingFilter]{
	Name:   "external_group_role_mapping",
	UID:    func(m *platform.ExternalGroupRoleMapping) platform.UID { return m.UID },
	LiesIn: parentUID,
	Columns: []Column[*platform.ExternalGroupRoleMapping]{
		{SQL: "t.uid", To: func(m *platform.ExternalGroupRoleMapping) any { return UIDWithParent(&m.UID, &m.IdentityProviderUID) }},
		{SQL: "t.external_group_id", To: func(m *platform.ExternalGroupRoleMapping) any { return &m.ExternalGroupID }},
		{SQL: "t.role", To: func(m *platform.ExternalGroupRoleMapping) any { return UIDOf(&m.RoleUID) }},
		{SQL: "t.scope", To: func(m *platform.ExternalGroupRoleMapping) any { return UIDOf(&m.Scope) }},
		{SQL: "t.create_time", To: func(m *platform.ExternalGroupRoleMapping) any { return TimeOf(&m.CreateTime) }},
	},
	Where: func(f *platform.ExternalGroupRoleMappingFilter, s *Statement) {
		if f.ExternalGroupID != "" {
			s.Add(" AND t.external_group_id = ?", f.ExternalGroupID)
		}
		for _, x := range []struct {
			column string
			uid    platform.UID
		}{{"parent", f.IdentityProvider}, {"role", f.Role}, {"scope", f.Scope}} {
			if x.uid != "" {
				s.Add(" AND t."+x.column+" = ?", x.uid)
			}
		}
		AddSince(s, "create_time", f.CreatedSince)
	},
})
