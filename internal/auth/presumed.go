package auth

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
)

// servePresumed lets next answer a request whose bearer is presumed in ctx. If the
// bearer turns out to be somebody else, it drops what next answered and lets restart
// answer.
func servePresumed(ctx context.Context, w http.ResponseWriter, r *http.Request, next http.Handler, restart http.HandlerFunc, onError func(http.ResponseWriter, *http.Request, error)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prove := func() error { return core.Prove(ctx) }
	body := &repeatableBody{from: r.Body, prove: prove}
	held := &heldResponse{ResponseWriter: w, before: maps.Clone(w.Header()), prove: prove, cancel: cancel}
	try := r.WithContext(ctx)
	try.Body = body
	next.ServeHTTP(held, try)
	if held.release() {
		return
	}
	held.restoreHeader() // next may have changed it again
	switch {
	case body.failed: // net/http has ended the context, but the client may still wait for an answer
		onError(w, r, errBody)
	case r.Context().Err() != nil: // the client has disconnected, or only sends no more
		panic(http.ErrAbortHandler) // net/http would send 200
	case iam.PresumptionOf(ctx).IsRefuted():
		core.TraceOf(ctx).NoteRestart()
		r.Body = body.repeat()
		restart(w, r)
	default:
		onError(w, r, held.err)
	}
}

// A heldResponse is the answer for a presumed bearer. It is held back until the bearer is
// proven, and dropped if the bearer is not.
type heldResponse struct {
	http.ResponseWriter
	before http.Header // header as it was when the handler got it
	prove  func() error
	cancel context.CancelFunc // ends a handler whose answer is dropped

	isReleased bool
	err        error // reason why the answer is dropped
}

// release proves the bearer and reports whether the answer may be sent.
func (a *heldResponse) release() bool {
	if a.isReleased || a.err != nil {
		return a.isReleased
	}
	if a.err = a.prove(); a.err == nil {
		a.isReleased = true
		return true
	}
	a.cancel()
	a.restoreHeader()
	return false
}

// restoreHeader removes what the handler has set.
func (a *heldResponse) restoreHeader() {
	header := a.Header()
	clear(header)
	maps.Copy(header, a.before)
}

// WriteHeader sends the header of an answer that is not dropped.
func (a *heldResponse) WriteHeader(status int) {
	if a.release() {
		a.ResponseWriter.WriteHeader(status)
	}
}

// Write sends a part of an answer that is not dropped.
func (a *heldResponse) Write(b []byte) (int, error) {
	if !a.release() {
		return len(b), nil
	}
	return a.ResponseWriter.Write(b)
}

// FlushError sends what was written of an answer that is not dropped.
func (a *heldResponse) FlushError() error {
	if !a.release() {
		return nil
	}
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Flush is FlushError for handlers that take any http.Flusher.
func (a *heldResponse) Flush() { _ = a.FlushError() }

// Unwrap lets http.ResponseController reach the connection.
func (a *heldResponse) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// maxRepeatable is how much of a body is kept until the bearer is proven.
const maxRepeatable = 64 << 10

var errBody = core.Invalid(fieldmask.Violation{Field: "body", Description: "could not be read completely"})

// A repeatableBody keeps what was read from a body, so that it can be read again.
type repeatableBody struct {
	from     io.ReadCloser
	kept     []byte
	isProven bool // whether the bearer is proven, so nothing more is kept
	failed   bool // whether the body could not be read, for example because the client was too slow
	prove    func() error
}

// Read reads the body. Where that would be more than is kept, the bearer is proven
// first.
func (b *repeatableBody) Read(to []byte) (int, error) {
	if !b.isProven && len(b.kept) >= maxRepeatable {
		if err := b.prove(); err != nil {
			return 0, err
		}
		b.isProven, b.kept = true, nil
	}
	if !b.isProven {
		to = to[:min(len(to), maxRepeatable-len(b.kept))]
	}
	n, err := b.from.Read(to)
	b.failed = b.failed || err != nil && !errors.Is(err, io.EOF)
	if !b.isProven {
		b.kept = append(b.kept, to[:n]...)
	}
	return n, err
}

// Close does nothing: net/http closes the body, and until then it may be read again.
func (b *repeatableBody) Close() error { return nil }

// repeat returns the body from its beginning.
func (b *repeatableBody) repeat() io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(b.kept), b.from), b.from}
}
