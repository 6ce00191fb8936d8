package dbconn

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"atrium/platform/core"
)

// A busyEngine waits until it is released.
type busyEngine struct {
	Engine
	running chan struct{}
	release chan struct{}
}

func (e *busyEngine) Connections() int { return 8 }

func (e *busyEngine) Dialect() *Dialect { return &Dialect{} }

func (e *busyEngine) Standbys() Standbys { return nil }

func (e *busyEngine) Run(context.Context, ...*Statement) error {
	e.running <- struct{}{}
	<-e.release
	return nil
}

func (e *busyEngine) Write(ctx context.Context, _ func(TxConn) error) error { return e.Run(ctx) }

// The attack is more background work than there are connections.
func TestBackgroundWorkLeavesConnectionsToRequests(t *testing.T) {
	t.Parallel()
	busy := &busyEngine{running: make(chan struct{}), release: make(chan struct{})}
	s := New(busy, nil, nil, "")
	background, cancel := context.WithCancel(core.InBackground(t.Context()))
	ended := make(chan error, 8)
	go func() { ended <- s.Run(background) }()
	go func() { ended <- s.Write(background, nil) }()
	for range 2 {
		<-busy.running
	}
	for range 4 {
		go func() { ended <- s.Run(background) }()
	}
	for range 2 { // These are two requests.
		go func() { ended <- s.Run(t.Context()) }()
		<-busy.running
	}
	cancel()
	for range 4 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("background work beyond its share ended with %v, want %v", err, context.Canceled)
		}
	}
	close(busy.release)
	for range 4 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// noTurns let no request use a connection.
type noTurns struct{}

var errNoTurn = errors.New("there is no turn")

func (noTurns) TakeTurn(context.Context) (core.Turn, error) { return nil, errNoTurn }

// Reads by key of many requests share few connections, so that more requests work than there are connections. All else waits for its turn.
func TestOnlyReadsOfTheFewSharedRoundTripsNeedNoTurn(t *testing.T) {
	t.Parallel()
	none := core.WithTurns(context.Background(), noTurns{}) // No channel of t.Context may be in a bubble.
	for _, c := range []struct {
		name  string
		under string // a read that is under way
		work  func(*Database) error
		want  error
	}{
		{"a quick read", "", read(none, "a", true), nil},
		{"another read", "", read(none, "a", false), errNoTurn},
		{"a transaction", "", func(d *Database) error { return d.Write(none, nil) }, errNoTurn},
		{"a quick read that waits for a shared round trip", "quick", read(none, "a", true), nil},
		{"a quick read that waits for too long", "stuck", read(none, "a", true), errNoTurn},
		{"a quick read that waits for a lock", "quick", read(none, "locked", true), errNoTurn},
		{"many quick reads of one call", "", func(d *Database) error {
			return d.Run(none, slices.Repeat([]*Statement{{SQL: "a", Quick: true}}, maxQuickStatements+1)...)
		}, errNoTurn},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := New(&slowEngine{}, nil, nil, "")
				ctx, cancel := context.WithCancel(context.Background())
				var all sync.WaitGroup
				if c.under != "" {
					all.Go(func() { _ = read(ctx, c.under, true)(d) })
					synctest.Wait()
				}
				if c.under == "quick" {
					all.Go(func() { _ = read(ctx, "b", true)(d) }) // shares the next round trip
				}
				synctest.Wait()
				if err := c.work(d); !errors.Is(err, c.want) {
					t.Errorf("without a turn, it ends with %v, want %v", err, c.want)
				}
				cancel()
				all.Wait()
			})
		})
	}
}

// read returns a function that reads by one statement.
func read(ctx context.Context, sql string, isQuick bool) func(*Database) error {
	return func(d *Database) error {
		return d.Run(ctx, &Statement{SQL: sql, Quick: isQuick, Row: func(func(...any) error) error { return nil }})
	}
}
