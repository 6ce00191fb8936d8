package sqlstore

import "atrium/platform"

var externalGroupRoleMappings = table[platform.ExternalGroupRoleMapping, platform.ExternalGroupRoleMappingFilter]{
	name: "external_group_role_mapping", number: 13,
	uid:      func(m *platform.ExternalGroupRoleMapping) platform.UID { return m.UID },
	enclosed: parent,
	columns: []column[platform.ExternalGroupRoleMapping]{
		{"t.uid", "", func(m *platform.ExternalGroupRoleMapping) any { return uidColumn{&m.UID, &m.IdentityProviderUID} }},
		{"t.external_group_id", "", func(m *platform.ExternalGroupRoleMapping) any { return &m.ExternalGroupID }},
		{"t.role", "", func(m *platform.ExternalGroupRoleMapping) any { return (*string)(&m.RoleUID) }},
		{"t.scope", "", func(m *platform.ExternalGroupRoleMapping) any { return (*string)(&m.Scope) }},
		{"t.create_time", "", func(m *platform.ExternalGroupRoleMapping) any { return timeColumn{&m.CreateTime} }},
	},
	where: func(f platform.ExternalGroupRoleMappingFilter, s *statement) {
		for _, x := range []struct{ column, value string }{
			{"parent", string(f.IdentityProvider)}, {"external_group_id", f.ExternalGroupID}, {"role", string(f.Role)}, {"scope", string(f.Scope)},
		} {
			if x.value != "" {
				s.add(" AND t."+x.column+" = ?", x.value)
			}
		}
	},
}
