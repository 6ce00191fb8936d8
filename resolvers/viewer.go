package resolvers

import (
	"context"
	"slices"

	"atrium/graph/scalar"
	"atrium/platform"
)

func (queries) Viewer(ctx context.Context) (*platform.Actor, error) {
	return platform.ActorOf(ctx), platform.RequireAuthenticated(ctx)
}

// The fields of the viewer are about the caller, so each list of parents holds
// one actor.

func (v viewers) Identities(ctx context.Context, all []*platform.Actor) ([][]*platform.Identity, error) {
	return forEach(ctx, all, func(*platform.Actor) ([]*platform.Identity, error) { return v.p.Identities.ListOwn(ctx) })
}

func (v viewers) RoleBindings(ctx context.Context, all []*platform.Actor, window scalar.Window, where *scalar.RoleBindingFilter) ([]*scalar.RoleBindingConnection, error) {
	f := valueOrZero(where)
	return forEach(ctx, all, func(*platform.Actor) (*scalar.RoleBindingConnection, error) {
		return newConnection(v.p.RoleBindings.ListOwn(ctx, request(ctx, listScope(nil, nil, f.ByUID), &f.RoleBindingFilter, window)))
	})
}

func (viewers) Capabilities(ctx context.Context, all []*platform.Actor, on platform.UID) ([][]platform.Capability, error) {
	return forEach(ctx, all, func(a *platform.Actor) ([]platform.Capability, error) { return a.CapabilitiesOn(on) })
}

func (viewers) Can(ctx context.Context, all []*platform.Actor, capability platform.Capability, on platform.UID) ([]bool, error) {
	return forEach(ctx, all, func(a *platform.Actor) (bool, error) {
		held, err := a.CapabilitiesOn(on)
		return slices.Contains(held, capability), err
	})
}
