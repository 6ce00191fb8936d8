package dbconn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atrium/platform/core"
)

// A slowEngine takes tripTime for each round trip. Each statement finds one row. A
// statement "locked" waits for a lock, "lost" loses the connection, and "stuck" never ends.
// The column of "large" has a megabyte.
type slowEngine struct {
	scriptedEngine
	away error // the error of all round trips if the database does not answer
}

func (e *slowEngine) Dialect() *Dialect { return &Dialect{Pipelines: true, LimitSharedWait: "limit"} }

func (e *slowEngine) Run(ctx context.Context, statements ...*Statement) error {
	took, isLimited := tripTime, statements[0].SQL == "limit"
	if isLimited {
		statements = statements[1:]
	}
	runs := func(sql string) bool {
		return slices.ContainsFunc(statements, func(s *Statement) bool { return s.SQL == sql })
	}
	switch {
	case runs("stuck"), runs("locked") && !isLimited:
		took = time.Hour
	case runs("locked"):
		took = 20 * time.Millisecond
	}
	select {
	case <-time.After(took):
	case <-ctx.Done():
		return ctx.Err()
	}
	var trip []string
	for _, s := range statements {
		trip = append(trip, s.SQL)
	}
	e.lock.Lock()
	e.trips = append(e.trips, trip)
	e.lock.Unlock()
	if e.away != nil {
		return e.away
	}
	for _, s := range statements {
		s.Failed = true
		err := s.Row(func(to ...any) error {
			if column, ok := to[0].(*string); ok && s.SQL == "large" {
				*column = strings.Repeat("x", 1<<20)
			}
			return nil
		})
		switch {
		case err != nil:
			return err
		case s.SQL == "bad":
			return errBad
		case s.SQL == "locked":
			return fmt.Errorf("%w: %w", context.DeadlineExceeded, core.ErrLocked)
		case s.SQL == "lost":
			return errAway
		}
		s.Done, s.Failed = true, false
	}
	return nil
}

// tripTime is short enough for two round trips within maxTurnWait.
const tripTime = maxTurnWait * 2 / 5

var (
	errAway = core.Unavailable("the database does not answer", errors.New("refused"))
	errLate = core.Unavailable("the database does not answer", context.DeadlineExceeded)
)

// A quickRequest reads with one quick statement.
type quickRequest struct {
	sql      string
	original *Statement
	context  context.Context //nolint:containedctx // nil means one that does not end
	rows     int
	err      error
	ended    time.Time
}

// readQuickly lets a request read first, so that it has the only round trip, and the others
// while it is under way.
func readQuickly(e Engine, requests ...*quickRequest) {
	conn := New(e, nil, nil, "")
	var all sync.WaitGroup
	read := func(r *quickRequest) {
		all.Go(func() {
			ctx := r.context
			if ctx == nil {
				ctx = context.Background()
			}
			s := &Statement{SQL: r.sql, Quick: true, Original: r.original, Row: func(scan func(...any) error) error {
				r.rows++
				if r.sql == "panic" {
					panic("a row that nobody can read")
				}
				return scan(new(string))
			}}
			r.err = conn.Run(ctx, s)
			r.ended = time.Now()
		})
		synctest.Wait()
	}
	for _, r := range requests {
		read(r)
	}
	all.Wait()
}

func TestRequestsShareARoundTripForQuickStatements(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := &slowEngine{}
		requests := []*quickRequest{{sql: "a"}, {sql: "b"}, {sql: "c"}, {sql: "d"}}
		readQuickly(engine, requests...)
		if want := [][]string{{"a"}, {"b", "c", "d"}}; !slices.EqualFunc(engine.trips, want, slices.Equal) {
			t.Errorf("round trips %v, want %v", engine.trips, want)
		}
		for _, r := range requests {
			if r.err != nil || r.rows != 1 {
				t.Errorf("%s: %d rows, %v", r.sql, r.rows, r.err)
			}
		}
	})
}

func TestARoundTripHasALimitedNumberOfCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := &slowEngine{}
		var requests []*quickRequest
		for i := range 2 * maxSharers {
			requests = append(requests, &quickRequest{sql: fmt.Sprint(i)})
		}
		readQuickly(engine, requests...)
		var sizes []int
		for _, trip := range engine.trips {
			sizes = append(sizes, len(trip))
		}
		if want := []int{1, maxSharers, maxSharers - 1}; !slices.Equal(sizes, want) {
			t.Errorf("round trips of %v statements, want %v", sizes, want)
		}
	})
}

// A slow statement would delay the requests that share its round trip.
func TestSlowStatementsShareNoRoundTrip(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]*Statement{
		"slow": {{SQL: "a", Quick: true}, {SQL: "b"}},
		"many": slices.Repeat([]*Statement{{SQL: "a", Quick: true}}, maxQuickStatements+1),
	} {
		if (&quickReader{engine: &slowEngine{}}).accepts(t.Context(), statements) {
			t.Errorf("%s: the statements share a round trip", name)
		}
	}
	background := core.InBackground(t.Context())
	if (&quickReader{engine: &slowEngine{}}).accepts(background, []*Statement{{Quick: true}}) {
		t.Error("background work shares a round trip with requests")
	}
}

// The statement that proves who a caller is runs once for all requests with one token that
// share a round trip. It must not run before a request that it proves: a request that comes
// while a proof is under way needs another one.
func TestAProofIsNeverOlderThanItsRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine, proof := &slowEngine{}, &Statement{SQL: "proof"}
		requests := []*quickRequest{{sql: "proof", original: proof}, {sql: "proof", original: proof}, {sql: "other", original: &Statement{}}, {sql: "proof", original: proof}}
		readQuickly(engine, requests...)
		if want := [][]string{{"proof"}, {"proof", "other"}}; !slices.EqualFunc(engine.trips, want, slices.Equal) {
			t.Errorf("round trips %v, want %v", engine.trips, want)
		}
		for i, r := range requests {
			if r.err != nil || r.rows != 1 {
				t.Errorf("request %d has %d rows and %v", i, r.rows, r.err)
			}
		}
	})
}

func TestARequestThatEndsWhileItWaitsLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := &slowEngine{}
		short, cancel := context.WithTimeout(context.Background(), tripTime/2)
		defer cancel()
		later, cancelLater := context.WithTimeout(context.Background(), tripTime*3/2)
		defer cancelLater()
		gone, shared, last := &quickRequest{sql: "b", context: short}, &quickRequest{sql: "c", context: later}, &quickRequest{sql: "d"}
		readQuickly(engine, &quickRequest{sql: "a"}, gone, shared, last)
		if !errors.Is(gone.err, context.DeadlineExceeded) || gone.rows != 0 {
			t.Errorf("the request that ended while it waited has %d rows and %v", gone.rows, gone.err)
		}
		if last.err != nil || last.rows != 1 {
			t.Errorf("a request has %d rows and %v because another one ended", last.rows, last.err)
		}
		if want := [][]string{{"a"}, {"c", "d"}}; !slices.EqualFunc(engine.trips, want, slices.Equal) {
			t.Errorf("round trips %v, want %v", engine.trips, want)
		}
	})
}

// A round trip that takes long must not keep the other requests waiting.
func TestARoundTripThatTakesLongDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := &slowEngine{}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		stuck, others := &quickRequest{sql: "stuck", context: ctx}, []*quickRequest{{sql: "b"}, {sql: "c"}}
		began := time.Now()
		readQuickly(engine, append([]*quickRequest{stuck}, others...)...)
		if !errors.Is(stuck.err, context.DeadlineExceeded) {
			t.Errorf("the request that never ends has the error %v", stuck.err)
		}
		if slices.Sort(engine.trips[0]); !slices.EqualFunc(engine.trips, [][]string{{"b", "c"}}, slices.Equal) {
			t.Errorf("round trips %v, want one of b and c", engine.trips)
		}
		for _, r := range others {
			if took := r.ended.Sub(began); r.err != nil || r.rows != 1 || took > maxTurnWait+tripTime {
				t.Errorf("%s has %d rows and %v after %v", r.sql, r.rows, r.err, took)
			}
		}
	})
}
