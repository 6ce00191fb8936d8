package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/table"
)

var findings = table.New(&table.Definition[*inventory.Finding, *inventory.FindingFilter]{
	Name:          "finding",
	UID:           func(f *inventory.Finding) core.UID { return f.UID },
	LiesIn:        parentUID,
	HasScopeKeys:  true,
	HasFewWriters: true,
	// Only indexes of the parent have all of its findings.
	FoundByParent: func(_ string, f *inventory.FindingFilter) bool {
		return len(f.Digests) > 0 || len(f.Representatives) > 0 || needsAll(f)
	},
	WalksPrimaryKey: needsAll,
	Split:           splitFindings,
	Columns: []table.Column[*inventory.Finding]{
		{SQL: "t.uid", To: func(f *inventory.Finding) any { return table.UIDWithParent(&f.UID, &f.Repo) }},
		{SQL: "t.digest", To: func(f *inventory.Finding) any { return &f.Digest }},
		{SQL: "t.advisory", To: func(f *inventory.Finding) any { return table.UIDOf(&f.Advisory) }},
		{SQL: "t.vulnerability", To: func(f *inventory.Finding) any { return &f.VulnerabilityID }},
		{SQL: "t.package", To: func(f *inventory.Finding) any { return &f.Package }},
		{SQL: "t.ecosystem", To: func(f *inventory.Finding) any { return &f.Ecosystem }},
		{SQL: "t.version", To: func(f *inventory.Finding) any { return &f.InstalledVersion }},
		{SQL: "t.version_uid", To: func(f *inventory.Finding) any { return table.UIDOf(&f.PackageVersion) }},
		{SQL: "t.representative", To: func(f *inventory.Finding) any { return table.UIDOf(&f.Representative) }},
		{SQL: "t.disputed_by", To: func(f *inventory.Finding) any { return table.JSONOf(&f.DisputedBy) }},
		{SQL: "t.sources", To: func(f *inventory.Finding) any { return table.JSONOf(&f.Sources) }},
		{SQL: "t.binary_packages", To: func(f *inventory.Finding) any { return table.JSONOf(&f.BinaryPackages) }},
		{SQL: "t.fixed_versions", To: func(f *inventory.Finding) any { return table.JSONOf(&f.FixedVersions) }},
		{SQL: "t.scope", To: func(f *inventory.Finding) any { return (*string)(&f.Scope) }},
		{SQL: "t.direct", To: func(f *inventory.Finding) any { return directColumn{&f.Direct} }},
		{SQL: "t.new_in_repo", To: func(f *inventory.Finding) any { return &f.IsNewInRepo }},
		{SQL: "t.lacks_fix", To: func(f *inventory.Finding) any { return &f.LacksFix }},
		{SQL: "t.severity", To: func(f *inventory.Finding) any { return severityColumn{&f.Severity} }},
		{SQL: "t.known_exploited", To: func(f *inventory.Finding) any { return &f.KnownExploited }},
		{SQL: "t.epss", To: func(f *inventory.Finding) any { return epssColumn{&f.EPSS} }},
		{SQL: "t.basis", To: func(f *inventory.Finding) any { return (*string)(&f.Basis) }},
		{SQL: "t.state", To: func(f *inventory.Finding) any { return (*string)(&f.State) }},
		{SQL: "t.justification", To: func(f *inventory.Finding) any { return &f.Justification }},
		{SQL: "t.note", To: func(f *inventory.Finding) any { return &f.Note }},
		{SQL: "t.assignee", To: func(f *inventory.Finding) any { return table.UIDOf(&f.Assignee) }},
		{SQL: "t.due_time", To: func(f *inventory.Finding) any { return table.DeadlineOf(&f.DueTime) }},
		{SQL: "t.due_set", To: func(f *inventory.Finding) any { return &f.IsDueSet }},
		{SQL: "t.expire_time", To: func(f *inventory.Finding) any { return table.TimeOf(&f.ExpireTime) }},
		{SQL: "t.decided_by", To: func(f *inventory.Finding) any { return &f.DecidedBy }},
		{SQL: "t.decision", To: func(f *inventory.Finding) any { return &f.Decision }},
		{SQL: "t.live", To: func(f *inventory.Finding) any { return &f.IsLive }},
		{SQL: "t.first_seen_time", To: func(f *inventory.Finding) any { return table.TimeOf(&f.FirstSeenTime) }},
		{SQL: "t.resolved_time", To: func(f *inventory.Finding) any { return table.TimeOf(&f.ResolvedTime) }},
		{SQL: "t.update_time", To: func(f *inventory.Finding) any { return table.TimeOf(&f.UpdateTime) }},
	},
	WriteOnly: []table.Column[*inventory.Finding]{
		{SQL: "t.count_class", To: func(f *inventory.Finding) any { class := classOfFinding(f); return &class }},
	},
	Where: whereFinding,
	FindsFewRows: func(f *inventory.FindingFilter) bool {
		return len(f.VulnerabilityIDs) > 0 || len(f.Representatives) > 0
	},
	Relations: map[core.Relation]table.Relation{core.OfAdvisory: {Column: "representative", IsRare: true}},
	Narrow: func(b core.Branch) table.Narrowing {
		if b.Digest == "" {
			return table.Narrowing{}
		}
		return table.Narrowing{SQL: " AND t.digest = p.x", Text: b.Digest, ByParent: true}
	},
	Plan:        planWords,
	ClassColumn: "count_class", ClassOf: classOfFinding, ClassCounters: findingCounters, FilterCounters: countersOfFindings,
	OtherCounters: map[byte]string{
		affectedImages:  "SELECT t.parent, 1 FROM image_status t WHERE t.affected",
		affectedRepos:   "SELECT t.uid, 1 FROM repo t WHERE t.affected",
		countedImages:   "SELECT t.parent, 1 FROM image_status t WHERE t.live",
		knownImages:     "SELECT t.parent, 1 FROM image_status t WHERE t.live AND t.basis = '" + string(inventory.BasisVersion) + "'",
		unknownPackages: "SELECT t.parent, t.unknown FROM image_status t WHERE t.live AND t.unknown > 0",
	},
})

// An epssColumn stores a probability as a text that sorts.
type epssColumn struct{ to **float64 }

// StoredText returns the sort key.
func (c epssColumn) StoredText() string { return inventory.EPSSKey(*c.to) }

// Scan reads the text.
func (c epssColumn) Scan(src any) error {
	switch src := src.(type) {
	case string:
		*c.to = inventory.ParseEPSSKey(src)
	case []byte:
		*c.to = inventory.ParseEPSSKey(string(src))
	default:
		return fmt.Errorf("cannot read a probability from %T", src)
	}
	return nil
}

// A directColumn stores what may not be known as a text: "true", "false", or "".
type directColumn struct{ to **bool }

// StoredText returns the text.
func (c directColumn) StoredText() string {
	if *c.to == nil {
		return ""
	}
	return strconv.FormatBool(**c.to)
}

// Scan reads the text.
func (c directColumn) Scan(src any) error {
	var text sql.NullString
	err := text.Scan(src)
	if is, unknown := strconv.ParseBool(text.String); unknown == nil {
		*c.to = &is
	}
	return err
}

func whereFinding(f *inventory.FindingFilter, s *table.Statement) { addFindingConditions(f, s, false) }

// addFindingConditions adds the conditions of a filter. byPairs means that rows are found by the pairs w: see addPairs.
func addFindingConditions(f *inventory.FindingFilter, s *table.Statement, byPairs bool) {
	whereWords(f.Query, s, byPairs)
	whereClass(f, s, byPairs)
	addConditions(f, s)
}

// addConditions adds the conditions beside those on words and on what the class consists of.
func addConditions(f *inventory.FindingFilter, s *table.Statement) {
	if len(f.Or) > 0 {
		s.Add(" AND (1 = 0")
		for _, part := range f.Or {
			s.Add(" OR ")
			addPart(part, s)
		}
		s.Add(")")
	}
	if f.Not != nil {
		s.Add(" AND (")
		addPart(f.Not, s)
		s.Add(") IS NOT TRUE") // An assignee can be NULL.
	}
	if f.MinScore != nil {
		s.Add(" AND substr(t.severity, 2) >= ?", inventory.ScoreKey(*f.MinScore))
	}
	table.AddAnyOf(s, "basis", f.Basis)
	if f.MinEPSS != nil {
		s.Add(" AND t.epss >= ?", inventory.EPSSKey(f.MinEPSS))
	}
	if f.EPSSBelow != nil {
		s.Add(" AND t.epss > '' AND t.epss < ?", inventory.EPSSKey(f.EPSSBelow))
	}
	table.AddAnyOf(s, "scope", f.Scopes)
	if f.Direct != nil {
		s.Add(" AND t.direct = ?", directColumn{&f.Direct}.StoredText())
	}
	if f.NewInRepo != nil {
		s.Add(" AND " + map[bool]string{true: "", false: "NOT "}[*f.NewInRepo] + "t.new_in_repo")
	}
	if f.LacksFix {
		s.Add(" AND t.lacks_fix")
	}
	if len(f.VulnerabilityIDs) > 0 {
		s.Add(" AND t.representative")
		addNamedAdvisory(s, f.VulnerabilityIDs)
	}
	table.AddAnyOf(s, "package", f.Packages)
	addAnyEcosystem(s, f.Ecosystems)
	if f.Assignee != "" {
		s.Add(" AND t.assignee = ?", f.Assignee)
	}
	if f.Assigned != nil {
		s.Add(" AND COALESCE(length(t.assignee), 0) " + map[bool]string{true: ">", false: "="}[*f.Assigned] + " 0")
	}
	if f.AssignedToMe != nil {
		addAssignedTo(s, f.Me, *f.AssignedToMe)
	}
	if f.HasDueTime != nil {
		s.Add(" AND t.due_time "+map[bool]string{true: "<", false: "="}[*f.HasDueTime]+" ?", core.NoDeadline)
	}
	table.AddSince(s, "first_seen_time", f.FirstSeenSince)
	if !f.FirstSeenBefore.IsZero() {
		s.Add(" AND t.first_seen_time < ?", f.FirstSeenBefore)
	}
	table.AddSince(s, "resolved_time", f.ResolvedSince)
	table.AddSince(s, "update_time", f.UpdatedSince)
	if !f.DueBefore.IsZero() {
		s.Add(" AND t.due_time < ?", f.DueBefore)
	}
	if !f.ExpireBefore.IsZero() {
		s.Add(" AND t.expire_time > ? AND t.expire_time < ?", core.Time{}, f.ExpireBefore)
	}
	if f.DecidedBy != "" {
		s.Add(" AND t.decided_by = ?", f.DecidedBy)
	}
	if len(f.TagNames) > 0 {
		s.Add(" AND EXISTS (SELECT 1 FROM tag g WHERE g.parent = t.parent AND g.name ? AND g.digest = t.digest)", table.Values(f.TagNames))
	}
	table.AddAnyOf(s, "digest", f.Digests)
	if len(f.Advisories) > 0 {
		s.Add(" AND t.representative IN (SELECT v.representative FROM advisory v WHERE v.uid ?)", table.UIDValues(f.Advisories))
	}
	if len(f.Representatives) > 0 {
		s.Add(" AND t.representative ?", table.UIDValues(f.Representatives))
	}
	addLabels(s, "repo_label", "t.parent", f.Labels)
	if f.Decided {
		s.Add(" AND t.decision <> '' AND t.decision <> ?", inventory.DecisionOfAdvisory)
	}
	if f.Undecided {
		s.Add(" AND t.decision = ''")
	}
}

// addPart adds a filter that is inside another one, as one condition.
func addPart(f *inventory.FindingFilter, s *table.Statement) {
	if core.MatchesNothing(f) {
		s.Add("1 = 0")
		return
	}
	s.Add("(1 = 1")
	whereWords(f.Query, s, false)
	table.AddAnyOf(s, "state", f.States)
	addClassConditions(f, s)
	if len(f.Among) > 0 {
		s.Add(" AND t.uid ?", table.UIDKeys(f.Among))
	}
	addConditions(f, s)
	s.Add(")")
}

// whereClass adds the conditions of which the class of a finding consists. Those on count_class are what partial indexes
// have, so they are the same texts.
func whereClass(f *inventory.FindingFilter, s *table.Statement, byPairs bool) {
	states := f.WantedStates()
	switch {
	case f.WithoutLiveTags && len(states) == 0:
		s.Add(" AND t.state <> ?", string(inventory.FindingResolved))
	case f.WithoutLiveTags:
	case needsAll(f):
		s.Add(" AND t.count_class <> 0")
	case slices.Contains(states, inventory.FindingResolved):
		s.Add(" AND t.count_class < 0")
	case len(states) > 0 && !slices.Contains(states, inventory.FindingOpen):
		s.Add(fmt.Sprintf(" AND t.count_class > %d", classesOfState))
	default:
		s.Add(" AND t.count_class > 0")
	}
	if byPairs && !f.WithoutLiveTags { // The class is in the index.
		s.Add(" AND t.count_class IN (" + strings.Join(classesOf(f), ", ") + ")")
		return
	}
	if len(states) < len(inventory.FindingStates()) && (f.WithoutLiveTags || !isOfState(states, inventory.FindingResolved)) {
		table.AddAnyOf(s, "state", states)
	}
	addClassConditions(f, s)
}

// addClassConditions adds the conditions on a rating, a fix and known exploitation.
func addClassConditions(f *inventory.FindingFilter, s *table.Statement) {
	if len(f.Severities) > 0 {
		addRatings(s, f.Severities)
	}
	if f.Fixable != nil {
		s.Add(" AND t.fixed_versions " + map[bool]string{true: "<>", false: "="}[*f.Fixable] + " ''")
	}
	if f.KnownExploited != nil {
		s.Add(" AND " + map[bool]string{true: "", false: "NOT "}[*f.KnownExploited] + "t.known_exploited")
	}
}

// isOfState reports whether one state is all that is wanted.
func isOfState(wanted []inventory.FindingState, state inventory.FindingState) bool {
	return !slices.ContainsFunc(wanted, func(s inventory.FindingState) bool { return s != state }) && len(wanted) > 0
}

// needsAll reports whether a filter finds both resolved findings and others, or those of images that are not live: no
// partial index has all of them.
func needsAll(f *inventory.FindingFilter) bool {
	states := f.WantedStates()
	return f.WithoutLiveTags || slices.Contains(states, inventory.FindingResolved) && !isOfState(states, inventory.FindingResolved)
}

// splitFindings returns filters that find together what a filter finds, and each of which one partial index serves. It returns
// nil if the filter is one of them.
func splitFindings(f *inventory.FindingFilter) []*inventory.FindingFilter {
	if f.WithoutLiveTags || !needsAll(f) {
		return nil
	}
	resolved, others := *f, *f
	resolved.States = []inventory.FindingState{inventory.FindingResolved}
	others.States = slices.DeleteFunc(slices.Clone(f.WantedStates()), func(s inventory.FindingState) bool { return s == inventory.FindingResolved })
	return []*inventory.FindingFilter{&others, &resolved}
}

// The class of a finding determines its counter. It is 0 for findings of images that are not live, and negative for
// resolved ones. These numbers are stored.
const (
	firstResolvedClass = 100
	firstFindingClass  = 150
	affectedImages     = 246
	affectedRepos      = 247
	countedImages      = 248
	knownImages        = 249
	unknownPackages    = 250

	classesOfState  = inventory.FindingClasses / 5
	countedFindings = inventory.FindingClasses - classesOfState // The classes of resolved findings follow.
)

func classOfFinding(f *inventory.Finding) int64 {
	if !f.IsLive {
		return 0
	}
	return countClass(f.Class().Number())
}

// CountClass returns the count_class of the class with a number.
func countClass(number int) int64 {
	if number >= countedFindings {
		return int64(-1 - number)
	}
	return int64(1 + number)
}

// numberOfClass returns the number of the class with a count_class that is not 0.
func numberOfClass(class int64) int {
	if class < 0 {
		return int(-1 - class)
	}
	return int(class - 1)
}

// findingCounters returns the counters of a class, besides that of the kind.
func findingCounters(class int64) []byte {
	switch {
	case class > 0:
		return []byte{byte(firstFindingClass + class - 1)}
	case class < 0:
		return []byte{byte(firstResolvedClass - 1 - class - countedFindings)}
	default:
		return nil
	}
}

// countersOfFindings returns the counters whose sum is the total of a filter.
func countersOfFindings(f *inventory.FindingFilter) table.CounterSum {
	others := *f
	others.Severities, others.States, others.Fixable, others.KnownExploited = nil, nil, nil, nil
	if table.Restricts(&others) {
		return table.CounterSum{}
	}
	var sum table.CounterSum
	for _, number := range classNumbers(f) {
		sum.Added = append(sum.Added, findingCounters(countClass(number))...)
	}
	return sum
}

// classNumbers lists the numbers of the classes of the findings that a filter finds.
func classNumbers(f *inventory.FindingFilter) (numbers []int) {
	states := f.WantedStates()
	for number := range inventory.FindingClasses {
		class := inventory.FindingClassOf(number)
		if len(states) == 0 && class.State == inventory.FindingResolved || len(states) > 0 && !slices.Contains(states, class.State) {
			continue
		}
		if (len(f.Severities) == 0 || slices.Contains(f.Severities, class.Rating)) &&
			(f.Fixable == nil || *f.Fixable == class.Fixable) && (f.KnownExploited == nil || *f.KnownExploited == class.KnownExploited) {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// classesOf lists the values of count_class of these classes.
func classesOf(f *inventory.FindingFilter) []string {
	classes := []string{"0"} // An empty list is no SQL.
	for _, number := range classNumbers(f) {
		classes = append(classes, strconv.FormatInt(countClass(number), 10))
	}
	return classes
}

// ReplaceFindings deletes findings and inserts others.
func (queries) ReplaceFindings(ctx context.Context, in core.Tx, old, current []*inventory.Finding) error {
	tx := transactionOf(in)
	w, counts := findings.Writer(tx), findingCounts{}
	for _, f := range current {
		counts.add(f, 1)
	}
	if len(old) > 0 {
		uids := make([]core.UID, len(old))
		for i, f := range old {
			uids[i] = f.UID
			w.Count(f, -1)
			counts.add(f, -1)
		}
		tx.Conn.Queue(table.NewStatement(tx.Dialect).Add("DELETE FROM finding WHERE uid ?", table.UIDKeys(uids)).Build(nil))
	}
	err := w.Insert(ctx, current...)
	if errors.Is(err, core.ErrDuplicate) {
		return fmt.Errorf("a finding of %s exists already: %w", current[0].Repo, err)
	}
	if err == nil {
		tx.Conn.Queue(counts.statements(tx.Dialect)...)
	}
	return err
}

// SummarizeFindings counts the findings of each scope by class, and the repos and images with open
// ones, from the counters alone.
func (queries) SummarizeFindings(ctx context.Context, on core.Conn, scopes []core.Scope) ([]*inventory.FindingSummary, error) {
	s := tablesOf(on)
	summaries := make([]*inventory.FindingSummary, len(scopes))
	for i := range summaries {
		summaries[i] = &inventory.FindingSummary{}
	}
	return summaries, s.sumCounters(ctx, scopes, firstFindingClass, unknownPackages+1, func(i int, number, n int64) {
		switch number {
		case affectedImages:
			summaries[i].AffectedImages += n
		case affectedRepos:
			summaries[i].AffectedRepos += n
		case countedImages:
			summaries[i].Images += n
		case knownImages:
			summaries[i].KnownImages += n
		case unknownPackages:
			summaries[i].UnknownPackages += n
		default:
			summaries[i].Add(inventory.FindingClassOf(int(number-firstFindingClass)), n)
		}
	})
}

// SummarizeImageFindings counts the findings of images by class.
func (queries) SummarizeImageFindings(ctx context.Context, on core.Conn, keys inventory.ImageKeys) ([]*inventory.FindingSummary, error) {
	s := tablesOf(on)
	wanted := keys.Keys()
	summaries := make([]*inventory.FindingSummary, len(wanted))
	repos, digests := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, k := range wanted {
		summaries[i], repos[i], digests[i] = &inventory.FindingSummary{}, table.PackUID(k.Repo), k.Digest
	}
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT p.i, m.live, m.basis, m.unknown, COALESCE(t.count_class, 0), COUNT(t.uid) FROM ")
	q.Add(q.Parents(table.UIDPairs(repos, digests)...))
	q.Add(" CROSS JOIN image_status m LEFT JOIN finding t ON t.parent = m.parent AND t.digest = m.digest AND t.count_class > 0")
	q.Add(" WHERE m.parent = p.k AND m.digest = p.inside GROUP BY p.i, m.live, m.basis, m.unknown, t.count_class")
	err := s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var i, class, n int64
		var status inventory.ImageStatus
		if err := scan(&i, &status.IsLive, (*string)(&status.Basis), &status.Unknown, &class, &n); err != nil {
			return err
		}
		to, is := summaries[i-1], status.Marks()
		to.Images, to.KnownImages, to.UnknownPackages = oneIf(is.IsLive), oneIf(is.IsKnown), is.Unknown
		if n == 0 {
			return nil
		}
		of := inventory.FindingClassOf(int(class - 1))
		if to.Add(of, n); to.Open.Total > 0 {
			to.AffectedRepos, to.AffectedImages = 1, 1
		}
		return nil
	}))
	return summaries, err
}

func oneIf(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
