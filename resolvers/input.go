package resolvers

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// decodeInput splits an input into the uid or parent it is for, and its fields,
// which the core decodes like the body of a REST request. An input is a map and
// not a struct because absent and null fields mean different things.
func decodeInput[T any](input map[string]any) (core.UID, fieldmask.Input[T]) {
	mask, _ := input["updateMask"].([]string)
	fields := maps.Clone(input)
	maps.DeleteFunc(fields, func(name string, _ any) bool {
		return name == "uid" || name == "parent" || name == "updateMask" || slices.Contains(conditionNames, name)
	})
	var malformed []fieldmask.Violation
	if list, isGiven := fields["labels"].([]*core.Label); isGiven && list != nil {
		fields["labels"], malformed = decodeLabels(list)
	}
	body, _ := json.Marshal(fields) // cannot fail, because the fields were decoded from JSON
	return inputTarget(input), fieldmask.JSONInput[T](body, mask).Malformed(malformed...)
}

// conditionNames are the fields of inputs that are conditions of the change.
var conditionNames = []string{"ifMatch", "idempotencyKey", "validateOnly"}

// withConditions returns the context of a change under the conditions of its input.
func withConditions(ctx context.Context, input map[string]any) context.Context {
	match, _ := input["ifMatch"].(*string)
	key, _ := input["idempotencyKey"].(*string)
	validated, _ := input["validateOnly"].(*bool)
	return core.WithConditions(ctx, &core.Conditions{IfMatch: valueOrZero(match), IdempotencyKey: valueOrZero(key), ValidateOnly: valueOrZero(validated)})
}

// withDeletionConditions returns the context of a deletion under the conditions of its input.
func withDeletionConditions(ctx context.Context, input scalar.Delete) context.Context {
	return core.WithConditions(ctx, &core.Conditions{IfMatch: valueOrZero(input.IfMatch), ValidateOnly: valueOrZero(input.ValidateOnly)})
}

// refuseConditions returns the violations of a request of a batch, which is made as a whole: one of it cannot have conditions.
func refuseConditions(request map[string]any) (malformed []fieldmask.Violation) {
	for _, name := range conditionNames {
		if _, isGiven := request[name]; isGiven {
			malformed = append(malformed, fieldmask.Violation{Field: name, Description: "is for a single change, not for one of a batch"})
		}
	}
	return malformed
}

// decodeLabels converts a list of labels into the map that the core decodes.
func decodeLabels(list []*core.Label) (core.Labels, []fieldmask.Violation) {
	labels := core.Labels{}
	for _, label := range list {
		if _, isKnown := labels[label.Key]; isKnown {
			return nil, []fieldmask.Violation{{Field: "labels", Description: "must have each key once"}}
		}
		labels[label.Key] = label.Value
	}
	return labels, nil
}

// without returns an input without fields that are no fields of the kind.
func without(input map[string]any, names ...string) map[string]any {
	fields := maps.Clone(input)
	maps.DeleteFunc(fields, func(name string, _ any) bool { return slices.Contains(names, name) })
	return fields
}

// inputTarget returns the uid of an input, or its parent when it has no uid.
func inputTarget(input map[string]any) core.UID {
	if uid, ok := input["uid"].(core.UID); ok {
		return uid
	}
	if parent, ok := input["parent"].(*core.UID); ok { // an optional parent
		return valueOrZero(parent)
	}
	parent, _ := input["parent"].(core.UID)
	return parent
}

type listEach[T, F any] func(context.Context, core.ListRequest[F], []core.UIDFilter) ([]core.Page[T], []error)

// newCreated returns the payload of a mutation that creates an object below a parent.
func newCreated[T, F any](ctx context.Context, siblings listEach[T, F], parent core.UID, made T, err error) (*scalar.Created[T], error) {
	if err != nil {
		return nil, err
	}
	return &scalar.Created[T]{Node: made, Edge: newEdges(ctx, siblings, parent, made)[0]}, nil
}

// newUpdated returns the payload of a mutation that updates an object.
func newUpdated[T any](changed T, err error) (*scalar.Updated[T], error) {
	if err != nil {
		return nil, err
	}
	return &scalar.Updated[T]{Node: changed}, nil
}

// newDeleted returns the payload of a mutation that deletes an object of a GraphQL type.
func newDeleted(typeName string, input scalar.Delete, err error) (*scalar.Deleted, error) {
	if err != nil {
		return nil, err
	}
	return &scalar.Deleted{DeletedID: scalar.GlobalID(typeName, string(input.UID)), DeletedUID: input.UID}, nil
}

// newEdges returns an edge for each created object, with a cursor in the default
// list of the parent's children. A caller who may create but not list gets edges
// without cursors.
func newEdges[T, F any](ctx context.Context, siblings listEach[T, F], parent core.UID, made ...T) []*scalar.Edge[T] {
	// A page of no children reads nothing from the store, and can make cursors.
	pages, errs := siblings(ctx, core.ListRequest[F]{}, []core.UIDFilter{{ChildrenOf: parent, IDs: []core.UID{}}})
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
