package transport

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"atrium/internal/graphql/refusal"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// errClosing is the last error of a stream when the server shuts down. The client can
// resume after the last event that it received.
var errClosing = refusal.NewUnavailable("the server is shutting down; subscribe again, after the last event")

// lifetime returns a context that ends with ctx, with the token of the caller, with
// the server, or when end is called.
func (e *endpoint) lifetime(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if e.Closing != nil {
		ended := ctx.Done() // ctx changes below
		go func() {
			select {
			case <-e.Closing:
				cancel(errClosing)
			case <-ended:
			}
		}()
	}
	caller := e.Identify(ctx)
	if caller.Expires.IsZero() {
		return ctx, func() { cancel(nil) }
	}
	ctx, stop := context.WithDeadlineCause(ctx, caller.Expires, refusal.NewUnauthenticated("the token has expired"))
	return ctx, func() { stop(); cancel(nil) }
}

// reasonOf returns the error that ended ctx, if the token expired or the server is
// shutting down.
func reasonOf(ctx context.Context) *refusal.Error {
	var reason *refusal.Error
	if ctx.Err() != nil {
		errors.As(context.Cause(ctx), &reason)
	}
	return reason
}

// stream writes responses as server-sent events, in the distinct connections mode of
// graphql-sse, until they end, ctx ends or the client stops reading.
func (e *endpoint) stream(ctx context.Context, end func(), w http.ResponseWriter, responses iter.Seq[*graphql.Response]) {
	out := &eventWriter{w: w, control: http.NewResponseController(w), wait: e.WriteWait}
	defer out.setDeadline() // for the last write by net/http
	var alive sync.WaitGroup
	defer alive.Wait()
	defer end()
	w.Header().Set("Content-Type", mediaEvents+utf8Charset)
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
	w.WriteHeader(http.StatusOK)
	if out.write(comment) != nil { // immediately, so that the client sees that the stream is open
		return
	}
	alive.Go(func() { out.keepAlive(ctx, e.KeepAlive, end) })

	for response := range responses {
		if isInterrupted(response) {
			out.interrupt(response.Errors[0])
			return
		}
		if out.event("next", encode(response)) != nil {
			return
		}
	}
	if reason := reasonOf(ctx); reason != nil {
		out.interrupt(e.Present(ctx, reason))
	} else if ctx.Err() == nil {
		_ = out.event("complete", nil)
	}
}

// isInterrupted reports whether a response is the end of a subscription that goes on if the
// client subscribes again: with a new token, or a little later. A subscription that was
// refused has never been open.
func isInterrupted(response *graphql.Response) bool {
	if response.HasNext == nil || len(response.Errors) != 1 {
		return false
	}
	code := codeOf(response.Errors[0])
	return code == refusal.Unauthenticated || code == refusal.Unavailable
}

// An eventWriter writes events with a deadline for each.
type eventWriter struct {
	w       io.Writer
	control *http.ResponseController
	wait    time.Duration
	lock    sync.Mutex
}

// interrupt ends the stream so that clients subscribe again. They do so if a stream ends without
// `complete`. An error in `next` would be the last answer for some of them, so the reason is in a
// comment, for people.
func (out *eventWriter) interrupt(reason *gqlerror.Error) {
	_ = out.write(": " + strings.ReplaceAll(reason.Message, "\n", " ") + "\n\n")
}

// event writes one event. Browsers ignore an event without data.
func (out *eventWriter) event(name string, data []byte) error {
	return out.write("event: "+name+"\ndata: ", string(data), "\n\n")
}

func (out *eventWriter) write(parts ...string) error {
	out.lock.Lock()
	defer out.lock.Unlock()
	out.setDeadline()
	// The deadline is removed after the write, because HTTP/2 ends a stream at its
	// deadline even if there is nothing to write.
	defer func() { _ = out.control.SetWriteDeadline(time.Time{}) }()
	for _, part := range parts {
		if _, err := io.WriteString(out.w, part); err != nil {
			return err
		}
	}
	return out.control.Flush()
}

// setDeadline sets the deadline of the next write. It has no effect if the connection
// supports none, as in tests, where writes do not block.
func (out *eventWriter) setDeadline() {
	var deadline time.Time
	if out.wait > 0 {
		deadline = time.Now().Add(out.wait)
	}
	_ = out.control.SetWriteDeadline(deadline)
}

// comment is a line that readers of events ignore. It keeps the connection open.
const comment = ":\n\n"

// keepAlive writes a comment at each interval. It calls gone if the client does not read
// it.
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
