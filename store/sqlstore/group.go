package sqlstore

import (
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/table"
)

var groups = table.New(&table.Definition[*iam.Group, *iam.GroupFilter]{
	Name:           "grp",
	HasUniqueNames: true,
	UID:            func(g *iam.Group) core.UID { return g.UID },
	LiesIn:         ownUID,
	LiesInItself:   true,
	Columns: []table.Column[*iam.Group]{
		{SQL: "t.uid", To: func(g *iam.Group) any { return table.UIDOf(&g.UID) }},
		{SQL: "t.name", Field: "name", To: func(g *iam.Group) any { return &g.Name }},
		{SQL: "t.description", Field: "description", To: func(g *iam.Group) any { return &g.Description }},
		{SQL: "t.resource_limits", To: func(g *iam.Group) any { return table.JSONOf(&g.ResourceLimits) }},
		{SQL: "t.verified", To: func(g *iam.Group) any { return &g.Verified }},
		{SQL: "t.kind", To: func(g *iam.Group) any { return (*string)(&g.Kind) }},
		{SQL: "t.status", To: func(g *iam.Group) any { return (*string)(&g.Status) }},
		{SQL: "t.create_time", To: func(g *iam.Group) any { return table.TimeOf(&g.CreateTime) }},
		{SQL: "t.labels", Field: "labels", To: func(g *iam.Group) any { return table.JSONOf(&g.Labels) }},
		{SQL: "t.update_time", To: func(g *iam.Group) any { return table.TimeOf(&g.UpdateTime) }},
	},
	WriteOnly: []table.Column[*iam.Group]{
		table.SearchColumn((*iam.Group).SearchText),
	},
	AliasTable: "grp_label", AliasField: "labels",
	AliasesOf:  func(g *iam.Group) []string { return g.Labels.Conditions() },
	SearchText: "t.search", SearchQuery: func(f *iam.GroupFilter) string { return f.Query },
	SearchTextOf: (*iam.Group).SearchText, SearchFields: []string{"name", "description"},
	Owned: ownedByScope,
	Where: func(f *iam.GroupFilter, s *table.Statement) {
		s.AddName(f.Name)
		s.AddWords("t.search", f.Query)
		addRepoCondition(s, f.Repos)
		addLabels(s, "grp_label", "t.uid", f.Labels)
		s.AddChanged(&f.ChangeFilter)
	},
})

// ownUID is the containing UID of groups, and parentUID that of all other kinds.
func ownUID(u core.UID) core.UID { return u }

func parentUID(u core.UID) core.UID { return u.Parent() }

// ownedByScope are the rows that belong to a group or a repo without being resources in it.
var ownedByScope = []table.OwnedColumn{{Table: "triage_rule", Column: "parent"}, {Table: "open_finding_change", Column: "scope"}, {Table: "due_policy", Column: "scope"}}
