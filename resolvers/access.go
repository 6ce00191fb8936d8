package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

// accessGrants resolves the fields of what an identity had, and accessChanges those of changes.
type (
	accessGrants  struct{ p *platform.Platform }
	accessChanges struct{}
)

func (r root) AccessGrant() graph.AccessGrantResolver { return accessGrants(r) }

func (root) AccessChange() graph.AccessChangeResolver { return accessChanges{} }

func (q queries) AccessAt(ctx context.Context, window scalar.Window, group platform.UID, time platform.Time) (*scalar.AccessGrantConnection, error) {
	return newAccessConnection(q.p.AuditLog.AccessAt(ctx, accessRequest(platform.AccessRequest{Group: group, From: time}, window)))
}

func (q queries) AccessChanges(ctx context.Context, window scalar.Window, within platform.UID, from, to platform.Time, identity *platform.UID, actor *string) (*scalar.AccessChangeConnection, error) {
	req := platform.AccessRequest{Group: within, From: from, To: to, Identity: valueOrZero(identity), Actor: valueOrZero(actor)}
	return newAccessConnection(q.p.AuditLog.AccessChanges(ctx, accessRequest(req, window)))
}

// accessRequest returns a request for the page of a window.
func accessRequest(req platform.AccessRequest, window scalar.Window) platform.AccessRequest {
	req.Empty = window.IsEmpty()
	req.PageSize, req.After, req.Backward, req.Malformed = window.Page()
	return req
}

func newAccessConnection[T interface{ Cursor() string }](page platform.AccessPage[T], err error) (*scalar.AccessConnection[T], error) {
	if err != nil {
		return nil, err
	}
	return scalar.NewAccessConnection(page), nil
}

func (accessGrants) Group(ctx context.Context, all []*platform.AccessGrant) ([]*platform.Group, error) {
	found, err := follow(ctx, all, readsOf(ctx).groups(), func(g *platform.AccessGrant) platform.UID { return g.GroupUID })
	return found, filterErrors(err, ignoreNotFound)
}

func (accessGrants) Identity(ctx context.Context, all []*platform.AccessGrant) ([]*platform.Identity, error) {
	found, err := follow(ctx, all, readsOf(ctx).identities(), func(g *platform.AccessGrant) platform.UID { return g.IdentityUID })
	return found, filterErrors(err, ignoreNotFound)
}

func (accessGrants) Role(ctx context.Context, all []*platform.AccessGrant) ([]*platform.Role, error) {
	found, err := follow(ctx, all, readsOf(ctx).roles(), func(g *platform.AccessGrant) platform.UID { return g.RoleUID })
	return found, filterErrors(err, ignoreNotFound)
}

func (r accessGrants) Capabilities(ctx context.Context, all []*platform.AccessGrant) ([][]platform.Capability, error) {
	return r.p.AuditLog.AccessCapabilities(ctx, all)
}

func (accessChanges) Role(ctx context.Context, all []*platform.AccessChange) ([]*platform.Role, error) {
	found, err := follow(ctx, all, readsOf(ctx).roles(), func(c *platform.AccessChange) platform.UID { return c.RoleUID })
	return found, filterErrors(err, ignoreNotFound)
}
