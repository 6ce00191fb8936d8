package resolvers

import (
	"context"
	"maps"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

// maxShownFindings is the number of findings in the payload of an update.
const maxShownFindings = 200

func (m mutations) UpdateFindings(ctx context.Context, input map[string]any) (*graph.UpdateFindingsPayload, error) {
	var u platform.FindingUpdate
	u.UIDs, _ = input["uids"].([]platform.UID)
	within, _ := input["within"].(*platform.UID)
	u.Within = valueOrZero(within)
	if where, _ := input["where"].(*scalar.FindingFilter); where != nil {
		u.Where, u.Among = &where.FindingFilter, where.UIDs
	}
	fields := maps.Clone(input)
	maps.DeleteFunc(fields, func(name string, _ any) bool { return name == "uids" || name == "within" || name == "where" })
	_, u.Change = decodeInput[*platform.Finding](fields)
	updated, err := m.p.Findings.Update(ctx, u)
	if err != nil {
		return nil, err
	}
	return &graph.UpdateFindingsPayload{UpdatedCount: len(updated), Findings: updated[:min(len(updated), maxShownFindings)]}, nil
}
