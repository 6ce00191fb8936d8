package sqlstore

import (
	"atrium/platform/core"
	"atrium/platform/libraries"
	"atrium/store/sqlstore/table"
)

var artifactVersions = table.New(&table.Definition[*libraries.ArtifactVersion, *libraries.ArtifactVersionFilter]{
	Name:          "artifact_version",
	UID:           func(v *libraries.ArtifactVersion) core.UID { return v.UID },
	CountedBy:     "t.parent",
	HasFewWriters: true,
	Joins:         []table.Join{{SQL: " JOIN artifact a ON a.uid = ", Column: "parent"}},
	CostlyColumns: map[string]table.CostlyColumn{"a.name": {Field: core.VersionArtifact}, "a.description": {Field: core.VersionArtifact}},
	JoinedOrders:  map[string]table.JoinedOrder{"name": table.OrderByName("a.name", "artifact", "parent")},
	Columns: []table.Column[*libraries.ArtifactVersion]{
		{SQL: "t.uid", To: func(v *libraries.ArtifactVersion) any { return table.UIDOf(&v.UID) }},
		{SQL: "t.version", To: func(v *libraries.ArtifactVersion) any { return &v.SortKey }},
		{SQL: "t.label", To: func(v *libraries.ArtifactVersion) any { return &v.Version }},
		{SQL: "t.size_bytes", Field: "sizeBytes", To: func(v *libraries.ArtifactVersion) any { return &v.SizeBytes }},
		{SQL: "t.create_time", Field: "createTime", To: func(v *libraries.ArtifactVersion) any { return table.TimeOf(&v.CreateTime) }},
		{SQL: "t.update_time", To: func(v *libraries.ArtifactVersion) any { return table.TimeOf(&v.UpdateTime) }},
		{SQL: "a.name", To: func(v *libraries.ArtifactVersion) any { return &v.Name }},
		{SQL: "a.description", To: func(v *libraries.ArtifactVersion) any { return &v.Description }},
	},
	WriteOnly: []table.Column[*libraries.ArtifactVersion]{
		{SQL: "t.parent", To: func(v *libraries.ArtifactVersion) any {
			artifact := v.UID.Parent()
			return table.UIDOf(&artifact)
		}},
	},
	Where: func(*libraries.ArtifactVersionFilter, *table.Statement) {},
})
