package sqlstore

import (
	"atrium/platform"
	"atrium/store/sqlstore/table"
)

var accountAssociations = table.New(&table.Definition[*platform.AccountAssociation, *platform.AccountAssociationFilter]{
	Name:      "account_association",
	UID:       func(a *platform.AccountAssociation) platform.UID { return a.UID },
	LiesIn:    ownUID,
	SharesUID: true,
	Columns: []table.Column[*platform.AccountAssociation]{
		{SQL: "t.uid", To: func(a *platform.AccountAssociation) any { return table.UIDOf(&a.UID) }},
		{SQL: "t.name", Field: "name", To: func(a *platform.AccountAssociation) any { return &a.Name }},
		{SQL: "t.description", Field: "description", To: func(a *platform.AccountAssociation) any { return &a.Description }},
		{SQL: "t.amazon", Field: "amazon", To: func(a *platform.AccountAssociation) any { return table.JSONOf(&a.Amazon) }},
		{SQL: "t.google", Field: "google", To: func(a *platform.AccountAssociation) any { return table.JSONOf(&a.Google) }},
		{SQL: "t.platform", Field: "platform", To: func(a *platform.AccountAssociation) any { return table.JSONOf(&a.Platform) }},
		{SQL: "t.azure", Field: "azure", To: func(a *platform.AccountAssociation) any { return table.JSONOf(&a.Azure) }},
		{SQL: "t.github", Field: "github", To: func(a *platform.AccountAssociation) any { return table.JSONOf(&a.GitHub) }},
		{SQL: "t.create_time", To: func(a *platform.AccountAssociation) any { return table.TimeOf(&a.CreateTime) }},
		{SQL: "t.update_time", To: func(a *platform.AccountAssociation) any { return table.TimeOf(&a.UpdateTime) }},
	},
	Where: func(f *platform.AccountAssociationFilter, s *table.Statement) {
		s.AddName(f.Name)
		s.AddChanged(&f.ChangeFilter)
	},
})
