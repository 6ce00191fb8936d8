package sqlstore

import "atrium/platform"

var accountAssociations = newTable(&table[*platform.AccountAssociation, *platform.AccountAssociationFilter]{
	name:      "account_association",
	uid:       func(a *platform.AccountAssociation) platform.UID { return a.UID },
	enclosed:  ownUID,
	sharesUID: true,
	columns: []column[*platform.AccountAssociation]{
		{"t.uid", "", func(a *platform.AccountAssociation) any { return keyOf(&a.UID) }},
		{"t.name", "name", func(a *platform.AccountAssociation) any { return &a.Name }},
		{"t.description", "description", func(a *platform.AccountAssociation) any { return &a.Description }},
		{"t.amazon", "amazon", func(a *platform.AccountAssociation) any { return jsonOf(&a.Amazon) }},
		{"t.google", "google", func(a *platform.AccountAssociation) any { return jsonOf(&a.Google) }},
		{"t.platform", "platform", func(a *platform.AccountAssociation) any { return jsonOf(&a.Platform) }},
		{"t.azure", "azure", func(a *platform.AccountAssociation) any { return jsonOf(&a.Azure) }},
		{"t.github", "github", func(a *platform.AccountAssociation) any { return jsonOf(&a.GitHub) }},
		{"t.create_time", "", func(a *platform.AccountAssociation) any { return timeOf(&a.CreateTime) }},
		{"t.update_time", "", func(a *platform.AccountAssociation) any { return timeOf(&a.UpdateTime) }},
	},
	where: func(f *platform.AccountAssociationFilter, s *statement) {
		s.addName(f.Name)
		s.addChanged(&f.ChangeFilter)
	},
})
