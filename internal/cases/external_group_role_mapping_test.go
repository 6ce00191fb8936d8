package cases

var _ = newKind(kind{
	name: "ExternalGroupRoleMapping", plural: "ExternalGroupRoleMappings", ref: "mapping", area: "iam", parent: "iam/IdentityProvider", in: "{provider}",
	minimal:        fields{"externalGroupId": "people {n}", "roleUid": "{role}"},
	full:           fields{"externalGroupId": "everybody", "roleUid": "{role}", "scope": "{group}"},
	requiredFields: "externalGroupId roleUid",
	shown:          fields{"uid": "<uid>", "createTime": "<time>", "identityProviderUid": "{provider}", "scope": "{group}"},
	badInputs: []badInput{
		{name: "no external group", fields: fields{"externalGroupId": ""}, violations: "externalGroupId"},
		{name: "no role", fields: fields{"roleUid": ""}, violations: "roleUid"},
		{name: "a role that is no UID", fields: fields{"roleUid": "nope"}, violations: "roleUid"},
		{name: "a scope that is no UID", fields: fields{"scope": "nope"}, violations: "scope"},
		{name: "a scope above the provider", fields: fields{"scope": "{org}"}, violations: "scope"},
	},
	manyErrors: badInput{fields: fields{"scope": "nope", "roleUid": "nope", "externalGroupId": ""}, violations: "externalGroupId roleUid scope"},
	twin:       fields{"externalGroupId": "{mapping.externalGroupId}"}, unique: "externalGroupId roleUid scope", misplaced: []string{"{identity}", "{role}"},
	rows: []row{
		{name: "a missing role", do: call{rpc: "CreateExternalGroupRoleMapping", target: "{provider}", fields: fields{"externalGroupId": "x", "roleUid": "{group}/00000000000000ff"}},
			want: notFound("iam/Role", "{group}/00000000000000ff")},
		{name: "a missing scope", do: call{rpc: "CreateExternalGroupRoleMapping", target: "{provider}", fields: fields{"externalGroupId": "x", "roleUid": "{role}", "scope": "{group}/00000000000000ff"}},
			want: notFound("iam/Group", "{group}/00000000000000ff")},
		{name: "delete its role", do: call{rpc: "DeleteRole", target: "{mapping.roleUid}"}, want: blockedFailure("RESOURCE_IN_USE")},
		{name: "a batch", do: deleteBatch("{provider}", "{mapping}", "{full mapping}"),
			want: resource(fields{"parent": "{provider}", "externalGroupRoleMappings": []fields{wholeMapping("{mapping}"), wholeMapping("{full mapping}")}})},
		{name: "a batch of a group", do: deleteBatch("{group}", "{mapping}"),
			want: resource(fields{"parent": "{group}", "externalGroupRoleMappings": []fields{wholeMapping("{mapping}")}})},
		{name: "an empty batch", do: deleteBatch("{provider}"), want: invalid("names")},
		{name: "a batch with bad ones", do: deleteBatch("{provider}", "nope", "{group}", "{mapping}", "{mapping}"), want: invalid("names[0] names[1] names[3]")},
		{name: "a batch with a missing one", do: deleteBatch("{provider}", "{mapping}", "{provider}/00000000000000ff"),
			want: notFoundBy("names[1]", "iam/ExternalGroupRoleMapping", "{provider}/00000000000000ff")},
		{name: "those of a missing provider", do: call{rpc: "ListExternalGroupRoleMappings", params: fields{"identity_provider_uid": "{group}/00000000000000ff"}},
			want: notFoundBy("identity_provider_uid", "iam/IdentityProvider", "{group}/00000000000000ff"), instead: emptyInGraphQL},
	},
	extra: []call{deleteBatch("{provider}", "{mapping}")},
	library: library{
		items: []item{
			{"a", "{shelf provider}", fields{"externalGroupId": "a", "roleUid": viewer}}, {"b", "{shelf provider}", fields{"externalGroupId": "b", "roleUid": viewer}},
			{"c", "{inner provider}", fields{"externalGroupId": "c", "roleUid": viewer}}, {"d", "{side provider}", fields{"externalGroupId": "a", "roleUid": viewer}},
		},
		orders:    []order{{"uid", "uid"}, {"create_time", "createTime"}, {"external_group_id", "externalGroupId"}},
		byDefault: "uid",
		filters:   []filterCase{{fields{"identity_provider_uid": "{shelf provider}"}, "a b"}},
		badParams: []badInput{{name: "a provider that is no UID", fields: fields{"identity_provider_uid": "x"}, violations: "identity_provider_uid"}},
	},
})

func deleteBatch(parent string, names ...string) call {
	return call{rpc: "BatchDeleteExternalGroupRoleMappings", target: parent, fields: fields{"parent": parent, "names": names}}
}

// wholeMapping returns all fields of a mapping as it was created.
func wholeMapping(ref string) fields {
	whole := fields{}
	for _, name := range []string{"uid", "createTime", "identityProviderUid", "scope", "externalGroupId", "roleUid"} {
		whole[name] = member(ref, name)
	}
	return whole
}
