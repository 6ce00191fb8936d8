package resolvers

import (
	"context"

	"atrium/graph/scalar"
	"atrium/platform/iam"
)

// A connection of holders lists the identities that hold a capability on a
// group. It is made from their role bindings.

// Nodes returns the identities of the bindings, without those that the caller
// may not see.
func (r holderConnections) Nodes(ctx context.Context, all []*scalar.RoleBindingConnection) ([][]*iam.Identity, error) {
	var bindings []*iam.RoleBinding
	for _, connection := range all {
		bindings = append(bindings, connection.Nodes()...)
	}
	found, err := roleBindings{p: r.p}.Identity(ctx, bindings)
	if err := filterErrors(err, ignoreHidden); err != nil {
		return nil, err
	}
	return forEach(ctx, all, func(connection *scalar.RoleBindingConnection) ([]*iam.Identity, error) {
		identities := []*iam.Identity{}
		n := len(connection.Nodes())
		for _, identity := range found[:n] {
			if identity != nil {
				identities = append(identities, identity)
			}
		}
		found = found[n:]
		return identities, nil
	})
}

func bindingsOf(all []*scalar.RoleBindingEdge) []*iam.RoleBinding {
	return mapEach(all, func(e *scalar.RoleBindingEdge) *iam.RoleBinding { return e.Node })
}

func (r holderEdges) Node(ctx context.Context, all []*scalar.RoleBindingEdge) ([]*iam.Identity, error) {
	return roleBindings{p: r.p}.Identity(ctx, bindingsOf(all))
}

func (r holderEdges) Role(ctx context.Context, all []*scalar.RoleBindingEdge) ([]*iam.Role, error) {
	return roleBindings{p: r.p}.Role(ctx, bindingsOf(all))
}
