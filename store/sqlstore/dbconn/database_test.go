package dbconn

import (
	"context"
	"errors"
	"testing"

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
func TestOnlyQuickReadsNeedNoTurn(t *testing.T) {
	t.Parallel()
	d, ctx := New(&slowEngine{}, nil, nil, ""), core.WithTurns(t.Context(), noTurns{})
	read := func(isQuick bool) error {
		return d.Run(ctx, &Statement{SQL: "SELECT", Quick: isQuick, Row: func(func(...any) error) error { return nil }})
	}
	for name, c := range map[string]struct{ got, want error }{
		"a quick read":  {read(true), nil},
		"another read":  {read(false), errNoTurn},
		"a transaction": {d.Write(ctx, nil), errNoTurn},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("without a turn, %s ends with %v, want %v", name, c.got, c.want)
		}
	}
}
