package inventory

import (
	"context"
	"slices"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// TriageRuleQueries read and write triage rules in other ways than a Table does.
type TriageRuleQueries interface {
	// RulesAndPolicies reads the policies of scopes too, with the same round trip as TriageRules.
	RulesAndPolicies(ctx context.Context, on core.Conn, scopes []core.UID, vulnerabilities []string) ([]*TriageRule, []*DuePolicy, error)

	// DuePolicies reads the policies of scopes.
	DuePolicies(ctx context.Context, on core.Conn, scopes []core.UID) ([]*DuePolicy, error)

	// PutDuePolicy stores a policy in place of that of its scope, or deletes that if there are no days.
	PutDuePolicy(tx core.Tx, p *DuePolicy)

	// TriageRules reads the rules of scopes that name one of vulnerabilities.
	TriageRules(ctx context.Context, tx core.Tx, scopes []core.UID, vulnerabilities []string) ([]*TriageRule, error)

	// OtherNames lists other names of a vulnerability, which advisories for an organization give it.
	OtherNames(ctx context.Context, tx core.Tx, root core.UID, vulnerability string) ([]string, error)

	// TagSources lists the sources of the tags of a repo.
	TagSources(ctx context.Context, on core.Conn, repo core.UID) ([]string, error)

	// DecidingRules lists the rules that decide about findings of vulnerabilities in a group or a repo, by any names of these.
	DecidingRules(ctx context.Context, on core.Conn, scope core.UID, vulnerabilities []string) ([]core.UID, error)

	// PutTriageRules stores rules, replacing those with the same UIDs.
	PutTriageRules(tx core.Tx, rules []*TriageRule)

	DeleteTriageRules(tx core.Tx, uids []core.UID)

	// EndTriageRules deletes rules whose time is over.
	EndTriageRules(ctx context.Context, tx core.Tx, now core.Time) error

	// AddRuleTasks adds tasks for the findings of vulnerabilities in a group or a repo.
	AddRuleTasks(tx core.Tx, scope core.UID, vulnerabilities []string)

	// AddPatternTasks adds tasks for the images in a group or a repo with findings that a filter selects.
	AddPatternTasks(tx core.Tx, scope core.UID, filter *FindingFilter)

	// AddDecidedTasks adds tasks for the images with findings about which a rule has decided.
	AddDecidedTasks(tx core.Tx, rule core.UID)

	// PatternRules reads the rules with patterns of scopes.
	PatternRules(ctx context.Context, on core.Conn, scopes []core.UID) ([]*TriageRule, error)

	// CountDecided counts findings about which rules have decided, with one statement.
	CountDecided(ctx context.Context, on core.Conn, of []DecidedScope) ([]int64, error)
}

// A TriageChange is the body of the events about rules: what was decided about the findings of
// vulnerabilities in a group or a repo, also about those that appear later. Each finding that it changes has
// events of its own.
type TriageChange struct {
	Scope core.UID      `json:"scope"` // group or repo
	Count int           `json:"count"` // number of rules
	Rules []*TriageRule `json:"rules"` // the first of them, at most maxChangedFindings; OPEN means that a rule was removed, or that rules further up do not count
}

const verbTriaged = "triaged"

// rules returns the rules that the update makes.
func (u *FindingUpdate) rules(d decision, now core.Time, author string) (rules []*TriageRule) {
	for _, id := range u.Where.VulnerabilityIDs {
		for _, name := range orEmpty(u.Where.Packages) {
			for _, digest := range orEmpty(u.Where.Digests) {
				r := &TriageRule{
					Scope: u.Within, VulnerabilityID: id, Package: name, Digest: digest,
					State: d.state, Justification: d.justification, Note: d.note, ExpireTime: d.expireTime, CreateTime: now, Author: author,
				}
				r.setUID()
				rules = append(rules, r)
			}
		}
	}
	return rules
}

// orEmpty returns a list with one empty text instead of an empty list.
func orEmpty(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// changeRules stores the rules of an update, or removes them. An update to OPEN stores rules only
// where others, of the group or further up, would decide otherwise.
func (s Findings) changeRules(ctx context.Context, tx core.Tx, u *FindingUpdate, c *fieldmask.Change[*Finding]) error {
	if !u.makesRules() || !c.Writes("state") {
		return nil
	}
	rules := u.rules(c.Row.decision(), s.area.Now(), core.ChangeActor(ctx, u.Within).Subject)
	kept := rules
	if c.Row.State == FindingOpen {
		var err error
		if kept, err = s.removeRules(ctx, tx, u.Within, rules); err != nil {
			return err
		}
	}
	s.area.tables.PutTriageRules(tx, kept)
	s.followRules(ctx, tx, u.Within, rules)
	return nil
}

// removeRules deletes rules, and returns those whose vulnerabilities other rules are about.
func (s Findings) removeRules(ctx context.Context, tx core.Tx, within core.UID, rules []*TriageRule) (covered []*TriageRule, err error) {
	uids := make([]core.UID, len(rules))
	for i, r := range rules {
		uids[i] = r.UID
	}
	s.area.tables.DeleteTriageRules(tx, uids)
	isCovered := map[string]bool{}
	for _, r := range rules {
		is, known := isCovered[r.VulnerabilityID]
		if !known {
			names, err := s.area.tables.OtherNames(ctx, tx, within.Root(), r.VulnerabilityID)
			if err != nil {
				return nil, err
			}
			others, err := s.area.tables.TriageRules(ctx, tx, scopesAround([]core.UID{within}), append(names, r.VulnerabilityID, anyVulnerability))
			if err != nil {
				return nil, err
			}
			is = len(others) > 0
			isCovered[r.VulnerabilityID] = is
		}
		if is {
			covered = append(covered, r)
		}
	}
	return covered, nil
}

// followRules adds tasks for the findings that rules are about, and records their event.
func (s Findings) followRules(ctx context.Context, tx core.Tx, scope core.UID, rules []*TriageRule) {
	if len(rules) == 0 {
		return
	}
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.VulnerabilityID
	}
	slices.Sort(names)
	s.area.tables.AddRuleTasks(tx, scope, slices.Compact(names))
	s.recordRules(ctx, tx, scope, rules)
}

// recordRules records the event of rules.
func (s Findings) recordRules(ctx context.Context, tx core.Tx, scope core.UID, rules []*TriageRule) {
	body := TriageChange{scope, len(rules), rules[:min(len(rules), maxChangedFindings)]}
	tx.Record(s.area.Event(ctx, s.rows.Kind.Event, verbTriaged, scope, scope, body))
}

// ImportRules stores rules in a group, which documents such as those of VEX have. A rule does not
// replace one about the same that was made later.
func (s Findings) ImportRules(ctx context.Context, group core.UID, rules []*TriageRule) (core.Imported, error) {
	if err := s.area.RequireImport(ctx, core.CapVEXImport, group); err != nil {
		return core.Imported{}, err
	}
	put := func(ctx context.Context, tx core.Tx, rows ...*TriageRule) {
		s.area.tables.PutTriageRules(tx, rows)
		s.followRules(ctx, tx, group, rows)
	}
	now, author := s.area.Now(), core.ChangeActor(ctx, group).Subject
	in := core.ImportPlan[*TriageRule, triageTarget]{
		Key: (*TriageRule).target,
		Check: func(r *TriageRule, v *core.Violations) {
			r.Scope, r.Author = group, author
			if r.CreateTime.IsZero() || r.CreateTime.After(now.Time) {
				r.CreateTime = now
			}
			r.check(now, v)
			r.setUID()
		},
		Existing: func(ctx context.Context, tx core.Tx, rows []*TriageRule) ([]*TriageRule, error) {
			names := make([]string, len(rows))
			for i, r := range rows {
				names[i] = r.VulnerabilityID
			}
			slices.Sort(names)
			return s.area.tables.TriageRules(ctx, tx, []core.UID{group}, slices.Compact(names))
		},
		IsUnchanged: func(known, r *TriageRule) bool {
			return known.CreateTime.After(r.CreateTime.Time) || known.decision().equals(r.decision())
		},
		Replace: func(ctx context.Context, tx core.Tx, _, r *TriageRule) error { put(ctx, tx, r); return nil },
		Insert:  func(ctx context.Context, tx core.Tx, rows []*TriageRule) error { put(ctx, tx, rows...); return nil },
	}
	return in.Run(ctx, s.area.Store, rules)
}

// Deciding lists which rules decide about findings of vulnerabilities in a group now. Others wait for such findings.
func (s Findings) Deciding(ctx context.Context, group core.UID, vulnerabilities []string) ([]core.UID, error) {
	if err := s.area.RequireImport(ctx, core.CapVEXImport, group); err != nil {
		return nil, err
	}
	return s.area.tables.DecidingRules(ctx, s.area.Store, group, vulnerabilities)
}

// check checks a rule of a document. Documents say more than callers may: they can leave out
// why something is not affected.
func (r *TriageRule) check(now core.Time, v *core.Violations) {
	v.CheckRequiredLine("vulnerabilityId", r.VulnerabilityID)
	v.CheckLine("package", r.Package)
	v.CheckLine("ecosystem", r.Ecosystem)
	v.CheckLine("version", r.Version)
	v.CheckLine("image", r.Image)
	for field, text := range map[string]string{"package": r.Product.Package, "ecosystem": r.Product.Ecosystem, "version": r.Product.Version} {
		v.CheckLine("product."+field, text)
	}
	if err := affected.CheckVersions(r.Product.Version); err != nil {
		v.Add("product.version", "%s", err)
	}
	if r.Digest != "" {
		v.CheckDigest(r.Digest)
	}
	if err := affected.CheckVersions(r.Version); err != nil {
		v.Add("version", "%s", err)
	}
	core.CheckOneOf(v, "state", r.State, decidableStates)
	core.CheckOneOf(v, "justification", r.Justification, FindingJustifications())
	v.CheckText("note", r.Note, core.MaxNoteBytes)
	if r.decision().hasEnded(now) {
		v.Add("expireTime", "is over")
	}
}

// Decisions are what was decided about findings within a group or a repo. Somewhere else, where all rules are of one
// group, they give the same states.
type Decisions struct {
	Rules    []*TriageRule // of the group or the repo, and of the groups around it
	Findings []*Finding    // those about which callers, or rules of other groups, have decided
}

// Decisions reads what was decided about findings within a group, or about those of an image of a repo if
// digest is not "". Only a command of the operator may do so.
func (s Findings) Decisions(ctx context.Context, scope core.UID, digest string) (*Decisions, error) {
	if err := s.area.RequireOperatorOf(ctx, scope); err != nil {
		return nil, err
	}
	rules, err := s.area.tables.RulesOf(ctx, s.area.Store, scopesAround([]core.UID{scope}))
	if err != nil {
		return nil, err
	}
	filter := &FindingFilter{States: decidableStates, WithoutLiveTags: true, Decided: true}
	if digest != "" {
		filter.Digests = []string{digest}
	}
	found, err := s.area.tables.Findings.List(ctx, s.area.Store, core.Query[*FindingFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Below, UID: scope}), Filter: filter, Order: core.Order{Field: "uid"}, Limit: core.NoLimit, Parts: core.PartItems,
	})
	if err != nil {
		return nil, err
	}
	rules = slices.DeleteFunc(rules, func(r *TriageRule) bool {
		// What a pattern has accepted is told by the findings: VEX has no patterns.
		return r.Pattern != nil || r.decision().hasEnded(s.area.Now()) || digest != "" && r.Digest != "" && r.Digest != digest
	})
	return newDecisions(rules, found.Items), nil
}

// newDecisions leaves out the findings about which a rule says enough, and the rules that findings or closer rules
// about the same replace. Where rules are of several groups, those of the closest count, which gets lost when all are of
// one group: then each finding is told.
func newDecisions(rules []*TriageRule, decided []*Finding) *Decisions {
	d := &Decisions{}
	says := map[string]bool{}
	for _, r := range rules {
		says[string(r.UID)] = r.Scope == rules[0].Scope && r.Scope == rules[len(rules)-1].Scope
	}
	told := map[triageTarget]bool{}
	for _, f := range decided {
		if !says[f.Decision] {
			d.Findings = append(d.Findings, f)
			told[(&TriageRule{VulnerabilityID: f.VulnerabilityID, Package: f.Package, Ecosystem: f.Ecosystem, Version: f.InstalledVersion, Digest: f.Digest}).target()] = true
		}
	}
	slices.SortFunc(rules, compareRules)
	for _, r := range rules {
		target := r.target()
		target.scope = ""
		if !told[target] {
			d.Rules, told[target] = append(d.Rules, r), true
		}
	}
	slices.Reverse(d.Rules)
	return d
}
