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

// A retryTransport retries requests that may succeed later, limits the body of an
// answer to MaxRecord bytes, and keeps only the link to the next page of a list. Unlike
// the retries of the client library, it stops waiting when the context ends and obeys
// Retry-After.
type retryTransport struct {
	inner http.RoundTripper
	pause time.Duration // pause before the second try; the third one waits three times as long
}

const (
	maxTries = 3
	// maxPause is the longest Retry-After that is obeyed; a longer one ends the
	// retries.
	maxPause = time.Minute
)

// RoundTrip sends the request, and again after a transient failure.
func (t *retryTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	for try, pause := 1, t.pause; ; try, pause = try+1, 3*pause {
		answer, err := t.inner.RoundTrip(request)
		wait := max(pause, parseRetryAfter(answer))
		if try == maxTries || request.Body != nil || !isRetryable(answer, err) || wait > maxPause {
			return prepareAnswer(answer, err)
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

// isRetryable reports whether the result of a request is a transient failure.
func isRetryable(answer *http.Response, err error) bool {
	if err != nil {
		return isConnectionError(err)
	}
	return isTransientStatus(answer.StatusCode)
}

// isTransientStatus reports whether the same request may succeed later.
func isTransientStatus(code int) bool {
	return slices.Contains([]int{
		http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, code)
}

// isConnectionError reports whether a connection broke or timed out.
func isConnectionError(err error) bool {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return true
	}
	for _, broken := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}

// parseRetryAfter returns the pause that the Retry-After header asks for, as seconds or as a
// date, or 0. A date counts from the date of the answer, because clocks can differ.
func parseRetryAfter(answer *http.Response) time.Duration {
	if answer == nil {
		return 0
	}
	after := answer.Header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(after, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(after)
	if err != nil {
		return 0
	}
	if now, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		return until.Sub(now)
	}
	return time.Until(until)
}

// prepareAnswer makes reading the body fail after MaxRecord bytes, and keeps only the link to
// the next page.
func prepareAnswer(answer *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return answer, err
	}
	if err := keepNextLink(answer); err != nil {
		return nil, errors.Join(err, answer.Body.Close())
	}
	answer.Body = &limitedBody{answer.Body, MaxRecord}
	return answer, nil
}

// A limitedBody fails once more than left bytes were read.
type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
