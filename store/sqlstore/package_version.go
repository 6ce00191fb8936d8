package sqlstore

import (
	"context"
	"fmt"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

var packageVersions = table.New(&table.Definition[*inventory.PackageVersion, *inventory.PackageVersionFilter]{
	Name:         "package_version",
	UID:          func(v *inventory.PackageVersion) core.UID { return v.UID },
	LiesIn:       parentUID,
	IsUncounted:  true,
	JoinedOrders: map[string]table.JoinedOrder{"version": {Column: "t.rank", Value: "t.rank"}},
	Joins:        []table.Join{{SQL: " JOIN package k ON k.uid = ", Column: "parent"}},
	Columns: []table.Column[*inventory.PackageVersion]{
		{SQL: "t.uid", To: func(v *inventory.PackageVersion) any { return table.UIDOf(&v.UID) }},
		{SQL: "t.version", To: func(v *inventory.PackageVersion) any { return &v.Version }},
		{SQL: "t.rank", To: func(v *inventory.PackageVersion) any { return &v.Rank }},
		{SQL: "t.purl", To: func(v *inventory.PackageVersion) any { return &v.PURL }},
		{SQL: "t.licenses", To: func(v *inventory.PackageVersion) any { return table.JSONOf(&v.Licenses) }},
		{SQL: "t.source", To: func(v *inventory.PackageVersion) any { return table.UIDOf(&v.Source) }},
		{SQL: "t.create_time", To: func(v *inventory.PackageVersion) any { return table.TimeOf(&v.CreateTime) }},
		{SQL: "k.uid", To: func(v *inventory.PackageVersion) any { return table.UIDOf(&v.Package.UID) }},
		{SQL: "k.name", To: func(v *inventory.PackageVersion) any { return &v.Package.Name }},
		{SQL: "k.ecosystem", To: func(v *inventory.PackageVersion) any { return &v.Package.Ecosystem }},
	},
	Where: func(f *inventory.PackageVersionFilter, s *table.Statement) {
		table.AddAnyOf(s, "version", f.Versions)
		if within := f.Within(); len(within) > 0 {
			s.Add(" AND t.uid ?", table.UIDKeys(within))
		}
		addHeld(s, f.Held, "version", "substr(t.uid, 29, 8)")
	},
})

// AdvisoriesOfVersions finds the advisories with findings of versions.
func (queries) AdvisoriesOfVersions(ctx context.Context, on core.Conn, versions []*inventory.PackageVersion, scopes []core.Scope) ([][]core.UID, error) {
	s := tablesOf(on)
	found := make([][]core.UID, len(versions))
	var uids, roots, low, past [][]byte
	var names, places []string
	for i, v := range versions {
		for _, b := range scopes[i].Branches {
			if b.UID != "" && b.UID.Root() != v.UID.Root() {
				continue
			}
			uids, roots, names = append(uids, table.PackUID(v.UID)), append(roots, table.ScopeKey(v.UID.Root())), append(names, v.Package.Name)
			low, past, places = append(low, table.RestOf(b.UID)), append(past, table.PastRest(b.UID)), append(places, fmt.Sprint(i))
		}
	}
	if len(uids) == 0 {
		return found, nil
	}
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT DISTINCT p.place, f.advisory FROM ").Add(q.Parents(
		dbconn.ParentColumn{Name: "k", Bytes: uids}, dbconn.ParentColumn{Name: "root", Bytes: roots}, dbconn.ParentColumn{Name: "name", Texts: names},
		dbconn.ParentColumn{Name: "low", Bytes: low}, dbconn.ParentColumn{Name: "past", Bytes: past}, dbconn.ParentColumn{Name: "place", Texts: places}))
	q.Add(" CROSS JOIN finding f WHERE f.root_key = p.root AND f.package = p.name AND f.rest >= p.low AND f.rest < p.past AND f.version_uid = p.k AND f.count_class > 0")
	err := s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var place string
		var advisory core.UID
		if err := scan(&place, table.UIDOf(&advisory)); err != nil {
			return err
		}
		var i int
		_, _ = fmt.Sscan(place, &i) // it was made above
		found[i] = append(found[i], advisory)
		return nil
	}))
	return found, err
}
