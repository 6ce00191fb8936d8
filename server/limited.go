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

// of lets through the requests that are within the limits of their caller, and
// answers the others with refuse. It stands behind the authentication.
func (l *limits) of(refuse errorWriter) layer {
	return func(next http.Handler) http.Handler {
		if l.off() {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			caller := peer(r.RemoteAddr)
			if actor := platform.ActorOf(r.Context()); actor != nil {
				caller = actor.Key()
			}
			leave, left, err := l.enter(caller, time.Now())
			l.tell(w.Header(), left)
			if err != nil {
				refuse(w, r, err)
				return
			}
			defer leave()
			next.ServeHTTP(&admitted{w, leave}, r)
		})
	}
}

// strangers stands before the authentication: a request whose token proves
// nobody counts for the address that it comes from. A caller whose token is
// verified by keys at hand is never kept out, though others at the address may
// have used the limit up; one whose token needs a look into the database is.
func (l *limits) strangers(next http.Handler) http.Handler {
	if l.off() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gate := stranger{l, peer(r.RemoteAddr), w.Header()}
		next.ServeHTTP(w, r.WithContext(auth.WithGate(r.Context(), gate)))
	})
}

// A stranger is the sender of a token that proves nobody so far.
type stranger struct {
	limits  *limits
	address string
	header  http.Header
}

// Admit refuses where the address has no request left.
func (s stranger) Admit() error {
	left, err := s.limits.exhausted(s.address, time.Now())
	if err != nil {
		s.limits.tell(s.header, left)
	}
	return err
}

// Failed counts a request of the address.
func (s stranger) Failed(err error) error {
	if platform.AsError(err).Code == platform.CodeResourceExhausted {
		return err // by Admit
	}
	leave, left, exhausted := s.limits.enter(s.address, time.Now())
	s.limits.tell(s.header, left)
	if exhausted != nil {
		return exhausted
	}
	leave()
	return err
}

// operation counts what a caller asks for on a connection that is open already.
func (l *limits) operation(ctx context.Context) (leave func(), err error) {
	actor := platform.ActorOf(ctx)
	if l.off() || actor == nil {
		return func() {}, nil
	}
	leave, _, err = l.enter(actor.Key(), time.Now())
	return leave, err
}

// tell says in the fields of draft-ietf-httpapi-ratelimit-headers what there is
// and what is left.
func (l *limits) tell(h http.Header, left standing) {
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

// peer names who is at the other end of a connection. Who has an address of
// IPv6 has all of its /64.
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

// admitted is the answer to a request under way. A stream is so up to its
// start: how many a caller holds open is a limit of its own.
type admitted struct {
	http.ResponseWriter
	leave func()
}

// WriteHeader sees what kind of answer it is.
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
