package inventory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/iam"
)

// feedLock excludes all other imports of advisories and vulnerabilities until a transaction
// ends. Both change the severities of advisories, and an older record must not replace a newer
// one.
const feedLock core.UID = "feed"

// FeedGroup contains the advisories of feeds for all organisations. Nobody has a role on it,
// so only documents show them.
const FeedGroup core.UID = "0000000000000000000000000000000000000000"

// feedGroupName is a name that no other organisation can have.
const feedGroupName = "(feeds)"

// makeFeedGroup creates FeedGroup unless it exists.
func (area *Area) makeFeedGroup(ctx context.Context) error {
	if err := core.RequireOperator(ctx); err != nil {
		return err
	}
	found, err := area.Store.Exists(ctx, FeedGroup)
	if err != nil || found {
		return err
	}
	err = core.WritePatiently(ctx, area.Store, func(tx core.Tx) error {
		feeds := &iam.Group{Name: feedGroupName, Description: "Advisories for all organisations"}
		iam.GroupKind.Stamp(feeds, FeedGroup, area.Now())
		return area.iam.Tables.Groups.Insert(ctx, tx, feeds)
	})
	if errors.Is(err, core.ErrDuplicate) { // another import has just made it
		return nil
	}
	return err
}

// An AdvisoryRecord is all that a feed says about one vulnerability.
type AdvisoryRecord struct {
	AdvisoryID                string
	UpdateTime, WithdrawnTime core.Time
	Advisories                []*Advisory // of the packages that it names
}

// ImportRecords imports records as Import does advisories. What the latest record about a vulnerability does not name is withdrawn, and an
// older record adds nothing.
func (s Advisories) ImportRecords(ctx context.Context, group core.UID, records []*AdvisoryRecord) (core.Imported, error) {
	all, of, byID := []*Advisory{}, []int{}, map[string]*AdvisoryRecord{}
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

// Import stores advisories in a group, or in FeedGroup if group is "", by advisory id and
// artifact: one for each ecosystem and package of a record. An existing advisory is replaced
// unless its update time is later. A record without times gets the time of the import.
func (s Advisories) Import(ctx context.Context, group core.UID, advisories []*Advisory) (core.Imported, error) {
	return s.put(ctx, group, advisories, nil)
}

// put imports advisories, and whole records if there are any.
func (s Advisories) put(ctx context.Context, group core.UID, advisories []*Advisory, records map[string]*AdvisoryRecord) (core.Imported, error) {
	if group == "" {
		group = FeedGroup
		if err := s.area.makeFeedGroup(ctx); err != nil {
			return core.Imported{}, err
		}
	}
	if err := s.area.RequireImport(ctx, group); err != nil {
		return core.Imported{}, err
	}
	latest := map[string]core.Time{} // of what is stored of each record
	var names []string               // of the vulnerabilities of advisories that are new, withdrawn or have other names
	in := core.ImportPlan[*Advisory, AdvisoryName]{
		Key: (*Advisory).Key,
		Check: func(a *Advisory, v *core.Violations) {
			a.SourceTime = a.UpdateTime
			a.ArtifactArchitecture = ecosystem.ArchitectureName(a.ArtifactArchitecture)
			slices.SortStableFunc(a.Events, func(x, y AdvisoryEvent) int { return x.CreateTime.Compare(y.CreateTime.Time) })
			a.Check(v)
		},
		Existing: func(ctx context.Context, tx core.Tx, rows []*Advisory) ([]*Advisory, error) {
			tx.Lock(feedLock)
			names = nil
			return s.readStored(ctx, tx, group, rows, records, latest)
		},
		IsUnchanged: func(known, a *Advisory) bool {
			return isOlder(a.SourceTime, latest[a.AdvisoryID]) || isOlder(a.SourceTime, known.SourceTime) || core.EqualJSON(a.sourceContent(), known.sourceContent())
		},
		Replace: func(ctx context.Context, tx core.Tx, known, a *Advisory) error {
			a.stampImported(known.UID, s.area.Now())
			if known.DeleteTime.IsZero() != a.DeleteTime.IsZero() || !slices.Equal(known.AllNames(), a.AllNames()) {
				names = slices.Concat(names, known.AllNames(), a.AllNames())
			}
			if err := s.setInherited(ctx, tx, a); err != nil {
				return err
			}
			return s.area.tables.Advisories.Update(ctx, tx, a, "deleteTime", "author", "artifactName", "artifactArchitecture", "componentName", "componentLocation",
				"componentType", "legacyAdvisoryId", "aliases", "upstream", "related", "events", "severities", "origin", "sourceTime", "affected")
		},
		Insert: func(ctx context.Context, tx core.Tx, added []*Advisory) error {
			var series core.UIDSeries
			for _, a := range added {
				a.stampImported(series.Child(group), s.area.Now())
				a.Representative = a.UID
				names = append(names, a.AllNames()...)
			}
			if err := s.setInherited(ctx, tx, added...); err != nil {
				return err
			}
			return s.area.tables.Advisories.Insert(ctx, tx, added...)
		},
		MarkKept: func(ctx context.Context, tx core.Tx, kept []core.KeptRow[*Advisory]) error {
			return raiseTimes(kept, func(a *Advisory) SourceTime { return SourceTime{a.UID, a.SourceTime} }, func(times []SourceTime) error {
				return s.area.tables.RaiseAdvisoryTimes(ctx, tx, times)
			})
		},
	}
	in.Finish = func(ctx context.Context, tx core.Tx, stored []*Advisory) (int, error) {
		gone, err := s.withdraw(ctx, tx, stored, records, latest)
		for _, a := range gone {
			names = append(names, a.AllNames()...)
		}
		if err != nil || len(names) == 0 {
			return len(gone), err
		}
		return len(gone), s.group(ctx, tx, group, names)
	}
	done, err := in.Run(ctx, s.area.Store, advisories)
	if errors.Is(err, core.ErrNoParent) { // the group was deleted meanwhile
		err = core.NewNotFound(core.GroupRef, group)
	}
	return done, err
}

// readStored reads all that is stored of the records of advisories, and notes the latest times of whole records. Where what is stored
// of one is later than an advisory that is not stored, a row that has only the name stands for it, so that it is not added.
func (s Advisories) readStored(ctx context.Context, tx core.Tx, group core.UID, rows []*Advisory, records map[string]*AdvisoryRecord, latest map[string]core.Time) ([]*Advisory, error) {
	ids := slices.Collect(maps.Keys(records))
	for _, a := range rows {
		ids = append(ids, a.AdvisoryID)
	}
	if slices.Sort(ids); len(ids) == 0 {
		return nil, nil
	}
	stored, err := s.area.tables.AdvisoriesOfRecords(ctx, tx, AdvisoryRecords{group, slices.Compact(ids)})
	clear(latest)
	known := map[AdvisoryName]bool{}
	for _, a := range stored {
		known[a.Key()] = true
		if records[a.AdvisoryID] != nil && latest[a.AdvisoryID].Before(a.SourceTime.Time) {
			latest[a.AdvisoryID] = a.SourceTime
		}
	}
	for _, a := range rows {
		if !known[a.Key()] && isOlder(a.SourceTime, latest[a.AdvisoryID]) {
			stored = append(stored, &Advisory{AdvisoryID: a.AdvisoryID, ArtifactName: a.ArtifactName, ArtifactType: a.ArtifactType, SourceTime: latest[a.AdvisoryID]})
		}
	}
	return stored, err
}

// withdraw withdraws the stored advisories that records no longer name, and returns them.
func (s Advisories) withdraw(ctx context.Context, tx core.Tx, stored []*Advisory, records map[string]*AdvisoryRecord, latest map[string]core.Time) (gone []*Advisory, err error) {
	if len(records) == 0 {
		return nil, nil
	}
	isNamed := map[AdvisoryName]bool{}
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
			a.DeleteTime, a.SourceTime = cmp.Or(r.WithdrawnTime, r.UpdateTime, s.area.Now()), cmp.Or(r.UpdateTime, a.SourceTime)
			gone = append(gone, a)
		default:
			confirmed = append(confirmed, SourceTime{a.UID, r.UpdateTime})
		}
	}
	if err := s.setInherited(ctx, tx, gone...); err != nil {
		return nil, err
	}
	changes := make([]core.RowChange[*Advisory], len(gone))
	for i, a := range gone {
		changes[i] = core.RowChange[*Advisory]{Row: a, Fields: []string{"deleteTime", "sourceTime", "severities"}}
	}
	if _, err := s.area.tables.Advisories.UpdateAll(ctx, tx, changes...); err != nil || len(confirmed) == 0 {
		return gone, err
	}
	return gone, s.area.tables.RaiseAdvisoryTimes(ctx, tx, confirmed)
}

// setInherited sets, with one read, the severities that advisories inherit from their
// vulnerabilities. They count for those without a valid CVSS severity of their own. The upstream
// vulnerabilities count for those whose id and aliases have no CVSS severity either.
func (s Advisories) setInherited(ctx context.Context, tx core.Tx, all ...*Advisory) error {
	var names []string
	for _, a := range all {
		names = slices.Concat(names, a.names(), a.Upstream)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	found, err := s.area.tables.Vulnerabilities.List(ctx, tx, core.Query[*VulnerabilityFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Everything}), Filter: &VulnerabilityFilter{IDs: slices.Compact(names)},
		Order: VulnerabilityKind.DefaultOrder, Limit: core.NoLimit, Parts: core.PartItems, Without: core.VulnerabilityDetails,
	})
	byName := map[string][]Severity{}
	for _, v := range found.Items {
		for _, name := range v.names() {
			byName[name] = append(byName[name], v.Severities...)
		}
	}
	severitiesOf := func(names []string) (severities []Severity) {
		for _, name := range names {
			severities = append(severities, byName[name]...)
		}
		return severities
	}
	for _, a := range all {
		if a.Inherited = severitiesOf(a.names()); len(CVSSSeverities(a.Inherited)) == 0 {
			a.Inherited = append(a.Inherited, severitiesOf(a.Upstream)...)
		}
	}
	return err
}

// names returns the id and the aliases of an advisory.
func (a *Advisory) names() []string { return append([]string{a.AdvisoryID}, a.Aliases...) }

// names returns the id and the aliases of a vulnerability, each once.
func (vuln *Vulnerability) names() []string {
	names := append([]string{vuln.ID}, vuln.Aliases...)
	slices.Sort(names)
	return slices.Compact(names)
}

// rerateInheriting updates the severities of advisories that inherit from changed
// vulnerabilities.
func (s Advisories) rerateInheriting(ctx context.Context, tx core.Tx, changed []*Vulnerability) error {
	var names []string
	for _, vuln := range changed {
		if len(vuln.Severities) > 0 {
			names = append(names, vuln.names()...)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	inheriting, err := s.area.tables.AdvisoriesInheriting(ctx, tx, slices.Compact(names))
	if err == nil {
		err = s.setInherited(ctx, tx, inheriting...)
	}
	for _, a := range inheriting {
		if err == nil {
			err = s.area.tables.Advisories.Update(ctx, tx, a, "severities")
		}
	}
	return err
}

// An AdvisoryName identifies an advisory in a group.
type AdvisoryName struct{ AdvisoryID, ArtifactType, NormalName string }

// Key returns what identifies the advisory.
func (a *Advisory) Key() AdvisoryName {
	return AdvisoryName{a.AdvisoryID, a.ArtifactType, a.NormalName()}
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

// Check adds the violations of the fields.
func (a *Advisory) Check(v *core.Violations) {
	for _, x := range []struct{ field, s string }{{"advisoryId", a.AdvisoryID}, {"artifactName", a.ArtifactName}} {
		v.CheckRequiredLine(x.field, x.s)
	}
	for _, x := range []struct{ field, s string }{
		{"artifactType", a.ArtifactType}, {"artifactArchitecture", a.ArtifactArchitecture}, {"componentName", a.ComponentName},
		{"componentLocation", a.ComponentLocation}, {"componentType", a.ComponentType}, {"legacyAdvisoryId", a.LegacyAdvisoryID},
		{"author", a.Author}, {"origin", a.Origin},
	} {
		v.CheckLine(x.field, x.s)
	}
	for i := range a.Events {
		a.Events[i].check(fmt.Sprintf("events[%d]", i), v)
	}
	checkSeverities(a.Severities, v)
	checkNames(v, a.Aliases, a.Upstream, a.Related)
}

// Limits of a record of a feed. Real records have far fewer: at most a dozen aliases, 3 KB of
// details and 300 bytes of summary.
const (
	maxAliases      = 2000
	maxSeverities   = 1000
	maxSummaryBytes = 4 << 10
	maxDetailsBytes = 256 << 10
)

// checkNames checks the ids of other vulnerabilities, which are indexed. PostgreSQL refuses long
// index entries, and thereby the whole batch.
func checkNames(v *core.Violations, aliases, upstream, related []string) {
	v.CheckRequiredLines("aliases", aliases, maxAliases)
	v.CheckRequiredLines("upstream", upstream, maxAliases)
	v.CheckRequiredLines("related", related, maxAliases)
}

func checkSeverities(all []Severity, v *core.Violations) {
	if len(all) > maxSeverities {
		v.Add("severities", "must be at most %d", maxSeverities)
		return
	}
	for i, s := range all {
		core.CheckOneOf(v, fmt.Sprintf("severities[%d].type", i), s.Type, severityTypes)
	}
}

// check requires exactly one variant, and values that filters and enums accept.
func (e *AdvisoryEvent) check(at string, v *core.Violations) {
	variants := 0
	for _, set := range []bool{
		e.Detection != nil, e.Fixed != nil, e.FalsePositiveDetermination != nil, e.AnalysisNotPlanned != nil,
		e.FixNotPlanned != nil, e.PendingUpstreamFix != nil, e.TruePositiveDetermination != nil, e.Patched != nil,
	} {
		if set {
			variants++
		}
	}
	if variants != 1 {
		v.Add(at, "must have one variant, such as detection or fixed")
	}
	if d := e.Detection; d != nil && (d.NVDAPI != nil && (d.Manual != nil || d.ScanV1 != nil) || d.Manual != nil && d.ScanV1 != nil) {
		v.Add(at+".detection", "must have one of nvdapi, manual and scanv1")
	}
	if f := e.FalsePositiveDetermination; f != nil {
		core.CheckOneOf(v, at+".falsePositiveDetermination.type", f.Type, falsePositiveTypes)
	}
	core.CheckOneOf(v, at+".reviewState", e.ReviewState, reviewStates)
	v.CheckLine(at+".author", e.Author)
	v.CheckLine(at+".reviewer", e.Reviewer)
	v.CheckLine(at+".issue", e.Issue)
}

func (a *Advisory) stampImported(uid core.UID, now core.Time) {
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
func (a *Advisory) sourceContent() any {
	bare := *a
	bare.UID, bare.CreateTime, bare.UpdateTime, bare.Severity = "", core.Time{}, core.Time{}, AdvisorySeverity{}
	bare.Events = slices.Clone(a.Events)
	for i := range bare.Events {
		bare.Events[i].UID = ""
	}
	return []any{a.Origin, a.Upstream, a.Related, a.Affected, bare}
}

// Import stores vulnerability metadata by id, as Advisories.Import does.
func (s Vulnerabilities) Import(ctx context.Context, vulnerabilities []*Vulnerability) (core.Imported, error) {
	if err := core.RequireOperator(ctx); err != nil {
		return core.Imported{}, err
	}
	in := core.ImportPlan[*Vulnerability, string]{
		Key: func(vuln *Vulnerability) string { return vuln.ID },
		Check: func(vuln *Vulnerability, v *core.Violations) {
			v.CheckRequiredLine("id", vuln.ID)
			v.CheckText("summary", vuln.Summary, maxSummaryBytes)
			v.CheckText("details", vuln.Details, maxDetailsBytes)
			for i, r := range vuln.References {
				core.CheckOneOf(v, fmt.Sprintf("references[%d].type", i), r.Type, referenceTypes)
			}
			checkSeverities(vuln.Severities, v)
			checkNames(v, vuln.Aliases, vuln.Upstream, vuln.Related)
		},
		Existing: func(ctx context.Context, tx core.Tx, rows []*Vulnerability) ([]*Vulnerability, error) {
			tx.Lock(feedLock)
			ids := make([]core.UID, len(rows))
			for i, vuln := range rows {
				ids[i] = s.rows.Kind.UID(vuln)
			}
			return s.area.tables.Vulnerabilities.Get(ctx, tx, core.Keys{UIDs: ids})
		},
		IsUnchanged: func(known, vuln *Vulnerability) bool {
			return core.EqualJSON(vuln.sourceContent(), known.sourceContent()) || isOlder(vuln.UpdateTime, known.UpdateTime)
		},
		Replace: func(ctx context.Context, tx core.Tx, known, vuln *Vulnerability) error {
			changed := []*Vulnerability{known, {ID: vuln.ID, Aliases: vuln.Aliases, Severities: vuln.Severities}}
			if err := s.area.tables.Vulnerabilities.Update(ctx, tx, vuln, "summary", "details", "references", "severities", "aliases", "upstream", "related"); err != nil {
				return err
			}
			return s.area.Advisories.rerateInheriting(ctx, tx, changed)
		},
		Insert: func(ctx context.Context, tx core.Tx, added []*Vulnerability) error {
			if err := s.area.tables.Vulnerabilities.Insert(ctx, tx, added...); err != nil {
				return err
			}
			return s.area.Advisories.rerateInheriting(ctx, tx, added)
		},
		MarkKept: func(ctx context.Context, tx core.Tx, kept []core.KeptRow[*Vulnerability]) error {
			return raiseTimes(kept, func(vuln *Vulnerability) SourceTime { return SourceTime{core.UID(vuln.ID), vuln.UpdateTime} }, func(times []SourceTime) error {
				return s.area.tables.RaiseVulnerabilityTimes(ctx, tx, times)
			})
		},
	}
	return in.Run(ctx, s.area.Store, vulnerabilities)
}

func (vuln *Vulnerability) sourceContent() any {
	return []any{vuln.Aliases, vuln.Upstream, vuln.Related, vuln}
}
