package server

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"atrium/auth"
	"atrium/platform"
)

// admitRequests lets the gate decide which requests are worked on, and has the others
// refused. It runs before the authentication.
func (g *gate) admitRequests(refused *refuser) layer {
	return func(next http.Handler) http.Handler {
		if g.isOff() && g.slots == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			t := g.begin(w, r)
			defer t.end()
			if limit, err := t.admit(r); err != nil {
				refused.refuse(w, r, limit, err)
				return
			}
			next.ServeHTTP(t, r.WithContext(auth.WithGate(r.Context(), t)))
		})
	}
}

// admit counts a request for its presumed caller, and waits for a slot. A request with a
// token that is not known is counted when its caller has been found.
func (t *ticket) admit(r *http.Request) (limit string, err error) {
	authorization := r.Header["Authorization"]
	if len(authorization) == 1 {
		t.token = t.gate.hash(authorization[0])
		t.presumed = t.gate.presume(t.token, time.Now())
	}
	key := t.presumed
	if key.caller == "" {
		key.caller = peer(t.remote)
	}
	if t.presumed.caller != "" || len(authorization) == 0 {
		if limit, err = t.count(key.caller); err != nil {
			return limit, err
		}
	}
	return t.acquire(r.Context(), key)
}

// acquire waits for a slot of the gate.
func (t *ticket) acquire(ctx context.Context, key shareKey) (limit string, err error) {
	limit, err = t.gate.acquire(ctx, t, key)
	t.isAdmitted = err == nil && t.gate.slots > 0
	return limit, err
}

// identify counts a request for the caller that the authentication has found, unless it
// has been counted for it. The next request with the same token is presumed to have the
// same caller.
func (t *ticket) identify(actor *platform.Actor) (limit string, err error) {
	key := keyOf(actor)
	switch {
	case t.presumed == key:
	case key.organisation != "":
		t.gate.remember(t.token, key, actor.Expires)
	case t.presumed.caller != "": // the caller belongs to no organisation any more
		t.gate.forget(t.token)
	}
	return t.count(key.caller)
}

// keyOf returns the organisation and the key of a caller. The first organisation stands for
// a caller of several.
func keyOf(a *platform.Actor) shareKey {
	key := shareKey{caller: a.Key()}
	for i, uid := range a.Identities {
		if root := string(uid.Root()); i == 0 || root < key.organisation {
			key.organisation = root
		}
	}
	return key
}

// identifyCallers counts requests for the callers that the authentication has found, and
// has those above a limit refused.
func (g *gate) identifyCallers(refused *refuser) layer {
	return func(next http.Handler) http.Handler {
		if g.isOff() && g.slots == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if t, actor := findTicket(w), platform.ActorOf(r.Context()); t != nil && actor != nil {
				if limit, err := t.identify(actor); err != nil {
					refused.refuse(w, r, limit, err)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// admitOperation admits an operation of a caller on an open connection. It returns the name
// of the limit and an error if the operation is refused.
func (g *gate) admitOperation(ctx context.Context) (leave func(), limit string, err error) {
	actor := platform.ActorOf(ctx)
	if actor == nil || g.isOff() && g.slots == 0 {
		return func() {}, "", nil
	}
	t, key := &ticket{gate: g, ready: make(chan error, 1)}, keyOf(actor)
	if !g.isOff() {
		if t.quota, _, limit, err = g.enter(key.caller, time.Now()); err != nil {
			return nil, limit, err
		}
	}
	if limit, err = t.acquire(ctx, key); err != nil {
		t.leave()
		return nil, limit, err
	}
	return t.leave, "", nil
}

// writeHeaders sets the headers of draft-ietf-httpapi-ratelimit-headers: the limits and
// the remaining quota.
func (l *quotas) writeHeaders(h http.Header, left standing) {
	var policy, rest []string
	if l.rate > 0 {
		window := math.Ceil(float64(l.burst) / float64(l.rate))
		policy = append(policy, fmt.Sprintf(`"rate";q=%d;w=%.0f`, l.burst, window))
		rest = append(rest, fmt.Sprintf(`"rate";r=%d;t=%.0f`, left.requests, math.Ceil(left.full.Seconds())))
	}
	if l.inFlight > 0 {
		policy = append(policy, fmt.Sprintf(`"in-flight";q=%d;qu="concurrent-requests"`, l.inFlight))
		rest = append(rest, fmt.Sprintf(`"in-flight";r=%d`, left.slots))
	}
	h.Set("RateLimit-Policy", strings.Join(policy, ", "))
	h.Set("RateLimit", strings.Join(rest, ", "))
}

// peer returns the address at the other end of a connection. An IPv6 address stands for
// its whole /64 network.
func peer(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return "peer " + remote
	}
	address := at.Addr().Unmap().WithZone("")
	if address.Is6() {
		if network, err := address.Prefix(64); err == nil {
			address = network.Addr()
		}
	}
	return "peer " + address.String()
}
