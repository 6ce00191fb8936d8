package graphql

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/internal/graphql/limit"
	"atrium/internal/graphql/transport"
	"atrium/platform/core"
)

const pinging = `{"query": "{ping}"}`

func TestTheStatusFollowsTheMediaType(t *testing.T) { inBubble(t, testStatus) }

func testStatus(t *testing.T) {
	h := stageHandler(stageOptions{Bounds: &transport.Bounds{Timeout: 30 * time.Second}})
	for _, c := range []struct {
		query          string
		json, response int
		data           bool
	}{
		{"{ping}", 200, 200, true},
		{"{wrong(times: 2)}", 200, 200, true},
		{"{", 200, 400, false},
		{"{nothing}", 200, 400, false},
		{"query A {ping} query B {ping}", 200, 400, false},
		{"query($id: ID!) {item(id: $id){id}}", 200, 400, false},
		{"{__schema{types{name}}}", 200, 401, false},
		{"{panic}", 500, 500, false},
		{"{wait}", 200, 200, true},
	} {
		body, _ := json.Marshal(map[string]string{"query": c.query})
		for media, status := range map[string]int{mediaJSON: c.json, mediaResponse: c.response} {
			r := send(t, h, "POST", "/", string(body), "Accept", media)
			if r.status != status || r.header.Get("Content-Type") != media+"; charset=utf-8" || strings.Contains(r.body, `"data":`) != c.data {
				t.Errorf("%s as %s gives %d %s %.200s, want %d", c.query, media, r.status, r.header.Get("Content-Type"), r.body, status)
			}
		}
	}
}

func TestInvalidRequestsAreRejected(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	for _, c := range []struct {
		name, method, target, body string
		header                     []string
		status                     int
	}{
		{"no body", "POST", "/", "", nil, 400},
		{"no JSON", "POST", "/", `{"query`, nil, 400},
		{"null", "POST", "/", `null`, nil, 400},
		{"a string", "POST", "/", `"{ping}"`, nil, 400},
		{"a batch", "POST", "/", ` [` + pinging + `]`, nil, 400},
		{"two values", "POST", "/", pinging + pinging, nil, 400},
		{"no UTF-8", "POST", "/", "{\"query\": \"{ping}\xff\"}", nil, 400},
		{"no query", "POST", "/", `{}`, nil, 400},
		{"another case", "POST", "/", `{"Query": "{ping}"}`, nil, 400},
		{"query null", "POST", "/", `{"query": null}`, nil, 400},
		{"query number", "POST", "/", `{"query": 1}`, nil, 400},
		{"operationName", "POST", "/", `{"query": "{ping}", "operationName": {}}`, nil, 400},
		{"variables", "POST", "/", `{"query": "{ping}", "variables": []}`, nil, 400},
		{"extensions", "POST", "/", `{"query": "{ping}", "extensions": "x"}`, nil, 400},
		{"no type", "POST", "/", pinging, []string{"Content-Type", ""}, 415},
		{"a form", "POST", "/", "query={ping}", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"text", "POST", "/", pinging, []string{"Content-Type", "text/plain"}, 415},
		{"latin1", "POST", "/", pinging, []string{"Content-Type", "application/json; charset=latin1"}, 415},
		{"gzip", "POST", "/", pinging, []string{"Content-Encoding", "gzip"}, 415},
		{"gzip of identity", "POST", "/", pinging, []string{"Content-Encoding", "identity, gzip"}, 415},
		{"HTML wanted", "POST", "/", pinging, []string{"Accept", "text/html"}, 406},
		{"PUT", "PUT", "/", pinging, nil, 405},
		{"HEAD", "HEAD", "/?query={ping}", "", nil, 405},
		{"no query in the URL", "GET", "/", "", nil, 400},
		{"query twice", "GET", "/?query={ping}&query={ping}", "", nil, 400},
		{"an unescaped URL", "GET", "/?query=%zz", "", nil, 400},
		{"a URL of no UTF-8", "GET", "/?query=%ff", "", nil, 400},
		{"variables in the URL", "GET", "/?query={ping}&variables=[]", "", nil, 400},
		{"two variables in the URL", "GET", "/?query={ping}&variables={}{}", "", nil, 400},
		{"a mutation by GET", "GET", "/?query=mutation{touch{id}}", "", nil, 405},
		{"a subscription as JSON", "POST", "/", `{"query": "subscription{countdown(n: 1)}"}`, []string{"Accept", mediaJSON}, 406},
	} {
		r := send(t, h, c.method, c.target, c.body, c.header...)
		if r.status != c.status || len(r.Errors) != 1 || r.Data != nil {
			t.Errorf("%s gives %d %s, want %d", c.name, r.status, r.body, c.status)
			continue
		}
		extensions := r.Errors[0]["extensions"].(map[string]any)
		if extensions["code"] == "INTERNAL" || extensions["status"] == nil || extensions["details"] == nil {
			t.Errorf("%s: extensions are %v", c.name, extensions)
		}
		if named := slices.Contains(c.header, "Content-Encoding"); (r.header.Get("Accept-Encoding") == "identity") != named {
			t.Errorf("%s: Accept-Encoding is %q", c.name, r.header.Get("Accept-Encoding"))
		}
		if (r.header.Get("Allow") != "") != (c.status == http.StatusMethodNotAllowed) {
			t.Errorf("%s: Allow is %q", c.name, r.header.Get("Allow"))
		}
	}
}

func TestAllViolationsOfARequestAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	r := send(t, stageHandler(stageOptions{}), "POST", "/", `{"query": 1, "operationName": [], "variables": "x", "extensions": true}`)
	for _, field := range []string{"query", "operationName", "variables", "extensions"} {
		if !strings.Contains(r.body, fmt.Sprintf(`"field":%q`, field)) {
			t.Errorf("%s is missing in %s", field, r.body)
		}
	}
}

func TestValidRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	for _, body := range []string{
		pinging,
		`{"query": "{ping}", "variables": null, "operationName": null, "extensions": null, "unknown": 1}`,
		`{"query": "query A {ping} query B {a: ping}", "operationName": "A"}`,
		`{"query": "{ping}", "operationName": ""}`,
		`{"query": "{ping} # 🏃", "variables": {"unused": 1}}`,
	} {
		if r := send(t, h, "POST", "/", body, "Content-Type", "application/json; charset=utf-8").expectSuccess(); r.Data["ping"] != "pong" {
			t.Errorf("%s gives %s, want ping 'pong'", body, r.body)
		}
	}
	query := url.Values{"query": {"query A($id: ID) {ping item(id: $id){id}}"}, "operationName": {"A"}, "variables": {`{"id": "1"}`}, "extensions": {"{}"}}
	if r := send(t, h, "GET", "/?"+query.Encode(), "").expectSuccess(); r.Data["ping"] != "pong" {
		t.Errorf("GET gives %s, want ping 'pong'", r.body)
	}
}

func TestAnErrorDoesNotQuoteTheRequest(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	for _, body := range []string{`{"query": "secret`, `secret`, `["secret"]`, `{"query": ["secret"]}`, `{"query": "{ping}", "variables": "secret"}`} {
		if r := send(t, h, "POST", "/", body); r.status != http.StatusBadRequest || strings.Contains(r.body, "secret") {
			t.Errorf("%s gives %d, want 400: %s, want it without 'secret'", body, r.status, r.body)
		}
	}
}

func TestABodyIsLimited(t *testing.T) {
	t.Parallel()
	bounds := transport.DefaultBounds()
	h := stageHandler(stageOptions{Bounds: &bounds})
	fill := func(n int64) string { return pinging + strings.Repeat(" ", int(n)-len(pinging)) }
	send(t, h, "POST", "/", fill(bounds.BodyBytes)).expectSuccess()

	for _, known := range []bool{true, false} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(fill(bounds.BodyBytes+1)))
		r.Header.Set("Content-Type", "application/json")
		if !known {
			r.ContentLength = -1
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), `"limit":{"name":"bytes","requested":1048577,"value":1048576}`) {
			t.Errorf("length known %t: got status %d, want 413: %s", known, w.Code, w.Body)
		}
	}
}

func TestErrorsAreLimited(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{Limits: &limit.Limits{}})
	long := strings.Repeat("n", 2000)
	for name, c := range map[string]struct {
		query string
		last  string
	}{
		"many of validation": {"{" + strings.Repeat("nothing ", 1000) + "}", "951 more errors are not shown."},
		"long names":         {"{" + strings.Repeat(long+" ", 49) + "}", ""},
		"a longer name":      {"{" + strings.Repeat(long, 100) + "}", ""},
		"fifty":              {"{" + strings.Repeat("nothing ", 50) + "}", ""},
	} {
		r := post(t, h, c.query)
		if len(r.Errors) == 0 || len(r.Errors) > 50 || len(r.body) > 64<<10+200 {
			t.Errorf("%s: %d errors in %d bytes", name, len(r.Errors), len(r.body))
		}
		if last := r.Errors[len(r.Errors)-1]["message"].(string); c.last != "" && last != c.last {
			t.Errorf("%s: the last is %q, want %q", name, last, c.last)
		}
	}
}

func TestAPanicIsAnInternalErrorThatIsLogged(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	h := stageHandler(stageOptions{Logger: textLogger(&logs)})
	r := post(t, h, "{panic}")
	if r.status != http.StatusInternalServerError || strings.Contains(r.body, "stage") {
		t.Errorf("got status %d, want 500: %s, want it without 'stage'", r.status, r.body)
	}
	if !strings.Contains(logs.String(), "panic: of the stage") || !strings.Contains(logs.String(), "stageEngine") {
		t.Errorf("the log says %s, want a text with 'panic: of the stage' and a text with 'stageEngine'", &logs)
	}
}

func TestATimeoutIsAnError(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{Bounds: &transport.Bounds{Timeout: time.Nanosecond}})
	r := post(t, h, "{ping}")
	if r.status != http.StatusGatewayTimeout || r.Errors[0]["extensions"].(map[string]any)["status"] != float64(core.CodeDeadlineExceeded) {
		t.Errorf("got status %d, want 504: %s", r.status, r.body)
	}
}

// Decoding JSON replaces a lone surrogate by U+FFFD, which must not be stored.
func TestALoneSurrogateIsRejectedEverywhere(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	for body, field := range map[string]string{
		`{"query": "query($a: String) {ping}", "variables": {"a": "x\ud800"}}`:         "variables",
		`{"query": "query($a: String) {ping}", "variables": {"a": {"b": ["\udc00"]}}}`: "variables",
		`{"query": "query($a: String) {ping}", "variables": {"\ud800": 1}}`:            "variables",
		`{"query": "{ping} # \ud83d"}`:                                                 "query",
		`{"query": "{ping} # \ud83d\ude00"}`:                                           "",
	} {
		got := send(t, h, http.MethodPost, "/", body, "Authorization", "Bearer ann").body
		want := `"data":{"ping":"pong"}`
		if field != "" {
			want = `"field":"` + field + `","description":"must not contain half of a surrogate pair`
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
	}
	variables := url.Values{"query": {"{ping}"}, "variables": {`{"a": "\ud800"}`}}
	if got := send(t, h, http.MethodGet, "/?"+variables.Encode(), "", "Authorization", "Bearer ann").body; !strings.Contains(got, `"field":"variables","description":"must not contain half`) {
		t.Errorf("by GET: got %s, want it to contain %q", got, `"field":"variables","description":"must not contain half`)
	}
}
