package rpc

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	operationsv2 "atrium/gen/platform/operations/v2"
	"atrium/gen/platform/operations/v2/operationsv2connect"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/operations"
)

func operationsServices(p *platform.Platform, o connect.HandlerOption) []service {
	return []service{
		newService(operationsv2connect.NewOperationsServiceHandler(longRunning{p.LongRunning}, o)),
	}
}

type longRunning struct{ operations operations.Operations }

func (s longRunning) GetOperation(ctx context.Context, r *operationsv2.GetOperationRequest) (*operationsv2.Operation, error) {
	return convert(operation)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s longRunning) CancelOperation(ctx context.Context, r *operationsv2.CancelOperationRequest) (*operationsv2.Operation, error) {
	return convert(operation)(s.operations.Cancel(ctx, core.UID(r.GetUid())))
}

func operation(o *operations.Operation) *operationsv2.Operation {
	m := &operationsv2.Operation{
		Uid: string(o.UID), Kind: o.Kind, State: enumValue[operationsv2.OperationState](operationsv2.OperationState_value, o.State), Done: o.Done,
		Records: int32(o.Records), ProgressPercent: int32(o.Progress), Creator: o.Creator,
		CreateTime: timestamp(o.CreateTime), UpdateTime: timestamp(o.UpdateTime), EndTime: timestamp(o.EndTime), ExpireTime: timestamp(o.ExpireTime),
	}
	if o.Error != nil {
		m.Error = &operationsv2.OperationError{Code: int32(o.Error.Code), Message: o.Error.Message}
	}
	if len(o.Response) > 0 {
		m.Response = &structpb.Struct{}
		_ = m.Response.UnmarshalJSON(o.Response) // a report, which is an object
	}
	return m
}
