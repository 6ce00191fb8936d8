package sqlstore

import "atrium/platform"

var externalGroupRoleMappings = newTable(&table[*platform.ExternalGroupRoleMapping, *platform.ExternalGroupRoleMappingFilter]{
	name:     "external_group_role_mapping",
	uid:      func(m *platform.ExternalGroupRoleMapping) platform.UID { return m.UID },
	enclosed: parentUID,
	columns: []column[*platform.ExternalGroupRoleMapping]{
		{"t.uid", "", func(m *platform.ExternalGroupRoleMapping) any { return uidWithParent(&m.UID, &m.IdentityProviderUID) }},
		{"t.external_group_id", "", func(m *platform.ExternalGroupRoleMapping) any { return &m.ExternalGroupID }},
		{"t.role", "", func(m *platform.ExternalGroupRoleMapping) any { return keyOf(&m.RoleUID) }},
		{"t.scope", "", func(m *platform.ExternalGroupRoleMapping) any { return keyOf(&m.Scope) }},
		{"t.create_time", "", func(m *platform.ExternalGroupRoleMapping) any { return timeOf(&m.CreateTime) }},
	},
	where: func(f *platform.ExternalGroupRoleMappingFilter, s *statement) {
		if f.ExternalGroupID != "" {
			s.add(" AND t.external_group_id = ?", f.ExternalGroupID)
		}
		for _, x := range []struct {
			column string
			uid    platform.UID
		}{{"parent", f.IdentityProvider}, {"role", f.Role}, {"scope", f.Scope}} {
			if x.uid != "" {
				s.add(" AND t."+x.column+" = ?", x.uid)
			}
		}
		addSince(s, "create_time", f.CreatedSince)
	},
})
