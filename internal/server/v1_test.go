package server

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/internal/rest"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/store/storetest"
)

// newProxy forwards v1 to upstream as the program does, and answers "v2" to all other
// requests.
func newV1Proxy(t *testing.T, upstream string, timeout time.Duration, change ...func(*http.Server)) *httptest.Server {
	t.Helper()
	u, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	o := rest.Options{Logger: discardLogger()}
	v2 := addGuards(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "v2") }), nil, o)
	v1 := &V1{Upstream: u, Timeout: timeout}
	authorize := func(ctx context.Context, authorization []string) (context.Context, error) {
		switch {
		case len(authorization) == 0:
			return ctx, nil
		case authorization[0] == "Bearer known":
			return core.WithActor(ctx, core.NewOperator("known")), nil
		default:
			return nil, core.Unauthenticated("the token is not known")
		}
	}
	forwarding := v1.route(v2, func(next http.Handler) http.Handler { return next }, authorize, o)
	s := httptest.NewUnstartedServer(addOuterLayers(forwarding, o, (&Config{Logger: o.Logger}).newRecorder(), nil))
	s.Config = newServer(s.Config.Handler, nil, DefaultIdleTimeout, discardLogger())
	for _, c := range change {
		c(s.Config)
	}
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
		"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": strings.TrimPrefix(server.URL, "http://"), "X-Forwarded-Proto": "http", "X-Real-Ip": "127.0.0.1", "Forwarded": "", "X-Mine": "", "Connection": "", "Proxy-Connection": "", "User-Agent": "",
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
		patience time.Duration
		status   int
		code     string
	}{
		"http://" + closed.Addr().String(): {time.Minute, 503, `"code":14`},
		cut.URL:                            {time.Minute, 503, `"code":14`},
		"http://" + silent.Addr().String(): {50 * time.Millisecond, 504, `"code":4`},
	} {
		answer, body := send(t, "GET", newV1Proxy(t, upstream, want.patience).URL+"/registry/v1/repos", "", nil)
		if answer.StatusCode != want.status || !strings.Contains(body, want.code) || !strings.Contains(body, "google.rpc.RetryInfo") ||
			!strings.Contains(body, `"domain":"registry.atrium.dev"`) || answer.Header.Get("Retry-After") != "1" || strings.Contains(body, "127.0.0.1") {
			t.Errorf("%s: status %d, want %d: %v %s, want it to contain %q", upstream, answer.StatusCode, want.status, answer.Header, body, want.code)
		}
	}
}

// The attack is a client that pretends to be a proxy, so that v1 takes it for another client.
func TestClientsCannotForgeTheHeadersOfProxiesForV1(t *testing.T) {
	t.Parallel()
	var got http.Header
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	t.Cleanup(upstream.Close)
	server := newV1Proxy(t, upstream.URL, time.Minute)
	forged := []string{
		"X-Forwarded-For", "X_Forwarded_For", "X-Forwarded", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-User",
		"Forwarded", "X-Real-Ip", "X_Real_IP", "x-real_ip", "True-Client-Ip", "X-Client-Ip", "Client-Ip", "X-Cluster-Client-Ip", "Cf-Connecting-Ip", "Fastly-Client-Ip",
		"X-Original-Forwarded-For", "X-Original-Url", "X-Rewrite-Url", "X-Envoy-External-Address", "X-Appengine-User-Ip", "X-Remote-User", "Remote-User", "X-Ssl-Client-Cert",
		"X-Auth-Request-User", "X-Auth-Request-Groups", "X-Webauth-User", "X_WEBAUTH_USER", "X-Authenticated-User", "X-Ms-Client-Principal-Name", "X-Goog-Authenticated-User-Email",
	}
	header := http.Header{"X-Client-Version": {"7"}, "X-Realm": {"r"}}
	for _, name := range forged {
		header[name] = []string{"203.0.113.9"}
	}
	send(t, http.MethodGet, server.URL+"/iam/v1/groups", "", header)
	for name, values := range got {
		if strings.Contains(strings.Join(values, " "), "203.0.113.9") {
			t.Errorf("v1 saw %s %q", name, values)
		}
	}
	if got.Get("X-Client-Version") != "7" || got.Get("X-Realm") != "r" || got.Get("X-Forwarded-For") != "127.0.0.1" || got.Get("X-Real-Ip") != "127.0.0.1" {
		t.Errorf("v1 saw %v, want the other headers of the client, and its address 127.0.0.1", got)
	}
}

// The upstream opens a tunnel for whoever asks for an upgrade. The attack sends a request in the tunnel for a path
// that is not forwarded.
func TestOnlyWebsocketsOfKnownCallersPassToV1(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			_, _ = io.WriteString(w, r.Method+" without a tunnel")
			return
		}
		conn, stream, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
		line, _ := stream.ReadString('\n')
		_, _ = io.WriteString(conn, "tunnelled "+line)
	}))
	t.Cleanup(upstream.Close)
	server := newV1Proxy(t, upstream.URL, time.Minute)
	const known, none = "Authorization: Bearer known\r\n", "without a tunnel"
	for _, c := range []struct {
		method, header string
		status         int
		want           string
	}{
		{"GET", known + "Connection: Upgrade\r\nUpgrade: websocket", 101, "tunnelled GET /admin/secret"},
		{"GET", known + "Connection: keep-alive, upgrade\r\nUpgrade: WebSocket", 101, "tunnelled GET /admin/secret"},
		{"GET", "Connection: Upgrade\r\nUpgrade: websocket", 401, "needs a token"},
		{"GET", "Authorization: Bearer other\r\nConnection: Upgrade\r\nUpgrade: websocket", 401, "is not known"},
		{"GET", known + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA", 200, none},
		{"GET", known + "Connection: Upgrade\r\nUpgrade: tcp", 200, none},
		{"GET", known + "Connection: Upgrade\r\nUpgrade: websocket, h2c", 200, none},
		{"GET", known + "Connection: Upgrade\r\nUpgrade: h2c, websocket", 200, none},
		{"GET", known + "Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c", 200, none},
		{"GET", known + "Connection: Upgrade\r\nUpgrade: TLS/1.2", 200, none},
		{"GET", known + "Upgrade: websocket", 200, none},
		{"POST", known + "Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0", 200, none},
		{"GET", "Connection: Upgrade\r\nUpgrade: h2c", 200, none},
		{"TRACE", known, 405, "does not support this method"},
		{"CONNECT", known, 405, "does not support this method"},
	} {
		conn := check(net.Dial("tcp", server.Listener.Addr().String()))(t)
		_, _ = io.WriteString(conn, c.method+" /iam/v1/groups HTTP/1.1\r\nHost: h\r\n"+strings.TrimSuffix(c.header, "\r\n")+"\r\n\r\n")
		reader := bufio.NewReader(conn)
		answer := check(http.ReadResponse(reader, &http.Request{Method: c.method}))(t)
		var got []byte
		if answer.StatusCode == http.StatusSwitchingProtocols {
			_, _ = io.WriteString(conn, "GET /admin/secret HTTP/1.1\r\n")
			got, _ = io.ReadAll(reader)
		} else {
			got = check(io.ReadAll(answer.Body))(t)
		}
		_ = conn.Close()
		if answer.StatusCode != c.status || !strings.Contains(string(got), c.want) {
			t.Errorf("%s with %q: status %d, want %d: %s, want it to contain %q", c.method, c.header, answer.StatusCode, c.status, got, c.want)
		}
	}
}

// sendRaw sends the text of a POST for v1 on a connection of its own, and returns the status and
// the body of the answer.
func sendRaw(t *testing.T, server *httptest.Server, text string) (int, string) {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /iam/v1/groups HTTP/1.1\r\nHost: h\r\n"+text); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestABodyForV1HasTheLimitsOfOtherBodies(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err == nil {
			_, _ = fmt.Fprint(w, n)
		}
	}))
	t.Cleanup(upstream.Close)
	server := newV1Proxy(t, upstream.URL, time.Minute)
	hasty := newV1Proxy(t, upstream.URL, time.Minute, func(s *http.Server) { s.ReadTimeout = 100 * time.Millisecond })
	large := strings.Repeat("x", rest.MaxBody)
	for _, c := range []struct {
		name, text string
		server     *httptest.Server
		status     int
		want       string
	}{
		{"the largest", fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(large), large), server, 200, fmt.Sprint(rest.MaxBody)},
		{"too large", fmt.Sprintf("Content-Length: %d\r\n\r\n", len(large)+1), server, 413, `"field":"body"`},
		{"too large without a length", fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%sx\r\n0\r\n\r\n", len(large)+1, large), server, 413, `"field":"body"`},
		{"a chunk that is none", "Transfer-Encoding: chunked\r\n\r\nzz\r\n", server, 400, `"field":"body"`},
		{"a chunk that is longer than it says", "Transfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n0\r\n\r\n", server, 400, `"field":"body"`},
		{"a body that never ends", "Content-Length: 10\r\n\r\nx", hasty, 400, `"field":"body"`}, // The attack sends the rest byte by byte.
	} {
		if status, body := sendRaw(t, c.server, c.text); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: status %d, want %d: %s, want it to contain %q", c.name, status, c.status, body, c.want)
		}
	}
}

func TestRequestsForV1HaveTheLimitsOfOtherRequests(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}, 100), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/iam/v1/slow" {
			arrived <- struct{}{}
			<-release
		}
	}))
	t.Cleanup(upstream.Close)
	target := check(url.Parse(upstream.URL))(t)
	p := check(platform.New(t.Context(), storetest.Open(t, storetest.SQLite(t)), platform.Options{}))(t)
	issuer := check(newDevelopmentIssuer())(t)
	serve := func(c Config) func(path, token string) int {
		c.Logger, c.GraphQL, c.Audience, c.V1 = discardLogger(), DefaultGraphQL(), []string{"atrium"}, &V1{Upstream: target, Timeout: time.Minute}
		handler := Handler(p, c, issuer)
		return func(path, token string) int {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/iam/v1/"+path, http.NoBody)
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, r)
			return answer.Code
		}
	}
	mint := func(subject, audience string) string {
		return check(issuer.Mint(subject, audience, time.Hour, map[string]any{"jti": rand.Text()}))(t)
	}
	var waiting sync.WaitGroup
	for name, token := range map[string]func() string{
		"no token":                    func() string { return "" },
		"an invented token":           rand.Text,
		"new tokens of one caller":    func() string { return mint("ann", "atrium") },
		"tokens for another audience": func() string { return mint("ann", "v1") },
	} {
		request := serve(Config{MaxInFlight: 2, MaxConcurrent: 1})
		for range 2 { // Both wait for v1 at the same time, which takes no slot.
			slow := token()
			waiting.Go(func() {
				if status := request("slow", slow); status != http.StatusOK {
					t.Errorf("%s: a request that waited for v1 gets %d, want 200", name, status)
				}
			})
			<-arrived
		}
		if status := request("groups", token()); status != http.StatusTooManyRequests {
			t.Errorf("%s: a third request under way gets %d, want 429", name, status)
		}
		if status := request("groups", mint("bob", "atrium")); status != http.StatusOK {
			t.Errorf("%s: another caller gets %d, want 200", name, status)
		}
		many, refused := serve(Config{RateLimit: 1, RateBurst: 1}), false
		for range 100 {
			refused = refused || many("groups", token()) == http.StatusTooManyRequests
		}
		if !refused {
			t.Errorf("%s: 100 requests at once are forwarded", name)
		}
	}
	close(release)
	waiting.Wait()
}
