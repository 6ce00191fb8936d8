package main

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// tlsFlags name the files that the server proves itself with.
type tlsFlags struct {
	TLSCert string `name:"tls-cert" placeholder:"FILE" help:"Certificate in PEM, with those between it and its root. Read again when it changes."`
	TLSKey  string `name:"tls-key" placeholder:"FILE" help:"Private key of the certificate, in PEM."`

	certificate *certificate // nil: requests come in clear text
}

func (t *tlsFlags) check(f *faults) {
	switch {
	case t.TLSCert == "" && t.TLSKey == "":
	case t.TLSKey == "":
		f.add("tls-key", "is required with --tls-cert")
	case t.TLSCert == "":
		f.add("tls-cert", "is required with --tls-key")
	default:
		t.certificate = &certificate{certFile: t.TLSCert, keyFile: t.TLSKey}
		if err := t.certificate.load(); err != nil {
			f.add("tls-cert", "%s", err)
		}
	}
}

// scheme is that of the server's URL.
func (t *tlsFlags) scheme() string {
	if t.certificate == nil {
		return "http"
	}
	return "https"
}

// A certificate is a pair of files, read again when either has changed. A
// handshake looks at them, so that no connection that is open notices.
type certificate struct {
	certFile, keyFile string

	lock    sync.Mutex
	seen    [2]stamp
	current *tls.Certificate
}

// A stamp tells one content of a file from the next; that of no file is zero.
type stamp struct {
	changed time.Time
	size    int64
}

// load reads the files where they are not those that it has read, so that a
// faulty pair is an error once.
func (c *certificate) load() error {
	c.lock.Lock()
	defer c.lock.Unlock()
	var found [2]stamp
	for i, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			found[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	if c.current != nil && found == c.seen {
		return nil
	}
	c.seen = found
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.current = &pair
	return nil
}

// config is for a server, once the files were good. A pair that is faulty is
// logged, and the last good one serves on.
func (c *certificate) config(logger *slog.Logger) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			if err := c.load(); err != nil {
				logger.Error("the new certificate is not good; the old one serves on", "error", err)
			}
			c.lock.Lock()
			defer c.lock.Unlock()
			return c.current, nil
		},
	}
}
