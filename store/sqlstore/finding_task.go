package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

var taskColumns = []string{"root", "subject", "digest", "advisory"}

// insertTasks stores tasks, each once. It returns the statements that do so, unless there are
// many.
func (tx *transaction) insertTasks(ctx context.Context, tasks []platform.FindingTask) ([]*dbconn.Statement, error) {
	seen := make(map[platform.FindingTask]bool, len(tasks))
	// The tasks of a repo follow each other, so that one transaction ends them, with one event for an image.
	slices.SortStableFunc(tasks, func(a, b platform.FindingTask) int { return strings.Compare(string(a.Subject), string(b.Subject)) })
	var rows [][]any
	for _, t := range tasks {
		if !seen[t] {
			seen[t] = true
			rows = append(rows, []any{packUID(t.Subject.Root()), packUID(t.Subject), t.Digest, orNull(t.Advisory)})
		}
	}
	if len(rows) >= copyThreshold {
		return nil, tx.conn.Copy(ctx, "finding_task", taskColumns, rows)
	}
	return insertAll(tx.dialect, "finding_task", taskColumns, rows), nil
}

// AddFindingTasks adds tasks to those of the transaction.
func (queries) AddFindingTasks(_ context.Context, in platform.Tx, tasks []platform.FindingTask) error {
	tx := transactionOf(in)
	tx.tasks = append(tx.tasks, tasks...)
	return nil
}

// NextFindingRoot returns the first organisation after another one that has tasks.
func (queries) NextFindingRoot(ctx context.Context, on platform.Conn, after platform.UID) (root platform.UID, err error) {
	s := tablesOf(on)
	q := newStatement(s.dialect).add("SELECT root FROM finding_task WHERE root > ? ORDER BY root LIMIT 1", after)
	err = s.conn.Run(ctx, q.build(func(scan func(...any) error) error { return scan(keyOf(&root)) }))
	return root, err
}

// FindingTasks reads the oldest tasks of an organisation.
func (queries) FindingTasks(ctx context.Context, in platform.Tx, root platform.UID, limit int) ([]platform.FindingTask, error) {
	tx := transactionOf(in)
	var tasks []platform.FindingTask
	q := newStatement(tx.dialect).add("SELECT id, subject, digest, advisory FROM finding_task WHERE root = ? ORDER BY id LIMIT ?", root, int64(limit))
	err := tx.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		var t platform.FindingTask
		err := scan(&t.ID, keyOf(&t.Subject), &t.Digest, keyOf(&t.Advisory))
		tasks = append(tasks, t)
		return err
	}))
	return tasks, err
}

// EndFindingTasks deletes tasks.
func (queries) EndFindingTasks(in platform.Tx, tasks []platform.FindingTask) {
	tx := transactionOf(in)
	if len(tasks) == 0 {
		return
	}
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = fmt.Sprint(t.ID)
	}
	q := newStatement(tx.dialect).add("DELETE FROM finding_task WHERE id IN (SELECT CAST(p.k AS BIGINT) FROM ")
	q.add(q.parents(dbconn.ParentColumn{Name: "k", Texts: ids}))
	tx.conn.Queue(q.add(")").build(nil))
}

// AddReviewTasks adds tasks for all repos.
func (queries) AddReviewTasks(ctx context.Context, in platform.Tx) error {
	tx := transactionOf(in)
	return tx.conn.Run(ctx, newStatement(tx.dialect).add("INSERT INTO finding_task (root, subject, digest) SELECT r.root, r.uid, '' FROM repo r").build(nil))
}

// AddExpiredTasks adds tasks for the images of findings whose exceptions have ended.
func (queries) AddExpiredTasks(ctx context.Context, in platform.Tx, now platform.Time) error {
	tx := transactionOf(in)
	q := newStatement(tx.dialect).add("INSERT INTO finding_task (root, subject, digest) SELECT DISTINCT f.root, f.parent, f.digest FROM finding f")
	q.add(" WHERE f.state <> 'FINDING_STATE_OPEN' AND f.count_class > 0 AND f.expire_time > ? AND f.expire_time <= ?", platform.Time{}, now)
	return tx.conn.Run(ctx, q.build(nil))
}

// ImageFacts reads tags, names of packages, SBOMs and statuses of images: one statement each.
func (queries) ImageFacts(ctx context.Context, in platform.Tx, repo platform.UID, digests []string) ([]*platform.ImageFacts, error) {
	tx := transactionOf(in)
	byDigest := map[string]*platform.ImageFacts{}
	fact := func(digest string) *platform.ImageFacts {
		f := byDigest[digest]
		if f == nil {
			f = &platform.ImageFacts{Digest: digest}
			byDigest[digest] = f
		}
		return f
	}
	for _, digest := range digests {
		fact(digest)
	}
	read := func(selected, from, column string, row func(scan func(...any) error) error) *dbconn.Statement {
		q := newStatement(tx.dialect).add("SELECT "+selected+" FROM "+from+" t WHERE t."+column+" = ?", repo)
		if digests != nil {
			q.add(" AND t.digest ?", valueList(digests))
		}
		return q.build(row)
	}
	root := repo.Root()
	err := tx.conn.Run(ctx,
		read("DISTINCT t.digest, t.deprecated, t.class", "tag", "parent", func(scan func(...any) error) error {
			var digest, class string
			var deprecated bool
			err := scan(&digest, &deprecated, &class)
			if f := fact(digest); !deprecated && class != string(platform.TagClassReferrer) {
				f.IsLive = true
			}
			return err
		}),
		read("t.digest, t.packages", "image", "repo", func(scan func(...any) error) error {
			var digest string
			var names []string
			err := scan(&digest, jsonOf(&names))
			if f := byDigest[digest]; f != nil {
				f.Names = names
			}
			return err
		}),
		read("t.digest, t.versions, COALESCE(t.used, t.versions)", "sbom", "repo", func(scan func(...any) error) error {
			var digest string
			var versions, used []byte
			err := scan(&digest, &versions, &used)
			f := fact(digest)
			f.HasSBOM, f.Versions, f.Used = true, append(f.Versions, splitEnds(root, versions)...), append(f.Used, splitEnds(root, used)...)
			return err
		}),
		read(statusColumns, "image_status", "parent", func(scan func(...any) error) error {
			status, err := scanStatus(scan)
			fact(status.Digest).Status = status
			return err
		}))
	facts := make([]*platform.ImageFacts, 0, len(byDigest))
	for _, f := range byDigest {
		if f.Status != nil && f.Status.Basis == platform.BasisName {
			f.Used = f.Status.Versions
		}
		f.Versions, f.Used = distinctUIDs(f.Versions), distinctUIDs(f.Used)
		facts = append(facts, f)
	}
	slices.SortFunc(facts, func(a, b *platform.ImageFacts) int { return strings.Compare(a.Digest, b.Digest) })
	return facts, err
}

func distinctUIDs(uids []platform.UID) []platform.UID {
	slices.Sort(uids)
	return slices.Compact(uids)
}

const statusColumns = "t.parent, t.digest, t.number, t.live, t.basis, t.versions, t.open_severity, t.affected"

func scanStatus(scan func(...any) error) (*platform.ImageStatus, error) {
	status := new(platform.ImageStatus)
	var versions []byte
	var open string
	err := scan(keyOf(&status.Repo), &status.Digest, &status.Number, &status.IsLive, (*string)(&status.Basis), &versions, &open, &status.IsAffected)
	status.Versions, status.Open = splitEnds(status.Repo.Root(), versions), platform.ParseOpenCounts(open)
	return status, err
}

// selectStatuses returns a statement that reads the statuses of images.
func (tx *transaction) selectStatuses(images platform.ImageKeys, into *[]*platform.ImageStatus) *dbconn.Statement {
	keys := images.Keys()
	repos, digests := make([][]byte, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		repos[i], digests[i] = packUID(k.Repo), k.Digest
	}
	q := newStatement(tx.dialect)
	q.add("SELECT " + statusColumns + " FROM ").add(q.parents(uidPairs(repos, digests)...))
	q.add(" CROSS JOIN image_status t WHERE t.parent = p.k AND t.digest = p.inside ORDER BY t.parent, t.digest")
	return q.build(func(scan func(...any) error) error {
		status, err := scanStatus(scan)
		*into = append(*into, status)
		return err
	})
}

// ImageStatuses reads the statuses of images.
func (queries) ImageStatuses(ctx context.Context, in platform.Tx, images platform.ImageKeys) (found []*platform.ImageStatus, err error) {
	tx := transactionOf(in)
	err = tx.conn.Run(ctx, tx.selectStatuses(images, &found))
	return found, err
}

// TriageFacts reads what an update of findings is about: one statement each.
func (queries) TriageFacts(ctx context.Context, in platform.Tx, images platform.ImageKeys, about []platform.UID) (facts platform.TriageFacts, err error) {
	tx := transactionOf(in)
	var uids []platform.UID
	for _, k := range images.Keys() {
		uids = append(uids, k.Repo)
	}
	err = tx.conn.Run(ctx, repos.selectAll(tx.dialect, distinctUIDs(uids), &facts.Repos), advisories.selectAll(tx.dialect, about, &facts.Advisories),
		tx.selectStatuses(images, &facts.Statuses))
	return facts, err
}

// LastImageNumber returns the highest number of an image.
func (queries) LastImageNumber(ctx context.Context, in platform.Tx, repo platform.UID) (last int64, err error) {
	tx := transactionOf(in)
	q := newStatement(tx.dialect).add("SELECT CAST(COALESCE(MAX(t.number), 0) AS BIGINT) FROM image_status t WHERE t.parent = ?", repo)
	err = tx.conn.Run(ctx, q.build(func(scan func(...any) error) error { return scan(&last) }))
	return last, err
}

var storedStatusColumns = []string{"root", "parent", "digest", "number", "live", "basis", "versions", "open_severity", "affected", "parent_key"}

// PutImageStatuses replaces statuses, counts the images with open findings, and lets tags show what their
// images have.
func (queries) PutImageStatuses(in platform.Tx, repo platform.UID, statuses []*platform.ImageStatus) {
	tx := transactionOf(in)
	if len(statuses) == 0 {
		return
	}
	digests := make([]string, len(statuses))
	for i, status := range statuses {
		was, is := status.IsAffected, status.Open.Total() > 0
		digests[i], status.IsAffected = status.Digest, is
		tx.countAffected(affectedImages, childOf(repo), was, is)
		insert := newStatement(tx.dialect).add("INSERT INTO image_status ("+strings.Join(storedStatusColumns, ", ")+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			repo.Root(), repo, status.Digest, status.Number, status.IsLive, string(status.Basis), ends(status.Named()), status.Open.Text(), is, parentKey(repo))
		tx.conn.Queue(insert.add(" ON CONFLICT (parent, digest) DO UPDATE SET live = excluded.live, basis = excluded.basis, versions = excluded.versions," +
			" open_severity = excluded.open_severity, affected = excluded.affected").build(nil))
	}
	show := newStatement(tx.dialect).add("UPDATE tag AS t SET open_severity = m.open_severity FROM image_status m WHERE m.parent = ?", repo).add(" AND m.digest ?", valueList(digests))
	show.add(" AND t.parent_key = ? AND substr(t.digest, 8, 6) = substr(m.digest, 8, 6) AND t.digest = m.digest AND t.open_severity <> m.open_severity", parentKey(repo))
	tx.conn.Queue(show.build(nil))
}

// countAffected updates the counter of the rows with open findings.
func (tx *transaction) countAffected(number byte, uid platform.UID, was, is bool) {
	switch {
	case is && !was:
		tx.count(number, uid, true, 1)
	case was && !is:
		tx.count(number, uid, true, -1)
	}
}

// ShiftOpenFindings changes how many open findings a repo shows, and how many were open in it and in the groups above on the day of
// now and later. The root comes first in all transactions, so that they do not wait for each other in a circle.
func (queries) ShiftOpenFindings(in platform.Tx, repo *platform.Repo, by platform.OpenCounts, now platform.Time) {
	tx := transactionOf(in)
	was := platform.ParseOpenCounts(repo.OpenSeverity)
	is := was.Plus(by)
	repo.OpenSeverity = is.Text()
	tx.countAffected(affectedRepos, childOf(repo.UID), was.Total() > 0, is.Total() > 0)
	show := newStatement(tx.dialect).add("UPDATE repo SET open_severity = ?, affected = ? WHERE uid = ?", is.Text(), is.Total() > 0, repo.UID)
	change := newStatement(tx.dialect).add("INSERT INTO open_finding_change AS t (scope, quarter, r0, r1, r2, r3, r4, r5) VALUES ")
	for i, scope := range append(repo.UID.Ancestors(), repo.UID) {
		if i > 0 {
			change.add(", ")
		}
		change.add("(?, ?, ?, ?, ?, ?, ?, ?)", scope, quarterNumber(now), by[0], by[1], by[2], by[3], by[4], by[5])
	}
	change.add(" ON CONFLICT (scope, quarter) DO UPDATE SET r0 = t.r0 + excluded.r0, r1 = t.r1 + excluded.r1, r2 = t.r2 + excluded.r2," +
		" r3 = t.r3 + excluded.r3, r4 = t.r4 + excluded.r4, r5 = t.r5 + excluded.r5")
	tx.conn.Queue(show.build(nil), change.build(nil))
}

// Holders lists the live images of a repo that hold packages with one of normal names.
func (queries) Holders(ctx context.Context, in platform.Tx, repo platform.UID, names []string) ([]platform.Holder, error) {
	tx := transactionOf(in)
	var holders []platform.Holder
	packed := packUID(repo.Root())
	q := newStatement(tx.dialect)
	q.add("SELECT m.digest, u.package, u.version FROM package k CROSS JOIN package_use u CROSS JOIN ").addElements("u.images").add(" CROSS JOIN image_status m")
	q.add(" WHERE k.root = ?", repo.Root()).add(" AND k.normal_name ?", valueList(names))
	q.add(" AND u.parent = ? AND u.package = substr(k.uid, 21, 8) AND m.parent = u.parent AND m.number = CAST(e.value AS BIGINT)", repo)
	err := tx.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		var h platform.Holder
		var of, version []byte
		if err := scan(&h.Digest, &of, &version); err != nil {
			return err
		}
		h.Version, _ = platform.UnpackUID(slices.Concat(packed, of, version))
		holders = append(holders, h)
		return nil
	}))
	return holders, err
}

// ReposOfAdvisories lists the repos that advisories are for.
func (queries) ReposOfAdvisories(ctx context.Context, in platform.Tx, root platform.UID, all []platform.AdvisoryReach) (map[platform.UID][]platform.UID, error) {
	tx := transactionOf(in)
	var names, digests []string
	uids := make([]platform.UID, len(all))
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
	repos, byDigest := map[platform.UID][]platform.UID{}, map[string][]platform.UID{}
	run := []*dbconn.Statement{
		newStatement(tx.dialect).add("SELECT DISTINCT f.advisory, f.parent FROM finding f WHERE f.advisory ?", uidValueList(uids)).build(func(scan func(...any) error) error {
			var advisory, repo platform.UID
			err := scan(keyOf(&advisory), keyOf(&repo))
			repos[advisory] = append(repos[advisory], repo)
			return err
		}),
	}
	if len(digests) > 0 {
		q := newStatement(tx.dialect).add("SELECT m.digest, m.parent FROM image_status m WHERE m.digest ?", valueList(digests))
		if root != "" {
			q.add(" AND m.root = ?", root)
		}
		run = append(run, q.build(func(scan func(...any) error) error {
			var digest string
			var repo platform.UID
			err := scan(&digest, keyOf(&repo))
			byDigest[digest] = append(byDigest[digest], repo)
			return err
		}))
	}
	err = tx.conn.Run(ctx, run...)
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
func (tx *transaction) reposHolding(ctx context.Context, root platform.UID, names []string) (map[string][]platform.UID, error) {
	type key struct{ root, of string }
	nameOf := map[key]string{}
	var roots, packages [][]byte
	q := newStatement(tx.dialect).add("SELECT k.uid, k.normal_name FROM package k WHERE k.normal_name ?", valueList(names))
	if root != "" {
		q.add(" AND k.root = ?", root)
	}
	err := tx.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		var uid platform.UID
		var name string
		err := scan(keyOf(&uid), &name)
		nameOf[key{string(uid.Root()), string(localOf(uid))}] = name
		roots, packages = append(roots, scopeKey(uid.Root())), append(packages, localOf(uid))
		return err
	}))
	if err != nil || len(packages) == 0 {
		return nil, err
	}
	holders := map[string][]platform.UID{}
	q = newStatement(tx.dialect)
	q.add("SELECT DISTINCT u.package, u.parent FROM ").add(q.parents(dbconn.ParentColumn{Name: "k", Bytes: roots}, dbconn.ParentColumn{Name: "inside", Bytes: packages}))
	q.add(" CROSS JOIN package_use u WHERE u.root_key = p.k AND u.package = p.inside")
	err = tx.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		var of []byte
		var repo platform.UID
		err := scan(&of, keyOf(&repo))
		if name, found := nameOf[key{string(repo.Root()), string(of)}]; found { // another organisation can have the same key
			holders[name] = append(holders[name], repo)
		}
		return err
	}))
	return holders, err
}

// AdvisoriesNamed reads the advisories for a repo by the normal names of their artifacts.
func (queries) AdvisoriesNamed(ctx context.Context, in platform.Tx, repo platform.UID, names []string) ([]*platform.Advisory, error) {
	tx := transactionOf(in)
	if len(names) == 0 {
		return nil, nil
	}
	p := advisories.projectAll()
	q := newStatement(tx.dialect)
	parents := q.parents(dbconn.ParentColumn{Name: "k", Texts: names})
	q.add("SELECT " + p.selected + " FROM " + parents + " CROSS JOIN advisory t WHERE t.normal_name = p.k AND t.count_class > 0")
	q.add(" AND t.parent ?", uidValueList(append(repo.Ancestors(), platform.FeedGroup)))
	var found []*platform.Advisory
	err := tx.conn.Run(ctx, q.build(p.collect(&found)))
	return found, err
}

// PutSBOMs replaces SBOMs.
func (queries) PutSBOMs(ctx context.Context, in platform.Tx, all []*platform.SBOM) error {
	tx := transactionOf(in)
	run := make([]*dbconn.Statement, len(all))
	for i, b := range all {
		q := newStatement(tx.dialect).add("INSERT INTO sbom (repo, digest, architecture, format, versions, used, create_time) VALUES (?, ?, ?, ?, ?, ?, ?)",
			b.Repo, b.Digest, b.Architecture, b.Format, ends(b.Versions), []byte{}, b.CreateTime)
		q.add(" ON CONFLICT (repo, digest, architecture) DO UPDATE SET format = excluded.format, versions = excluded.versions,")
		run[i] = q.add(" used = COALESCE(sbom.used, sbom.versions), create_time = excluded.create_time").build(nil)
	}
	return tx.conn.Run(ctx, run...)
}

// SBOMs reads the SBOMs of images.
func (queries) SBOMs(ctx context.Context, on platform.Conn, keys platform.ImageKeys) ([]*platform.SBOM, error) {
	tx := tablesOf(on)
	wanted := keys.Keys()
	repos, digests := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, k := range wanted {
		repos[i], digests[i] = packUID(k.Repo), k.Digest
	}
	var found []*platform.SBOM
	q := newStatement(tx.dialect)
	q.add("SELECT DISTINCT b.repo, b.digest, b.architecture, b.format, b.versions, b.create_time FROM ").add(q.parents(uidPairs(repos, digests)...))
	q.add(" CROSS JOIN sbom b WHERE b.repo = p.k AND b.digest = p.inside")
	err := tx.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		b := new(platform.SBOM)
		var versions []byte
		err := scan(keyOf(&b.Repo), &b.Digest, &b.Architecture, &b.Format, &versions, timeOf(&b.CreateTime))
		b.Versions = splitEnds(b.Repo.Root(), versions)
		found = append(found, b)
		return err
	}))
	return found, err
}

// forgetOpenFindings takes the past of a repo out of that of the groups above.
func (tx *transaction) forgetOpenFindings(repo platform.UID) {
	for _, scope := range repo.Ancestors() {
		q := newStatement(tx.dialect).add("UPDATE open_finding_change AS t SET r0 = t.r0 - f.r0, r1 = t.r1 - f.r1, r2 = t.r2 - f.r2, r3 = t.r3 - f.r3, r4 = t.r4 - f.r4, r5 = t.r5 - f.r5")
		tx.conn.Queue(q.add(" FROM open_finding_change f WHERE f.scope = ? AND t.scope = ? AND t.quarter = f.quarter", repo, scope).build(nil))
	}
	queries{}.DeleteOpenCountsOf(tx, repo)
}

// DeleteOpenCountsOf deletes how many findings were open in a group or a repo.
func (queries) DeleteOpenCountsOf(in platform.Tx, scope platform.UID) {
	tx := transactionOf(in)
	tx.conn.Queue(newStatement(tx.dialect).add("DELETE FROM open_finding_change WHERE scope = ?", scope).build(nil))
}

// ForgetRepo takes a repo, its images and their findings out of the counters.
func (queries) ForgetRepo(ctx context.Context, in platform.Tx, repo platform.UID) error {
	tx := transactionOf(in)
	w := findings.writer(tx)
	images, held := 0, map[string]int{}
	var open string
	err := tx.conn.Run(ctx,
		newStatement(tx.dialect).add("SELECT t.count_class, COUNT(*) FROM finding t WHERE t.parent = ? GROUP BY t.count_class", repo).build(func(scan func(...any) error) error {
			var class, n int64
			err := scan(&class, &n)
			tx.count(w.number, childOf(repo), w.quietParent, -n)
			w.countClass(childOf(repo), class, -n)
			return err
		}),
		newStatement(tx.dialect).add("SELECT 1 FROM image_status t WHERE t.parent = ? AND t.affected", repo).build(func(func(...any) error) error { images++; return nil }),
		newStatement(tx.dialect).add("SELECT DISTINCT t.package FROM package_use t WHERE t.parent = ?", repo).build(func(scan func(...any) error) error {
			var of []byte
			err := scan(&of)
			held[string(of)] = 1
			return err
		}),
		newStatement(tx.dialect).add("SELECT t.open_severity FROM repo t WHERE t.uid = ?", repo).build(func(scan func(...any) error) error { return scan(&open) }))
	if err != nil {
		return err
	}
	tx.forgetOpenFindings(repo)
	tx.count(affectedImages, childOf(repo), true, int64(-images))
	tx.countAffected(affectedRepos, childOf(repo), platform.ParseOpenCounts(open).Total() > 0, false)
	gone := map[string]int{}
	for of := range held {
		gone[of] = 0
	}
	return tx.countHolders(ctx, repo.Root(), held, gone)
}

// addTask returns a function that adds the task of a changed row to those of the transaction: what may have changed
// findings.
func addTask[T any](of func(T) platform.FindingTask) func(platform.Tx, T) {
	return func(in platform.Tx, row T) {
		tx := transactionOf(in)
		tx.tasks = append(tx.tasks, of(row))
	}
}
