package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/operations"
)

// operationFields resolves the fields of operations.
type operationFields struct{}

func (root) Operation() graph.OperationResolver { return operationFields{} }

func (operationFields) CreatorIdentity(ctx context.Context, all []*operations.Operation) ([]*iam.Identity, error) {
	return followActor(ctx, all, func(o *operations.Operation) string { return o.Creator })
}

func (operationFields) Parent(ctx context.Context, all []*operations.Operation) ([]scalar.Node, error) {
	return readsOf(ctx).places(ctx, mapEach(all, func(o *operations.Operation) core.UID { return o.UID.Parent() }))
}

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
