package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
	"atrium/platform/operations"
	"atrium/platform/reports"
)

// FindingSummary counts findings, and says how recent that is.
type FindingSummary struct {
	*inventory.FindingSummary
	Overdue   int64                   `json:"overdue"`
	FeedsAsOf core.Time               `json:"feedsAsOf,omitzero"`
	OpenByAge []*inventory.FindingAge `json:"openByAge,omitempty"`
}

// A SummarizeFindingsRequest asks for the counts of findings in a place, and of those that are open by age, if days divide the ages.
type SummarizeFindingsRequest struct {
	Place
	Days []int `json:"days,omitempty"`
}

// SummarizeFindings counts the findings in a group or repo.
func (o Operations) SummarizeFindings(ctx context.Context, in *SummarizeFindingsRequest) (*FindingSummary, error) {
	summary, err := o.p.Findings.Summarize(ctx, in.Within)
	if err != nil {
		return nil, err
	}
	overdue, err := o.p.Findings.CountOverdue(ctx, []*inventory.FindingSummary{summary})
	if err != nil {
		return nil, err
	}
	answer := &FindingSummary{FindingSummary: summary, Overdue: overdue[0]}
	if len(in.Days) > 0 {
		ages, err := o.p.Findings.CountAges(ctx, []*inventory.FindingSummary{summary}, in.Days)
		if err != nil {
			return nil, err
		}
		answer.OpenByAge = ages[0]
	}
	answer.FeedsAsOf, err = o.p.Sources.FeedsAsOf(ctx)
	return answer, err
}

// A CountFindingsRequest asks how many findings of a list have which values.
type CountFindingsRequest struct {
	core.ListRequest[*inventory.FindingFilter]
	Facets []inventory.FindingFacet
}

// An ImageCheck is a check of an image, and says how recent what it follows from is.
type ImageCheck struct {
	*reports.ImageCheck
	FeedsAsOf core.Time `json:"feedsAsOf,omitzero"`
}

// CheckImage decides whether an image passes a policy.
func (o Operations) CheckImage(ctx context.Context, in *reports.CheckRequest) (*ImageCheck, error) {
	check, err := o.p.ImageChecks.Check(ctx, *in)
	if err != nil {
		return nil, err
	}
	return o.ShowCheck(ctx, check)
}

// ShowCheck adds as of when the feeds are known.
func (o Operations) ShowCheck(ctx context.Context, check *reports.ImageCheck) (*ImageCheck, error) {
	asOf, err := o.p.Sources.FeedsAsOf(ctx)
	return &ImageCheck{check, asOf}, err
}

// CountFindings counts the findings of a list by their values.
func (o Operations) CountFindings(ctx context.Context, req *CountFindingsRequest) (*inventory.FindingFacets, error) {
	parts, err := inventory.FacetPartsOf(req.Facets)
	if err != nil {
		return nil, err
	}
	return countRows(ctx, &req.ListRequest, o.p.Findings.List, func(ctx context.Context, pages []core.Page[*inventory.Finding]) ([]*inventory.FindingFacets, error) {
		return o.p.Findings.Facets(ctx, pages, parts)
	})
}

// countRows counts the rows of a list by their values. It reads none of them.
func countRows[T, F, C any](ctx context.Context, req *core.ListRequest[F], list func(context.Context, core.ListRequest[F]) (core.Page[T], error), count func(context.Context, []core.Page[T]) ([]*C, error)) (*C, error) {
	req.Empty = true
	page, err := list(ctx, *req)
	if err != nil {
		return nil, err
	}
	counted, err := count(ctx, []core.Page[T]{page})
	if err != nil {
		return nil, err
	}
	return counted[0], nil
}

// A Ranking asks for what the findings of a list are of most.
type Ranking struct {
	core.ListRequest[*inventory.FindingFilter]
	By    string
	First int
}

// DefaultRanked is how many rows a ranking shows unless the caller says it.
const DefaultRanked = 10

func (r *Ranking) request() reports.RankingRequest {
	return reports.RankingRequest{Within: r.UIDP, Filter: r.Filter, By: cmp.Or(reports.RankingOrder(strings.ToUpper(r.By)), reports.ByFindings), First: cmp.Or(r.First, DefaultRanked)}
}

// GetTopVulnerabilities ranks the vulnerabilities of findings.
func (o Operations) GetTopVulnerabilities(ctx context.Context, in *Ranking) (*reports.FindingRanking, error) {
	return o.p.FindingRankings.Vulnerabilities(ctx, in.request())
}

// GetTopPackages ranks the packages that findings are about.
func (o Operations) GetTopPackages(ctx context.Context, in *Ranking) (*reports.FindingRanking, error) {
	return o.p.FindingRankings.Packages(ctx, in.request())
}

// GetUpgrades ranks the upgrades that do away with findings.
func (o Operations) GetUpgrades(ctx context.Context, in *Ranking) (*reports.UpgradeRanking, error) {
	return o.p.FindingRankings.Upgrades(ctx, in.request())
}

type (
	// An UpdateFindingsRequest decides about findings: those that UIDs lists, or those within a group or repo that match Where.
	UpdateFindingsRequest struct {
		UIDs       []core.UID               `json:"uids,omitempty"`
		Within     core.UID                 `json:"within,omitempty"`
		Where      *inventory.FindingFilter `json:"where,omitempty"`
		Finding    json.RawMessage          `json:"finding"` // the fields to change
		UpdateMask string                   `json:"updateMask,omitempty"`
		Background bool                     `json:"background,omitempty"`
	}
	// UpdateFindingsResponse has findings about which somebody has decided.
	UpdateFindingsResponse struct {
		UpdatedCount int                  `json:"updatedCount"`
		Findings     []*inventory.Finding `json:"findings"` // the first ones, by UID

		Operation *operations.Operation `json:"operation,omitempty"` // what decides about them in the background
	}
)

// maxShownFindings is the number of findings in the answer of an update.
const maxShownFindings = 200

// UpdateFindings decides about findings.
func (o Operations) UpdateFindings(ctx context.Context, in *UpdateFindingsRequest) (*UpdateFindingsResponse, error) {
	update := inventory.FindingUpdate{UIDs: in.UIDs, Within: in.Within, Where: in.Where}
	if in.Where != nil {
		update.Among = in.Where.Among
		update.Where.Among = nil
	}
	if fieldmask.IsNull(in.Finding) {
		in.Finding = []byte("{}")
	}
	update.Change = fieldmask.JSONInput[*inventory.Finding](in.Finding, fieldmask.SplitMask(in.UpdateMask))
	if in.Background {
		operation, err := o.p.Findings.UpdateInBackground(ctx, update)
		return &UpdateFindingsResponse{Findings: []*inventory.Finding{}, Operation: operation}, err
	}
	updated, err := o.p.Findings.Update(ctx, update)
	return &UpdateFindingsResponse{UpdatedCount: len(updated), Findings: updated[:min(len(updated), maxShownFindings)]}, err
}

type (
	// An AcceptanceRule is a rule that accepts findings.
	AcceptanceRule struct {
		UID           core.UID                  `json:"uid,omitempty" wire:"output"`
		Within        core.UID                  `json:"within" wire:"output"`
		Where         *inventory.FindingPattern `json:"where"`
		Note          string                    `json:"note"`
		ExpireTime    core.Time                 `json:"expireTime"`
		CreateTime    core.Time                 `json:"createTime,omitzero" wire:"output"`
		AcceptedCount int64                     `json:"acceptedCount" wire:"output"`
	}
	// GetAcceptanceRulesResponse has the rules that hold in a place.
	GetAcceptanceRulesResponse struct {
		AcceptanceRules []*AcceptanceRule `json:"acceptanceRules"`
	}
	// An PreviewAcceptanceRuleRequest asks what a rule would accept.
	PreviewAcceptanceRuleRequest struct {
		Within    core.UID                  `json:"within"`
		Where     *inventory.FindingPattern `json:"where"`
		PageSize  int                       `json:"pageSize,omitempty"`
		PageToken string                    `json:"pageToken,omitempty"`
	}
	// PreviewAcceptanceRuleResponse are findings that a rule would accept.
	PreviewAcceptanceRuleResponse struct {
		Findings      []*inventory.Finding `json:"findings"`
		NextPageToken string               `json:"nextPageToken,omitempty"`
		TotalCount    int64                `json:"totalCount,string"`
	}
)

// GetAcceptanceRules reads the rules that hold in a group or repo.
func (o Operations) GetAcceptanceRules(ctx context.Context, in *Place) (*GetAcceptanceRulesResponse, error) {
	rules, err := o.p.Findings.Patterns(ctx, in.Within)
	if err != nil {
		return nil, err
	}
	shown, err := o.showRules(ctx, rules)
	return &GetAcceptanceRulesResponse{shown}, err
}

func (o Operations) showRules(ctx context.Context, rules []*inventory.TriageRule) ([]*AcceptanceRule, error) {
	counts, err := o.p.Findings.CountAccepted(ctx, rules)
	if err != nil {
		return nil, err
	}
	shown := make([]*AcceptanceRule, len(rules))
	for i, r := range rules {
		shown[i] = &AcceptanceRule{r.UID, r.Scope, r.Pattern, r.Note, r.ExpireTime, r.CreateTime, counts[i]}
	}
	return shown, nil
}

// CreateAcceptanceRule makes a rule.
func (o Operations) CreateAcceptanceRule(ctx context.Context, in *AcceptanceRule) (*AcceptanceRule, error) {
	made, err := o.p.Findings.AcceptByPattern(ctx, inventory.TriageRule{Scope: in.Within, Pattern: patternOf(in.Where), Note: in.Note, ExpireTime: in.ExpireTime})
	if err != nil {
		return nil, err
	}
	shown, err := o.showRules(ctx, []*inventory.TriageRule{made})
	if err != nil {
		return nil, err
	}
	return shown[0], nil
}

// patternOf returns the conditions of a rule, which none are if they are left out.
func patternOf(given *inventory.FindingPattern) *inventory.FindingPattern {
	if given == nil {
		return &inventory.FindingPattern{}
	}
	return given
}

// PreviewAcceptanceRule lists what a rule would accept now.
func (o Operations) PreviewAcceptanceRule(ctx context.Context, in *PreviewAcceptanceRuleRequest) (*PreviewAcceptanceRuleResponse, error) {
	page, err := o.p.Findings.ListAcceptable(ctx, in.Within, patternOf(in.Where), core.ListRequest[*inventory.FindingFilter]{PageSize: in.PageSize, PageToken: in.PageToken})
	return &PreviewAcceptanceRuleResponse{listOrEmpty(page.Items), page.NextPageToken(), page.TotalCount}, err
}

type (
	// A DuePolicy says by when findings are to be fixed.
	DuePolicy struct {
		Within     core.UID  `json:"within"`
		UpdateTime core.Time `json:"updateTime,omitzero" wire:"output"`
		inventory.DueDays
	}
	// DuePolicyResponse has the policy that counts in a place, if there is one.
	DuePolicyResponse struct {
		Policy *DuePolicy `json:"policy,omitempty"`
	}
)

// GetDuePolicy reads the policy that counts in a group or repo.
func (o Operations) GetDuePolicy(ctx context.Context, in *Place) (*DuePolicyResponse, error) {
	return showPolicy(o.p.Findings.DuePolicy(ctx, in.Within))
}

// SetDuePolicy sets the policy of a group or repo.
func (o Operations) SetDuePolicy(ctx context.Context, in *DuePolicy) (*DuePolicyResponse, error) {
	return showPolicy(o.p.Findings.SetDuePolicy(ctx, inventory.DuePolicy{Scope: in.Within, DueDays: in.DueDays}))
}

func showPolicy(p *inventory.DuePolicy, err error) (*DuePolicyResponse, error) {
	if p == nil || err != nil {
		return &DuePolicyResponse{}, err
	}
	return &DuePolicyResponse{&DuePolicy{p.Scope, p.UpdateTime, p.DueDays}}, nil
}
