package core

import "context"

// What the caller may do on an object follows from the UID of the object and the
// grants of the request. It needs no read.

// CallerCan reports whether the caller holds all of the capabilities on a
// resource. It is true if there are none.
func (r *Collection[T, F]) CallerCan(ctx context.Context, row T, capabilities []Capability) bool {
	return CapabilitySetOf(capabilities).Without(r.callerHolds(ctx, row)) == 0
}

// CallerCapabilities lists what the caller holds on a resource.
func (r *Collection[T, F]) CallerCapabilities(ctx context.Context, row T) []Capability {
	return r.callerHolds(ctx, row).List()
}

// callerHolds returns the capabilities of the caller on a resource. To read a
// resource that belongs to no organization, any grant with the capability suffices.
func (r *Collection[T, F]) callerHolds(ctx context.Context, row T) CapabilitySet {
	actor := ActorOf(ctx)
	if actor == nil {
		return 0
	}
	uid := r.Kind.UID(row)
	held := actor.CapabilitySetOn(uid)
	if r.Kind.ReadableBy(actor, uid) {
		held |= CapabilitySetOf([]Capability{r.Kind.List})
	}
	return held
}
