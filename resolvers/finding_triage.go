package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// maxShownFindings is the number of findings in the payload of an update.
const maxShownFindings = 200

func (m mutations) UpdateFindings(ctx context.Context, input map[string]any) (*graph.UpdateFindingsPayload, error) {
	var u inventory.FindingUpdate
	u.UIDs, _ = input["uids"].([]core.UID)
	within, _ := input["within"].(*core.UID)
	u.Within = valueOrZero(within)
	if where, _ := input["where"].(*scalar.FindingFilter); where != nil {
		u.Where, u.Among = where.Findings(), where.UIDs
	}
	_, u.Change = decodeInput[*inventory.Finding](without(input, "uids", "within", "where", "background"))
	if background, _ := input["background"].(*bool); valueOrZero(background) {
		operation, err := m.p.Findings.UpdateInBackground(ctx, u)
		if err != nil {
			return nil, err
		}
		return &graph.UpdateFindingsPayload{Findings: []*inventory.Finding{}, Operation: operation}, nil
	}
	updated, err := m.p.Findings.Update(ctx, u)
	if err != nil {
		return nil, err
	}
	return &graph.UpdateFindingsPayload{UpdatedCount: len(updated), Findings: updated[:min(len(updated), maxShownFindings)]}, nil
}

// acceptanceRules resolves the fields of rules of acceptance.
type acceptanceRules struct{ p *platform.Platform }

func (r root) AcceptanceRule() graph.AcceptanceRuleResolver { return acceptanceRules(r) }

func (acceptanceRules) Within(ctx context.Context, all []*inventory.TriageRule) ([]scalar.Node, error) {
	return readsOf(ctx).places(ctx, mapEach(all, func(t *inventory.TriageRule) core.UID { return t.Scope }))
}

// findingTriages resolves the fields of decisions in events.
type findingTriages struct{}

func (root) FindingTriage() graph.FindingTriageResolver { return findingTriages{} }

func (findingTriages) Within(ctx context.Context, all []*inventory.TriageChange) ([]scalar.Node, error) {
	return readsOf(ctx).places(ctx, mapEach(all, func(c *inventory.TriageChange) core.UID { return c.Scope }))
}

func (r acceptanceRules) AcceptedCount(ctx context.Context, all []*inventory.TriageRule) ([]int, error) {
	counts, err := r.p.Findings.CountAccepted(ctx, all)
	return mapEach(counts, func(n int64) int { return int(n) }), err
}

func (q queries) AcceptanceRules(ctx context.Context, within core.UID) ([]*inventory.TriageRule, error) {
	return q.p.Findings.Patterns(ctx, within)
}

func (q queries) AcceptanceRulePreview(ctx context.Context, window scalar.Window, within core.UID, where inventory.FindingPattern) (*scalar.FindingConnection, error) {
	req := request[*inventory.FindingFilter](ctx, core.UIDFilter{}, nil, window)
	return newConnection(q.p.Findings.ListAcceptable(ctx, within, &where, req))
}

func (m mutations) CreateAcceptanceRule(ctx context.Context, input map[string]any) (*graph.CreateAcceptanceRulePayload, error) {
	where, _ := input["where"].(inventory.FindingPattern)
	rule := inventory.TriageRule{Pattern: &where}
	rule.Scope, _ = input["within"].(core.UID)
	rule.Note, _ = input["note"].(string)
	rule.ExpireTime, _ = input["expireTime"].(core.Time)
	made, err := m.p.Findings.AcceptByPattern(ctx, rule)
	if err != nil {
		return nil, err
	}
	return &graph.CreateAcceptanceRulePayload{Rule: made}, nil
}

func (m mutations) DeleteAcceptanceRule(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("AcceptanceRule", input, m.p.Findings.DeletePattern(ctx, input.UID))
}
