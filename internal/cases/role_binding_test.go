package cases

import (
	"fmt"
	"strings"
)

var roleBindings = newKind(kind{
	name: "RoleBinding", plural: "RoleBindings", ref: "binding", area: "iam", parent: "iam/Group", in: "{group}",
	minimal:        fields{"identityUid": "{identity}", "roleUid": "{role}"},
	full:           fields{"identityUid": "{full identity}", "roleUid": "{full role}", "expireTime": "2999-03-27T13:55:00.785Z"},
	requiredFields: "identityUid roleUid",
	shown:          fields{"uid": "<uid>", "createTime": "<time>", "group": fields{"uid": "{group}", "name": "{group.name}"}},
	hidden:         []string{"identityUid", "roleUid"},
	derived:        map[string]func(any) fields{"identityUid": boundIdentity, "roleUid": boundRole},
	badInputs: []badInput{
		{name: "no identity", fields: fields{"identityUid": ""}, violations: "identityUid"},
		{name: "an identity that is no UID", fields: fields{"identityUid": "nope"}, violations: "identityUid"},
		{name: "no role", fields: fields{"roleUid": ""}, violations: "roleUid"},
		{name: "a role that is no UID", fields: fields{"roleUid": "nope"}, violations: "roleUid"},
		{name: "a list as the role", fields: fields{"roleUid": fields{}}, violations: "roleUid", typeErrors: typeError},
		{name: "an end that has come", fields: fields{"expireTime": "2026-03-27T13:55:00.785Z"}, violations: "expireTime"},
	},
	manyErrors: badInput{fields: fields{"identityUid": "nope", "roleUid": "nope"}, violations: "identityUid roleUid"},
	twin:       fields{"identityUid": "{binding.identity.uid}", "roleUid": "{binding.role.uid}"}, misplaced: []string{"{repo}", "{role}"},
	changes: []change{
		{field: "identityUid", to: "{other identity}", required: true}, {field: "roleUid", to: "{other role}", required: true},
		{field: "expireTime", to: "2999-12-31T00:00:00.000Z"},
	},
	readOnlyField: "createTime",

	rows: []row{
		{name: "of a built-in role", do: bind("{group}", "{identity}", viewer),
			want: resource(boundBuiltIn.with(boundIdentity("{identity}")))},
		{name: "of a missing identity", do: bind("{group}", "{org}/00000000000000ff", "{role}"), want: notFound("iam/Identity", "{org}/00000000000000ff")},
		{name: "of a missing role", do: bind("{group}", "{identity}", "{org}/00000000000000ff"), want: notFound("iam/Role", "{org}/00000000000000ff")},
		{name: "of an identity that does not reach there", do: bind("{org}", "{identity}", "{org role}"), want: invalid("identityUid")},
		{name: "of a role that does not reach there", do: bind("{org}", "{org identity}", "{role}"), want: invalid("roleUid")},
		{name: "of a group as the identity", do: bind("{group}", "{org}", "{role}"), want: notFound("iam/Identity", "{org}")},
		{name: "of a group as the role", do: bind("{group}", "{identity}", "{org}"), want: notFound("iam/Role", "{org}")},
		{name: "of an unknown built-in role", do: bind("{group}", "{identity}", unknownBuiltIn), want: notFound("iam/Role", unknownBuiltIn)},
		{name: "to a missing role", do: call{rpc: "UpdateRoleBinding", target: "{binding}", fields: fields{"roleUid": "{org}/00000000000000ff"}},
			want: notFound("iam/Role", "{org}/00000000000000ff")},
		{name: "the last owner stays", do: call{rpc: "DeleteRoleBinding", target: "{owner binding}"}, want: blockedFailure("LAST_OWNER")},
		{name: "the last owner stays owner", do: call{rpc: "UpdateRoleBinding", target: "{owner binding}", fields: fields{"roleUid": viewer}}, want: blockedFailure("LAST_OWNER")},

		{name: "a batch", do: batch("{group}", "", binding("{identity}", "{role}"), binding("{other identity}", "{role}")),
			want: resource(fields{"roleBindings": []fields{boundHere("{identity}", "{role}"), boundHere("{other identity}", "{role}")}})},
		{name: "a batch with one role for all", do: batch("{group}", "{role}", fields{"identityUid": "{identity}"}, binding("{identity}", "{other role}")),
			want: resource(fields{"roleBindings": []fields{boundHere("{identity}", "{role}"), boundHere("{identity}", "{other role}")}})},
		{name: "an empty batch", do: batch("{group}", ""), want: invalid("requests")},
		{name: "a batch of 26", do: batch("{group}", "{role}", manyBindings(26)...), want: invalid("requests")},
		{name: "a batch with bad ones", do: batch("{group}", "", binding("nope", "{role}"), binding("{identity}", "nope")),
			want: invalid("requests[0].roleBinding.identityUid requests[1].roleBinding.roleUid")},
		{name: "a batch in no UID", do: batch("nope", "{role}", manyBindings(2)...), want: invalid("parent")},
		{name: "a batch in a missing group", do: batch("{org}/00000000000000ff", "{org role}", fields{"identityUid": "{org identity}"}), want: notFound("iam/Group", "{org}/00000000000000ff")},
		{name: "a batch with one that is there", do: batch("{group}", "", binding("{other identity}", "{role}"), sameBinding),
			want: alreadyExists("iam/RoleBinding", "{binding}", "requests[1].roleBinding.identityUid requests[1].roleBinding.roleUid")},
		{name: "a batch with the same twice", do: batch("{group}", "", binding("{identity}", "{role}"), binding("{identity}", "{role}")),
			want: alreadyExists("iam/RoleBinding", "", "requests[1].roleBinding.identityUid requests[1].roleBinding.roleUid")},
		{name: "those of a missing identity", do: call{rpc: "ListRoleBindings", params: fields{"identity": "{org}/00000000000000ff"}}, want: notFoundBy("identity", "iam/Identity", "{org}/00000000000000ff"), instead: emptyInGraphQL},
		{name: "those of a missing role", do: call{rpc: "ListRoleBindings", params: fields{"role": "{org}/00000000000000ff"}}, want: notFoundBy("role", "iam/Role", "{org}/00000000000000ff"), instead: emptyInGraphQL},
		{name: "those on a missing group", do: call{rpc: "ListRoleBindings", params: fields{"group": "{org}/00000000000000ff"}}, want: notFoundBy("group", "iam/Group", "{org}/00000000000000ff"), instead: emptyInGraphQL},
	},
	extra: []call{batchOn("{group}")},
	library: library{
		otherItems: []string{"{owner binding}"},
		items: []item{
			{"a", "{shelf}", binding("{org identity}", "{org role}")}, {"b", "{shelf}", binding("{org other identity}", "{org role}")},
			{"c", "{inner}", binding("{org identity}", "{org other role}")}, {"d", "{side}", binding("{org identity}", viewer)},
		},
		orders: []order{
			{"create_time", "createTime"}, {"uid", "uid"}, {"identity_name", "identity.name"}, {"group_name", "group.name"}, {"role_name", "role.name"},
		},
		byDefault: "create_time desc",
		filters: []filterCase{
			{fields{"identity": "{org identity}"}, "a c d"}, {fields{"role": "{org role}"}, "a b"}, {fields{"role": viewer}, "d"},
			{fields{"group": "{shelf}"}, "a b"}, {fields{"group": "{org}"}, "{owner binding}"},
			{fields{"identity": "{org identity}", "group": "{shelf}"}, "a"}, {fields{"identity": "{org identity}", "group": "{org}"}, ""},
		},
		badParams: []badInput{
			{name: "filters that are no UIDs", fields: fields{"identity": "x", "group": "y", "role": "z"}, violations: "identity group role"},
		},
	},
})

// unknownBuiltIn has the form of a built-in role's UID.
const unknownBuiltIn = "00000000000000000000000000000000000000ff"

var sameBinding = fields{"identityUid": "{binding.identity.uid}", "roleUid": "{binding.role.uid}"}

func binding(identity, role string) fields { return fields{"identityUid": identity, "roleUid": role} }

func bind(group, identity, role string) call {
	return call{rpc: "CreateRoleBinding", target: group, fields: binding(identity, role)}
}

func batch(parent, role string, bindings ...fields) call {
	requests := make([]fields, len(bindings))
	for i, b := range bindings {
		requests[i] = fields{"roleBinding": b}
	}
	f := fields{"parent": parent, "requests": requests}
	if role != "" {
		f["roleUid"] = role
	}
	return call{rpc: "BatchCreateRoleBindings", fields: f}
}

// batchOn returns a valid batch for parent.
func batchOn(parent string) call {
	c := batch(parent, "", binding("{identity}", "{role}"))
	c.target = parent
	return c
}

func manyBindings(n int) []fields {
	all := make([]fields, n)
	for i := range all {
		all[i] = fields{"identityUid": fmt.Sprintf("{%d identity}", i)}
	}
	return all
}

// member returns the name of a member of ref in a row.
func member(ref any, name string) string {
	return strings.TrimSuffix(ref.(string), "}") + "." + name + "}"
}

// boundIdentity returns the fields of the identity ref that a binding shows. It omits
// fields that the identity does not have.
func boundIdentity(ref any) fields {
	return fields{"identity": fields{
		"uid": ref, "name": member(ref, "name"), "description": member(ref, "description"),
		"issuer": member(ref, "claimMatch.issuer"), "subject": member(ref, "claimMatch.subject"),
	}}
}

func boundRole(ref any) fields {
	return fields{"role": fields{"uid": ref, "name": member(ref, "name"), "description": member(ref, "description")}}
}

// boundHere returns all fields of a binding on {group}.
func boundHere(identity, role string) fields {
	return fields{"uid": "<uid>", "createTime": "<time>", "group": fields{"uid": "{group}", "name": "{group.name}"}}.
		with(boundIdentity(identity)).with(boundRole(role))
}

var boundBuiltIn = fields{
	"uid": "<uid>", "createTime": "<time>", "group": fields{"uid": "{group}", "name": "{group.name}"},
	"role": fields{"uid": viewer, "name": "viewer", "description": "Reads every resource."},
}
