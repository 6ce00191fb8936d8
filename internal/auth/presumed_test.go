package auth

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAHeldAnswerIsSentOnceItsBearerIsProven(t *testing.T) {
	t.Parallel()
	for name, refuted := range map[string]error{"proven": nil, "refuted": errors.New("refuted")} {
		sent := httptest.NewRecorder()
		sent.Header().Set("X-Request-Id", "1")
		proofs := 0
		ctx, cancel := context.WithCancel(t.Context())
		held := &heldResponse{ResponseWriter: sent, before: sent.Header().Clone(), cancel: cancel, prove: func() error { proofs++; return refuted }}
		held.Header().Set("X-Request-Id", "2")
		held.Header().Set("Content-Type", "text/plain")
		held.WriteHeader(http.StatusTeapot)
		if n, err := io.WriteString(held, "the answer"); n != 10 || err != nil {
			t.Errorf("%s: a handler is told that it wrote %d bytes, want 10 (%v)", name, n, err)
		}
		if err := http.NewResponseController(held).Flush(); err != nil {
			t.Errorf("%s: flush: %v", name, err)
		}
		isSent := held.release()
		if refuted != nil { // A handler may change the header after it has answered.
			held.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
			held.restoreHeader()
		}
		switch {
		case proofs != 1:
			t.Errorf("%s: the bearer was proven %d times", name, proofs)
		case refuted == nil && (!isSent || sent.Code != http.StatusTeapot || sent.Body.String() != "the answer" || !sent.Flushed || ctx.Err() != nil):
			t.Errorf("%s: %t, sent %d %q", name, isSent, sent.Code, sent.Body)
		case refuted != nil && (isSent || sent.Body.Len() > 0 || sent.Flushed || len(sent.Header()) != 1 || sent.Header().Get("X-Request-Id") != "1"):
			t.Errorf("%s: %t, sent %d %q with %v", name, isSent, sent.Code, sent.Body, sent.Header())
		case refuted != nil && ctx.Err() == nil:
			t.Errorf("%s: a handler that streams for the bearer would go on", name)
		}
	}
}

func TestABodyIsReadAgainFromItsBeginning(t *testing.T) {
	t.Parallel()
	refuted := errors.New("refuted")
	for _, size := range []int{0, 10, maxRepeatable, 3*maxRepeatable + 1} {
		text := strings.Repeat("0123456789abcdef", size/16+1)[:size]
		body := &repeatableBody{from: io.NopCloser(strings.NewReader(text)), prove: func() error { return refuted }}
		first, err := io.ReadAll(body)
		if tooLong := size >= maxRepeatable; tooLong != errors.Is(err, refuted) || len(body.kept) > maxRepeatable {
			t.Errorf("%d bytes: read %d, kept %d, error %v", size, len(first), len(body.kept), err)
		}
		if again, err := io.ReadAll(body.repeat()); string(again) != text || err != nil {
			t.Errorf("%d bytes: read %d again (%v), want %v", size, len(again), err, text)
		}
	}
	long := strings.Repeat("x", 3*maxRepeatable)
	proven := &repeatableBody{from: io.NopCloser(strings.NewReader(long)), prove: func() error { return nil }}
	if read, err := io.ReadAll(proven); string(read) != long || err != nil || proven.kept != nil {
		t.Errorf("of a proven bearer: read %d, kept %d, error %v", len(read), len(proven.kept), err)
	}
}
