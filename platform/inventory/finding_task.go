package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"atrium/platform/core"
)

// Findings follow from other rows: from tags, from what images hold, and from advisories. What
// changes one of these adds a task in its transaction, and Reconcile ends tasks. Everything that
// follows is written by reconcileRepo and nowhere else: the status of images, the uses of packages,
// findings, their counters, what repos show of them, and their events. Only what callers decide
// about findings is written by finding_update.go.
//
// A task is never lost: it is deleted in the transaction that writes what follows. One lock for each
// organization makes these transactions follow each other, so that each sees what the ones before
// have written. The lock of FeedGroup, whose advisories are for all organizations, is shared by
// those that look at images, and exclusive where the repos are listed that an advisory is for:
// thus an image that appears meanwhile is either listed or sees the advisory.

// A FindingTask names what may have changed findings.
type FindingTask struct {
	ID       int64
	Subject  core.UID // a repo, or an advisory
	Digest   string   // the image of the repo; "" means all images that Advisory is for, or all
	Advisory core.UID // "" means all advisories
}

// Limits of one transaction.
const (
	maxFindingTasks = 2000
	maxTaskImages   = 100
	fewTaskImages   = 5 // of a transaction that does not give way to callers
	// maxSpreadTasks is how many tasks advisories become, and spreadAtOnce is how many advisories are spread with
	// the same statements.
	maxSpreadTasks, spreadAtOnce = 20_000, 500
	// maxTaskTime is how long a transaction begins with further advisories and repos. The rows of the repos that it has looked at are locked
	// until it ends, on SQLite all rows, and whoever changes them waits.
	maxTaskTime = 40 * time.Millisecond
	// reposAtOnce is how many repos are compared with advisories with the same round trips.
	reposAtOnce = 5
	// repoAdvisories is how many advisories are compared with the images of a repo at once.
	repoAdvisories = 20
)

// FindingLock is the lock of the findings of an organization.
func FindingLock(root core.UID) core.UID { return "findings:" + root }

// An AdvisoryReach says which images an advisory can be about.
type AdvisoryReach struct {
	Advisory core.UID
	Names    []string // normal names of packages
	Digest   string   // of the image that it names; "" means that it names a package
}

// Reconcile ends the oldest tasks of each organization that has any, with one transaction for each, and
// returns their number: 0 means that none could be ended. The tasks of one organization, however
// many there are and even if they fail, do not keep those of others.
func (s Findings) Reconcile(ctx context.Context) (done int, err error) {
	done, _, err = s.reconcile(ctx)
	return done, err
}

// reconcile is Reconcile. It also reports whether the work gave way to a caller.
func (s Findings) reconcile(ctx context.Context) (done int, gaveWay bool, err error) {
	if err := core.RequireOperator(ctx); err != nil {
		return 0, false, err
	}
	var failed []error
	for last := core.UID(""); ; {
		root, err := s.area.tables.NextFindingRoot(ctx, s.area.Store, last)
		if err != nil || root == "" {
			return done, gaveWay, errors.Join(append(failed, err)...)
		}
		ended, gave, err := s.reconcileInTurn(ctx, root, func(turn context.Context, tx core.Tx, images int) (int, error) {
			ended, err := s.reconcileRoot(turn, tx, root, images)
			return max(ended, 1), err // another process has ended the task that there was; there may be others
		})
		if err != nil {
			failed = append(failed, fmt.Errorf("findings of %s: %w", root, err))
		}
		done, last, gaveWay = done+ended, root, gaveWay || gave
	}
}

// reconcileInTurn runs a transaction that ends tasks of an organization, about at most so many images, unless it must give way to
// callers. It returns how many have ended.
func (s Findings) reconcileInTurn(ctx context.Context, root core.UID, work func(turn context.Context, tx core.Tx, images int) (int, error)) (ended int, gaveWay bool, err error) {
	gaveWay, err = s.area.precedence.Run(ctx, root, func(turn context.Context, isLast bool) error {
		images := maxTaskImages
		if isLast {
			images = fewTaskImages
		}
		return core.WritePatiently(turn, s.area.Store, func(tx core.Tx) (err error) {
			ended, err = work(turn, tx, images)
			return err
		})
	})
	if gaveWay || err != nil {
		ended = 0
	}
	return ended, gaveWay, err
}

// SettleIn ends the tasks of one organization, and returns when none is left, so that whoever has changed something there sees what
// follows from it. It gives way to callers as the background does, so often as they may end its transactions.
func (s Findings) SettleIn(ctx context.Context, root core.UID) error {
	ctx = core.WithoutActor(ctx)
	for {
		ended, gaveWay, err := s.reconcileInTurn(ctx, root, func(turn context.Context, tx core.Tx, images int) (int, error) {
			return s.reconcileRoot(turn, tx, root, images)
		})
		if err != nil || ended == 0 && !gaveWay {
			return err
		}
	}
}

// Settle calls Reconcile until no task can be ended.
func (s Findings) Settle(ctx context.Context) error {
	_, err := s.settle(ctx)
	return err
}

// settle is Settle. It also reports whether all tasks have ended.
func (s Findings) settle(ctx context.Context) (all bool, err error) {
	for {
		if done, gaveWay, err := s.reconcile(ctx); done == 0 {
			return err == nil && !gaveWay, err
		}
	}
}

// maxSettleWait is how long a caller waits for the findings that follow from what it has written.
const maxSettleWait = 100 * time.Millisecond

// AwaitSettled waits until the findings are there that follow from what the request has written, at most maxSettleWait. It reports
// whether some are not.
func (s Findings) AwaitSettled(ctx context.Context) (pending bool) {
	left := core.TraceOf(ctx).TakeLeftFindings()
	return !left.IsZero() && !s.area.settled.Await(ctx, left, maxSettleWait)
}

// taskInterval is how often Follow looks for tasks, and for the ends of exceptions, that other processes have added.
const taskInterval = time.Second

// Follow ends tasks as they are added, and exceptions when their time is over, until ctx ends. Each process does so.
func (s Findings) Follow(ctx context.Context) {
	ctx = core.WithActor(ctx, core.NewOperator("findings"))
	look := time.NewTicker(taskInterval)
	defer look.Stop()
	var ending sync.WaitGroup
	defer ending.Wait()
	ending.Go(func() { s.followEnds(ctx) })
	defer s.area.settled.Follow()()
	settling := s.area.NewChore("findings were not updated; trying again every second")
	for ctx.Err() == nil {
		changed := s.area.Store.Changed()
		s.area.settled.Run(func() bool {
			all, err := s.settle(ctx)
			settling.Note(ctx, err)
			return all
		})
		select {
		case <-ctx.Done():
		case <-changed:
		case <-look.C:
		}
	}
}

// Review looks at everything again, and returns how many findings were not as they must be. It
// repairs them. It is for tests, and for an operator who has changed rows by hand.
func (s Findings) Review(ctx context.Context) (wrong int, err error) {
	if err := core.RequireOperator(ctx); err != nil {
		return 0, err
	}
	if err := s.Settle(ctx); err != nil {
		return 0, err
	}
	begun := s.area.Now()
	if err := core.WritePatiently(ctx, s.area.Store, func(tx core.Tx) error { return s.area.tables.AddReviewTasks(ctx, tx) }); err != nil {
		return 0, err
	}
	if err := s.Settle(ctx); err != nil {
		return 0, err
	}
	changed, err := s.area.tables.Findings.List(ctx, s.area.Store, core.Query[*FindingFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Everything}), Filter: &FindingFilter{States: findingStates, WithoutLiveTags: true, UpdatedSince: begun},
		Order: s.rows.Kind.DefaultOrder, Limit: 1, Parts: core.PartTotal,
	})
	return int(changed.Total), err
}

// lockFindings locks the findings of an organization for the background.
func lockFindings(tx core.Tx, root core.UID) {
	if root != FeedGroup {
		tx.LockShared(FindingLock(FeedGroup))
	}
	tx.Lock(FindingLock(root))
}

// reconcileRoot ends tasks of an organization, about at most so many images, and returns their number: 0 if it has none.
func (s Findings) reconcileRoot(ctx context.Context, tx core.Tx, root core.UID, images int) (int, error) {
	lockFindings(tx, root)
	tasks, err := s.area.tables.FindingTasks(ctx, tx, root, maxFindingTasks)
	if err != nil || len(tasks) == 0 {
		return 0, err
	}
	ended, err := s.reconcileTasks(ctx, tx, tasks, images)
	if err != nil {
		return 0, err
	}
	s.area.tables.EndFindingTasks(tx, ended)
	return len(ended), nil
}

// reconcileTasks ends tasks, and returns those that have ended. It leaves some to the next
// transaction if they are about too many images, or take too long.
func (s Findings) reconcileTasks(ctx context.Context, tx core.Tx, tasks []FindingTask, most int) (ended []FindingTask, err error) {
	images, events, begun := 0, findingEvents{}, s.area.Now()
	isLate := func() bool { return s.area.Now().Sub(begun.Time) > maxTaskTime }
	byRepo := map[core.UID][]FindingTask{}
	var repos []core.UID
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
	for len(repos) > 0 && (images == 0 || images < most && !isLate()) {
		n := 1
		for n < min(len(repos), reposAtOnce, most) && areAboutAdvisories(byRepo[repos[n-1]]) && areAboutAdvisories(byRepo[repos[n]]) {
			n++
		}
		parts, looked, together := make([][]FindingTask, n), make([]int, n), make([]func(context.Context) error, n)
		for i, repo := range repos[:n] {
			together[i] = func(ctx context.Context) (err error) {
				parts[i], looked[i], err = s.reconcileRepo(ctx, tx, repo, byRepo[repo], most-images, isLate, events)
				return err
			}
		}
		if err := tx.RunTogether(ctx, together...); err != nil {
			return nil, err
		}
		for i, part := range parts {
			ended, images = append(ended, part...), images+looked[i]
		}
		repos = repos[n:]
	}
	s.record(ctx, tx, events)
	return ended, nil
}

// areAboutAdvisories reports whether tasks of a repo are about advisories alone. Then they store no packages, which repos share.
func areAboutAdvisories(tasks []FindingTask) bool {
	return !slices.ContainsFunc(tasks, func(t FindingTask) bool { return t.Advisory == "" })
}

// spreadAdvisories ends the tasks of advisories, which are of one organization or of FeedGroup: it adds a task for each
// repo that each of them is for, and returns their number.
func (s Findings) spreadAdvisories(ctx context.Context, tx core.Tx, ended []FindingTask) (added int, err error) {
	found, err := s.area.tables.Advisories.Get(ctx, tx, core.Keys{UIDs: advisoriesOf(ended)})
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
	repos, err := s.area.tables.ReposOfAdvisories(ctx, tx, root, reaches)
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
	return len(tasks), s.area.tables.AddFindingTasks(ctx, tx, tasks)
}

// advisoriesOf lists the advisories of tasks, each once.
func advisoriesOf(tasks []FindingTask) []core.UID {
	uids := make([]core.UID, len(tasks))
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

// spreadRepo adds a task for each image of a repo.
func (s Findings) spreadRepo(ctx context.Context, tx core.Tx, repo core.UID) error {
	facts, err := s.area.tables.ImageFacts(ctx, tx, repo, nil)
	if err != nil || len(facts) == 0 {
		return err
	}
	tasks := make([]FindingTask, len(facts))
	for i, f := range facts {
		tasks[i] = FindingTask{Subject: repo, Digest: f.Digest}
	}
	return s.area.tables.AddFindingTasks(ctx, tx, tasks)
}
