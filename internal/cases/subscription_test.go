package cases

var subscriptions = newKind(kind{
	name: "Subscription", plural: "Subscriptions", ref: "subscription", area: "events", parent: "iam/Group", in: "{group}",
	minimal:        fields{"sink": "https://s{n}.example.com/"},
	full:           fields{"sink": "https://sink.example.com/x?y=z", "format": "SUBSCRIPTION_FORMAT_SLACK", "digest": "SUBSCRIPTION_DIGEST_HOURLY", "types": []string{"dev.atrium.api.iam.group.created.v1"}},
	requiredFields: "sink",
	shown:          fields{"uid": "<uid>", "createTime": "<time>", "updateTime": "<time>"},
	shownOnce:      fields{"secret": "<secret>"},
	badInputs: []badInput{
		{name: "an empty sink", fields: fields{"sink": ""}, violations: "sink"},
		{name: "a sink without TLS", fields: fields{"sink": "http://sink.example.com"}, violations: "sink"},
		{name: "a sink with a user", fields: fields{"sink": "https://a:b@sink.example.com"}, violations: "sink"},
		{name: "a sink on this machine", fields: fields{"sink": "https://127.0.0.1/"}, violations: "sink"},
		{name: "a sink of the inside", fields: fields{"sink": "https://db.internal/"}, violations: "sink"},
		{name: "an empty type", fields: fields{"types": []string{""}}, violations: "types[0]"},
		{name: "a type that no event has", fields: fields{"types": []string{"dev.atrium.api.iam.group.created.v1", "dev.atrium.api.iam.group.made.v1"}}, violations: "types[1]"},
		{name: "an unknown format", fields: fields{"format": "SUBSCRIPTION_FORMAT_FAX"}, violations: "format", typeErrors: typeError},
		{name: "an unknown digest", fields: fields{"digest": "SUBSCRIPTION_DIGEST_WEEKLY"}, violations: "digest", typeErrors: typeError},
		{name: "a digest of events for programs", fields: fields{"digest": "SUBSCRIPTION_DIGEST_DAILY"}, violations: "digest"},
		{name: "recipients of events for programs", fields: fields{"sink": "mailto:ada@example.com"}, violations: "sink"},
		{name: "recipients of messages for a chat", fields: fields{"sink": "mailto:ada@example.com", "format": "SUBSCRIPTION_FORMAT_TEAMS"}, violations: "sink"},
		{name: "mail without a mail server", fields: fields{"sink": "mailto:ada@example.com", "format": "SUBSCRIPTION_FORMAT_EMAIL"}, violations: "format"},
		{name: "a number as the sink", fields: fields{"sink": 7}, violations: "sink", typeErrors: typeError},
	},
	manyErrors: badInput{fields: fields{"types": []string{""}, "sink": "x"}, violations: "sink types[0]"},
	needs:      map[string]string{"digest": "format"},
	rows: []row{
		{name: "the default is not shown", do: call{rpc: "CreateSubscription", target: "{group}", fields: fields{"sink": "https://default.example.com/", "format": "SUBSCRIPTION_FORMAT_CLOUDEVENTS", "digest": "SUBSCRIPTION_DIGEST_IMMEDIATE"}},
			want: resource(fields{"uid": "<uid>", "sink": "https://default.example.com/", "createTime": "<time>", "updateTime": "<time>", "secret": "<secret>"})},
		{name: "test a missing one", do: testCall("{group}/00000000000000ff"), want: notFound("events/Subscription", "{group}/00000000000000ff")},
		{name: "test no UID", do: testCall("nope"), want: invalid("uid")},
	},
	extra: []call{testCall("{subscription}"), rotateSecret, enableSubscription},
	twin:  fields{"sink": "{subscription.sink}"}, misplaced: []string{"{repo}", "{role}"},

	library: library{
		items: []item{
			{"a", "{shelf}", fields{"sink": "https://a.example.com/"}}, {"b", "{shelf}", fields{"sink": "https://b.example.com/", "types": []string{"dev.atrium.api.iam.group.created.v1"}}},
			{"c", "{inner}", fields{"sink": "https://a.example.com/"}}, {"d", "{side}", fields{"sink": "https://d.example.com/"}},
		},
		orders:    []order{{"uid", "uid"}, {"create_time", "createTime"}, {"update_time", "updateTime"}},
		byDefault: "uid",
	},
})

func testCall(subscription string) call {
	return call{rpc: "TestSubscription", target: subscription, fields: fields{"uid": subscription}}
}

var (
	rotateSecret       = call{rpc: "RotateSubscriptionSecret", target: "{subscription}", fields: fields{"uid": "{subscription}"}}
	enableSubscription = call{rpc: "EnableSubscription", target: "{subscription}", fields: fields{"uid": "{subscription}"}}
)
