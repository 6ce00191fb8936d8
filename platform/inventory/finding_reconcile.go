package inventory

import (
	"context"
	"maps"
	"slices"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
)

// reconcileRepo ends tasks of one repo, about up to limit images if there are more, and fewer if isLate. It returns
// the number of images.
func (s Findings) reconcileRepo(ctx context.Context, tx core.Tx, repo core.UID, tasks []FindingTask, limit int, isLate func() bool, events findingEvents) (ended []FindingTask, images int, err error) {
	found, err := s.area.tables.Repos.Get(ctx, tx, core.Keys{UIDs: []core.UID{repo}})
	if err != nil {
		return nil, 0, err
	}
	if len(found) == 0 { // it was deleted, and nothing is left of it
		return tasks, 0, nil
	}
	var digests []string
	var advisories []FindingTask
	for _, t := range tasks {
		switch {
		case t.Digest != "":
			if !slices.Contains(digests, t.Digest) {
				if len(digests) == limit {
					continue
				}
				digests = append(digests, t.Digest)
			}
			ended = append(ended, t)
		case t.Advisory != "":
			advisories = append(advisories, t)
		default:
			if err := s.spreadRepo(ctx, tx, repo); err != nil {
				return nil, 0, err
			}
			ended = append(ended, t)
		}
	}
	for part := range slices.Chunk(advisories, repoAdvisories) {
		if images >= limit || images > 0 && isLate() {
			break
		}
		looked, err := s.reconcileAdvisories(ctx, tx, found[0], advisoriesOf(part), events)
		if err != nil {
			return nil, 0, err
		}
		ended, images = append(ended, part...), images+max(looked, 1)
	}
	if len(digests) == 0 {
		return ended, images, nil
	}
	return ended, images + len(digests), s.reconcileImages(ctx, tx, found[0], digests, events)
}

// reconcileImages writes what follows from all facts about some images of a repo.
func (s Findings) reconcileImages(ctx context.Context, tx core.Tx, repo *Repo, digests []string, events findingEvents) error {
	facts, err := s.area.tables.ImageFacts(ctx, tx, repo.UID, digests)
	if err != nil {
		return err
	}
	contents, uses, err := s.readContents(ctx, tx, repo, facts)
	if err != nil {
		return err
	}
	if err := s.area.tables.ChangeUses(ctx, tx, repo.UID, digests, uses); err != nil {
		return err
	}
	var names []string
	for _, c := range contents {
		if c.status.IsLive {
			names = append(names, c.names()...)
		}
	}
	slices.Sort(names)
	advisories, err := s.area.tables.AdvisoriesNamed(ctx, tx, repo.UID, slices.Compact(names))
	if err != nil {
		return err
	}
	known, err := s.readFindings(ctx, tx, repo.UID, &FindingFilter{Digests: digests})
	if err != nil {
		return err
	}
	return s.write(ctx, tx, repo, contents, advisories, known, events)
}

// reconcileAdvisories writes the findings of some advisories in a repo, and returns how many images it has looked at.
func (s Findings) reconcileAdvisories(ctx context.Context, tx core.Tx, repo *Repo, uids []core.UID, events findingEvents) (images int, err error) {
	advisories, about, err := s.readRepresented(ctx, tx, repo.UID, uids)
	if err != nil || len(advisories) == 0 {
		return 0, err
	}
	var names []string
	for _, a := range advisories {
		names = append(names, a.heldNames()...)
	}
	slices.Sort(names)
	holders, err := s.area.tables.Holders(ctx, tx, repo.UID, slices.Compact(names))
	if err != nil {
		return 0, err
	}
	known, err := s.readFindings(ctx, tx, repo.UID, &FindingFilter{Representatives: about})
	if err != nil {
		return 0, err
	}
	var digests []string
	for _, h := range holders {
		digests = append(digests, h.Digest)
	}
	for _, f := range known {
		digests = append(digests, f.Digest)
	}
	for _, a := range advisories {
		if a.namesDigest() {
			digests = append(digests, a.ArtifactName)
		}
	}
	statuses, err := s.area.tables.ImageStatuses(ctx, tx, imagesOf(repo.UID, digests))
	if err != nil {
		return 0, err
	}
	contents, err := s.contentsHolding(ctx, tx, repo, statuses, holders)
	if err != nil {
		return 0, err
	}
	return len(contents), s.write(ctx, tx, repo, contents, advisories, known, events)
}

// readRepresented reads advisories with those for a repo that are of the same vulnerabilities or of those of bundles, and lists
// those that findings of them can be about.
func (s Findings) readRepresented(ctx context.Context, tx core.Tx, repo core.UID, uids []core.UID) (all []*Advisory, about []core.UID, err error) {
	if all, err = s.area.tables.Advisories.Get(ctx, tx, core.Keys{UIDs: uids}); err != nil || len(all) == 0 {
		return nil, nil, err
	}
	about = slices.Clone(uids)
	var bundled []string
	for _, a := range all {
		if about = append(about, a.Representative); a.IsBundle() {
			bundled = append(bundled, a.Upstream...)
		}
	}
	if len(bundled) > 0 {
		recorded, err := s.area.tables.AdvisoriesOfVulnerabilities(ctx, tx, repo, bundled)
		if err != nil {
			return nil, nil, err
		}
		for _, a := range recorded {
			if !a.IsBundle() {
				about = append(about, a.Representative)
			}
		}
	}
	same, err := s.area.tables.RepresentedAdvisories(ctx, tx, about, []core.UID{repo})
	for _, a := range same {
		if about = append(about, a.UID); !slices.Contains(uids, a.UID) {
			all = append(all, a)
		}
	}
	slices.Sort(about)
	return all, slices.Compact(about), err
}

// contentsHolding returns images with those of their packages that are, or were built of, what holders hold.
func (s Findings) contentsHolding(ctx context.Context, tx core.Tx, repo *Repo, statuses []*ImageStatus, holders []Holder) ([]*content, error) {
	var uids []core.UID
	byDigest := map[string][]core.UID{}
	for _, h := range holders {
		uids, byDigest[h.Digest] = append(uids, h.Version), append(byDigest[h.Digest], h.Version)
	}
	versions, err := s.versionsByUID(ctx, tx, uids)
	if err != nil {
		return nil, err
	}
	contents, digests := make([]*content, len(statuses)), []string{}
	for i, status := range statuses {
		contents[i] = &content{status: status}
		if status.Basis == BasisVersion {
			digests = append(digests, status.Digest)
			continue
		}
		for _, uid := range byDigest[status.Digest] {
			contents[i].candidates = append(contents[i].candidates, candidate{PackageVersion: versions[uid]})
		}
	}
	if len(digests) == 0 || len(uids) == 0 {
		return contents, nil
	}
	held, err := s.area.tables.ComponentsOf(ctx, tx, repo.UID, digests, slices.Collect(maps.Keys(versions)))
	for _, c := range contents {
		if c.status.Basis == BasisVersion {
			of := held[c.status.Digest]
			c.candidates = candidates(of.Components, versions, of.Direct)
		}
	}
	return contents, err
}

// imagesOf returns the keys of images of a repo, each once.
func imagesOf(repo core.UID, digests []string) ImageKeys {
	slices.Sort(digests)
	digests = slices.Compact(digests)
	keys := make([]core.ImageKey, len(digests))
	for i, digest := range digests {
		keys[i] = core.ImageKey{Repo: repo, Digest: digest}
	}
	return ImageKeys{keys}
}

// readFindings reads the findings of a repo that a filter selects, in any state.
func (s Findings) readFindings(ctx context.Context, tx core.Tx, repo core.UID, filter *FindingFilter) ([]*Finding, error) {
	filter.States, filter.WithoutLiveTags = findingStates, true
	rows, err := s.area.tables.Findings.List(ctx, tx, core.Query[*FindingFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Children, UID: repo}), Filter: filter, Order: core.Order{Field: "uid"}, Limit: core.NoLimit, Parts: core.PartItems,
	})
	return rows.Items, err
}

// names lists the normal names of the artifacts that advisories about the image can have.
func (c *content) names() []string {
	names := []string{c.status.Digest}
	for _, v := range c.candidates {
		if c.status.Basis == BasisVersion {
			names = append(names, v.nameOfAdvisories())
			continue
		}
		for _, key := range ecosystem.NameKeys(v.Package.Name) {
			names = append(names, key.Name)
		}
	}
	return names
}
