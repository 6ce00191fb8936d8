package sqlstore

import (
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/store/sqlstore/table"
)

// The conditions on relations look into an index of the parent for each row of t, or for the rows that meet them in the
// organization of the list. So they read what belongs to the organizations of a list, and a page with enough matches
// reads little more than its rows.

// addTagCondition adds the condition that a repo has such a tag. Few tags have a digest, or are deprecated or new: where
// the organization is known, an index of it finds them. For each of many scopes it would find all that are deprecated or new
// again.
func addTagCondition(s *table.Statement, c *core.TagCondition) {
	if c == nil {
		return
	}
	isRare := c.Digest != "" || !s.IsOfMany && (c.Deprecated != nil && *c.Deprecated || !c.UpdatedSince.IsZero())
	end := ")"
	switch {
	case isRare && c.Name == "" && s.Organization != "":
		s.AddSlow(" AND t.uid IN (SELECT g.parent FROM tag g WHERE g.root_key = ?", table.ScopeKey(s.Organization))
	case s.IsOfMany: // CASE keeps PostgreSQL from joining all such tags with the repos of each scope.
		s.AddSlow(" AND CASE WHEN EXISTS (SELECT 1 FROM tag g WHERE g.parent = t.uid")
		end = ") THEN 1 END IS NOT NULL"
	default:
		s.AddSlow(" AND EXISTS (SELECT 1 FROM tag g WHERE g.parent = t.uid")
	}
	if c.Name != "" {
		s.Add(" AND g.name = ?", c.Name)
	}
	if c.Digest != "" {
		s.Add(" AND substr(g.digest, 8, 6) = substr(?, 8, 6) AND g.digest = ?", c.Digest, c.Digest) // the index has a part of it
	}
	switch {
	case c.Deprecated == nil:
	case *c.Deprecated:
		s.Add(" AND g.deprecated")
	default:
		s.Add(" AND NOT g.deprecated")
	}
	table.AddSinceIn(s, "g.update_time", c.UpdatedSince)
	s.Add(end)
}

// addLabels adds the condition that the group or repo of a column has all of these labels, each of which from holds as it
// is asked for.
func addLabels(s *table.Statement, from, column string, labels []core.LabelCondition) {
	for _, label := range labels {
		s.AddSlow(" AND EXISTS (SELECT 1 FROM "+from+" l WHERE l.alias = ? AND l.uid = "+column+")", label.String())
	}
}

// addAssignedTo adds the condition that one of identities looks after a finding, or that none of them does.
func addAssignedTo(s *table.Statement, identities []core.UID, does bool) {
	switch {
	case len(identities) > 0 && does:
		s.Add(" AND t.assignee ?", table.UIDValues(identities))
	case len(identities) > 0:
		s.Add(" AND (t.assignee ?) IS NOT TRUE", table.UIDValues(identities))
	case does:
		s.Add(" AND 1 = 0")
	}
}

// addAnyEcosystem adds the condition that an ecosystem is one of names, or a release of one. SQLite allows a depth of 1,000 for
// an expression, so the names are in groups.
func addAnyEcosystem(s *table.Statement, names []string) {
	if len(names) == 0 {
		return
	}
	const perGroup = 50
	s.Add(" AND (t.ecosystem ?", table.Values(names))
	for group := range slices.Chunk(names, perGroup) {
		s.Add(" OR (1 = 0")
		for _, name := range group {
			if !strings.Contains(name, ":") {
				s.Add(" OR t.ecosystem >= ? AND t.ecosystem < ?", name+":", name+";") // ';' follows ':'
			}
		}
		s.Add(")")
	}
	s.Add(")")
}

// addRepoCondition adds the condition that a group holds such a repo.
func addRepoCondition(s *table.Statement, c *core.RepoCondition) {
	if c == nil {
		return
	}
	s.AddSlow(" AND EXISTS (SELECT 1 FROM repo g WHERE g.parent = t.uid")
	if c.Name != "" {
		s.Add(" AND g.name = ?", c.Name)
	}
	table.AddAnyIn(s, "g.catalog_tier", c.Tiers)
	addOpenSeverities(s, "g", c.OpenSeverities)
	table.AddSinceIn(s, "g.update_time", c.UpdatedSince)
	s.Add(")")
}
