package sqlstore

import "atrium/platform"

var groupInvites = newTable(&table[*platform.GroupInvite, *platform.GroupInviteFilter]{
	name:     "group_invite",
	uid:      func(i *platform.GroupInvite) platform.UID { return i.UID },
	enclosed: parentUID,
	joins:    []join{{" JOIN role r ON r.uid = ", "role"}},
	lookups:  map[string]lookup{"role_name": nameOf("r.name", "role", "role")},
	columns: []column[*platform.GroupInvite]{
		{"t.uid", "", func(i *platform.GroupInvite) any { return keyOf(&i.UID) }},
		{"t.role", "", func(i *platform.GroupInvite) any { return keyOf(&i.RoleUID) }},
		{"t.email", "", func(i *platform.GroupInvite) any { return &i.Email }},
		{"t.single_use", "", func(i *platform.GroupInvite) any { return &i.SingleUse }},
		{"t.key_id", "", func(i *platform.GroupInvite) any { return &i.KeyID }},
		{"t.hash", "", func(i *platform.GroupInvite) any { return &i.Hash }},
		{"t.expiration_time", "", func(i *platform.GroupInvite) any { return timeOf(&i.ExpirationTime) }},
		{"t.create_time", "", func(i *platform.GroupInvite) any { return timeOf(&i.CreateTime) }},
		{"r.uid", "", func(i *platform.GroupInvite) any { return keyOf(&i.Role.UID) }},
		{"r.name", "", func(i *platform.GroupInvite) any { return &i.Role.Name }},
		{"r.description", "", func(i *platform.GroupInvite) any { return &i.Role.Description }},
		{"r.capabilities", "", func(i *platform.GroupInvite) any { return jsonOf(&i.Role.Capabilities) }},
	},
	where: func(f *platform.GroupInviteFilter, s *statement) {
		if f.KeyID != "" {
			s.add(" AND t.key_id = ?", f.KeyID)
		}
		addSince(s, "create_time", f.CreatedSince)
		if f.Expired != nil {
			s.add(" AND t.expiration_time ").add(map[bool]string{true: "<= ", false: "> "}[*f.Expired]).addNow()
		}
	},
})
