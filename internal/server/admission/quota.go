package admission

import (
	"fmt"
	"hash/maphash"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"atrium/internal/auth"
	"atrium/internal/lru"
	"atrium/platform/core"
)

// quotas count and limit the requests of each caller.
type quotas struct {
	rate, burst, inFlight int      // 0 turns rate or inFlight off
	policy                []string // header of the limits of one person, which all responses share
	sharedPolicy          []string // the same for a shared identity

	lock   sync.Mutex
	counts *lru.Cache[string, *quota]
}

// A quota holds the recent requests of one caller.
type quota struct {
	tokens float64   // requests that could come at once at the time update
	update time.Time // last time that tokens was computed
	open   int
	people int // how many people the caller stands for
}

// peopleOfShared is how many people a shared identity stands for: its limits are as many times those of
// one. With the default limits these are about as many requests as may wait, so that the share of its
// organization limits it.
const peopleOfShared = 50

// PeopleOf returns how many people a caller stands for.
func (c *Controller) PeopleOf(actor *core.Actor) int {
	if actor != nil && slices.ContainsFunc(actor.Identities, func(uid core.UID) bool { return slices.Contains(c.settings.Shared, uid) }) {
		return peopleOfShared
	}
	return 1
}

// maxQuotas limits the memory of quotas to about 15 MB. The least recently used quota
// is dropped. This has an effect only if more callers send requests within two seconds.
const maxQuotas = 1 << 16

func newQuotas(perSecond, burst, inFlight int) *quotas {
	l := &quotas{rate: perSecond, burst: burst, inFlight: inFlight, counts: lru.New[string, *quota](maxQuotas, nil)}
	l.policy, l.sharedPolicy = []string{l.joinPolicy(1)}, []string{l.joinPolicy(peopleOfShared)}
	return l
}

func (l *quotas) isOff() bool { return l.rate == 0 && l.inFlight == 0 }

// A standing holds the remaining quota of a caller.
type standing struct {
	requests int           // number of requests that may come at once
	full     time.Duration // time until the whole burst is available again
	slots    int           // number of free slots for requests under way
	policy   []string      // header of the limits
}

// enter counts a request of a caller, which is in flight until leave is called. If the
// caller has reached a limit, it returns the name of the limit and an error.
func (l *quotas) enter(caller string, people int, now time.Time) (q *quota, left standing, limit string, err error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	q = l.refill(caller, people, now)
	within := l.rate == 0 || q.tokens >= 1
	free := l.inFlight == 0 || q.open < l.inFlight*q.people
	switch {
	case !within:
		limit, err = limitRate, l.rateError(q)
	case !free:
		limit, err = limitInFlight, exhaustedError("the caller has too many concurrent requests", time.Second)
	default:
		q.open++
	}
	if within {
		q.tokens--
	}
	if left = l.remaining(q); err != nil {
		q = nil
	}
	return q, left, limit, err
}

// leave ends the count of a request in flight.
func (l *quotas) leave(q *quota) {
	l.lock.Lock()
	defer l.lock.Unlock()
	q.open--
}

// charge counts further requests of a caller. A caller must wait for no longer than an empty quota takes to fill.
func (l *quotas) charge(q *quota, requests float64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	q.tokens = max(q.tokens-requests, -float64(l.burst*q.people))
}

// check fails if a caller has no request left. It does not count one.
func (l *quotas) check(caller string, now time.Time) (left standing, err error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	q := l.refill(caller, 1, now)
	if l.rate > 0 && q.tokens < 1 {
		err = l.rateError(q)
	}
	return l.remaining(q), err
}

// refill returns the quota of a caller with the requests that it has earned until now. It
// creates the quota if there is none.
func (l *quotas) refill(caller string, people int, now time.Time) *quota {
	burst, rate := float64(l.burst*people), float64(l.rate*people)
	q, known := l.counts.Get(caller)
	if !known {
		q = &quota{tokens: burst, update: now, people: people}
		l.counts.Add(caller, q)
	}
	if passed := now.Sub(q.update); passed > 0 {
		q.tokens, q.update = min(burst, q.tokens+passed.Seconds()*rate), now
	}
	return q
}

func (l *quotas) remaining(q *quota) standing {
	left := standing{requests: max(0, int(q.tokens)), slots: max(0, l.inFlight*q.people-q.open), policy: l.policy}
	if q.people > 1 {
		left.policy = l.sharedPolicy
	}
	if l.rate > 0 {
		left.full = l.timeToEarn(q, float64(l.burst*q.people)-q.tokens)
	}
	return left
}

func (l *quotas) rateError(q *quota) error {
	const step = 10 * time.Millisecond // few different times, so that few different answers are kept
	wait := l.timeToEarn(q, 1-q.tokens)
	return exhaustedError("the caller has exceeded its rate limit", (wait + step - 1).Truncate(step))
}

// timeToEarn returns the time until a caller may send n more requests.
func (l *quotas) timeToEarn(q *quota, n float64) time.Duration {
	return time.Duration(n / float64(l.rate*q.people) * float64(time.Second)).Round(time.Millisecond)
}

func exhaustedError(description string, wait time.Duration) error {
	return &core.Error{
		Code: core.CodeResourceExhausted, Reason: "RESOURCE_EXHAUSTED",
		Message: "Resource exhausted: " + description, RetryAfter: max(wait, time.Millisecond),
	}
}

// writeHeaders sets the headers of draft-ietf-httpapi-ratelimit-headers: the limits and
// the remaining quota.
func (l *quotas) writeHeaders(h http.Header, left standing) {
	var rest []string
	if l.rate > 0 {
		rest = append(rest, fmt.Sprintf(`"rate";r=%d;t=%.0f`, left.requests, math.Ceil(left.full.Seconds())))
	}
	if l.inFlight > 0 {
		rest = append(rest, fmt.Sprintf(`"in-flight";r=%d`, left.slots))
	}
	h["Ratelimit-Policy"], h["Ratelimit"] = left.policy, []string{strings.Join(rest, ", ")} // as net/http spells them
}

// joinPolicy returns the header of the limits of a caller that stands for some people.
func (l *quotas) joinPolicy(people int) string {
	var policy []string
	if l.rate > 0 {
		policy = append(policy, fmt.Sprintf(`"rate";q=%d;w=%.0f`, l.burst*people, math.Ceil(float64(l.burst)/float64(l.rate))))
	}
	if l.inFlight > 0 {
		policy = append(policy, fmt.Sprintf(`"in-flight";q=%d;qu="concurrent-requests"`, l.inFlight*people))
	}
	return strings.Join(policy, ", ")
}

// count counts the request for the quota of a caller, who stands for some people, and for no other one.
func (q *request) count(caller string, people int) (limit string, err error) {
	if q.quotas.isOff() || q.counted == caller {
		return "", nil
	}
	if q.quota != nil {
		q.quotas.leave(q.quota)
		q.quota = nil
	}
	counted, left, limit, err := q.quotas.enter(caller, people, time.Now())
	q.quotas.writeHeaders(q.Header(), left)
	if err == nil {
		q.quota, q.counted = counted, caller
	}
	return limit, err
}

// forger returns the caller for whom invalid tokens count: the address together with the
// claimant, so that neither other claimants nor requests without a token pay for them. It has
// the hash of the claimant, because the texts of a token can be long.
func (q *request) forger(of auth.Claimant) string {
	return fmt.Sprintf("forger %x %s", maphash.Comparable(q.callers.seed, of), q.client())
}

// Admit fails if the address of the request has sent too many invalid tokens of a claimant.
func (q *request) Admit(of auth.Claimant, isKnown func() bool) error {
	left, err := q.quotas.check(q.forger(of), time.Now())
	if err == nil || isKnown() {
		return nil
	}
	if !q.isSocket.Load() {
		q.quotas.writeHeaders(q.Header(), left)
	}
	core.TraceOf(q.ctx).NoteLimit(limitRate)
	return err
}

// Failed counts a request with an invalid token for its address and the claimant.
func (q *request) Failed(of auth.Claimant, err error) error {
	if core.AsError(err).Code == core.CodeResourceExhausted {
		return err // Admit has returned this error
	}
	q.callers.forget(q.token)
	count := q.count
	if q.isSocket.Load() {
		count = q.countOnce
	}
	if limit, exhausted := count(q.forger(of), 1); exhausted != nil {
		core.TraceOf(q.ctx).NoteLimit(limit)
		return exhausted
	}
	return err
}

// countOnce counts an operation on a websocket for the quota of a caller. It changes nothing
// of the request, which all operations share.
func (q *request) countOnce(caller string, people int) (limit string, err error) {
	if q.quotas.isOff() {
		return "", nil
	}
	counted, _, limit, err := q.quotas.enter(caller, people, time.Now())
	if err == nil {
		q.quotas.leave(counted)
	}
	return limit, err
}
