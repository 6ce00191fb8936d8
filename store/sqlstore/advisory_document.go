package sqlstore

import (
	"context"

	"atrium/platform"
)

// Feed reads advisories of all groups, each once. That the latest of several
// is taken is asked of every row that the other conditions leave, by one look
// into the index: as a join it could be answered by reading everything.
func (s tables) Feed(ctx context.Context, q platform.FeedQuery) ([]*platform.Advisory, error) {
	var none platform.Time
	f := s.dialect.statement()
	f.add("SELECT t.advisory_id, t.artifact_name, t.artifact_type, t.aliases, t.events, t.severities, t.create_time FROM advisory t"+
		" WHERE t.delete_time = ?", none)
	anyOf(f, "artifact_name", q.Artifacts())
	if names := q.Names(); len(names) > 0 {
		f.add(" AND t.uid IN (SELECT a.uid FROM advisory_alias a WHERE a.alias ?", among(names))
		f.add(" UNION SELECT n.uid FROM advisory n WHERE n.advisory_id ?)", among(names))
	}
	if q.Fixed() {
		hasWord(f, "event_types", []platform.EventType{platform.EventTypeFixed})
	}
	f.add(" AND t.uid = (SELECT o.uid FROM advisory o WHERE o.artifact_name = t.artifact_name AND o.advisory_id = t.advisory_id"+
		" AND o.delete_time = ? ORDER BY o.update_time DESC, o.uid DESC LIMIT 1)", none)
	f.add(" ORDER BY t.artifact_name, t.advisory_id LIMIT ?", int64(q.Limit()))
	var found []*platform.Advisory
	err := s.conn.Run(ctx, f.done(func(scan func(...any) error) error {
		a := new(platform.Advisory)
		found = append(found, a)
		return scan(&a.AdvisoryID, &a.ArtifactName, &a.ArtifactType, jsonColumn{&a.Aliases}, jsonColumn{&a.Events}, jsonColumn{&a.Severities}, timeColumn{&a.CreateTime})
	}))
	return found, err
}
