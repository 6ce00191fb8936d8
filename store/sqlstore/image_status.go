package sqlstore

import (
	"context"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

const statusColumns = "t.parent, t.digest, t.number, t.live, t.basis, t.versions, t.unknown, t.open_severity"

func scanStatus(scan func(...any) error) (*inventory.ImageStatus, error) {
	status := new(inventory.ImageStatus)
	var versions []byte
	var open string
	err := scan(table.UIDOf(&status.Repo), &status.Digest, &status.Number, &status.IsLive, (*string)(&status.Basis), &versions, &status.Unknown, &open)
	status.Versions, status.Open = splitEnds(status.Repo.Root(), versions), inventory.ParseOpenCounts(open)
	status.Counted = status.Marks()
	return status, err
}

// selectStatuses returns a statement that reads the statuses of images.
func (tx *transaction) selectStatuses(images inventory.ImageKeys, into *[]*inventory.ImageStatus) *dbconn.Statement {
	keys := images.Keys()
	repos, digests := make([][]byte, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		repos[i], digests[i] = table.PackUID(k.Repo), k.Digest
	}
	q := table.NewStatement(tx.Dialect)
	q.Add("SELECT " + statusColumns + " FROM ").Add(q.Parents(table.UIDPairs(repos, digests)...))
	q.Add(" CROSS JOIN image_status t WHERE t.parent = p.k AND t.digest = p.inside ORDER BY t.parent, t.digest")
	return q.Build(func(scan func(...any) error) error {
		status, err := scanStatus(scan)
		*into = append(*into, status)
		return err
	})
}

// ImageStatuses reads the statuses of images.
func (queries) ImageStatuses(ctx context.Context, in core.Tx, images inventory.ImageKeys) (found []*inventory.ImageStatus, err error) {
	tx := transactionOf(in)
	err = tx.Conn.Run(ctx, tx.selectStatuses(images, &found))
	return found, err
}

// LastImageNumber returns the highest number of an image.
func (queries) LastImageNumber(ctx context.Context, in core.Tx, repo core.UID) (last int64, err error) {
	tx := transactionOf(in)
	q := table.NewStatement(tx.Dialect).Add("SELECT CAST(COALESCE(MAX(t.number), 0) AS BIGINT) FROM image_status t WHERE t.parent = ?", repo)
	err = tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error { return scan(&last) }))
	return last, err
}

var storedStatusColumns = []string{"root", "parent", "digest", "number", "live", "basis", "versions", "unknown", "open_severity", "affected", "parent_key"}

// PutImageStatuses replaces statuses, counts the images with open findings, and lets tags show what their
// images have.
func (queries) PutImageStatuses(in core.Tx, repo core.UID, statuses []*inventory.ImageStatus) {
	tx := transactionOf(in)
	if len(statuses) == 0 {
		return
	}
	const perStatement = 50
	var digests []string
	for some := range slices.Chunk(statuses, perStatement) {
		put := table.NewStatement(tx.Dialect).Add("INSERT INTO image_status (" + strings.Join(storedStatusColumns, ", ") + ") VALUES ")
		for i, status := range some {
			is := status.Marks()
			tx.countImage(repo, status.Counted, is)
			if digests, status.Counted = append(digests, status.Digest), is; i > 0 {
				put.Add(", ")
			}
			put.Add("(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
				repo.Root(), repo, status.Digest, status.Number, status.IsLive, string(status.Basis), ends(status.Versions), status.Unknown, status.Open.Text(), is.IsAffected, table.ParentKey(repo))
		}
		tx.Conn.Queue(put.Add(" ON CONFLICT (parent, digest) DO UPDATE SET live = excluded.live, basis = excluded.basis, versions = excluded.versions, unknown = excluded.unknown," +
			" open_severity = excluded.open_severity, affected = excluded.affected").Build(nil))
	}
	show := table.NewStatement(tx.Dialect).Add("UPDATE tag AS t SET open_severity = m.open_severity FROM image_status m WHERE m.parent = ?", repo).Add(" AND m.digest ?", table.Values(digests))
	show.Add(" AND t.parent_key = ? AND substr(t.digest, 8, 6) = substr(m.digest, 8, 6) AND t.digest = m.digest AND t.open_severity <> m.open_severity", table.ParentKey(repo))
	tx.Conn.Queue(show.Build(nil))
}

// countImage updates the counters of the images of a repo when the marks of one change.
func (tx *transaction) countImage(repo core.UID, was, is inventory.ImageMarks) {
	tx.countAffected(affectedImages, table.ChildOf(repo), was.IsAffected, is.IsAffected)
	tx.countAffected(countedImages, table.ChildOf(repo), was.IsLive, is.IsLive)
	tx.countAffected(knownImages, table.ChildOf(repo), was.IsKnown, is.IsKnown)
	if was.Unknown != is.Unknown {
		tx.Count(unknownPackages, table.ChildOf(repo), true, is.Unknown-was.Unknown)
	}
}

// countAffected updates the counter of the rows with open findings.
func (tx *transaction) countAffected(number byte, uid core.UID, was, is bool) {
	switch {
	case is && !was:
		tx.Count(number, uid, true, 1)
	case was && !is:
		tx.Count(number, uid, true, -1)
	}
}
