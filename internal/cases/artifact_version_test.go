package cases

import (
	"atrium/platform/libraries"
)

// Versions can be listed only for one artifact, {full artifact}.
var _ = newKind(kind{
	name: "ArtifactVersion", plural: "ArtifactVersions", ref: "version", area: "libraries", in: "{full artifact}", put: putArtifactVersion,
	minimal: fields{"version": "1.{n}"},
	rows: []row{
		{name: "of an artifact without any", do: versionsOf("{full artifact}"), want: expectedItems{}},
		{name: "of a missing artifact", do: versionsOf(missingArtifact), want: notFound("libraries/Artifact", missingArtifact)},
		{name: "of a group", do: versionsOf("{org}"), want: notFound("libraries/Artifact", "{org}")},
		{name: "of no UID", do: versionsOf("nope"), want: invalid("artifact_id"), instead: inGraphQL(invalid("uid"), "the artifact is asked for")},
	},
	library: library{
		hasNoScopes: true, parent: "{full artifact}", otherParent: "{other full artifact}",
		items: []item{ // The items are in the order of Maven.
			{"a", "{full artifact}", fields{"version": "1.9-rc1", "createTime": "2024-05-01T00:00:00.000Z"}},
			{"b", "{full artifact}", fields{"version": "1.9", "createTime": "2024-01-01T00:00:00.000Z", "sizeBytes": "1099511627776"}},
			{"c", "{full artifact}", fields{"version": "1.10", "createTime": "2024-02-01T00:00:00.000Z"}},
			{"d", "{full artifact}", fields{"version": "1.10.1", "createTime": "2024-02-01T00:00:00.000Z"}},
		},
		orders:    []order{{"version", "making"}, {"create_time", "createTime"}, {"update_time", "updateTime"}, {"uid", "uid"}, {"name", "name"}},
		byDefault: "version desc",
	},
})

const missingArtifact = "00000000000000000000000000000000000000ff"

func versionsOf(artifact string) call { return call{rpc: "ListArtifactVersions", target: artifact} }

// putArtifactVersion imports an existing artifact again, with one more version.
func putArtifactVersion(e *env, artifact string, given fields) fields {
	e.Helper()
	for _, made := range e.made {
		if keyOf(made) != artifact {
			continue
		}
		record := &libraries.ImportedArtifact{Artifact: libraries.Artifact{
			Name: made["name"].(string), Ecosystem: libraries.Ecosystem(made["ecosystem"].(string)), Description: made["description"].(string),
		}, Versions: []*libraries.ArtifactVersion{decodeFields[libraries.ArtifactVersion](e, given)}}
		if _, _, err := e.w.p.Artifacts.Import(e.operator(), []*libraries.ImportedArtifact{record}); err != nil {
			e.Fatal(err)
		}
		record.Versions[0].Name, record.Versions[0].Description = record.Name, record.Description
		return showInREST(e, record.Versions[0])
	}
	e.Fatalf("the artifact %s was not made here", artifact)
	return nil
}
