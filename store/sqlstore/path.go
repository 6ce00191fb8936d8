package sqlstore

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/table"
)

// GroupsOfPath reads the group that the names of a path lead to.
func (queries) GroupsOfPath(ctx context.Context, on core.Conn, path core.Path) ([]*iam.Group, error) {
	s := tablesOf(on)
	var found []*iam.Group
	q := table.NewStatement(s.Dialect)
	s.beginPath(q, path)
	q.Add("SELECT "+groups.ProjectAll().Selected+" FROM w CROSS JOIN grp t WHERE t.uid = w.uid AND w.depth = ?", int64(len(path.Names())))
	err := s.Reads.Run(ctx, q.Build(groups.ProjectAll().Collect(&found)))
	return found, err
}

// ReposOfPath reads the repos that a path can name: in each of its groups, the repo
// whose name is the rest of the path.
func (queries) ReposOfPath(ctx context.Context, on core.Conn, path core.Path) ([]*inventory.Repo, error) {
	s := tablesOf(on)
	var found []*inventory.Repo
	q := table.NewStatement(s.Dialect)
	parents := s.beginPath(q, path)
	q.Add("SELECT " + repos.ProjectAll().Selected + " FROM ")
	q.AddPerParent("w CROSS JOIN "+parents, "repo", repos.ProjectAll().Names, q.Follow().Add("t.parent = w.uid AND t.name = p.inside LIMIT 1"))
	q.Add(" WHERE p.i = w.depth AND p.inside <> ''")
	err := s.Reads.Run(ctx, q.Build(repos.ProjectAll().Collect(&found)))
	return found, err
}

// beginPath begins a statement with the table w of the groups on a path, each with its
// number of names, and returns the table of names. The text of the statement is the
// same for all paths. It needs one index lookup for each name.
func (s tables) beginPath(q *table.Statement, path core.Path) (parents string) {
	names := path.Names()
	rests := make([]string, len(names))
	for i := range names {
		rests[i] = path.Rest(i + 1)
	}
	parents = q.Parents(table.TextPairs(names, rests)...)
	q.Add("WITH RECURSIVE w(uid, depth) AS (SELECT t.uid, p.i FROM ")
	q.AddPerParent(parents, "grp", "t.uid", q.Follow().Add("t.parent IS NULL AND t.name = p.k LIMIT 1"))
	q.Add(" WHERE p.i = 1").AddUnion().Add("SELECT t.uid, p.i FROM ")
	q.AddPerParent("w CROSS JOIN "+parents, "grp", "t.uid", q.Follow().Add("t.parent = w.uid AND t.name = p.k LIMIT 1"))
	q.Add(" WHERE p.i = w.depth + 1) ")
	return parents
}
