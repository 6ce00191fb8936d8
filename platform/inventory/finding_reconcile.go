package inventory

import (
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
)

// reconcileRepo ends tasks of one repo, about up to limit images if there are more. It returns
// the number of images.
func (s Findings) reconcileRepo(ctx context.Context, tx core.Tx, repo core.UID, tasks []FindingTask, limit int, events findingEvents) (ended []FindingTask, images int, err error) {
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
		if images >= limit {
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

// A content is an image with those of its packages that advisories are compared with.
type content struct {
	status *ImageStatus
	// candidates are versions that advisories can be about: those of source packages instead of
	// what was built of them.
	candidates []*PackageVersion
}

// reconcileImages writes what follows from all facts about some images of a repo.
func (s Findings) reconcileImages(ctx context.Context, tx core.Tx, repo *Repo, digests []string, events findingEvents) error {
	facts, err := s.area.tables.ImageFacts(ctx, tx, repo.UID, digests)
	if err != nil {
		return err
	}
	versions, byUID, err := s.readVersions(ctx, tx, repo, facts)
	if err != nil {
		return err
	}
	contents, statuses, names := make([]*content, len(facts)), make([]*ImageStatus, len(facts)), []string{}
	for i, f := range facts {
		statuses[i] = f.newStatus(versions[f.Digest])
		contents[i] = &content{statuses[i], candidates(versions[f.Digest])}
		if f.IsLive {
			names = append(names, contents[i].names()...)
		}
	}
	if err := s.numberImages(ctx, tx, repo.UID, statuses); err != nil {
		return err
	}
	var uses []PackageUse
	for i, f := range facts {
		uses = append(uses, changedUses(f.usedBefore(byUID), statuses[i])...)
	}
	if err := s.area.tables.ChangeUses(ctx, tx, repo.UID, digests, uses); err != nil {
		return err
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
	advisories, err := s.area.tables.Advisories.Get(ctx, tx, core.Keys{UIDs: uids})
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
	known, err := s.readFindings(ctx, tx, repo.UID, &FindingFilter{Advisories: uids})
	if err != nil {
		return 0, err
	}
	var digests []string
	var held []core.UID
	for _, h := range holders {
		digests, held = append(digests, h.Digest), append(held, h.Version)
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
	versions, err := s.versionsByUID(ctx, tx, held)
	if err != nil {
		return 0, err
	}
	contents, byDigest := make([]*content, len(statuses)), map[string]*content{}
	for i, status := range statuses {
		contents[i] = &content{status: status}
		byDigest[status.Digest] = contents[i]
	}
	for _, h := range holders {
		if c, v := byDigest[h.Digest], versions[h.Version]; c != nil && v != nil && v.Source == "" {
			c.candidates = append(c.candidates, v)
		}
	}
	return len(contents), s.write(ctx, tx, repo, contents, advisories, known, events)
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

// candidates returns the versions that advisories can be about.
func candidates(versions []*PackageVersion) []*PackageVersion {
	var all []*PackageVersion
	for _, v := range versions {
		if v.Source == "" {
			all = append(all, v)
		}
	}
	return all
}

// names lists the normal names of the artifacts that advisories about the image can have.
func (c *content) names() []string {
	names := []string{c.status.Digest}
	for _, v := range c.candidates {
		if v.Package.Ecosystem != "" {
			names = append(names, v.Package.NormalName())
			continue
		}
		for _, key := range ecosystem.NameKeys(v.Package.Name) {
			names = append(names, key.Name)
		}
	}
	return names
}
