package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"atrium/platform/webhooks"
)

func TestTheReasonWhyASinkDidNotAnswer(t *testing.T) {
	t.Parallel()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	rude := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(rude.Close)
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	misnamed := secure.Client()
	transport := misnamed.Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.ServerName = "elsewhere.example"

	for _, c := range []struct {
		client     *http.Client
		sink, want string
	}{
		{http.DefaultClient, away.URL, "connection refused"},
		{http.DefaultClient, rude.URL, "the host closed the connection without an answer"},
		{http.DefaultClient, secure.URL, "the certificate is not signed by a known authority"},
		{&http.Client{Transport: transport}, secure.URL, "the certificate is for another host"},
		{http.DefaultClient, strings.Replace(plain.URL, "http:", "https:", 1), "the host does not speak TLS"},
	} {
		s := newService(t, c.client)
		if got, want := s.Send(t.Context(), dispatch(c.sink+"/?token=s3cret")), (webhooks.Attempt{Error: c.want}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	s := newService(t, http.DefaultClient)
	stop()
	if got := s.Send(stopped, dispatch(plain.URL)); got != (webhooks.Attempt{Error: "the attempt was interrupted"}) {
		t.Errorf("of an attempt that was stopped: %+v", got)
	}
}

// Errors of system calls contain addresses, and errors of net/http contain the whole URL.
func TestAReasonContainsNothingOfTheError(t *testing.T) {
	t.Parallel()
	dial := func(err error) error {
		at := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 8443}
		return &net.OpError{Op: "dial", Net: "tcp", Addr: at, Err: err}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "connection refused"},
		{dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), "the host cannot be reached"},
		{dial(os.ErrDeadlineExceeded), "no connection within 5 s"},
		{dial(errors.New("10.1.2.3")), "no connection"},
		{dial(&net.DNSError{Err: "no such host", Name: "db.inside", Server: "10.0.0.53:53", IsNotFound: true}), "the host name has no address"},
		{dial(&net.DNSError{Err: "i/o timeout", Name: "db.inside", Server: "10.0.0.53:53", IsTimeout: true}), "the DNS lookup of the host failed"},
		{context.DeadlineExceeded, "no answer within 15 s"},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, "the host closed the connection without an answer"},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: 10.1.2.3")}, "the host rejected the TLS handshake"},
		{&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, "the certificate has expired or is not valid yet"},
		{&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign}}, "the certificate is not valid"},
		{requestError{"a reason", errors.New("10.1.2.3")}, "a reason"},
		{errors.New("malformed HTTP response from 10.1.2.3"), "no valid answer"},
	} {
		err := fmt.Errorf("attempt: %w", &url.Error{Op: "Post", URL: "https://db.inside/?token=s3cret", Err: c.err})
		if got := FailureReason(err); got != c.want || len(got) > 200 {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
