package sqlstore

import (
	"cmp"
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
		addHeld(s, f.Held, "package", "substr(t.uid, 21, 8)")
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

// fewPackages is how many packages of a scope a list looks up by their UIDs. Of more, it looks at all of the organisation.
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
// has the value.
func addHeld(s *table.Statement, held core.Scope, column, value string) {
	if len(held.Branches) == 0 {
		return
	}
	s.Add(" AND (")
	for i, b := range held.Branches {
		if i > 0 {
			s.Add(" OR ")
		}
		if b.UID.IsRoot() && column == "package" {
			s.Add("t.uses > 0 AND t.root = ?", b.UID)
			continue
		}
		s.Add("EXISTS (SELECT 1 FROM package_use u WHERE u.root_key = ? AND u."+column+" = "+value, table.ScopeKey(b.UID.Root()))
		addUseWithin(s, b.UID)
		s.Add(")")
	}
	s.Add(")")
}

// addUseWithin adds the condition that a use u is one of repos within a UID.
func addUseWithin(s *table.Statement, within core.UID) {
	if !within.IsRoot() {
		s.Add(" AND u.rest >= ? AND u.rest < ?", table.RestOf(within), table.PastRest(within))
	}
}

// ends returns the part of the UIDs of versions that identifies them in their organisation: those
// of the package and of the version.
func ends(uids []core.UID) []byte {
	b := make([]byte, 0, len(uids)*2*table.SegmentLength)
	for _, u := range uids {
		b = append(b, table.RestOf(u)...)
	}
	return b
}

// splitEnds returns the UIDs whose ends were put together.
func splitEnds(root core.UID, b []byte) []core.UID {
	uids := make([]core.UID, 0, len(b)/(2*table.SegmentLength))
	packed := table.PackUID(root)
	for end := range slices.Chunk(b, 2*table.SegmentLength) {
		uid, _ := core.UnpackUID(slices.Concat(packed, end))
		uids = append(uids, uid)
	}
	return uids
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
		images := changeImages(was, list)
		switch {
		case !known && len(images) > 0:
			added = append(added, useValues(repo, k, images))
			after[k.packageEnd()]++
		case known && len(images) == 0:
			run = append(run, tx.deleteUse(repo, k))
			after[k.packageEnd()]--
		case known:
			run = append(run, tx.updateUse(repo, k, images))
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
func (tx *transaction) readUses(ctx context.Context, repo core.UID, packages [][]byte) (stored map[useKey][]int64, rows map[string]int, err error) {
	stored, rows = map[useKey][]int64{}, map[string]int{}
	q := table.NewStatement(tx.Dialect)
	q.Add("SELECT u.package, u.version, u.part, u.images FROM ")
	q.Add(q.Parents(dbconn.ParentColumn{Name: "k", Bytes: packages}))
	q.Add(" JOIN package_use u ON u.parent = ? AND u.package = p.k", repo)
	err = tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var of, version []byte
		var part int64
		var images []int64
		if err := scan(&of, &version, &part, table.JSONOf(&images)); err != nil {
			return err
		}
		stored[useKey{string(of) + string(version), part}] = images
		rows[string(of)]++
		return nil
	}))
	return stored, rows, err
}

// changeImages returns the numbers of the images that hold a version after changes, sorted.
func changeImages(images []int64, changes []inventory.PackageUse) []int64 {
	for _, u := range changes {
		at, known := slices.BinarySearch(images, u.Image)
		switch {
		case known && u.IsGone:
			images = slices.Delete(images, at, at+1)
		case !known && !u.IsGone:
			images = slices.Insert(images, at, u.Image)
		}
	}
	return images
}

var useColumns = []string{"root_key", "rest", "parent", "package", "version", "part", "images", "n"}

func useValues(repo core.UID, k useKey, images []int64) []any {
	list, _ := json.Marshal(images) // cannot fail for numbers
	return []any{
		table.ScopeKey(repo.Root()), table.RestOf(repo), table.PackUID(repo), []byte(k.packageEnd()), []byte(k.version[table.SegmentLength:]), k.part, string(list), int64(len(images)),
	}
}

const findUse = " WHERE parent = ? AND package = ? AND version = ? AND part = ?"

func (tx *transaction) updateUse(repo core.UID, k useKey, images []int64) *dbconn.Statement {
	values := useValues(repo, k, images)
	return table.NewStatement(tx.Dialect).Add("UPDATE package_use SET images = ?, n = ?"+findUse, slices.Concat(values[6:], values[2:6])...).Build(nil)
}

func (tx *transaction) deleteUse(repo core.UID, k useKey) *dbconn.Statement {
	return table.NewStatement(tx.Dialect).Add("DELETE FROM package_use"+findUse, useValues(repo, k, nil)[2:6]...).Build(nil)
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

// ImagePackages reads the packages of images: two statements, one for what the images hold, and
// one for the versions.
func (queries) ImagePackages(ctx context.Context, on core.Conn, keys inventory.ImageKeys) ([]*inventory.ImageContent, error) {
	s := tablesOf(on)
	wanted := keys.Keys()
	repos, digests := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, k := range wanted {
		repos[i], digests[i] = table.PackUID(k.Repo), k.Digest
	}
	type held struct {
		architecture string
		versions     []core.UID
	}
	byImage := map[core.ImageKey][]held{}
	var uids []core.UID
	add := func(k core.ImageKey, architecture string, ends []byte) {
		versions := splitEnds(k.Repo.Root(), ends)
		byImage[k] = append(byImage[k], held{architecture, versions})
		uids = append(uids, versions...)
	}
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT b.repo, b.digest, b.architecture, b.versions FROM ").Add(q.Parents(table.UIDPairs(repos, digests)...))
	q.Add(" CROSS JOIN sbom b WHERE b.repo = p.k AND b.digest = p.inside ORDER BY b.architecture")
	named := table.NewStatement(s.Dialect)
	named.Add("SELECT t.parent, t.digest, '', t.versions FROM ").Add(named.Parents(table.UIDPairs(repos, digests)...))
	named.Add(" CROSS JOIN image_status t WHERE t.parent = p.k AND t.digest = p.inside AND t.basis = ?", string(inventory.BasisName))
	hasSBOM := map[core.ImageKey]bool{}
	read := func(isSBOM bool) func(scan func(...any) error) error {
		return func(scan func(...any) error) error {
			var k core.ImageKey
			var architecture string
			var list []byte
			if err := scan(table.UIDOf(&k.Repo), &k.Digest, &architecture, &list); err != nil {
				return err
			}
			if isSBOM {
				hasSBOM[k] = true
			}
			if isSBOM || !hasSBOM[k] {
				add(k, architecture, list)
			}
			return nil
		}
	}
	if err := s.Reads.Run(ctx, q.Build(read(true)), named.Build(read(false))); err != nil {
		return nil, err
	}
	byUID := map[core.UID]*inventory.PackageVersion{}
	if len(uids) > 0 {
		slices.Sort(uids)
		versions := packageVersions.Reader(s)
		p := versions.ProjectAll()
		v := table.NewStatement(s.Dialect).Add("SELECT "+p.Selected+" FROM package_version t"+p.Joins+" WHERE t.uid ?", table.UIDKeys(slices.Compact(uids)))
		var found []*inventory.PackageVersion
		if err := s.Reads.Run(ctx, v.Build(p.Collect(&found))); err != nil {
			return nil, err
		}
		for _, v := range found {
			byUID[v.UID] = v
		}
	}
	contents := make([]*inventory.ImageContent, len(wanted))
	for i, k := range wanted {
		c := &inventory.ImageContent{Repo: k.Repo, Digest: k.Digest, Basis: inventory.BasisName}
		if hasSBOM[k] {
			c.Basis = inventory.BasisVersion
		}
		at := map[core.UID]int{}
		for _, h := range byImage[k] {
			for _, uid := range h.versions {
				v := byUID[uid]
				if v == nil {
					continue
				}
				n, known := at[uid]
				if !known {
					n = len(c.Packages)
					at[uid], c.Packages = n, append(c.Packages, inventory.ImagePackage{PackageVersion: v})
				}
				if h.architecture != "" {
					c.Packages[n].Architectures = append(c.Packages[n].Architectures, h.architecture)
				}
			}
		}
		slices.SortFunc(c.Packages, func(a, b inventory.ImagePackage) int {
			return cmp.Or(cmp.Compare(a.Package.Name, b.Package.Name), cmp.Compare(a.Package.Ecosystem, b.Package.Ecosystem), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.UID, b.UID))
		})
		contents[i] = c
	}
	return contents, nil
}
