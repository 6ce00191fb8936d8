package sqlstore

import (
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/table"
)

var groupInvites = table.New(&table.Definition[*iam.GroupInvite, *iam.GroupInviteFilter]{
	Name:         "group_invite",
	UID:          func(i *iam.GroupInvite) core.UID { return i.UID },
	LiesIn:       parentUID,
	Joins:        []table.Join{{SQL: " JOIN role r ON r.uid = ", Column: "role"}},
	JoinedOrders: map[string]table.JoinedOrder{"role_name": table.OrderByName("r.name", "role", "role")},
	Columns: []table.Column[*iam.GroupInvite]{
		{SQL: "t.uid", To: func(i *iam.GroupInvite) any { return table.UIDOf(&i.UID) }},
		{SQL: "t.role", To: func(i *iam.GroupInvite) any { return table.UIDOf(&i.RoleUID) }},
		{SQL: "t.email", To: func(i *iam.GroupInvite) any { return &i.Email }},
		{SQL: "t.single_use", To: func(i *iam.GroupInvite) any { return &i.SingleUse }},
		{SQL: "t.key_id", To: func(i *iam.GroupInvite) any { return &i.KeyID }},
		{SQL: "t.hash", To: func(i *iam.GroupInvite) any { return &i.Hash }},
		{SQL: "t.expiration_time", To: func(i *iam.GroupInvite) any { return table.TimeOf(&i.ExpirationTime) }},
		{SQL: "t.create_time", To: func(i *iam.GroupInvite) any { return table.TimeOf(&i.CreateTime) }},
		{SQL: "r.uid", To: func(i *iam.GroupInvite) any { return table.UIDOf(&i.Role.UID) }},
		{SQL: "r.name", To: func(i *iam.GroupInvite) any { return &i.Role.Name }},
		{SQL: "r.description", To: func(i *iam.GroupInvite) any { return &i.Role.Description }},
		{SQL: "r.capabilities", To: func(i *iam.GroupInvite) any { return table.JSONOf(&i.Role.Capabilities) }},
	},
	Where: func(f *iam.GroupInviteFilter, s *table.Statement) {
		if f.KeyID != "" {
			s.Add(" AND t.key_id = ?", f.KeyID)
		}
		table.AddSince(s, "create_time", f.CreatedSince)
		if f.Expired != nil {
			s.Add(" AND t.expiration_time ").Add(map[bool]string{true: "<= ", false: "> "}[*f.Expired]).AddNow()
		}
	},
})
