package cases

const allRecords = "https://osv-vulnerabilities.storage.googleapis.com/" // where OSV records are read by default

var _ = newKind(kind{
	name: "Source", plural: "Sources", ref: "source", area: "sources", parent: "iam/Group", in: "{group}",
	minimal: fields{"name": "source {n}", "type": "SOURCE_TYPE_OSV"},
	full: fields{
		"name": "advisories", "type": "SOURCE_TYPE_OSV", "url": "https://mirror.example.com/osv/", "ecosystems": []string{"Go", "Debian:12"},
		"interval": "7200s", "credentials": fields{"username": "reader"}, "paused": false,
	},
	requiredFields: "name type",
	derived:        map[string]func(any) fields{"credentials": shownCredentials},
	shown: fields{
		"uid": "<uid>", "createTime": "<time>", "updateTime": "<time>", "state": "SOURCE_STATE_WAITING", "nextRunTime": "<time>", "url": allRecords, "interval": "3600s",
		"prune": false, "paused": false, "failures": 0,
	},
	badInputs: append([]badInput{
		{name: "a type that organizations cannot have", fields: fields{"type": "SOURCE_TYPE_KEV"}, violations: "type", typeErrors: typeErrorInCreate},
		{name: "a URL without TLS", fields: fields{"url": "http://example.com/x.json"}, violations: "url"},
		{name: "a URL of the inside", fields: fields{"url": "https://10.0.0.1/x.json"}, violations: "url"},
		{name: "a URL with a user", fields: fields{"url": "https://a:b@example.com/x.json"}, violations: "url"},
		{name: "an empty ecosystem", fields: fields{"ecosystems": []string{""}}, violations: "ecosystems[0]"},
		{name: "an interval of a second", fields: fields{"interval": "1s"}, violations: "interval"},
		{name: "what the service sets", fields: fields{"credentials": fields{"hasPassword": true}}, violations: "credentials.hasPassword", typeErrors: typeError},
		{name: "an unknown member", fields: fields{"credentials": fields{"nope": 1}}, violations: "credentials.nope", typeErrors: typeError},
	}, badNames...),
	manyErrors: badInput{fields: fields{"interval": "1s", "url": "x", "ecosystems": []string{""}}, violations: "url ecosystems[0] interval"},
	twin:       fields{"name": "{source.name}"}, misplaced: []string{"{repo}", "{identity}"},
	changes: []change{
		{field: "name", to: "others", required: true}, {field: "url", to: "https://mirror.example.com/other/", cleared: fields{"url": allRecords}},
		{field: "ecosystems", to: []string{"npm"}}, {field: "interval", to: "60s", cleared: fields{"interval": "3600s"}},
		{field: "credentials", to: fields{"username": "other"}}, {field: "paused", to: false, cleared: fields{"paused": false}},
	},
	readOnlyField: "createTime",
	rows: append([]row{
		{name: "paused", do: updateSource("{full source}", fields{"paused": true}), want: expectedResource{like: "{full source}", with: fields{"paused": true, "updateTime": "<time>"}, without: []string{"nextRunTime"}}},
		{name: "a password, which is not shown", do: updateSource("{full source}", fields{"credentials": fields{"username": "reader", "password": "hush"}}),
			want: expectedResource{like: "{full source}", with: shownCredentials(fields{"username": "reader", "password": "hush"}).with(fields{"updateTime": "<time>"})}},
		{name: "a token", do: updateSource("{full source}", fields{"credentials": fields{"password": "hush"}}),
			want: expectedResource{like: "{full source}", with: shownCredentials(fields{"password": "hush"}).with(fields{"updateTime": "<time>"})}},
		{name: "no credentials", do: updateSource("{full source}", fields{"credentials": fields{}}),
			want: expectedResource{like: "{full source}", with: fields{"updateTime": "<time>"}, without: []string{"credentials"}}},
		{name: "documents without a URL", do: createSource(fields{"type": "SOURCE_TYPE_VEX"}), want: invalid("url")},
		{name: "ecosystems of documents", do: createSource(fields{"type": "SOURCE_TYPE_SBOM", "url": "https://example.com/x.json", "ecosystems": []string{"Go"}}), want: invalid("ecosystems")},
		{name: "ecosystems of an archive", do: createSource(fields{"type": "SOURCE_TYPE_OSV", "url": "https://example.com/x.zip", "ecosystems": []string{"Go"}}), want: invalid("ecosystems")},
		{name: "an archive of another with ecosystems", do: updateSource("{full source}", fields{"url": "https://mirror.example.com/all.zip"}), want: invalid("ecosystems")},
		{name: "run", do: runSource("{full source}"), want: expectedResource{like: "{full source}", with: fields{"nextRunTime": "<time>"}}},
		{name: "run a missing one", do: runSource("{group}/00000000000000ff"), want: notFound("sources/Source", "{group}/00000000000000ff")},
		{name: "run no UID", do: runSource("nope"), want: invalid("uid")},
		{name: "cancel one that is not read", do: cancelSource("{full source}"), want: expectedResource{like: "{full source}"}},
		{name: "cancel a missing one", do: cancelSource("{group}/00000000000000ff"), want: notFound("sources/Source", "{group}/00000000000000ff")},
		{name: "runs of one that was not read", do: runsOf("{full source}"), want: resource(fields{})},
		{name: "runs of a missing one", do: runsOf("{group}/00000000000000ff"), want: notFound("sources/Source", "{group}/00000000000000ff")},
	}, registryRows(change{field: "patterns", to: []string{"shop/*"}}, change{field: "prune", to: true})...),
	extra: []call{runSource("{source}"), cancelSource("{source}"), runsOf("{source}")},
	library: library{
		items: []item{
			{"a", "{shelf}", fields{"name": "delta", "type": "SOURCE_TYPE_OCI", "url": "https://registry.example.com/", "patterns": []string{"shop/*"}, "prune": true}},
			{"b", "{shelf}", fields{"name": "alpha", "type": "SOURCE_TYPE_SBOM", "url": "https://example.com/boms.zip"}},
			{"c", "{inner}", fields{"name": "charlie", "type": "SOURCE_TYPE_OSV", "url": "https://example.com/all.zip"}},
			{"d", "{side}", fields{"name": "alpha", "type": "SOURCE_TYPE_VEX", "url": "https://example.com/vex.json"}},
		},
		orders:    []order{{"name", "name"}, {"create_time", "createTime"}, {"update_time", "updateTime"}, {"uid", "uid"}},
		byDefault: "name",
		filters: []filterCase{
			{fields{"name": "alpha"}, "b d"}, {fields{"name": "nope"}, ""}, {fields{"type": "SOURCE_TYPE_OCI"}, "a"}, {fields{"state": "SOURCE_STATE_WAITING"}, "a b c d"},
			{fields{"state": "SOURCE_STATE_FAILED"}, ""},
		},
	},
})

// shownCredentials returns credentials as an answer shows them.
func shownCredentials(given any) fields {
	credentials, _ := given.(fields)
	return fields{"credentials": credentials.without("password").with(fields{"hasPassword": credentials["password"] != nil})}
}

func runSource(source string) call {
	return call{rpc: "RunSource", target: source, fields: fields{"uid": source}}
}

func cancelSource(source string) call {
	return call{rpc: "CancelSource", target: source, fields: fields{"uid": source}}
}

func runsOf(source string) call { return call{rpc: "GetSourceRuns", target: source} }

func updateSource(target string, changed fields) call {
	return call{rpc: "UpdateSource", target: target, fields: changed}
}

func createSource(given fields) call {
	return call{rpc: "CreateSource", target: "{group}", fields: fields{"name": "another"}.with(given)}
}

// registryRows refuses what only registries have for a source of records.
func registryRows(changes ...change) (rows []row) {
	for _, c := range changes {
		rows = append(rows, row{name: c.field + " of records", do: updateSource("{full source}", fields{c.field: c.to}), want: invalid(c.field)})
	}
	return rows
}
