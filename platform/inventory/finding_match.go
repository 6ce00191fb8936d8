package inventory

import (
	"context"
	"slices"

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
}

// findMatches compares the packages of an image with advisories.
func (c *content) findMatches(byName map[string][]*Advisory) (found []match) {
	for _, a := range byName[c.status.Digest] {
		found = append(found, match{a, candidate{}, BasisName, a.fixedVersions()})
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
					found = append(found, match{a, v, BasisName, a.fixedVersions()})
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
	if !set.IsKnown() || !is.Decides(v.Version) {
		return match{a, v, BasisName, a.fixedVersions()}, true
	}
	return match{a, v, BasisVersion, is.FixedVersions(v.Version)}, is.Affects(v.Version)
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

// write replaces the findings of images by those that follow from advisories, and updates the
// statuses of the images, the counts of the repo, and the events to record. known has the findings that there
// are of these images and advisories.
func (s Findings) write(ctx context.Context, tx core.Tx, repo *Repo, contents []*content, advisories []*Advisory, known []*Finding, events findingEvents) error {
	byName := map[string][]*Advisory{}
	for _, a := range advisories {
		if a.DeleteTime.IsZero() {
			byName[a.NormalName()] = append(byName[a.NormalName()], a)
		}
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
	changes := findingChanges{now: s.area.Now(), repo: repo, events: events}
	for _, c := range contents {
		var wanted []*Finding
		if c.status.IsLive {
			for _, m := range c.findMatches(byName) {
				wanted = append(wanted, m.finding(repo.UID, c.status.Digest))
			}
		}
		changes.compare(c.status, before[c.status.Digest], distinctFindings(wanted), rules)
		changes.statuses = append(changes.statuses, c.status)
	}
	return s.store(ctx, tx, &changes)
}

// finding returns the finding of a match, without what is decided about it.
func (m match) finding(repo core.UID, digest string) *Finding {
	f := &Finding{
		Repo: repo, Digest: digest, Advisory: m.advisory.UID, VulnerabilityID: m.advisory.AdvisoryID,
		Package: m.advisory.ArtifactName, FixedVersions: m.fixed, Severity: m.advisory.Severity,
		KnownExploited: m.advisory.KnownExploited, EPSS: m.advisory.EPSS, Basis: m.basis, IsLive: true,
	}
	version := ""
	if v := m.version; v.PackageVersion != nil {
		f.Package, f.Ecosystem, f.InstalledVersion, f.BinaryPackages = v.Package.Name, v.Package.Ecosystem, v.Version, v.binaries
		f.PackageVersion, version = v.UID, string(v.UID)
	}
	f.undecide(m.advisory)
	f.UID = repo + "/" + core.UID(hashTexts(digest, string(f.Advisory), version))
	return f
}

// undecide sets the state of a finding about which nobody has decided. The advisory may know more.
func (f *Finding) undecide(a *Advisory) {
	f.decide(decision{state: FindingOpen}, "")
	if note := a.notAffectedNote(); note != nil {
		f.decide(decision{state: FindingNotAffected, justification: note.Type, note: note.Note}, DecisionOfAdvisory)
	}
}

// notAffectedNote returns what the advisory says if it has found out that nothing is affected.
func (a *Advisory) notAffectedNote() *FalsePositiveDetermination {
	if latest := a.latestEvent(); latest != nil {
		return latest.FalsePositiveDetermination
	}
	return nil
}

// distinctFindings sorts findings, and leaves out those that occur again.
func distinctFindings(all []*Finding) []*Finding {
	slices.SortFunc(all, func(a, b *Finding) int { return core.CompareTexts(a.UID, b.UID) })
	return slices.CompactFunc(all, func(a, b *Finding) bool { return a.UID == b.UID })
}
