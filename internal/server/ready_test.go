package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atrium/internal/rest"
	"atrium/internal/webhook"
	"atrium/platform/core"
)

// The attack is many requests that arrive together. If each of them ran the check, they
// would use all connections of the database. The first client disconnects: this must not end
// the check of the others.
func TestChecksThatArriveTogetherAreOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runs, release := 0, make(chan struct{})
		ready := shareCheck(func(ctx context.Context) error {
			runs++
			select {
			case <-release:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}, nil)
		first, disconnect := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = ready(first) })
		synctest.Wait()
		disconnect()
		for range 100 {
			all.Go(func() {
				if err := ready(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if err := ready(first); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that has disconnected waits for the check: %v", err)
		}
		close(release)
		all.Wait()
		if runs != 1 {
			t.Errorf("the check has run %d times, want 1", runs)
		}
	})
}

// The attack is requests one after another. A failure is kept no longer than a success.
func TestTheResultOfACheckIsKeptForASecond(t *testing.T) {
	t.Parallel()
	for _, want := range []error{nil, core.Unavailable("the database is away", nil)} {
		synctest.Test(t, func(t *testing.T) {
			runs, result := 0, want
			ready := shareCheck(func(context.Context) error { runs++; return result }, nil)
			for range 100 {
				if err := ready(t.Context()); !errors.Is(err, want) {
					t.Errorf("the check returns %v, want %v", err, want)
				}
				time.Sleep(9 * time.Millisecond)
				result = errors.New("new")
			}
			if runs != 1 {
				t.Errorf("the check has run %d times, want 1", runs)
			}
			time.Sleep(100 * time.Millisecond)
			if err := ready(t.Context()); !errors.Is(err, result) {
				t.Errorf("after a second the check returns %v, want %v", err, result)
			}
		})
	}
}

func TestACheckThatHangsFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ready := shareCheck(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, nil)
		start := time.Now()
		if err := ready(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != readyTimeout {
			t.Errorf("after %v the check returns %v", time.Since(start), err)
		}
	})
}

// The shutdown shows at once, although a result is kept, and although a check is running.
func TestADrainingServerIsNotReadyAtOnce(t *testing.T) {
	t.Parallel()
	for _, isRunning := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			draining, drain := context.WithCancel(t.Context())
			shutsDown := errors.New("the server is shutting down")
			release := make(chan struct{})
			ready := shareCheck(func(context.Context) error {
				if draining.Err() != nil {
					return shutsDown
				}
				<-release
				return nil
			}, draining.Done())
			go func() { _ = ready(t.Context()) }()
			synctest.Wait()
			if !isRunning {
				close(release)
				synctest.Wait()
			}
			drain()
			if err := ready(t.Context()); !errors.Is(err, shutsDown) {
				t.Errorf("the check returns %v, want %v", err, shutsDown)
			}
			if isRunning {
				close(release)
			}
		})
	}
}

// A server that starts is not ready, and one that drains must wake nobody.
func TestTheMetricsShowWhatReadyzAnswers(t *testing.T) {
	t.Parallel()
	draining, drain := context.WithCancel(t.Context())
	r := &readiness{draining: draining.Done()}
	expect := func(when string, ready, known bool) {
		t.Helper()
		if gotReady, gotKnown := r.observe(); gotReady != ready || gotKnown != known {
			t.Errorf("%s: ready %v, known %v; want %v, %v", when, gotReady, gotKnown, ready, known)
		}
	}
	expect("while the server starts", false, true)
	var result error
	r.use(func(context.Context) error { return result })
	expect("once it has started", true, true)
	result = core.Unavailable("the database is away", nil)
	expect("without a database", false, true)
	drain()
	expect("while it drains", false, false)
}

// The keys of webhooks are public, and requests for them pass no limit. The attack is many of them.
func TestRequestsForThePublicKeysShareOneRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		material := func() []byte {
			key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			der, err := x509.MarshalPKCS8PrivateKey(key)
			if err != nil {
				t.Fatal(err)
			}
			return der
		}
		reads, stored := 0, []core.Key{{ID: 1, Material: material()}}
		served := wellKnown(func(context.Context) ([]core.Key, error) { reads++; return stored, nil }, "https://atrium.example.com", rest.Options{})[webhook.KeySetPath]
		count := func() int {
			answer := httptest.NewRecorder()
			served.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, webhook.KeySetPath, nil))
			return strings.Count(answer.Body.String(), `"kid"`)
		}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if n := count(); n != 1 {
					t.Errorf("the document has %d keys, want 1", n)
				}
			})
		}
		all.Wait()
		if reads != 1 {
			t.Errorf("the keys were read %d times, want 1", reads)
		}
		stored = append(stored, core.Key{ID: 2, Material: material()})
		time.Sleep(sharedFor)
		if n := count(); n != 2 || reads != 2 {
			t.Errorf("after a second the document has %d keys after %d reads, want 2 and 2", n, reads)
		}
	})
}
