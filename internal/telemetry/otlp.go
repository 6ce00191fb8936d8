package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A client sends spans by OTLP over HTTP. The client of OpenTelemetry itself is not
// used, because it would add all of gRPC to the program.
type client struct {
	http     *http.Client
	endpoint string
	headers  http.Header
	timeout  time.Duration // time limit of one batch, including all attempts
	gzip     bool          // whether requests are compressed
}

const (
	exporterTimeout  = 10 * time.Second
	firstRetryDelay  = 500 * time.Millisecond // pause between the first two attempts, which doubles each time
	maxResponseBytes = 4 << 10                // number of bytes of a response that are read
)

// newClient returns a client as the environment variables of OpenTelemetry's exporter
// configure it, or nil if they name no endpoint. A variable for traces takes precedence
// over the one for all signals.
func newClient(env func(name string) string) (*client, error) {
	setting := func(name string) string {
		return cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_"+name), env("OTEL_EXPORTER_OTLP_"+name))
	}
	switch exporter := env("OTEL_TRACES_EXPORTER"); {
	case strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") || exporter == "none":
		return nil, nil
	case exporter == "" && setting("ENDPOINT") == "":
		return nil, nil
	case exporter != "" && exporter != "otlp":
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER must be otlp or none, not %q", exporter)
	}
	if protocol := setting("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, not %q: traces are sent over HTTP, most often to port 4318", protocol)
	}
	c := &client{endpoint: env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), headers: http.Header{}, timeout: exporterTimeout}
	if c.endpoint == "" {
		c.endpoint = strings.TrimRight(cmp.Or(env("OTEL_EXPORTER_OTLP_ENDPOINT"), "http://localhost:4318"), "/") + "/v1/traces"
	}
	if u, err := url.Parse(c.endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT must be a URL such as http://collector:4318")
	}
	for pair := range strings.SplitSeq(setting("HEADERS"), ",") {
		name, value, found := strings.Cut(strings.TrimSpace(pair), "=")
		if pair == "" {
			continue
		}
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil || !found {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs with commas between them") // the values are secrets, so the message does not show them
		}
		c.headers.Set(strings.TrimSpace(name), value)
	}
	if text := setting("TIMEOUT"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT must be a number of milliseconds, not %q", text)
		}
		c.timeout = time.Duration(n) * time.Millisecond
	}
	switch compression := setting("COMPRESSION"); compression {
	case "", "none":
	case "gzip":
		c.gzip = true
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_COMPRESSION must be gzip or none, not %q", compression)
	}
	security, err := newTLSConfig(setting)
	c.http = &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: security, TLSHandshakeTimeout: exporterTimeout, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
	}}
	return c, err
}

// newTLSConfig reads the trusted certificates and the client certificate.
func newTLSConfig(setting func(name string) string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if path := setting("CERTIFICATE"); path != "" {
		text, err := os.ReadFile(path) //nolint:gosec // the operator names it
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s holds no certificate", path)
		}
	}
	certificate, key := setting("CLIENT_CERTIFICATE"), setting("CLIENT_KEY")
	if certificate == "" && key == "" {
		return c, nil
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and _CLIENT_KEY: %w", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// Start does nothing.
func (c *client) Start(context.Context) error { return nil }

// Stop closes idle connections.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces sends a batch. It retries if the receiver may accept the batch later.
func (c *client) UploadTraces(ctx context.Context, spans []*otlp.ResourceSpans) error {
	body, err := c.encode(spans)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	for pause := firstRetryDelay; ; pause *= 2 {
		wait, err := c.send(ctx, body)
		if err == nil || wait < 0 {
			return err
		}
		wait = max(wait, pause/2+rand.N(pause)) //nolint:gosec // not a secret
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

// encode returns the bytes of an ExportTraceServiceRequest. It uses TracesData, which
// has the same encoding: both contain only the spans, in the same field.
func (c *client) encode(spans []*otlp.ResourceSpans) ([]byte, error) {
	body, err := proto.Marshal(&otlp.TracesData{ResourceSpans: spans})
	if err != nil || !c.gzip {
		return body, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(body) // writing to memory cannot fail
	_ = w.Close()
	return packed.Bytes(), nil
}

// send makes one attempt. If that failed, wait is the time after which the receiver
// accepts another attempt; a negative wait means that a retry is useless.
func (c *client) send(ctx context.Context, body []byte) (wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	request.Header = c.headers.Clone()
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("User-Agent", "OTel-OTLP-Exporter-Atrium")
	if c.gzip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, fmt.Errorf("sending traces failed: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxResponseBytes)) // so that the connection can be used again
	if response.StatusCode >= http.StatusOK && response.StatusCode < http.StatusMultipleChoices {
		return 0, nil
	}
	err = fmt.Errorf("the collector rejected traces: %s answered %s", request.URL.Redacted(), response.Status)
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 if there is no such header: retry soon
		return time.Duration(max(seconds, 0)) * time.Second, err
	}
	return -1, err
}
