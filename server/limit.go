package server

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"atrium/platform"
)

// limits counts and limits the requests of each caller.
type limits struct {
	rate, burst, inFlight int // 0 turns rate or inFlight off

	lock   sync.Mutex
	counts *simplelru.LRU[string, *count]
}

// A count holds the recent requests of one caller.
type count struct {
	recent *rate.Limiter
	open   int
}

// maxCounts limits the memory of limits to about 15 MB. The least recently used count
// is dropped. This has an effect only if more callers send requests within two seconds.
const maxCounts = 1 << 16

func newLimits(perSecond, burst, inFlight int) *limits {
	counts, err := simplelru.NewLRU[string, *count](maxCounts, nil)
	if err != nil {
		panic(err) // fails only if the size is not positive
	}
	return &limits{rate: perSecond, burst: burst, inFlight: inFlight, counts: counts}
}

func (l *limits) isOff() bool { return l.rate == 0 && l.inFlight == 0 }

// A standing holds the remaining quota of a caller.
type standing struct {
	requests int           // number of requests that may come at once
	full     time.Duration // time until the whole burst is available again
	slots    int           // number of free slots for requests under way
}

// enter counts a request of a caller, which is in flight until leave is called. If the
// caller has reached a limit, it returns an error and no leave.
func (l *limits) enter(caller string, now time.Time) (leave func(), left standing, err error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	c := l.count(caller)
	within := l.rate == 0 || c.recent.AllowN(now, 1)
	free := l.inFlight == 0 || c.open < l.inFlight
	if within && free {
		c.open++
	}
	tokens := c.recent.TokensAt(now)
	left = l.remaining(c, tokens)
	switch {
	case !within:
		return nil, left, l.rateError(tokens)
	case !free:
		return nil, left, exhaustedError("too many requests of the caller are under way", time.Second)
	}
	return sync.OnceFunc(func() {
		l.lock.Lock()
		defer l.lock.Unlock()
		c.open--
	}), left, nil
}

// checkQuota fails if a caller has no request left. It does not count one.
func (l *limits) checkQuota(caller string, now time.Time) (left standing, err error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	c := l.count(caller)
	tokens := c.recent.TokensAt(now)
	if l.rate > 0 && tokens < 1 {
		err = l.rateError(tokens)
	}
	return l.remaining(c, tokens), err
}

// count returns the count of a caller, and creates it if there is none.
func (l *limits) count(caller string) *count {
	c, known := l.counts.Get(caller)
	if !known {
		c = &count{recent: rate.NewLimiter(rate.Limit(l.rate), l.burst)}
		l.counts.Add(caller, c)
	}
	return c
}

func (l *limits) remaining(c *count, tokens float64) standing {
	left := standing{requests: max(0, int(tokens)), slots: max(0, l.inFlight-c.open)}
	if l.rate > 0 {
		left.full = l.timeToEarn(float64(l.burst) - tokens)
	}
	return left
}

func (l *limits) rateError(tokens float64) error {
	return exhaustedError("more requests than a caller may send", l.timeToEarn(1-tokens))
}

// timeToEarn returns the time until a caller may send n more requests.
func (l *limits) timeToEarn(n float64) time.Duration {
	return time.Duration(n / float64(l.rate) * float64(time.Second)).Round(time.Millisecond)
}

func exhaustedError(description string, wait time.Duration) error {
	return &platform.Error{
		Code: platform.CodeResourceExhausted, Reason: "RESOURCE_EXHAUSTED",
		Message: "Resource exhausted: " + description, RetryAfter: max(wait, time.Millisecond),
	}
}
