package dbconn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atrium/platform/core"
)

// An error or a panic of one request must not appear in another, which must get its rows once.
func TestAnErrorIsThatOfItsRequest(t *testing.T) {
	t.Parallel()
	for _, cause := range []string{"bad", "panic"} {
		synctest.Test(t, func(t *testing.T) {
			before, failing, after := &quickRequest{sql: "b"}, &quickRequest{sql: cause}, &quickRequest{sql: "d"}
			readQuickly(&slowEngine{}, &quickRequest{sql: "a"}, before, failing, after)
			if err := failing.err; !errors.Is(err, errBad) && (err == nil || !strings.HasPrefix(err.Error(), "panic: ")) {
				t.Errorf("%s: the failing request ends with %v", cause, err)
			}
			for _, r := range []*quickRequest{before, after} {
				if r.err != nil || r.rows != 1 {
					t.Errorf("%s: %s has %d rows and %v", cause, r.sql, r.rows, r.err)
				}
			}
		})
	}
}

// Requests that wait for a database that does not answer must not wait twice.
func TestARoundTripWithoutAnAnswerIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, away := range []error{errAway, errLate} {
		synctest.Test(t, func(t *testing.T) {
			engine := &slowEngine{away: away}
			requests := []*quickRequest{{sql: "a"}, {sql: "b"}, {sql: "c"}}
			readQuickly(engine, requests...)
			for _, r := range requests {
				if !errors.Is(r.err, away) {
					t.Errorf("%s ends with %v, want %v", r.sql, r.err, away)
				}
			}
			if len(engine.trips) != 2 {
				t.Errorf("%d round trips, want 2", len(engine.trips))
			}
		})
	}
}

// An engine does not repeat a round trip that is lost after a row. The requests that have no
// row yet must get one all the same, and no request may get a row twice.
func TestARoundTripThatIsLostIsRepeatedForThoseWithoutRows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := &slowEngine{}
		first, lost, last := &quickRequest{sql: "b"}, &quickRequest{sql: "lost"}, &quickRequest{sql: "d"}
		readQuickly(engine, &quickRequest{sql: "a"}, first, lost, last)
		for _, r := range []*quickRequest{first, last} {
			if r.err != nil || r.rows != 1 {
				t.Errorf("%s has %d rows and %v", r.sql, r.rows, r.err)
			}
		}
		if !errors.Is(lost.err, errAway) || lost.rows != 1 {
			t.Errorf("%s has %d rows and %v, want 1 and %v", lost.sql, lost.rows, lost.err, errAway)
		}
		if want := [][]string{{"a"}, {"b", "lost", "d"}, {"d"}}; !slices.EqualFunc(engine.trips, want, slices.Equal) {
			t.Errorf("round trips %v, want %v", engine.trips, want)
		}
	})
}

// No request can cancel a round trip that is shared, so it must end by itself.
func TestARoundTripThatNeverEndsIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		requests := []*quickRequest{{sql: "a"}, {sql: "stuck"}, {sql: "c"}}
		readQuickly(&slowEngine{}, requests...)
		for _, r := range requests[1:] {
			if !errors.Is(r.err, &core.Error{Code: core.CodeUnavailable}) {
				t.Errorf("%s ends with %v", r.sql, r.err)
			}
		}
	})
}

// A request that must wait for memory, or that gets none, must not delay or break the round
// trip of the others.
func TestARequestWithoutMemoryDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := core.NewMemoryPool(core.MemoryLimits{PerResponse: 16 << 20, Total: 1 << 20}, nil)
		ctx, end := pool.Open(context.Background())
		defer end()
		engine := &slowEngine{}
		large, other := &quickRequest{sql: "large", context: ctx}, &quickRequest{sql: "c"}
		began := time.Now()
		readQuickly(engine, &quickRequest{sql: "a"}, large, other)
		if !errors.Is(large.err, &core.Error{Code: core.CodeUnavailable}) {
			t.Errorf("the request without memory ends with %v", large.err)
		}
		if took := other.ended.Sub(began); other.err != nil || other.rows != 1 || took > 2*tripTime {
			t.Errorf("the other request has %d rows and %v after %v", other.rows, other.err, took)
		}
		if want := [][]string{{"a"}, {"large", "c"}}; !slices.EqualFunc(engine.trips, want, slices.Equal) {
			t.Errorf("round trips %v, want %v", engine.trips, want)
		}
	})
}

// A request that waits for a lock must not delay those that share its round trip, and must
// wait as long as it would alone.
func TestALockDelaysOnlyThoseWhoNeedWhatIsLocked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := &slowEngine{}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		began := time.Now()
		locked, other := &quickRequest{sql: "locked", context: ctx}, &quickRequest{sql: "c"}
		readQuickly(engine, &quickRequest{sql: "a"}, locked, other)
		if took := locked.ended.Sub(began); !errors.Is(locked.err, context.DeadlineExceeded) || took < time.Minute {
			t.Errorf("the request that waits for a lock ends with %v after %v", locked.err, took)
		}
		if took := other.ended.Sub(began); other.err != nil || other.rows != 1 || took > 25*time.Millisecond {
			t.Errorf("the other request has %d rows and %v after %v", other.rows, other.err, took)
		}
		if !slices.Equal(engine.trips[1], []string{"locked", "c"}) {
			t.Errorf("round trips %v, want the second to have both statements", engine.trips)
		}
	})
}
