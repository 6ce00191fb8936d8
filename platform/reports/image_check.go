package reports

import (
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
)

// ImageChecks decide whether images may be released.
type ImageChecks struct{ area *Area }

// A CheckRequest asks whether an image passes a policy.
type CheckRequest struct {
	// Image is PATH@DIGEST, PATH:TAG, the same with the UID of the repo, or the UID of a tag. With Group, PATH is the name of a repo in it.
	Image string    `json:"image"`
	Group *core.UID `json:"group,omitempty"`
	CheckPolicy
}

// A CheckPolicy says which findings fail an image: those to look after that meet all of its conditions.
type CheckPolicy struct {
	FailOn             core.SeverityRating `json:"failOn,omitempty"`             // rated so or worse; "" means any
	FixableOnly        bool                `json:"fixableOnly,omitempty"`        // there is a version without the vulnerability
	KnownExploitedOnly bool                `json:"knownExploitedOnly,omitempty"` // the catalog of known exploited vulnerabilities has it
	// NewSince is a time, since which images have brought the vulnerability into the repo, or a tag of the repo, whose image does not
	// have it in this package. nil means any.
	NewSince *string `json:"newSince,omitempty"`
}

// A CheckVerdict is what came of a check.
type CheckVerdict string

// The verdicts.
const (
	CheckPassed   CheckVerdict = "CHECK_VERDICT_PASSED"
	CheckFailed   CheckVerdict = "CHECK_VERDICT_FAILED"
	CheckNotKnown CheckVerdict = "CHECK_VERDICT_NOT_KNOWN" // it is not known what the image holds, or the one that it is compared with, or whether any of its packages is affected
)

// Values lists the verdicts.
func (CheckVerdict) Values() []string {
	return fieldmask.Texts([]CheckVerdict{CheckPassed, CheckFailed, CheckNotKnown})
}

// An ImageCheck says whether an image passes a policy, and why not.
type ImageCheck struct {
	Repo    core.UID     `json:"repo,omitempty"`   // "" for an SBOM in a group whose image is of no repo
	Digest  string       `json:"digest,omitempty"` // "" for an SBOM whose image is not named by its digest
	Verdict CheckVerdict `json:"verdict"`
	Reason  string       `json:"reason,omitempty"` // why nothing is known

	Packages        int64                  `json:"packages"`        // of the SBOMs of the image
	UnknownPackages int64                  `json:"unknownPackages"` // those of them of which it is not known what affects them
	Open            inventory.FindingCount `json:"open"`            // all findings to look after
	Accepted        int64                  `json:"accepted"`
	NotAffected     int64                  `json:"notAffected"`
	Failing         inventory.FindingCount `json:"failing"`  // the findings that fail the image
	Findings        []*CheckedFinding      `json:"findings"` // the first of these, the worst first
	Upgrades        []*PackageUpgrade      `json:"upgrades"` // what to do about the failing findings that can be fixed, those that fix most first
}

// A CheckedFinding is a finding that fails an image.
type CheckedFinding struct {
	UID              core.UID                   `json:"uid,omitempty"` // "" if it is not stored
	VulnerabilityID  string                     `json:"vulnerabilityId"`
	Sources          []string                   `json:"sources"`
	Package          string                     `json:"package"`
	Ecosystem        string                     `json:"ecosystem,omitempty"`
	InstalledVersion string                     `json:"installedVersion,omitempty"`
	FixedVersions    []string                   `json:"fixedVersions,omitempty"`
	Severity         inventory.AdvisorySeverity `json:"severity,omitzero"`
	KnownExploited   bool                       `json:"knownExploited"`
	EPSS             *float64                   `json:"epss,omitempty"`
	Basis            inventory.FindingBasis     `json:"basis"`
	Direct           *bool                      `json:"direct,omitempty"`

	Finding *inventory.Finding `json:"-"` // nil if it is not stored
}

// A PackageUpgrade is the version of a package that does away with failing findings.
type PackageUpgrade struct {
	Package   string `json:"package"`
	Ecosystem string `json:"ecosystem,omitempty"`
	From      string `json:"from,omitempty"` // what the image holds; "" if it is not known
	To        string `json:"to"`             // the earliest version that is known to be without all of these findings
	Findings  int64  `json:"findings"`
}

// MaxCheckedFindings limits the findings and the upgrades that a check lists. Their counts are exact.
const MaxCheckedFindings = 100

// The reasons say why nothing can be decided about an image.
const (
	reasonNoSBOM     = "the image has no SBOM"
	reasonEmptySBOM  = "the SBOM of the image has no packages"
	reasonNoAdvisory = "no advisory covers the ecosystems of its packages"
	reasonBase       = "the image of the tag in newSince has no usable SBOM: "
)

// Check decides whether an image passes a policy.
func (s ImageChecks) Check(ctx context.Context, req CheckRequest) (*ImageCheck, error) {
	check, err := s.check(ctx, req)
	return check, core.InArea(core.AreaVulnerabilities, err)
}

func (s ImageChecks) check(ctx context.Context, req CheckRequest) (*ImageCheck, error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return nil, err
	}
	var v core.Violations
	ref, policy := parseImage(req.Image, &v), req.parse(&v)
	if err := v.Err(); err != nil {
		return nil, err
	}
	key, err := s.find(ctx, actor, req.Group, ref)
	if err != nil {
		return nil, err
	}
	repo, err := s.repo(ctx, key.Repo)
	if err != nil {
		return nil, err
	}
	state, err := s.evaluate(ctx, repo, key.Digest)
	if err != nil {
		return nil, err
	}
	return s.judge(ctx, key, state, policy)
}

// parse checks the request beside its image.
func (r *CheckRequest) parse(v *core.Violations) (p parsedPolicy) {
	if r.Group != nil {
		v.CheckUID("group", *r.Group)
	}
	p.CheckPolicy = r.CheckPolicy
	if r.FailOn != "" {
		core.CheckOneOf(v, "failOn", r.FailOn, core.SeverityRatings())
	}
	if r.NewSince == nil {
		return p
	}
	if at, err := core.ParseTime(*r.NewSince); err == nil {
		p.since = at
		return p
	}
	v.CheckRequiredLine("newSince", *r.NewSince)
	p.tag = *r.NewSince
	return p
}

// A parsedPolicy is a policy whose NewSince is a time or a tag.
type parsedPolicy struct {
	CheckPolicy
	since core.Time
	tag   string
}

// meets reports whether a finding fails an image, if it is new.
func (p *parsedPolicy) meets(f *inventory.Finding) bool {
	return f.IsOpen() && max(f.Severity.Rating.Rank(), 0) >= p.FailOn.Rank() && (!p.FixableOnly || f.IsFixable()) && (!p.KnownExploitedOnly || f.KnownExploited)
}

// judge decides about an image whose findings are known, or are not.
func (s ImageChecks) judge(ctx context.Context, key core.ImageKey, state *imageState, policy parsedPolicy) (*ImageCheck, error) {
	check := &ImageCheck{
		Repo: key.Repo, Digest: key.Digest, Verdict: CheckNotKnown, Reason: state.unknown, Packages: state.packages, UnknownPackages: state.unknownPackages,
		Findings: []*CheckedFinding{}, Upgrades: []*PackageUpgrade{},
	}
	for _, f := range state.findings {
		switch {
		case f.IsOpen():
			count(&check.Open, f)
		case f.State == inventory.FindingAccepted:
			check.Accepted++
		default:
			check.NotAffected++
		}
	}
	if check.Reason != "" {
		return check, nil
	}
	failing := slices.DeleteFunc(slices.Clone(state.findings), func(f *inventory.Finding) bool { return !policy.meets(f) })
	var err error
	if failing, check.Reason, err = s.keepNew(ctx, key.Repo, failing, policy); err != nil || check.Reason != "" {
		return check, err
	}
	for _, f := range failing {
		count(&check.Failing, f)
	}
	switch {
	case len(failing) > 0:
		check.Verdict = CheckFailed
	case state.unknownPackages >= state.packages:
		check.Reason = reasonNoAdvisory
	default:
		check.Verdict = CheckPassed
	}
	check.Upgrades = upgrades(failing)
	for _, f := range failing[:min(len(failing), MaxCheckedFindings)] {
		check.Findings = append(check.Findings, newCheckedFinding(f, state.isStored))
	}
	return check, nil
}

// keepNew leaves out the findings that are not new. unknown says why it is not known which are.
func (s ImageChecks) keepNew(ctx context.Context, repo core.UID, findings []*inventory.Finding, policy parsedPolicy) (left []*inventory.Finding, unknown string, err error) {
	switch {
	case policy.tag != "":
		base, err := s.base(ctx, repo, policy.tag)
		if err != nil {
			return nil, "", err
		}
		if base.unknown != "" {
			return nil, reasonBase + base.unknown, nil
		}
		return findingsWithout(findings, base.findings), "", nil
	case !policy.since.IsZero():
		left, err = s.area.inventory.Findings.ListBrought(ctx, repo, findings, policy.since)
		return left, "", err
	default:
		return findings, "", nil
	}
}

func count(to *inventory.FindingCount, f *inventory.Finding) {
	to.Add(f.Severity.Rating, 1)
	if f.IsFixable() {
		to.Fixable++
	}
	if f.KnownExploited {
		to.KnownExploited++
	}
}

func newCheckedFinding(f *inventory.Finding, isStored bool) *CheckedFinding {
	c := &CheckedFinding{
		VulnerabilityID: f.VulnerabilityID, Sources: f.Sources, Package: f.Package, Ecosystem: f.Ecosystem, InstalledVersion: f.InstalledVersion,
		FixedVersions: f.FixedVersions, Severity: f.Severity, KnownExploited: f.KnownExploited, EPSS: f.EPSS, Basis: f.Basis, Direct: f.Direct,
	}
	if isStored {
		c.UID, c.Finding = f.UID, f
	}
	return c
}

// upgrades returns what to do about findings: for each version of a package, the earliest one that fixes all of them.
func upgrades(findings []*inventory.Finding) []*PackageUpgrade {
	fixes := make([]FixedFindings, 0, len(findings))
	for _, f := range findings {
		if f.IsFixable() {
			fixes = append(fixes, FixedFindings{PackageVersion{PackageName{f.Ecosystem, f.Package}, f.InstalledVersion}, f.FixedVersions, 1})
		}
	}
	all := upgradesTo(fixes)
	return all[:min(len(all), MaxCheckedFindings)]
}
