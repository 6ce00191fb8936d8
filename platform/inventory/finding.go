package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A Finding says that an advisory affects a package of an image. It exists because the
// installed version is affected, or, where versions are not known, because the name fits.
// finding_reconcile.go finds out which findings there are; callers only decide about them.
type Finding struct {
	UID              core.UID         `json:"uid"`
	Repo             core.UID         `json:"repo"`
	Digest           string           `json:"digest"`
	Advisory         core.UID         `json:"advisory"`             // the one that rates it
	Representative   core.UID         `json:"-"`                    // the advisory that stands for all of the same vulnerability
	Sources          []string         `json:"sources"`              // ids of the advisories that say that the version is affected, sorted
	DisputedBy       []string         `json:"disputedBy,omitempty"` // ids of those that say that it is not, sorted
	VulnerabilityID  string           `json:"vulnerabilityId"`      // the CVE, such as CVE-2021-44228, or an id of an advisory if there is none
	Package          string           `json:"package"`
	Ecosystem        string           `json:"ecosystem,omitempty"`        // as OSV names it, such as Debian:12; "" if it is not known
	InstalledVersion string           `json:"installedVersion,omitempty"` // "" if it is not known
	BinaryPackages   []BinaryPackage  `json:"binaryPackages,omitempty"`   // what the image holds that was built of it, if it is a source package
	Scope            PackageScope     `json:"scope,omitempty"`            // what the image needs the package for; "" if it is not known
	Direct           *bool            `json:"direct,omitempty"`           // whether the project in the image depends on the package itself; nil if it is not known
	PackageVersion   core.UID         `json:"-"`                          // "" if it is not known
	FixedVersions    []string         `json:"fixedVersions,omitempty"`    // versions that are not affected any more, the next one first
	LacksFix         bool             `json:"-"`                          // it is known that all later versions are affected
	Severity         AdvisorySeverity `json:"severity,omitzero"`          // rating and score
	KnownExploited   bool             `json:"knownExploited"`             // whether the catalog of known exploited vulnerabilities has it
	EPSS             *float64         `json:"epss,omitempty"`             // probability from 0 to 1 that it is exploited within 30 days
	Basis            FindingBasis     `json:"basis"`
	State            FindingState     `json:"state"`
	Justification    string           `json:"justification,omitempty"`
	Note             string           `json:"note,omitempty"`
	Assignee         core.UID         `json:"assignee,omitempty"`
	DueTime          core.Time        `json:"dueTime,omitzero"`
	IsDueSet         bool             `json:"-"`                   // somebody has set DueTime; otherwise it follows from the policy
	ExpireTime       core.Time        `json:"expireTime,omitzero"` // when the decision ends, and the finding is open again
	FirstSeenTime    core.Time        `json:"firstSeenTime,omitzero"`
	ResolvedTime     core.Time        `json:"resolvedTime,omitzero"`
	UpdateTime       core.Time        `json:"updateTime,omitzero"`
	IsNewInRepo      bool             `json:"newInRepo,omitempty"` // the image brought it: no image of the repo with a live tag had the vulnerability before

	// Decision says what decided about the state: "" (nothing), DecisionOfFinding,
	// DecisionOfAdvisory, or the UID of the triage rule.
	Decision string `json:"-"`
	// IsLive reports whether a tag that is not deprecated points to the image. Other findings
	// are not counted.
	IsLive bool `json:"-"`
	// DecidedBy is who decided: the UID of an identity, or the name of an operator's command. It is "" if nobody has.
	DecidedBy string `json:"decidedBy,omitempty"`
}

// What can decide about a finding beside a triage rule.
const (
	DecisionOfFinding  = "FINDING"
	DecisionOfAdvisory = "ADVISORY"
)

// Image returns the image that the finding is about.
func (f *Finding) Image() core.ImageKey { return core.ImageKey{Repo: f.Repo, Digest: f.Digest} }

// IsFixable reports whether there is a version without the vulnerability.
func (f *Finding) IsFixable() bool { return len(f.FixedVersions) > 0 }

// IsCounted reports whether the finding counts for its repo and the groups above.
func (f *Finding) IsCounted() bool { return f.IsLive && f.State != FindingResolved }

// IsOpen reports whether somebody has to look after the finding.
func (f *Finding) IsOpen() bool { return f.State == FindingOpen || f.State == FindingInTriage }

// A FindingBasis says why there is a finding.
type FindingBasis string

// The bases.
const (
	BasisVersion FindingBasis = "FINDING_BASIS_VERSION" // the installed version is affected
	BasisName    FindingBasis = "FINDING_BASIS_NAME"    // the name fits, and versions are not known
)

var findingBases = []FindingBasis{BasisVersion, BasisName}

// Values lists the bases.
func (FindingBasis) Values() []string { return fieldmask.Texts(findingBases) }

// A FindingState says what is known and decided about a finding.
type FindingState string

// The states.
const (
	FindingOpen        FindingState = "FINDING_STATE_OPEN"
	FindingInTriage    FindingState = "FINDING_STATE_IN_TRIAGE"    // somebody looks into it; it is open
	FindingAccepted    FindingState = "FINDING_STATE_ACCEPTED"     // the risk is accepted
	FindingNotAffected FindingState = "FINDING_STATE_NOT_AFFECTED" // the image is not affected after all
	FindingResolved    FindingState = "FINDING_STATE_RESOLVED"     // the advisory or the packages have changed, and it is gone
)

var findingStates = []FindingState{FindingOpen, FindingInTriage, FindingAccepted, FindingNotAffected, FindingResolved}

// FindingStates lists the states.
func FindingStates() []FindingState { return slices.Clone(findingStates) }

// OpenStates lists the states of the findings that somebody must look after.
func OpenStates() []FindingState { return []FindingState{FindingOpen, FindingInTriage} }

// Values lists the states.
func (FindingState) Values() []string { return fieldmask.Texts(findingStates) }

// Rank returns the position of a state in the list of all states.
func (s FindingState) Rank() int { return slices.Index(findingStates, s) }

// FindingFilter restricts a list of findings. A finding must match one value of each list.
// Without States, resolved findings are left out.
type FindingFilter struct {
	Severities       []core.SeverityRating `json:"severities,omitempty"`
	MinScore         *float64              `json:"minScore,omitempty"` // the score is at least this one, from 0 to 10
	States           []FindingState        `json:"states,omitempty"`
	Basis            []FindingBasis        `json:"basis,omitempty"`
	Fixable          *bool                 `json:"fixable,omitempty"`
	KnownExploited   *bool                 `json:"knownExploited,omitempty"`
	MinEPSS          *float64              `json:"minEpss,omitempty"`          // the probability is at least this one, from 0 to 1
	VulnerabilityIDs []string              `json:"vulnerabilityIds,omitempty"` // the id of the advisory, or another name of it
	Packages         []string              `json:"packages,omitempty"`
	Ecosystems       []string              `json:"ecosystems,omitempty"` // with or without the release
	Query            string                `json:"query,omitempty"`      // words of the id or the package
	Assignee         core.UID              `json:"assignee,omitempty"`
	Assigned         *bool                 `json:"assigned,omitempty"`     // whether somebody looks after it
	AssignedToMe     *bool                 `json:"assignedToMe,omitempty"` // whether the caller does
	Me               []core.UID            `json:"-" excludes:""`          // the identities of the caller: see ForCaller
	FirstSeenSince   core.Time             `json:"firstSeenSince,omitzero"`
	FirstSeenBefore  core.Time             `json:"firstSeenBefore,omitzero"`
	ResolvedSince    core.Time             `json:"resolvedSince,omitzero"`
	UpdatedSince     core.Time             `json:"updatedSince,omitzero"`
	DueBefore        core.Time             `json:"dueBefore,omitzero"`
	HasDueTime       *bool                 `json:"hasDueTime,omitempty"`
	Scopes           []PackageScope        `json:"scopes,omitempty"`
	Direct           *bool                 `json:"direct,omitempty"`
	NewInRepo        *bool                 `json:"newInRepo,omitempty"`
	ExpireBefore     core.Time             `json:"expireBefore,omitzero"`     // the decision ends before
	DecidedBy        string                `json:"decidedBy,omitempty"`       // as in a finding
	TagNames         []string              `json:"tagNames,omitempty"`        // a tag with one of these names points to the image
	WithoutLiveTags  bool                  `json:"withoutLiveTags,omitempty"` // findings of images without tags, or with deprecated ones only, are included
	Digests          []string              `json:"digests,omitempty"`
	Advisories       []core.UID            `json:"advisories,omitempty"`         // of the vulnerability and package of one of these
	Representatives  []core.UID            `json:"-"`                            // of what one of these stands for
	Decided          bool                  `json:"decided,omitempty"`            // somebody, or a rule, has decided about the finding
	Undecided        bool                  `json:"undecided,omitempty" wire:"-"` // nobody has, nor has its advisory
	LacksFix         bool                  `json:"lacksFix,omitempty" wire:"-"`  // it is known that there is no fix
	EPSSBelow        *float64              `json:"epssBelow,omitempty" wire:"-"` // the probability is known, and below this one

	// Or and Not have filters inside this one. There, no state is left out.
	Or    []*FindingFilter `json:"or,omitempty"` // one of them finds the finding
	Not   *FindingFilter   `json:"not,omitempty" excludes:""`
	Among []core.UID       `json:"uids,omitempty"` // uids; only inside another filter, because a list has those of its request

	core.LabelFilter // labels of the repo
}

// UnmarshalJSON refuses conditions that there are not: a misspelled one would find more.
func (f *FindingFilter) UnmarshalJSON(b []byte) error { return fieldmask.UnmarshalStruct(b, f) }

// Capabilities lists what callers need, besides what findings need, for the conditions.
func (f *FindingFilter) Capabilities() []core.Capability {
	if f == nil || f.Labels == nil && !f.anyPart(func(part *FindingFilter) bool { return part.Labels != nil }) {
		return nil
	}
	return []core.Capability{core.CapRepoList}
}

// WantedStates lists the states that match; nil means all but RESOLVED.
func (f *FindingFilter) WantedStates() []FindingState {
	switch {
	case f.States != nil:
		return f.States
	case !f.ResolvedSince.IsZero():
		return []FindingState{FindingResolved}
	case !f.ExpireBefore.IsZero():
		return []FindingState{FindingInTriage, FindingAccepted, FindingNotAffected} // what is decided to be open never ends
	case f.anyPart(func(part *FindingFilter) bool { return part.States != nil || !part.ResolvedSince.IsZero() }):
		return slices.Clone(findingStates)
	default:
		return nil
	}
}

// Check adds the violations of the conditions.
func (f *FindingFilter) Check(v *core.Violations) {
	f.checkConditions(v)
	f.checkParts(v)
}

// checkConditions checks the conditions without those of the filters inside.
func (f *FindingFilter) checkConditions(v *core.Violations) {
	f.LabelFilter.Check(v)
	for _, r := range f.Severities {
		core.CheckOneOf(v, "severities", r, core.SeverityRatings())
	}
	for _, s := range f.States {
		core.CheckOneOf(v, "states", s, findingStates)
	}
	for _, b := range f.Basis {
		core.CheckOneOf(v, "basis", b, findingBases)
	}
	if f.MinScore != nil && !(*f.MinScore >= 0 && *f.MinScore <= 10) {
		v.Add("minScore", "must be between 0 and 10")
	}
	if f.MinEPSS != nil && !(*f.MinEPSS >= 0 && *f.MinEPSS <= 1) {
		v.Add("minEpss", "must be between 0 and 1")
	}
	for _, x := range []struct {
		field  string
		values []string
	}{{"vulnerabilityIds", f.VulnerabilityIDs}, {"packages", f.Packages}, {"ecosystems", f.Ecosystems}, {"digests", f.Digests}, {"tagNames", f.TagNames}} {
		if v.CheckFilter(x.field, x.values...); len(x.values) > core.MaxIDs {
			v.Add(x.field, "must have at most %d items", core.MaxIDs)
		}
	}
	for _, s := range f.Scopes {
		core.CheckOneOf(v, "scopes", s, packageScopes)
	}
	v.CheckQuery(f.Query)
	v.CheckFilter("decidedBy", f.DecidedBy)
	if f.Assignee != "" {
		v.CheckUID("assignee", f.Assignee)
	}
	for i, u := range f.Advisories {
		v.CheckUID(fmt.Sprintf("advisories[%d]", i), u)
	}
	v.CheckTimes("firstSeenSince", f.FirstSeenSince, "firstSeenBefore", f.FirstSeenBefore)
}

// FindingKind has the facts about findings.
var FindingKind = core.Kind[*Finding]{
	Name: "Finding", Plural: "findings", Area: core.AreaVulnerabilities, Number: 20, Own: true, GraphOnly: true, Event: "vulnerabilities.finding", Parent: core.RepoRef,
	Verbs: []string{verbOpened, verbResolved, verbChanged}, EventBody: core.AreaVulnerabilities + ".FindingChange", EventsOfParent: true,
	OtherEvents: []core.EventKind{
		{Event: "vulnerabilities.finding", Verbs: []string{verbTriaged}, Body: core.AreaVulnerabilities + ".TriageChange", Resource: "Group"},
		{Event: "vulnerabilities.finding", Verbs: []string{verbDuePolicySet}, Body: core.AreaVulnerabilities + ".DuePolicy", Resource: "Group"},
	},
	List: core.CapFindingsList, Update: core.CapFindingsUpdate, Also: []core.Capability{core.CapTagList},
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "repo", Mode: fieldmask.OutputOnly},
		{Name: "digest", Mode: fieldmask.OutputOnly}, {Name: "advisory", Mode: fieldmask.OutputOnly},
		{Name: "vulnerabilityId", Mode: fieldmask.OutputOnly}, {Name: "package", Mode: fieldmask.OutputOnly},
		{Name: "ecosystem", Mode: fieldmask.OutputOnly}, {Name: "installedVersion", Mode: fieldmask.OutputOnly},
		{Name: "sources", Mode: fieldmask.OutputOnly}, {Name: "disputedBy", Mode: fieldmask.OutputOnly}, {Name: "binaryPackages", Mode: fieldmask.OutputOnly}, {Name: "scope", Mode: fieldmask.OutputOnly}, {Name: "direct", Mode: fieldmask.OutputOnly}, {Name: "fixedVersions", Mode: fieldmask.OutputOnly}, {Name: "severity", Mode: fieldmask.OutputOnly},
		{Name: "knownExploited", Mode: fieldmask.OutputOnly}, {Name: "epss", Mode: fieldmask.OutputOnly},
		{Name: "basis", Mode: fieldmask.OutputOnly}, {Name: "state", Mode: fieldmask.Updatable},
		{Name: "decidedBy", Mode: fieldmask.OutputOnly}, {Name: "justification", Mode: fieldmask.Updatable}, {Name: "note", Mode: fieldmask.Updatable},
		{Name: "assignee", Mode: fieldmask.Updatable}, {Name: "dueTime", Mode: fieldmask.Updatable},
		{Name: "expireTime", Mode: fieldmask.Updatable}, {Name: "firstSeenTime", Mode: fieldmask.OutputOnly},
		{Name: "resolvedTime", Mode: fieldmask.OutputOnly}, {Name: "updateTime", Mode: fieldmask.OutputOnly}, {Name: "newInRepo", Mode: fieldmask.OutputOnly},
	},
	Orders: []core.OrderField[*Finding]{
		{Name: "severity", Value: func(f *Finding) any { return f.Severity.SortKey() }},
		{Name: "first_seen_time", Spellings: []string{"firstSeenTime", "first_seen"}, Value: func(f *Finding) any { return f.FirstSeenTime }},
		{Name: "epss", Value: func(f *Finding) any { return EPSSKey(f.EPSS) }},
		{Name: "package", Value: func(f *Finding) any { return f.Package }},
		{Name: "due_time", Spellings: []string{"dueTime", "due"}, Value: func(f *Finding) any { return f.DueTime.OrNoDeadline() }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(f *Finding) any { return f.UpdateTime }},
		{Name: "uid", Value: func(f *Finding) any { return string(f.UID) }},
	},
	DefaultOrder: core.Order{Field: "severity", Desc: true},
	UID:          func(f *Finding) core.UID { return f.UID },
	Group:        func(f *Finding) core.UID { return f.UID.Parent().Parent() },
}

// EPSSKey returns a text that sorts as probabilities do: "" if there is none, otherwise six
// digits for the millionths.
func EPSSKey(p *float64) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%06d", min(int(*p*1_000_000+0.5), 999_999))
}

// ParseEPSSKey returns the probability of a key.
func ParseEPSSKey(key string) *float64 {
	if key == "" {
		return nil
	}
	var millionths int
	_, _ = fmt.Sscanf(strings.TrimLeft(key, "0")+"\n", "%d", &millionths) // nothing but zeros is 0
	p := float64(millionths) / 1_000_000
	return &p
}

// FindingQueries read and write findings in other ways than a Table does.
type FindingQueries interface {
	// SummarizeFindings counts the findings of each scope that are counted, with one
	// statement.
	SummarizeFindings(ctx context.Context, on core.Conn, scopes []core.Scope) ([]*FindingSummary, error)

	// SummarizeImageFindings counts those of images, with one statement.
	SummarizeImageFindings(ctx context.Context, on core.Conn, keys ImageKeys) ([]*FindingSummary, error)

	// CountFindingAges counts the findings of each scope that somebody must look after, by their age and rating, with one statement. The
	// i-th age is that of findings which were first seen later than since[i], and not later than since[i-1].
	CountFindingAges(ctx context.Context, on core.Conn, scopes []core.Scope, since []core.Time, add func(scope, age int, rating core.SeverityRating, n int64)) error

	// FacetFindings counts the findings of each scope by the selected facets, with one round trip.
	FacetFindings(ctx context.Context, on core.Conn, filter *FindingFilter, scopes []core.Scope, parts FindingFacetParts) ([]*FindingFacets, error)

	// RulesOf reads the triage rules of groups and repos.
	RulesOf(ctx context.Context, on core.Conn, scopes []core.UID) ([]*TriageRule, error)

	// HeldInRepo returns those of representatives of which an image of a repo that counts has a finding that is not resolved.
	HeldInRepo(ctx context.Context, on core.Conn, repo core.UID, representatives []core.UID) ([]core.UID, error)

	// HasFindingTask reports whether a task is about an image of a repo, or about all of its images, whichever the advisory.
	HasFindingTask(ctx context.Context, on core.Conn, image core.ImageKey) (bool, error)

	// NextFindingRoot returns the first organization after another one that has tasks, in the order
	// of UIDs, or "" if there is none.
	NextFindingRoot(ctx context.Context, on core.Conn, after core.UID) (root core.UID, err error)

	// FindingTasks reads the oldest tasks of an organization.
	FindingTasks(ctx context.Context, tx core.Tx, root core.UID, limit int) ([]FindingTask, error)

	AddFindingTasks(ctx context.Context, tx core.Tx, tasks []FindingTask) error

	EndFindingTasks(tx core.Tx, tasks []FindingTask)

	// AddReviewTasks adds tasks for all repos.
	AddReviewTasks(ctx context.Context, tx core.Tx) error

	// NextExpiry returns the first time after another one at which a decision ends, or the zero time if there is none.
	NextExpiry(ctx context.Context, on core.Conn, after core.Time) (core.Time, error)

	// ExpiredTasks lists images of findings whose exceptions have ended, as tasks, by repo.
	ExpiredTasks(ctx context.Context, on core.Conn, now core.Time, limit int) ([]FindingTask, error)

	// ImageFacts reads what the findings of images of a repo follow from. digests nil means all
	// images that a tag points to or that have a status.
	ImageFacts(ctx context.Context, tx core.Tx, repo core.UID, digests []string) ([]*ImageFacts, error)

	// ImageStatuses reads the statuses of images, by repo and digest.
	ImageStatuses(ctx context.Context, tx core.Tx, images ImageKeys) ([]*ImageStatus, error)

	// TriageFacts reads what an update of findings of images needs to know, with the advisories that others represent.
	TriageFacts(ctx context.Context, tx core.Tx, images ImageKeys, representatives []core.UID) (TriageFacts, error)

	// Holders lists the live images of a repo that hold packages with one of the normal names,
	// with their versions of these.
	Holders(ctx context.Context, on core.Conn, repo core.UID, names []string) ([]Holder, error)

	// AdvisoriesNamed reads the advisories for a repo that are not withdrawn and whose artifacts
	// have one of the normal names.
	AdvisoriesNamed(ctx context.Context, on core.Conn, repo core.UID, names []string) ([]*Advisory, error)

	// ReposOfAdvisories lists, for each advisory, the repos of an organization (of all if root is "") that hold a
	// package with one of its names, that have an image with its digest, or that have findings
	// of it. A repo can be listed several times.
	ReposOfAdvisories(ctx context.Context, tx core.Tx, root core.UID, all []AdvisoryReach) (map[core.UID][]core.UID, error)

	// LastImageNumber returns the highest number of an image of a repo, or 0.
	LastImageNumber(ctx context.Context, tx core.Tx, repo core.UID) (int64, error)

	// PutImageStatuses stores the statuses of images of a repo. Those that there were must have been read since the
	// findings of the organization were locked.
	PutImageStatuses(tx core.Tx, repo core.UID, statuses []*ImageStatus)

	// ChangeUses changes which images of a repo hold versions. From then on, the uses of the images
	// with the digests are those of their SBOMs.
	ChangeUses(ctx context.Context, tx core.Tx, repo core.UID, digests []string, uses []PackageUse) error

	// ReplaceFindings deletes the old findings and inserts those that take their place.
	ReplaceFindings(ctx context.Context, tx core.Tx, old, current []*Finding) error

	// ShiftOpenFindings changes how many open findings a repo shows, and how many were open in it and in the groups above on
	// the day of now and later. The repo must have been read since the findings of the organization were locked.
	ShiftOpenFindings(tx core.Tx, repo *Repo, by OpenCounts, now core.Time)

	// ForgetRepo removes a repo that is about to be deleted from all counters of findings. The findings of the
	// organization must be locked.
	ForgetRepo(ctx context.Context, tx core.Tx, repo core.UID) error
}

// Findings are the operations on findings.
type Findings struct {
	core.Resources[*Finding, *FindingFilter]
	rows *core.Collection[*Finding, *FindingFilter]
	area *Area
}

// ListOfImages reads, for each image, the same page of its findings, with one read. The page tokens
// are those of the plain list of the repo with the digest.
func (s Findings) ListOfImages(ctx context.Context, req core.ListRequest[*FindingFilter], images []core.ImageKey) ([]core.Page[*Finding], []error) {
	return core.ReadOnce(images, func(images []core.ImageKey) ([]core.Page[*Finding], []error) {
		return core.ListReferring(ctx, s.rows, req, len(images), func(i int, req *core.ListRequest[*FindingFilter]) func(core.Branch) []core.Branch {
			req.UIDP.ChildrenOf = images[i].Repo
			req.Filter = core.EditFilter(req.Filter, func(f *FindingFilter) { f.Digests = []string{images[i].Digest} })
			return core.NarrowTo(func(b *core.Branch) { b.Digest = images[i].Digest })
		})
	})
}

// ListOfAdvisories reads, for each advisory, the same page of the findings of its vulnerability and package that the
// caller may see, with one read. The page tokens are those of the plain list with the advisory.
func (s Findings) ListOfAdvisories(ctx context.Context, req core.ListRequest[*FindingFilter], advisories []*Advisory) ([]core.Page[*Finding], []error) {
	return core.ListReferring(ctx, s.rows, req, len(advisories), func(i int, req *core.ListRequest[*FindingFilter]) func(core.Branch) []core.Branch {
		req.Filter = core.EditFilter(req.Filter, func(f *FindingFilter) { f.Advisories = []core.UID{advisories[i].UID} })
		return func(b core.Branch) []core.Branch {
			return []core.Branch{{Relation: core.OfAdvisory, UID: advisories[i].Representative, Inside: b.UID}}
		}
	})
}

// Advisories reads the advisories of findings that the caller has read, with one read. Who may see a
// finding may see its advisory, whichever group that lies in. Those that do not exist any more are
// nil.
func (s Findings) Advisories(ctx context.Context, uids []core.UID, without core.CostlyFields) (map[core.UID]*Advisory, error) {
	if _, err := core.RequireCaller(ctx); err != nil {
		return nil, s.rows.Kind.AddArea(err)
	}
	found, err := s.area.tables.Advisories.Get(ctx, s.area.Store, core.Keys{UIDs: uids, Without: without | AdvisoryKind.Hidden})
	byUID := make(map[core.UID]*Advisory, len(found))
	for _, a := range found {
		byUID[a.UID] = a
	}
	return byUID, s.rows.Kind.AddArea(err)
}

// ListAdvisories reads, with one read, the advisories that are the sources of each finding, and those that dispute it, those first
// that count more. Who may see a finding may see them, whichever groups they lie in. Those that do not exist any more are left out.
func (s Findings) ListAdvisories(ctx context.Context, findings []*Finding) ([][]*Advisory, error) {
	if _, err := core.RequireCaller(ctx); err != nil {
		return nil, s.rows.Kind.AddArea(err)
	}
	representatives, repos := make([]core.UID, len(findings)), make([]core.UID, len(findings))
	for i, f := range findings {
		representatives[i], repos[i] = f.Representative, f.Repo
	}
	found, err := s.area.tables.RepresentedAdvisories(ctx, s.area.Store, representatives, repos)
	slices.SortFunc(found, compareSources)
	all := make([][]*Advisory, len(findings))
	for i, f := range findings {
		visible := slices.DeleteFunc(slices.Clone(found), func(a *Advisory) bool {
			return a.Representative != f.Representative || !IsAbove(a.UID.Parent(), f.Repo)
		})
		for _, a := range countingAdvisories(visible) {
			if slices.Contains(f.Sources, a.AdvisoryID) || slices.Contains(f.DisputedBy, a.AdvisoryID) {
				all[i] = append(all[i], a)
			}
		}
	}
	return all, s.rows.Kind.AddArea(err)
}

// ListUnresolved reads the findings of each image that are not resolved, the worst first, with one read.
func (s Findings) ListUnresolved(ctx context.Context, images []core.ImageKey) ([][]*Finding, error) {
	scopes, all := make([]core.Scope, len(images)), make([][]*Finding, len(images))
	for i, key := range images {
		q, err := s.rows.Query(ctx, core.ListRequest[*FindingFilter]{UIDP: core.UIDFilter{ChildrenOf: key.Repo}})
		if err != nil {
			return nil, s.rows.Kind.AddArea(err)
		}
		for _, b := range q.Scope.Branches {
			b.Digest = key.Digest
			scopes[i].Branches = append(scopes[i].Branches, b)
		}
	}
	found, err := s.area.tables.Findings.ListEach(ctx, s.area.Store, core.Query[*FindingFilter]{Filter: &FindingFilter{WithoutLiveTags: true}, Order: s.rows.Kind.DefaultOrder, Limit: core.NoLimit, Parts: core.PartItems}, scopes)
	for i, rows := range found {
		all[i] = rows.Items
	}
	return all, s.rows.Kind.AddArea(err)
}
