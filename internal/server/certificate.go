package server

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// A Certificate is a certificate with its private key, read from two files. They are
// reloaded during a TLS handshake if either has changed. Open connections are not
// affected.
type Certificate struct {
	certFile, keyFile string

	lock    sync.Mutex
	seen    [2]stamp
	current *tls.Certificate
	warned  time.Time // when the log last told that it expires soon
}

// LoadCertificate reads a certificate chain, leaf first, and its private key,
// both in PEM.
func LoadCertificate(certFile, keyFile string) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile}
	_, err := c.load()
	return c, err
}

// A stamp identifies the content of a file. It is zero if there is no file.
type stamp struct {
	changed time.Time
	size    int64
}

// load reads the files if they have changed, and tells whether there is another certificate. It reports an invalid pair
// only once.
func (c *Certificate) load() (changed bool, err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	var found [2]stamp
	for i, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			found[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	if c.current != nil && found == c.seen {
		return false, nil
	}
	c.seen = found
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return false, err
	}
	c.current = &pair
	return true, nil
}

// The log tells of a certificate that expires within expiryNotice, every expiryPause. One that is
// valid for days only is replaced in its last third, so the log tells of it in the last quarter.
const (
	expiryNotice = 14 * 24 * time.Hour
	expiryPause  = 24 * time.Hour
)

// get returns the certificate in use, and logs what an operator must do about it.
func (c *Certificate) get(logger *slog.Logger) *tls.Certificate {
	changed, err := c.load()
	if err != nil {
		logger.Error("certificate reload failed; keeping the current one", "error", err)
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if changed {
		c.warned = time.Time{}
		logger.Info("the TLS certificate was reloaded", "expires", c.current.Leaf.NotAfter, "file", c.certFile)
	}
	begin, end := c.current.Leaf.NotBefore, c.current.Leaf.NotAfter
	notice := min(expiryNotice, end.Sub(begin)/4)
	if now := time.Now(); end.Sub(now) < notice && now.Sub(c.warned) >= expiryPause {
		c.warned = now
		logger.Warn("the TLS certificate expires soon or has expired; replace its files, which are read again without a restart", "expires", end, "file", c.certFile)
	}
	return c.current
}

// config returns the TLS settings of a server. When a reload fails, it logs the reason
// and the server keeps the current certificate.
func (c *Certificate) config(logger *slog.Logger) *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get(logger), nil },
	}
}
