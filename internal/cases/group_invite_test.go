package cases

var _ = newKind(kind{
	name: "GroupInvite", plural: "GroupInvites", ref: "invite", area: "iam", parent: "iam/Group", in: "{group}",
	minimal:        fields{"roleUid": "{role}", "ttl": "3600s"},
	full:           fields{"roleUid": "{full role}", "ttl": "60s", "email": "ada@example.com", "singleUse": true},
	requiredFields: "roleUid ttl",
	shown:          fields{"uid": "<uid>", "createTime": "<time>", "expirationTime": "<time>", "keyId": "<key>", "singleUse": false},
	shownOnce:      fields{"code": "<code>"},
	hidden:         []string{"ttl"},
	derived:        map[string]func(any) fields{"roleUid": invitedRole},
	badInputs: []badInput{
		{name: "no role", fields: fields{"roleUid": ""}, violations: "roleUid"},
		{name: "a role that is no UID", fields: fields{"roleUid": "nope"}, violations: "roleUid"},
		{name: "no time to live", fields: fields{"ttl": "0s"}, violations: "ttl"},
		{name: "a negative time to live", fields: fields{"ttl": "-1s"}, violations: "ttl"},
		{name: "a time to live of two years", fields: fields{"ttl": "63072000s"}, violations: "ttl"},
		{name: "an email that is none", fields: fields{"email": "ada"}, violations: "email"},
		{name: "a text as singleUse", fields: fields{"singleUse": "yes"}, violations: "singleUse", typeErrors: typeError},
	},
	manyErrors: badInput{fields: fields{"ttl": "0s", "email": "ada", "roleUid": "nope"}, violations: "roleUid email ttl"}, misplaced: []string{"{repo}", "{identity}"},
	rows: []row{
		{name: "to a missing role", do: call{rpc: "CreateGroupInvite", target: "{group}", fields: fields{"roleUid": "{group}/00000000000000ff", "ttl": "60s"}},
			want: notFound("iam/Role", "{group}/00000000000000ff")},
		{name: "delete its role", do: call{rpc: "DeleteRole", target: "{invite.roleUid}"}, want: blockedFailure("RESOURCE_IN_USE")},
	},
	library: library{
		items: []item{
			{"a", "{shelf}", fields{"roleUid": viewer, "ttl": "300s"}}, {"b", "{shelf}", fields{"roleUid": "{org role}", "ttl": "100s", "email": "bob@example.com"}},
			{"c", "{inner}", fields{"roleUid": viewer, "ttl": "200s", "email": "ada@example.com"}}, {"d", "{side}", fields{"roleUid": viewer, "ttl": "400s"}},
		},
		orders:    []order{{"uid", "uid"}, {"create_time", "createTime"}, {"expiration_time", "expirationTime"}, {"email", "email"}, {"role_name", "role.name"}},
		byDefault: "uid",
		filters:   []filterCase{{fields{"key_id": "nope"}, ""}},
	},
})

// invitedRole returns the fields of a role that an invite shows.
func invitedRole(ref any) fields {
	return fields{"role": fields{
		"uid": ref, "name": member(ref, "name"), "description": member(ref, "description"), "capabilities": member(ref, "capabilities"),
	}}
}
