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

// limitRequests passes on requests within the limits of their caller, and answers the
// others with refuse. It runs after the authentication.
func (l *limits) limitRequests(refuse errorWriter) layer {
	return func(next http.Handler) http.Handler {
		if l.isOff() {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			caller := peer(r.RemoteAddr)
			if actor := platform.ActorOf(r.Context()); actor != nil {
				caller = actor.Key()
			}
			leave, left, err := l.enter(caller, time.Now())
			l.writeHeaders(w.Header(), left)
			if err != nil {
				refuse(w, r, err)
				return
			}
			defer leave()
			next.ServeHTTP(&admitted{w, leave}, r)
		})
	}
}

// limitStrangers runs before the authentication: a request with an invalid token counts
// for the address that it comes from. If an address has used up its limit, callers whose
// token can be verified with cached keys are still accepted, and callers whose token
// needs the database are not.
func (l *limits) limitStrangers(next http.Handler) http.Handler {
	if l.isOff() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gate := stranger{l, peer(r.RemoteAddr), w.Header()}
		next.ServeHTTP(w, r.WithContext(auth.WithGate(r.Context(), gate)))
	})
}

// A stranger is the sender of a token that has not been verified.
type stranger struct {
	limits  *limits
	address string
	header  http.Header
}

// Admit fails if the address has no request left.
func (s stranger) Admit() error {
	left, err := s.limits.checkQuota(s.address, time.Now())
	if err != nil {
		s.limits.writeHeaders(s.header, left)
	}
	return err
}

// Failed counts a request with an invalid token for its address.
func (s stranger) Failed(err error) error {
	if platform.AsError(err).Code == platform.CodeResourceExhausted {
		return err // Admit has returned this error
	}
	leave, left, exhausted := s.limits.enter(s.address, time.Now())
	s.limits.writeHeaders(s.header, left)
	if exhausted != nil {
		return exhausted
	}
	leave()
	return err
}

// operation counts an operation of a caller on an open connection.
func (l *limits) operation(ctx context.Context) (leave func(), err error) {
	actor := platform.ActorOf(ctx)
	if l.isOff() || actor == nil {
		return func() {}, nil
	}
	leave, _, err = l.enter(actor.Key(), time.Now())
	return leave, err
}

// writeHeaders sets the headers of draft-ietf-httpapi-ratelimit-headers: the limits and
// the remaining quota.
func (l *limits) writeHeaders(h http.Header, left standing) {
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

// admitted is the response of a request in flight. A stream is in flight only until it
// starts, because open streams have a separate limit.
type admitted struct {
	http.ResponseWriter
	leave func()
}

// WriteHeader ends the count of a request in flight if its response is a stream.
func (a *admitted) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols || strings.HasPrefix(a.Header().Get("Content-Type"), "text/event-stream") {
		a.leave()
	}
	a.ResponseWriter.WriteHeader(status)
}

// Flush sends what was written, for handlers that stream.
func (a *admitted) Flush() { _ = http.NewResponseController(a.ResponseWriter).Flush() }

// Unwrap lets http.ResponseController reach the connection.
func (a *admitted) Unwrap() http.ResponseWriter { return a.ResponseWriter }
