package sqlstore

import "atrium/platform"

var groupInvites = NewTable(&Definition[*platform.GroupInvite, *platform.GroupInviteFilter]{
	Name:         "group_invite",
	UID:          func(i *platform.GroupInvite) platform.UID { return i.UID },
	LiesIn:       parentUID,
	Joins:        []Join{{SQL: " JOIN role r ON r.uid = ", Column: "role"}},
	JoinedOrders: map[string]JoinedOrder{"role_name": OrderByName("r.name", "role", "role")},
	Columns: []Column[*platform.GroupInvite]{
		{SQL: "t.uid", To: func(i *platform.GroupInvite) any { return UIDOf(&i.UID) }},
		{SQL: "t.role", To: func(i *platform.GroupInvite) any { return UIDOf(&i.RoleUID) }},
		{SQL: "t.email", To: func(i *platform.GroupInvite) any { return &i.Email }},
		{SQL: "t.single_use", To: func(i *platform.GroupInvite) any { return &i.SingleUse }},
		{SQL: "t.key_id", To: func(i *platform.GroupInvite) any { return &i.KeyID }},
		{SQL: "t.hash", To: func(i *platform.GroupInvite) any { return &i.Hash }},
		{SQL: "t.expiration_time", To: func(i *platform.GroupInvite) any { return TimeOf(&i.ExpirationTime) }},
		{SQL: "t.create_time", To: func(i *platform.GroupInvite) any { return TimeOf(&i.CreateTime) }},
		{SQL: "r.uid", To: func(i *platform.GroupInvite) any { return UIDOf(&i.Role.UID) }},
		{SQL: "r.name", To: func(i *platform.GroupInvite) any { return &i.Role.Name }},
		{SQL: "r.description", To: func(i *platform.GroupInvite) any { return &i.Role.Description }},
		{SQL: "r.capabilities", To: func(i *platform.GroupInvite) any { return JSONOf(&i.Role.Capabilities) }},
	},
	Where: func(f *platform.GroupInviteFilter, s *Statement) {
		if f.KeyID != "" {
			s.Add(" AND t.key_id = ?", f.KeyID)
		}
		AddSince(s, "create_time", f.CreatedSince)
		if f.Expired != nil {
			s.Add(" AND t.expiration_time ").Add(map[bool]string{true: "<= ", false: "> "}[*f.Expired]).AddNow()
		}
	},
})
