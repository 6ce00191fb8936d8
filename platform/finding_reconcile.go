package platform

import (
	"context"
	"slices"

	"atrium/platform/ecosystem"
)

// FindingWrites changes findings and what they follow from, in a transaction.
type FindingWrites interface {
	// FindingTasks reads the oldest tasks of an organisation.
	FindingTasks(ctx context.Context, root UID, limit int) ([]FindingTask, error)
	AddFindingTasks(ctx context.Context, tasks []FindingTask) error
	EndFindingTasks(tasks []FindingTask)
	// AddReviewTasks adds tasks for all repos.
	AddReviewTasks(ctx context.Context) error
	// AddExpiredTasks adds tasks for the images of findings whose exceptions have ended.
	AddExpiredTasks(ctx context.Context, now Time) error

	// ImageFacts reads what the findings of images of a repo follow from. digests nil means all
	// images that a tag points to or that have a status.
	ImageFacts(ctx context.Context, repo UID, digests []string) ([]*ImageFacts, error)
	// ImageStatuses reads the statuses of images, by repo and digest.
	ImageStatuses(ctx context.Context, images ImageKeys) ([]*ImageStatus, error)
	// TriageFacts reads what an update of findings of images and of advisories needs to know.
	TriageFacts(ctx context.Context, images ImageKeys, advisories []UID) (TriageFacts, error)
	// Holders lists the live images of a repo that hold packages with one of the normal names,
	// with their versions of these.
	Holders(ctx context.Context, repo UID, names []string) ([]Holder, error)
	// AdvisoriesNamed reads the advisories for a repo that are not withdrawn and whose artifacts
	// have one of the normal names.
	AdvisoriesNamed(ctx context.Context, repo UID, names []string) ([]*Advisory, error)
	// ReposOfAdvisories lists, for each advisory, the repos of an organisation (of all if root is "") that hold a
	// package with one of its names, that have an image with its digest, or that have findings
	// of it. A repo can be listed several times.
	ReposOfAdvisories(ctx context.Context, root UID, all []AdvisoryReach) (map[UID][]UID, error)

	// LastImageNumber returns the highest number of an image of a repo, or 0.
	LastImageNumber(ctx context.Context, repo UID) (int64, error)
	// PutImageStatuses stores the statuses of images of a repo. Those that there were must have been read since the
	// findings of the organisation were locked.
	PutImageStatuses(repo UID, statuses []*ImageStatus)
	// ChangeUses changes which images of a repo hold versions. From then on, the uses of the images
	// with the digests are those of their SBOMs.
	ChangeUses(ctx context.Context, repo UID, digests []string, uses []PackageUse) error
	// ReplaceFindings deletes the old findings and inserts those that take their place.
	ReplaceFindings(ctx context.Context, old, current []*Finding) error
	// ShiftOpenFindings changes how many open findings a repo shows, and how many were open in it and in the groups above on
	// the day of now and later. The repo must have been read since the findings of the organisation were locked.
	ShiftOpenFindings(repo *Repo, by OpenCounts, now Time)
	// DeleteOpenCountsOf deletes how many findings were open in a group or a repo that is about to be deleted.
	DeleteOpenCountsOf(scope UID)

	// ForgetRepo removes a repo that is about to be deleted from all counters of findings. The findings of the
	// organisation must be locked.
	ForgetRepo(ctx context.Context, repo UID) error
}

// reconcileRepo ends tasks of one repo, about up to limit images if there are more. It returns
// the number of images.
func (s Findings) reconcileRepo(ctx context.Context, tx Tx, repo UID, tasks []FindingTask, limit int, events findingEvents) (ended []FindingTask, images int, err error) {
	found, err := tx.Repos().Get(ctx, Keys{uids: []UID{repo}})
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
func (s Findings) reconcileImages(ctx context.Context, tx Tx, repo *Repo, digests []string, events findingEvents) error {
	facts, err := tx.ImageFacts(ctx, repo.UID, digests)
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
	if err := numberImages(ctx, tx, repo.UID, statuses); err != nil {
		return err
	}
	var uses []PackageUse
	for i, f := range facts {
		uses = append(uses, changedUses(f.usedBefore(byUID), statuses[i])...)
	}
	if err := tx.ChangeUses(ctx, repo.UID, digests, uses); err != nil {
		return err
	}
	slices.Sort(names)
	advisories, err := tx.AdvisoriesNamed(ctx, repo.UID, slices.Compact(names))
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
func (s Findings) reconcileAdvisories(ctx context.Context, tx Tx, repo *Repo, uids []UID, events findingEvents) (images int, err error) {
	advisories, err := tx.Advisories().Get(ctx, Keys{uids: uids})
	if err != nil || len(advisories) == 0 {
		return 0, err
	}
	var names []string
	for _, a := range advisories {
		names = append(names, a.heldNames()...)
	}
	slices.Sort(names)
	holders, err := tx.Holders(ctx, repo.UID, slices.Compact(names))
	if err != nil {
		return 0, err
	}
	known, err := s.readFindings(ctx, tx, repo.UID, &FindingFilter{Advisories: uids})
	if err != nil {
		return 0, err
	}
	var digests []string
	var held []UID
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
	statuses, err := tx.ImageStatuses(ctx, imagesOf(repo.UID, digests))
	if err != nil {
		return 0, err
	}
	versions, err := versionsByUID(ctx, tx, held)
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
func imagesOf(repo UID, digests []string) ImageKeys {
	slices.Sort(digests)
	digests = slices.Compact(digests)
	keys := make([]ImageKey, len(digests))
	for i, digest := range digests {
		keys[i] = ImageKey{repo, digest}
	}
	return ImageKeys{keys}
}

// readFindings reads the findings of a repo that a filter selects, in any state.
func (s Findings) readFindings(ctx context.Context, tx Tx, repo UID, filter *FindingFilter) ([]*Finding, error) {
	filter.States, filter.WithoutLiveTags = findingStates, true
	rows, err := tx.Findings().List(ctx, Query[*FindingFilter]{
		Scope: newScope(Branch{Relation: Children, UID: repo}), Filter: filter, Order: Order{Field: "uid"}, Limit: noLimit, Parts: PartItems,
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
