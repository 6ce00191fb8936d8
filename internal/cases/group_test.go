package cases

import "strings"

var _ = newKind(kind{
	name: "Group", plural: "Groups", ref: "group", area: "iam", parent: "iam/Group", in: "{org group}",
	minimal:        fields{"name": "group {n}"},
	full:           fields{"name": "team", "description": "All of us", "labels": fields{"owner": "ada", "env": "prod"}},
	requiredFields: "name",
	shown:          fields{"uid": "<uid>", "createTime": "<time>", "updateTime": "<time>", "verified": false, "status": "ORG_STATUS_READY"},
	badInputs: append(append([]badInput{
		{name: "a label whose key is no word", fields: fields{"labels": fields{"-": "x"}}, violations: "labels"},
		{name: "a label whose value is two words", fields: fields{"labels": fields{"a": "x y"}}, violations: "labels"},
	}, badNames...), badDescriptions...),
	manyErrors: badInput{fields: fields{"name": "Team", "description": "a\nb"}, violations: "name description"},
	twin:       fields{"name": "{group.name}"}, misplaced: []string{"{repo}", "{role}", "{identity}"},
	changes: []change{{field: "name", to: "crew", required: true}, {field: "description", to: "Some of us"}, {field: "labels", to: fields{"owner": "bob"}}}, readOnlyField: "createTime",

	rows: []row{
		{name: "an organization", do: call{rpc: "CreateGroup", fields: fields{"name": "{group.name} alone"}},
			want: resource(fields{"name": "{group.name} alone"}.with(groupShown))},
		{name: "an organization of a name that is taken", do: call{rpc: "CreateGroup", fields: fields{"name": "{org.name}"}}, want: alreadyExists("iam/Group", "", "name")},
		{name: "an organization with a bad name", do: call{rpc: "CreateGroup", fields: fields{"name": "Acme"}}, want: invalid("name")},
		{name: "a mask of what does not change", do: call{rpc: "UpdateGroup", target: "{full group}", fields: fields{"name": "crew"}, mask: []string{" name", "verified "}},
			want: resource(fields{"name": "crew", "description": "All of us", "labels": fields{"owner": "ada", "env": "prod"}}.with(groupShown))},
		{name: "delete one with a group in it", setup: []call{{rpc: "CreateGroup", target: "{group}", fields: fields{"name": "inside"}}},
			do: call{rpc: "DeleteGroup", target: "{group}"}, want: blockedFailure("RESOURCE_NOT_EMPTY")},
		{name: "delete one with an identity in it", setup: []call{{rpc: "CreateIdentity", target: "{group}", fields: fields{"name": "inside"}}},
			do: call{rpc: "DeleteGroup", target: "{group}"}, want: blockedFailure("RESOURCE_NOT_EMPTY")},
		{name: "delete one with a role in it", setup: []call{{rpc: "CreateRole", target: "{group}", fields: fields{"name": "inside"}}},
			do: call{rpc: "DeleteGroup", target: "{group}"}, want: blockedFailure("RESOURCE_NOT_EMPTY")},
		{name: "delete one with a role binding in it", setup: []call{{rpc: "CreateRoleBinding", target: "{group}", fields: roleBindings.minimal}},
			do: call{rpc: "DeleteGroup", target: "{group}"}, want: blockedFailure("RESOURCE_NOT_EMPTY")},
		{name: "delete one with a repo in it", setup: []call{{rpc: "CreateRepo", target: "{group}", fields: fields{"name": "inside"}}},
			do: call{rpc: "DeleteGroup", target: "{group}"}, want: blockedFailure("RESOURCE_NOT_EMPTY")},
		{name: "delete one with a subscription in it", setup: []call{{rpc: "CreateSubscription", target: "{group}", fields: fields{"sink": "https://inside.example.com"}}},
			do: call{rpc: "DeleteGroup", target: "{group}"}, want: blockedFailure("RESOURCE_NOT_EMPTY")},
	},
	library: library{
		otherItems: []string{"{org}", "{shelf}", "{inner}", "{side}"},
		items: []item{
			{"a", "{shelf}", fields{"name": "delta", "description": "Σίσυφος"}}, {"b", "{shelf}", fields{"name": "alpha", "labels": fields{"env": "prod"}}},
			{"c", "{inner}", fields{"name": "charlie"}}, {"d", "{side}", fields{"name": "alpha", "description": "ΣΊΣΥΦΟΣ"}},
		},
		orders:    []order{{"name", "name"}, {"create_time", "createTime"}, {"update_time", "updateTime"}, {"uid", "uid"}},
		byDefault: "name",
		filters: []filterCase{
			{fields{"name": "alpha"}, "b d"}, {fields{"name": "alph"}, ""}, {fields{"name": "Alpha"}, ""},
			{fields{"name": "alpha", "uidp.children_of": "{shelf}"}, "b"},
			{fields{"query": "Σίσυφος"}, "a d"}, {fields{"query": "ΣΊΣΥΦΟΣ"}, "a d"}, {fields{"query": "σίσυφο"}, "a d"}, {fields{"query": "σι"}, ""},
			{fields{"labels": []string{"env=prod"}}, "b"}, {fields{"labels": []string{"env=test"}}, ""},
		},
	},
})

var groupShown = fields{"uid": "<uid>", "createTime": "<time>", "updateTime": "<time>", "verified": false, "status": "ORG_STATUS_READY"}

// badNames lists names that are invalid for groups, identities and roles.
var badNames = []badInput{
	{name: "an empty name", fields: fields{"name": ""}, violations: "name"},
	{name: "a name of capitals", fields: fields{"name": "Team"}, violations: "name"},
	{name: "a name of two lines", fields: fields{"name": "a\nb"}, violations: "name"},
	{name: "a name of 513 letters", fields: fields{"name": strings.Repeat("n", 513)}, violations: "name"},
	{name: "null as the name", fields: fields{"name": nil}, violations: "name", typeErrors: typeErrorInCreate},
	{name: "a number as the name", fields: fields{"name": 7}, violations: "name", typeErrors: typeError},
}

var badDescriptions = []badInput{
	{name: "a description of two lines", fields: fields{"description": "a\nb"}, violations: "description"},
	{name: "a description of 513 letters", fields: fields{"description": strings.Repeat("é", 513)}, violations: "description"},
	{name: "a list as the description", fields: fields{"description": []string{"a"}}, violations: "description", typeErrors: typeError},
}
