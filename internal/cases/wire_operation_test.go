package cases

// These rows are about the operations of package wire that belong to no kind.
var _ = newKind(kind{
	name: "WireOperation", ref: "question", area: "iam", in: "{group}", ownRights: true,
	put: func(e *env, group string, _ fields) fields {
		e.Helper()
		return e.mustCall(call{rpc: "GetGroup", target: group}).resource
	},
	rows: []row{
		{name: "audit log", do: call{rpc: "GetAuditLog", params: fields{"within": "{group}"}}, want: anySuccess{}},
		{name: "audit log of no UID", do: call{rpc: "GetAuditLog", params: fields{"within": "nope"}}, want: invalidIn("events", "within")},
		{name: "audit log of no kind", do: call{rpc: "GetAuditLog", params: fields{"within": "{group}", "kinds": []string{"IAM_GROUP_MADE"}}}, want: invalidIn("events", "kinds[0]"), instead: typedAnswer},
		{name: "audit log in numbers", do: call{rpc: "GetAuditLogSummary", target: "{group}", params: fields{"within": "{group}", "since": "2024-01-01T00:00:00.000Z", "until": "2024-02-01T00:00:00.000Z"}}, want: anySuccess{}},
		{name: "audit log in numbers, of no UID", do: call{rpc: "GetAuditLogSummary", target: "nope", params: fields{"within": "nope", "since": "2024-01-01T00:00:00.000Z"}}, want: invalidIn("events", "within")},
		{name: "events by day", do: askPlace("GetEventActivity", "{group}"), want: anySuccess{}},
		{name: "events of no UID", do: askPlace("GetEventActivity", "nope"), want: invalidIn("events", "within")},
		{name: "advisories by day", do: askPlace("GetAdvisoryActivity", "{group}"), want: anySuccess{}},
		{name: "advisories by state", do: askPlace("SummarizeAdvisories", "{group}"), want: anySuccess{}},
		{name: "exposure", do: call{rpc: "GetVulnerabilityExposure", params: fields{"id": "CVE-1900-1"}}, want: anySuccess{}},
		{name: "who can", do: call{rpc: "ListEffectiveRoleBindings", target: "{org}", params: fields{"page_size": 1}}, want: anySuccess{}},
		{name: "who can in a missing group", do: call{rpc: "ListEffectiveRoleBindings", target: "{org}/00000000000000ff"}, want: anySuccess{}, instead: inGraphQL(notFound("iam/Group", "{org}/00000000000000ff"), "the group is asked for")},
		{name: "what the caller may do", do: call{rpc: "GetEffectiveCapabilities", params: fields{"within": "{org}"}}, want: anySuccess{}},
		{name: "what the caller may do nowhere", do: call{rpc: "GetEffectiveCapabilities", params: fields{"within": "nope"}}, want: invalid("within")},
		{name: "access at a time", do: call{rpc: "GetAccessAt", params: fields{"within": "{org}", "time": "2024-01-01T00:00:00.000Z"}}, want: anySuccess{}},
		{name: "access of no group", do: call{rpc: "GetAccessAt", params: fields{"within": "nope", "time": "2024-01-01T00:00:00.000Z"}}, want: invalid("within")},
		{name: "changes of access", do: call{rpc: "GetAccessChanges", params: fields{"within": "{org}", "from": "2024-01-01T00:00:00.000Z", "to": "2999-01-01T00:00:00.000Z"}}, want: anySuccess{}},
		{name: "changes of access, backward", do: call{rpc: "GetAccessChanges", params: fields{"within": "{org}", "from": "2024-01-02T00:00:00.000Z", "to": "2024-01-01T00:00:00.000Z"}}, want: invalid("to")},
		{name: "confirm", do: call{rpc: "ConfirmRoleBindings", fields: fields{"roleBindings": []fields{{"uid": "{binding}"}}, "note": "fine"}}, want: anySuccess{}},
		{name: "confirm what never expires", do: call{rpc: "ConfirmRoleBindings", fields: fields{"roleBindings": []fields{{"uid": "{binding}", "neverExpires": true}}}}, want: anySuccess{}},
		{name: "confirm what never expires and does", do: call{rpc: "ConfirmRoleBindings", fields: fields{"roleBindings": []fields{{"uid": "{binding}", "neverExpires": true, "expireTime": "2999-01-01T00:00:00.000Z"}}}},
			want: invalid("requests[0].neverExpires"), instead: typedAnswer},
		{name: "confirm what is not so", do: call{rpc: "ConfirmRoleBindings", fields: fields{"roleBindings": []fields{{"uid": "{group}/00000000000000ff"}}, "note": "fine"}},
			want: failure{code: 5, resource: "iam/RoleBinding {group}/00000000000000ff", violations: "requests[0].uid"}},
		{name: "search", do: call{rpc: "Search", params: fields{"query": "org"}}, want: anySuccess{}},
		{name: "search for too much", do: call{rpc: "Search", params: fields{"query": "a b c d e f g h i j k l m n o p q"}}, want: invalid("query"), instead: inGraphQL(invalidIn("registry", "query"), "the search is in the area of what it finds most")},
		{name: "compare", do: call{rpc: "CompareImages", fields: fields{"from": fields{"repo": "{repo}", "digest": digest(1)}, "to": fields{"repo": "{repo}", "digest": digest(2)}}}, want: anySuccess{}},
		{name: "redeliver nothing", do: call{rpc: "Redeliver", target: "{group}/00000000000000ff/00000000000000ff", fields: fields{"uids": []string{"{group}/00000000000000ff/00000000000000ff"}}},
			want: failure{code: 5, area: "events", resource: "events/Delivery {group}/00000000000000ff/00000000000000ff"}},
		{name: "rotate a secret", do: call{rpc: "RotateSubscriptionSecret", target: "{subscription}", fields: fields{"uid": "{subscription}"}}, want: anySuccess{}},
		{name: "enable", do: call{rpc: "EnableSubscription", target: "{subscription}", fields: fields{"uid": "{subscription}"}}, want: anySuccess{}},
		{name: "update repos", do: call{rpc: "BatchUpdateRepos", fields: fields{"requests": []fields{{"repo": fields{"uid": "{repo}", "description": "changed"}}}}}, want: anySuccess{}},
		{name: "create tags", do: call{rpc: "BatchCreateTags", fields: fields{"requests": []fields{{"parent": "{repo}", "tag": fields{"name": "one", "digest": digest(1)}}, {"parent": "{repo}", "tag": fields{"name": "two", "digest": digest(1)}}}}}, want: anySuccess{}},
		{name: "create no tags", do: call{rpc: "BatchCreateTags", fields: fields{"requests": []fields{}}}, want: invalidIn("registry", "requests")},
		{name: "delete tags", do: deleteAll("BatchDeleteTags", "{tag}"), want: resource(fields{"uids": []string{"{tag}"}})},
		{name: "create identities", do: call{rpc: "BatchCreateIdentities", fields: fields{"requests": []fields{{"parent": "{group}", "identity": fields{"name": "batch-{n}"}}}}}, want: anySuccess{}},
		{name: "delete identities", do: deleteAll("BatchDeleteIdentities", "{identity}"), want: resource(fields{"uids": []string{"{identity}"}})},
		{name: "create invites", do: call{rpc: "BatchCreateGroupInvites", fields: fields{"requests": []fields{{"parent": "{group}", "groupInvite": fields{"roleUid": "{role}", "ttl": "3600s"}}}}}, want: anySuccess{}},
		{name: "delete invites", do: deleteAll("BatchDeleteGroupInvites", "{invite}"), want: resource(fields{"uids": []string{"{invite}"}})},
		{name: "delete bindings", do: deleteAll("BatchDeleteRoleBindings", "{binding}"), want: resource(fields{"uids": []string{"{binding}"}})},
		{name: "create subscriptions with conditions", do: call{rpc: "BatchCreateSubscriptions", fields: fields{"requests": []fields{{"parent": "{group}", "subscription": fields{"sink": "https://sink.example.com/{n}"}, "conditions": fields{"within": []string{"{group}"}}, "findings": fields{"knownExploited": true}}}}}, want: anySuccess{}},
		{name: "create subscriptions for what is elsewhere", do: call{rpc: "BatchCreateSubscriptions", fields: fields{"requests": []fields{{"parent": "{group}", "subscription": fields{"sink": "https://sink.example.com/{n}"}, "conditions": fields{"within": []string{"{org}"}}}}}},
			want: invalidIn("events", "requests[0].conditions.within[0]")},
		{name: "create subscriptions", do: call{rpc: "BatchCreateSubscriptions", fields: fields{"requests": []fields{{"parent": "{group}", "subscription": fields{"sink": "https://sink.example.com/{n}"}}}}}, want: anySuccess{}},
		{name: "delete subscriptions", do: deleteAll("BatchDeleteSubscriptions", "{subscription}"), want: resource(fields{"uids": []string{"{subscription}"}})},
	},
})

func deleteAll(rpc, uid string) call { return call{rpc: rpc, fields: fields{"uids": []string{uid}}} }

func invalidIn(area, violations string) failure {
	f := invalid(violations)
	f.area = area
	return f
}
