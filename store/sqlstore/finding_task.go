package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

var taskColumns = []string{"root", "subject", "digest", "advisory"}

// insertTasks stores tasks, each once. It returns the statements that do so, unless there are
// many.
func (tx *transaction) insertTasks(ctx context.Context, tasks []inventory.FindingTask) ([]*dbconn.Statement, error) {
	seen := make(map[inventory.FindingTask]bool, len(tasks))
	// The tasks of a repo follow each other, so that one transaction ends them, with one event for an image.
	slices.SortStableFunc(tasks, func(a, b inventory.FindingTask) int { return strings.Compare(string(a.Subject), string(b.Subject)) })
	var rows [][]any
	for _, t := range tasks {
		if !seen[t] {
			seen[t] = true
			rows = append(rows, []any{table.PackUID(t.Subject.Root()), table.PackUID(t.Subject), t.Digest, table.OrNull(t.Advisory)})
		}
	}
	if len(rows) >= table.CopyThreshold {
		return nil, tx.Conn.Copy(ctx, "finding_task", taskColumns, rows)
	}
	return table.InsertStatements(tx.Dialect, "finding_task", taskColumns, rows), nil
}

// AddFindingTasks adds tasks to those of the transaction.
func (queries) AddFindingTasks(_ context.Context, in core.Tx, tasks []inventory.FindingTask) error {
	tx := transactionOf(in)
	tx.tasks = append(tx.tasks, tasks...)
	return nil
}

// HeldInRepo reads the first finding of each representative.
func (queries) HeldInRepo(ctx context.Context, on core.Conn, repo core.UID, representatives []core.UID) (held []core.UID, err error) {
	s := tablesOf(on)
	packed := make([][]byte, len(representatives))
	for i, uid := range representatives {
		packed[i] = table.PackUID(uid)
	}
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT p.k FROM ").Add(q.Parents(dbconn.ParentColumn{Name: "k", Bytes: packed}))
	q.Add(" WHERE (SELECT 1 FROM finding f WHERE f.representative = p.k AND f.parent = ? AND f.count_class > 0 LIMIT 1) = 1", repo)
	err = s.Reads.Run(ctx, q.Build(collectUIDs(&held)))
	return held, err
}

// HasFindingTask looks for a task among those of an organization.
func (queries) HasFindingTask(ctx context.Context, on core.Conn, image core.ImageKey) (has bool, err error) {
	s := tablesOf(on)
	q := table.NewStatement(s.Dialect).Add("SELECT 1 FROM finding_task WHERE root = ? AND subject = ? AND digest IN ('', ?) LIMIT 1", image.Repo.Root(), image.Repo, image.Digest)
	err = s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error { var one int64; has = true; return scan(&one) }))
	return has, err
}

// NextFindingRoot returns the first organization after another one that has tasks.
func (queries) NextFindingRoot(ctx context.Context, on core.Conn, after core.UID) (root core.UID, err error) {
	s := tablesOf(on)
	q := table.NewStatement(s.Dialect).Add("SELECT root FROM finding_task WHERE root > ? ORDER BY root LIMIT 1", after)
	err = s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error { return scan(table.UIDOf(&root)) }))
	return root, err
}

// FindingTasks reads the oldest tasks of an organization.
func (queries) FindingTasks(ctx context.Context, in core.Tx, root core.UID, limit int) ([]inventory.FindingTask, error) {
	tx := transactionOf(in)
	var tasks []inventory.FindingTask
	q := table.NewStatement(tx.Dialect).Add("SELECT id, subject, digest, advisory FROM finding_task WHERE root = ? ORDER BY id LIMIT ?", root, int64(limit))
	err := tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var t inventory.FindingTask
		err := scan(&t.ID, table.UIDOf(&t.Subject), &t.Digest, table.UIDOf(&t.Advisory))
		tasks = append(tasks, t)
		return err
	}))
	return tasks, err
}

// EndFindingTasks deletes tasks.
func (queries) EndFindingTasks(in core.Tx, tasks []inventory.FindingTask) {
	tx := transactionOf(in)
	if len(tasks) == 0 {
		return
	}
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = fmt.Sprint(t.ID)
	}
	q := table.NewStatement(tx.Dialect).Add("DELETE FROM finding_task WHERE id IN (SELECT CAST(p.k AS BIGINT) FROM ")
	q.Add(q.Parents(dbconn.ParentColumn{Name: "k", Texts: ids}))
	tx.Conn.Queue(q.Add(")").Build(nil))
}

// AddReviewTasks adds tasks for all repos.
func (queries) AddReviewTasks(ctx context.Context, in core.Tx) error {
	tx := transactionOf(in)
	return tx.Conn.Run(ctx, table.NewStatement(tx.Dialect).Add("INSERT INTO finding_task (root, subject, digest) SELECT r.root, r.uid, '' FROM repo r").Build(nil))
}

// NextExpiry reads the first entry of each of two indexes.
func (queries) NextExpiry(ctx context.Context, on core.Conn, after core.Time) (next core.Time, err error) {
	s := tablesOf(on)
	q := table.NewStatement(s.Dialect).Add("SELECT e.t FROM (SELECT * FROM (SELECT f.expire_time AS t FROM finding f WHERE f.state <> 'FINDING_STATE_OPEN' AND f.count_class > 0")
	q.Add(" AND f.expire_time > ? ORDER BY f.expire_time LIMIT 1) a UNION ALL SELECT * FROM (SELECT r.expire_time FROM triage_rule r WHERE r.expire_time > ?", after, after)
	err = s.Conn.Run(ctx, q.Add(" ORDER BY r.expire_time LIMIT 1) b) e ORDER BY e.t LIMIT 1").Build(func(scan func(...any) error) error { return scan(table.TimeOf(&next)) }))
	return next, err
}

// ExpiredTasks lists images of findings whose exceptions have ended.
func (queries) ExpiredTasks(ctx context.Context, on core.Conn, now core.Time, limit int) (tasks []inventory.FindingTask, err error) {
	s := tablesOf(on)
	q := table.NewStatement(s.Dialect).Add("SELECT DISTINCT f.parent, f.digest FROM finding f WHERE f.state <> 'FINDING_STATE_OPEN' AND f.count_class > 0")
	q.Add(" AND f.expire_time > ? AND f.expire_time <= ? ORDER BY f.parent, f.digest LIMIT ?", core.Time{}, now, int64(limit))
	err = s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var t inventory.FindingTask
		err := scan(table.UIDOf(&t.Subject), &t.Digest)
		tasks = append(tasks, t)
		return err
	}))
	return tasks, err
}

// ImageFacts reads tags, names of packages, SBOMs and statuses of images: one statement each.
func (queries) ImageFacts(ctx context.Context, in core.Tx, repo core.UID, digests []string) ([]*inventory.ImageFacts, error) {
	tx := transactionOf(in)
	byDigest := map[string]*inventory.ImageFacts{}
	fact := func(digest string) *inventory.ImageFacts {
		f := byDigest[digest]
		if f == nil {
			f = &inventory.ImageFacts{Digest: digest}
			byDigest[digest] = f
		}
		return f
	}
	for _, digest := range digests {
		fact(digest)
	}
	read := func(selected, from, column string, row func(scan func(...any) error) error) *dbconn.Statement {
		q := table.NewStatement(tx.Dialect).Add("SELECT "+selected+" FROM "+from+" t WHERE t."+column+" = ?", repo)
		if digests != nil {
			q.Add(" AND t.digest ?", table.Values(digests))
		}
		return q.Build(row)
	}
	root, documents := repo.Root(), map[string][]storedDocument{}
	err := tx.Conn.Run(ctx,
		read("DISTINCT t.digest, t.deprecated, t.class", "tag", "parent", func(scan func(...any) error) error {
			var digest, class string
			var deprecated bool
			err := scan(&digest, &deprecated, &class)
			if f := fact(digest); !deprecated && class != string(inventory.TagClassReferrer) {
				f.IsLive = true
			}
			return err
		}),
		read("t.digest, t.packages", "image", "repo", func(scan func(...any) error) error {
			var digest string
			var names []string
			err := scan(&digest, table.JSONOf(&names))
			if f := byDigest[digest]; f != nil {
				f.Names = names
			}
			return err
		}),
		read("t.digest, t.components, t.placements, COALESCE(t.used, t.components)", "sbom", "repo", func(scan func(...any) error) error {
			var digest string
			var d storedDocument
			var used []byte
			err := scan(&digest, &d.components, &d.placements, &used)
			f := fact(digest)
			f.HasSBOM, f.UsedComponents, documents[digest] = true, append(f.UsedComponents, splitEnds(root, used)...), append(documents[digest], d)
			return err
		}),
		read(statusColumns, "image_status", "parent", func(scan func(...any) error) error {
			status, err := scanStatus(scan)
			fact(status.Digest).Status = status
			return err
		}))
	facts := make([]*inventory.ImageFacts, 0, len(byDigest))
	for _, f := range byDigest {
		f.Components, f.Direct = joinDocuments(root, documents[f.Digest])
		f.UsedComponents = distinctUIDs(f.UsedComponents)
		facts = append(facts, f)
	}
	slices.SortFunc(facts, func(a, b *inventory.ImageFacts) int { return strings.Compare(a.Digest, b.Digest) })
	return facts, err
}

func distinctUIDs(uids []core.UID) []core.UID {
	slices.Sort(uids)
	return slices.Compact(uids)
}

// TriageFacts reads what an update of findings is about: one statement each.
func (queries) TriageFacts(ctx context.Context, in core.Tx, images inventory.ImageKeys, representatives []core.UID) (facts inventory.TriageFacts, err error) {
	tx := transactionOf(in)
	var uids []core.UID
	for _, k := range images.Keys() {
		uids = append(uids, k.Repo)
	}
	uids = distinctUIDs(uids)
	err = tx.Conn.Run(ctx, repos.SelectAll(tx.Dialect, uids, &facts.Repos), selectRepresented(tx.Dialect, representatives, uids, &facts.Advisories),
		tx.selectStatuses(images, &facts.Statuses))
	return facts, err
}

// selectRepresented returns a statement that reads the advisories for repos that others represent.
func selectRepresented(dialect *dbconn.Dialect, representatives, repos []core.UID, into *[]*inventory.Advisory) *dbconn.Statement {
	groups := []core.UID{inventory.FeedGroup}
	for _, repo := range repos {
		groups = append(groups, repo.Ancestors()...)
	}
	p := advisories.ProjectAll()
	q := table.NewStatement(dialect).Add("SELECT "+p.Selected+" FROM advisory t WHERE t.representative ?", table.UIDValues(representatives))
	return q.Add(" AND t.count_class > 0 AND t.parent ?", table.UIDValues(distinctUIDs(groups))).Build(p.Collect(into))
}

// RepresentedAdvisories reads advisories by those that represent them.
func (queries) RepresentedAdvisories(ctx context.Context, on core.Conn, representatives, repos []core.UID) (found []*inventory.Advisory, err error) {
	s := tablesOf(on)
	err = s.Reads.Run(ctx, selectRepresented(s.Dialect, distinctUIDs(representatives), repos, &found))
	return found, err
}

// ShiftOpenFindings changes how many open findings a repo shows, and how many were open in it and in the groups above on the day of
// now and later. The root comes first in all transactions, so that they do not wait for each other in a circle.
func (queries) ShiftOpenFindings(in core.Tx, repo *inventory.Repo, by inventory.OpenCounts, now core.Time) {
	tx := transactionOf(in)
	was := inventory.ParseOpenCounts(repo.OpenSeverity)
	is := was.Plus(by)
	repo.OpenSeverity = is.Text()
	tx.countAffected(affectedRepos, table.ChildOf(repo.UID), was.Total() > 0, is.Total() > 0)
	show := table.NewStatement(tx.Dialect).Add("UPDATE repo SET open_severity = ?, affected = ? WHERE uid = ?", is.Text(), is.Total() > 0, repo.UID)
	change := table.NewStatement(tx.Dialect).Add("INSERT INTO open_finding_change AS t (scope, quarter, r0, r1, r2, r3, r4, r5) VALUES ")
	for i, scope := range append(repo.UID.Ancestors(), repo.UID) {
		if i > 0 {
			change.Add(", ")
		}
		change.Add("(?, ?, ?, ?, ?, ?, ?, ?)", scope, quarterNumber(now), by[0], by[1], by[2], by[3], by[4], by[5])
	}
	change.Add(" ON CONFLICT (scope, quarter) DO UPDATE SET r0 = t.r0 + excluded.r0, r1 = t.r1 + excluded.r1, r2 = t.r2 + excluded.r2," +
		" r3 = t.r3 + excluded.r3, r4 = t.r4 + excluded.r4, r5 = t.r5 + excluded.r5")
	tx.Conn.Queue(show.Build(nil), change.Build(nil))
}

// Holders lists the live images of a repo that hold packages with one of normal names.
func (queries) Holders(ctx context.Context, on core.Conn, repo core.UID, names []string) ([]inventory.Holder, error) {
	s := tablesOf(on)
	var holders []inventory.Holder
	packed := table.PackUID(repo.Root())
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT m.digest, u.package, u.version FROM package k CROSS JOIN package_use u CROSS JOIN ").AddElements("u.images").Add(" CROSS JOIN image_status m")
	q.Add(" WHERE k.root = ?", repo.Root()).Add(" AND k.normal_name ?", table.Values(names))
	q.Add(" AND u.parent = ? AND u.package = substr(k.uid, 21, 8) AND m.parent = u.parent AND m.number = CAST(e.value AS BIGINT)", repo)
	err := s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var h inventory.Holder
		var of, version []byte
		if err := scan(&h.Digest, &of, &version); err != nil {
			return err
		}
		h.Version, _ = core.UnpackUID(slices.Concat(packed, of, version))
		holders = append(holders, h)
		return nil
	}))
	return holders, err
}

// ReposOfAdvisories lists the repos that advisories are for.
func (queries) ReposOfAdvisories(ctx context.Context, in core.Tx, root core.UID, all []inventory.AdvisoryReach) (map[core.UID][]core.UID, error) {
	tx := transactionOf(in)
	var names, digests []string
	uids := make([]core.UID, len(all))
	for i, a := range all {
		uids[i], names = a.Advisory, append(names, a.Names...)
		if a.Digest != "" {
			digests = append(digests, a.Digest)
		}
	}
	holders, err := tx.reposHolding(ctx, root, names)
	if err != nil {
		return nil, err
	}
	repos, byDigest := map[core.UID][]core.UID{}, map[string][]core.UID{}
	run := []*dbconn.Statement{
		table.NewStatement(tx.Dialect).Add("SELECT DISTINCT v.uid, f.parent FROM advisory v CROSS JOIN finding f WHERE v.uid ?", table.UIDValues(uids)).Add(" AND f.representative = v.representative").Build(func(scan func(...any) error) error {
			var advisory, repo core.UID
			err := scan(table.UIDOf(&advisory), table.UIDOf(&repo))
			repos[advisory] = append(repos[advisory], repo)
			return err
		}),
	}
	if len(digests) > 0 {
		q := table.NewStatement(tx.Dialect).Add("SELECT m.digest, m.parent FROM image_status m WHERE m.digest ?", table.Values(digests))
		if root != "" {
			q.Add(" AND m.root = ?", root)
		}
		run = append(run, q.Build(func(scan func(...any) error) error {
			var digest string
			var repo core.UID
			err := scan(&digest, table.UIDOf(&repo))
			byDigest[digest] = append(byDigest[digest], repo)
			return err
		}))
	}
	err = tx.Conn.Run(ctx, run...)
	for _, a := range all {
		for _, name := range a.Names {
			repos[a.Advisory] = append(repos[a.Advisory], holders[name]...)
		}
		repos[a.Advisory] = append(repos[a.Advisory], byDigest[a.Digest]...)
	}
	return repos, err
}

// reposHolding lists the repos that hold packages with normal names, by name: one statement for the packages, and
// one for who holds them.
func (tx *transaction) reposHolding(ctx context.Context, root core.UID, names []string) (map[string][]core.UID, error) {
	type key struct{ root, of string }
	nameOf := map[key]string{}
	var roots, packages [][]byte
	q := table.NewStatement(tx.Dialect).Add("SELECT k.uid, k.normal_name FROM package k WHERE k.normal_name ?", table.Values(names))
	if root != "" {
		q.Add(" AND k.root = ?", root)
	}
	err := tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var uid core.UID
		var name string
		err := scan(table.UIDOf(&uid), &name)
		nameOf[key{string(uid.Root()), string(table.LocalOf(uid))}] = name
		roots, packages = append(roots, table.ScopeKey(uid.Root())), append(packages, table.LocalOf(uid))
		return err
	}))
	if err != nil || len(packages) == 0 {
		return nil, err
	}
	holders := map[string][]core.UID{}
	q = table.NewStatement(tx.Dialect)
	q.Add("SELECT DISTINCT u.package, u.parent FROM ").Add(q.Parents(dbconn.ParentColumn{Name: "k", Bytes: roots}, dbconn.ParentColumn{Name: "inside", Bytes: packages}))
	q.Add(" CROSS JOIN package_use u WHERE u.root_key = p.k AND u.package = p.inside")
	err = tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var of []byte
		var repo core.UID
		err := scan(&of, table.UIDOf(&repo))
		if name, found := nameOf[key{string(repo.Root()), string(of)}]; found { // another organization can have the same key
			holders[name] = append(holders[name], repo)
		}
		return err
	}))
	return holders, err
}

// AdvisoriesNamed reads the advisories for a repo by the normal names of their artifacts.
func (queries) AdvisoriesNamed(ctx context.Context, on core.Conn, repo core.UID, names []string) ([]*inventory.Advisory, error) {
	s := tablesOf(on)
	if len(names) == 0 {
		return nil, nil
	}
	p := advisories.ProjectAll()
	q := table.NewStatement(s.Dialect)
	parents := q.Parents(dbconn.ParentColumn{Name: "k", Texts: names})
	q.Add("SELECT " + p.Selected + " FROM " + parents + " CROSS JOIN advisory t WHERE t.normal_name = p.k AND t.count_class > 0")
	q.Add(" AND t.parent ?", table.UIDValues(append(repo.Ancestors(), inventory.FeedGroup)))
	var found []*inventory.Advisory
	err := s.Reads.Run(ctx, q.Build(p.Collect(&found)))
	return found, err
}

// forgetOpenFindings takes the past of a repo out of that of the groups above.
func (tx *transaction) forgetOpenFindings(repo core.UID) {
	for _, scope := range repo.Ancestors() {
		q := table.NewStatement(tx.Dialect).Add("UPDATE open_finding_change AS t SET r0 = t.r0 - f.r0, r1 = t.r1 - f.r1, r2 = t.r2 - f.r2, r3 = t.r3 - f.r3, r4 = t.r4 - f.r4, r5 = t.r5 - f.r5")
		tx.Conn.Queue(q.Add(" FROM open_finding_change f WHERE f.scope = ? AND t.scope = ? AND t.quarter = f.quarter", repo, scope).Build(nil))
	}
}

// ForgetRepo takes a repo, its images and their findings out of the counters.
func (queries) ForgetRepo(ctx context.Context, in core.Tx, repo core.UID) error {
	tx := transactionOf(in)
	w := findings.Writer(tx)
	held := map[string]int{}
	var open string
	err := tx.Conn.Run(ctx,
		table.NewStatement(tx.Dialect).Add("SELECT t.count_class, COUNT(*) FROM finding t WHERE t.parent = ? GROUP BY t.count_class", repo).Build(func(scan func(...any) error) error {
			var class, n int64
			err := scan(&class, &n)
			tx.Count(w.Number, table.ChildOf(repo), w.HasFewWriters, -n)
			w.CountClass(table.ChildOf(repo), class, -n)
			return err
		}),
		table.NewStatement(tx.Dialect).Add("SELECT "+statusColumns+" FROM image_status t WHERE t.parent = ? AND (t.live OR t.affected)", repo).Build(func(scan func(...any) error) error {
			status, err := scanStatus(scan)
			tx.countImage(repo, status.Counted, inventory.ImageMarks{})
			return err
		}),
		table.NewStatement(tx.Dialect).Add("SELECT DISTINCT t.package FROM package_use t WHERE t.parent = ?", repo).Build(func(scan func(...any) error) error {
			var of []byte
			err := scan(&of)
			held[string(of)] = 1
			return err
		}),
		table.NewStatement(tx.Dialect).Add("SELECT t.open_severity FROM repo t WHERE t.uid = ?", repo).Build(func(scan func(...any) error) error { return scan(&open) }))
	if err != nil {
		return err
	}
	tx.forgetOpenFindings(repo)
	tx.countAffected(affectedRepos, table.ChildOf(repo), inventory.ParseOpenCounts(open).Total() > 0, false)
	gone := map[string]int{}
	for of := range held {
		gone[of] = 0
	}
	return tx.countHolders(ctx, repo.Root(), held, gone)
}

// addTask returns a function that adds the task of a changed row to those of the transaction: what may have changed
// findings.
func addTask[T any](of func(T) inventory.FindingTask) func(core.Tx, T) {
	return func(in core.Tx, row T) {
		tx := transactionOf(in)
		tx.tasks = append(tx.tasks, of(row))
	}
}
