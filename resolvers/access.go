package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
)

// accessGrants resolves the fields of what an identity had, and accessChanges those of changes.
type (
	accessGrants  struct{ p *platform.Platform }
	accessChanges struct{}
)

func (r root) AccessGrant() graph.AccessGrantResolver { return accessGrants(r) }

func (root) AccessChange() graph.AccessChangeResolver { return accessChanges{} }

func (q queries) AccessAt(ctx context.Context, window scalar.Window, within core.UID, time core.Time) (*scalar.AccessGrantConnection, error) {
	return newAccessConnection(q.p.AuditLog.AccessAt(ctx, accessRequest(events.AccessRequest{Group: within, From: time}, window)))
}

func (q queries) AccessChanges(ctx context.Context, window scalar.Window, within core.UID, from, to core.Time, identity *core.UID, actor *string) (*scalar.AccessChangeConnection, error) {
	req := events.AccessRequest{Group: within, From: from, To: to, Identity: valueOrZero(identity), Actor: valueOrZero(actor)}
	return newAccessConnection(q.p.AuditLog.AccessChanges(ctx, accessRequest(req, window)))
}

// accessRequest returns a request for the page of a window.
func accessRequest(req events.AccessRequest, window scalar.Window) events.AccessRequest {
	req.Empty = window.IsEmpty()
	req.PageSize, req.After, req.Backward, req.Malformed = window.Page()
	return req
}

func newAccessConnection[T interface{ Cursor() string }](page events.AccessPage[T], err error) (*scalar.AccessConnection[T], error) {
	if err != nil {
		return nil, err
	}
	return scalar.NewAccessConnection(page), nil
}

func (accessGrants) Binding(ctx context.Context, all []*events.AccessGrant) ([]*iam.RoleBinding, error) {
	found, err := follow(ctx, all, readsOf(ctx).roleBindings(), func(g *events.AccessGrant) core.UID { return g.BindingUID })
	return found, filterErrors(err, ignoreNotFound)
}

func (accessGrants) Group(ctx context.Context, all []*events.AccessGrant) ([]*iam.Group, error) {
	found, err := follow(ctx, all, readsOf(ctx).groups(), func(g *events.AccessGrant) core.UID { return g.GroupUID })
	return found, filterErrors(err, ignoreNotFound)
}

func (accessGrants) Identity(ctx context.Context, all []*events.AccessGrant) ([]*iam.Identity, error) {
	found, err := follow(ctx, all, readsOf(ctx).identities(), func(g *events.AccessGrant) core.UID { return g.IdentityUID })
	return found, filterErrors(err, ignoreNotFound)
}

func (accessGrants) Role(ctx context.Context, all []*events.AccessGrant) ([]*iam.Role, error) {
	found, err := follow(ctx, all, readsOf(ctx).roles(), func(g *events.AccessGrant) core.UID { return g.RoleUID })
	return found, filterErrors(err, ignoreNotFound)
}

func (r accessGrants) Capabilities(ctx context.Context, all []*events.AccessGrant) ([][]core.Capability, error) {
	return r.p.AuditLog.AccessCapabilities(ctx, all)
}

func (accessChanges) Role(ctx context.Context, all []*events.AccessChange) ([]*iam.Role, error) {
	found, err := follow(ctx, all, readsOf(ctx).roles(), func(c *events.AccessChange) core.UID { return c.RoleUID })
	return found, filterErrors(err, ignoreNotFound)
}
