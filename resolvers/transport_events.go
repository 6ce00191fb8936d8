package resolvers

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/platform"
)

// errClosing is why a stream ends when the server does. The stream says so
// before its end: a client goes on behind the last event that it got.
var errClosing = platform.Unavailable("the server is shutting down; subscribe again, after the last event", nil)

// lifetime gives a context that ends with ctx, with the token of its caller,
// with the server, and with end.
func (e *endpoint) lifetime(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if e.closing != nil {
		go func() {
			select {
			case <-e.closing:
				cancel(errClosing)
			case <-ctx.Done():
			}
		}()
	}
	actor := platform.ActorOf(ctx)
	if actor == nil || actor.Expires.IsZero() {
		return ctx, func() { cancel(nil) }
	}
	ctx, stop := context.WithDeadlineCause(ctx, actor.Expires, platform.Unauthenticated("the token has expired"))
	return ctx, func() { stop(); cancel(nil) }
}

// reasonOf is the error that ended ctx, if the caller's token or the server did.
func reasonOf(ctx context.Context) *platform.Error {
	var reason *platform.Error
	if ctx.Err() != nil {
		errors.As(context.Cause(ctx), &reason)
	}
	return reason
}

// An ending is why a subscription ends. Its resolver can only close a channel,
// which does not tell.
type ending struct {
	lock sync.Mutex
	err  error
}

type endingKey struct{}

func withEnding(ctx context.Context) (context.Context, *ending) {
	end := &ending{}
	return context.WithValue(ctx, endingKey{}, end), end
}

// endWith makes err the last that the subscription of ctx tells its client. The
// resolver calls it before it closes its channel.
func endWith(ctx context.Context, err error) {
	if end, ok := ctx.Value(endingKey{}).(*ending); ok {
		end.lock.Lock()
		defer end.lock.Unlock()
		end.err = err
	}
}

func (e *ending) reason() error {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.err
}

// stream writes responses as server-sent events, in graphql-sse's mode of
// distinct connections. They end when ctx does, which a client that takes
// nothing any more ends too.
func (e *endpoint) stream(ctx context.Context, end func(), w http.ResponseWriter, responses iter.Seq[*graphql.Response]) {
	out := &eventWriter{w: w, control: http.NewResponseController(w), wait: e.WriteWait}
	defer out.hurry() // what net/http writes in the end
	var alive sync.WaitGroup
	defer alive.Wait()
	defer end()
	w.Header().Set("Content-Type", mediaEvents+"; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
	w.WriteHeader(http.StatusOK)
	if out.write(comment) != nil { // at once, so that the client sees the stream open
		return
	}
	alive.Go(func() { out.keepAlive(ctx, e.KeepAlive, end) })

	for response := range responses {
		if out.event("next", encode(response)) != nil {
			return
		}
	}
	if reason := reasonOf(ctx); reason != nil {
		_ = out.event("next", encode(&graphql.Response{Errors: gqlerror.List{e.present(ctx, reason)}}))
	} else if ctx.Err() != nil {
		return
	}
	_ = out.event("complete", nil)
}

// An eventWriter writes events of which each must be taken in time.
type eventWriter struct {
	w       io.Writer
	control *http.ResponseController
	wait    time.Duration
	lock    sync.Mutex
}

// event writes one event; one without data would not be noticed.
func (out *eventWriter) event(name string, data []byte) error {
	return out.write("event: "+name+"\ndata: ", string(data), "\n\n")
}

func (out *eventWriter) write(parts ...string) error {
	out.lock.Lock()
	defer out.lock.Unlock()
	out.hurry()
	// Not left running: HTTP/2 ends a stream whose time is up even while there
	// is nothing to write.
	defer func() { _ = out.control.SetWriteDeadline(time.Time{}) }()
	for _, part := range parts {
		if _, err := io.WriteString(out.w, part); err != nil {
			return err
		}
	}
	return out.control.Flush()
}

// hurry sets the time for what is written next. It fails where there is none to
// set, as in tests, where writes do not block.
func (out *eventWriter) hurry() {
	var deadline time.Time
	if out.wait > 0 {
		deadline = time.Now().Add(out.wait)
	}
	_ = out.control.SetWriteDeadline(deadline)
}

// comment is what readers of events pass over.
const comment = ":\n\n"

// keepAlive writes comments, and calls gone when nobody takes them.
func (out *eventWriter) keepAlive(ctx context.Context, every time.Duration, gone func()) {
	if every <= 0 {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if out.write(comment) != nil {
				gone()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
