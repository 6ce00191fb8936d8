package feeds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/inventory"
)

// An AdvisoryRecord is all that a feed says about one vulnerability.
type AdvisoryRecord struct {
	AdvisoryID                string
	UpdateTime, WithdrawnTime core.Time
	Advisories                []*inventory.Advisory // of the packages that it names
}

// ImportRecords imports records as ImportAdvisories does advisories. What the latest record about a vulnerability does not name is withdrawn, and an
// older record adds nothing.
func (s *Feeds) ImportRecords(ctx context.Context, group core.UID, records []*AdvisoryRecord) (core.Imported, error) {
	all, of, byID := []*inventory.Advisory{}, []int{}, map[string]*AdvisoryRecord{}
	for i, r := range records {
		byID[r.AdvisoryID] = r
		for _, a := range r.Advisories {
			all, of = append(all, a), append(of, i)
		}
	}
	done, err := s.put(ctx, group, all, byID)
	rejected := map[int]error{}
	for i, at := range of {
		switch reason := done.Rejected[i]; {
		case reason != nil && rejected[at] != nil:
			rejected[at] = fmt.Errorf("%w; %w", rejected[at], reason)
		case reason != nil:
			rejected[at] = reason
		}
	}
	done.Rejected = rejected
	return done, err
}

// ImportAdvisories stores advisories in a group, or in FeedGroup if group is "", by advisory id and
// artifact: one for each ecosystem and package of a record. An existing advisory is replaced
// unless its update time is later. A record without times gets the time of the import.
func (s *Feeds) ImportAdvisories(ctx context.Context, group core.UID, advisories []*inventory.Advisory) (core.Imported, error) {
	return s.put(ctx, group, advisories, nil)
}

// put imports advisories, and whole records if there are any.
func (s *Feeds) put(ctx context.Context, group core.UID, advisories []*inventory.Advisory, records map[string]*AdvisoryRecord) (core.Imported, error) {
	if group == "" {
		group = inventory.FeedGroup
		if err := s.makeFeedGroup(ctx); err != nil {
			return core.Imported{}, err
		}
	}
	if err := s.core.RequireImport(ctx, core.CapAdvisoriesImport, group); err != nil {
		return core.Imported{}, err
	}
	latest := map[string]core.Time{} // of what is stored of each record
	var names []string               // of the vulnerabilities of advisories that are new, withdrawn or have other names
	in := core.ImportPlan[*inventory.Advisory, inventory.AdvisoryName]{
		Key: (*inventory.Advisory).Key,
		Check: func(a *inventory.Advisory, v *core.Violations) {
			a.SourceTime = a.UpdateTime
			a.ArtifactArchitecture = ecosystem.ArchitectureName(a.ArtifactArchitecture)
			slices.SortStableFunc(a.Events, func(x, y inventory.AdvisoryEvent) int { return x.CreateTime.Compare(y.CreateTime.Time) })
			a.Check(v)
		},
		Existing: func(ctx context.Context, tx core.Tx, rows []*inventory.Advisory) ([]*inventory.Advisory, error) {
			tx.Lock(feedLock)
			names = nil
			return s.readStored(ctx, tx, group, rows, records, latest)
		},
		IsUnchanged: func(known, a *inventory.Advisory) bool {
			return isOlder(a.SourceTime, latest[a.AdvisoryID]) || isOlder(a.SourceTime, known.SourceTime) || core.EqualJSON(sourceContent(a), sourceContent(known))
		},
		Replace: func(ctx context.Context, tx core.Tx, known, a *inventory.Advisory) error {
			stampImported(a, known.UID, s.core.Now())
			if known.DeleteTime.IsZero() != a.DeleteTime.IsZero() || !slices.Equal(known.AllNames(), a.AllNames()) {
				names = slices.Concat(names, known.AllNames(), a.AllNames())
			}
			if err := s.setInherited(ctx, tx, a); err != nil {
				return err
			}
			return s.tables.Advisories.Update(ctx, tx, a, "deleteTime", "author", "artifactName", "artifactArchitecture", "componentName", "componentLocation",
				"componentType", "legacyAdvisoryId", "aliases", "upstream", "related", "events", "severities", "origin", "sourceTime", "affected")
		},
		Insert: func(ctx context.Context, tx core.Tx, added []*inventory.Advisory) error {
			var series core.UIDSeries
			for _, a := range added {
				stampImported(a, series.Child(group), s.core.Now())
				a.Representative = a.UID
				names = append(names, a.AllNames()...)
			}
			if err := s.setInherited(ctx, tx, added...); err != nil {
				return err
			}
			return s.tables.Advisories.Insert(ctx, tx, added...)
		},
		MarkKept: func(ctx context.Context, tx core.Tx, kept []core.KeptRow[*inventory.Advisory]) error {
			return raiseTimes(kept, func(a *inventory.Advisory) SourceTime { return SourceTime{a.UID, a.SourceTime} }, func(times []SourceTime) error {
				return s.tables.RaiseAdvisoryTimes(ctx, tx, times)
			})
		},
	}
	in.Finish = func(ctx context.Context, tx core.Tx, stored []*inventory.Advisory) (int, error) {
		gone, err := s.withdraw(ctx, tx, stored, records, latest)
		for _, a := range gone {
			names = append(names, a.AllNames()...)
		}
		if err != nil || len(names) == 0 {
			return len(gone), err
		}
		return len(gone), s.group(ctx, tx, group, names)
	}
	done, err := in.Run(ctx, s.core.Store, advisories)
	if errors.Is(err, core.ErrNoParent) { // the group was deleted meanwhile
		err = core.NewNotFound(core.GroupRef, group)
	}
	return done, err
}

// readStored reads all that is stored of the records of advisories, and notes the latest times of whole records. Where what is stored
// of one is later than an advisory that is not stored, a row that has only the name stands for it, so that it is not added.
func (s *Feeds) readStored(ctx context.Context, tx core.Tx, group core.UID, rows []*inventory.Advisory, records map[string]*AdvisoryRecord, latest map[string]core.Time) ([]*inventory.Advisory, error) {
	ids := slices.Collect(maps.Keys(records))
	for _, a := range rows {
		ids = append(ids, a.AdvisoryID)
	}
	if slices.Sort(ids); len(ids) == 0 {
		return nil, nil
	}
	stored, err := s.tables.AdvisoriesOfRecords(ctx, tx, AdvisoryRecords{group, slices.Compact(ids)})
	clear(latest)
	known := map[inventory.AdvisoryName]bool{}
	for _, a := range stored {
		known[a.Key()] = true
		if records[a.AdvisoryID] != nil && latest[a.AdvisoryID].Before(a.SourceTime.Time) {
			latest[a.AdvisoryID] = a.SourceTime
		}
	}
	for _, a := range rows {
		if !known[a.Key()] && isOlder(a.SourceTime, latest[a.AdvisoryID]) {
			stored = append(stored, &inventory.Advisory{AdvisoryID: a.AdvisoryID, ArtifactName: a.ArtifactName, ArtifactType: a.ArtifactType, SourceTime: latest[a.AdvisoryID]})
		}
	}
	return stored, err
}

// withdraw withdraws the stored advisories that records no longer name, and returns them.
func (s *Feeds) withdraw(ctx context.Context, tx core.Tx, stored []*inventory.Advisory, records map[string]*AdvisoryRecord, latest map[string]core.Time) (gone []*inventory.Advisory, err error) {
	if len(records) == 0 {
		return nil, nil
	}
	isNamed := map[inventory.AdvisoryName]bool{}
	for _, r := range records {
		for _, a := range r.Advisories {
			isNamed[a.Key()] = true
		}
	}
	var confirmed []SourceTime
	for _, a := range stored {
		switch r := records[a.AdvisoryID]; {
		case isNamed[a.Key()] || isOlder(r.UpdateTime, latest[r.AdvisoryID]):
		case a.DeleteTime.IsZero():
			a.DeleteTime, a.SourceTime = cmp.Or(r.WithdrawnTime, r.UpdateTime, s.core.Now()), cmp.Or(r.UpdateTime, a.SourceTime)
			gone = append(gone, a)
		default:
			confirmed = append(confirmed, SourceTime{a.UID, r.UpdateTime})
		}
	}
	if err := s.setInherited(ctx, tx, gone...); err != nil {
		return nil, err
	}
	changes := make([]core.RowChange[*inventory.Advisory], len(gone))
	for i, a := range gone {
		changes[i] = core.RowChange[*inventory.Advisory]{Row: a, Fields: []string{"deleteTime", "sourceTime", "severities"}}
	}
	if _, err := s.tables.Advisories.UpdateAll(ctx, tx, changes...); err != nil || len(confirmed) == 0 {
		return gone, err
	}
	return gone, s.tables.RaiseAdvisoryTimes(ctx, tx, confirmed)
}

// setInherited sets, with one read, the severities that advisories inherit from their
// vulnerabilities. They count for those without a valid CVSS severity of their own. The upstream
// vulnerabilities count for those whose id and aliases have no CVSS severity either.
func (s *Feeds) setInherited(ctx context.Context, tx core.Tx, all ...*inventory.Advisory) error {
	var names []string
	for _, a := range all {
		names = slices.Concat(names, a.Names(), a.Upstream)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	found, err := s.tables.Vulnerabilities.List(ctx, tx, core.Query[*inventory.VulnerabilityFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Everything}), Filter: &inventory.VulnerabilityFilter{IDs: slices.Compact(names)},
		Order: inventory.VulnerabilityKind.DefaultOrder, Limit: core.NoLimit, Parts: core.PartItems, Without: core.VulnerabilityDetails,
	})
	byName := map[string][]inventory.Severity{}
	for _, v := range found.Items {
		for _, name := range v.Names() {
			byName[name] = append(byName[name], v.Severities...)
		}
	}
	severitiesOf := func(names []string) (severities []inventory.Severity) {
		for _, name := range names {
			severities = append(severities, byName[name]...)
		}
		return severities
	}
	for _, a := range all {
		if a.Inherited = severitiesOf(a.Names()); len(inventory.CVSSSeverities(a.Inherited)) == 0 {
			a.Inherited = append(a.Inherited, severitiesOf(a.Upstream)...)
		}
	}
	return err
}

// rerateInheriting updates the severities of advisories that inherit from changed
// vulnerabilities.
func (s *Feeds) rerateInheriting(ctx context.Context, tx core.Tx, changed []*inventory.Vulnerability) error {
	var names []string
	for _, vuln := range changed {
		if len(vuln.Severities) > 0 {
			names = append(names, vuln.Names()...)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	inheriting, err := s.tables.AdvisoriesInheriting(ctx, tx, slices.Compact(names))
	if err == nil {
		err = s.setInherited(ctx, tx, inheriting...)
	}
	for _, a := range inheriting {
		if err == nil {
			err = s.tables.Advisories.Update(ctx, tx, a, "severities")
		}
	}
	return err
}

// AdvisoryRecords are records whose advisories in a group the caller may read.
type AdvisoryRecords struct {
	group core.UID
	ids   []string
}

// Records returns the group and the ids.
func (r AdvisoryRecords) Records() (group core.UID, ids []string) { return r.group, r.ids }

// A SourceTime is the time of the last change of a row by its feed.
type SourceTime struct {
	UID  core.UID
	Time core.Time
}

// raiseTimes calls raise with the known rows whose records have a later time than they have. A
// record between both times is older than what the feed has confirmed. raiseTimes does not
// call raise if there is no such row.
func raiseTimes[T any](kept []core.KeptRow[T], timeOf func(T) SourceTime, raise func([]SourceTime) error) error {
	var later []SourceTime
	for _, k := range kept {
		known, time := timeOf(k.Known), timeOf(k.Row).Time
		if known.Time.Before(time.Time) {
			later = append(later, SourceTime{known.UID, time})
		}
	}
	if len(later) == 0 {
		return nil
	}
	return raise(later)
}

// isOlder reports whether a record is older than the stored one.
func isOlder(record, stored core.Time) bool { return !record.IsZero() && record.Before(stored.Time) }

func stampImported(a *inventory.Advisory, uid core.UID, now core.Time) {
	a.UID = uid
	if a.CreateTime.IsZero() {
		a.CreateTime = now
	}
	if a.UpdateTime.IsZero() {
		a.UpdateTime = now
	}
	for i := range a.Events {
		a.Events[i].UID = uid.NewChild()
	}
}

// sourceContent returns the content of an advisory from its source, without what
// Atrium added.
func sourceContent(a *inventory.Advisory) any {
	bare := *a
	bare.UID, bare.CreateTime, bare.UpdateTime, bare.Severity = "", core.Time{}, core.Time{}, inventory.AdvisorySeverity{}
	bare.Events = slices.Clone(a.Events)
	for i := range bare.Events {
		bare.Events[i].UID = ""
	}
	return []any{a.Origin, a.Upstream, a.Related, a.Affected, bare}
}
