package cases

import "strings"

// A group has at most one association, which has the UID of the group. So each case uses
// its own group.
var _ = newKind(kind{
	name: "AccountAssociation", plural: "AccountAssociations", ref: "association", area: "iam", parent: "iam/Group", in: "{group group}", sharesUID: true,
	minimal: fields{"name": "accounts {n}"},
	full: fields{
		"name": "all accounts", "description": "Everywhere", "amazon": fields{"account": "123456789012"},
		"google": fields{"projectId": "acme", "projectNumber": "42"}, "platform": fields{"serviceBindings": fields{"builds": "{org identity}", "scans": "nobody"}},
		"azure": fields{"tenantId": "acme.example.com", "clientIds": fields{"pull": "1", "push": "2"}},
		"github": fields{"appInstallations": fields{
			"7":                   fields{"installations": []fields{{"installationId": "1", "name": "acme"}, {"installationId": "9223372036854775807"}}},
			"9223372036854775807": fields{"installations": []fields{{"installationId": "3"}}},
		}},
	},
	requiredFields: "name",
	shown:          fields{"uid": "{group group}", "createTime": "<time>", "updateTime": "<time>"},
	badInputs: append([]badInput{
		{name: "an empty name", fields: fields{"name": ""}, violations: "name"},
		{name: "a name of 256 letters", fields: fields{"name": strings.Repeat("n", 256)}, violations: "name"},
		{name: "an empty account", fields: fields{"amazon": fields{"account": ""}}, violations: "amazon.account"},
		{name: "a project without members", fields: fields{"google": fields{"projectId": "", "projectNumber": ""}}, violations: "google.projectId google.projectNumber"},
		{name: "no services", fields: fields{"platform": fields{"serviceBindings": fields{}}}, violations: "platform.serviceBindings"},
		{name: "a service without an identity", fields: fields{"platform": fields{"serviceBindings": fields{"builds": ""}}}, violations: "platform.serviceBindings.builds"},
		{name: "a tenant without members", fields: fields{"azure": fields{"tenantId": "", "clientIds": fields{}}}, violations: "azure.tenantId azure.clientIds"},
		{name: "no apps", fields: fields{"github": fields{"appInstallations": fields{}}}, violations: "github.appInstallations"},
		{name: "an app that is no number", fields: fields{"github": fields{"appInstallations": fields{"x": fields{}}}}, violations: "github.appInstallations", typeErrors: typeError},
		{name: "an unknown member", fields: fields{"amazon": fields{"account": "1", "nope": 1}}, violations: "amazon.nope", typeErrors: typeError},
		{name: "a text as an account", fields: fields{"amazon": "1"}, violations: "amazon", typeErrors: typeError},
	}, badDescriptions...),
	manyErrors: badInput{fields: fields{"azure": fields{"tenantId": "", "clientIds": fields{"a": "b"}}, "amazon": fields{"account": ""}, "description": "a\nb", "name": strings.Repeat("n", 256)},
		violations: "name description amazon.account azure.tenantId"},
	misplaced: []string{"{repo}", "{role}", "{identity}"},
	changes: []change{
		{field: "name", to: "fewer accounts", required: true}, {field: "description", to: "Here"}, {field: "amazon", to: fields{"account": "2"}},
		{field: "google", to: fields{"projectId": "p", "projectNumber": "1"}}, {field: "platform", to: fields{"serviceBindings": fields{"builds": "nobody"}}},
		{field: "azure", to: fields{"tenantId": "t", "clientIds": fields{"pull": "3"}}},
		{field: "github", to: fields{"appInstallations": fields{"8": fields{"installations": []fields{{"installationId": "5"}}}}}},
	},
	readOnlyField: "createTime",
	rows: []row{
		{name: "a second one", setup: []call{{rpc: "CreateAccountAssociation", target: "{group}", fields: fields{"name": "one"}}},
			do: call{rpc: "CreateAccountAssociation", target: "{group}", fields: fields{"name": "two"}}, want: alreadyExists("iam/AccountAssociation", "{group}", "")},
		{name: "a service as a missing identity, as which nobody acts", do: call{rpc: "CreateAccountAssociation", target: "{group}", fields: associationOfMissingIdentity},
			want: resource(associationOfMissingIdentity.with(fields{"uid": "{group}", "createTime": "<time>", "updateTime": "<time>"}))},
		{name: "installations without a number", do: call{rpc: "CreateAccountAssociation", target: "{group}", fields: associationWithoutNumber},
			want:    invalid("github.appInstallations.7.installations[0].installationId github.appInstallations.7.installations[0].name"),
			instead: inGraphQL(invalid("github.appInstallations[0].installations[0].installationId github.appInstallations[0].installations[0].name"), "apps are a list there")},
		{name: "of a group that has none", do: call{rpc: "GetAccountAssociation", target: "{group}"}, want: notFound("iam/AccountAssociation", "{group}")},
	},
	library: library{
		items: []item{
			{"a", "{shelf}", fields{"name": "delta"}}, {"b", "{side}", fields{"name": "alpha", "amazon": fields{"account": "1"}}},
			{"c", "{inner}", fields{"name": "charlie"}}, {"d", "{org}", fields{"name": "alpha", "description": "of the organization"}},
		},
		orders:    []order{{"name", "name"}, {"create_time", "createTime"}, {"update_time", "updateTime"}, {"uid", "uid"}},
		byDefault: "name",
		filters:   []filterCase{{fields{"name": "alpha"}, "b d"}, {fields{"name": "nope"}, ""}, {fields{"name": "alpha", "uidp.children_of": "{side}"}, "b"}},
	},
})

var (
	associationOfMissingIdentity = fields{"name": "one", "platform": fields{"serviceBindings": fields{"builds": "{group}/00000000000000ff"}}}
	associationWithoutNumber     = fields{"name": "one", "github": fields{"appInstallations": fields{"7": fields{"installations": []fields{{"installationId": "0", "name": "a\nb"}}}}}}
)
