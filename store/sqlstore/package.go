package sqlstore

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

var packages = table.New(&table.Definition[*inventory.Package, *inventory.PackageFilter]{
	Name:        "package",
	UID:         func(p *inventory.Package) core.UID { return p.UID },
	LiesIn:      parentUID,
	IsUncounted: true,
	Columns: []table.Column[*inventory.Package]{
		{SQL: "t.uid", To: func(p *inventory.Package) any { return table.UIDOf(&p.UID) }},
		{SQL: "t.ecosystem", To: func(p *inventory.Package) any { return &p.Ecosystem }},
		{SQL: "t.name", To: func(p *inventory.Package) any { return &p.Name }},
		{SQL: "t.create_time", To: func(p *inventory.Package) any { return table.TimeOf(&p.CreateTime) }},
	},
	WriteOnly: []table.Column[*inventory.Package]{
		{SQL: "t.normal_name", To: func(p *inventory.Package) any { name := p.NormalName(); return &name }},
		{SQL: "t.search", To: func(p *inventory.Package) any { text := table.Fold(core.SearchText(p.Name)); return &text }},
	},
	Plan: planHeld,
	Where: func(f *inventory.PackageFilter, s *table.Statement) {
		if len(f.Names) > 0 {
			s.Add(" AND t.normal_name ?", table.Values(normalNames(f.Names)))
		}
		addAnyEcosystem(s, f.Ecosystems)
		for _, word := range table.SearchWords(f.Query) {
			s.AddSlow(" AND t.search LIKE ? ESCAPE '\\'", table.LikePattern(word))
		}
		addLicensed(s, f.Held, f.Licenses)
		addHeld(s, f.Held, "package", "substr(t.uid, 21, 8)", f.Licenses)
	},
})

// normalNames returns the normal forms that packages with one of names can have.
func normalNames(names []string) []string {
	var all []string
	for _, key := range ecosystem.NameKeys(names...) {
		all = append(all, key.Name, (&inventory.Package{Name: key.Name}).NormalName())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// fewPackages is how many packages of a scope a list looks up by their UIDs. Of more, it looks at all of the organization.
const fewPackages = 2000

// planHeld returns a reader of a list which knows the few packages that images in a scope hold.
func planHeld(ctx context.Context, r *table.Reader[*inventory.Package, *inventory.PackageFilter], q core.Query[*inventory.PackageFilter]) (*table.Reader[*inventory.Package, *inventory.PackageFilter], error) {
	within := q.Filter.Held.Branches
	if len(within) != 1 || within[0].UID.IsRoot() || len(q.Scope.Branches) == 0 || q.Scope.Branches[0].Relation == core.Listed {
		return r, nil
	}
	by, uid := *r, within[0].UID
	by.Among = table.UIDKeys{}
	s := table.NewStatement(r.Dialect)
	s.Add("SELECT DISTINCT u.package FROM package_use u WHERE u.parent >= ? AND u.parent < ? LIMIT ?", table.PackUID(uid), table.PastSubtree(uid), int64(fewPackages+1))
	err := r.Conn.Run(ctx, s.Build(func(scan func(...any) error) error {
		var end []byte
		err := scan(&end)
		of, _ := core.UnpackUID(append(table.PackUID(uid.Root()), end...))
		by.Among = append(by.Among, of)
		return err
	}))
	if err != nil || len(by.Among) > fewPackages {
		return r, err
	}
	return &by, nil
}

// addHeld adds the condition that images in a scope hold a row: that there are uses whose column
// has the value. If licenses are given, images hold it under one of them.
func addHeld(s *table.Statement, held core.Scope, column, value string, licenses []string) {
	if len(held.Branches) == 0 {
		return
	}
	s.Add(" AND (")
	for i, b := range held.Branches {
		if i > 0 {
			s.Add(" OR ")
		}
		if b.UID.IsRoot() && column == "package" && licenses == nil {
			s.Add("t.uses > 0 AND t.root = ?", b.UID)
			continue
		}
		s.Add("EXISTS (SELECT 1 FROM package_use u WHERE u.root_key = ? AND u."+column+" = "+value, table.ScopeKey(b.UID.Root()))
		addUseWithin(s, b.UID)
		addLicenses(s, licenses)
		s.Add(")")
	}
	s.Add(")")
}

// addLicensed adds the condition that a package has a component under one of licenses, in the organizations of a scope. Few packages have a rare
// license, and only their uses are looked at.
func addLicensed(s *table.Statement, held core.Scope, licenses []string) {
	if licenses == nil || len(held.Branches) == 0 {
		return
	}
	folded := make([]string, len(licenses))
	for i, license := range licenses {
		folded[i] = ecosystem.FoldLicense(license)
	}
	roots := map[core.UID]bool{}
	s.Add(" AND (")
	for _, b := range held.Branches {
		root := b.UID.Root()
		if roots[root] {
			continue
		}
		if len(roots) > 0 {
			s.Add(" OR ")
		}
		roots[root] = true
		uid := "t.uid"
		if s.Dialect.Lateral { // PostgreSQL begins a page with the first packages, and not with all that have the license. SQLite would begin with those of all organizations.
			uid = table.WithoutIndex(uid)
		}
		s.Add(uid+" IN (SELECT l.package FROM package_license l WHERE l.license ?", table.Values(folded))
		s.Add(" AND l.package >= ? AND l.package < ?)", table.PackUID(root), table.PastSubtree(root))
	}
	s.Add(")")
}

// addLicenses adds the condition that a use u is under one of licenses.
func addLicenses(s *table.Statement, licenses []string) {
	for i, license := range licenses {
		if i == 0 {
			s.Add(" AND (")
		} else {
			s.Add(" OR ")
		}
		s.AddSlow("u.licenses LIKE ? ESCAPE '\\'", table.LikePattern(table.JSONText(ecosystem.FoldLicense(license))))
	}
	if len(licenses) > 0 {
		s.Add(")")
	}
}

// addUseWithin adds the condition that a use u is one of repos within a UID.
func addUseWithin(s *table.Statement, within core.UID) {
	if !within.IsRoot() {
		s.Add(" AND u.rest >= ? AND u.rest < ?", table.RestOf(within), table.PastRest(within))
	}
}

// FacetPackages counts packages by ecosystem, and by the licenses of those who hold them in the scope of the filter.
func (queries) FacetPackages(ctx context.Context, on core.Conn, filter *inventory.PackageFilter, scopes []core.Scope) ([]*inventory.PackageFacets, error) {
	s := tablesOf(on)
	facets := table.EmptyEach[inventory.PackageFacets](len(scopes))
	r, ecosystems := packages.Reader(s), table.Counting[string]{}
	var name string
	run := r.CountBy(filter, scopes, "", []string{"t.ecosystem"}, []any{&name}, func(i int, n int64) { ecosystems.Add(&facets[i].Ecosystems, name, n) })
	type held struct {
		scope   int
		uid     core.UID
		license string // folded
	}
	var uid core.UID
	var licenses []useLicenses
	counted, spelled, counts := map[held]bool{}, map[string]string{}, table.Counting[string]{}
	count := func(i int, license string) {
		folded := ecosystem.FoldLicense(license)
		if before, known := spelled[folded]; !known || license < before {
			spelled[folded] = license
		}
		if k := (held{i, uid, folded}); !counted[k] {
			counted[k] = true
			counts.Add(&facets[i].Licenses, folded, 1)
		}
	}
	for i, scope := range scopes {
		for _, b := range filter.Held.Branches {
			if !slices.ContainsFunc(scope.Branches, func(in core.Branch) bool { return in.UID == b.UID.Root() }) {
				continue
			}
			q := table.NewStatement(s.Dialect)
			q.AddSlow("SELECT DISTINCT t.uid, u.licenses FROM package t CROSS JOIN package_use u WHERE t.parent = ? AND u.root_key = ? AND u.package = substr(t.uid, 21, 8)",
				b.UID.Root(), table.ScopeKey(b.UID.Root()))
			addUseWithin(q, b.UID)
			r.Where(filter, q)
			run = append(run, q.Build(func(scan func(...any) error) error {
				licenses = nil
				err := scan(table.UIDOf(&uid), table.JSONOf(&licenses))
				for _, l := range licenses {
					for _, text := range l.ofUse() {
						for _, id := range ecosystem.LicenseIDs(text) {
							count(i, id)
						}
					}
				}
				return err
			}))
		}
	}
	err := s.RunAll(ctx, run)
	for _, f := range facets {
		for n := range f.Licenses {
			f.Licenses[n].Value = spelled[f.Licenses[n].Value]
		}
	}
	return facets, err
}

// StoredVersions returns those of the versions of packages that are stored.
func (queries) StoredVersions(ctx context.Context, in core.Tx, uids []core.UID) ([]core.UID, error) {
	tx := transactionOf(in)
	var found []core.UID
	q := table.NewStatement(tx.Dialect).Add("SELECT t.uid FROM package_version t WHERE t.uid ?", table.UIDKeys(uids))
	err := tx.Conn.Run(ctx, q.Build(collectUIDs(&found)))
	return found, err
}

// VersionsOfPackages reads all versions of packages.
func (queries) VersionsOfPackages(ctx context.Context, in core.Tx, of []core.UID) ([]*inventory.PackageVersion, error) {
	tx := transactionOf(in)
	var found []*inventory.PackageVersion
	p := packageVersions.Reader(tx.tables).ProjectAll()
	q := table.NewStatement(tx.Dialect).Add("SELECT "+p.Selected+" FROM package_version t"+p.Joins+" WHERE t.parent ?", table.UIDValues(of))
	err := tx.Conn.Run(ctx, q.Build(p.Collect(&found)))
	return found, err
}

// InsertPackages inserts versions, and those of their packages that are not stored.
func (queries) InsertPackages(ctx context.Context, in core.Tx, versions []*inventory.PackageVersion) error {
	tx := transactionOf(in)
	var of []*inventory.Package
	for i, v := range versions { // they are sorted, and so are their packages
		if i == 0 || v.Package.UID != versions[i-1].Package.UID {
			of = append(of, &v.Package)
		}
	}
	columns, values := packages.RowValues(of)
	if err := tx.insertNew(ctx, "package", columns, values); err != nil {
		return err
	}
	columns, values = packageVersions.RowValues(versions)
	return tx.insertNew(ctx, "package_version", columns, values)
}

// insertNew inserts rows unless rows with their keys exist.
func (tx *transaction) insertNew(ctx context.Context, into string, columns []string, rows [][]any) error {
	const perStatement = 50
	var run []*dbconn.Statement
	for part := range slices.Chunk(rows, perStatement) {
		s := table.NewStatement(tx.Dialect).Add("INSERT INTO " + into + " (" + strings.Join(columns, ", ") + ") VALUES ")
		for i, row := range part {
			if i > 0 {
				s.Add(", ")
			}
			s.Add("("+strings.Repeat("?, ", len(row)-1)+"?)", row...)
		}
		run = append(run, s.Add(" ON CONFLICT DO NOTHING").Build(nil))
	}
	if len(run) == 0 {
		return nil
	}
	return tx.Conn.Run(ctx, run...)
}

// SetRanks changes the ranks of versions.
func (queries) SetRanks(ctx context.Context, in core.Tx, versions []*inventory.PackageVersion) error {
	tx := transactionOf(in)
	if len(versions) == 0 {
		return nil
	}
	uids, ranks := make([][]byte, len(versions)), make([]string, len(versions))
	for i, v := range versions {
		uids[i], ranks[i] = table.PackUID(v.UID), v.Rank
	}
	q := table.NewStatement(tx.Dialect).Add("UPDATE package_version SET rank = p.inside FROM ")
	q.Add(q.Parents(table.UIDPairs(uids, ranks)...))
	return tx.Conn.Run(ctx, q.Add(" WHERE package_version.uid = p.k").Build(nil))
}

// useKey identifies a row of uses in a repo.
type useKey struct {
	version string // the end of its UID
	part    int64
}

// packageEnd returns the end of the UID of the package.
func (k useKey) packageEnd() string { return k.version[:table.SegmentLength] }

// imagesPerUse is how many images one row of uses can name. The rows stay small, because each new
// image changes one row for each of its packages.
const imagesPerUse = 256

// ChangeUses changes the uses of a repo, and how many repos hold its packages.
func (queries) ChangeUses(ctx context.Context, in core.Tx, repo core.UID, digests []string, uses []inventory.PackageUse) error {
	tx := transactionOf(in)
	used := table.NewStatement(tx.Dialect).Add("UPDATE sbom SET used = NULL WHERE used IS NOT NULL AND repo = ?", repo).Add(" AND digest ?", table.Values(digests))
	run := []*dbconn.Statement{used.Build(nil)}
	if len(uses) == 0 {
		return tx.Conn.Run(ctx, run...)
	}
	changed := map[useKey][]inventory.PackageUse{}
	var held [][]byte // packages
	for _, u := range uses {
		end := table.RestOf(u.Version)
		k := useKey{string(end), u.Image / imagesPerUse}
		changed[k], held = append(changed[k], u), append(held, end[:table.SegmentLength])
	}
	stored, before, err := tx.readUses(ctx, repo, compactBytes(held))
	if err != nil {
		return err
	}
	after := maps.Clone(before)
	var added [][]any
	for k, list := range changed {
		was, known := stored[k]
		use := was.change(list)
		switch {
		case !known && len(use.images) > 0:
			added = append(added, useValues(repo, k, use))
			after[k.packageEnd()]++
		case known && len(use.images) == 0:
			run = append(run, tx.deleteUse(repo, k))
			after[k.packageEnd()]--
		case known:
			run = append(run, tx.updateUse(repo, k, use))
		}
	}
	if err := tx.Conn.Run(ctx, run...); err != nil {
		return err
	}
	if len(added) > 0 {
		if err := tx.Conn.Copy(ctx, "package_use", useColumns, added); err != nil {
			return err
		}
	}
	return tx.countHolders(ctx, repo.Root(), before, after)
}

// readUses reads the uses of packages in a repo, and the number of rows of each package.
func (tx *transaction) readUses(ctx context.Context, repo core.UID, packages [][]byte) (stored map[useKey]use, rows map[string]int, err error) {
	stored, rows = map[useKey]use{}, map[string]int{}
	q := table.NewStatement(tx.Dialect)
	q.Add("SELECT u.package, u.version, u.part, u.images, u.licenses FROM ")
	q.Add(q.Parents(dbconn.ParentColumn{Name: "k", Bytes: packages}))
	q.Add(" CROSS JOIN package_use u WHERE u.parent = ? AND u.package = p.k", repo)
	err = tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var of, version []byte
		var part int64
		var read use
		if err := scan(&of, &version, &part, table.JSONOf(&read.images), table.JSONOf(&read.licenses)); err != nil {
			return err
		}
		stored[useKey{string(of) + string(version), part}] = read
		rows[string(of)]++
		return nil
	}))
	return stored, rows, err
}

// A use is which images of a repo hold a version, and with which licenses.
type use struct {
	images   []int64 // their numbers, sorted
	licenses []useLicenses
}

// useLicenses are licenses that documents give a version. One element of a list names no images: it is for all that
// the others do not name.
type useLicenses struct {
	Licenses []string `json:"l,omitempty"`
	Folded   []string `json:"f,omitempty"` // by which they are found: folded, with those of expressions
	Images   []int64  `json:"i,omitempty"`
}

// newUseLicenses returns the licenses of a use, without images.
func newUseLicenses(licenses []string) (l useLicenses) {
	for _, text := range licenses {
		if text != ecosystem.NoLicense {
			l.Licenses = append(l.Licenses, text)
		}
		for _, id := range append(ecosystem.LicenseIDs(text), text) {
			l.Folded = append(l.Folded, ecosystem.FoldLicense(id))
		}
	}
	slices.Sort(l.Folded)
	l.Folded = slices.Compact(l.Folded)
	return l
}

// ofUse returns the licenses as those of a use.
func (l useLicenses) ofUse() []string {
	if l.Licenses == nil && l.Folded != nil {
		return []string{ecosystem.NoLicense}
	}
	return l.Licenses
}

// licensesOf returns the licenses of an image.
func (u use) licensesOf(image int64) []string {
	var rest []string
	for _, l := range u.licenses {
		if slices.Contains(l.Images, image) {
			return l.ofUse()
		}
		if l.Images == nil {
			rest = l.ofUse()
		}
	}
	return rest
}

// change returns the use after changes.
func (u use) change(changes []inventory.PackageUse) use {
	is, changed := use{images: slices.Clone(u.images)}, map[int64][]string{}
	for _, c := range changes {
		at, known := slices.BinarySearch(is.images, c.Image)
		switch {
		case known && c.IsGone:
			is.images = slices.Delete(is.images, at, at+1)
		case !known && !c.IsGone:
			is.images = slices.Insert(is.images, at, c.Image)
		}
		changed[c.Image] = c.Licenses
	}
	for _, image := range is.images {
		licenses, isChanged := changed[image]
		if !isChanged {
			licenses = u.licensesOf(image)
		}
		at := slices.IndexFunc(is.licenses, func(l useLicenses) bool { return slices.Equal(l.ofUse(), licenses) })
		if at < 0 {
			at = len(is.licenses)
			is.licenses = append(is.licenses, newUseLicenses(licenses))
		}
		is.licenses[at].Images = append(is.licenses[at].Images, image)
	}
	slices.SortStableFunc(is.licenses, func(a, b useLicenses) int { return len(b.Images) - len(a.Images) })
	switch {
	case len(is.licenses) == 1 && is.licenses[0].ofUse() == nil:
		is.licenses = nil
	case len(is.licenses) > 0:
		is.licenses[0].Images = nil
	}
	return is
}

var useColumns = []string{"root_key", "rest", "parent", "package", "version", "part", "images", "licenses", "n"}

func useValues(repo core.UID, k useKey, u use) []any {
	list, _ := json.Marshal(u.images) // cannot fail for numbers
	return []any{
		table.ScopeKey(repo.Root()), table.RestOf(repo), table.PackUID(repo), []byte(k.packageEnd()), []byte(k.version[table.SegmentLength:]), k.part,
		string(list), table.JSONText(u.licenses), int64(len(u.images)),
	}
}

const findUse = " WHERE parent = ? AND package = ? AND version = ? AND part = ?"

func (tx *transaction) updateUse(repo core.UID, k useKey, u use) *dbconn.Statement {
	values := useValues(repo, k, u)
	return table.NewStatement(tx.Dialect).Add("UPDATE package_use SET images = ?, licenses = ?, n = ?"+findUse, slices.Concat(values[6:], values[2:6])...).Build(nil)
}

func (tx *transaction) deleteUse(repo core.UID, k useKey) *dbconn.Statement {
	return table.NewStatement(tx.Dialect).Add("DELETE FROM package_use"+findUse, useValues(repo, k, use{})[2:6]...).Build(nil)
}

// countHolders changes how many repos hold the packages that a repo holds now and did not hold
// before, or the other way round.
func (tx *transaction) countHolders(ctx context.Context, root core.UID, before, after map[string]int) error {
	for _, by := range []int64{1, -1} {
		var uids []core.UID
		for of, n := range after {
			if n > 0 && before[of] == 0 && by > 0 || n == 0 && before[of] > 0 && by < 0 {
				uid, _ := core.UnpackUID(append(table.PackUID(root), of...))
				uids = append(uids, uid)
			}
		}
		if len(uids) == 0 {
			continue
		}
		if err := tx.Conn.Run(ctx, table.NewStatement(tx.Dialect).Add("UPDATE package SET uses = uses + ? WHERE uid ?", by, table.UIDKeys(uids)).Build(nil)); err != nil {
			return err
		}
	}
	return nil
}

// compactBytes sorts keys, and leaves out those that occur again.
func compactBytes(keys [][]byte) [][]byte {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = string(k)
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	for i, text := range texts {
		keys[i] = []byte(text)
	}
	return keys[:len(texts)]
}
