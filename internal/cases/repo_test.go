package cases

import (
	"fmt"
	"slices"
	"strings"
)

var _ = newKind(kind{
	name: "Repo", plural: "Repos", ref: "repo", area: "registry", parent: "iam/Group", in: "{group}",
	minimal: fields{"name": "repo-{n}"},
	full: fields{
		"name": "base/static", "description": "Nothing in it", "catalogTier": "CATALOG_TIER_BASE", "bundles": []string{"one", "two"},
		"aliases": []string{"static"}, "activeTags": []string{"latest"},
		"sync_config": fullSync, "labels": fields{"team": "payments", "example.com/cost-center": "42", "pci": ""},
	},
	requiredFields: "name",
	shown:          fields{"uid": "<uid>", "createTime": "<time>", "updateTime": "<time>"},
	derived:        map[string]func(any) fields{"sync_config": withSync},
	badInputs: append([]badInput{
		{name: "an empty name", fields: fields{"name": ""}, violations: "name"},
		{name: "a name with a space", fields: fields{"name": "a b"}, violations: "name"},
		{name: "a name that ends in a slash", fields: fields{"name": "a/"}, violations: "name"},
		{name: "a name of 256 letters", fields: fields{"name": strings.Repeat("n", 256)}, violations: "name"},
		{name: "an unknown tier", fields: fields{"catalogTier": "CATALOG_TIER_NONE"}, violations: "catalogTier", typeErrors: typeError},
		{name: "an empty bundle", fields: fields{"bundles": []string{""}}, violations: "bundles"},
		{name: "an alias of two lines", fields: fields{"aliases": []string{"a", "a\nb"}}, violations: "aliases"},
		{name: "more than 64 KiB of aliases", fields: fields{"aliases": slices.Repeat([]string{strings.Repeat("a", 512)}, 129)}, violations: "aliases"},
		{name: "a label whose key is two words", fields: fields{"labels": fields{"a b": "x"}}, violations: "labels"},
		{name: "a label whose value ends in a dot", fields: fields{"labels": fields{"a": "x."}}, violations: "labels"},
		{name: "a label of two lines", fields: fields{"labels": fields{"a": "x\ny"}}, violations: "labels"},
		{name: "a label without a key", fields: fields{"labels": fields{"": "x"}}, violations: "labels"},
		{name: "a label with a key of 64 letters", fields: fields{"labels": fields{strings.Repeat("k", 64): "x"}}, violations: "labels"},
		{name: "65 labels", fields: fields{"labels": manyLabels(65)}, violations: "labels"},
		{name: "1001 active tags", fields: fields{"activeTags": strings.Split(strings.Repeat("a,", 1000)+"a", ",")}, violations: "activeTags"},
		{name: "a sync without a source", fields: fields{"sync_config": fields{"source": ""}}, violations: "sync_config.source"},
		{name: "an unknown member of the sync", fields: fields{"sync_config": fields{"source": "x", "nope": 1}}, violations: "sync_config.nope", typeErrors: typeError},
	}, badDescriptions...),
	manyErrors: badInput{fields: fields{"sync_config": fields{"source": ""}, "aliases": []string{""}, "description": "a\nb", "name": "A"},
		violations: "name description aliases sync_config.source"},
	twin: fields{"name": "{repo.name}"}, misplaced: []string{"{other repo}", "{identity}"},
	changes: []change{
		{field: "name", to: "dynamic", required: true}, {field: "description", to: "All in it"}, {field: "catalogTier", to: "CATALOG_TIER_AI"},
		{field: "bundles", to: []string{"three"}}, {field: "aliases", to: []string{"x", "y"}}, {field: "activeTags", to: []string{"1"}},
		{field: "sync_config", to: fields{"source": "elsewhere"}}, {field: "labels", to: fields{"team": "risk"}},
	},
	readOnlyField: "createTime",

	rows: []row{
		{name: "delete one with a tag in it", setup: []call{{rpc: "CreateTag", target: "{repo}", fields: fields{"name": "latest", "digest": digest(1)}}},
			do: call{rpc: "DeleteRepo", target: "{repo}"}, want: blockedFailure("RESOURCE_NOT_EMPTY")},

		{name: "a part of the sync by mask, others not", do: updateSync(fields{"source": "elsewhere", "google": "other"}, "sync_config.source"),
			want: expectSyncedRepo(fullSync.with(fields{"source": "elsewhere"}))},
		{name: "a part of the sync by mask in camel case", do: updateSync(fields{"source": "elsewhere", "google": "other"}, "syncConfig.source"),
			want: expectSyncedRepo(fullSync.with(fields{"source": "elsewhere"}))},
		{name: "a part of the sync that is absent is cleared", do: updateSync(fields{"source": "elsewhere"}, "sync_config.google"),
			want: expectSyncedRepo(fullSync.without("google"))},
		{name: "the source of the sync is needed", do: updateSync(fields{"source": ""}, "sync_config.source"), want: invalid("sync_config.source")},
		{name: "a mask of what is no part of the sync", do: updateSync(fields{"source": "elsewhere"}, "sync_config.nope"), want: invalid("updateMask")},

		{name: "one label by mask, others not", do: updateLabels(fields{"team": "risk", "pci": "no"}, "labels.team"),
			want: expectLabels(fields{"team": "risk", "example.com/cost-center": "42", "pci": ""})},
		{name: "a label that is absent is removed", do: updateLabels(fields{}, "labels.pci"),
			want: expectLabels(fields{"team": "payments", "example.com/cost-center": "42"})},
		{name: "a label with a dot in its key", do: updateLabels(fields{"example.com/cost-center": "7"}, "labels.`example.com/cost-center`"),
			want: expectLabels(fields{"team": "payments", "example.com/cost-center": "7", "pci": ""})},
		{name: "a new label by mask is checked", do: updateLabels(fields{"a b": "x"}, "labels.`a b`"), want: invalid("labels")},

		{name: "no readme yet", do: call{rpc: "GetRepoReadme", target: "{repo}"}, want: resource(fields{"uid": "{repo}"})},
		{name: "a readme", setup: []call{readme("# Hello\n")}, do: call{rpc: "GetRepoReadme", target: "{repo}"},
			want: resource(fields{"uid": "{repo}", "content": "# Hello\n"})},
		{name: "readme of a missing repo", do: call{rpc: "GetRepoReadme", target: "{group}/00000000000000ff"}, want: notFound("registry/Repo", "{group}/00000000000000ff")},
		{name: "readme of no UID", do: call{rpc: "GetRepoReadme", target: "nope"}, want: invalid("uid")},
		{name: "change a readme", setup: []call{readme("a")}, do: readme("b"), want: resource(fields{"uid": "{repo}", "content": "b"})},
		{name: "change a readme by mask", setup: []call{readme("a")}, do: readme("b", "content"), want: resource(fields{"uid": "{repo}", "content": "b"})},
		{name: "change a readme by *", setup: []call{readme("a")}, do: readme("b", "*"), want: resource(fields{"uid": "{repo}", "content": "b"})},
		{name: "null clears a readme", setup: []call{readme("a")}, do: readme(nil), want: resource(fields{"uid": "{repo}"})},
		{name: "change nothing of a readme", setup: []call{readme("a")}, do: call{rpc: "UpdateRepoReadme", target: "{repo}", fields: fields{}},
			want: resource(fields{"uid": "{repo}", "content": "a"})},
		{name: "a mask that no readme has", do: readme("b", "nope"), want: invalid("updateMask")},
		{name: "a readme of 256 KiB and a byte", do: readme(strings.Repeat("a", 256<<10+1)), want: invalid("content")},
		{name: "a readme with U+0000", do: readme("a\x00"), want: invalid("content")},
		{name: "an unknown field of a readme", do: call{rpc: "UpdateRepoReadme", target: "{repo}", fields: fields{"nope": 1}}, want: invalid("nope"), instead: typedAnswer},
		{name: "change the readme of a missing repo", do: call{rpc: "UpdateRepoReadme", target: "{group}/00000000000000ff", fields: fields{"content": "b"}},
			want: notFound("registry/Repo", "{group}/00000000000000ff")},
		{name: "change the readme of no UID", do: call{rpc: "UpdateRepoReadme", target: "nope", fields: fields{"content": "b"}}, want: invalid("uid")},
	},
	extra: []call{{rpc: "GetRepoReadme", target: "{repo}"}, readme("# Hello")},
	library: library{
		items: []item{
			{"a", "{shelf}", fields{"name": "delta", "description": "Σίσυφος", "labels": fields{"env": "test"}}}, {"b", "{shelf}", repoInFull},
			{"c", "{inner}", fields{"name": "charlie"}}, {"d", "{side}", fields{"name": "alpha", "description": "ΣΊΣΥΦΟΣ"}},
			{"e", "{org}", fields{"name": "0"}}, {"f", "{shelf}", fields{"name": "foxtrot", "labels": fields{"env": "prod"}}}, {"g", "{shelf}", fields{"name": "a-z"}},
		},
		orders:    []order{{"name", "name"}, {"create_time", "createTime"}, {"update_time", "updateTime"}, {"uid", "uid"}, {"open_severity", "openSeverity"}},
		byDefault: "name",
		filters: []filterCase{{fields{"name": "alpha"}, "b d"}, {fields{"name": "alpha", "uidp.descendants_of": "{shelf}"}, "b"}, {fields{"name": "nope"}, ""},
			{fields{"query": "Σίσυφος"}, "a d"}, {fields{"query": "ΣΊΣΥΦΟΣ"}, "a d"}, {fields{"query": "σίσυφο"}, "a d"}, {fields{"query": "σι"}, ""},
			{fields{"query": "ALPH"}, "b d"}, {fields{"query": "first alpha"}, "b"}, {fields{"query": "fi"}, "b"}, {fields{"query": "rst"}, "b"}, {fields{"query": "st"}, ""},
			{fields{"tiers": []string{"CATALOG_TIER_AI", "CATALOG_TIER_BASE"}}, "b"}, {fields{"tiers": []string{"CATALOG_TIER_BASE"}}, ""},
			{fields{"bundles": []string{"y", "x"}}, "b"}, {fields{"aliases": []string{"one"}}, "b"}, {fields{"aliases": []string{"ONE"}}, ""},
			{fields{"aliases": []string{"one"}, "query": "alpha"}, "b"},
			{fields{"labels": []string{"env=prod"}}, "b f"}, {fields{"labels": []string{"env"}}, "a b f"}, {fields{"labels": []string{"env=prod", "pci"}}, "b"},
			{fields{"labels": []string{"env=prod"}, "uidp.descendants_of": "{inner}"}, ""}, {fields{"labels": []string{"env="}}, ""}, {fields{"labels": []string{"ENV=prod"}}, ""}},
		badParams: []badInput{
			{name: "a query of blanks", fields: fields{"query": "  "}, violations: "query"},
			{name: "a query of two lines", fields: fields{"query": "a\nb"}, violations: "query"},
			{name: "a query of 17 words", fields: fields{"query": strings.Repeat("a ", 17)}, violations: "query"},
			{name: "an unknown tier", fields: fields{"tiers": []string{"x"}}, violations: "tiers", typeErrors: typeError},
			{name: "a bundle of two lines", fields: fields{"bundles": []string{"a\nb"}}, violations: "bundles"},
			{name: "a label without a key", fields: fields{"labels": []string{"=x"}}, violations: "labels"},
			{name: "a label of two lines", fields: fields{"labels": []string{"a=x\ny"}}, violations: "labels"},
			{name: "17 labels", fields: fields{"labels": strings.Fields(strings.Repeat("a ", 17))}, violations: "labels"},
			{name: "an alias without a letter", fields: fields{"aliases": []string{""}}, violations: "aliases"},
		},
	},
})

var repoInFull = fields{"name": "alpha", "description": "first", "catalogTier": "CATALOG_TIER_AI", "bundles": []string{"x"}, "aliases": []string{"one", "two"}, "sync_config": fields{"source": "s"}, "labels": fields{"env": "prod", "pci": ""}}

// withSync adds the fields of a sync that are always shown.
func withSync(given any) fields {
	config, _ := given.(fields)
	if config == nil {
		return nil
	}
	return fields{"sync_config": config.with(fields{"uniqueTags": false, "gracePeriod": false})}
}

var fullSync = fields{"source": "{org}", "google": "g", "amazon": "a", "azure": "z"}

func updateSync(config fields, mask ...string) call {
	return call{rpc: "UpdateRepo", target: "{full repo}", fields: fields{"sync_config": config}, mask: mask}
}

// expectSyncedRepo expects the full repo after a change of its sync.
func expectSyncedRepo(config fields) expectedResource {
	return expectedResource{like: "{full repo}", with: withSync(config).with(fields{"updateTime": "<time>"})}
}

// updateLabels changes labels of the full repo.
func updateLabels(labels fields, mask ...string) call {
	return call{rpc: "UpdateRepo", target: "{full repo}", fields: fields{"labels": labels}, mask: mask}
}

func expectLabels(labels fields) expectedResource {
	return expectedResource{like: "{full repo}", with: fields{"labels": labels, "updateTime": "<time>"}}
}

// manyLabels returns n labels.
func manyLabels(n int) fields {
	labels := fields{}
	for i := range n {
		labels[fmt.Sprintf("key-%d", i)] = "x"
	}
	return labels
}

func readme(content any, mask ...string) call {
	return call{rpc: "UpdateRepoReadme", target: "{repo}", fields: fields{"content": content}, mask: mask}
}
