package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
)

// A requestError says why a request could not be built. The cause is ours, so
// the subscriber sees the reason only.
type requestError struct {
	reason string
	cause  error
}

func (e requestError) Error() string  { return e.reason + ": " + e.cause.Error() }
func (e requestError) Unwrap() error  { return e.cause }
func (e requestError) Reason() string { return e.reason }

// FailureReason tells the subscriber why there was no answer. It returns one of
// a few fixed texts, because the text of err could contain secrets of the sink's
// URL or addresses of internal hosts.
func FailureReason(err error) string {
	var public interface{ Reason() string } // a requestError, or an error of auth.Guard
	if errors.As(err, &public) {
		return public.Reason()
	}
	var lookup *net.DNSError
	if errors.As(err, &lookup) && !errors.Is(err, context.Canceled) {
		if lookup.IsNotFound {
			return "the host name has no address"
		}
		return "the DNS lookup of the host failed"
	}
	if reason := tlsFailure(err); reason != "" {
		return reason
	}
	return connectionFailure(err)
}

// tlsFailure returns the reason for an error of TLS, or "" for another error.
func tlsFailure(err error) string {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		other     *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		operation *net.OpError
	)
	switch {
	case errors.As(err, &authority):
		return "the certificate is not signed by a known authority"
	case errors.As(err, &name):
		return "the certificate is for another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired or is not valid yet"
	case errors.As(err, &other):
		return "the certificate is not valid"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "the host does not speak TLS"
	case errors.As(err, &operation) && operation.Op == "remote error": // what crypto/tls calls an alert
		return "the host rejected the TLS handshake"
	default:
		return ""
	}
}

// connectionFailure returns the reason for an error that is not about DNS or TLS.
func connectionFailure(err error) string {
	var operation *net.OpError
	isDial := errors.As(err, &operation) && operation.Op == "dial"
	var timeout net.Error
	isTimeout := errors.As(err, &timeout) && timeout.Timeout()
	switch {
	case errors.Is(err, context.Canceled):
		return "the attempt was interrupted"
	case isDial && isTimeout:
		return "no connection within 5 s"
	case isTimeout:
		return "no answer within 15 s"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host cannot be reached"
	case isDial:
		return "no connection"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the host closed the connection without an answer"
	default:
		return "no valid answer"
	}
}
