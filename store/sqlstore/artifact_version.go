package sqlstore

import "atrium/platform"

var artifactVersions = newTable(&table[*platform.ArtifactVersion, *platform.ArtifactVersionFilter]{
	name:        "artifact_version",
	uid:         func(v *platform.ArtifactVersion) platform.UID { return v.UID },
	countedBy:   "t.parent",
	quietParent: true,
	joins:       []join{{" JOIN artifact a ON a.uid = ", "parent"}},
	costly:      map[string]costlyColumn{"a.name": {field: platform.VersionArtifact}, "a.description": {field: platform.VersionArtifact}},
	lookups:     map[string]lookup{"name": nameOf("a.name", "artifact", "parent")},
	columns: []column[*platform.ArtifactVersion]{
		{"t.uid", "", func(v *platform.ArtifactVersion) any { return keyOf(&v.UID) }},
		{"t.version", "", func(v *platform.ArtifactVersion) any { return &v.SortKey }},
		{"t.label", "", func(v *platform.ArtifactVersion) any { return &v.Version }},
		{"t.size_bytes", "sizeBytes", func(v *platform.ArtifactVersion) any { return &v.SizeBytes }},
		{"t.create_time", "createTime", func(v *platform.ArtifactVersion) any { return timeOf(&v.CreateTime) }},
		{"t.update_time", "", func(v *platform.ArtifactVersion) any { return timeOf(&v.UpdateTime) }},
		{"a.name", "", func(v *platform.ArtifactVersion) any { return &v.Name }},
		{"a.description", "", func(v *platform.ArtifactVersion) any { return &v.Description }},
	},
	writeOnly: []column[*platform.ArtifactVersion]{
		{"t.parent", "", func(v *platform.ArtifactVersion) any {
			artifact := v.UID.Parent()
			return keyOf(&artifact)
		}},
	},
	where: func(*platform.ArtifactVersionFilter, *statement) {},
})
