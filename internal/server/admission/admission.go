// Package admission decides which requests are worked on, before more of them is read than a small body.
//
//	limiter.go     a concurrency limit, and a queue whose length and time are bounded: one for
//	               slots, and one for connections to the database, which has no bounds
//	share.go       fair queueing: the queue is fair by organization and then by caller
//	quota.go       limits how many requests a caller sends, and has under way
//	request.go     a request; it lends its slot while it waits for the network
//	callers.go     presumes the caller of a token, before the token is verified
//
// It decides only who waits and who is refused, never what anybody may do. It does not write
// the refusals, log them or count them: the server does.
package admission

import (
	"context"
	"net/http"
	"time"

	"atrium/internal/auth"
	"atrium/platform/core"
)

// Settings configure a Controller. 0 turns a limit off.
type Settings struct {
	Slots       int // number of requests that work at the same time
	Connections int // number of connections to the database that requests use at the same time
	Rate        int // requests of a caller a second
	Burst       int // requests of a caller at once, after it has sent none for a while
	InFlight    int // requests of a caller that are under way at the same time

	// Shared are the identities whose tokens many people share, such as that of a gateway.
	Shared []core.UID

	// Client returns the key of a sender by its address, which stands for callers who are
	// not known.
	Client func(address string) string

	// Refuse answers a request that is refused. limit is the name of the limit, or "" if
	// the client has gone away.
	Refuse func(w http.ResponseWriter, r *http.Request, limit string, err error)
}

// The names of the limits in RateLimit headers, in the metric of refusals and in the log.
const (
	limitRate     = "rate"
	limitInFlight = "in-flight"
	limitQueue    = "queue" // too many requests of the organization wait for a slot
	limitWait     = "wait"  // the request has waited too long for a slot
)

// IsLimit reports whether a limit is one of a Controller.
func IsLimit(name string) bool {
	switch name {
	case limitRate, limitInFlight, limitQueue, limitWait:
		return true
	}
	return false
}

// A Controller admits requests and operations of all protocols. It is safe for concurrent
// use.
type Controller struct {
	*limiter
	connections *limiter
	settings    Settings
	quotas      *quotas
	callers     *callers
}

// New returns a Controller.
func New(s Settings) *Controller {
	return &Controller{newLimiter(s.Slots, true), newLimiter(s.Connections, false), s, newQuotas(s.Rate, s.Burst, s.InFlight), newCallers()}
}

func (c *Controller) isOff() bool { return c.quotas.isOff() && c.limiter.slots == 0 }

// AdmitRequests lets requests that are admitted pass, and has the others refused. It runs
// before the authentication.
func (c *Controller) AdmitRequests(next http.Handler) http.Handler {
	if c.isOff() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := c.begin(w, r)
		defer q.leave()
		if limit, err := q.admit(r); err != nil {
			c.settings.Refuse(w, r, limit, err)
			return
		}
		next.ServeHTTP(q, r.WithContext(core.WithTurns(auth.WithThrottle(r.Context(), q), q)))
	})
}

// admit counts a request for its presumed caller, and waits for a slot. A request with a
// token that is not known is counted when its caller has been found.
func (q *request) admit(r *http.Request) (limit string, err error) {
	authorization, people := r.Header["Authorization"], 1
	if len(authorization) == 1 {
		q.token = q.callers.hash(authorization[0])
		caller := q.callers.find(q.token, time.Now())
		q.presumed, people = caller.key, q.PeopleOf(caller.actor)
		defer func() {
			if err != nil { // the authentication, which notes the caller of other requests, does not run
				core.TraceOf(q.ctx).NoteCaller(caller.actor)
			}
		}()
	}
	key := q.presumed
	if key.Caller == "" {
		key.Caller = q.client()
	}
	if q.presumed.Caller != "" || len(authorization) == 0 {
		if limit, err = q.count(key.Caller, people); err != nil {
			return limit, err
		}
	}
	q.readEarly(r)
	return q.limiter.acquire(q.ctx, q, key)
}

// IdentifyCallers counts requests for the callers that the authentication has found, and
// has those above a limit refused.
func (c *Controller) IdentifyCallers(next http.Handler) http.Handler {
	if c.isOff() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q, actor := findRequest(w), core.ActorOf(r.Context()); q != nil && actor != nil {
			if limit, err := q.identify(actor); err != nil {
				c.settings.Refuse(w, r, limit, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// identify counts a request for the caller that the authentication has found, unless it
// has been counted for it, and lets it go on with a slot of the caller. The next request with the
// same token is presumed to have the same caller.
func (q *request) identify(actor *core.Actor) (limit string, err error) {
	key := keyOf(actor)
	switch {
	case q.presumed == key:
	case key.Organization != "":
		q.callers.remember(q.token, key, actor)
	case q.presumed.Caller != "": // the caller belongs to no organization any more
		q.callers.forget(q.token)
	}
	if limit, err = q.count(key.Caller, q.PeopleOf(actor)); err != nil || key.Organization == "" {
		return limit, err
	}
	return q.limiter.move(q.ctx, q, key)
}

// AdmitForwarded is AdmitRequests for requests that another service answers. A request counts
// for its caller, or for its address if its token is not valid here, which the other service
// may see differently. It gives up its slot before next works.
func (c *Controller) AdmitForwarded(verifier *auth.Verifier, next http.Handler) http.Handler {
	return c.AdmitRequests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q := findRequest(w); q != nil {
			if limit, err := q.forward(r, verifier); err != nil {
				c.settings.Refuse(w, r, limit, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	}))
}

// forward counts a request that another service answers, and gives up its slot.
func (q *request) forward(r *http.Request, verifier *auth.Verifier) (limit string, err error) {
	defer q.limiter.leave(q)
	if q.quotas.isOff() || q.counted != "" {
		return "", nil
	}
	ctx, err := verifier.Authorize(r.Context(), r.Header["Authorization"])
	switch {
	case err == nil:
		return q.identify(core.ActorOf(ctx))
	case core.AsError(err).Code == core.CodeResourceExhausted:
		return limitRate, err
	default:
		return q.count(q.client(), 1)
	}
}

// AdmitOperation admits an operation of a caller on an open connection, and returns its context. It
// returns the name of the limit and an error if the operation is refused.
func (c *Controller) AdmitOperation(ctx context.Context) (_ context.Context, leave func(), limit string, err error) {
	actor := core.ActorOf(ctx)
	if actor == nil || c.isOff() {
		return ctx, func() {}, "", nil
	}
	q, key := c.newRequest(ctx), keyOf(actor)
	if !c.quotas.isOff() {
		if q.quota, _, limit, err = c.quotas.enter(key.Caller, c.PeopleOf(actor), time.Now()); err != nil {
			return nil, nil, limit, err
		}
	}
	if limit, err = c.limiter.acquire(ctx, q, key); err != nil {
		q.leave()
		return nil, nil, limit, err
	}
	return core.WithTurns(ctx, q), q.leave, "", nil
}
