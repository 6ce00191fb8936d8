package cases

import "strings"

var _ = newKind(kind{
	name: "Identity", plural: "Identities", ref: "identity", area: "iam", parent: "iam/Group", in: "{group}",
	minimal:        fields{"name": "robot {n}"},
	full:           fields{"name": "robot", "description": "Builds", "company": "Acme", "claimMatch": fullRule},
	requiredFields: "name",
	shown:          fields{"uid": "<uid>", "createTime": "<time>", "updateTime": "<time>"},
	badInputs: append([]badInput{
		{name: "a company of two lines", fields: fields{"company": "a\nb"}, violations: "company"},
		{name: "a rule without issuer and subject", fields: fields{"claimMatch": fields{}}, violations: "claimMatch.issuer claimMatch.subject"},
		{name: "a rule without a subject", fields: fields{"claimMatch": fields{"issuer": "https://i.example.com"}}, violations: "claimMatch.subject"},
		{name: "an issuer that is no URL", fields: fields{"claimMatch": fields{"issuer": "i", "subject": "s"}}, violations: "claimMatch.issuer"},
		{name: "an issuer and its pattern", fields: fields{"claimMatch": fields{"issuer": "https://i.example.com", "issuerPattern": ".*", "subject": "s"}}, violations: "claimMatch.issuer"},
		{name: "a pattern that is none", fields: fields{"claimMatch": fields{"issuerPattern": "(", "subjectPattern": "["}}, violations: "claimMatch.issuerPattern claimMatch.subjectPattern"},
		{name: "a pattern of 513 letters", fields: fields{"claimMatch": fields{"issuerPattern": strings.Repeat("a", 513), "subject": "s"}}, violations: "claimMatch.issuerPattern"},
		{name: "an unknown member of the rule", fields: fields{"claimMatch": fields{"issuer": "https://i.example.com", "subject": "s", "nope": 1}}, violations: "claimMatch.nope", typeErrors: typeError},
		{name: "a text as the rule", fields: fields{"claimMatch": "x"}, violations: "claimMatch", typeErrors: typeError},
		{name: "keys without members", fields: fields{"staticKeys": fields{"issuer": "", "subject": "", "issuerKeys": ""}}, violations: "staticKeys.issuer staticKeys.subject staticKeys.issuerKeys"},
		{name: "keys that are none", fields: fields{"staticKeys": staticKeys.with(fields{"issuerKeys": "x"})}, violations: "staticKeys.issuerKeys"},
		{name: "both rules", fields: fields{"claimMatch": identityRule, "staticKeys": staticKeys}, violations: "staticKeys"},
	}, append(badNames, badDescriptions...)...),
	manyErrors: badInput{fields: fields{"company": "a\nb", "claimMatch": fields{}, "name": "Robot", "description": "a\nb"},
		violations: "name description company claimMatch.issuer claimMatch.subject"},
	misplaced: []string{"{repo}", "{role}", "{other identity}"},
	changes: []change{
		{field: "name", to: "other robot", required: true}, {field: "description", to: "Deploys"}, {field: "company", to: "Emca"},
		{field: "claimMatch", to: identityRule},
	},
	readOnlyField: "createTime",

	rows: []row{
		{name: "with keys", do: call{rpc: "CreateIdentity", target: "{group}", fields: fields{"name": "keyed", "staticKeys": staticKeys}},
			want: resource(fields{"name": "keyed", "staticKeys": staticKeys, "uid": "<uid>", "createTime": "<time>", "updateTime": "<time>"})},
		{name: "keys replace the rule", do: call{rpc: "UpdateIdentity", target: "{full identity}", fields: fields{"staticKeys": staticKeys}},
			want: expectedResource{like: "{full identity}", with: fields{"staticKeys": staticKeys, "updateTime": "<time>"}, without: []string{"claimMatch"}}},
		{name: "a part of the rule by mask, others not", do: updateIdentity(fields{"claimMatch": otherRule}, "claimMatch.audience"),
			want: expectIdentity(fullRule.with(fields{"audience": "deploys"}))},
		{name: "a part of the rule by mask in snake case", do: updateIdentity(fields{"claimMatch": otherRule}, "claim_match.audience"),
			want: expectIdentity(fullRule.with(fields{"audience": "deploys"}))},
		{name: "a part of the rule for another", do: updateIdentity(fields{"claimMatch": otherRule}, "claimMatch.subject", "claimMatch.subjectPattern"),
			want: expectIdentity(fullRule.without("subjectPattern").with(fields{"subject": "someone"}))},
		{name: "a part of the rule in the mask only", do: updateIdentity(fields{}, "claimMatch.audience"), want: expectIdentity(fullRule.without("audience"))},
		{name: "a claim by mask", do: updateIdentity(fields{"claimMatch": otherRule}, "claimMatch.claims.team"),
			want: expectIdentity(fullRule.with(fields{"claims": fields{"team": "green"}}))},
		{name: "parts of the rule that do not go together", do: updateIdentity(fields{"claimMatch": otherRule}, "claimMatch.subject"), want: invalid("claimMatch.subject")},
		{name: "a mask of what is no part of the rule", do: updateIdentity(fields{"claimMatch": otherRule}, "claimMatch.nope"), want: invalid("updateMask")},

		{name: "delete one that a role is bound to", do: call{rpc: "DeleteIdentity", target: "{binding.identity.uid}"}, want: blockedFailure("RESOURCE_IN_USE")},

		{name: "look up", setup: []call{createIdentity(identityToLookUp)}, do: lookup(fields{"issuer": "https://lookup.example.com", "subject": "{group.uid}"}),
			want: resource(fields{"uid": "<uid>"})},
		{name: "look up another subject", setup: []call{createIdentity(identityToLookUp)}, do: lookup(fields{"issuer": "https://lookup.example.com", "subject": "x"}),
			want: notFound("iam/Identity", "x")},
		{name: "look up nothing", do: lookup(fields{"issuer": "", "subject": ""}), want: invalid("issuer subject")},
	},
	extra: []call{lookup(fields{"issuer": "https://lookup.example.com", "subject": "{group.uid}"})},
	library: library{
		otherItems: []string{"{owner}"},
		items: []item{
			{"a", "{shelf}", fields{"name": "delta", "description": "Σίσυφος"}}, {"b", "{shelf}", fields{"name": "alpha", "claimMatch": identityRule}},
			{"c", "{inner}", fields{"name": "charlie", "staticKeys": staticKeys}}, {"d", "{side}", fields{"name": "alpha", "description": "ΣΊΣΥΦΟΣ"}},
			{"e", "{org}", fields{"name": "echo", "description": "in the organization"}},
		},
		orders:    []order{{"name", "name"}, {"create_time", "createTime"}, {"update_time", "updateTime"}, {"uid", "uid"}, {"last_seen_time", "lastSeenTime"}, {"email", "email"}},
		byDefault: "name",
		filters: []filterCase{
			{fields{"query": "Σίσυφος"}, "a d"}, {fields{"query": "ΣΊΣΥΦΟΣ"}, "a d"}, {fields{"query": "σίσυφο"}, "a d"}, {fields{"query": "σι"}, ""},
			{fields{"name": "alpha"}, "b d"}, {fields{"name": "nobody"}, ""},
			{fields{"relationship_type": "RELATIONSHIP_TYPE_STATIC"}, "c"},
			{fields{"relationship_type": "RELATIONSHIP_TYPE_CLAIM_MATCH", "uidp.descendants_of": "{shelf}"}, "b"},
		},
		badParams: []badInput{{name: "an unknown rule", fields: fields{"relationship_type": "NONE"}, violations: "relationship_type", typeErrors: typeError}},
	},
})

var (
	fullRule = fields{
		"issuer": "https://issuer.example.com", "subjectPattern": "robot-{group.uid}-.*", "audience": "builds",
		"claims": fields{"team": "blue"}, "claimPatterns": fields{"env": "prod|test"},
	}
	otherRule    = fields{"issuer": "https://other.example.com", "subject": "someone", "audience": "deploys", "claims": fields{"team": "green", "role": "admin"}}
	identityRule = fields{"issuerPattern": "https://.*", "subject": "someone"}
	staticKeys   = fields{"issuer": "https://offline.example.com", "subject": "s", "issuerKeys": `{"keys":[{"kty":"oct"}]}`,
		"expirationTime": "2030-01-02T03:04:05.000Z", "audiences": []string{"builds"}}
	identityToLookUp = fields{"name": "found", "claimMatch": fields{"issuer": "https://lookup.example.com", "subject": "{group.uid}"}}
)

func createIdentity(f fields) call { return call{rpc: "CreateIdentity", target: "{group}", fields: f} }

func updateIdentity(f fields, mask ...string) call {
	return call{rpc: "UpdateIdentity", target: "{full identity}", fields: f, mask: mask}
}

// expectIdentity is the full identity after a change of its rule.
func expectIdentity(rule fields) expectedResource {
	return expectedResource{like: "{full identity}", with: fields{"claimMatch": rule, "updateTime": "<time>"}}
}

func lookup(params fields) call { return call{rpc: "LookupIdentity", params: params} }
