package webhook

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

	"atrium/internal/webhook/message"
	"atrium/platform/core"
	"atrium/platform/webhooks"
)

const (
	// sendTimeout limits one attempt, from the DNS lookup to the last byte.
	sendTimeout = 15 * time.Second
	// maxAnswer is how many bytes of an answer are read.
	maxAnswer = 1 << 10
	// maxRetryAfter is the longest Retry-After that an Attempt reports. The
	// platform decides how much of it is granted.
	maxRetryAfter = 365 * 24 * time.Hour
)

// SenderOptions configures a Sender.
type SenderOptions struct {
	// Client makes the requests. It must refuse private addresses, because
	// outsiders choose the sinks.
	Client    *http.Client
	Keys      KeyReader        // returns the keys that sign the tokens
	Issuer    string           // public URL of the service, without a slash at its end
	UserAgent string           // value of the User-Agent header; "" means atrium
	Console   string           // URL of the console, to which messages have links; "" if there is none
	Mail      *MailServer      // nil means that no mail can be sent
	Now       func() time.Time // nil means time.Now
}

// A Sender sends events to sinks. It is safe for concurrent use.
type Sender struct {
	client    *http.Client
	issuer    *issuer
	userAgent string
	console   string
	mail      *MailServer
	now       func() time.Time
}

// NewSender returns a Sender that uses a copy of o.Client.
func NewSender(o SenderOptions) *Sender {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.UserAgent == "" {
		o.UserAgent = "atrium"
	}
	client := *o.Client
	// A redirect is an answer like any other. The Sender does not follow it,
	// because the subscriber did not choose its target.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Sender{
		client: &client, issuer: &issuer{url: o.Issuer, now: o.Now, readKeys: o.Keys},
		userAgent: o.UserAgent, console: o.Console, mail: o.Mail, now: o.Now,
	}
}

// Send makes one attempt, of at most 15 seconds, and returns its result. It stores
// nothing. If ctx ends first, the result has no answer, and the caller decides
// whether the attempt counts.
func (s *Sender) Send(ctx context.Context, d *webhooks.Dispatch) webhooks.Attempt {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if d.Format == webhooks.FormatEmail {
		return s.sendMail(ctx, d)
	}
	request, err := s.newRequest(ctx, d)
	switch {
	case errors.Is(err, &core.Error{Code: core.CodeUnavailable}):
		return webhooks.Attempt{OwnFault: err}
	case err != nil:
		return webhooks.Attempt{Error: FailureReason(err)}
	}
	response, err := s.client.Do(request)
	if err != nil {
		return webhooks.Attempt{Error: FailureReason(err)}
	}
	defer func() { _ = response.Body.Close() }()
	var answer []byte
	// The body of a 101 is the connection, which obeys no time limit.
	if response.StatusCode != http.StatusSwitchingProtocols {
		// An answer with an incomplete body is still an answer.
		answer, _ = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	}
	return webhooks.Attempt{
		Status:     response.StatusCode,
		Answer:     toPrintable(answer),
		RetryAfter: parseRetryAfter(response.Header.Get("Retry-After"), s.now()),
	}
}

// newRequest builds the request of a delivery. That of a message for a chat has no token and no signature: its URL is the secret.
func (s *Sender) newRequest(ctx context.Context, d *webhooks.Dispatch) (*http.Request, error) {
	write := map[webhooks.Format]func(*webhooks.Message, string) ([]byte, error){webhooks.FormatSlack: message.Slack, webhooks.FormatTeams: message.Teams}[d.Format]
	if write == nil {
		return s.eventRequest(ctx, d)
	}
	body, err := write(d.Message, s.console)
	if err != nil {
		return nil, requestError{"the message cannot be written", err}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.Sink, bytes.NewReader(body))
	if err != nil {
		return nil, requestError{"the sink is not a URL", err}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", s.userAgent)
	return request, nil
}

// eventRequest builds the request of an event with all its headers.
func (s *Sender) eventRequest(ctx context.Context, d *webhooks.Dispatch) (*http.Request, error) {
	data, err := encodeData(d.Event)
	if err != nil {
		return nil, requestError{"the event cannot be written", err}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.Sink, bytes.NewReader(data))
	if err != nil {
		return nil, requestError{"the sink is not a URL", err}
	}
	group := d.Delivery.UID.Parent().Parent() // the parent of the subscription
	token, err := s.issuer.token(ctx, group, data)
	if err != nil {
		return nil, requestError{"the service could not sign the delivery", err}
	}
	header := request.Header
	header.Set("Authorization", "Bearer "+token)
	header.Set("User-Agent", s.userAgent)
	setEventHeaders(header, d.Event, s.issuer.url)
	if t := core.TraceOf(ctx); t != nil && t.Parent != "" {
		header.Set("Traceparent", t.Parent)
	}
	if err := setSignatureHeaders(header, d.Event.ID, s.now(), data, d.Secrets); err != nil {
		return nil, requestError{"the secret of the subscription is not valid", err}
	}
	// Receivers recognize an event by its id, so net/http may repeat the request
	// when an idle connection turns out to be closed. This entry allows that; it
	// has no value, so the header is not sent.
	header["Idempotency-Key"] = []string{}
	return request, nil
}

// toPrintable drops invalid UTF-8 and control characters from text, and turns
// each kind of white space into a space.
func toPrintable(text []byte) string {
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

// parseRetryAfter reads seconds or an HTTP date. It returns 0 for a value that it
// cannot read and for a time in the past.
func parseRetryAfter(value string, now time.Time) time.Duration {
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
