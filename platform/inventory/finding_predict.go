package inventory

import (
	"cmp"
	"context"
	"slices"

	"atrium/platform/core"
)

// A HeldContent is what an image holds, as documents or a document that is not stored say it.
type HeldContent struct {
	HeldComponents
	Sources map[core.UID]*PackageVersion // versions of the source packages that the components name
}

// Predict returns the findings that an image of a repo has if a tag points to it and it holds this, the worst first, and the number of
// packages of which it is not known what affects them. It compares and decides as the findings that are stored are made, and stores
// nothing. Neither the repo nor the image need to exist. It does not check access.
func (s Findings) Predict(ctx context.Context, repo *Repo, digest string, held HeldContent) (found []*Finding, unknown int64, err error) {
	on := s.area.Store
	c := &content{status: &ImageStatus{Repo: repo.UID, Digest: digest, IsLive: true, Basis: BasisVersion}}
	c.candidates = candidates(held.Components, held.Sources, held.Direct)
	names := slices.DeleteFunc(c.names(), func(name string) bool { return name == "" })
	slices.Sort(names)
	advisories, err := s.area.tables.AdvisoriesNamed(ctx, on, repo.UID, slices.Compact(names))
	if err != nil {
		return nil, 0, err
	}
	rules, err := s.readRules(ctx, on, []*Repo{repo}, advisories, []*content{c})
	if err != nil {
		return nil, 0, err
	}
	if err := setExploitation(ctx, s.area.tables, on, advisories); err != nil {
		return nil, 0, err
	}
	known, err := s.readDecided(ctx, repo.UID, digest)
	if err != nil {
		return nil, 0, err
	}
	changes := findingChanges{now: s.area.Now()}
	found = newMatcher(advisories).find(c, repo.UID)
	for _, f := range found {
		changes.carryOver(f, known[changes.aboutKey(f)])
		rules.decide(f, changes.now)
	}
	slices.SortStableFunc(found, func(a, b *Finding) int {
		return cmp.Or(core.CompareTexts(b.Severity.SortKey(), a.Severity.SortKey()), cmp.Compare(a.VulnerabilityID, b.VulnerabilityID), cmp.Compare(a.Package, b.Package), cmp.Compare(a.InstalledVersion, b.InstalledVersion))
	})
	return found, countUnknown(held.Components), nil
}

// readDecided reads the findings of an image about which somebody has decided one by one.
func (s Findings) readDecided(ctx context.Context, repo core.UID, digest string) (map[aboutKey]*Finding, error) {
	byKey := map[aboutKey]*Finding{}
	if digest == "" {
		return byKey, nil
	}
	rows, err := s.area.tables.Findings.List(ctx, s.area.Store, core.Query[*FindingFilter]{
		Scope:  core.NewScope(core.Branch{Relation: core.Children, UID: repo}),
		Filter: &FindingFilter{Digests: []string{digest}, States: decidableStates, Decided: true, WithoutLiveTags: true},
		Order:  core.Order{Field: "uid"}, Limit: core.NoLimit, Parts: core.PartItems,
	})
	for _, f := range rows.Items {
		byKey[aboutKey{f.Representative, f.PackageVersion}] = f
	}
	return byKey, err
}

// AreSettled reports whether the findings of an image are those that follow from its packages and its tags. It does not check access.
func (s Findings) AreSettled(ctx context.Context, image core.ImageKey) (bool, error) {
	waits, err := s.area.tables.HasFindingTask(ctx, s.area.Store, image)
	return !waits, err
}

// ListBrought returns those of findings of an image whose vulnerabilities images have brought into their repo since a time: no image of
// the repo with a tag had them before. A finding that is not stored yet is brought if no image of the repo has its vulnerability now.
func (s Findings) ListBrought(ctx context.Context, repo core.UID, findings []*Finding, since core.Time) (brought []*Finding, err error) {
	if len(findings) == 0 {
		return nil, nil
	}
	about := make([]core.UID, len(findings))
	for i, f := range findings {
		about[i] = f.Representative
	}
	slices.Sort(about)
	about = slices.Compact(about)
	rows, err := s.area.tables.Findings.List(ctx, s.area.Store, core.Query[*FindingFilter]{
		Scope:  core.NewScope(core.Branch{Relation: core.Children, UID: repo}),
		Filter: &FindingFilter{Representatives: about, NewInRepo: new(true), FirstSeenSince: since, States: findingStates, WithoutLiveTags: true},
		Order:  core.Order{Field: "uid"}, Limit: core.NoLimit, Parts: core.PartItems,
	})
	if err != nil {
		return nil, err
	}
	held, err := s.area.tables.HeldInRepo(ctx, s.area.Store, repo, about)
	isBrought, isHeld := map[core.UID]bool{}, map[core.UID]bool{}
	for _, f := range rows.Items {
		isBrought[f.Representative] = true
	}
	for _, uid := range held {
		isHeld[uid] = true
	}
	for _, f := range findings {
		if isBrought[f.Representative] || !isHeld[f.Representative] {
			brought = append(brought, f)
		}
	}
	return brought, err
}
