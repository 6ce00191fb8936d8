package cases

import (
	"fmt"
	"strings"
)

var _ = newKind(kind{
	name: "Tag", plural: "Tags", ref: "tag", area: "registry", parent: "registry/Repo", in: "{repo}",
	minimal:        fields{"name": "v{n}", "digest": digest(1)},
	full:           fields{"name": "latest", "digest": digest(2), "deprecated": true, "bundles": []string{"one"}},
	requiredFields: "name digest",
	shown:          fields{"uid": "<uid>", "updateTime": "<time>", "deprecated": false},
	badInputs: []badInput{
		{name: "an empty name", fields: fields{"name": ""}, violations: "name"},
		{name: "a name that begins with a dot", fields: fields{"name": ".a"}, violations: "name"},
		{name: "a name of 129 letters", fields: fields{"name": strings.Repeat("n", 129)}, violations: "name"},
		{name: "an empty digest", fields: fields{"digest": ""}, violations: "digest"},
		{name: "a digest of capitals", fields: fields{"digest": strings.ToUpper(digest(10))}, violations: "digest"},
		{name: "a text as deprecated", fields: fields{"deprecated": "yes"}, violations: "deprecated", typeErrors: typeError},
		{name: "a bundle of two lines", fields: fields{"bundles": []string{"a\nb"}}, violations: "bundles"},
	},
	manyErrors: badInput{fields: fields{"bundles": []string{""}, "digest": "x", "name": "a b"}, violations: "name digest bundles"},
	misplaced:  []string{"{group}", "{other tag}"},

	rows: []row{
		{name: "a name that is there moves the tag", do: call{rpc: "CreateTag", target: "{repo}", fields: fields{"name": "{tag.name}", "digest": digest(3), "deprecated": true}},
			want: expectedResource{like: "{tag}", with: fields{"digest": digest(3), "deprecated": true, "updateTime": "<time>"}}},
	},
	library: library{
		items: []item{
			{"a", "{shelf repo}", fields{"name": "delta", "digest": digest(1)}},
			{"b", "{shelf repo}", fields{"name": "alpha-20260327", "digest": digest(2), "deprecated": true}},
			{"c", "{inner repo}", fields{"name": "1.2.3-r4", "digest": digest(1)}},
			{"d", "{side repo}", fields{"name": "sha256-" + strings.Repeat("a", 64) + ".sig", "digest": digest(3)}},
			{"e", "{shelf repo}", fields{"name": "Latest", "digest": digest(1), "bundles": []string{"x", "y"}}},
		},
		orders:    []order{{"name", "name"}, {"create_time", "making"}, {"update_time", "updateTime"}, {"uid", "uid"}, {"digest", "digest"}, {"open_severity", "openSeverity"}},
		byDefault: "name",
		filters: []filterCase{
			{fields{"name": "delta"}, "a"}, {fields{"name": "latest"}, ""}, {fields{"digest": digest(1)}, "a c e"},
			{fields{"include_dates": false}, "a c d e"}, {fields{"include_epochs": false}, "a b d e"}, {fields{"include_referrers": false}, "a b c e"},
			{fields{"include_dates": false, "include_epochs": false, "include_referrers": false}, "a e"},
			{fields{"include_dates": true, "include_epochs": true, "include_referrers": true}, "a b c d e"},
			{fields{"updated_since": "2020-01-01T00:00:00Z"}, "a b c d e"}, {fields{"updated_since": "2100-01-01T00:00:00Z"}, ""},
		},
		badParams: []badInput{
			{name: "a digest that is none", fields: fields{"digest": "x"}, violations: "digest"},
			{name: "a time that is none", fields: fields{"updated_since": "yesterday"}, violations: "updated_since", typeErrors: typeError},
		},
	},
})

// digest returns the n-th of a sequence of digests.
func digest(n int) string { return fmt.Sprintf("sha256:%064x", n) }
