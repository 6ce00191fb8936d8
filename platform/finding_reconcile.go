package platform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"atrium/platform/ecosystem"
)

// Findings follow from other rows: from tags, from what images hold, and from advisories. What
// changes one of these adds a task in its transaction, and Reconcile ends tasks. Everything that
// follows is written here and nowhere else: the status of images, the uses of packages, findings,
// their counters, what repos show of them, and their events. Only what callers decide about
// findings is written by finding_triage.go.
//
// A task is never lost: it is deleted in the transaction that writes what follows. One lock for each
// organisation makes these transactions follow each other, so that each sees what the ones before
// have written. The lock of FeedGroup, whose advisories are for all organisations, is shared by
// those that look at images, and exclusive where the repos are listed that an advisory is for:
// thus an image that appears meanwhile is either listed or sees the advisory.

// A FindingTask names what may have changed findings.
type FindingTask struct {
	ID       int64
	Subject  UID    // a repo, or an advisory
	Digest   string // the image of the repo; "" means all images that Advisory is for, or all
	Advisory UID    // "" means all advisories
}

// Limits of one transaction.
const (
	maxFindingTasks = 2000
	maxTaskImages   = 100
	// maxSpreadTasks is how many tasks advisories become, and spreadAtOnce is how many advisories are spread with
	// the same statements.
	maxSpreadTasks, spreadAtOnce = 20_000, 500
	// repoAdvisories is how many advisories are compared with the images of a repo at once.
	repoAdvisories = 20
)

// findingLock is the lock of the findings of an organisation.
func findingLock(root UID) UID { return "findings:" + root }

// FindingWrites changes findings and what they follow from, in a transaction.
type FindingWrites interface {
	// FindingTasks reads the oldest tasks of an organisation.
	FindingTasks(ctx context.Context, root UID, limit int) ([]FindingTask, error)
	AddFindingTasks(ctx context.Context, tasks []FindingTask) error
	EndFindingTasks(ctx context.Context, tasks []FindingTask) error
	// AddReviewTasks adds tasks for all repos.
	AddReviewTasks(ctx context.Context) error
	// AddExpiredTasks adds tasks for the images of findings whose exceptions have ended.
	AddExpiredTasks(ctx context.Context, now Time) error

	// ImageFacts reads what the findings of images of a repo follow from. digests nil means all
	// images that a tag points to or that have a status.
	ImageFacts(ctx context.Context, repo UID, digests []string) ([]*ImageFacts, error)
	// ImageStatuses reads the statuses of images of a repo, by digest.
	ImageStatuses(ctx context.Context, repo UID, digests []string) ([]*ImageStatus, error)
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

	// StoredVersions returns those of the versions of packages that are stored.
	StoredVersions(ctx context.Context, uids []UID) ([]UID, error)
	// VersionsOfPackages reads all versions of packages.
	VersionsOfPackages(ctx context.Context, packages []UID) ([]*PackageVersion, error)
	// InsertPackages inserts versions that are not stored, and those of their packages that are not.
	InsertPackages(ctx context.Context, versions []*PackageVersion) error
	// SetRanks changes the ranks of versions.
	SetRanks(ctx context.Context, versions []*PackageVersion) error

	// LastImageNumber returns the highest number of an image of a repo, or 0.
	LastImageNumber(ctx context.Context, repo UID) (int64, error)
	// PutImageStatuses stores the statuses of images.
	PutImageStatuses(ctx context.Context, repo UID, statuses []*ImageStatus) error
	// ChangeUses changes which images of a repo hold versions. From then on, the uses of the images
	// with the digests are those of their SBOMs.
	ChangeUses(ctx context.Context, repo UID, digests []string, uses []PackageUse) error
	// ReplaceFindings deletes the old findings and inserts those that take their place.
	ReplaceFindings(ctx context.Context, old, current []*Finding) error
	// ShiftOpenFindings changes how many open findings a repo shows.
	ShiftOpenFindings(ctx context.Context, repo UID, by OpenCounts) error

	// TriageRules reads the rules of scopes that name one of vulnerabilities.
	TriageRules(ctx context.Context, scopes []UID, vulnerabilities []string) ([]*TriageRule, error)
	// OtherNames lists other names of a vulnerability, which advisories for an organisation give it.
	OtherNames(ctx context.Context, root UID, vulnerability string) ([]string, error)
	// PutTriageRules stores rules, replacing those with the same UIDs.
	PutTriageRules(ctx context.Context, rules []*TriageRule) error
	DeleteTriageRules(ctx context.Context, uids []UID) error
	// DeleteRulesOf deletes the rules of a group or a repo that is about to be deleted.
	DeleteRulesOf(ctx context.Context, scope UID) error
	// EndTriageRules deletes rules whose time is over.
	EndTriageRules(ctx context.Context, now Time) error
	// AddRuleTasks adds tasks for the findings of vulnerabilities in a group or a repo.
	AddRuleTasks(ctx context.Context, scope UID, vulnerabilities []string) error

	// ForgetRepo removes a repo that is about to be deleted from all counters of findings.
	ForgetRepo(ctx context.Context, repo UID) error
}

// ImageFacts are what the findings of an image follow from.
type ImageFacts struct {
	Digest   string
	IsLive   bool     // whether a tag that is not deprecated points to the image
	Names    []string // names of packages, if the source of the image lists only names
	HasSBOM  bool
	Versions []UID        // versions of packages in the SBOMs
	Used     []UID        // versions that the uses have of the image if it is live, without those of source packages
	Status   *ImageStatus // nil if there is none yet

	basis FindingBasis // BasisName if Versions are made of names
}

// An AdvisoryReach says which images an advisory can be about.
type AdvisoryReach struct {
	Advisory UID
	Names    []string // normal names of packages
	Digest   string   // of the image that it names; "" means that it names a package
}

// A Holder is a live image that holds a version of a package.
type Holder struct {
	Digest  string
	Version UID
}

// An ImageStatus is what follows from the facts about an image, beside its findings.
type ImageStatus struct {
	Digest   string
	Number   int64 // number of the image in its repo, from 1; 0 means that it has none yet
	IsLive   bool
	Basis    FindingBasis
	Versions []UID // versions that the uses of a live image have
	Open     OpenCounts
}

// A PackageUse is a version of a package that an image of a repo holds, or holds no more.
type PackageUse struct {
	Version UID
	Image   int64
	IsGone  bool
}

// OpenCounts counts open findings by the rank of their rating.
type OpenCounts [6]int64

func (c *OpenCounts) add(f *Finding, n int64) {
	if f.IsCounted() && f.IsOpen() {
		c[max(f.Severity.Rating.Rank(), 0)] += n
	}
}

// Plus returns the sums of two counts.
func (c OpenCounts) Plus(other OpenCounts) OpenCounts {
	for i := range c {
		c[i] += other[i]
	}
	return c
}

// Text returns a text that sorts by the number of the worst findings: six digits for each rating,
// the worst first, or "" if there are none.
func (c OpenCounts) Text() string {
	if c == (OpenCounts{}) {
		return ""
	}
	var b strings.Builder
	for rank := len(c) - 1; rank >= 0; rank-- {
		fmt.Fprintf(&b, "%06d", min(c[rank], 999_999))
	}
	return b.String()
}

// ParseOpenCounts reads a text of OpenCounts.Text.
func ParseOpenCounts(text string) (c OpenCounts) {
	for rank := len(c) - 1; rank >= 0 && len(text) >= 6; rank-- {
		c[rank], _ = strconv.ParseInt(text[:6], 10, 64) // the text was made of numbers
		text = text[6:]
	}
	return c
}

// Total returns the sum.
func (c OpenCounts) Total() (sum int64) {
	for _, n := range c {
		sum += n
	}
	return sum
}

// Reconcile ends the oldest tasks of each organisation that has any, with one transaction for each, and
// returns their number: 0 means that none could be ended. The tasks of one organisation, however
// many there are and even if they fail, do not keep those of others.
func (s Findings) Reconcile(ctx context.Context) (done int, err error) {
	if err := requireOperator(ctx); err != nil {
		return 0, err
	}
	var failed []error
	for last := UID(""); ; {
		root, err := s.p.store.NextFindingRoot(ctx, last)
		if err != nil || root == "" {
			return done, errors.Join(append(failed, err)...)
		}
		ended := 0
		err = writePatiently(ctx, s.p.store, func(tx Tx) (err error) {
			ended, err = s.reconcileRoot(ctx, tx, root)
			return err
		})
		if err != nil {
			ended, failed = 0, append(failed, fmt.Errorf("findings of %s: %w", root, err))
		}
		done, last = done+ended, root
	}
}

// Settle calls Reconcile until no task can be ended.
func (s Findings) Settle(ctx context.Context) error {
	for {
		if done, err := s.Reconcile(ctx); done == 0 {
			return err
		}
	}
}

// How often follow looks for tasks that other processes have added, and for exceptions that have
// ended.
const taskInterval, expiryInterval = time.Second, time.Minute

// follow ends tasks as they are added, until ctx ends. Each process does so.
func (s Findings) follow(ctx context.Context) {
	ctx = WithActor(ctx, NewOperator("findings"))
	expiry := time.NewTicker(expiryInterval)
	defer expiry.Stop()
	failing := false
	for ctx.Err() == nil {
		changed := s.p.store.Changed()
		err := s.Settle(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			s.p.options.Logger.Warn("findings were not brought up to date; trying again every second", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(taskInterval):
		case <-expiry.C:
			if err := s.EndExpired(ctx); err != nil && ctx.Err() == nil {
				s.p.options.Logger.Warn("exceptions whose time is over were not ended; trying again in a minute", "error", err)
			}
		}
	}
}

// Review looks at everything again, and returns how many findings were not as they must be. It
// repairs them. It is for tests, and for an operator who has changed rows by hand.
func (s Findings) Review(ctx context.Context) (wrong int, err error) {
	if err := requireOperator(ctx); err != nil {
		return 0, err
	}
	if err := s.Settle(ctx); err != nil {
		return 0, err
	}
	begun := s.p.now()
	if err := writePatiently(ctx, s.p.store, func(tx Tx) error { return tx.AddReviewTasks(ctx) }); err != nil {
		return 0, err
	}
	if err := s.Settle(ctx); err != nil {
		return 0, err
	}
	changed, err := s.p.store.Findings().List(ctx, Query[*FindingFilter]{
		Scope: newScope(Branch{Relation: Everything}), Filter: &FindingFilter{States: findingStates, WithoutLiveTags: true, UpdatedSince: begun},
		Order: s.kind.DefaultOrder, Limit: 1, Parts: PartTotal,
	})
	return int(changed.Total), err
}

// reconcileRoot ends tasks of an organisation. Another process may have ended them meanwhile.
func (s Findings) reconcileRoot(ctx context.Context, tx Tx, root UID) (int, error) {
	if root != FeedGroup {
		if err := tx.LockShared(ctx, findingLock(FeedGroup)); err != nil {
			return 0, err
		}
	}
	if err := tx.Lock(ctx, findingLock(root)); err != nil {
		return 0, err
	}
	tasks, err := tx.FindingTasks(ctx, root, maxFindingTasks)
	if err != nil || len(tasks) == 0 {
		return 1, err // another process has ended the task that there was; there may be others
	}
	ended, err := s.reconcileTasks(ctx, tx, tasks)
	if err != nil {
		return 0, err
	}
	return len(ended), tx.EndFindingTasks(ctx, ended)
}

// reconcileTasks ends tasks, and returns those that have ended. It leaves some to the next
// transaction if they are about too many images.
func (s Findings) reconcileTasks(ctx context.Context, tx Tx, tasks []FindingTask) (ended []FindingTask, err error) {
	images, events := 0, findingEvents{}
	byRepo := map[UID][]FindingTask{}
	var repos []UID
	var spread []FindingTask
	for _, t := range tasks {
		if t.Subject == t.Advisory {
			spread = append(spread, t)
			continue
		}
		if byRepo[t.Subject] == nil {
			repos = append(repos, t.Subject)
		}
		byRepo[t.Subject] = append(byRepo[t.Subject], t)
	}
	added := 0
	for part := range slices.Chunk(spread, spreadAtOnce) {
		n, err := s.spreadAdvisories(ctx, tx, part)
		if err != nil {
			return nil, err
		}
		ended = append(ended, part...)
		if added += n; added >= maxSpreadTasks {
			return ended, nil
		}
	}
	for _, repo := range repos {
		if images >= maxTaskImages {
			break
		}
		part, looked, err := s.reconcileRepo(ctx, tx, repo, byRepo[repo], maxTaskImages-images, events)
		if err != nil {
			return nil, err
		}
		ended, images = append(ended, part...), images+looked
	}
	s.record(ctx, tx, events)
	return ended, nil
}

// spreadAdvisories ends the tasks of advisories, which are of one organisation or of FeedGroup: it adds a task for each
// repo that each of them is for, and returns their number.
func (s Findings) spreadAdvisories(ctx context.Context, tx Tx, ended []FindingTask) (added int, err error) {
	found, err := tx.Advisories().Get(ctx, Keys{uids: advisoriesOf(ended)})
	if err != nil || len(found) == 0 {
		return 0, err
	}
	root := found[0].UID.Root()
	if root == FeedGroup {
		root = ""
	}
	reaches := make([]AdvisoryReach, len(found))
	for i, a := range found {
		reaches[i] = AdvisoryReach{Advisory: a.UID, Names: a.heldNames()}
		if a.namesDigest() {
			reaches[i].Digest = a.ArtifactName
		}
	}
	repos, err := tx.ReposOfAdvisories(ctx, root, reaches)
	if err != nil {
		return 0, err
	}
	var tasks []FindingTask
	for _, a := range found {
		for _, repo := range repos[a.UID] {
			if root == "" || repo.Within(a.UID.Parent()) {
				tasks = append(tasks, FindingTask{Subject: repo, Advisory: a.UID})
			}
		}
	}
	return len(tasks), tx.AddFindingTasks(ctx, tasks)
}

// advisoriesOf lists the advisories of tasks, each once.
func advisoriesOf(tasks []FindingTask) []UID {
	uids := make([]UID, len(tasks))
	for i, t := range tasks {
		uids[i] = t.Advisory
	}
	slices.Sort(uids)
	return slices.Compact(uids)
}

// namesDigest reports whether the advisory is about an image.
func (a *Advisory) namesDigest() bool { return strings.HasPrefix(a.ArtifactName, "sha256:") }

// heldNames returns the normal names of packages that the advisory can be about: of those of its
// ecosystem, and of those whose ecosystem is not known.
func (a *Advisory) heldNames() []string {
	return []string{a.NormalName(), (&Package{Name: a.ArtifactName}).NormalName()}
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

// spreadRepo adds a task for each image of a repo.
func (s Findings) spreadRepo(ctx context.Context, tx Tx, repo UID) error {
	facts, err := tx.ImageFacts(ctx, repo, nil)
	if err != nil || len(facts) == 0 {
		return err
	}
	tasks := make([]FindingTask, len(facts))
	for i, f := range facts {
		tasks[i] = FindingTask{Subject: repo, Digest: f.Digest}
	}
	return tx.AddFindingTasks(ctx, tasks)
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

// numberImages gives numbers to new images.
func numberImages(ctx context.Context, tx Tx, repo UID, statuses []*ImageStatus) error {
	last := int64(0)
	for _, status := range statuses {
		if status.Number != 0 {
			continue
		}
		if last == 0 {
			var err error
			if last, err = tx.LastImageNumber(ctx, repo); err != nil {
				return err
			}
		}
		last++
		status.Number = last
	}
	return nil
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
	slices.Sort(digests)
	statuses, err := tx.ImageStatuses(ctx, repo.UID, slices.Compact(digests))
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

// readFindings reads the findings of a repo that a filter selects, in any state.
func (s Findings) readFindings(ctx context.Context, tx Tx, repo UID, filter *FindingFilter) ([]*Finding, error) {
	filter.States, filter.WithoutLiveTags = findingStates, true
	rows, err := tx.Findings().List(ctx, Query[*FindingFilter]{
		Scope: newScope(Branch{Relation: Children, UID: repo}), Filter: filter, Order: Order{Field: "uid"}, Limit: noLimit, Parts: PartItems,
	})
	return rows.Items, err
}

// readVersions reads the versions of packages of images, by digest, with those of source packages.
// Where only names are known, it makes versions of them; where nothing is known, the name of the
// repo stands for the package.
func (s Findings) readVersions(ctx context.Context, tx Tx, repo *Repo, facts []*ImageFacts) (map[string][]*PackageVersion, map[UID]*PackageVersion, error) {
	root := repo.UID.Root()
	all, named := []UID{}, []*PackageVersion{}
	for _, f := range facts {
		if all = slices.Concat(all, f.Versions, f.Used); !f.HasSBOM {
			if len(f.Names) == 0 {
				f.Names = []string{repo.Name}
			}
			for _, name := range f.Names {
				v := newPackageVersion(root, Package{Name: name}, "", s.p.now())
				named, f.Versions = append(named, v), append(f.Versions, v.UID)
			}
			slices.Sort(f.Versions)
			f.Versions, f.basis = slices.Compact(f.Versions), BasisName
		}
	}
	if err := s.p.putPackages(ctx, tx, named); err != nil {
		return nil, nil, err
	}
	byUID, err := versionsByUID(ctx, tx, all)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range named {
		byUID[v.UID] = v
	}
	versions := make(map[string][]*PackageVersion, len(facts))
	for _, f := range facts {
		for _, uid := range f.Versions {
			if v := byUID[uid]; v != nil {
				versions[f.Digest] = append(versions[f.Digest], v)
				if source := byUID[v.Source]; source != nil {
					versions[f.Digest] = append(versions[f.Digest], source)
				}
			}
		}
		versions[f.Digest] = distinctVersions(versions[f.Digest])
	}
	return versions, byUID, nil
}

// distinctVersions sorts versions by UID, and leaves out those that occur again.
func distinctVersions(all []*PackageVersion) []*PackageVersion {
	slices.SortFunc(all, func(a, b *PackageVersion) int { return compareTexts(a.UID, b.UID) })
	return slices.CompactFunc(all, func(a, b *PackageVersion) bool { return a.UID == b.UID })
}

// usedBefore lists the versions that the uses have of the image, sorted.
func (f *ImageFacts) usedBefore(byUID map[UID]*PackageVersion) (used []UID) {
	if f.Status == nil || !f.Status.IsLive {
		return nil
	}
	for _, uid := range f.Used {
		if used = append(used, uid); byUID[uid] != nil && byUID[uid].Source != "" {
			used = append(used, byUID[uid].Source)
		}
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// Named lists the versions that stand for names: those of an image without an SBOM.
func (s *ImageStatus) Named() []UID {
	if s.Basis == BasisName {
		return s.Versions
	}
	return nil
}

// versionsByUID reads versions of packages, and those of their source packages.
func versionsByUID(ctx context.Context, tx Tx, uids []UID) (map[UID]*PackageVersion, error) {
	byUID := make(map[UID]*PackageVersion, len(uids))
	for len(uids) > 0 {
		slices.Sort(uids)
		found, err := tx.PackageVersions().Get(ctx, Keys{uids: slices.Compact(uids)})
		if err != nil {
			return nil, err
		}
		uids = nil
		for _, v := range found {
			if byUID[v.UID] = v; v.Source != "" && byUID[v.Source] == nil {
				uids = append(uids, v.Source)
			}
		}
	}
	return byUID, nil
}

// newStatus returns the status that follows from facts and the packages of the image.
func (f *ImageFacts) newStatus(versions []*PackageVersion) *ImageStatus {
	status := &ImageStatus{Digest: f.Digest, IsLive: f.IsLive, Basis: cmp.Or(f.basis, BasisVersion)}
	if f.Status != nil {
		status.Number, status.Open = f.Status.Number, f.Status.Open
	}
	for _, v := range versions { // they are sorted
		status.Versions = append(status.Versions, v.UID)
	}
	return status
}

// changedUses lists what has changed in the uses of packages.
func changedUses(before []UID, is *ImageStatus) (uses []PackageUse) {
	var after []UID
	if is.IsLive {
		after = is.Versions
	}
	for _, v := range before {
		if _, stays := slices.BinarySearch(after, v); !stays {
			uses = append(uses, PackageUse{v, is.Number, true})
		}
	}
	for _, v := range after {
		if _, known := slices.BinarySearch(before, v); !known {
			uses = append(uses, PackageUse{v, is.Number, false})
		}
	}
	return uses
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
