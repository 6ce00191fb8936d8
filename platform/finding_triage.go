package platform

import (
	"cmp"
	"context"
	"slices"
)

// A TriageRule decides about the findings of a vulnerability in a group, or in a repo, and about those
// that appear there later. VEX documents become rules.
type TriageRule struct {
	UID             UID
	Scope           UID    // group or repo
	VulnerabilityID string // id of the advisory, or another name of it
	Package         string // "" means any
	Version         string // installed version; "" means any
	Digest          string // "" means any image

	State         FindingState
	Justification string
	Note          string
	ExpireTime    Time
	CreateTime    Time
	Author        string
}

// triageRules are the rules for a repo, by the advisories that they name.
type triageRules map[UID][]*TriageRule

// decide sets what the rules decide about a finding. Of several rules, that of the closest group
// counts, and of those the newest. What was decided about the finding itself counts more.
func (r triageRules) decide(f *Finding, now Time) {
	if f.Decision == DecisionOfFinding {
		return
	}
	for _, rule := range r[f.Advisory] {
		if rule.isFor(f) && (rule.ExpireTime.IsZero() || rule.ExpireTime.After(now.Time)) {
			f.State, f.Justification, f.Note, f.ExpireTime, f.Decision = rule.State, rule.Justification, rule.Note, rule.ExpireTime, string(rule.UID)
			return
		}
	}
}

// isFor reports whether the rule is for a finding of a vulnerability that it names.
func (r *TriageRule) isFor(f *Finding) bool {
	return f.Repo.Within(r.Scope) && (r.Package == "" || r.Package == f.Package) &&
		(r.Version == "" || r.Version == f.InstalledVersion) && (r.Digest == "" || r.Digest == f.Digest)
}

// readRules reads the rules for a repo that name one of advisories.
func (s Findings) readRules(ctx context.Context, tx Tx, repo UID, advisories []*Advisory) (triageRules, error) {
	var names []string
	for _, a := range advisories {
		names = append(names, a.names()...)
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	found, err := tx.TriageRules(ctx, append(repo.Ancestors(), repo), slices.Compact(names))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	slices.SortFunc(found, func(a, b *TriageRule) int {
		return cmp.Or(cmp.Compare(len(b.Scope), len(a.Scope)), b.CreateTime.Compare(a.CreateTime.Time), compareTexts(b.UID, a.UID))
	})
	byName := map[string][]*TriageRule{}
	for _, rule := range found {
		byName[rule.VulnerabilityID] = append(byName[rule.VulnerabilityID], rule)
	}
	rules := triageRules{}
	for _, a := range advisories {
		var own []*TriageRule
		for _, name := range a.names() {
			own = append(own, byName[name]...)
		}
		slices.SortStableFunc(own, func(x, y *TriageRule) int { return cmp.Compare(slices.Index(found, x), slices.Index(found, y)) })
		rules[a.UID] = slices.Compact(own)
	}
	return rules, nil
}
