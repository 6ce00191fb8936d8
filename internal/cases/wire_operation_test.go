package cases

// These rows are about the operations of package wire that belong to no kind.
var _ = newKind(kind{
	name: "WireOperation", ref: "question", area: "iam", in: "{group}", ownRights: true,
	put: func(e *env, group string, _ fields) fields {
		e.Helper()
		return e.mustCall(call{rpc: "GetGroup", target: group}).resource
	},
	extra: []call{
		updateRepo, createTags, createIdentities, createInvites, createSubscriptions,
		deleteAll("BatchDeleteTags", "{tag}"), deleteAll("BatchDeleteIdentities", "{identity}"), deleteAll("BatchDeleteGroupInvites", "{invite}"),
		deleteAll("BatchDeleteRoleBindings", "{binding}"), deleteAll("BatchDeleteSubscriptions", "{subscription}"),
	},
	rows: []row{
		{name: "audit log", do: askPlace("GetAuditLog", "{group}"), want: having{"events": []fields{{"type": "dev.atrium.api.iam.group.created.v1", "subject": "{group}", "time": "<time>", "count": 1}}}},
		{name: "audit log of no UID", do: call{rpc: "GetAuditLog", params: fields{"within": "nope"}}, want: invalidIn("events", "within")},
		{name: "audit log of no kind", do: call{rpc: "GetAuditLog", params: fields{"within": "{group}", "kinds": []string{"IAM_GROUP_MADE"}}}, want: invalidIn("events", "kinds[0]"), instead: typedAnswer},
		{name: "audit log in runs", do: askPlace("GetAuditLogRuns", "{group}"), want: having{"runs": []fields{{"newest": fields{"type": "dev.atrium.api.iam.group.created.v1", "subject": "{group}", "count": 1}, "oldestTime": "<time>", "count": 1}}}},
		{name: "audit log in runs, of no UID", do: askPlace("GetAuditLogRuns", "nope"), want: invalidIn("events", "within")},
		{name: "audit log in runs, after no event", do: call{rpc: "GetAuditLogRuns", target: "{group}", params: fields{"within": "{group}", "page_token": "nope"}}, want: invalidIn("events", "page_token"), instead: typedAnswer},
		{name: "audit log in numbers", do: call{rpc: "GetAuditLogSummary", target: "{group}", params: fields{"within": "{group}", "since": "2024-01-01T00:00:00.000Z", "until": "2024-02-01T00:00:00.000Z"}}, want: having{"made": 0, "refused": 0, "complete": true}},
		{name: "audit log in numbers, of no UID", do: call{rpc: "GetAuditLogSummary", target: "nope", params: fields{"within": "nope", "since": "2024-01-01T00:00:00.000Z"}}, want: invalidIn("events", "within")},
		{name: "events by day", do: askPlace("GetEventActivity", "{group}"), want: having{"activity": []fields{{"time": "<time>", "denials": 0}}}},
		{name: "events of no UID", do: askPlace("GetEventActivity", "nope"), want: invalidIn("events", "within")},
		{name: "advisories by day", do: askPlace("GetAdvisoryActivity", "{group}"), want: having{"activity": []fields{{"time": "<time>", "opened": 0, "fixed": 0}}}},
		{name: "advisories by state", do: askPlace("SummarizeAdvisories", "{group}"), want: having{"open": fields{"total": 0}, "fixed": fields{"total": 0}, "notAffected": fields{"total": 0}}},
		{name: "exposure", do: call{rpc: "GetVulnerabilityExposure", params: fields{"id": "CVE-1900-1"}}, want: having{"name": "CVE-1900-1", "names": []string{"CVE-1900-1"}}},
		{name: "who can", do: call{rpc: "ListEffectiveRoleBindings", target: "{org}", params: fields{"page_size": 1}}, want: having{"uid": "<uid>", "group": fields{"uid": "{org}"}, "role": fields{"name": "owner"}}},
		{name: "who can in a missing group", do: call{rpc: "ListEffectiveRoleBindings", target: "{org}/00000000000000ff"}, want: having{"uid": "<uid>", "group": fields{"uid": "{org}"}, "role": fields{"name": "owner"}}, instead: inGraphQL(notFound("iam/Group", "{org}/00000000000000ff"), "the group is asked for")},
		{name: "what the caller may do", do: call{rpc: "GetEffectiveCapabilities", params: fields{"within": "{org}"}}, want: having{"capabilities": []string{"CAP_IAM_GROUPS_DELETE"}}},
		{name: "what the caller may do nowhere", do: call{rpc: "GetEffectiveCapabilities", params: fields{"within": "nope"}}, want: invalid("within")},
		{name: "access at a time", do: accessAt("{org}"), want: having{"grants": []fields{}}},
		{name: "access of no group", do: accessAt("nope"), want: invalid("within")},
		{name: "changes of access", do: accessChanges("{org}"), want: having{"changes": []fields{{"after": fields{"groupUid": "{org}", "roleName": "owner"}}}}},
		{name: "changes of access, backward", do: call{rpc: "GetAccessChanges", params: fields{"within": "{org}", "from": "2024-01-02T00:00:00.000Z", "to": "2024-01-01T00:00:00.000Z"}}, want: invalid("to")},
		{name: "confirm", do: call{rpc: "ConfirmRoleBindings", fields: fields{"roleBindings": []fields{{"uid": "{binding}"}}, "note": "fine"}}, want: having{"roleBindings": []fields{{"uid": "{binding}"}}}},
		{name: "confirm what never expires", do: call{rpc: "ConfirmRoleBindings", fields: fields{"roleBindings": []fields{{"uid": "{binding}", "neverExpires": true}}}}, want: having{"roleBindings": []fields{{"uid": "{binding}"}}}},
		{name: "confirm what never expires and does", do: call{rpc: "ConfirmRoleBindings", fields: fields{"roleBindings": []fields{{"uid": "{binding}", "neverExpires": true, "expireTime": "2999-01-01T00:00:00.000Z"}}}},
			want: invalid("requests[0].neverExpires"), instead: typedAnswer},
		{name: "confirm what is not so", do: call{rpc: "ConfirmRoleBindings", fields: fields{"roleBindings": []fields{{"uid": "{group}/00000000000000ff"}}, "note": "fine"}},
			want: failure{code: 5, resource: "iam/RoleBinding {group}/00000000000000ff", violations: "requests[0].uid"}},
		{name: "search", do: call{rpc: "Search", params: fields{"query": "{group.name}", "within": "{org}"}}, want: having{"hits": []fields{{"uid": "{group}", "name": "{group.name}"}}}},
		{name: "search for too much", do: call{rpc: "Search", params: fields{"query": "a b c d e f g h i j k l m n o p q"}}, want: invalid("query"), instead: inGraphQL(invalidIn("registry", "query"), "the search is in the area of what it finds most")},
		{name: "compare", do: call{rpc: "CompareImages", fields: fields{"from": fields{"repo": "{repo}", "digest": digest(1)}, "to": fields{"repo": "{repo}", "digest": digest(2)}}}, want: having{"addedCount": 0, "removedCount": 0, "changedCount": 0, "findingsGoneCount": 0, "findingsNewCount": 0}},
		{name: "check", do: call{rpc: "CheckImage", params: fields{"image": "{repo}@" + digest(1), "failOn": "SEVERITY_RATING_HIGH", "fixableOnly": "true"}}, want: having{"verdict": "CHECK_VERDICT_NOT_KNOWN"}},
		{name: "check no image", do: call{rpc: "CheckImage", params: fields{"image": "nope"}}, want: invalidIn("vulnerabilities", "image")},
		{name: "check since a tag", do: call{rpc: "CheckImage", params: fields{"image": "{repo}@" + digest(1), "newSince": "none"}}, want: having{"verdict": "CHECK_VERDICT_NOT_KNOWN"}},
		{name: "redeliver nothing", do: call{rpc: "Redeliver", target: "{group}/00000000000000ff/00000000000000ff", fields: fields{"uids": []string{"{group}/00000000000000ff/00000000000000ff"}}},
			want: failure{code: 5, area: "events", resource: "events/Delivery {group}/00000000000000ff/00000000000000ff"}},
		{name: "rotate a secret", do: rotateSecret, want: having{"uid": "{subscription}", "secret": "<secret>"}},
		{name: "enable", do: enableSubscription, want: having{"uid": "{subscription}", "sink": "{subscription.sink}"}},
		{name: "update repos", do: updateRepo, want: having{"repos": []fields{{"uid": "{repo}", "description": "changed"}}}},
		{name: "create tags", do: createTags, want: having{"tags": []fields{{"name": "one", "digest": digest(1)}, {"name": "two", "digest": digest(1)}}}},
		{name: "create no tags", do: call{rpc: "BatchCreateTags", fields: fields{"requests": []fields{}}}, want: invalidIn("registry", "requests")},
		{name: "delete tags", do: deleteAll("BatchDeleteTags", "{tag}"), want: resource(fields{"uids": []string{"{tag}"}})},
		{name: "create identities", do: createIdentities, want: having{"identities": []fields{{"uid": "<uid>", "createTime": "<time>"}}}},
		{name: "delete identities", do: deleteAll("BatchDeleteIdentities", "{identity}"), want: resource(fields{"uids": []string{"{identity}"}})},
		{name: "create invites", do: createInvites, want: having{"groupInvites": []fields{{"uid": "<uid>", "roleUid": "{role}"}}}},
		{name: "delete invites", do: deleteAll("BatchDeleteGroupInvites", "{invite}"), want: resource(fields{"uids": []string{"{invite}"}})},
		{name: "delete bindings", do: deleteAll("BatchDeleteRoleBindings", "{binding}"), want: resource(fields{"uids": []string{"{binding}"}})},
		{name: "create subscriptions with conditions", do: call{rpc: "BatchCreateSubscriptions", fields: fields{"requests": []fields{{"parent": "{group}", "subscription": fields{"sink": "https://sink.example.com/{n}"}, "conditions": fields{"within": []string{"{group}"}}, "findings": fields{"knownExploited": true}}}}}, want: having{"subscriptions": []fields{{"uid": "<uid>", "createTime": "<time>"}}}},
		{name: "create subscriptions for what is elsewhere", do: call{rpc: "BatchCreateSubscriptions", fields: fields{"requests": []fields{{"parent": "{group}", "subscription": fields{"sink": "https://sink.example.com/{n}"}, "conditions": fields{"within": []string{"{org}"}}}}}},
			want: invalidIn("events", "requests[0].conditions.within[0]")},
		{name: "create subscriptions", do: createSubscriptions, want: having{"subscriptions": []fields{{"uid": "<uid>", "createTime": "<time>"}}}},
		{name: "delete subscriptions", do: deleteAll("BatchDeleteSubscriptions", "{subscription}"), want: resource(fields{"uids": []string{"{subscription}"}})},
	},
})

func deleteAll(rpc, uid string) call {
	return call{rpc: rpc, target: uid, fields: fields{"uids": []string{uid}}}
}

func accessAt(within string) call {
	return call{rpc: "GetAccessAt", target: within, params: fields{"within": within, "time": "2024-01-01T00:00:00.000Z"}}
}

func accessChanges(within string) call {
	return call{rpc: "GetAccessChanges", target: within, params: fields{"within": within, "from": "2024-01-01T00:00:00.000Z", "to": "2999-01-01T00:00:00.000Z"}}
}

var (
	updateRepo = call{rpc: "BatchUpdateRepos", target: "{repo}", fields: fields{"requests": []fields{{"repo": fields{"uid": "{repo}", "description": "changed"}}}}}
	createTags = call{rpc: "BatchCreateTags", target: "{repo}", fields: fields{"requests": []fields{
		{"parent": "{repo}", "tag": fields{"name": "one", "digest": digest(1)}}, {"parent": "{repo}", "tag": fields{"name": "two", "digest": digest(1)}},
	}}}
	createIdentities    = call{rpc: "BatchCreateIdentities", target: "{group}", fields: fields{"requests": []fields{{"parent": "{group}", "identity": fields{"name": "batch-{n}"}}}}}
	createInvites       = call{rpc: "BatchCreateGroupInvites", target: "{group}", fields: fields{"requests": []fields{{"parent": "{group}", "groupInvite": fields{"roleUid": "{role}", "ttl": "3600s"}}}}}
	createSubscriptions = call{rpc: "BatchCreateSubscriptions", target: "{group}", fields: fields{"requests": []fields{{"parent": "{group}", "subscription": fields{"sink": "https://sink.example.com/{n}"}}}}}
)

func invalidIn(area, violations string) failure {
	f := invalid(violations)
	f.area = area
	return f
}
