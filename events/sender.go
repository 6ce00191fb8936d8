package events

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"atrium/platform"
)

const (
	sendTimeout = 15 * time.Second // one attempt, from the first look-up to the last byte
	maxAnswer   = 1 << 10          // bytes that are read of an answer
	// maxRetryAfter bounds what a sink may ask for. How much of it is granted
	// is the schedule's to say.
	maxRetryAfter = 365 * 24 * time.Hour
)

// SenderOptions are what a Sender needs.
type SenderOptions struct {
	// Client makes the requests. Sinks are chosen by strangers: it must keep
	// off private addresses.
	Client    *http.Client
	Keys      KeyReader        // sign the tokens
	Issuer    string           // public URL of the service, without a slash at its end
	UserAgent string           // how the service calls itself; "" is atrium
	Now       func() time.Time // nil is time.Now
}

// A Sender makes attempts to deliver. It may be used by many at once.
type Sender struct {
	client    *http.Client
	issuer    *issuer
	userAgent string
	now       func() time.Time
}

// NewSender makes one.
func NewSender(o SenderOptions) *Sender {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.UserAgent == "" {
		o.UserAgent = "atrium"
	}
	client := *o.Client
	// A redirect is an answer like any other: followed it would lead where
	// the subscriber did not ask for.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Sender{
		client: &client, issuer: &issuer{url: o.Issuer, now: o.Now, key: o.Keys},
		userAgent: o.UserAgent, now: o.Now,
	}
}

// Send makes one attempt, of 15 seconds at most, and tells how it went. It
// changes nothing but the sink: when ctx ends before, the attempt tells of no
// answer, and whether it counts is the caller's to say.
func (s *Sender) Send(ctx context.Context, d *platform.Dispatch) platform.Attempt {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	request, err := s.request(ctx, d)
	if err != nil {
		return platform.Attempt{Error: reason(err)}
	}
	response, err := s.client.Do(request)
	if err != nil {
		return platform.Attempt{Error: reason(err)}
	}
	defer func() { _ = response.Body.Close() }() // only read from
	// What breaks off has been answered all the same.
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return platform.Attempt{
		Status:     response.StatusCode,
		Answer:     printable(answer),
		RetryAfter: retryAfter(response.Header.Get("Retry-After"), s.now()),
	}
}

// request is a delivery with all its headers.
func (s *Sender) request(ctx context.Context, d *platform.Dispatch) (*http.Request, error) {
	data, err := message(d.Event)
	if err != nil {
		return nil, fault{"the event cannot be written", err}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.Sink, bytes.NewReader(data))
	if err != nil {
		return nil, fault{"the sink is not a URL", err}
	}
	group := d.Delivery.UID.Parent().Parent() // of the subscription that the delivery is of
	token, err := s.issuer.token(ctx, group, data)
	if err != nil {
		return nil, fault{"the service could not sign the delivery", err}
	}
	header := request.Header
	header.Set("Authorization", "Bearer "+token)
	header.Set("User-Agent", s.userAgent)
	describe(header, d.Event, s.issuer.url)
	if err := sign(header, d.Event.ID, s.now(), data, d.Secrets); err != nil {
		return nil, fault{"the secret of the subscription is not valid", err}
	}
	// Receivers know an event by its id. So net/http may send it once more
	// when a kept connection turns out to be closed. Without a value the
	// header itself is not sent.
	header["Idempotency-Key"] = []string{}
	return request, nil
}

// printable keeps what can be shown of a text in any encoding.
func printable(text []byte) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		default:
			return -1
		}
	}, strings.ToValidUTF8(string(text), ""))
	return strings.TrimSpace(clean)
}

// retryAfter reads seconds or an HTTP date; 0 is no wish that can be read, or
// one of the past.
func retryAfter(value string, now time.Time) time.Duration {
	var wait time.Duration
	seconds, err := strconv.ParseUint(value, 10, 32)
	switch {
	case err == nil:
		wait = time.Duration(seconds) * time.Second
	case errors.Is(err, strconv.ErrRange):
		wait = maxRetryAfter
	default:
		if at, err := http.ParseTime(value); err == nil {
			wait = at.Sub(now)
		}
	}
	return min(max(wait, 0), maxRetryAfter)
}
