package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/platform/core"
	"atrium/platform/operations"
)

func (q queries) Operation(ctx context.Context, uid core.UID) (*operations.Operation, error) {
	return q.p.LongRunning.Get(ctx, uid)
}

func (m mutations) CancelOperation(ctx context.Context, input graph.CancelOperationInput) (*graph.CancelOperationPayload, error) {
	o, err := m.p.LongRunning.Cancel(ctx, input.UID)
	if err != nil {
		return nil, err
	}
	return &graph.CancelOperationPayload{Operation: o}, nil
}
