package resolvers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/iam"
)

func (queries) Viewer(ctx context.Context) (*core.Actor, error) {
	return core.ActorOf(ctx), core.RequireAuthenticated(ctx)
}

// viewers returns the loader of the caller, who is the only viewer that can be read.
func (r *reads) viewers() *loader[viewerKey, *core.Actor] {
	return loaderOf(r, func(ctx context.Context, keys []viewerKey) ([]*core.Actor, []error) {
		found, errs := make([]*core.Actor, len(keys)), make([]error, len(keys))
		for i, key := range keys {
			switch caller, err := core.RequireCaller(ctx); {
			case err != nil:
				errs[i] = err
			case key != viewerKeyOf(caller):
				errs[i] = core.NewNotFound(core.Ref{Name: "Viewer", Area: core.AreaIAM}, key)
			default:
				found[i] = caller
			}
		}
		return found, errs
	})
}

// A viewerKey identifies a caller in a global id.
type viewerKey string

// viewerKeyOf returns the key of a caller: a hash, so that no cache or log holds a subject that is, for
// example, an address of mail.
func viewerKeyOf(a *core.Actor) viewerKey {
	sum := sha256.Sum256([]byte(a.Issuer + "\n" + a.Subject))
	return viewerKey(hex.EncodeToString(sum[:16]))
}

// FindManyViewerByIDs reads the caller by its global id, which is its key too.
func (e entities) FindManyViewerByIDs(ctx context.Context, reps []*graph.ViewerByIDsInput) ([]*core.Actor, error) {
	return readRepresentations(ctx, readsOf(ctx).viewers(), mapEach(reps, func(r *graph.ViewerByIDsInput) viewerKey {
		_, key, _ := scalar.ParseGlobalID(string(r.ID))
		return viewerKey(key)
	}))
}

// The fields of the viewer are about the caller, so each list of parents holds
// one actor.

func (viewers) ID(_ context.Context, all []*core.Actor) ([]core.UID, error) {
	return mapEach(all, func(a *core.Actor) core.UID { return core.UID(viewerKeyOf(a)) }), nil
}

func (v viewers) Identities(ctx context.Context, all []*core.Actor) ([][]*iam.Identity, error) {
	return forEach(ctx, all, func(*core.Actor) ([]*iam.Identity, error) { return v.p.Identities.ListOwn(ctx) })
}

func (v viewers) RoleBindings(ctx context.Context, all []*core.Actor, window scalar.Window, where *scalar.RoleBindingFilter) ([]*scalar.RoleBindingConnection, error) {
	f := valueOrZero(where)
	return forEach(ctx, all, func(*core.Actor) (*scalar.RoleBindingConnection, error) {
		return newConnection(v.p.RoleBindings.ListOwn(ctx, request(ctx, core.UIDFilter{IDs: f.UIDs}, &f.RoleBindingFilter, window)))
	})
}

func (viewers) Capabilities(ctx context.Context, all []*core.Actor, within core.UID) ([][]core.Capability, error) {
	return forEach(ctx, all, func(a *core.Actor) ([]core.Capability, error) { return a.CapabilitiesOn(within) })
}

func (viewers) Can(ctx context.Context, all []*core.Actor, capability core.Capability, within core.UID) ([]bool, error) {
	return forEach(ctx, all, func(a *core.Actor) (bool, error) {
		held, err := a.CapabilitiesOn(within)
		return slices.Contains(held, capability), err
	})
}
