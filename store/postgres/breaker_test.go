package postgres

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"atrium/platform/core"
)

// maxSilence is the time after which every request must have the error of a silent server.
const maxSilence = 5 * time.Second

// testBreaker returns a breaker whose server answers a new connection when answers is closed.
func testBreaker(t *testing.T) (b *breaker, answers chan struct{}) {
	t.Helper()
	answers = make(chan struct{})
	b = newBreaker(func(ctx context.Context) bool {
		select {
		case <-answers:
			return true
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
		return false
	}, func() {})
	t.Cleanup(b.end)
	return b, answers
}

// step is a statement: it fails at once, or gets its response after took.
func step(b *breaker, took time.Duration) error {
	if err := b.check(); err != nil {
		return err
	}
	given, _ := pgx.ParseConfig("postgres://h/d")
	w := b.await(context.Background(), findResponseTimeout(given))
	defer w.cancel()
	select {
	case <-w.within.Done():
	case <-time.After(took):
	}
	return w.end(w.within.Err())
}

const never = time.Hour

func isUnavailable(err error) bool { return core.AsError(err).Code == core.CodeUnavailable }

func TestARequestWaitsForASilentServerOnlyOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, answers := testBreaker(t)
		began := time.Now()
		for range 5 {
			if err := step(b, never); !isUnavailable(err) {
				t.Errorf("a step ends with %v, want UNAVAILABLE", err)
			}
		}
		if took := time.Since(began); took == 0 || took > maxSilence {
			t.Errorf("the steps wait for %v in total, want at most %v", took, maxSilence)
		}
		close(answers)
		time.Sleep(2 * time.Second)
		if err := step(b, time.Millisecond); err != nil {
			t.Errorf("the server answers again, and a step ends with %v", err)
		}
	})
}

// One connection is lost, or one statement waits too long for a free connection, while the server
// answers others.
func TestALateResponseIsNotTheSilenceOfTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := testBreaker(t)
		late := make(chan error)
		go func() { late <- step(b, never) }()
		time.Sleep(time.Second)
		if err := step(b, time.Millisecond); err != nil {
			t.Error(err)
		}
		if err := <-late; !isUnavailable(err) {
			t.Errorf("the late step ends with %v, want UNAVAILABLE", err)
		}
		if err := step(b, time.Millisecond); err != nil {
			t.Errorf("the next step ends with %v", err)
		}
	})
}

// A caller who gives up says nothing about the server.
func TestACallerWhoGivesUpDoesNotOpenTheBreaker(t *testing.T) {
	t.Parallel()
	b, _ := testBreaker(t)
	ctx, cancel := context.WithCancel(t.Context())
	w := b.await(ctx, time.Hour)
	cancel()
	if err := w.end(ctx.Err()); isUnavailable(err) || b.check() != nil {
		t.Errorf("the wait ends with %v, and the next step with %v", err, b.check())
	}
}
