package webhook

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"atrium/internal/webhook/message"
	"atrium/platform/webhooks"
)

// A MailServer is the server of the operator that takes mail.
type MailServer struct {
	// URL has the scheme smtp, with STARTTLS, or smtps, with TLS from the start, or smtp+plain, without TLS. Its user is that
	// of the server.
	URL  *url.URL
	From *netmail.Address // the sender
	TLS  *tls.Config      // nil means the authorities of this machine
}

// ParseMailServer reads the URL of a mail server. Its errors do not show the URL, which may have a password.
func ParseMailServer(server string) (*MailServer, error) {
	u, err := url.Parse(server)
	switch {
	case err != nil || u.Hostname() == "" || !map[string]bool{"smtp": true, "smtps": true, "smtp+plain": true}[u.Scheme]:
		return nil, errors.New("must be smtp://HOST:PORT with STARTTLS, smtps://HOST:PORT, or smtp+plain://HOST:PORT without TLS")
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("must end with the host or the port")
	case u.Scheme == "smtp+plain" && u.User != nil:
		return nil, errors.New("must not have a user without TLS")
	}
	return &MailServer{URL: u}, nil
}

// port returns the port, which is that of the scheme if the URL has none.
func (m *MailServer) port() int {
	if n, err := strconv.Atoi(m.URL.Port()); err == nil {
		return n
	}
	return map[string]int{"smtp": 587, "smtps": 465, "smtp+plain": 25}[m.URL.Scheme]
}

// A refusal is what the mail server says about a recipient.
type refusal struct {
	recipient string
	code      int
}

// patientAttempts is how many attempts wait for a recipient that the server refuses for now, as with greylisting. Later ones
// send the mail to the others.
const patientAttempts = 4

// sendMail makes one attempt to send a message to the recipients of a subscription. Status is the reply code of the server.
func (s *Sender) sendMail(ctx context.Context, d *webhooks.Dispatch) webhooks.Attempt {
	if s.mail == nil {
		return webhooks.Attempt{Error: "this server cannot send mail: the operator has set no mail server"}
	}
	letter, err := s.letter(d)
	if err != nil {
		return webhooks.Attempt{Error: FailureReason(requestError{"the mail cannot be written", err})}
	}
	refused, err := s.mail.deliver(ctx, letter, webhooks.Recipients(d.Sink), int(d.Delivery.Attempts) < patientAttempts)
	var reply *textproto.Error
	switch {
	case errors.As(err, &reply):
		return webhooks.Attempt{Status: reply.Code, Answer: describeRefusals(refused)}
	case err != nil:
		return webhooks.Attempt{Error: FailureReason(err)}
	}
	return webhooks.Attempt{Status: replyOK, Answer: describeRefusals(refused)}
}

// replyOK is the reply code of a mail server that has taken a mail.
const replyOK = 250

// describeRefusals names the recipients that the server refuses. What else it says is for the operator.
func describeRefusals(refused []refusal) string {
	if len(refused) == 0 {
		return ""
	}
	described := make([]string, len(refused))
	for i, r := range refused {
		described[i] = fmt.Sprintf("%s (%d)", r.recipient, r.code)
	}
	return "refused: " + strings.Join(described, ", ")
}

// deliver hands a letter over for its recipients, and returns those that the server refuses. If it refuses all, or if it refuses
// one for now and the caller is patient, it takes no letter, and the error is its reply.
func (m *MailServer) deliver(ctx context.Context, letter *mail.Msg, recipients []string, patient bool) (refused []refusal, err error) {
	client, err := m.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	if err := client.Mail("<" + m.From.Address + ">"); err != nil {
		return nil, err
	}
	accepted := 0
	var last error
	for _, recipient := range recipients {
		var reply *textproto.Error
		err := client.Rcpt("<" + recipient + ">")
		switch {
		case err == nil:
			accepted++
			continue
		case !errors.As(err, &reply):
			return nil, err
		}
		refused, last = append(refused, refusal{recipient, reply.Code}), err
		if patient && reply.Code < 500 {
			return refused, err
		}
	}
	if accepted == 0 {
		return refused, last
	}
	body, err := client.Data()
	if err != nil {
		return refused, err
	}
	if _, err := letter.WriteTo(body); err != nil {
		return refused, err // the connection is closed, so the server takes no part of it
	}
	if err := body.Close(); err != nil {
		return refused, err
	}
	_ = client.Quit() // the server has taken the letter
	return refused, nil
}

// dial connects, begins TLS and signs in. The connection ends by itself after sendTimeout.
func (m *MailServer) dial(ctx context.Context) (*smtp.Client, error) {
	host := m.URL.Hostname()
	settings := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if m.TLS != nil {
		settings = m.TLS.Clone()
		settings.ServerName = host
	}
	options := []mail.Option{mail.WithPort(m.port()), mail.WithTimeout(sendTimeout), mail.WithTLSConfig(settings), mail.WithTLSPolicy(mail.TLSMandatory)}
	switch m.URL.Scheme {
	case "smtps":
		options = append(options, mail.WithSSL())
	case "smtp+plain":
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if password, _ := m.URL.User.Password(); m.URL.User != nil {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(m.URL.User.Username()), mail.WithPassword(password))
	}
	client, err := mail.NewClient(host, options...)
	if err != nil {
		return nil, err
	}
	connected, err := client.DialToSMTPClientWithContext(ctx)
	switch {
	case err == nil:
		return connected, nil
	case strings.Contains(err.Error(), "SMTP AUTH"): // the library has no error of its own for these two
		return nil, requestError{"the mail server does not accept the user that the operator of this service has set", errors.New("signing in failed")}
	case strings.Contains(err.Error(), "does not support STARTTLS"):
		return nil, requestError{"the mail server offers no TLS", errors.New("STARTTLS is missing")}
	}
	return nil, err
}

// letter writes a message as mail. It is the same on every attempt, apart from its date, and so is its id.
func (s *Sender) letter(d *webhooks.Dispatch) (*mail.Msg, error) {
	text := message.NewMail(d.Message, s.console)
	letter := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := letter.From(s.mail.From.String()); err != nil {
		return nil, err
	}
	if err := letter.To(webhooks.Recipients(d.Sink)...); err != nil {
		return nil, err
	}
	_, domain, _ := strings.Cut(s.mail.From.Address, "@")
	id := sha256.Sum256([]byte(d.Delivery.UID))
	letter.SetMessageIDWithValue(hex.EncodeToString(id[:16]) + "@" + domain)
	letter.SetDateWithValue(s.now())
	letter.Subject(text.Subject)
	letter.SetGenHeader("Auto-Submitted", "auto-generated")
	letter.SetGenHeader("X-Auto-Response-Suppress", "All")
	if text.Unsubscribe != "" {
		letter.SetGenHeaderPreformatted("List-Unsubscribe", "<"+text.Unsubscribe+">")
	}
	letter.SetBodyString(mail.TypeTextPlain, text.Text)
	letter.AddAlternativeString(mail.TypeTextHTML, text.HTML)
	return letter, nil
}
