package sqlstore

import "atrium/platform"

var artifactVersions = NewTable(&Definition[*platform.ArtifactVersion, *platform.ArtifactVersionFilter]{
	Name:          "artifact_version",
	UID:           func(v *platform.ArtifactVersion) platform.UID { return v.UID },
	CountedBy:     "t.parent",
	HasFewWriters: true,
	Joins:         []Join{{SQL: " JOIN artifact a ON a.uid = ", Column: "parent"}},
	CostlyColumns: map[string]CostlyColumn{"a.name": {Field: platform.VersionArtifact}, "a.description": {Field: platform.VersionArtifact}},
	JoinedOrders:  map[string]JoinedOrder{"name": OrderByName("a.name", "artifact", "parent")},
	Columns: []Column[*platform.ArtifactVersion]{
		{SQL: "t.uid", To: func(v *platform.ArtifactVersion) any { return UIDOf(&v.UID) }},
		{SQL: "t.version", To: func(v *platform.ArtifactVersion) any { return &v.SortKey }},
		{SQL: "t.label", To: func(v *platform.ArtifactVersion) any { return &v.Version }},
		{SQL: "t.size_bytes", Field: "sizeBytes", To: func(v *platform.ArtifactVersion) any { return &v.SizeBytes }},
		{SQL: "t.create_time", Field: "createTime", To: func(v *platform.ArtifactVersion) any { return TimeOf(&v.CreateTime) }},
		{SQL: "t.update_time", To: func(v *platform.ArtifactVersion) any { return TimeOf(&v.UpdateTime) }},
		{SQL: "a.name", To: func(v *platform.ArtifactVersion) any { return &v.Name }},
		{SQL: "a.description", To: func(v *platform.ArtifactVersion) any { return &v.Description }},
	},
	WriteOnly: []Column[*platform.ArtifactVersion]{
		{SQL: "t.parent", To: func(v *platform.ArtifactVersion) any {
			artifact := v.UID.Parent()
			return UIDOf(&artifact)
		}},
	},
	Where: func(*platform.ArtifactVersionFilter, *Statement) {},
})
