package resolvers

import (
	"context"
	"encoding/json"
	"maps"

	"atrium/graph/scalar"
	"atrium/platform"
)

// decoded takes an input apart: where in the tree (uid or parent), and the
// fields, which the core decodes as it does a body of REST. Which fields are
// there and which are null says what changes, so an input is no Go struct.
func decoded[T any](input map[string]any) (platform.UID, platform.Input[T]) {
	mask, _ := input["updateMask"].([]string)
	fields := maps.Clone(input)
	maps.DeleteFunc(fields, func(name string, _ any) bool { return name == "uid" || name == "parent" || name == "updateMask" })
	body, _ := json.Marshal(fields) // decoded from JSON: it cannot fail
	return placeIn(input), platform.JSONInput[T](body, mask)
}

func placeIn(input map[string]any) platform.UID {
	if uid, ok := input["uid"].(platform.UID); ok {
		return uid
	}
	if parent, ok := input["parent"].(*platform.UID); ok { // one that may be left out
		return or(parent)
	}
	parent, _ := input["parent"].(platform.UID)
	return parent
}

type listEach[T, F any] func(context.Context, platform.ListRequest[F], []platform.UIDFilter) ([]platform.Page[T], []error)

// create answers a mutation that makes something below a parent.
func create[T, F any](ctx context.Context, do func(context.Context, platform.UID, platform.Input[T]) (*T, error), siblings listEach[T, F], input map[string]any) (*scalar.Created[T], error) {
	parent, in := decoded[T](input)
	made, err := do(ctx, parent, in)
	if err != nil {
		return nil, err
	}
	return &scalar.Created[T]{Node: made, Edge: edges(ctx, siblings, parent, made)[0]}, nil
}

// update answers a mutation that changes something.
func update[T any](ctx context.Context, do func(context.Context, platform.UID, platform.Input[T]) (*T, error), input map[string]any) (*scalar.Updated[T], error) {
	uid, in := decoded[T](input)
	changed, err := do(ctx, uid, in)
	if err != nil {
		return nil, err
	}
	return &scalar.Updated[T]{Node: changed}, nil
}

// remove answers a mutation that deletes something of a GraphQL type.
func remove(ctx context.Context, do func(context.Context, platform.UID) error, typeName string, input scalar.Delete) (*scalar.Deleted, error) {
	if err := do(ctx, input.UID); err != nil {
		return nil, err
	}
	return &scalar.Deleted{DeletedID: scalar.GlobalID(typeName, string(input.UID)), DeletedUID: input.UID}, nil
}

// edges gives what was made cursors of the list of their parent's children, in
// its default order. They are none to a caller who may create but not list.
func edges[T, F any](ctx context.Context, siblings listEach[T, F], parent platform.UID, made ...*T) []*scalar.Edge[T] {
	// A page of none of the children is not read, but can make cursors.
	pages, errs := siblings(ctx, platform.ListRequest[F]{}, []platform.UIDFilter{{ChildrenOf: parent, IDs: []platform.UID{}}})
	page := pages[0]
	page.Items = made
	all := make([]*scalar.Edge[T], len(made))
	for i, node := range made {
		all[i] = scalar.NewEdge(node, nil)
		if errs[0] == nil {
			all[i] = scalar.NewEdge(node, func() string { return page.Cursor(i) })
		}
	}
	return all
}
