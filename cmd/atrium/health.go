package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// healthCommand asks a server whether it is ready. It is for container platforms, because
// the image contains no other program that could send a request.
type healthCommand struct {
	URL     string        `name:"url" placeholder:"URL" help:"URL of the server. Default: the server on this machine with the same --addr and --tls-cert."`
	Addr    string        `default:"127.0.0.1:8080" help:"Address that the server on this machine serves on."`
	TLSCert string        `name:"tls-cert" placeholder:"FILE" help:"PEM certificate chain of the server on this machine. Only its first certificate is trusted, for any name."`
	Timeout time.Duration `default:"3s" help:"How long to wait for the answer."`

	server *url.URL
	client *http.Client
}

func (c *healthCommand) check(f *faults) {
	c.client = http.DefaultClient
	if c.URL != "" {
		c.server = serverURL(f, "url", c.URL)
	} else {
		c.checkLocal(f)
	}
	if c.Timeout <= 0 {
		f.add("timeout", "must be above 0")
	}
}

// checkLocal derives the URL of the server on this machine from the settings of serve.
func (c *healthCommand) checkLocal(f *faults) {
	checkAddress(f, "addr", c.Addr)
	host, port, _ := net.SplitHostPort(c.Addr) // checkAddress has reported the error
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	c.server = &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
	if c.TLSCert != "" {
		leaf, err := readLeaf(c.TLSCert)
		if err != nil {
			f.add("tls-cert", "%s", err)
		}
		c.server.Scheme = "https"
		c.client = &http.Client{Transport: &http.Transport{TLSClientConfig: trustOnly(leaf)}}
	}
	c.URL = c.server.String()
}

// readLeaf reads the first certificate of a file, in DER.
func readLeaf(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for {
		block, rest := pem.Decode(text)
		switch {
		case block == nil:
			return nil, fmt.Errorf("%s contains no certificate in PEM", file)
		case block.Type == "CERTIFICATE":
			return block.Bytes, nil
		}
		text = rest
	}
}

// trustOnly returns the TLS settings of a client that trusts one certificate, in DER. The name
// in it and who signed it do not matter.
func trustOnly(leaf []byte) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the certificate
		VerifyConnection: func(state tls.ConnectionState) error {
			if !bytes.Equal(state.PeerCertificates[0].Raw, leaf) {
				return errors.New("the server's certificate is not the first one in the file of --tls-cert")
			}
			return nil
		},
	}
}

// findCause returns the error of a request without its method and URL.
func findCause(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// run fails if the server is not ready.
func (c *healthCommand) run(ctx context.Context, p program) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server.JoinPath("readyz").String(), http.NoBody)
	if err != nil {
		return err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return fmt.Errorf("no server answers at %s: %w", c.URL, findCause(err))
	}
	defer response.Body.Close()
	var said struct{ Message string }
	_ = json.NewDecoder(response.Body).Decode(&said) // the body does not matter if the server is ready
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server at %s is not ready: %s", c.URL, escapeLine(said.Message))
	}
	_, err = fmt.Fprintln(p.stdout, "ready")
	return err
}
