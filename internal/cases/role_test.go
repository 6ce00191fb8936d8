package cases

import (
	"atrium/platform/iam"
)

var _ = newKind(kind{
	name: "Role", plural: "Roles", ref: "role", area: "iam", parent: "iam/Group", in: "{group}",
	minimal:        fields{"name": "role {n}"},
	full:           fields{"name": "reader", "description": "Reads", "capabilities": []string{"CAP_REPO_LIST", "CAP_TAG_LIST"}},
	requiredFields: "name",
	shown:          fields{"uid": "<uid>", "createTime": "<time>", "updateTime": "<time>"},
	badInputs: append([]badInput{
		{name: "an unknown capability", fields: fields{"capabilities": []string{"CAP_NOPE"}}, violations: "capabilities", typeErrors: typeError},
		{name: "a text as the capabilities", fields: fields{"capabilities": fields{}}, violations: "capabilities", typeErrors: typeError},
	}, append(badNames, badDescriptions...)...),
	manyErrors: badInput{fields: fields{"description": "a\nb", "name": "Reader"}, violations: "name description"},
	twin:       fields{"name": "{role.name}"}, misplaced: []string{"{repo}", "{identity}"},
	changes: []change{
		{field: "name", to: "writer", required: true}, {field: "description", to: "Writes"},
		{field: "capabilities", to: []string{"CAP_REPO_CREATE", "CAP_REPO_LIST"}},
	},
	readOnlyField: "createTime",

	rows: []row{
		{name: "a built-in one", do: call{rpc: "GetRole", target: advisoriesViewer}, want: resource(builtInShown),
			instead: inGraphQL(resource(builtInShown.with(fields{"capabilities": []string{"CAP_ADVISORIES_LIST"}})), "dashboards show what a role holds")},
		{name: "a built-in one cannot be changed", do: call{rpc: "UpdateRole", target: viewer, fields: fields{"description": "x"}}, want: blockedFailure("BUILT_IN_ROLE")},
		{name: "a built-in one cannot be deleted", do: call{rpc: "DeleteRole", target: viewer}, want: blockedFailure("BUILT_IN_ROLE")},
		{name: "capabilities are sorted, each once", do: call{rpc: "CreateRole", target: "{group}",
			fields: fields{"name": "r", "capabilities": []string{"CAP_TAG_LIST", "CAP_REPO_LIST", "CAP_TAG_LIST"}}},
			want: resource(fields{"name": "r", "capabilities": []string{"CAP_REPO_LIST", "CAP_TAG_LIST"}, "uid": "<uid>", "createTime": "<time>", "updateTime": "<time>"})},
		{name: "delete one that is bound", do: call{rpc: "DeleteRole", target: "{binding.role.uid}"}, want: blockedFailure("RESOURCE_IN_USE")},
	},
	library: library{
		otherItems: builtInRoles(),
		items: []item{
			{"a", "{shelf}", fields{"name": "zulu", "description": "Σίσυφος"}}, {"b", "{shelf}", fields{"name": "alpha", "capabilities": []string{"CAP_REPO_LIST"}}},
			{"c", "{inner}", fields{"name": "charlie"}}, {"d", "{side}", fields{"name": "alpha", "description": "ΣΊΣΥΦΟΣ"}},
		},
		orders:    []order{{"name", "name"}, {"create_time", "createTime"}, {"update_time", "updateTime"}, {"uid", "uid"}},
		byDefault: "name",
		filters: []filterCase{{fields{"name": "alpha"}, "b d"}, {fields{"name": "viewer"}, viewer}, {fields{"name": "nope"}, ""},
			{fields{"query": "Σίσυφος"}, "a d"}, {fields{"query": "ΣΊΣΥΦΟΣ"}, "a d"}, {fields{"query": "σίσυφο"}, "a d"}, {fields{"query": "σι"}, ""}},
		differingFields: []string{"capabilities"}, // The capabilities of built-in roles differ; see above.
	},
})

const (
	viewer           = string(iam.ViewerRole)
	advisoriesViewer = "274c2757bf1f9625c4b24477eb196090661a86f9"
)

var builtInShown = fields{"uid": advisoriesViewer, "name": "advisories.viewer", "description": "Reads advisories."}

func builtInRoles() []string {
	return []string{
		viewer, string(iam.EditorRole), string(iam.OwnerRole), "f8b2a6e5a07b5469bd4e5251a00caba4417a5359",
		"8796e4182e21cccdbd8ea824f1d05487610c7285", "4d7e4966448f57e21277e0f49b85233752e6adb7",
		"6bf4ec17225ae31b1243a81342d2d05aae4f2b91", advisoriesViewer, string(iam.PublisherRole),
	}
}
