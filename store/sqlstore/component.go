package sqlstore

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// ImagePackages reads the packages of images: two statements for what the images hold, and, at once, one for components
// and one for versions that stand for names.
func (queries) ImagePackages(ctx context.Context, on core.Conn, keys inventory.ImageKeys) ([]*inventory.ImageContent, error) {
	s := tablesOf(on)
	wanted := keys.Keys()
	repos, digests := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, k := range wanted {
		repos[i], digests[i] = table.PackUID(k.Repo), k.Digest
	}
	type held struct {
		architecture string
		uids         []core.UID // of components
		placements   []inventory.Placement
	}
	documents, named := map[core.ImageKey][]held{}, map[core.ImageKey][]core.UID{}
	var components, versions []core.UID
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT b.repo, b.digest, b.architecture, b.components, b.placements FROM ").Add(q.Parents(table.UIDPairs(repos, digests)...))
	q.Add(" CROSS JOIN sbom b WHERE b.repo = p.k AND b.digest = p.inside ORDER BY b.architecture")
	names := table.NewStatement(s.Dialect)
	names.Add("SELECT t.parent, t.digest, t.versions FROM ").Add(names.Parents(table.UIDPairs(repos, digests)...))
	names.Add(" CROSS JOIN image_status t WHERE t.parent = p.k AND t.digest = p.inside AND t.basis = ?", string(inventory.BasisName))
	err := s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var k core.ImageKey
		var h held
		var ends, placements []byte
		if err := scan(table.UIDOf(&k.Repo), &k.Digest, &h.architecture, &ends, &placements); err != nil {
			return err
		}
		var err error
		h.uids = splitEnds(k.Repo.Root(), ends)
		h.placements, err = unpackPlacements(placements, len(h.uids))
		documents[k], components = append(documents[k], h), append(components, h.uids...)
		return err
	}), names.Build(func(scan func(...any) error) error {
		var k core.ImageKey
		var ends []byte
		err := scan(table.UIDOf(&k.Repo), &k.Digest, &ends)
		named[k] = splitEnds(k.Repo.Root(), ends)
		versions = append(versions, named[k]...)
		return err
	}))
	if err != nil {
		return nil, err
	}
	var read []*dbconn.Statement
	var found []*inventory.Component
	var foundVersions []*inventory.PackageVersion
	if len(components) > 0 {
		read = append(read, selectComponents(s.Dialect).Add("c.uid ?", table.UIDKeys(distinctUIDs(components))).Build(collectComponents(&found)))
	}
	if len(versions) > 0 {
		read = append(read, packageVersions.SelectAll(s.Dialect, distinctUIDs(versions), &foundVersions))
	}
	if len(read) > 0 {
		if err := s.Reads.Run(ctx, read...); err != nil {
			return nil, err
		}
	}
	byUID := make(map[core.UID]*inventory.Component, len(found)+len(foundVersions))
	for _, c := range found {
		byUID[c.UID] = c
	}
	for _, v := range foundVersions {
		byUID[v.UID] = &inventory.Component{UID: v.UID, Version: v}
	}
	contents := make([]*inventory.ImageContent, len(wanted))
	for i, k := range wanted {
		basis, of := inventory.BasisVersion, documents[k]
		if of == nil {
			basis, of = inventory.BasisName, []held{{uids: named[k]}}
		}
		said := make([]inventory.DocumentContent, len(of))
		for n, h := range of {
			said[n].Architecture, said[n].Placements = h.architecture, h.placements
			for _, uid := range h.uids {
				said[n].Components = append(said[n].Components, byUID[uid])
			}
		}
		contents[i] = inventory.NewImageContent(k, basis, said)
	}
	return contents, nil
}

// selectComponents returns a statement that reads components with their versions, but for its conditions.
func selectComponents(d *dbconn.Dialect) *table.Statement {
	return table.NewStatement(d).Add("SELECT c.uid, c.purl, c.licenses, c.source, c.supplier, c.scope, t.uid, t.version, t.rank, t.create_time, k.uid, k.name, k.ecosystem" +
		" FROM component c JOIN package_version t ON t.uid = c.version JOIN package k ON k.uid = c.parent WHERE ")
}

func collectComponents(into *[]*inventory.Component) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		v := new(inventory.PackageVersion)
		c := &inventory.Component{Version: v}
		err := scan(table.UIDOf(&c.UID), &c.PURL, table.JSONOf(&c.Licenses), table.UIDOf(&c.Source), &c.Supplier, (*string)(&c.Scope), table.UIDOf(&v.UID), &v.Version, &v.Rank, table.TimeOf(&v.CreateTime),
			table.UIDOf(&v.Package.UID), &v.Package.Name, &v.Package.Ecosystem)
		*into = append(*into, c)
		return err
	}
}

// Components reads components with their versions.
func (queries) Components(ctx context.Context, in core.Tx, uids []core.UID) (found []*inventory.Component, err error) {
	if len(uids) == 0 {
		return nil, nil
	}
	tx := transactionOf(in)
	err = tx.Conn.Run(ctx, selectComponents(tx.Dialect).Add("c.uid ?", table.UIDKeys(uids)).Build(collectComponents(&found)))
	return found, err
}

// StoredComponents returns those of components that are stored.
func (queries) StoredComponents(ctx context.Context, in core.Tx, uids []core.UID) (found []core.UID, err error) {
	tx := transactionOf(in)
	err = tx.Conn.Run(ctx, table.NewStatement(tx.Dialect).Add("SELECT c.uid FROM component c WHERE c.uid ?", table.UIDKeys(uids)).Build(collectUIDs(&found)))
	return found, err
}

var componentColumns = []string{"uid", "parent", "version", "source", "purl", "licenses", "supplier", "scope"}

// InsertComponents inserts components unless they are stored, and the licenses of their packages.
func (queries) InsertComponents(ctx context.Context, in core.Tx, all []*inventory.Component) error {
	rows := make([][]any, len(all))
	licensed := map[packageLicense]bool{}
	for i, c := range all {
		for _, license := range newUseLicenses(inventory.LicensesOfUse(c.Licenses)).Folded {
			licensed[packageLicense{c.Version.Package.UID, license}] = true
		}
		rows[i] = []any{table.PackUID(c.UID), table.PackUID(c.Version.Package.UID), table.PackUID(c.Version.UID), table.OrNull(c.Source), c.PURL, table.JSONText(c.Licenses), c.Supplier, string(c.Scope)}
	}
	tx := transactionOf(in)
	if err := tx.insertNew(ctx, "component", componentColumns, rows); err != nil {
		return err
	}
	rows = rows[:0]
	for _, l := range slices.SortedFunc(maps.Keys(licensed), func(a, b packageLicense) int {
		return cmp.Or(core.CompareTexts(a.of, b.of), cmp.Compare(a.license, b.license))
	}) {
		rows = append(rows, []any{table.PackUID(l.of), l.license})
	}
	return tx.insertNew(ctx, "package_license", []string{"package", "license"}, rows)
}

// A packageLicense is a license that a component of a package has, folded.
type packageLicense struct {
	of      core.UID
	license string
}

// ComponentsOf reads components of images: one statement for what the images hold, and one for the components of the
// versions.
func (queries) ComponentsOf(ctx context.Context, in core.Tx, repo core.UID, digests []string, versions []core.UID) (map[string]inventory.HeldComponents, error) {
	tx := transactionOf(in)
	var found []*inventory.Component
	uids := table.UIDValues(distinctUIDs(versions))
	documents := map[string][]storedDocument{}
	held := table.NewStatement(tx.Dialect).Add("SELECT b.digest, b.components, b.placements FROM sbom b WHERE b.repo = ?", repo).Add(" AND b.digest ?", table.Values(digests))
	err := tx.Conn.Run(ctx,
		selectComponents(tx.Dialect).Add("c.version ?", uids).Build(collectComponents(&found)),
		selectComponents(tx.Dialect).Add("c.source ?", uids).Build(collectComponents(&found)),
		held.Build(func(scan func(...any) error) error {
			var digest string
			var d storedDocument
			err := scan(&digest, &d.components, &d.placements)
			documents[digest] = append(documents[digest], d)
			return err
		}))
	byDigest := map[string]inventory.HeldComponents{}
	for digest, all := range documents {
		held := inventory.HeldComponents{Direct: inventory.DirectComponents{}}
		for _, c := range found {
			end, holds := table.RestOf(c.UID), false
			for _, d := range all {
				if place, has := d.find(end); has {
					holds = true
					held.Direct.Add(c.UID, d.directAt(place))
				}
			}
			if holds {
				held.Components = append(held.Components, c)
			}
		}
		byDigest[digest] = held
	}
	return byDigest, err
}
