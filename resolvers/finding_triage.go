package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
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
	_, u.Change = decodeInput[*inventory.Finding](without(input, "uids", "within", "where"))
	updated, err := m.p.Findings.Update(ctx, u)
	if err != nil {
		return nil, err
	}
	return &graph.UpdateFindingsPayload{UpdatedCount: len(updated), Findings: updated[:min(len(updated), maxShownFindings)]}, nil
}
