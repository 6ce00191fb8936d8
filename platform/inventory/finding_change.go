package inventory

import (
	"cmp"
	"context"
	"slices"

	"atrium/platform/core"
)

// findingChanges are what one transaction changes in the findings of a repo.
type findingChanges struct {
	now      core.Time
	repo     *Repo
	statuses []*ImageStatus // of the images
	old, new []*Finding
	open     OpenCounts // by how much the open findings of the repo change

	representatives map[core.UID]core.UID // of the advisories
	superseded      map[core.UID]bool     // representatives of the bundles that count no more
	events          findingEvents
	first           []*Finding // of their vulnerabilities and versions in images that have arrived
}

// compare notes what changes in the findings of an image. before and wanted are those that there
// are and that there must be.
func (c *findingChanges) compare(of *content, before, wanted []*Finding, rules triageRules) {
	status := of.status
	opened, resolved, changed := []*Finding{}, []*Finding{}, []*Finding{}
	known := make(map[aboutKey][]*Finding, len(before))
	for _, f := range before {
		known[c.aboutKey(f)] = append(known[c.aboutKey(f)], f)
	}
	joined := map[aboutKey]bool{}
	for _, f := range wanted {
		key := c.aboutKey(f)
		was := firstSeen(known[key])
		if joined[key] = true; was != nil {
			f.UID = was.UID
		}
		if c.carryOver(f, withDecision(was, known[key])); was == nil && of.hasArrived {
			c.first = append(c.first, f)
		}
		known[key] = slices.DeleteFunc(known[key], func(other *Finding) bool { return other == was })
		rules.decide(f, c.now)
		rules.setDue(f)
		switch {
		case was == nil || !was.IsCounted():
			c.replace(status, was, f)
			opened = append(opened, f)
		case !was.sameAs(f):
			c.replace(status, was, f)
			if !was.looksLike(f) {
				changed = append(changed, f)
			}
		}
	}
	for _, was := range before {
		if !slices.Contains(known[c.aboutKey(was)], was) {
			continue
		}
		if joined[c.aboutKey(was)] || c.superseded[c.aboutKey(was).representative] && was.Decision != DecisionOfFinding { // another finding has its place, and nothing is fixed
			c.drop(status, was)
			if was.IsCounted() {
				resolved = append(resolved, was)
			}
			continue
		}
		gone := *was
		if gone.IsLive = status.IsLive; gone.IsLive && was.State != FindingResolved {
			gone.State, gone.ResolvedTime = FindingResolved, c.now
		}
		if was.sameAs(&gone) {
			continue
		}
		c.replace(status, was, &gone)
		if was.IsCounted() {
			resolved = append(resolved, &gone)
		}
	}
	c.note(verbOpened, opened)
	c.note(verbResolved, resolved)
	c.note(verbChanged, changed)
}

// An aboutKey is what findings of one image have in common that are of the same vulnerability and version.
type aboutKey struct{ representative, version core.UID }

func (c *findingChanges) aboutKey(f *Finding) aboutKey {
	return aboutKey{cmp.Or(c.representatives[f.Representative], f.Representative), f.PackageVersion}
}

// firstSeen returns the finding that stays of those that are of the same vulnerability, or nil.
func firstSeen(known []*Finding) *Finding {
	if len(known) == 0 {
		return nil
	}
	return slices.MinFunc(known, func(a, b *Finding) int {
		return cmp.Or(bit(b.IsCounted())-bit(a.IsCounted()), a.FirstSeenTime.Compare(b.FirstSeenTime.Time), core.CompareTexts(a.UID, b.UID))
	})
}

// withDecision returns a finding with what was decided about it, or about another one of the same vulnerability.
func withDecision(was *Finding, known []*Finding) *Finding {
	for _, other := range known {
		if was.Decision != DecisionOfFinding && other.Decision == DecisionOfFinding && other.IsCounted() {
			decided := *was
			decided.decide(other.decision(), DecisionOfFinding)
			return &decided
		}
	}
	return was
}

// carryOver copies what stays of a known finding to the one that replaces it.
func (c *findingChanges) carryOver(f, was *Finding) {
	f.FirstSeenTime, f.UpdateTime = c.now, c.now
	if was == nil {
		return
	}
	f.FirstSeenTime, f.Assignee, f.DueTime, f.IsDueSet, f.IsNewInRepo = was.FirstSeenTime, was.Assignee, was.DueTime, was.IsDueSet, was.IsNewInRepo
	switch {
	case was.Decision == DecisionOfFinding && !was.decision().hasEnded(c.now) && was.State != FindingResolved:
		f.decide(was.decision(), DecisionOfFinding)
	case was.Decision == "" && f.Decision == "": // a note about an open finding decides nothing
		f.Note = was.Note
	}
}

// replace notes that a finding takes the place of another one, which may be nil.
func (c *findingChanges) replace(status *ImageStatus, was, is *Finding) {
	if was != nil {
		c.old = append(c.old, was)
		c.open.add(was, -1)
		status.Open.add(was, -1)
	}
	is.UpdateTime = c.now
	c.new = append(c.new, is)
	c.open.add(is, 1)
	status.Open.add(is, 1)
}

// drop notes that a finding is no more.
func (c *findingChanges) drop(status *ImageStatus, was *Finding) {
	c.old = append(c.old, was)
	c.open.add(was, -1)
	status.Open.add(was, -1)
}

// note notes that findings have changed, for their events.
func (c *findingChanges) note(verb string, all []*Finding) {
	for _, f := range all {
		c.events.note(c.repo, verb, f)
	}
}

// sameAs reports whether nothing but the time of the update differs.
func (f *Finding) sameAs(other *Finding) bool {
	x, y := *f, *other
	x.UpdateTime, y.UpdateTime = core.Time{}, core.Time{}
	return x.IsLive == y.IsLive && x.Decision == y.Decision && x.DecidedBy == y.DecidedBy && x.PackageVersion == y.PackageVersion && x.Advisory == y.Advisory && x.Representative == y.Representative && x.looksLike(&y) &&
		EPSSKey(x.EPSS) == EPSSKey(y.EPSS) && x.LacksFix == y.LacksFix && x.Scope == y.Scope && core.EqualJSON(x.Direct, y.Direct) && x.DueTime.Equal(y.DueTime.Time) && x.IsDueSet == y.IsDueSet && x.IsNewInRepo == y.IsNewInRepo && x.FirstSeenTime.Equal(y.FirstSeenTime.Time)
}

// looksLike reports whether nothing differs that somebody would be told of.
func (f *Finding) looksLike(other *Finding) bool {
	return f.State == other.State && f.Severity.SortKey() == other.Severity.SortKey() && f.KnownExploited == other.KnownExploited &&
		slices.Equal(f.FixedVersions, other.FixedVersions) && slices.Equal(f.BinaryPackages, other.BinaryPackages) &&
		slices.Equal(f.Sources, other.Sources) && slices.Equal(f.DisputedBy, other.DisputedBy) && f.Justification == other.Justification && f.Note == other.Note && f.Assignee == other.Assignee && (f.DueTime.Equal(other.DueTime.Time) || !f.IsDueSet && !other.IsDueSet) && f.ExpireTime.Equal(other.ExpireTime.Time) &&
		f.Basis == other.Basis && f.Package == other.Package && f.InstalledVersion == other.InstalledVersion && f.VulnerabilityID == other.VulnerabilityID
}

// markNew marks those of the first findings of which no image of the repo has had the vulnerability.
func (s Findings) markNew(ctx context.Context, tx core.Tx, c *findingChanges) error {
	if len(c.first) == 0 {
		return nil
	}
	about := make([]core.UID, len(c.first))
	for i, f := range c.first {
		about[i] = f.Representative
	}
	slices.Sort(about)
	held, err := s.area.tables.HeldInRepo(ctx, tx, c.repo.UID, slices.Compact(about))
	isHeld := make(map[core.UID]bool, len(held))
	for _, uid := range held {
		isHeld[uid] = true
	}
	for _, f := range c.first {
		f.IsNewInRepo, isHeld[f.Representative] = !isHeld[f.Representative], true
	}
	return err
}

// record records the events of a transaction.
func (s Findings) record(ctx context.Context, tx core.Tx, events findingEvents) {
	for _, verb := range []string{verbOpened, verbResolved, verbChanged} {
		for _, change := range events.changes(verb) {
			tx.Record(s.area.Event(ctx, s.rows.Kind.Event, verb, change.Repo, change.Repo.Parent(), change))
		}
	}
}

// store writes the changes in repos in a transaction. Their events are recorded later.
func (s Findings) store(ctx context.Context, tx core.Tx, all ...*findingChanges) error {
	var old, current []*Finding
	for _, c := range all {
		old, current = append(old, c.old...), append(current, c.new...)
	}
	if len(old)+len(current) > 0 {
		if err := s.area.tables.ReplaceFindings(ctx, tx, old, current); err != nil {
			return err
		}
	}
	for _, c := range all {
		if c.open != (OpenCounts{}) {
			s.area.tables.ShiftOpenFindings(tx, c.repo, c.open, c.now)
		}
		s.area.tables.PutImageStatuses(tx, c.repo.UID, c.statuses)
	}
	return nil
}
