package sqlstore

import (
	"atrium/platform"
	"atrium/store/sqlstore/table"
)

var groups = table.New(&table.Definition[*platform.Group, *platform.GroupFilter]{
	Name:           "grp",
	HasUniqueNames: true,
	UID:            func(g *platform.Group) platform.UID { return g.UID },
	LiesIn:         ownUID,
	LiesInItself:   true,
	Columns: []table.Column[*platform.Group]{
		{SQL: "t.uid", To: func(g *platform.Group) any { return table.UIDOf(&g.UID) }},
		{SQL: "t.name", Field: "name", To: func(g *platform.Group) any { return &g.Name }},
		{SQL: "t.description", Field: "description", To: func(g *platform.Group) any { return &g.Description }},
		{SQL: "t.resource_limits", To: func(g *platform.Group) any { return table.JSONOf(&g.ResourceLimits) }},
		{SQL: "t.verified", To: func(g *platform.Group) any { return &g.Verified }},
		{SQL: "t.kind", To: func(g *platform.Group) any { return (*string)(&g.Kind) }},
		{SQL: "t.status", To: func(g *platform.Group) any { return (*string)(&g.Status) }},
		{SQL: "t.create_time", To: func(g *platform.Group) any { return table.TimeOf(&g.CreateTime) }},
		{SQL: "t.labels", Field: "labels", To: func(g *platform.Group) any { return table.JSONOf(&g.Labels) }},
		{SQL: "t.update_time", To: func(g *platform.Group) any { return table.TimeOf(&g.UpdateTime) }},
	},
	WriteOnly: []table.Column[*platform.Group]{
		table.SearchColumn((*platform.Group).SearchText),
	},
	AliasTable: "grp_label", AliasField: "labels",
	AliasesOf:  func(g *platform.Group) []string { return g.Labels.Conditions() },
	SearchText: "t.search", SearchQuery: func(f *platform.GroupFilter) string { return f.Query },
	SearchTextOf: (*platform.Group).SearchText, SearchFields: []string{"name", "description"},
	Owned: ownedByScope,
	Where: func(f *platform.GroupFilter, s *table.Statement) {
		s.AddName(f.Name)
		s.AddWords("t.search", f.Query)
		addRepoCondition(s, f.Repos)
		addLabels(s, "grp_label", "t.uid", f.Labels)
		s.AddChanged(&f.ChangeFilter)
	},
})

// ownUID is the containing UID of groups, and parentUID that of all other kinds.
func ownUID(u platform.UID) platform.UID { return u }

func parentUID(u platform.UID) platform.UID { return u.Parent() }

// ownedByScope are the rows that belong to a group or a repo without being resources in it.
var ownedByScope = []table.OwnedColumn{{Table: "triage_rule", Column: "parent"}, {Table: "open_finding_change", Column: "scope"}}
