package resolvers

import (
	"context"
	"slices"

	"atrium/graph/scalar"
	"atrium/platform"
)

func (queries) Viewer(ctx context.Context) (*platform.Actor, error) {
	actor := platform.ActorOf(ctx)
	if actor == nil {
		return nil, platform.Unauthenticated("a bearer token is needed")
	}
	return actor, nil
}

func (v viewers) Identities(ctx context.Context, _ *platform.Actor) ([]*platform.Identity, error) {
	own, err := v.p.Identities.Own(ctx)
	remember(ctx, own)
	return own, err
}

func (v viewers) RoleBindings(ctx context.Context, _ *platform.Actor, where *scalar.RoleBindingFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.RoleBindingConnection, error) {
	f := or(where)
	return list(ctx, v.p.RoleBindings.ListOwn, within(nil, nil, f.ByUID), f.RoleBindingFilter, window{orderBy, first, after, last, before, skip})
}

func (viewers) Capabilities(_ context.Context, a *platform.Actor, on platform.UID) ([]platform.Capability, error) {
	return a.CapabilitiesOn(on)
}

func (viewers) Can(_ context.Context, a *platform.Actor, capability platform.Capability, on platform.UID) (bool, error) {
	held, err := a.CapabilitiesOn(on)
	return slices.Contains(held, capability), err
}
