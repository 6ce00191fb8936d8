package sqlstore

import "atrium/platform"

// The conditions on relations look into an index of the parent for each row of t. So they read what belongs
// to the organisations of a list, and a page with enough matches reads little more than its rows.

// addTagCondition adds the condition that a repo has such a tag.
func addTagCondition(s *statement, c *platform.TagCondition) {
	if c == nil {
		return
	}
	s.addSlow(" AND EXISTS (SELECT 1 FROM tag g WHERE g.parent = t.uid")
	if c.Name != "" {
		s.add(" AND g.name = ?", c.Name)
	}
	if c.Digest != "" {
		s.add(" AND g.digest = ?", c.Digest)
	}
	switch {
	case c.Deprecated == nil:
	case *c.Deprecated:
		s.add(" AND g.deprecated")
	default:
		s.add(" AND NOT g.deprecated")
	}
	addSinceIn(s, "g.update_time", c.UpdatedSince)
	s.add(")")
}

// addRepoCondition adds the condition that a group holds such a repo.
func addRepoCondition(s *statement, c *platform.RepoCondition) {
	if c == nil {
		return
	}
	s.addSlow(" AND EXISTS (SELECT 1 FROM repo g WHERE g.parent = t.uid")
	if c.Name != "" {
		s.add(" AND g.name = ?", c.Name)
	}
	addAnyIn(s, "g.catalog_tier", c.Tiers)
	addOpenSeverities(s, "g", c.OpenSeverities)
	addSinceIn(s, "g.update_time", c.UpdatedSince)
	s.add(")")
}
