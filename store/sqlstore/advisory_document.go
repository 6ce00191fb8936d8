package sqlstore

import (
	"context"

	"atrium/platform"
)

// ListFeed reads advisories of all groups, each once. It finds them by an index
// only, whatever the number of groups, and then looks up the latest version of each.
// Each row contains the number of advisories found, because the lookup may drop
// some. If there is no row, or the query has no conditions, a separate statement
// counts them.
func (s tables) ListFeed(ctx context.Context, q platform.FeedQuery) ([]*platform.Advisory, error) {
	names := valueList(q.Names())
	if len(q.Artifacts())+len(names) == 0 {
		if err := s.checkFits(ctx, q); err != nil {
			return nil, err
		}
	}
	var found []*platform.Advisory
	var outOf int64
	err := s.reads.Run(ctx, s.feedRows(q, names).build(func(scan func(...any) error) error {
		a := new(platform.Advisory)
		found = append(found, a)
		return scan(&outOf, &a.AdvisoryID, &a.ArtifactName, &a.ArtifactType, jsonColumn{&a.Aliases}, jsonColumn{&a.Upstream}, jsonColumn{&a.Events}, jsonColumn{&a.Severities}, timeColumn{&a.CreateTime})
	}))
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0 && (q.Fixed() || len(names) > 0):
		return nil, s.checkFits(ctx, q)
	case outOf > int64(q.Limit()):
		return nil, platform.ErrTooMany
	}
	return found, nil
}

// feedRows selects the latest of each advisory that q asks for.
func (s tables) feedRows(q platform.FeedQuery, names valueList) *statement {
	f := s.dialect.statement()
	f.addSlow("SELECT k.n, t.advisory_id, t.artifact_name, t.artifact_type, t.aliases, t.upstream, t.events, t.severities, t.create_time" +
		" FROM (SELECT c.artifact_name, c.advisory_id, c.artifact_type, COUNT(*) OVER () AS n FROM (")
	feedKeys(f, q, q.Limit()+1)
	f.add(") c) k JOIN advisory t ON t.uid = (SELECT o.uid FROM advisory o"+
		" WHERE o.artifact_name = k.artifact_name AND o.advisory_id = k.advisory_id AND o.artifact_type = k.artifact_type AND o.delete_time = ?"+
		" ORDER BY o.update_time DESC, o.uid DESC LIMIT 1) WHERE 1 = 1", platform.Time{})
	if len(names) > 0 { // the latest version may no longer have the alias
		f.add(" AND (t.advisory_id ?", names)
		f.add(" OR EXISTS (SELECT 1 FROM advisory_alias a WHERE a.uid = t.uid AND a.alias ?))", names)
	}
	if q.Fixed() {
		addHasWord(f, "event_types", []platform.EventType{platform.EventTypeFixed})
	}
	return f.add(" ORDER BY t.artifact_name, t.advisory_id, t.artifact_type")
}

// feedKeys adds a select of the advisories that q asks for, by artifact, id and ecosystem.
func feedKeys(f *statement, q platform.FeedQuery, limit int) {
	var none platform.Time
	f.add("SELECT DISTINCT t.artifact_name, t.advisory_id, t.artifact_type FROM advisory t WHERE t.delete_time = ?", none)
	addAnyArtifact(f, q.Artifacts())
	if names := valueList(q.Names()); len(names) > 0 {
		f.add(" AND t.uid IN (SELECT a.uid FROM advisory_alias a WHERE a.alias ?", names)
		f.add(" UNION SELECT n.uid FROM advisory n WHERE n.advisory_id ?)", names)
	}
	f.add(" ORDER BY t.artifact_name, t.advisory_id, t.artifact_type LIMIT ?", int64(limit))
}

// checkFits fails if a query finds more advisories than its limit.
func (s tables) checkFits(ctx context.Context, q platform.FeedQuery) error {
	var n int64
	f := s.dialect.statement()
	f.addSlow("SELECT COUNT(*) FROM (")
	feedKeys(f, q, q.Limit()+1)
	f.add(") k")
	err := s.reads.Run(ctx, f.build(func(scan func(...any) error) error { return scan(&n) }))
	if err == nil && n > int64(q.Limit()) {
		err = platform.ErrTooMany
	}
	return err
}
