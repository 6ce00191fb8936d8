package inventory

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A FindingPattern says by facts which findings a rule accepts, where other rules name a vulnerability. A finding must meet all
// conditions that are given. What is not known of it meets none: neither a severity, nor a probability, nor that there is no fix.
// A condition is a field here, a line of matches, and one of filter.
type FindingPattern struct {
	MaxSeverity           core.SeverityRating   `json:"maxSeverity,omitempty"` // the rating is this one or a better one
	EPSSBelow             *float64              `json:"epssBelow,omitempty"`   // the probability is below this one, from 0 to 1
	WithoutFix            bool                  `json:"withoutFix,omitempty"`  // all later versions are affected
	Packages              []string              `json:"packages,omitempty"`    // one of these names, as the image spells it
	Ecosystems            []string              `json:"ecosystems,omitempty"`  // one of these, with or without the release
	Scopes                []PackageScope        `json:"scopes,omitempty"`      // the image needs the package for one of these
	Labels                []core.LabelCondition `json:"labels,omitempty"`      // the repo has all of these
	IncludeKnownExploited bool                  `json:"includeKnownExploited,omitempty"`
}

// UnmarshalJSON refuses conditions that there are not: without a misspelled one, the rule would accept more.
func (p *FindingPattern) UnmarshalJSON(b []byte) error { return fieldmask.UnmarshalStruct(b, p) }

// These limit patterns. Each finding is compared with all patterns of its repo and of the groups around it.
const (
	maxPatternsOfScope = 50
	maxPatternValues   = 100
)

// anyVulnerability is the vulnerability of rules with a pattern.
const anyVulnerability = ""

// check checks a pattern, and sorts its lists.
func (p *FindingPattern) check(v *core.Violations) {
	core.CheckOneOf(v, "maxSeverity", p.MaxSeverity, core.SeverityRatings()[1:])
	if p.EPSSBelow != nil && !(*p.EPSSBelow > 0 && *p.EPSSBelow <= 1) {
		v.Add("epssBelow", "must be above 0, and at most 1")
	}
	for _, list := range []*[]string{&p.Packages, &p.Ecosystems} {
		if len(*list) > 0 { // an empty list matches nothing
			*list = slices.Compact(slices.Sorted(slices.Values(*list)))
		}
	}
	if len(p.Scopes) > 0 {
		p.Scopes = slices.Compact(slices.Sorted(slices.Values(p.Scopes)))
	}
	if len(p.Labels) > 0 {
		slices.SortFunc(p.Labels, func(a, b core.LabelCondition) int { return strings.Compare(a.String(), b.String()) })
		p.Labels = slices.CompactFunc(p.Labels, func(a, b core.LabelCondition) bool { return a.String() == b.String() })
	}
	for _, s := range p.Scopes {
		core.CheckOneOf(v, "scopes", s, packageScopes)
	}
	v.CheckLines("packages", p.Packages, maxPatternValues)
	v.CheckLines("ecosystems", p.Ecosystems, maxPatternValues)
	(&core.LabelFilter{Labels: p.Labels}).Check(v)
	if p.MaxSeverity == "" && p.EPSSBelow == nil && !p.WithoutFix && p.Packages == nil && p.Ecosystems == nil && p.Scopes == nil && p.Labels == nil {
		v.Add("where", "must have a condition: maxSeverity, epssBelow, withoutFix, packages, ecosystems, scopes or labels")
	}
}

// ratings lists the ratings that meet the pattern; nil means all.
func (p *FindingPattern) ratings() []core.SeverityRating {
	if p.MaxSeverity == "" {
		return nil
	}
	return core.SeverityRatings()[1 : p.MaxSeverity.Rank()+1]
}

// filter returns the filter of the findings that meet the pattern: it is to lists what matches is to one finding of a repo with
// the labels.
func (p *FindingPattern) filter() *FindingFilter {
	f := &FindingFilter{
		Severities: p.ratings(), EPSSBelow: p.EPSSBelow, LacksFix: p.WithoutFix,
		Packages: p.Packages, Ecosystems: p.Ecosystems, Scopes: p.Scopes, LabelFilter: core.LabelFilter{Labels: p.Labels},
	}
	if !p.IncludeKnownExploited {
		f.KnownExploited = new(bool)
	}
	return f
}

// matches reports whether a finding meets the pattern.
func (p *FindingPattern) matches(f *Finding) bool {
	key := EPSSKey(f.EPSS)
	return (p.MaxSeverity == "" || slices.Contains(p.ratings(), f.Severity.Rating)) &&
		(p.EPSSBelow == nil || key != "" && key < EPSSKey(p.EPSSBelow)) &&
		(!p.WithoutFix || f.LacksFix) &&
		(len(p.Packages) == 0 || slices.Contains(p.Packages, f.Package)) &&
		(len(p.Ecosystems) == 0 || slices.ContainsFunc(p.Ecosystems, func(name string) bool {
			return f.Ecosystem == name || !strings.Contains(name, ":") && strings.HasPrefix(f.Ecosystem, name+":")
		})) &&
		(len(p.Scopes) == 0 || slices.Contains(p.Scopes, f.Scope)) &&
		(p.IncludeKnownExploited || !f.KnownExploited)
}

// isLabeled reports whether a repo has the labels of the pattern.
func (p *FindingPattern) isLabeled(repo *Repo) bool {
	met := repo.Labels.Conditions()
	return !slices.ContainsFunc(p.Labels, func(c core.LabelCondition) bool { return !slices.Contains(met, c.String()) })
}

// text returns the pattern as a text; "" if there is none.
func (p *FindingPattern) text() string {
	if p == nil {
		return ""
	}
	text, _ := json.Marshal(p) // It has no value that JSON cannot have.
	return string(text)
}

// accept lets the first pattern decide that a finding meets, if nothing else has decided about the finding.
func (r triageRules) accept(f *Finding, now core.Time) {
	if f.Decision != "" {
		return
	}
	for _, rule := range r.patterns {
		if f.Repo.Within(rule.Scope) && rule.repos[f.Repo] && rule.Pattern.matches(f) && !rule.decision().hasEnded(now) {
			f.decide(rule.decision(), string(rule.UID))
			return
		}
	}
}

// requireOn checks a UID that the caller has given, and that the caller holds capabilities there.
func (s Findings) requireOn(ctx context.Context, field string, uid core.UID, capabilities ...core.Capability) error {
	core.TraceOf(ctx).NoteResource(s.rows.Kind.Name, uid)
	if _, err := core.RequireCaller(ctx); err != nil {
		return err
	}
	var v core.Violations
	if v.CheckUID(field, uid); len(v) > 0 {
		return v.Err()
	}
	_, err := core.Require(ctx, uid, capabilities...)
	return err
}

// capabilities lists what it needs to accept findings by the pattern.
func (p *FindingPattern) capabilities() []core.Capability {
	labeled := FindingFilter{LabelFilter: core.LabelFilter{Labels: p.Labels}}
	return append(triageCapabilities(), labeled.Capabilities()...)
}

// ListAcceptable reads a page of the findings that a pattern would accept if a group or a repo had it now: those that are open, and about
// which nothing else has decided. It needs what AcceptByPattern needs.
func (s Findings) ListAcceptable(ctx context.Context, within core.UID, p *FindingPattern, req core.ListRequest[*FindingFilter]) (core.Page[*Finding], error) {
	err := s.requireOn(ctx, "within", within, p.capabilities()...)
	if err == nil {
		var v core.Violations
		p.check(&v)
		err = v.Err()
	}
	if err != nil {
		return core.Page[*Finding]{}, s.rows.Kind.AddArea(err)
	}
	req.UIDP, req.Filter = core.UIDFilter{DescendantsOf: within}, p.filter()
	req.Filter.States, req.Filter.Undecided = []FindingState{FindingOpen}, true
	return s.rows.List(ctx, req)
}

// AcceptByPattern stores a rule that accepts the findings of a group or a repo that meet its pattern, also those that appear later,
// until the rule ends. It replaces a rule with the same pattern. It needs findings.update, findings.list and tag.list there, and
// repo.list for labels. Reconcile accepts the findings.
func (s Findings) AcceptByPattern(ctx context.Context, r TriageRule) (*TriageRule, error) {
	r.State, r.CreateTime, r.Author = FindingAccepted, s.area.Now(), core.ChangeActor(ctx, r.Scope).Subject
	err := s.requireOn(ctx, "within", r.Scope, r.Pattern.capabilities()...)
	if err == nil {
		err = r.checkAcceptance()
	}
	if err == nil {
		r.setUID()
		defer s.area.precedence.Take(r.Scope.Root())()
		err = s.area.Store.Write(ctx, func(tx core.Tx) error { return s.putPattern(ctx, tx, &r) })
	}
	return &r, s.rows.RecordIfDenied(ctx, verbChanged, r.Scope, err)
}

// checkAcceptance checks a rule with a pattern.
func (r *TriageRule) checkAcceptance() error {
	var v, inside core.Violations
	if r.Pattern.check(&inside); core.MatchesNothing(r.Pattern) {
		inside.Add("where", "must not have an empty list, which matches no finding; leave the list out to match all")
	}
	for _, x := range inside {
		if x.Field != "where" {
			x.Field = "where." + x.Field
		}
		v.Add(x.Field, "%s", x.Description)
	}
	if v.CheckText("note", r.Note, core.MaxNoteBytes); strings.TrimSpace(r.Note) == "" {
		v.Add("note", "is required: say why the risk is accepted")
	}
	if r.ExpireTime.IsZero() || r.decision().hasEnded(r.CreateTime) {
		v.Add("expireTime", "must be in the future")
	}
	return v.Err()
}

// requireExisting returns NOT_FOUND if there is no such group or repo.
func requireExisting(ctx context.Context, on core.Conn, scope core.UID) error {
	exists, err := on.Exists(ctx, scope)
	if err == nil && !exists {
		err = core.NewNotFound(core.GroupRef, scope)
	}
	return err
}

// putPattern stores a rule with a pattern.
func (s Findings) putPattern(ctx context.Context, tx core.Tx, r *TriageRule) error {
	tx.Lock(FindingLock(r.Scope.Root()))
	if err := requireExisting(ctx, tx, r.Scope); err != nil {
		return err
	}
	known, err := s.area.tables.TriageRules(ctx, tx, []core.UID{r.Scope}, []string{anyVulnerability})
	if err != nil {
		return err
	}
	if len(known) >= maxPatternsOfScope && !slices.ContainsFunc(known, func(other *TriageRule) bool { return other.UID == r.UID }) {
		var v core.Violations
		v.Add("within", "already has %d acceptance rules, the maximum; delete one", len(known))
		return v.Err()
	}
	s.area.tables.PutTriageRules(tx, []*TriageRule{r})
	s.area.tables.AddPatternTasks(tx, r.Scope, r.Pattern.filter())
	s.recordRules(ctx, tx, r.Scope, []*TriageRule{r})
	return nil
}

// DeletePattern deletes a rule with a pattern. Reconcile opens what it has accepted, unless another rule accepts that too. It needs
// findings.update, findings.list and tag.list on the group or the repo of the rule.
func (s Findings) DeletePattern(ctx context.Context, uid core.UID) error {
	err := s.requireOn(ctx, "uid", uid, triageCapabilities()...)
	if err == nil {
		defer s.area.precedence.Take(uid.Root())()
		err = s.area.Store.Write(ctx, func(tx core.Tx) error {
			tx.Lock(FindingLock(uid.Root()))
			known, err := s.area.tables.TriageRules(ctx, tx, []core.UID{uid.Parent()}, []string{anyVulnerability})
			if err != nil {
				return err
			}
			at := slices.IndexFunc(known, func(r *TriageRule) bool { return r.UID == uid })
			if at < 0 {
				return core.NewNotFound(core.Ref{Name: "AcceptanceRule", Area: core.AreaVulnerabilities}, uid)
			}
			s.area.tables.DeleteTriageRules(tx, []core.UID{uid})
			s.area.tables.AddDecidedTasks(tx, uid)
			known[at].State = FindingOpen
			s.recordRules(ctx, tx, uid.Parent(), known[at:at+1])
			return nil
		})
	}
	return s.rows.RecordIfDenied(ctx, verbChanged, uid.Parent(), err)
}

// Patterns lists the rules with patterns that hold in a group or a repo: its own, and those of the groups around it. Those that count
// more come first. It needs findings.list and tag.list there.
func (s Findings) Patterns(ctx context.Context, within core.UID) ([]*TriageRule, error) {
	if err := s.requireOn(ctx, "within", within, FindingKind.ReadCapabilities()...); err != nil {
		return nil, s.rows.Kind.AddArea(err)
	}
	found, err := s.area.tables.PatternRules(ctx, s.area.Store, scopesAround([]core.UID{within}))
	if err == nil && len(found) == 0 {
		err = s.rows.ScopeExists(ctx, core.UIDFilter{DescendantsOf: within})
	}
	now, rules := s.area.Now(), []*TriageRule{}
	for _, r := range found {
		if !r.decision().hasEnded(now) {
			rules = append(rules, r)
		}
	}
	slices.SortFunc(rules, compareRules)
	return rules, s.rows.Kind.AddArea(err)
}

// CountAccepted counts, for each rule, the findings that it decides about now, of those that the caller may see, with one read.
func (s Findings) CountAccepted(ctx context.Context, rules []*TriageRule) ([]int64, error) {
	of := make([]DecidedScope, len(rules))
	for i, r := range rules {
		q, err := s.rows.Query(ctx, core.ListRequest[*FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: r.Scope}})
		if err != nil {
			return nil, s.rows.Kind.AddArea(err)
		}
		of[i].Rule = r.UID
		for _, b := range q.Scope.Branches {
			of[i].Within = append(of[i].Within, b.UID)
		}
	}
	counts, err := s.area.tables.CountDecided(ctx, s.area.Store, of)
	return counts, s.rows.Kind.AddArea(err)
}

// A DecidedScope names findings about which a rule has decided: those within groups and repos.
type DecidedScope struct {
	Rule   core.UID
	Within []core.UID
}
