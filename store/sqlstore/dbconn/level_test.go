package dbconn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A scriptedEngine records which statements are sent together. A statement "bad" fails and
// prevents the statements after it; "panic" panics while its rows are read. Statements that
// end with "as needed" run after the others. Like PostgreSQL, the engine then marks the one
// that failed.
type scriptedEngine struct {
	Engine
	lock  sync.Mutex
	trips [][]string
}

func (e *scriptedEngine) Connections() int { return 4 }

func (e *scriptedEngine) Dialect() *Dialect { return &Dialect{Pipelines: true} }

func (e *scriptedEngine) Standbys() Standbys { return nil }

var errBad = errors.New("bad")

func (e *scriptedEngine) Run(_ context.Context, statements ...*Statement) error {
	var trip []string
	for _, s := range statements {
		trip = append(trip, s.SQL)
	}
	slices.Sort(trip)
	e.lock.Lock()
	e.trips = append(e.trips, trip)
	e.lock.Unlock()
	var first, last []*Statement
	for _, s := range statements {
		if strings.HasSuffix(s.SQL, "as needed") {
			last = append(last, s)
		} else {
			first = append(first, s)
		}
	}
	for _, s := range append(first, last...) {
		s.Failed = last != nil
		switch s.SQL {
		case "bad":
			return errBad
		case "panic":
			panic("a row that nobody can read")
		}
		s.Done, s.Failed = true, false
	}
	return nil
}

// runLevel runs calls concurrently and returns their errors.
func runLevel(engine *scriptedEngine, calls ...func(ctx context.Context, conn Conn) error) []error {
	errs := make([]error, len(calls))
	conn := New(engine, nil, nil, "")
	join, end := conn.Gather(len(calls))
	var all sync.WaitGroup
	for i, call := range calls {
		all.Go(func() {
			defer end()
			errs[i] = call(join(context.Background()), conn)
		})
	}
	all.Wait()
	return errs
}

// slow is the text of a statement that counts rows.
const slow = "SELECT COUNT(*) FROM x"

func askFor(sql ...string) func(context.Context, Conn) error {
	return func(ctx context.Context, conn Conn) error {
		var statements []*Statement
		for _, s := range sql {
			statements = append(statements, &Statement{SQL: s, Slow: s == slow})
		}
		return conn.Run(ctx, statements...)
	}
}

func TestCallsBesideEachOtherTakeOneRoundTrip(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := &scriptedEngine{}
		nothing := func(context.Context, Conn) error { return nil }
		twice := func(ctx context.Context, conn Conn) error {
			return errors.Join(askFor("c")(ctx, conn), askFor("d")(ctx, conn))
		}
		began := time.Now()
		for i, err := range runLevel(engine, askFor("a", "b"), nothing, twice, askFor("e", slow)) {
			if err != nil {
				t.Errorf("call %d: %v", i, err)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("calls waited for %v, want 0", took)
		}
		slices.SortFunc(engine.trips, slices.Compare)
		want := [][]string{{slow, "a", "b", "c", "e"}, {"d"}}
		if !slices.EqualFunc(engine.trips, want, slices.Equal) {
			t.Errorf("round trips %v, want %v", engine.trips, want)
		}
	})
}

// Slow calls must not wait for each other, and no call reads anything again because a
// slow one failed.
func TestOnlyOneSlowCallIsAmongTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := &scriptedEngine{}
		runLevel(engine, askFor(slow), askFor("a"), askFor(slow), askFor(slow), askFor("b"))
		slices.SortFunc(engine.trips, slices.Compare)
		want := [][]string{{slow}, {slow}, {slow, "a", "b"}}
		if !slices.EqualFunc(engine.trips, want, slices.Equal) {
			t.Errorf("round trips %v, want %v", engine.trips, want)
		}

		engine = &scriptedEngine{}
		errs := runLevel(engine, askFor("a"), askFor(slow, "bad"), askFor("b"))
		if want := []error{nil, errBad, nil}; !slices.Equal(errs, want) {
			t.Errorf("the calls end with %v, want %v", errs, want)
		}
		if len(engine.trips) != 1 {
			t.Errorf("round trips %v, want 1", engine.trips)
		}
	})
}

// An error of one call must not appear in another.
func TestAnErrorIsThatOfItsCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, broken := range []string{"bad", "panic"} {
			engine := &scriptedEngine{}
			errs := runLevel(engine, askFor("a"), askFor("b", broken), askFor("c"), askFor("d"))
			for i, err := range errs {
				if (err != nil) != (i == 1) {
					t.Errorf("%s: call %d ends with %v", broken, i, err)
				}
			}
			if broken == "bad" && !errors.Is(errs[1], errBad) {
				t.Errorf("the error is %v", errs[1])
			}
		}
	})
}

// A fast statement that runs after a slow one does not get the error of the slow one, and
// the slow one does not run again.
func TestAnErrorIsThatOfItsCallInAnyOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, broken := range []string{"bad", "panic"} {
			engine := &scriptedEngine{}
			errs := runLevel(engine, askFor("a", "b as needed"), askFor(slow, broken))
			if errs[0] != nil || errs[1] == nil {
				t.Errorf("%s: the calls end with %v, want an error of the second", broken, errs)
			}
			want := [][]string{{slow, "a", "b as needed", broken}, {"b as needed"}}
			if !slices.EqualFunc(engine.trips, want, slices.Equal) {
				t.Errorf("%s: round trips %v, want %v", broken, engine.trips, want)
			}
		}
	})
}

// A statement that has run does not run again for another one of its call: it would pass
// on its rows twice.
func TestOnlyWhatDidNotRunRunsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := &scriptedEngine{}
		list := askFor("pages", "totals as needed")
		errs := runLevel(engine, list, list, askFor(slow, "bad"))
		if want := []error{nil, nil, errBad}; !slices.Equal(errs, want) {
			t.Errorf("the calls end with %v, want %v", errs, want)
		}
		want := [][]string{
			{slow, "bad", "pages", "pages", "totals as needed", "totals as needed"},
			{"totals as needed"}, {"totals as needed"},
		}
		if !slices.EqualFunc(engine.trips, want, slices.Equal) {
			t.Errorf("round trips %v, want %v", engine.trips, want)
		}
	})
}

// A call that waits for the reads of another call delays nobody. One that waits for
// something else delays the others only for a moment.
func TestACallWithoutAStatementDelaysNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		there := make(chan struct{})
		read := func(ctx context.Context, conn Conn) error {
			defer close(there)
			return askFor("a")(ctx, conn)
		}
		aside := func(ctx context.Context, _ Conn) error {
			AwaitOther(ctx, func() { <-there })
			return nil
		}
		began := time.Now()
		runLevel(&scriptedEngine{}, read, aside)
		if took := time.Since(began); took != 0 {
			t.Errorf("a call waited for %v, want 0", took)
		}
		there = make(chan struct{})
		stuck := func(context.Context, Conn) error { <-there; return nil }
		runLevel(&scriptedEngine{}, read, stuck)
		if took := time.Since(began); took != maxLevelWait {
			t.Errorf("a call waited for %v, want %v", took, maxLevelWait)
		}
	})
}
