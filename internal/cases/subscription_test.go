package cases

var subscriptions = newKind(kind{
	name: "Subscription", plural: "Subscriptions", ref: "subscription", area: "events", parent: "iam/Group", in: "{group}",
	minimal:        fields{"sink": "https://s{n}.example.com/"},
	full:           fields{"sink": "https://sink.example.com/x?y=z", "types": []string{"dev.atrium.api.iam.group.created.v1"}},
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
		{name: "a number as the sink", fields: fields{"sink": 7}, violations: "sink", typeErrors: typeError},
	},
	manyErrors: badInput{fields: fields{"types": []string{""}, "sink": "x"}, violations: "sink types[0]"},
	twin:       fields{"sink": "{subscription.sink}"}, misplaced: []string{"{repo}", "{role}"},

	library: library{
		items: []item{
			{"a", "{shelf}", fields{"sink": "https://a.example.com/"}}, {"b", "{shelf}", fields{"sink": "https://b.example.com/", "types": []string{"dev.atrium.api.iam.group.created.v1"}}},
			{"c", "{inner}", fields{"sink": "https://a.example.com/"}}, {"d", "{side}", fields{"sink": "https://d.example.com/"}},
		},
		orders:    []order{{"uid", "uid"}, {"create_time", "createTime"}, {"update_time", "updateTime"}},
		byDefault: "uid",
	},
})
