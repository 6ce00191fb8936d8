package server

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"atrium/rest"
)

// newProxy forwards v1 to upstream as the program does, and answers "v2" to all other
// requests.
func newV1Proxy(t *testing.T, upstream string, timeout time.Duration) *httptest.Server {
	t.Helper()
	u, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	o := rest.Options{Logger: discardLogger()}
	v2 := addGuards(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "v2") }), nil, o)
	v1 := &V1{Upstream: u, Timeout: timeout}
	s := httptest.NewUnstartedServer(addOuterLayers(v1.route(v2, o), o, (&Config{Logger: o.Logger}).newRecorder(), nil))
	s.Config = newServer(s.Config.Handler, nil, discardLogger())
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func send(t *testing.T, method, target, body string, header http.Header) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		r.Header = header
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(content)
}

func TestRequestsForV1AreForwardedUnchanged(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
		h := w.Header()
		h.Set("Location", "https://elsewhere.example/")
		h.Set("X-Request-Id", "theirs")
		h.Set("Cache-Control", "max-age=60")
		h.Add("Set-Cookie", "a=1")
		h.Add("Set-Cookie", "b=2")
		h.Set("Connection", "X-Hop")
		h.Set("X-Hop", "of this connection")
		w.WriteHeader(http.StatusFound)
		_, _ = io.WriteString(w, "<moved>")
	}))
	t.Cleanup(upstream.Close)
	server := newV1Proxy(t, upstream.URL, time.Minute)
	const path = "/registry/v1/repos/a%2Fb//c%20d/...%2E/%7Ee/?x=1;y=2&z=%zz&&page_token=a+b%20c"
	answer, content := send(t, "PUT", server.URL+path, `{"any": "thing"}`, http.Header{
		"Authorization":     {"Bearer not.for.us", "Basic YTpi"},
		"Cookie":            {"session=1"},
		"Content-Type":      {"text/odd"},
		"Content-Encoding":  {"gzip"},
		"X-Forwarded-For":   {"203.0.113.9"},
		"X-Forwarded-Host":  {"atrium.example"},
		"Forwarded":         {"for=203.0.113.9"},
		"Origin":            {"https://app.example.com"},
		"Sec-Fetch-Site":    {"cross-site"},
		"X-Request-Id":      {"mine"},
		"Connection":        {"X-Mine"},
		"X-Mine":            {"of this connection"},
		"Proxy-Connection":  {"keep-alive"},
		"Accept-Encoding":   {"zstd"},
		"User-Agent":        {""},
		"X-Many":            {"1", "2"},
		"If-None-Match":     {`"x"`},
		"X-Http-Method-Any": {"PATCH"},
	})
	if got.Method != http.MethodPut || got.RequestURI != path || got.Host != strings.TrimPrefix(upstream.URL, "http://") || body != `{"any": "thing"}` {
		t.Errorf("upstream saw %s, want %s: %s of %s, want %s: %s", got.Method, http.MethodPut, got.RequestURI, got.Host, path, body)
	}
	want := map[string]string{
		"Authorization": "Bearer not.for.us|Basic YTpi", "Cookie": "session=1", "Content-Type": "text/odd", "Content-Encoding": "gzip",
		"Origin": "https://app.example.com", "X-Request-Id": "mine", "Accept-Encoding": "zstd", "X-Many": "1|2", "If-None-Match": `"x"`,
		"X-Forwarded-For": "", "X-Forwarded-Host": "", "X-Forwarded-Proto": "", "Forwarded": "", "X-Mine": "", "Connection": "", "Proxy-Connection": "", "User-Agent": "",
	}
	for name, value := range want {
		if seen := strings.Join(got.Header.Values(name), "|"); seen != value {
			t.Errorf("upstream saw %s %q, want %q", name, seen, value)
		}
	}
	if answer.StatusCode != http.StatusFound || content != "<moved>" || answer.Header.Get("Location") != "https://elsewhere.example/" {
		t.Errorf("answered %d, want 302: %v %s, want <moved>", answer.StatusCode, answer.Header, content)
	}
	for name, value := range map[string]string{"X-Request-Id": "theirs", "Cache-Control": "max-age=60", "Set-Cookie": "a=1|b=2", "X-Hop": "", "X-Content-Type-Options": "", "Vary": ""} {
		if seen := strings.Join(answer.Header.Values(name), "|"); seen != value {
			t.Errorf("answered %s %q, want %q", name, seen, value)
		}
	}
}

func TestOnlyV1IsForwarded(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "v1") }))
	t.Cleanup(upstream.Close)
	server := newV1Proxy(t, upstream.URL, time.Minute)
	for path, want := range map[string]string{
		"/iam/v1/groups": "v1", "/registry/v1/repos": "v1", "/vulnerabilities/v1/reports?x": "v1", "/libraries/v1/x": "v1", "/advisory/v1/x": "v1", "/iam/v1/": "v1",
		"/iam/v2/groups": "v2", "/iam/v1": "v2", "/iam/v1beta1/groups": "v2", "/events/v1/x": "v2", "/ping/v1/x": "v2", "/": "v2", "/graphql": "v2",
		"//iam/v1/groups": "v2", "/iam%2Fv1/groups": "v2", "/iam/%761/groups": "v2", "/x/iam/v1/groups": "v2",
	} {
		answer, got := send(t, "GET", server.URL+path, "", nil)
		if got != want {
			t.Errorf("%s is answered by %s, want %s", path, got, want)
		}
		if answer.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s has no request id", path)
		}
	}
}

// The attack is a path that leaves v1 when the upstream decodes it.
func TestNoPathLeadsOutOfV1(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "v1") }))
	t.Cleanup(upstream.Close)
	server := newV1Proxy(t, upstream.URL, time.Minute)
	for _, path := range []string{
		"/iam/v1/../../admin", "/iam/v1/./x", "/iam/v1/..", "/iam/v1/.", "/iam/v1/%2e%2e/x", "/iam/v1/.%2E/x", "/iam/v1/%2e", "/iam/v1/..%2fx", "/iam/v1/a%2f..%2f..%2fx",
		"/iam/v1/%252e%252e/x", "/iam/v1/%25252e%25252e%25252fx", "/iam/v1/..%5cx", "/iam/v1/x%5c..%5cy", "/iam/v1/..;a=b/x", "/iam/v1/%2e%2e%3bx/y",
		"/iam/v1/..%00/x", "/iam/v1/%c0%ae%c0%ae/x", "/iam/v1/%25c0%25ae/x", "/iam/v1/..%20/x",
		// An escape that is invalid after decoding does not hide the others.
		"/iam/v1/%252e%252e/%252e%252e/admin/%25", "/iam/v1/%25/%252e%252e%252fx", "/iam/v1/..%255cx%25zz", "/iam/v1/%25%2532e/x",
		// Decoding this until it stays the same would take 50,000 passes.
		"/iam/v1/%" + strings.Repeat("25", 50_000),
	} {
		answer, got := send(t, "GET", server.URL+path, "", nil)
		if answer.StatusCode != http.StatusBadRequest || !strings.Contains(got, `"field":"path"`) {
			t.Errorf("%.100s: status %d, want 400: %s, want it to contain %q", path, answer.StatusCode, got, `"field":"path"`)
		}
	}
	for _, path := range []string{"/iam/v1/...", "/iam/v1/.x/..y", "/iam/v1/a..b/%2e%2e%2e", "/iam/v1/100%25", "/iam/v1/100%25/%25zz", "/iam/v1/100%252525", "/iam/v1/%E2%82%AC?x=../.."} {
		if answer, got := send(t, "GET", server.URL+path, "", nil); got != "v1" {
			t.Errorf("%s: %d: %s, want v1", path, answer.StatusCode, got)
		}
	}
}

func TestV1IsStreamedBothWays(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			_, _ = io.WriteString(w, "echo "+lines.Text()+"\n")
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(upstream.Close)
	server := newV1Proxy(t, upstream.URL, time.Minute)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true) // With HTTP/1.1, Go's client reads only after it has written the body.
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	out, in := io.Pipe()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/iam/v1/stream", out)
	go func() { _, _ = io.WriteString(in, "one\n") }()
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for _, next := range []string{"two", "three", ""} {
		if !lines.Scan() {
			t.Fatalf("the answer ended: %v", lines.Err())
		}
		if next != "" {
			_, _ = io.WriteString(in, next+"\n")
		}
	}
	_ = in.Close()
	if lines.Text() != "echo three" || lines.Scan() || lines.Err() != nil {
		t.Errorf("the last line is %q, want echo three, then %v", lines.Text(), lines.Err())
	}
}

func TestAnUnavailableOrSlowV1IsAnError(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // This accepts connections and never answers.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	cut := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(cut.Close)
	for upstream, want := range map[string]struct {
		status int
		code   string
	}{
		"http://" + closed.Addr().String(): {503, `"code":14`},
		cut.URL:                            {503, `"code":14`},
		"http://" + silent.Addr().String(): {504, `"code":4`},
	} {
		answer, body := send(t, "GET", newV1Proxy(t, upstream, 50*time.Millisecond).URL+"/registry/v1/repos", "", nil)
		if answer.StatusCode != want.status || !strings.Contains(body, want.code) || !strings.Contains(body, "google.rpc.RetryInfo") ||
			!strings.Contains(body, `"domain":"registry.atrium.dev"`) || answer.Header.Get("Retry-After") != "1" || strings.Contains(body, "127.0.0.1") {
			t.Errorf("%s: status %d, want %d: %v %s, want it to contain %q", upstream, answer.StatusCode, want.status, answer.Header, body, want.code)
		}
	}
}

// A deadlineCounter is a response that counts the deadlines for reading the request.
type deadlineCounter struct {
	http.ResponseWriter
	deadlines int
}

func (c *deadlineCounter) SetReadDeadline(time.Time) error { c.deadlines++; return nil }

// net/http takes a deadline that passes after the end of the body for a client that has
// disconnected. The transport of the proxy reads once more after the end.
func TestABodyForV1HasNoDeadlineAfterItsEnd(t *testing.T) {
	t.Parallel()
	counter := &deadlineCounter{}
	body := &slowBody{ReadCloser: io.NopCloser(strings.NewReader("text")), control: http.NewResponseController(counter)}
	if text, err := io.ReadAll(body); string(text) != "text" || err != nil {
		t.Fatalf("read %q (%v)", text, err)
	}
	before := counter.deadlines
	if n, err := body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) || counter.deadlines != before {
		t.Errorf("after the end: %d, %v, and %d more deadlines", n, err, counter.deadlines-before)
	}
}
