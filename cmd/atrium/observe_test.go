package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"atrium/store/storetest"
)

// A requestLine is the log line of a request.
type requestLine struct {
	Msg, Level, Protocol, Operation, Kind, UID, Identity, Code, Path, Limit, SQL string

	Codes                       []string
	Cost, Statements, Status    int
	MS                          float64 `json:"ms"`
	RequestID                   string  `json:"request_id"`
	TraceID                     string  `json:"trace_id"`
	DatabaseMS                  float64 `json:"db_ms"`
	Slow                        bool
	Stderr, Attributes, Unknown string
}

// linesOf reads the log of a server that has ended.
func linesOf(t *testing.T, r *running) []requestLine {
	t.Helper()
	var all []requestLine
	for line := range strings.Lines(r.stderr.String()) {
		var l requestLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, l)
	}
	return all
}

func findLine(t *testing.T, all []requestLine, what string, is func(requestLine) bool) requestLine {
	t.Helper()
	for _, l := range all {
		if is(l) {
			return l
		}
	}
	t.Errorf("no line of %s among %d", what, len(all))
	return requestLine{}
}

func TestALogLineHasTheCallerTheOperationAndTheResult(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev", "--slow", "1ns")
		token := strings.TrimSpace(mustRun(t, url, "token"))
		acme := demoUID(t, server)
		server.get(token, "/registry/v2/repos?uidp.descendants_of="+acme)
		server.get(token, "/iam/v2/groups/"+strings.Repeat("0", 40))
		server.send(http.MethodPost, token, "/graphql", `{"query": "query Names { repos(first: 2) { nodes { name } } repo(uid: \"`+strings.Repeat("0", 40)+`\") { name } }"}`)
		server.send(http.MethodPost, token, "/graphql", `{"query": "{ a: repos { nodes { tags(first: 200) { nodes { image { architectures } } } } } b: repos(first: 200) { nodes { tags(first: 200) { nodes { name } } } } }"}`)
		server.send(http.MethodPost, token, "/platform.registry.v2.ReposService/ListRepos", `{"page_size": -1}`)
		if err := server.end(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(server.stderr.String(), token) {
			t.Error("the log holds a token")
		}
		all := linesOf(t, server)
		list := findLine(t, all, "the list", func(l requestLine) bool { return l.Path == "/registry/v2/repos" })
		if list.Protocol != "rest" || list.Operation != "ListRepos" || list.Kind != "Repo" || list.UID != acme || list.Code != "OK" || !strings.HasPrefix(list.Identity, acme) ||
			list.Statements == 0 || list.MS == 0 || list.DatabaseMS == 0 || list.RequestID == "" || !list.Slow || list.Level != "WARN" {
			t.Errorf("the list: %+v", list)
		}
		missing := findLine(t, all, "what is missing", func(l requestLine) bool {
			return l.Code == "NOT_FOUND" || l.Code == "PERMISSION_DENIED" && l.Protocol == "rest"
		})
		if missing.Operation != "GetGroup" || missing.Kind != "Group" || missing.UID != strings.Repeat("0", 40) {
			t.Errorf("what is missing: %+v, want Operation 'GetGroup' and Kind 'Group'", missing)
		}
		partly := findLine(t, all, "the query", func(l requestLine) bool { return l.Msg == "request" && l.Operation == "Names" })
		if partly.Protocol != "graphql" || partly.Status != http.StatusOK || partly.Code == "OK" || partly.Cost == 0 || partly.Kind != "Repo" {
			t.Errorf("the query: %+v, want Protocol 'graphql', Status 200 and Kind 'Repo'", partly)
		}
		if refused := findLine(t, all, "the costly query", func(l requestLine) bool { return l.Limit != "" }); refused.Code != "INVALID_ARGUMENT" || refused.Limit != "cost" {
			t.Errorf("the costly query: %+v, want Code 'INVALID_ARGUMENT' and Limit 'cost'", refused)
		}
		if remote := findLine(t, all, "Connect", func(l requestLine) bool { return l.Protocol == "connect" }); remote.Operation != "ListRepos" || remote.Code != "INVALID_ARGUMENT" {
			t.Errorf("Connect: %+v, want Operation 'ListRepos' and Code 'INVALID_ARGUMENT'", remote)
		}
		if slow := findLine(t, all, "a slow statement", func(l requestLine) bool { return l.Msg == "slow statement" }); !strings.Contains(slow.SQL, "SELECT") {
			t.Errorf("a slow statement: %+v, want a text with 'SELECT'", slow)
		}
	})
}

func TestOutsideDevelopmentModeThereIsNoBannerAndNoMetrics(t *testing.T) {
	t.Parallel()
	server := start(t, storetest.SQLite(t))
	if server.stdout.String() != "" || strings.Contains(server.stderr.String(), `"msg":"metrics"`) {
		t.Errorf("said %s\n%s", server.stdout, server.stderr)
	}
}

func TestTheLogForPeopleIsText(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	buffer := newLogBuffer(&out)
	logger := (&observeFlags{LogFormat: "auto"}).logger(buffer, true).With("a", 1).WithGroup("g")
	logger.Warn("slow", "text", "two words", slog.Group("in", "b", true), "took", time.Second)
	want := regexp.MustCompile("^\x1b\\[2m[0-9:.]{12}\x1b\\[0m \x1b\\[33mWARN \x1b\\[0m slow \x1b\\[2ma=\x1b\\[0m1 \x1b\\[2mg.text=\x1b\\[0m\"two words\" \x1b\\[2mg.in.b=\x1b\\[0mtrue \x1b\\[2mg.took=\x1b\\[0m1s\n$")
	if !want.MatchString(out.String()) {
		t.Errorf("wrote %q", out.String())
	}
	out.Reset()
	(&observeFlags{LogFormat: "text"}).logger(buffer, false).Error("plain")
	if strings.Contains(out.String(), "\x1b") || !strings.HasSuffix(out.String(), "ERROR plain\n") {
		t.Errorf("wrote %q, want it without '\x1b'", out.String())
	}
}

// The server that should deliver may be missing, so all others say how long events wait.
func TestMetricsOfAServerWithoutWebhooksShowWhatWaits(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev", "--no-webhooks", "--metrics-addr", "127.0.0.1:0")
		server.await(func() bool { return strings.Contains(server.stderr.String(), `"msg":"metrics"`) })
		server.url = regexp.MustCompile(`"msg":"metrics","url":"([^"]+)/metrics"`).FindStringSubmatch(server.stderr.String())[1]
		for _, sample := range []string{"\natrium_event_waiting_seconds ", "\natrium_delivery_waiting_seconds 0\n"} {
			server.await(func() bool { // A busy database answers some later scrape in time.
				_, text := server.get("", "/metrics")
				return strings.Contains(text, sample)
			})
		}
	})
}

func TestMetricsCountRequestsAndStatements(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev", "--metrics-addr", "127.0.0.1:0")
		token := strings.TrimSpace(mustRun(t, url, "token"))
		server.get(token, "/registry/v2/repos")
		server.get("", "/registry/v2/repos")
		server.send(http.MethodPost, token, "/graphql", `{"query": "query Names { repos(first: 2) { nodes { name } } }"}`)
		server.send(http.MethodPost, token, "/platform.registry.v2.ReposService/ListRepos", `{}`)
		server.await(func() bool { return strings.Contains(server.stderr.String(), `"msg":"metrics"`) })
		at := regexp.MustCompile(`"msg":"metrics","url":"([^"]+)/metrics"`).FindStringSubmatch(server.stderr.String())[1]
		api := server.url
		server.url = at
		_, text := server.get("", "/metrics")
		for _, sample := range []string{
			`atrium_requests_total{code="OK",operation="ListRepos",protocol="rest"} 1`,
			`atrium_requests_total{code="UNAUTHENTICATED",operation="ListRepos",protocol="rest"} 1`,
			`atrium_requests_total{code="OK",operation="Names",protocol="graphql"} 1`,
			`atrium_requests_total{code="OK",operation="ListRepos",protocol="connect"} 1`,
			`atrium_request_duration_seconds_count{operation="ListRepos",protocol="rest"} 2`,
			`atrium_authentications_total{outcome="accepted"} 3`, `atrium_authentications_total{outcome="anonymous"}`,
			`atrium_graphql_cost_count 1`, `atrium_db_statements_total{operation="SELECT"}`, `atrium_db_connections_max `,
			`atrium_delivery_attempts_running `, `go_goroutines `, `process_cpu_seconds_total`, `atrium_build_info{version="dev"} 1`,
		} {
			if !strings.Contains(text, sample) {
				t.Errorf("no %s", sample)
			}
		}
		if status, _ := server.get("", "/debug/pprof/goroutine?debug=1"); status != http.StatusOK {
			t.Errorf("profiles: status %d, want 200", status)
		}
		server.url = api
		for _, path := range []string{"/metrics", "/debug/pprof/"} {
			if status, _ := server.get("", path); status != http.StatusNotFound {
				t.Errorf("clients find %s: status %d, want 404", path, status)
			}
		}
	})
}
