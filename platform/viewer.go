package platform

import "context"

// What the caller may do on an object is decided as access is, from the object's
// UID and the grants of the request: nothing is read for it.

// CallerCan reports whether the caller holds each of capabilities on a resource;
// true of none.
func (r resources[T, F]) CallerCan(ctx context.Context, row *T, capabilities []Capability) bool {
	return setOf(capabilities).without(r.callerHolds(ctx, row)) == 0
}

// CallerCapabilities lists what the caller holds on a resource.
func (r resources[T, F]) CallerCapabilities(ctx context.Context, row *T) []Capability {
	return r.callerHolds(ctx, row).list()
}

// callerHolds is what the caller holds on a resource. What belongs to no
// organisation can be read by whoever holds that anywhere.
func (r resources[T, F]) callerHolds(ctx context.Context, row *T) capabilitySet {
	actor := ActorOf(ctx)
	if actor == nil {
		return 0
	}
	uid := r.kind.UID(row)
	held := actor.on(uid)
	if r.kind.readableBy(actor, uid) {
		held |= setOf([]Capability{r.kind.List})
	}
	return held
}
