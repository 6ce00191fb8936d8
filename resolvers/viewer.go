package resolvers

import (
	"context"
	"slices"

	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/iam"
)

func (queries) Viewer(ctx context.Context) (*core.Actor, error) {
	return core.ActorOf(ctx), core.RequireAuthenticated(ctx)
}

// The fields of the viewer are about the caller, so each list of parents holds
// one actor.

func (v viewers) Identities(ctx context.Context, all []*core.Actor) ([][]*iam.Identity, error) {
	return forEach(ctx, all, func(*core.Actor) ([]*iam.Identity, error) { return v.p.Identities.ListOwn(ctx) })
}

func (v viewers) RoleBindings(ctx context.Context, all []*core.Actor, window scalar.Window, where *scalar.RoleBindingFilter) ([]*scalar.RoleBindingConnection, error) {
	f := valueOrZero(where)
	return forEach(ctx, all, func(*core.Actor) (*scalar.RoleBindingConnection, error) {
		return newConnection(v.p.RoleBindings.ListOwn(ctx, request(ctx, listScope(nil, nil, f.ByUID), &f.RoleBindingFilter, window)))
	})
}

func (viewers) Capabilities(ctx context.Context, all []*core.Actor, on core.UID) ([][]core.Capability, error) {
	return forEach(ctx, all, func(a *core.Actor) ([]core.Capability, error) { return a.CapabilitiesOn(on) })
}

func (viewers) Can(ctx context.Context, all []*core.Actor, capability core.Capability, on core.UID) ([]bool, error) {
	return forEach(ctx, all, func(a *core.Actor) (bool, error) {
		held, err := a.CapabilitiesOn(on)
		return slices.Contains(held, capability), err
	})
}
