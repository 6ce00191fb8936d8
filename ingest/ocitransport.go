package ingest

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// A patient transport tries again what may work a moment later, and reads no
// answer of more than MaxRecord bytes. Unlike the client's own it stops
// waiting when the context ends, and waits as long as the registry asks.
type patient struct {
	inner http.RoundTripper
	pause time.Duration // before the second try; the third waits three times as long
}

const (
	tries        = 3
	longestPause = time.Minute // who wants us to wait longer has refused
)

// RoundTrip sends the request, again where it failed for a while only.
func (t *patient) RoundTrip(request *http.Request) (*http.Response, error) {
	for try, pause := 1, t.pause; ; try, pause = try+1, 3*pause {
		answer, err := t.inner.RoundTrip(request)
		wait := max(pause, retryAfter(answer))
		if try == tries || request.Body != nil || !transient(answer, err) || wait > longestPause {
			return bounded(answer), err
		}
		if answer != nil {
			_ = answer.Body.Close()
		}
		timer := time.NewTimer(wait)
		select {
		case <-request.Context().Done():
			timer.Stop()
			return nil, request.Context().Err()
		case <-timer.C:
		}
	}
}

func transient(answer *http.Response, err error) bool {
	if err != nil {
		return outage(err)
	}
	return passingStatus(answer.StatusCode)
}

// passingStatus reports whether the same request may be answered later.
func passingStatus(code int) bool {
	return slices.Contains([]int{
		http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, code)
}

// outage reports whether a connection broke or was too slow.
func outage(err error) bool {
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() {
		return true
	}
	for _, broken := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}

// retryAfter is how long an answer asks to wait.
func retryAfter(answer *http.Response) time.Duration {
	if answer == nil {
		return 0
	}
	seconds, err := strconv.ParseInt(answer.Header.Get("Retry-After"), 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// bounded lets reading an answer fail where it is too large.
func bounded(answer *http.Response) *http.Response {
	if answer != nil && answer.Body != nil {
		answer.Body = &boundedBody{answer.Body, MaxRecord}
	}
	return answer
}

type boundedBody struct {
	io.ReadCloser
	left int
}

// Read reads what the bound leaves.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
