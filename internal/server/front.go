package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"connectrpc.com/grpchealth"

	"atrium/internal/rest"
	"atrium/platform"
	"atrium/platform/core"
)

// listen binds the port. This comes before any access to the database, so that a second
// server that was started by mistake changes nothing.
func (c *Config) listen(ctx context.Context) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Address)
	if err != nil {
		return nil, ListenError("addr", c.Address, err)
	}
	return listener, nil
}

// noteListening notes an address of this process.
func (c *Config) noteListening(address net.Addr) {
	if tcp, ok := address.(*net.TCPAddr); ok {
		c.listening = append(c.listening, tcp.AddrPort())
	}
}

// ListenError explains why the server cannot listen on an address, and what to do.
func ListenError(flag, address string, err error) error {
	var advice string
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		advice = "another program already uses this address; stop it, or choose another address with --" + flag
	case errors.Is(err, syscall.EACCES):
		advice = "this user may not listen on this port; choose a port above 1023 with --" + flag
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = "this machine does not have that address; choose another with --" + flag
	default:
		return fmt.Errorf("cannot listen on --%s %s: %w", flag, address, err)
	}
	return fmt.Errorf("cannot listen on --%s %s: %s", flag, address, advice)
}

const (
	// earlyWait is how long a request waits for the start of the server. Opening a database takes
	// a second or two, unless there are migrations.
	earlyWait = 10 * time.Second
	// maxEarly is how many requests wait at the same time.
	maxEarly = 1024
)

// A front answers requests as soon as the port is bound. While the database is opened
// and migrated, /livez reports that the process runs, and all other requests wait for a moment,
// because many load balancers send requests to every server that accepts connections. Those
// that have waited for too long get 503.
type front struct {
	current atomic.Pointer[http.Handler]
	decided chan struct{} // closed when the server has started, or has failed to
	decide  func()        // closes it once
	early   chan struct{} // holds an entry for each request that waits
}

func newFront(o rest.Options, r *recorder, trusted proxies) *front {
	f := &front{decided: make(chan struct{}), early: make(chan struct{}, maxEarly)}
	f.decide = sync.OnceFunc(func() { close(f.decided) })
	starting := addOuterLayers(newStartingHandler(newErrorWriter(o)), o, r, trusted)
	f.current.Store(&starting)
	return f
}

// show switches to handler.
func (f *front) show(handler http.Handler) {
	f.current.Store(&handler)
	f.decide()
}

// ServeHTTP lets the current handler answer.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isProbe(r.URL.Path) {
		f.await(r.Context())
	}
	(*f.current.Load()).ServeHTTP(w, r)
}

// isProbe reports whether a request asks for the health of the server, which is also known while
// it starts.
func isProbe(path string) bool {
	return path == "/livez" || path == "/readyz" || strings.HasPrefix(path, "/"+grpchealth.HealthV1ServiceName+"/")
}

// await waits until it is decided whether the server starts, but not for long.
func (f *front) await(ctx context.Context) {
	select {
	case <-f.decided:
		return
	default:
	}
	select {
	case f.early <- struct{}{}:
		defer func() { <-f.early }()
	default:
		return
	}
	patience := time.NewTimer(earlyWait)
	defer patience.Stop()
	select {
	case <-f.decided:
	case <-ctx.Done():
	case <-patience.C:
	}
}

// newStartingHandler returns the handler of requests while the database is not open yet.
func newStartingHandler(refuse errorWriter) http.Handler {
	err := core.Unavailable("the server is starting: its database is not ready yet", nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/livez":
			health(func(context.Context) error { return nil }).ServeHTTP(w, r)
		case "/readyz":
			health(func(context.Context) error { return err }).ServeHTTP(w, r)
		default:
			refuse(w, r, err)
		}
	})
}

// linger returns a context that ends some time after ctx. In the meantime, /readyz
// tells load balancers to send requests elsewhere.
func (c *Config) linger(ctx context.Context) (context.Context, context.CancelFunc) {
	lingering, end := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() {
		if c.DrainDelay > 0 {
			c.Logger.Info("draining: /readyz answers 503, requests are still answered", "for", c.DrainDelay.String(), "cause", context.Cause(ctx))
			select {
			case <-time.After(c.DrainDelay):
			case <-lingering.Done():
			}
		}
		c.Logger.Info("shutting down", "within", c.DrainTimeout.String(), "cause", context.Cause(ctx))
		end(context.Cause(ctx))
	})
	return lingering, func() { unhook(); end(nil) }
}

// readyCheck returns the check of /readyz. A server that shuts down is not ready, so that
// load balancers send requests to other servers.
func (c *Config) readyCheck(p *platform.Platform) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-c.draining:
			return core.Unavailable("the server is shutting down", nil)
		default:
			return p.Ready(ctx)
		}
	}
}
