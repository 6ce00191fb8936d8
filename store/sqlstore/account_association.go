package sqlstore

import (
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/table"
)

var accountAssociations = table.New(&table.Definition[*iam.AccountAssociation, *iam.AccountAssociationFilter]{
	Name:      "account_association",
	UID:       func(a *iam.AccountAssociation) core.UID { return a.UID },
	LiesIn:    ownUID,
	SharesUID: true,
	Columns: []table.Column[*iam.AccountAssociation]{
		{SQL: "t.uid", To: func(a *iam.AccountAssociation) any { return table.UIDOf(&a.UID) }},
		{SQL: "t.name", Field: "name", To: func(a *iam.AccountAssociation) any { return &a.Name }},
		{SQL: "t.description", Field: "description", To: func(a *iam.AccountAssociation) any { return &a.Description }},
		{SQL: "t.amazon", Field: "amazon", To: func(a *iam.AccountAssociation) any { return table.JSONOf(&a.Amazon) }},
		{SQL: "t.google", Field: "google", To: func(a *iam.AccountAssociation) any { return table.JSONOf(&a.Google) }},
		{SQL: "t.platform", Field: "platform", To: func(a *iam.AccountAssociation) any { return table.JSONOf(&a.Platform) }},
		{SQL: "t.azure", Field: "azure", To: func(a *iam.AccountAssociation) any { return table.JSONOf(&a.Azure) }},
		{SQL: "t.github", Field: "github", To: func(a *iam.AccountAssociation) any { return table.JSONOf(&a.GitHub) }},
		{SQL: "t.create_time", To: func(a *iam.AccountAssociation) any { return table.TimeOf(&a.CreateTime) }},
		{SQL: "t.update_time", To: func(a *iam.AccountAssociation) any { return table.TimeOf(&a.UpdateTime) }},
	},
	Where: func(f *iam.AccountAssociationFilter, s *table.Statement) {
		s.AddName(f.Name)
		s.AddChanged(&f.ChangeFilter)
	},
})
