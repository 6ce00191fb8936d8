package inventory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/ecosystem"
)

// A match says that an advisory affects a version of a package.
type match struct {
	advisory *Advisory
	version  candidate // without a version if the advisory names the digest of the image
	basis    FindingBasis
	fixed    []string
	lacksFix bool // it is known that all later versions are affected
}

// findMatches compares the packages of an image with advisories.
func (c *content) findMatches(byName map[string][]*Advisory) (found []match) {
	for _, a := range byName[c.status.Digest] {
		found = append(found, match{advisory: a, basis: BasisName, fixed: a.fixedVersions()})
	}
	for _, v := range c.candidates {
		if c.status.Basis == BasisVersion {
			for _, a := range byName[v.nameOfAdvisories()] {
				if m, affects := a.matchVersion(v); affects {
					found = append(found, m)
				}
			}
			continue
		}
		for _, key := range ecosystem.NameKeys(v.Package.Name) {
			for _, a := range byName[key.Name] {
				if key.Finds(a.ArtifactType, a.ArtifactName) {
					found = append(found, match{advisory: a, version: v, basis: BasisName, fixed: a.fixedVersions()})
				}
			}
		}
	}
	return found
}

// nameOfAdvisories returns the normal name of the advisories that can be about a package of an SBOM. Where its
// ecosystem is not known, they have none either: a name alone says nothing.
func (v *PackageVersion) nameOfAdvisories() string {
	if v.Package.Ecosystem == "" {
		return v.Package.Name
	}
	return v.Package.NormalName()
}

// matchVersion reports whether an advisory affects a version of a package.
func (a *Advisory) matchVersion(v candidate) (match, bool) {
	if a.ArtifactType != "" && !affected.SameEcosystem(a.ArtifactType, v.Package.Ecosystem) {
		return match{}, false
	}
	set := a.affectedVersions()
	is := set.Matcher(v.Package.Ecosystem)
	if set.IsKnown() && v.Package.Ecosystem == "" && !is.Affects(v.Version) { // its versions have no order
		return match{}, false
	}
	if !set.IsKnown() || !is.Decides(v.Version) {
		return match{advisory: a, version: v, basis: BasisName, fixed: a.fixedVersions()}, true
	}
	return match{a, v, BasisVersion, is.FixedVersions(v.Version), is.LacksFix(v.Version)}, is.Affects(v.Version)
}

// affectedVersions returns the versions that are affected. Where the feed does not say it, they
// are those before the version of the last fix.
func (a *Advisory) affectedVersions() affected.Set {
	if a.Affected != nil {
		return *a.Affected
	}
	latest := a.latestEvent()
	if latest == nil || latest.Fixed == nil || latest.Fixed.FixedVersion == "" {
		return affected.Set{}
	}
	return affected.Set{Ranges: []affected.Range{{Type: "ECOSYSTEM", Events: []affected.Event{{Introduced: "0"}, {Fixed: latest.Fixed.FixedVersion}}}}}
}

// fixedVersions lists the versions that fix the advisory, where the installed one is not known.
func (a *Advisory) fixedVersions() (fixed []string) {
	for _, r := range a.affectedVersions().Ranges {
		for _, e := range r.Events {
			if e.Fixed != "" && r.Type != "GIT" {
				fixed = append(fixed, e.Fixed)
			}
		}
	}
	return fixed
}

// A matcher finds what advisories say of images.
type matcher struct {
	byName  map[string][]*Advisory   // those that count, by the normal names of their artifacts
	members map[core.UID][]*Advisory // these by those that represent them
}

func newMatcher(advisories []*Advisory) matcher {
	m := matcher{map[string][]*Advisory{}, map[core.UID][]*Advisory{}}
	for _, a := range countingAdvisories(advisories) {
		m.byName[a.NormalName()] = append(m.byName[a.NormalName()], a)
		m.members[a.Representative] = append(m.members[a.Representative], a)
	}
	return m
}

// find returns the findings of an image, without what is decided about them.
func (m matcher) find(c *content, repo core.UID) (found []*Finding) {
	for _, of := range groupMatches(c.findMatches(m.byName)) {
		found = append(found, newFinding(of, m.members[of[0].advisory.Representative], repo, c.status.Digest))
	}
	return found
}

// write replaces the findings of images by those that follow from advisories, and updates the
// statuses of the images, the counts of the repo, and the events to record. known has the findings that there
// are of these images and advisories.
func (s Findings) write(ctx context.Context, tx core.Tx, repo *Repo, contents []*content, advisories []*Advisory, known []*Finding, events findingEvents) error {
	changes := findingChanges{now: s.area.Now(), repo: repo, events: events, representatives: map[core.UID]core.UID{}, superseded: map[core.UID]bool{}}
	for _, a := range advisories {
		changes.representatives[a.UID], changes.representatives[a.Representative] = a.Representative, a.Representative
		changes.superseded[a.Representative] = a.IsBundle() && a.DeleteTime.IsZero()
	}
	m := newMatcher(advisories)
	for representative := range m.members {
		changes.superseded[representative] = false
	}
	before := map[string][]*Finding{}
	for _, f := range known {
		before[f.Digest] = append(before[f.Digest], f)
	}
	rules, err := s.readRules(ctx, tx, []*Repo{repo}, advisories, contents)
	if err != nil {
		return err
	}
	if err := setExploitation(ctx, s.area.tables, tx, advisories); err != nil {
		return err
	}
	for _, c := range contents {
		var wanted []*Finding
		if c.status.IsLive {
			wanted = m.find(c, repo.UID)
		}
		changes.compare(c, before[c.status.Digest], wanted, rules)
		changes.statuses = append(changes.statuses, c.status)
	}
	if err := s.markNew(ctx, tx, &changes); err != nil {
		return err
	}
	return s.store(ctx, tx, &changes)
}

// groupMatches puts matches together that are of the same vulnerability and version.
func groupMatches(all []match) (groups [][]match) {
	slices.SortFunc(all, func(a, b match) int {
		return cmp.Or(core.CompareTexts(a.advisory.Representative, b.advisory.Representative), core.CompareTexts(a.versionUID(), b.versionUID()), compareSources(a.advisory, b.advisory))
	})
	for i, m := range all {
		switch last := len(groups) - 1; {
		case i > 0 && m.advisory == all[i-1].advisory && m.versionUID() == all[i-1].versionUID(): // two names found it
		case last >= 0 && m.advisory.Representative == groups[last][0].advisory.Representative && m.versionUID() == groups[last][0].versionUID():
			groups[last] = append(groups[last], m)
		default:
			groups = append(groups, []match{m})
		}
	}
	return groups
}

// compareSources sorts advisories of one vulnerability: those that count more come first. These have a rating; then they are of
// the distribution or the ecosystem itself, rather than of GitHub, rather than of CVE.
func compareSources(a, b *Advisory) int {
	rank := func(a *Advisory) int {
		switch id := a.AdvisoryID; {
		case strings.HasPrefix(id, "GHSA-"):
			return 1
		case strings.HasPrefix(id, "CVE-"):
			return 2
		default:
			return 0
		}
	}
	return cmp.Or(bit(a.Severity.Rating.Rank() <= 0)-bit(b.Severity.Rating.Rank() <= 0), rank(a)-rank(b), cmp.Compare(a.AdvisoryID, b.AdvisoryID), core.CompareTexts(a.UID, b.UID))
}

// versionUID returns the UID of the version; "" if the advisory names the image.
func (m match) versionUID() core.UID {
	if m.version.PackageVersion == nil {
		return ""
	}
	return m.version.UID
}

// fixesOf returns the versions in which all matches say that the vulnerability is fixed, the next one first.
func fixesOf(of []match) []string {
	fixed := slices.Clone(of[0].fixed)
	if len(of) == 1 {
		return fixed
	}
	ecosystem := ""
	if v := of[0].version; v.PackageVersion != nil {
		ecosystem = v.Package.Ecosystem
	}
	for _, m := range of[1:] {
		fixed = append(fixed, m.fixed...)
	}
	slices.SortFunc(fixed, func(a, b string) int {
		order, err := affected.Compare(ecosystem, a, b)
		if err != nil {
			order = 0
		}
		return cmp.Or(order, cmp.Compare(a, b))
	})
	return slices.DeleteFunc(slices.Compact(fixed), func(version string) bool {
		return slices.ContainsFunc(of, func(m match) bool { return m.advisory.affectedVersions().Affects(ecosystem, version) })
	})
}

// newFinding returns the finding of matches of one vulnerability, without what is decided about it. The first advisory rates
// it. members are all advisories of the vulnerability and the package.
func newFinding(of []match, members []*Advisory, repo core.UID, digest string) *Finding {
	first := of[0]
	f := &Finding{
		UID: repo.NewChild(), Repo: repo, Digest: digest,
		Advisory: first.advisory.UID, Representative: first.advisory.Representative, Package: first.advisory.ArtifactName,
		Severity: first.advisory.Severity, Basis: BasisName, IsLive: true,
	}
	all := make([]*Advisory, len(of))
	for i, m := range of {
		a := m.advisory
		all[i] = a
		if f.KnownExploited = f.KnownExploited || a.KnownExploited; m.basis == BasisVersion {
			f.Basis = BasisVersion
		}
		if a.EPSS != nil && (f.EPSS == nil || *f.EPSS < *a.EPSS) {
			f.EPSS = a.EPSS
		}
		f.Sources = append(f.Sources, a.AdvisoryID)
	}
	slices.Sort(f.Sources)
	f.Sources = slices.Compact(f.Sources)
	f.FixedVersions, f.VulnerabilityID = fixesOf(of), knownName(all)
	if v := first.version; v.PackageVersion != nil {
		f.Package, f.Ecosystem, f.InstalledVersion, f.BinaryPackages, f.Scope, f.Direct = v.Package.Name, v.Package.Ecosystem, v.Version, v.binaries, v.scope, v.direct
		f.PackageVersion = v.UID
	}
	f.DisputedBy = disputing(first.version, all, members)
	f.LacksFix = len(f.FixedVersions)+len(f.DisputedBy) == 0 && !slices.ContainsFunc(of, func(m match) bool { return !m.lacksFix })
	f.undecide(all...)
	return f
}

// disputing lists the ids of those members that are no sources of a finding, because they say that the version is not affected.
func disputing(v candidate, sources, members []*Advisory) (ids []string) {
	if v.PackageVersion == nil {
		return nil
	}
	for _, a := range members {
		if slices.Contains(sources, a) || a.ArtifactType != "" && !affected.SameEcosystem(a.ArtifactType, v.Package.Ecosystem) {
			continue
		}
		if m, affects := a.matchVersion(v); !affects && m.basis == BasisVersion {
			ids = append(ids, a.AdvisoryID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// undecide sets the state of a finding about which nobody has decided. The advisories may know more, if all of them do.
func (f *Finding) undecide(all ...*Advisory) {
	f.decide(decision{state: FindingOpen}, "")
	for i, a := range all {
		note := a.notAffectedNote()
		if note == nil {
			return
		}
		if i == len(all)-1 {
			note = all[0].notAffectedNote()
			f.decide(decision{state: FindingNotAffected, justification: note.Type, note: note.Note}, DecisionOfAdvisory)
		}
	}
}

// notAffectedNote returns what the advisory says if it has found out that nothing is affected.
func (a *Advisory) notAffectedNote() *FalsePositiveDetermination {
	if latest := a.latestEvent(); latest != nil {
		return latest.FalsePositiveDetermination
	}
	return nil
}
