package sqlstore

import "atrium/platform"

var groups = newTable(&table[*platform.Group, *platform.GroupFilter]{
	name:         "grp",
	uniqueNames:  true,
	uid:          func(g *platform.Group) platform.UID { return g.UID },
	enclosed:     ownUID,
	selfEnclosed: true,
	columns: []column[*platform.Group]{
		{"t.uid", "", func(g *platform.Group) any { return keyOf(&g.UID) }},
		{"t.name", "name", func(g *platform.Group) any { return &g.Name }},
		{"t.description", "description", func(g *platform.Group) any { return &g.Description }},
		{"t.resource_limits", "", func(g *platform.Group) any { return jsonOf(&g.ResourceLimits) }},
		{"t.verified", "", func(g *platform.Group) any { return &g.Verified }},
		{"t.kind", "", func(g *platform.Group) any { return (*string)(&g.Kind) }},
		{"t.status", "", func(g *platform.Group) any { return (*string)(&g.Status) }},
		{"t.create_time", "", func(g *platform.Group) any { return timeOf(&g.CreateTime) }},
		{"t.labels", "labels", func(g *platform.Group) any { return jsonOf(&g.Labels) }},
		{"t.update_time", "", func(g *platform.Group) any { return timeOf(&g.UpdateTime) }},
	},
	writeOnly: []column[*platform.Group]{
		searchColumn((*platform.Group).SearchText),
	},
	aliasTable: "grp_label", aliasesOf: "labels",
	aliases:    func(g *platform.Group) []string { return g.Labels.Conditions() },
	searchText: "t.search", searchFor: func(f *platform.GroupFilter) string { return f.Query },
	searchOf: (*platform.Group).SearchText, searchFields: []string{"name", "description"},
	where: func(f *platform.GroupFilter, s *statement) {
		s.addName(f.Name)
		s.addWords("t.search", f.Query)
		addRepoCondition(s, f.Repos)
		addLabels(s, "grp_label", "t.uid", f.Labels)
		s.addChanged(&f.ChangeFilter)
	},
})

// ownUID is the containing UID of groups, and parentUID that of all other kinds.
func ownUID(u platform.UID) platform.UID { return u }

func parentUID(u platform.UID) platform.UID { return u.Parent() }
