package cases

// An acceptance has no UID: its group and its document identify it.
var _ = newKind(kind{
	name: "TermsAcceptance", plural: "TermsAcceptances", ref: "acceptance", area: "iam", parent: "iam/Group", in: "{group}", put: putAcceptance,
	minimal: fields{"docId": "terms-{n}"},
	extra:   []call{accept("{group}", "terms", "privacy")},
	rows: []row{
		{name: "accept", do: accept("{group}", "terms", "privacy"), want: expectAccepted("{group}", "terms", "privacy")},
		{name: "accept again", setup: []call{accept("{group}", "terms")}, do: accept("{group}", "privacy", "terms"), want: expectAccepted("{group}", "privacy", "terms")},
		{name: "accept nothing", do: accept("{group}"), want: invalid("documentIds")},
		{name: "accept what has no name", do: accept("{group}", "terms", "", "a\nb"), want: invalid("documentIds[1] documentIds[2]")},
		{name: "accept without documents", do: call{rpc: "AcceptTerms", target: "{group}", fields: fields{}}, want: invalid("documentIds"), instead: typedAnswer},
		{name: "accept a text", do: call{rpc: "AcceptTerms", target: "{group}", fields: fields{"documentIds": 7}}, want: invalid("documentIds"), instead: typedAnswer},
		{name: "accept with an unknown field", do: call{rpc: "AcceptTerms", target: "{group}", fields: fields{"documentIds": []string{"a"}, "nope": 1}},
			want: invalid("nope"), instead: typedAnswer},
		{name: "accept for a missing group", do: accept("{group}/00000000000000ff", "terms"), want: notFound("iam/Group", "{group}/00000000000000ff")},
		{name: "accept for no UID", do: accept("nope"), want: invalid("group documentIds")},

		{name: "of a group and those above it", setup: []call{accept("{group}", "b"), accept("{group group}", "c", "a")}, do: acceptances("{group group}"),
			want: expectedItems{acceptance("{group group}", "a"), acceptance("{group}", "b"), acceptance("{group group}", "c")}},
		{name: "of a group and not those below it", setup: []call{accept("{group}", "b"), accept("{group group}", "c", "a")}, do: acceptances("{group}"),
			want: expectedItems{acceptance("{group}", "b")}},
		{name: "of a group twice", setup: []call{accept("{group}", "a"), accept("{group}", "a", "a")}, do: acceptances("{group}"),
			want: expectedItems{acceptance("{group}", "a")}},
		{name: "of a missing group", do: acceptances("{group}/00000000000000ff"), want: notFound("iam/Group", "{group}/00000000000000ff")},
		{name: "of no UID", do: acceptances("nope"), want: invalid("group")},
	},
	library: library{
		parent: "{inner}", otherParent: "{shelf}",
		items: []item{
			{"a", "{shelf}", fields{"docId": "delta"}}, {"b", "{org}", fields{"docId": "alpha"}},
			{"c", "{inner}", fields{"docId": "charlie"}}, {"d", "{inner}", fields{"docId": "beta"}},
		},
		orders:    []order{{"doc_id", "docId"}, {"create_time", "createTime"}},
		byDefault: "doc_id",
	},
})

func accept(group string, documents ...string) call {
	if documents == nil {
		documents = []string{}
	}
	return call{rpc: "AcceptTerms", target: group, fields: fields{"documentIds": documents}}
}

func acceptances(group string) call { return call{rpc: "ListTermsAcceptances", target: group} }

func expectAccepted(group string, documents ...string) expectedResource {
	return resource(fields{"group": group, "documentIds": documents})
}

func acceptance(group, document string) fields {
	return fields{"docId": document, "acceptedBy": "{owner}", "orgUid": group, "createTime": "<time>"}
}

// putAcceptance accepts one document and reads the acceptance from the list of the group.
func putAcceptance(e *env, group string, given fields) fields {
	e.Helper()
	document := given["docId"].(string)
	e.mustCall(accept(group, document))
	for _, it := range e.mustCall(acceptances(group)).items {
		if it["docId"] == document {
			return it
		}
	}
	return given // beyond the first page
}
