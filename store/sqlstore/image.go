package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// Images reads images by repo and digest.
func (queries) Images(ctx context.Context, on core.Conn, keys inventory.ImageKeys) ([]*inventory.Image, error) {
	s := tablesOf(on)
	wanted := keys.Keys()
	repos, digests := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, k := range wanted {
		repos[i], digests[i] = table.PackUID(k.Repo), k.Digest
	}
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT DISTINCT m.repo, m.digest, m.architectures, m.packages, m.base_name, m.base_digest FROM ")
	q.Add(q.Parents(table.UIDPairs(repos, digests)...))
	// CROSS JOIN makes SQLite look up each image instead of reading all of them.
	q.Add(" CROSS JOIN image m WHERE m.repo = p.k AND m.digest = p.inside")
	var images []*inventory.Image
	err := s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		i := new(inventory.Image)
		images = append(images, i)
		return scan(table.UIDOf(&i.Repo), &i.Digest, table.JSONOf(&i.Architectures), table.JSONOf(&i.Packages), &i.BaseName, &i.BaseDigest)
	}))
	return images, err
}

// An imageTable lists live images, in the order of their repos and numbers. Nothing writes through it.
type imageTable struct {
	core.RowWriter[*inventory.Image]
}

// Get finds nothing: images have no UIDs.
func (imageTable) Get(context.Context, core.Conn, core.Keys) ([]*inventory.Image, error) {
	return nil, nil
}

func (imageTable) List(ctx context.Context, on core.Conn, q core.Query[*inventory.ImageFilter]) (core.Rows[*inventory.Image], error) {
	return imageLists{tablesOf(on)}.List(ctx, q)
}

func (imageTable) ListEach(ctx context.Context, on core.Conn, q core.Query[*inventory.ImageFilter], scopes []core.Scope) ([]core.Rows[*inventory.Image], error) {
	return imageLists{tablesOf(on)}.ListEach(ctx, q, scopes)
}

// imageLists reads pages of images through a store or a transaction.
type imageLists struct{ tables }

// List reads one page.
func (r imageLists) List(ctx context.Context, q core.Query[*inventory.ImageFilter]) (core.Rows[*inventory.Image], error) {
	if len(q.Filter.VulnerabilityIDs) > 0 {
		return r.listAffected(ctx, q)
	}
	narrowed := make([]core.Scope, 1)
	narrowed[0] = q.Scope.Holding(q.Filter.Holds)
	found, err := r.ListEach(ctx, q, narrowed)
	if err != nil {
		return core.Rows[*inventory.Image]{}, err
	}
	return found[0], nil
}

// An imagePlace is the place of an image in the order of lists.
type imagePlace struct {
	repo   core.UID
	number int64
}

func placeOf(i *inventory.Image) imagePlace { return imagePlace{i.Repo, i.Number} }

// placeAt returns the place at a position.
func placeAt(p *core.Position) imagePlace {
	return imagePlace{p.UID.Parent(), inventory.ImageNumber(p.UID)}
}

// isAfter reports whether a place comes after the position of a query, in its direction.
func isAfter(at imagePlace, q core.Query[*inventory.ImageFilter]) bool {
	if q.From == nil {
		return true
	}
	order := at.compare(placeAt(q.From))
	if q.Backward != q.Order.Desc {
		return order < 0
	}
	return order > 0
}

func (p imagePlace) compare(other imagePlace) int {
	return cmp.Or(cmp.Compare(p.repo, other.repo), cmp.Compare(p.number, other.number))
}

// A useList has the uses of the versions of a list of images, one for each branch of its scope.
type useList struct {
	scopes                     []int // indices in the list of scopes
	versions, roots, low, past [][]byte
}

func newUseList(scopes []core.Scope) *useList {
	l := new(useList)
	for i, scope := range scopes {
		for _, b := range scope.Branches {
			if b.Holds == "" || b.UID != "" && b.UID.Root() != b.Holds.Root() {
				continue
			}
			l.scopes, l.versions = append(l.scopes, i), append(l.versions, table.LocalOf(b.Holds))
			l.roots, l.low, l.past = append(l.roots, table.ScopeKey(b.Holds.Root())), append(l.low, table.RestOf(b.UID)), append(l.past, table.PastRest(b.UID))
		}
	}
	return l
}

func (l *useList) columns() []dbconn.ParentColumn {
	return []dbconn.ParentColumn{{Name: "k", Bytes: l.versions}, {Name: "root", Bytes: l.roots}, {Name: "low", Bytes: l.low}, {Name: "past", Bytes: l.past}}
}

const usesOfVersion = "t.root_key = p.root AND t.version = p.k AND t.rest >= p.low AND t.rest < p.past"

// ListEach reads a page of the images of each scope that hold the version of its branches. Each use names
// the images of one repo, so as many uses as a page has images suffice.
func (r imageLists) ListEach(ctx context.Context, q core.Query[*inventory.ImageFilter], scopes []core.Scope) ([]core.Rows[*inventory.Image], error) {
	found, uses := make([]core.Rows[*inventory.Image], len(scopes)), newUseList(scopes)
	if len(uses.scopes) == 0 {
		return found, nil
	}
	places := make([][]imagePlace, len(scopes))
	var run []*dbconn.Statement
	if q.Parts.Has(core.PartItems) {
		run = append(run, r.pageOfUses(q, uses, places))
	}
	if q.Parts.Has(core.PartTotal) {
		run = append(run, r.countUses(uses, found))
	}
	if err := r.Reads.Run(ctx, run...); err != nil {
		return nil, err
	}
	return found, r.describe(ctx, q, places, found)
}

// pageOfUses builds a statement that reads the images of the uses in which a page begins.
func (r imageLists) pageOfUses(q core.Query[*inventory.ImageFilter], uses *useList, into [][]imagePlace) *dbconn.Statement {
	s := table.NewStatement(r.Dialect)
	s.Add("SELECT p.i, t.parent, t.images FROM ")
	page := s.Follow()
	parents := page.Parents(uses.columns()...)
	page.Add(usesOfVersion)
	sign, direction := ">=", ""
	if q.Backward != q.Order.Desc {
		sign, direction = "<=", " DESC"
	}
	if q.From != nil {
		from := placeAt(q.From)
		page.Add(" AND (t.rest, t.part) "+sign+" (?, ?)", table.RestOf(from.repo), from.number/imagesPerUse)
	}
	page.Add(" ORDER BY t.rest"+direction+", t.part"+direction+" LIMIT ?", int64(q.MaxRows()+q.Skip+1)) // one may be all before the page
	s.AddPerParent(parents, "package_use", "t.parent, t.images", page)
	return s.Build(func(scan func(...any) error) error {
		var i int64
		var repo core.UID
		var numbers []int64
		if err := scan(&i, table.UIDOf(&repo), table.JSONOf(&numbers)); err != nil {
			return err
		}
		to := uses.scopes[i-1]
		for _, number := range numbers {
			at := imagePlace{repo, number}
			if isAfter(at, q) {
				into[to] = append(into[to], at)
			}
		}
		return nil
	})
}

// countUses builds a statement that counts the images of each list.
func (r imageLists) countUses(uses *useList, into []core.Rows[*inventory.Image]) *dbconn.Statement {
	s := table.NewStatement(r.Dialect)
	s.AddSlow("SELECT p.i, CAST(SUM(t.n) AS BIGINT) FROM ").Add(s.Parents(uses.columns()...)).Add(" CROSS JOIN package_use t WHERE " + usesOfVersion + " GROUP BY p.i")
	return s.Build(func(scan func(...any) error) error {
		var i, n int64
		err := scan(&i, &n)
		into[uses.scopes[i-1]].Total += n
		return err
	})
}

// describe trims the places of images to pages, and reads the images.
func (r imageLists) describe(ctx context.Context, q core.Query[*inventory.ImageFilter], places [][]imagePlace, found []core.Rows[*inventory.Image]) error {
	var repos [][]byte
	var numbers []string
	for i := range places {
		slices.SortFunc(places[i], func(a, b imagePlace) int {
			if q.Backward != q.Order.Desc {
				a, b = b, a
			}
			return a.compare(b)
		})
		places[i] = places[i][min(q.Skip, len(places[i])):]
		places[i], found[i].More = table.TrimPage(places[i], q.Limit, q.Backward)
		for _, at := range places[i] {
			repos, numbers = append(repos, table.PackUID(at.repo)), append(numbers, strconv.FormatInt(at.number, 10))
		}
	}
	if len(repos) == 0 {
		return nil
	}
	byPlace := map[imagePlace]*inventory.Image{}
	s := table.NewStatement(r.Dialect)
	s.Add("SELECT m.parent, m.digest, m.number, COALESCE(i.architectures, ''), COALESCE(i.packages, '') FROM ").Add(s.Parents(table.UIDPairs(repos, numbers)...))
	s.Add(" CROSS JOIN image_status m LEFT JOIN image i ON i.repo = m.parent AND i.digest = m.digest WHERE m.parent = p.k AND m.number = CAST(p.inside AS BIGINT)")
	err := r.Reads.Run(ctx, s.Build(func(scan func(...any) error) error {
		i := new(inventory.Image)
		err := scan(table.UIDOf(&i.Repo), &i.Digest, &i.Number, table.JSONOf(&i.Architectures), table.JSONOf(&i.Packages))
		byPlace[placeOf(i)] = i
		return err
	}))
	for i := range places {
		for _, at := range places[i] {
			if image := byPlace[at]; image != nil {
				found[i].Items = append(found[i].Items, image)
			}
		}
	}
	return err
}

// listAffected reads a page of the images with open findings of a vulnerability.
func (r imageLists) listAffected(ctx context.Context, q core.Query[*inventory.ImageFilter]) (core.Rows[*inventory.Image], error) {
	found, places := make([]core.Rows[*inventory.Image], 1), make([][]imagePlace, 1)
	var run []*dbconn.Statement
	if q.Parts.Has(core.PartItems) {
		run = append(run, r.pageOfAffected(q, &places[0]))
	}
	if q.Parts.Has(core.PartTotal) {
		s := table.NewStatement(r.Dialect)
		s.AddSlow("SELECT COUNT(*) FROM (SELECT DISTINCT f.parent, f.digest FROM finding f WHERE ")
		addAffected(s, q)
		run = append(run, s.Add(") d").Build(func(scan func(...any) error) error { return scan(&found[0].Total) }))
	}
	err := r.Reads.Run(ctx, run...)
	if err == nil {
		err = r.describe(ctx, q, places, found)
	}
	return found[0], err
}

// pageOfAffected builds a statement that reads the places of images with open findings of a vulnerability, up to the
// end of a page.
func (r imageLists) pageOfAffected(q core.Query[*inventory.ImageFilter], into *[]imagePlace) *dbconn.Statement {
	s := table.NewStatement(r.Dialect)
	s.AddSlow("SELECT DISTINCT f.parent, m.number FROM finding f CROSS JOIN image_status m WHERE m.parent = f.parent AND m.digest = f.digest AND ")
	addAffected(s, q)
	sign, direction := ">", ""
	if q.Backward != q.Order.Desc {
		sign, direction = "<", " DESC"
	}
	if q.From != nil {
		from := placeAt(q.From)
		s.Add(" AND (f.parent, m.number) "+sign+" (?, ?)", from.repo, from.number)
	}
	s.Add(" ORDER BY f.parent"+direction+", m.number"+direction+" LIMIT ?", int64(q.MaxRows()+q.Skip))
	return s.Build(func(scan func(...any) error) error {
		var at imagePlace
		err := scan(table.UIDOf(&at.repo), &at.number)
		*into = append(*into, at)
		return err
	})
}

// addAffected adds the condition that a finding f is an open one of the vulnerabilities of a query, and in its scope.
func addAffected(s *table.Statement, q core.Query[*inventory.ImageFilter]) {
	addOpenVulnerability(s, q.Filter.VulnerabilityIDs)
	s.Add(" AND (")
	for i, b := range q.Scope.Branches {
		if i > 0 {
			s.Add(" OR ")
		}
		s.Add("f.root_key = ? AND f.rest >= ? AND f.rest < ?", table.ScopeKey(b.UID.Root()), table.RestOf(b.UID), table.PastRest(b.UID))
	}
	s.Add(")")
}

// PutImages inserts or replaces images.
func (queries) PutImages(ctx context.Context, in core.Tx, images []*inventory.Image) error {
	tx := transactionOf(in)
	run := make([]*dbconn.Statement, len(images))
	for n, i := range images {
		q := table.NewStatement(tx.Dialect)
		q.Add("INSERT INTO image (repo, digest, architectures, packages, base_name, base_digest) VALUES (?, ?, ?, ?, ?, ?)",
			i.Repo, i.Digest, table.JSONText(&i.Architectures), table.JSONText(&i.Packages), i.BaseName, i.BaseDigest)
		q.Add(" ON CONFLICT (repo, digest) DO UPDATE SET architectures = excluded.architectures, packages = excluded.packages," +
			" base_name = excluded.base_name, base_digest = excluded.base_digest")
		run[n] = q.Build(nil)
		tx.tasks = append(tx.tasks, inventory.FindingTask{Subject: i.Repo, Digest: i.Digest})
	}
	err := tx.Conn.Run(ctx, run...)
	if errors.Is(err, dbconn.ErrForeignKey) {
		return core.ErrNoParent
	}
	return err
}
