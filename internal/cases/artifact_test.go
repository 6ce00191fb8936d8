package cases

import (
	"encoding/json"

	"atrium/platform/libraries"
)

var _ = newKind(kind{
	name: "Artifact", plural: "Artifacts", ref: "artifact", area: "libraries", put: putArtifact,
	minimal: fields{"name": "library-{n}", "ecosystem": "ECOSYSTEM_PYTHON", "description": "on the shelf"},
	full:    fields{"name": "com.example:library-{n}", "ecosystem": "ECOSYSTEM_JAVA", "description": "With versions"},
	extra:   []call{counts("ECOSYSTEM_JAVA", "ECOSYSTEM_PYTHON")},
	rows: []row{
		{name: "counts, each once and in order", do: counts("ECOSYSTEM_PYTHON", "ECOSYSTEM_JAVA", "ECOSYSTEM_PYTHON"),
			want: resource(fields{"counts": []fields{count("ECOSYSTEM_JAVA"), count("ECOSYSTEM_PYTHON")}})},
		{name: "the count of one", do: counts("ECOSYSTEM_PYTHON"), want: resource(fields{"counts": []fields{count("ECOSYSTEM_PYTHON")}})},
		{name: "counts of nothing", do: call{rpc: "GetArtifactCount"}, want: invalid("ecosystems"), instead: typedAnswer},
		{name: "counts of what is none", do: counts("ECOSYSTEM_JAVA", "ECOSYSTEM_COBOL"), want: invalid("ecosystems"), instead: typedAnswer},
		{name: "counts of all others", do: counts("ECOSYSTEM_UNSPECIFIED"), want: invalid("ecosystems"), instead: typedAnswer},
	},
	library: library{
		hasNoScopes: true, params: fields{"ecosystems": []string{"ECOSYSTEM_PYTHON", "ECOSYSTEM_JAVA"}, "query": "on the shelf"},
		items: []item{
			{"a", "", fields{"name": "numpy", "ecosystem": "ECOSYSTEM_PYTHON", "description": "Numbers of Σίσυφος on the shelf", "remediated": true,
				"versions": []fields{{"version": "1.9"}, {"version": "1.10"}, {"version": "1.11rc1"}}}},
			{"b", "", fields{"name": "com.google.guava:guava", "ecosystem": "ECOSYSTEM_JAVA", "description": "Collections ON THE SHELF",
				"versions": []fields{{"version": "33.4.8-jre"}}}},
			{"c", "", fields{"name": "numpy", "ecosystem": "ECOSYSTEM_JAVA", "description": "Not on the shelf"}},
			{"d", "", fields{"name": "torch", "ecosystem": "ECOSYSTEM_PYTHON", "description": "Tensors of ΣΊΣΥΦΟΣ on the shelf", "cudaVersion": "12.8"}},
		},
		orders:    []order{{"name", "name"}, {"create_time", "createTime"}, {"update_time", "updateTime"}, {"uid", "uid"}},
		byDefault: "name",
		filters: []filterCase{
			{fields{"ecosystems": []string{"ECOSYSTEM_PYTHON"}}, "a d"}, {fields{"ecosystems": []string{"ECOSYSTEM_JAVA", "ECOSYSTEM_JAVA"}}, "b c"},
			{fields{"query": "NUMBERS of"}, "a"}, {fields{"query": "Σίσυφος"}, "a d"}, {fields{"query": "ΣΊΣΥΦΟΣ"}, "a d"}, {fields{"query": "guava"}, "b"}, {fields{"query": "%"}, ""}, {fields{"query": "nope"}, ""},
			{fields{"cuda_version": "12.8"}, "d"}, {fields{"cuda_version": "12"}, ""},
			{fields{"remediated": true}, "a"}, {fields{"remediated": false}, "a b c d"}, {fields{"remediated": true, "ecosystems": []string{"ECOSYSTEM_JAVA"}}, ""},
		},
		badParams: []badInput{
			{name: "an unknown ecosystem", fields: fields{"ecosystems": []string{"ECOSYSTEM_JAVA", "x"}}, violations: "ecosystems", typeErrors: typeError},
			{name: "no ecosystem", fields: fields{"ecosystems": []string{}}, violations: "ecosystems"},
			{name: "a text as remediated", fields: fields{"remediated": "maybe"}, violations: "remediated", typeErrors: typeError},
		},
	},
})

func counts(ecosystems ...string) call {
	return call{rpc: "GetArtifactCount", params: fields{"ecosystems": ecosystems}}
}

func count(ecosystem string) fields { return fields{"ecosystem": ecosystem, "totalCount": "<number>"} }

// putArtifact imports an artifact. No operation creates one.
func putArtifact(e *env, _ string, given fields) fields {
	e.Helper()
	artifact := decodeFields[libraries.ImportedArtifact](e, given)
	artifact.Remediated, _ = given["remediated"].(bool)
	artifact.CudaVersion, _ = given["cudaVersion"].(string)
	if _, _, err := e.w.p.Artifacts.Import(e.operator(), []*libraries.ImportedArtifact{artifact}); err != nil {
		e.Fatal(err)
	}
	return showInREST(e, artifact.Artifact)
}

// showInREST returns a resource of the core as REST shows it.
func showInREST(e *env, resource any) fields {
	e.Helper()
	var shown map[string]any
	if err := json.Unmarshal([]byte(asJSON(resource)), &shown); err != nil {
		e.Fatal(err)
	}
	return asFields(shown)
}
