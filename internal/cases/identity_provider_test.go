package cases

var _ = newKind(kind{
	name: "IdentityProvider", plural: "IdentityProviders", ref: "provider", area: "iam", parent: "iam/Group", in: "{group}",
	minimal:        fields{"name": "provider {n}", "defaultRole": "{org role}"},
	full:           fields{"name": "people", "description": "Everybody", "defaultRole": "{role}", "oidc": fullOIDC},
	requiredFields: "name defaultRole",
	shown:          fields{"uid": "<uid>", "createTime": "<time>", "updateTime": "<time>", "issuerVerified": false},
	derived:        map[string]func(any) fields{"oidc": withoutSecret},
	badInputs: append([]badInput{
		{name: "no default role", fields: fields{"defaultRole": ""}, violations: "defaultRole"},
		{name: "a default role that is no UID", fields: fields{"defaultRole": "nope"}, violations: "defaultRole"},
		{name: "an issuer that is no URL", fields: fields{"oidc": fields{"issuer": "x", "clientId": "c"}}, violations: "oidc.issuer"},
		{name: "no issuer and no client", fields: fields{"oidc": fields{"issuer": "", "clientId": ""}}, violations: "oidc.issuer oidc.clientId"},
		{name: "an unknown member", fields: fields{"oidc": fields{"issuer": "https://p.example.com", "clientId": "c", "nope": 1}}, violations: "oidc.nope", typeErrors: typeError},
	}, append(badNames, badDescriptions...)...),
	manyErrors: badInput{fields: fields{"oidc": fields{"issuer": "x", "clientId": "c"}, "defaultRole": "nope", "description": "a\nb"}, violations: "description defaultRole oidc.issuer"},
	twin:       fields{"name": "{provider.name}"}, misplaced: []string{"{repo}", "{identity}"},
	changes: []change{
		{field: "name", to: "others", required: true}, {field: "defaultRole", to: "{other role}", required: true}, {field: "description", to: "Nobody"},
		{field: "oidc", to: fields{"issuer": "https://others.example.com", "clientId": "c", "correlationRule": "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID", "pkceEnabled": false},
			cleared: fields{"issuerVerified": false}, removed: []string{"issuerVerifyTime"}},
	},
	readOnlyField: "createTime",
	rows: []row{
		{name: "a default role that is missing", do: call{rpc: "CreateIdentityProvider", target: "{group}", fields: fields{"name": "p", "defaultRole": "{group}/00000000000000ff"}},
			want: notFound("iam/Role", "{group}/00000000000000ff")},
		{name: "the correlation rule stays", do: call{rpc: "UpdateIdentityProvider", target: "{full provider}", fields: fields{"oidc": fields{
			"issuer": "https://people.example.com", "clientId": "c", "correlationRule": "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID"}}},
			want: invalid("oidc.correlationRule")},
		{name: "a part of the configuration by mask, others not", do: updateProvider(otherOIDC, "oidc.additionalScopes"),
			want: expectProvider(fullOIDC.with(fields{"additionalScopes": []string{"email", "teams"}}))},
		{name: "a part of the configuration by mask in snake case", do: updateProvider(otherOIDC, "oidc.additional_scopes"),
			want: expectProvider(fullOIDC.with(fields{"additionalScopes": []string{"email", "teams"}}))},
		{name: "two parts of the configuration by mask", do: updateProvider(otherOIDC, "oidc.clientId", "oidc.groupsClaim"),
			want: expectProvider(fullOIDC.with(fields{"clientId": "other", "groupsClaim": "teams"}))},
		{name: "a mask of what is no part of the configuration", do: updateProvider(otherOIDC, "oidc.nope"), want: invalid("updateMask")},
		{name: "delete one with a mapping", do: call{rpc: "DeleteIdentityProvider", target: "{mapping.identityProviderUid}"}, want: blockedFailure("RESOURCE_NOT_EMPTY")},
		{name: "delete its default role", do: call{rpc: "DeleteRole", target: "{provider.defaultRole}"}, want: blockedFailure("RESOURCE_IN_USE")},

		{name: "verify", do: verify("{full provider}"), want: expectedResource{like: "{full provider}"}},
		{name: "verify one without an issuer", do: verify("{provider}"), want: blockedFailure("ISSUER_NOT_VERIFIED")},
		{name: "verify a missing one", do: verify("{group}/00000000000000ff"), want: notFound("iam/IdentityProvider", "{group}/00000000000000ff")},
		{name: "verify no UID", do: verify("nope"), want: invalid("uid")},
		{name: "create a verified one", do: call{rpc: "CreateIdentityProvider", target: "{group}", fields: fields{"name": "p", "defaultRole": "{org role}", "issuerVerified": true}},
			want: invalid("issuerVerified"), instead: serviceOnly},
		{name: "no mask names what only a verification sets", do: call{rpc: "UpdateIdentityProvider", target: "{full provider}", fields: fields{}, mask: []string{"issuerVerified"}},
			want: invalid("updateMask")},
	},
	extra: []call{verify("{full provider}")},
	library: library{
		items: []item{
			{"a", "{shelf}", fields{"name": "delta", "defaultRole": "{org role}"}}, {"b", "{shelf}", fields{"name": "alpha", "defaultRole": "{org role}"}},
			{"c", "{inner}", fields{"name": "charlie", "defaultRole": viewer}}, {"d", "{side}", fields{"name": "alpha", "defaultRole": viewer}},
		},
		orders:    []order{{"name", "name"}, {"create_time", "createTime"}, {"update_time", "updateTime"}, {"uid", "uid"}},
		byDefault: "name",
		filters:   []filterCase{{fields{"name": "alpha"}, "b d"}, {fields{"name": "nope"}, ""}},
	},
})

// ofTheService is the answer to inputs with fields that only the service sets.
var serviceOnly = inGraphQL(rejectedInput{}, "the inputs hold nothing that only the service sets")

func verify(provider string) call {
	return call{rpc: "VerifyIdentityProvider", target: provider, fields: fields{"uid": provider}}
}

var (
	fullOIDC = fields{
		"issuer": "https://people.example.com", "clientId": "atrium", "clientSecret": "hush", "additionalScopes": []string{"groups"},
		"groupsClaim": "groups", "correlationRule": "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID", "pkceEnabled": true,
	}
	otherOIDC = fields{"issuer": "https://other.example.com", "clientId": "other", "additionalScopes": []string{"email", "teams"}, "groupsClaim": "teams"}
)

func updateProvider(oidc fields, mask ...string) call {
	return call{rpc: "UpdateIdentityProvider", target: "{full provider}", fields: fields{"oidc": oidc}, mask: mask}
}

// expectProvider expects the full provider after a change of its configuration.
func expectProvider(oidc fields) expectedResource {
	return expectedResource{like: "{full provider}", with: withoutSecret(oidc).with(fields{"updateTime": "<time>"})}
}

// withoutSecret returns a configuration as it is shown. In these tests every issuer counts
// as proven.
func withoutSecret(given any) fields {
	config, _ := given.(fields)
	if config == nil {
		return fields{"oidc": config.without("clientSecret")}
	}
	return fields{"oidc": config.without("clientSecret"), "issuerVerified": true, "issuerVerifyTime": "<time>"}
}
