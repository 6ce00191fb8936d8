package sqlstore

import (
	"context"
	"fmt"
	"slices"

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
		addHeld(s, f.Held, "version", "substr(t.uid, 29, 8)", f.Licenses)
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
	q.Add("SELECT DISTINCT p.place, v.uid FROM ").Add(q.Parents(
		dbconn.ParentColumn{Name: "k", Bytes: uids}, dbconn.ParentColumn{Name: "root", Bytes: roots}, dbconn.ParentColumn{Name: "name", Texts: names},
		dbconn.ParentColumn{Name: "low", Bytes: low}, dbconn.ParentColumn{Name: "past", Bytes: past}, dbconn.ParentColumn{Name: "place", Texts: places}))
	q.Add(" CROSS JOIN finding f CROSS JOIN advisory v WHERE f.root_key = p.root AND f.package = p.name AND f.rest >= p.low AND f.rest < p.past AND f.version_uid = p.k AND f.count_class > 0")
	q.Add(" AND "+isSource+" AND v.root IN (f.root, ?)", inventory.FeedGroup)
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

// LicensesOfVersions finds the licenses of versions: one statement for what documents of their organizations say, and
// one for the documents within the scopes if those differ.
func (queries) LicensesOfVersions(ctx context.Context, on core.Conn, versions []*inventory.PackageVersion, scopes []core.Scope) ([][]string, error) {
	s := tablesOf(on)
	said := map[core.UID][][]string{}
	uids := make(table.UIDValues, len(versions))
	for i, v := range versions {
		uids[i] = v.UID
	}
	q := table.NewStatement(s.Dialect).Add("SELECT DISTINCT c.version, c.licenses FROM component c WHERE c.version ?", uids)
	err := s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var version core.UID
		var licenses []string
		err := scan(table.UIDOf(&version), table.JSONOf(&licenses))
		said[version] = append(said[version], licenses)
		return err
	}))
	if err != nil {
		return nil, err
	}
	found := make([][]string, len(versions))
	var asked []int
	var ends, roots, low, past [][]byte
	var places []string
	for i, v := range versions {
		if len(said[v.UID]) <= 1 {
			found[i] = slices.Concat(said[v.UID]...)
			continue
		}
		asked = append(asked, i)
		for _, b := range scopes[i].Branches {
			if b.UID.Root() == v.UID.Root() {
				ends, roots, places = append(ends, table.LocalOf(v.UID)), append(roots, table.ScopeKey(v.UID.Root())), append(places, fmt.Sprint(i))
				low, past = append(low, table.RestOf(b.UID)), append(past, table.PastRest(b.UID))
			}
		}
	}
	if len(ends) == 0 {
		return found, nil
	}
	q = table.NewStatement(s.Dialect)
	q.Add("SELECT DISTINCT p.place, u.licenses FROM ").Add(q.Parents(
		dbconn.ParentColumn{Name: "k", Bytes: ends}, dbconn.ParentColumn{Name: "root", Bytes: roots}, dbconn.ParentColumn{Name: "low", Bytes: low},
		dbconn.ParentColumn{Name: "past", Bytes: past}, dbconn.ParentColumn{Name: "place", Texts: places}))
	q.Add(" CROSS JOIN package_use u WHERE u.root_key = p.root AND u.version = p.k AND u.rest >= p.low AND u.rest < p.past")
	err = s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var place string
		var of []useLicenses
		if err := scan(&place, table.JSONOf(&of)); err != nil {
			return err
		}
		var i int
		_, _ = fmt.Sscan(place, &i) // it was made above
		for _, l := range of {
			found[i] = append(found[i], l.Licenses...)
		}
		return nil
	}))
	for _, i := range asked {
		slices.Sort(found[i])
		found[i] = slices.Compact(found[i])
	}
	return found, err
}
