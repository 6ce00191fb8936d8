package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"atrium/store/storetest"
)

// A collector receives spans by OTLP over HTTP.
type collector struct {
	url   string
	lock  sync.Mutex
	spans []*otlp.Span
	about map[string]string // These are the attributes of the service.
}

// startCollector starts a collector. It answers the first requests with the statuses in
// refuse, in order, and then accepts spans.
func startCollector(t *testing.T, refuse ...int) *collector {
	t.Helper()
	c := &collector{about: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.lock.Lock()
		defer c.lock.Unlock()
		if len(refuse) > 0 {
			w.WriteHeader(refuse[0])
			refuse = refuse[1:]
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Key") != "a b" {
			t.Errorf("%s %v: %v, want Path '/v1/traces', Content-Type 'application/x-protobuf' and X-Key 'a b'", r.URL, r.Header, err)
		}
		var data otlp.TracesData
		if err := proto.Unmarshal(body, &data); err != nil {
			t.Error(err)
		}
		for _, resource := range data.GetResourceSpans() {
			for _, attribute := range resource.GetResource().GetAttributes() {
				c.about[attribute.GetKey()] = attribute.GetValue().GetStringValue()
			}
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// env returns the environment variables that send traces to the collector.
func (c *collector) env() map[string]string {
	return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.url, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b"}
}

// find returns the span with this name in a trace, and its parent. If several spans have
// the name, the traceparent that the span sent selects one.
func (c *collector) find(t *testing.T, trace, name string) (span *otlp.Span, parent string) {
	t.Helper()
	c.lock.Lock()
	defer c.lock.Unlock()
	var seen []string
	for _, s := range c.spans {
		if hex.EncodeToString(s.GetTraceId()) != trace {
			continue
		}
		if seen = append(seen, s.GetName()); s.GetName() == name || "00-"+trace+"-"+hex.EncodeToString(s.GetSpanId())+"-01" == name {
			span = s
		}
	}
	if span == nil {
		t.Fatalf("no span %q in the trace %s, but %q", name, trace, seen)
	}
	parent = "remote " + hex.EncodeToString(span.GetParentSpanId())
	for _, s := range c.spans {
		if slices.Equal(s.GetSpanId(), span.GetParentSpanId()) {
			parent = s.GetName()
		}
	}
	return span, parent
}

func attributesOf(s *otlp.Span) map[string]string {
	all := map[string]string{"kind": s.GetKind().String(), "status": s.GetStatus().GetCode().String()}
	for _, a := range s.GetAttributes() {
		if all[a.GetKey()] = a.GetValue().GetStringValue(); all[a.GetKey()] == "" {
			all[a.GetKey()] = fmt.Sprint(a.GetValue().GetIntValue())
		}
	}
	return all
}

// sendTraced sends a request as part of a trace and returns the uid in the response.
func sendTraced(t *testing.T, server *running, token, trace, path, body string, header ...string) (uid string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body == "" {
		request.Method = http.MethodGet
	}
	request.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Traceparent": {traceparent(trace)}, "Tracestate": {"vendor=1"}}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || strings.Contains(string(answer), `"errors"`) {
		t.Fatalf("%s: %s: %s, %v, want StatusCode 200", path, response.Status, answer, err)
	}
	var resource struct{ UID string }
	_ = json.Unmarshal(answer, &resource) // Some responses are not resources.
	return resource.UID
}

const remoteSpan = "00f067aa0ba902b7"

func traceparent(trace string) string { return "00-" + trace + "-" + remoteSpan + "-01" }

func traceID(n int) string { return fmt.Sprintf("4bf92f3577b34da6a3ce929d0e0e47%02x", n) }

func TestARequestIsATraceInEveryProtocol(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		c := startCollector(t, http.StatusServiceUnavailable)
		delivered, passed := make(chan http.Header, 100), make(chan http.Header, 1)
		sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { delivered <- r.Header }))
		t.Cleanup(sink.Close)
		v1 := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { passed <- r.Header }))
		t.Cleanup(v1.Close)
		server := startWith(t, c.env(), url, "--dev", "--private-sink", sink.Listener.Addr().String(), "--v1-upstream", v1.URL)
		token := strings.TrimSpace(mustRun(t, url, "token"))
		acme := demoUID(t, server)
		if status, body := server.send(http.MethodPost, token, "/events/v2/subscriptions/"+acme, `{"sink": "`+sink.URL+`"}`); status != http.StatusOK {
			t.Fatalf("subscribing: status %d, want 200: %s", status, body)
		}
		sendTraced(t, server, token, traceID(1), "/graphql", `{"query": "query Page { repos(first: 3) { nodes { name tags(first: 2) { nodes { name } } } } }"}`)
		sendTraced(t, server, token, traceID(2), "/registry/v2/repos?page_size=1", "")
		sendTraced(t, server, token, traceID(3), "/platform.registry.v2.ReposService/ListRepos", `{"page_size": 1}`)
		sendTraced(t, server, token, traceID(6), "/platform.registry.v2.ReposService/ListRepos", "\x00\x00\x00\x00\x00", "Content-Type", "application/grpc")
		repo := sendTraced(t, server, token, traceID(4), "/registry/v2/repos/"+acme, `{"name": "traced"}`)
		sendTraced(t, server, token, traceID(5), "/registry/v1/repos", "")
		sent := awaitDelivery(t, delivered, repo)
		if err := server.end(); err != nil {
			t.Fatal(err)
		}

		remote := "remote " + remoteSpan
		system := "sqlite"
		if strings.HasPrefix(url, "postgres") {
			system = "postgresql"
		}
		for _, want := range []struct {
			trace      int
			name       string
			parent     string
			attributes map[string]string
		}{
			{1, "POST /graphql", remote, map[string]string{"kind": "SPAN_KIND_SERVER", "http.route": "/graphql", "http.request.method": "POST", "http.response.status_code": "200", "url.path": "/graphql"}},
			{1, "query", "POST /graphql", map[string]string{"kind": "SPAN_KIND_INTERNAL", "graphql.operation.type": "query", "graphql.operation.name": "Page"}},
			{1, "Query.repos", "query", map[string]string{"atrium.graphql.field.name": "repos", "atrium.graphql.objects": "1"}},
			{1, "Repo.tags", "query", map[string]string{"atrium.graphql.objects": "3"}},
			{2, "GET /registry/v2/repos", remote, map[string]string{"http.route": "/registry/v2/repos", "status": "STATUS_CODE_UNSET"}},
			{2, "ListRepos", "GET /registry/v2/repos", nil},
			{2, "BATCH", "ListRepos", map[string]string{"kind": "SPAN_KIND_CLIENT", "db.system.name": system, "db.operation.name": "BATCH"}},
			{3, "platform.registry.v2.ReposService/ListRepos", remote, map[string]string{"rpc.system.name": "connectrpc", "rpc.method": "platform.registry.v2.ReposService/ListRepos", "rpc.response.status_code": ""}},
			{6, "platform.registry.v2.ReposService/ListRepos", remote, map[string]string{"rpc.system.name": "grpc", "rpc.method": "platform.registry.v2.ReposService/ListRepos", "rpc.response.status_code": "OK"}},
			{3, "ListRepos", "platform.registry.v2.ReposService/ListRepos", nil},
			{4, sent.Get("Traceparent"), "POST /registry/v2/repos/{parent}", map[string]string{"kind": "SPAN_KIND_CLIENT", "http.response.status_code": "200", "cloudevents.event_id": sent.Get("Ce-Id"), "server.address": "127.0.0.1"}},
			{5, "GET", remote, map[string]string{"url.path": "/registry/v1/repos"}},
		} {
			span, parent := c.find(t, traceID(want.trace), want.name)
			got := attributesOf(span)
			for name, value := range want.attributes {
				if got[name] != value {
					t.Errorf("%s has %s = %q, want %q", want.name, name, got[name], value)
				}
			}
			if parent != want.parent || span.GetStartTimeUnixNano() > span.GetEndTimeUnixNano() || span.GetTraceState() != "vendor=1" && span.GetName() != "POST" {
				t.Errorf("%s is part of %s, want %s; %v", want.name, parent, want.parent, span)
			}
		}

		request, _ := c.find(t, traceID(4), "POST /registry/v2/repos/{parent}")
		if got := sent.Get("Ce-Traceparent"); got != "00-"+traceID(4)+"-"+hex.EncodeToString(request.GetSpanId())+"-01" {
			t.Errorf("the event says that its cause is %s", got)
		}
		proxied, _ := c.find(t, traceID(5), "GET")
		if h := <-passed; h.Get("Traceparent") != "00-"+traceID(5)+"-"+hex.EncodeToString(proxied.GetSpanId())+"-01" || h.Get("Tracestate") != "vendor=1" {
			t.Errorf("v1 is asked with %v, want Tracestate 'vendor=1'", h)
		}
		if c.about["service.name"] != "atrium" {
			t.Errorf("the service is %v, want service.name 'atrium'", c.about)
		}
		line := findLine(t, linesOf(t, server), "the trace", func(l requestLine) bool { return l.TraceID == traceID(1) })
		if line.Operation != "Page" {
			t.Errorf("the line of the trace is of %q, want Page", line.Operation)
		}
	})
}

// awaitDelivery waits for the delivery of an event of a resource.
func awaitDelivery(t *testing.T, delivered <-chan http.Header, subject string) http.Header {
	t.Helper()
	for deadline := time.After(patience); ; {
		select {
		case h := <-delivered:
			if subject != "" && h.Get("ce-subject") == subject {
				return h
			}
		case <-deadline:
			t.Fatal("nothing arrived")
		}
	}
}

func TestATraceIsPassedOnWithoutACollector(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		delivered := make(chan http.Header, 100)
		sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { delivered <- r.Header }))
		t.Cleanup(sink.Close)
		server := start(t, url, "--dev", "--private-sink", sink.Listener.Addr().String())
		token := strings.TrimSpace(mustRun(t, url, "token"))
		acme := demoUID(t, server)
		if status, body := server.send(http.MethodPost, token, "/events/v2/subscriptions/"+acme, `{"sink": "`+sink.URL+`"}`); status != http.StatusOK {
			t.Fatalf("subscribing: status %d, want 200: %s", status, body)
		}
		repo := sendTraced(t, server, token, traceID(1), "/registry/v2/repos/"+acme, `{"name": "traced"}`)
		if h := awaitDelivery(t, delivered, repo); h.Get("Traceparent") != traceparent(traceID(1)) || h.Get("Ce-Traceparent") != traceparent(traceID(1)) {
			t.Errorf("the delivery of %s has %q, %q", h.Get("ce-subject"), h["Traceparent"], h["Ce-Traceparent"])
		}
		// An invalid traceparent is ignored and not passed on.
		for i, wrong := range []string{"x", "00-" + strings.Repeat("0", 32) + "-" + remoteSpan + "-01", "ff-" + traceID(1) + "-" + remoteSpan + "-01", traceparent(traceID(1)) + "-", strings.ToUpper(traceparent(traceID(1)))} {
			repo := sendTraced(t, server, token, "", "/registry/v2/repos/"+acme, fmt.Sprintf(`{"name": "wrong-%d"}`, i), "Traceparent", wrong)
			if h := awaitDelivery(t, delivered, repo); h.Get("Traceparent") != "" || h.Get("Ce-Traceparent") != "" {
				t.Errorf("%s: the delivery of %s has %q, %q", wrong, h.Get("ce-subject"), h["Traceparent"], h["Ce-Traceparent"])
			}
		}
	})
}

func TestInvalidTraceVariablesAreNamed(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_TRACES_EXPORTER": "zipkin", "OTEL_EXPORTER_OTLP_HEADERS": "secret", "OTEL_EXPORTER_OTLP_TIMEOUT": "soon",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "zstd", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318", "OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere", "OTEL_PROPAGATORS": "tracecontext,b3",
	} {
		env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", name: value}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := run(ctx, []string{"serve", "--database-url", storetest.SQLite(t)}, program{"atrium", variables(env), list(env), strings.NewReader(""), io.Discard, io.Discard})
		cancel()
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}
