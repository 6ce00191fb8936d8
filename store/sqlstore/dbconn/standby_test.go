package dbconn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"atrium/platform/core"
)

// scriptedStandbys record what they are asked. They answer nothing if refuses is set, and
// the first statement only if breaks is set.
type scriptedStandbys struct {
	refuses, breaks bool
	asked           int64 // how often the primary was asked for its position
	trips           []string
}

func (s *scriptedStandbys) AskPosition(at *Position) *Statement {
	s.asked++
	*at = Position{"history", s.asked}
	return &Statement{SQL: "position"}
}

func (s *scriptedStandbys) Run(_ context.Context, at Position, statements ...*Statement) (done bool, err error) {
	if s.refuses {
		return false, nil
	}
	for i, one := range statements {
		if s.breaks && i > 0 {
			return false, errBad
		}
		one.Done = true
		s.trips = append(s.trips, fmt.Sprintf("%s at %d", one.SQL, at.Offset))
	}
	return true, nil
}

func (s *scriptedStandbys) States() []StandbyState      { return nil }
func (s *scriptedStandbys) Fallbacks() map[string]int64 { return nil }
func (s *scriptedStandbys) Close()                      {}

// A followedEngine is a scriptedEngine with standbys.
type followedEngine struct {
	*scriptedEngine
	standbys *scriptedStandbys
}

func (e followedEngine) Standbys() Standbys { return e.standbys }

func (e followedEngine) Write(_ context.Context, unit func(TxConn) error) error { return unit(nil) }

func newFollowed(s *scriptedStandbys) (followedEngine, *Database) {
	e := followedEngine{&scriptedEngine{}, s}
	return e, New(e, provenCaller{}, nil, "")
}

// A provenCaller has been proven before, so that no statement needs a proof.
type provenCaller struct{}

func (provenCaller) TakeProof(context.Context) (Proof, error) { return nil, nil } //nolint:nilnil // no proof is needed

func checkTrips(t *testing.T, what string, e followedEngine, primary [][]string, standby []string) {
	t.Helper()
	if !slices.EqualFunc(e.trips, primary, slices.Equal) || !slices.Equal(e.standbys.trips, standby) {
		t.Errorf("%s: the primary got %v, want %v; the standbys got %v, want %v", what, e.trips, primary, e.standbys.trips, standby)
	}
}

func TestAReadGoesToAStandby(t *testing.T) {
	t.Parallel()
	list, get := &Statement{SQL: "list"}, &Statement{SQL: "get"}
	for _, c := range []struct {
		name     string
		standbys scriptedStandbys
		run      func(ctx context.Context, s *Database) error
		primary  [][]string
		standby  []string
	}{
		{"a read", scriptedStandbys{}, func(ctx context.Context, s *Database) error { return s.Reads().Run(s.AllowStandby(ctx), list) },
			[][]string{{"position"}}, []string{"list at 1"}},
		{"a read of a request that may change something", scriptedStandbys{}, func(ctx context.Context, s *Database) error { return s.Reads().Run(ctx, list) },
			[][]string{{"list"}}, nil},
		{"a read in the background", scriptedStandbys{}, func(ctx context.Context, s *Database) error {
			return s.Reads().Run(core.InBackground(s.AllowStandby(ctx)), list)
		}, [][]string{{"list"}}, nil},
		{"two reads", scriptedStandbys{}, func(ctx context.Context, s *Database) error {
			ctx = s.AllowStandby(ctx)
			return errors.Join(s.Reads().Run(ctx, list), s.Reads().Run(ctx, list))
		}, [][]string{{"position"}}, []string{"list at 1", "list at 1"}},
		{"a read after one that only the primary may answer", scriptedStandbys{}, func(ctx context.Context, s *Database) error {
			ctx = s.AllowStandby(ctx)
			return errors.Join(s.Reads().Run(ctx, list), s.Run(ctx, &Statement{SQL: "audit"}), s.Reads().Run(ctx, list))
		}, [][]string{{"position"}, {"audit", "position"}}, []string{"list at 1", "list at 2"}},
		{"one row", scriptedStandbys{}, func(ctx context.Context, s *Database) error { return s.Reads().Run(s.AllowStandby(ctx), get) },
			[][]string{{"position"}}, []string{"get at 1"}},
		{"one row after a read", scriptedStandbys{}, func(ctx context.Context, s *Database) error {
			ctx = s.AllowStandby(ctx)
			return errors.Join(s.Reads().Run(ctx, list), s.Reads().Run(ctx, get))
		}, [][]string{{"position"}}, []string{"list at 1", "get at 1"}},
		{"a read after a write", scriptedStandbys{}, func(ctx context.Context, s *Database) error {
			ctx = s.AllowStandby(ctx)
			write := s.Write(ctx, func(*Tx) error { return nil })
			return errors.Join(write, s.Reads().Run(ctx, list))
		}, [][]string{{"list", "position"}}, nil},
		{"a read that no standby can answer", scriptedStandbys{refuses: true}, func(ctx context.Context, s *Database) error { return s.Reads().Run(s.AllowStandby(ctx), list) },
			[][]string{{"position"}, {"list", "position"}}, nil},
		{"a read of which a standby answers a part", scriptedStandbys{breaks: true}, func(ctx context.Context, s *Database) error {
			return s.Reads().Run(s.AllowStandby(ctx), &Statement{SQL: "list"}, &Statement{SQL: "total"})
		}, [][]string{{"position"}, {"position", "total"}}, []string{"list at 1"}},
	} {
		list.Done, get.Done = false, false
		e, s := newFollowed(&c.standbys)
		if err := c.run(t.Context(), s); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		checkTrips(t, c.name, e, c.primary, c.standby)
	}
}

// The calls of one level may have different servers.
func TestCallsOfALevelGoToTheirServers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, s := newFollowed(&scriptedStandbys{})
		join, end := s.Gather(2)
		ctx := join(s.AllowStandby(t.Context()))
		ended := make(chan error)
		go func() { defer end(); ended <- s.Run(ctx, &Statement{SQL: "audit"}) }()
		synctest.Wait() // The call of the primary waits first.
		err := s.Reads().Run(ctx, &Statement{SQL: "list"})
		if err = errors.Join(err, <-ended); err != nil {
			t.Error(err)
		}
		end()
		if !slices.ContainsFunc(e.trips, func(trip []string) bool { return slices.Contains(trip, "audit") && !slices.Contains(trip, "list") }) || len(e.standbys.trips) != 1 {
			t.Errorf("the primary got %v and the standbys %v", e.trips, e.standbys.trips)
		}
	})
}
