package sqlstore

import (
	"context"

	"atrium/platform"
)

// GroupsOfPath reads the group that the names of a path lead to.
func (queries) GroupsOfPath(ctx context.Context, on platform.Conn, path platform.Path) ([]*platform.Group, error) {
	s := tablesOf(on)
	var found []*platform.Group
	q := newStatement(s.dialect)
	s.beginPath(q, path)
	q.add("SELECT "+groups.projectAll().selected+" FROM w CROSS JOIN grp t WHERE t.uid = w.uid AND w.depth = ?", int64(len(path.Names())))
	err := s.reads.Run(ctx, q.build(groups.projectAll().collect(&found)))
	return found, err
}

// ReposOfPath reads the repos that a path can name: in each of its groups, the repo
// whose name is the rest of the path.
func (queries) ReposOfPath(ctx context.Context, on platform.Conn, path platform.Path) ([]*platform.Repo, error) {
	s := tablesOf(on)
	var found []*platform.Repo
	q := newStatement(s.dialect)
	parents := s.beginPath(q, path)
	q.add("SELECT " + repos.projectAll().selected + " FROM ")
	q.addPerParent("w CROSS JOIN "+parents, "repo", repos.projectAll().names, q.follow().add("t.parent = w.uid AND t.name = p.inside LIMIT 1"))
	q.add(" WHERE p.i = w.depth AND p.inside <> ''")
	err := s.reads.Run(ctx, q.build(repos.projectAll().collect(&found)))
	return found, err
}

// beginPath begins a statement with the table w of the groups on a path, each with its
// number of names, and returns the table of names. The text of the statement is the
// same for all paths. It needs one index lookup for each name.
func (s tables) beginPath(q *statement, path platform.Path) (parents string) {
	names := path.Names()
	rests := make([]string, len(names))
	for i := range names {
		rests[i] = path.Rest(i + 1)
	}
	parents = q.parents(textPairs(names, rests)...)
	q.add("WITH RECURSIVE w(uid, depth) AS (SELECT t.uid, p.i FROM ")
	q.addPerParent(parents, "grp", "t.uid", q.follow().add("t.parent IS NULL AND t.name = p.k LIMIT 1"))
	q.add(" WHERE p.i = 1").addUnion().add("SELECT t.uid, p.i FROM ")
	q.addPerParent("w CROSS JOIN "+parents, "grp", "t.uid", q.follow().add("t.parent = w.uid AND t.name = p.k LIMIT 1"))
	q.add(" WHERE p.i = w.depth + 1) ")
	return parents
}
