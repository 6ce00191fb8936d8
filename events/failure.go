package events

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

// A fault is on our side. What is told of it holds nothing of its cause.
type fault struct {
	said  string
	cause error
}

func (f fault) Error() string  { return f.said + ": " + f.cause.Error() }
func (f fault) Unwrap() error  { return f.cause }
func (f fault) Reason() string { return f.said }

// reason says why there was no answer, for the subscriber. It is one of few
// fixed texts: an error's own text could hold the sink's secrets or addresses
// of hosts inside.
func reason(err error) string {
	var told interface{ Reason() string } // of a guard, or of our own
	if errors.As(err, &told) {
		return told.Reason()
	}
	var lookup *net.DNSError
	if errors.As(err, &lookup) && !errors.Is(err, context.Canceled) {
		if lookup.IsNotFound {
			return "the host's name has no address"
		}
		return "the host's name could not be looked up"
	}
	if said := certificateFault(err); said != "" {
		return said
	}
	return connectionFault(err)
}

func certificateFault(err error) string {
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
		return "the certificate is not of a known authority"
	case errors.As(err, &name):
		return "the certificate is of another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired or is not valid yet"
	case errors.As(err, &other):
		return "the certificate is not valid"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "the host does not speak TLS"
	case errors.As(err, &operation) && operation.Op == "remote error": // what crypto/tls calls an alert
		return "the host broke off TLS"
	default:
		return ""
	}
}

func connectionFault(err error) string {
	var operation *net.OpError
	dialling := errors.As(err, &operation) && operation.Op == "dial"
	var timeout net.Error
	late := errors.As(err, &timeout) && timeout.Timeout()
	switch {
	case errors.Is(err, context.Canceled):
		return "the attempt was broken off"
	case dialling && late:
		return "no connection within 5 s"
	case late:
		return "no answer within 15 s"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host cannot be reached"
	case dialling:
		return "no connection"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the host closed the connection without an answer"
	default:
		return "no valid answer"
	}
}
