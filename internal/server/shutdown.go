package server

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// DefaultDrainTimeout is the default time that running requests and attempts have to
// end.
const DefaultDrainTimeout = 10 * time.Second

// closeTimeout is the time for everything else after that, such as closing the database
// connections.
const closeTimeout = 5 * time.Second

// ShutdownTimeout returns the time limit of the whole shutdown.
func (c *Config) ShutdownTimeout() time.Duration { return c.DrainDelay + c.DrainTimeout + closeTimeout }

// A shutdown limits the time that a process takes to end. It knows the names of the parts
// that have not ended yet.
type shutdown struct {
	within time.Duration
	logger *slog.Logger
	lock   sync.Mutex
	open   []string
}

// bound runs work until it ends, but at most for s.within after the end of ctx. If work
// ends by itself, it must call end, and the time limit begins then. Work that has not
// ended in time is abandoned: it ends with the process.
func (s *shutdown) bound(ctx context.Context, work func(ctx context.Context, end func()) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- work(ctx, end) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	deadline := time.NewTimer(s.within)
	defer deadline.Stop()
	select {
	case err := <-ended:
		return err
	case <-deadline.C:
		s.logger.Warn("the shutdown took too long; unfinished work is abandoned", "within", s.within.String(), "abandoned", s.running())
		return nil
	}
}

// begin records that a part of the server is running. ended records its end.
func (s *shutdown) begin(what string) (ended func()) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.open = append(s.open, what)
	return func() {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.open = slices.DeleteFunc(s.open, func(other string) bool { return other == what })
	}
}

func (s *shutdown) running() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return slices.Clone(s.open)
}

// background runs work in a goroutine until ctx ends. stop waits for its end.
func (s *shutdown) background(ctx context.Context, what string, work func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := s.begin(what)
	var running sync.WaitGroup
	running.Go(func() {
		defer ended()
		work(ctx)
	})
	return func() {
		cancel()
		running.Wait()
	}
}
