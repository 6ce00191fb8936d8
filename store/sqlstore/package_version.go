package sqlstore

import (
	"context"
	"fmt"

	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

var packageVersions = newTable(&table[*platform.PackageVersion, *platform.PackageVersionFilter]{
	name:      "package_version",
	uid:       func(v *platform.PackageVersion) platform.UID { return v.UID },
	enclosed:  parentUID,
	uncounted: true,
	lookups:   map[string]lookup{"version": {"t.rank", "t.rank"}},
	joins:     []join{{" JOIN package k ON k.uid = ", "parent"}},
	columns: []column[*platform.PackageVersion]{
		{"t.uid", "", func(v *platform.PackageVersion) any { return keyOf(&v.UID) }},
		{"t.version", "", func(v *platform.PackageVersion) any { return &v.Version }},
		{"t.rank", "", func(v *platform.PackageVersion) any { return &v.Rank }},
		{"t.purl", "", func(v *platform.PackageVersion) any { return &v.PURL }},
		{"t.licenses", "", func(v *platform.PackageVersion) any { return jsonOf(&v.Licenses) }},
		{"t.source", "", func(v *platform.PackageVersion) any { return keyOf(&v.Source) }},
		{"t.create_time", "", func(v *platform.PackageVersion) any { return timeOf(&v.CreateTime) }},
		{"k.uid", "", func(v *platform.PackageVersion) any { return keyOf(&v.Package.UID) }},
		{"k.name", "", func(v *platform.PackageVersion) any { return &v.Package.Name }},
		{"k.ecosystem", "", func(v *platform.PackageVersion) any { return &v.Package.Ecosystem }},
	},
	where: func(f *platform.PackageVersionFilter, s *statement) {
		addAnyOf(s, "version", f.Versions)
		if within := f.Within(); len(within) > 0 {
			s.add(" AND t.uid ?", uidKeyList(within))
		}
		addHeld(s, f.Held, "version", "substr(t.uid, 29, 8)")
	},
})

// AdvisoriesOfVersions finds the advisories with findings of versions.
func (queries) AdvisoriesOfVersions(ctx context.Context, on platform.Conn, versions []*platform.PackageVersion, scopes []platform.Scope) ([][]platform.UID, error) {
	s := tablesOf(on)
	found := make([][]platform.UID, len(versions))
	var uids, roots, low, past [][]byte
	var names, places []string
	for i, v := range versions {
		for _, b := range scopes[i].Branches() {
			if b.UID != "" && b.UID.Root() != v.UID.Root() {
				continue
			}
			uids, roots, names = append(uids, packUID(v.UID)), append(roots, scopeKey(v.UID.Root())), append(names, v.Package.Name)
			low, past, places = append(low, restOf(b.UID)), append(past, pastRest(b.UID)), append(places, fmt.Sprint(i))
		}
	}
	if len(uids) == 0 {
		return found, nil
	}
	q := newStatement(s.dialect)
	q.add("SELECT DISTINCT p.place, f.advisory FROM ").add(q.parents(
		dbconn.ParentColumn{Name: "k", Bytes: uids}, dbconn.ParentColumn{Name: "root", Bytes: roots}, dbconn.ParentColumn{Name: "name", Texts: names},
		dbconn.ParentColumn{Name: "low", Bytes: low}, dbconn.ParentColumn{Name: "past", Bytes: past}, dbconn.ParentColumn{Name: "place", Texts: places}))
	q.add(" CROSS JOIN finding f WHERE f.root_key = p.root AND f.package = p.name AND f.rest >= p.low AND f.rest < p.past AND f.version_uid = p.k AND f.count_class > 0")
	err := s.reads.Run(ctx, q.build(func(scan func(...any) error) error {
		var place string
		var advisory platform.UID
		if err := scan(&place, keyOf(&advisory)); err != nil {
			return err
		}
		var i int
		_, _ = fmt.Sscan(place, &i) // it was made above
		found[i] = append(found[i], advisory)
		return nil
	}))
	return found, err
}
