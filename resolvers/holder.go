package resolvers

import (
	"context"

	"atrium/graph/scalar"
	"atrium/platform"
)

// A connection of holders lists the identities that hold a capability on a
// group. It is made from their role bindings.

// Nodes returns the identities of the bindings, without those that the caller
// may not see.
func (r holderConnections) Nodes(ctx context.Context, all []*scalar.RoleBindingConnection) ([][]*platform.Identity, error) {
	var bindings []*platform.RoleBinding
	for _, connection := range all {
		bindings = append(bindings, connection.Nodes()...)
	}
	found, err := roleBindings{p: r.p}.Identity(ctx, bindings)
	if err := filterErrors(err, ignoreHidden); err != nil {
		return nil, err
	}
	return forEach(ctx, all, func(connection *scalar.RoleBindingConnection) ([]*platform.Identity, error) {
		identities := []*platform.Identity{}
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

func bindingsOf(all []*scalar.RoleBindingEdge) []*platform.RoleBinding {
	return mapEach(all, func(e *scalar.RoleBindingEdge) *platform.RoleBinding { return e.Node })
}

func (r holderEdges) Node(ctx context.Context, all []*scalar.RoleBindingEdge) ([]*platform.Identity, error) {
	return roleBindings{p: r.p}.Identity(ctx, bindingsOf(all))
}

func (r holderEdges) Role(ctx context.Context, all []*scalar.RoleBindingEdge) ([]*platform.Role, error) {
	return roleBindings{p: r.p}.Role(ctx, bindingsOf(all))
}
