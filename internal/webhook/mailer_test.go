package webhook

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// A mailbox is a mail server that keeps what it takes.
type mailbox struct {
	refuse    map[string]int // reply codes by recipient
	mechanism string         // "" means that nobody signs in

	lock  sync.Mutex
	taken []takenMail
}

type takenMail struct {
	user, from string
	to         []string
	data       []byte
}

type mailSession struct {
	box *mailbox
	now takenMail
}

func (b *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &mailSession{box: b}, nil }

func (s *mailSession) Reset()        { s.now = takenMail{user: s.now.user} }
func (s *mailSession) Logout() error { return nil }

func (s *mailSession) AuthMechanisms() []string {
	if s.box.mechanism == "" {
		return nil
	}
	return []string{s.box.mechanism}
}

func (s *mailSession) Auth(string) (sasl.Server, error) {
	check := func(user, password string) error {
		if user != "atrium@example.com" || password != "a b:c" {
			return smtp.ErrAuthFailed
		}
		s.now.user = user
		return nil
	}
	return sasl.NewPlainServer(func(_, user, password string) error { return check(user, password) }), nil
}

func (s *mailSession) Mail(from string, _ *smtp.MailOptions) error {
	s.now.from = from
	return nil
}

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	if code := s.box.refuse[to]; code != 0 {
		return &smtp.SMTPError{Code: code, Message: "no, says host-7.internal"}
	}
	s.now.to = append(s.now.to, to)
	return nil
}

func (s *mailSession) Data(r io.Reader) (err error) {
	if s.now.data, err = io.ReadAll(r); err == nil {
		s.box.lock.Lock()
		defer s.box.lock.Unlock()
		s.box.taken = append(s.box.taken, s.now)
	}
	return err
}

func (b *mailbox) list() []takenMail {
	b.lock.Lock()
	defer b.lock.Unlock()
	return slices.Clone(b.taken)
}

// serveMail starts a mail server and returns how it is named, with a user or without.
func serveMail(t *testing.T, box *mailbox, scheme, user string) *MailServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	certified := httptest.NewUnstartedServer(http.NotFoundHandler())
	certified.StartTLS()
	t.Cleanup(certified.Close)
	server := smtp.NewServer(box)
	server.Domain, server.AllowInsecureAuth, server.ReadTimeout, server.WriteTimeout = "mail.example.com", false, time.Minute, time.Minute
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	host := "127.0.0.1"
	switch scheme {
	case "smtps":
		listener = tls.NewListener(listener, certified.TLS)
	case "smtp":
		server.TLSConfig = certified.TLS
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close(); <-ended })
	named, err := ParseMailServer(scheme + "://" + user + net.JoinHostPort(host, port))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	named.From, named.TLS = &netmail.Address{Name: "Atrium, at home", Address: "atrium@example.com"}, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return named
}

const mailUser = "atrium%40example.com:a%20b%3Ac@"

func newMailDispatch(repoName string, to ...string) *webhooks.Dispatch {
	d := dispatch("mailto:" + strings.Join(to, ","))
	d.Format = webhooks.FormatEmail
	d.Message = &webhooks.Message{
		Event: d.Event, Subscription: subscription, GroupNames: []string{"acme", "shop"}, Events: 1, First: d.Event.Time, Last: d.Event.Time,
		Images: []*webhooks.ImageNews{{
			Key: core.ImageKey{Repo: repo, Digest: "sha256:" + strings.Repeat("1", 64)}, GroupNames: []string{"acme", "shop"}, RepoName: repoName, Tags: []string{"1.0"}, Opened: 1,
			Counts: []inventory.FindingClassCount{{Rating: core.SeverityHigh, Count: 1}},
			Worst:  []*inventory.Finding{{VulnerabilityID: "CVE-2026-1", Package: "zlib", InstalledVersion: "1.0", FixedVersions: []string{"1.1"}, Severity: inventory.AdvisorySeverity{Rating: core.SeverityHigh}}},
		}},
	}
	return d
}

func (s *service) mailTo(m *MailServer) *service {
	s.Sender.mail, s.Sender.console = m, "https://atrium.example.com/console"
	return s
}

func TestMailReachesItsRecipients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ scheme, user, mechanism string }{
		{"smtp", "", ""}, {"smtp", mailUser, sasl.Plain}, {"smtps", "", ""}, {"smtps", mailUser, sasl.Plain}, {"smtp+plain", "", ""},
	} {
		box := &mailbox{mechanism: c.mechanism}
		s := newService(t, http.DefaultClient).mailTo(serveMail(t, box, c.scheme, c.user))
		got := s.Send(t.Context(), newMailDispatch("checkout", "ada@example.com", "grace@example.com"))
		if want := (webhooks.Attempt{Status: 250}); got != want {
			t.Errorf("%+v: got %+v, want %+v", c, got, want)
			continue
		}
		taken := box.list()
		if len(taken) != 1 || taken[0].from != "atrium@example.com" || !slices.Equal(taken[0].to, []string{"ada@example.com", "grace@example.com"}) || (taken[0].user != "") != (c.user != "") {
			t.Errorf("%+v: the server took %+v", c, taken)
		}
	}
}

// Names are chosen by others. They reach neither the header nor the structure of a mail.
func TestAMailHasTheFormOfTheInternet(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"checkout", "Ünïcödé", "a\r\nBcc: evil@example.com\r\n\r\n<script>", "a\nX-Evil: 1", "=?utf-8?q?=0D=0ABcc:_evil?=", ".\r\n.\r\nMAIL FROM:<x@example.com>", strings.Repeat("long", 300)} {
		box := &mailbox{}
		s := newService(t, http.DefaultClient).mailTo(serveMail(t, box, "smtp", ""))
		d := newMailDispatch(name, "ada@example.com")
		for range 2 {
			if got := s.Send(t.Context(), d); got.Status != 250 {
				t.Fatalf("%.30q: %+v", name, got)
			}
		}
		taken := box.list()
		first, second := parseMail(t, taken[0].data), parseMail(t, taken[1].data)
		if id := first.header.Get("Message-Id"); id == "" || id != second.header.Get("Message-Id") || !strings.HasSuffix(id, "@example.com>") {
			t.Errorf("%.30q: the ids are %s and %s", name, id, second.header.Get("Message-Id"))
		}
		if at, err := first.header.Date(); err != nil || !at.Equal(s.clock().Truncate(time.Second)) {
			t.Errorf("%.30q: the date is %s, %v", name, at, err)
		}
		if list := first.header.Get("List-Unsubscribe"); list != "<https://atrium.example.com/console/acme/shop/~webhooks?hook=0123456789abcdef0123456789abcdef01234567%2F00000000000000aa%2F00000000000000bb>" {
			t.Errorf("%.30q: List-Unsubscribe is %s", name, list)
		}
		if from, err := first.header.AddressList("From"); err != nil || len(from) != 1 || from[0].Name != "Atrium, at home" {
			t.Errorf("%.30q: From is %v, %v", name, from, err)
		}
		for _, evil := range []string{"Bcc", "X-Evil", "Cc"} {
			if got := first.header.Get(evil); got != "" {
				t.Errorf("%.30q: the header %s is %q", name, evil, got)
			}
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(first.header.Get("Subject"))
		if err != nil || !strings.HasPrefix(subject, "[Atrium] High: 1 new finding in acme/shop/") || strings.ContainsAny(subject, "\r\n") {
			t.Errorf("%.30q: the subject is %q, %v", name, subject, err)
		}
		if !strings.Contains(first.parts["text/plain"], "CVE-2026-1") || !strings.Contains(first.parts["text/html"], "CVE-2026-1</a>") || len(first.parts) != 2 {
			t.Errorf("%.30q: the parts are %q", name, first.parts)
		}
		if strings.Contains(first.parts["text/html"], "<script") {
			t.Errorf("%.30q: the HTML has a script", name)
		}
		for i, l := range bytes.Split(taken[0].data, []byte("\r\n")) {
			if len(l) > 998 || bytes.ContainsAny(l, "\r\n\x00") || bytes.ContainsFunc(l, func(r rune) bool { return r > 126 }) {
				t.Errorf("%.30q: line %d is %q", name, i, l)
			}
		}
	}
}

type parsedMail struct {
	header netmail.Header
	parts  map[string]string
}

func parseMail(t *testing.T, data []byte) parsedMail {
	t.Helper()
	read, err := netmail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	kind, parameters, err := mime.ParseMediaType(read.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" || read.Header.Get("Mime-Version") != "1.0" {
		t.Fatalf("the mail is %s, MIME version %q, %v", kind, read.Header.Get("Mime-Version"), err)
	}
	parsed := parsedMail{read.Header, map[string]string{}}
	for parts := multipart.NewReader(read.Body, parameters["boundary"]); ; {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return parsed
		}
		if err != nil {
			t.Fatal(err)
		}
		kind, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		if err != nil || !strings.EqualFold(parameters["charset"], "utf-8") || part.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
			t.Fatalf("a part has %v, %v", part.Header, err)
		}
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		parsed.parts[kind] = string(text)
	}
}

func TestTheReplyOfAMailServerIsRecorded(t *testing.T) {
	t.Parallel()
	const dead, gray, good = "dead@example.com", "gray@example.com", "ada@example.com"
	for name, c := range map[string]struct {
		to       []string
		attempts int32
		want     webhooks.Attempt
		taken    int
	}{
		"one of two does not exist":       {[]string{dead, good}, 0, webhooks.Attempt{Status: 250, Answer: "refused: dead@example.com (550)"}, 1},
		"none exists":                     {[]string{dead}, 0, webhooks.Attempt{Status: 550, Answer: "refused: dead@example.com (550)"}, 0},
		"one of two must wait":            {[]string{good, gray}, 0, webhooks.Attempt{Status: 451, Answer: "refused: gray@example.com (451)"}, 0},
		"one of two has waited for hours": {[]string{good, gray}, patientAttempts, webhooks.Attempt{Status: 250, Answer: "refused: gray@example.com (451)"}, 1},
	} {
		box := &mailbox{refuse: map[string]int{dead: 550, gray: 451}}
		s := newService(t, http.DefaultClient).mailTo(serveMail(t, box, "smtp", ""))
		d := newMailDispatch("checkout", c.to...)
		d.Delivery.Attempts = c.attempts
		if got := s.Send(t.Context(), d); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
		if n := len(box.list()); n != c.taken {
			t.Errorf("%s: the server took %d mails, want %d", name, n, c.taken)
		}
	}
}

func TestMailIsNotSentInTheClearOrToAnotherServer(t *testing.T) {
	t.Parallel()
	secured := serveMail(t, &mailbox{}, "smtp", "")
	unknown := *secured
	unknown.TLS = nil
	plainServer := serveMail(t, &mailbox{}, "smtp+plain", "")
	asked := *plainServer
	withTLS := *plainServer.URL
	withTLS.Scheme = "smtp"
	asked.URL = &withTLS
	gone := *secured
	closed := *secured.URL
	closed.Host = "127.0.0.1:1"
	gone.URL = &closed
	for want, server := range map[string]*MailServer{
		"the certificate is not signed by a known authority":                                 unknownOf(unknown),
		"the mail server offers no TLS":                                                      &asked,
		"the mail server does not accept the user that the operator of this service has set": serveMail(t, &mailbox{mechanism: sasl.Plain}, "smtp", "eve:wrong@"),
		"connection refused": &gone,
		"this server cannot send mail: the operator has set no mail server": nil,
	} {
		s := newService(t, http.DefaultClient).mailTo(server)
		if got := s.Send(t.Context(), newMailDispatch("checkout", "ada@example.com")); got != (webhooks.Attempt{Error: want}) {
			t.Errorf("got %+v, want the error %q", got, want)
		}
	}
}

func unknownOf(m MailServer) *MailServer { return &m }

func TestTheURLOfAMailServerIsChecked(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{
		"smtp://mail.example.com": true, "smtps://a:b@mail.example.com:465": true, "smtp+plain://127.0.0.1:25": true,
		"mail.example.com:25": false, "http://mail.example.com": false, "smtp://": false, "smtp://h/path": false, "smtp://h?x=y": false, "smtp+plain://a:secret@h": false, "smtp://a:secret@h:x": false,
	} {
		_, err := ParseMailServer(url)
		if (err == nil) != ok {
			t.Errorf("%s: %v, want an error: %t", url, err, !ok)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", url, err)
		}
	}
}
