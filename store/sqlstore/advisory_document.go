package sqlstore

import (
	"context"

	"atrium/platform"
)

// Feed reads advisories of all groups, each once. What there is comes out of
// an index alone, however many groups have it. Where nothing narrows it, it is
// counted first, so that too much is not read at all. Then the latest of each is
// looked up.
func (s tables) Feed(ctx context.Context, q platform.FeedQuery) ([]*platform.Advisory, error) {
	var none platform.Time
	names := among(q.Names())
	if len(q.Artifacts())+len(names) == 0 {
		if err := s.checkFits(ctx, q); err != nil {
			return nil, err
		}
	}
	f := s.dialect.statement()
	f.add("SELECT t.advisory_id, t.artifact_name, t.artifact_type, t.aliases, t.events, t.severities, t.create_time FROM (")
	feedKeys(f, q, q.Limit()+1)
	f.add(") k JOIN advisory t ON t.uid = (SELECT o.uid FROM advisory o"+
		" WHERE o.artifact_name = k.artifact_name AND o.advisory_id = k.advisory_id AND o.delete_time = ?"+
		" ORDER BY o.update_time DESC, o.uid DESC LIMIT 1) WHERE 1 = 1", none)
	if len(names) > 0 { // the latest may have lost an alias
		f.add(" AND (t.advisory_id ?", names)
		f.add(" OR EXISTS (SELECT 1 FROM advisory_alias a WHERE a.uid = t.uid AND a.alias ?))", names)
	}
	if q.Fixed() {
		hasWord(f, "event_types", []platform.EventType{platform.EventTypeFixed})
	}
	f.add(" ORDER BY t.artifact_name, t.advisory_id")
	var found []*platform.Advisory
	err := s.conn.Run(ctx, f.done(func(scan func(...any) error) error {
		a := new(platform.Advisory)
		found = append(found, a)
		return scan(&a.AdvisoryID, &a.ArtifactName, &a.ArtifactType, jsonColumn{&a.Aliases}, jsonColumn{&a.Events}, jsonColumn{&a.Severities}, timeColumn{&a.CreateTime})
	}))
	if err == nil && len(found) > q.Limit() {
		return nil, platform.ErrTooMany
	}
	return found, err
}

// feedKeys adds a select of the advisories that q asks for, by artifact and id.
func feedKeys(f *statement, q platform.FeedQuery, limit int) {
	var none platform.Time
	f.add("SELECT DISTINCT t.artifact_name, t.advisory_id FROM advisory t WHERE t.delete_time = ?", none)
	anyOf(f, "artifact_name", q.Artifacts())
	if names := among(q.Names()); len(names) > 0 {
		f.add(" AND t.uid IN (SELECT a.uid FROM advisory_alias a WHERE a.alias ?", names)
		f.add(" UNION SELECT n.uid FROM advisory n WHERE n.advisory_id ?)", names)
	}
	f.add(" ORDER BY t.artifact_name, t.advisory_id LIMIT ?", int64(limit))
}

// checkFits refuses a query that finds more advisories than it may.
func (s tables) checkFits(ctx context.Context, q platform.FeedQuery) error {
	var n int64
	f := s.dialect.statement()
	f.add("SELECT COUNT(*) FROM (")
	feedKeys(f, q, q.Limit()+1)
	f.add(") k")
	err := s.conn.Run(ctx, f.done(func(scan func(...any) error) error { return scan(&n) }))
	if err == nil && n > int64(q.Limit()) {
		err = platform.ErrTooMany
	}
	return err
}
