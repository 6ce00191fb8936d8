package resolvers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	endpoint "atrium/internal/graphql"
	"atrium/platform/core"
)

// An attack is a request that tries to cost the service more than it costs the client.
type attack struct {
	name, body string
	chunked    bool
	status     int
}

func attacks() []attack {
	query := func(text string) string {
		body, _ := json.Marshal(map[string]string{"query": text})
		return string(body)
	}
	numbered := func(n int, format string) string {
		var text strings.Builder
		for i := range n {
			text.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return text.String()
	}
	chain := func(n int, link, end string) string {
		text := "{viewer{identities{...F0}}}"
		for i := range n - 1 {
			text += strings.ReplaceAll(fmt.Sprintf(" fragment F%d on Identity {"+link+"}", i), "#", fmt.Sprint("F", i+1))
		}
		return query(text + fmt.Sprintf(" fragment F%d on Identity {"+end+"}", n-1))
	}
	deep := func(n int, open string) string {
		return query(`{group(uid: "x")` + strings.Repeat("{"+open, n) + "{name}" + strings.Repeat("}", n) + "}")
	}
	large := func(n int) string { return query("{ping}") + strings.Repeat(" ", n) }
	return []attack{
		{name: "10,000 repeated fields", body: query("{" + strings.Repeat("ping ", 10_000) + "}")},
		{name: "10,000 repeated objects", body: query("{" + strings.Repeat("viewer{identities{name}} ", 10_000) + "}")},
		{name: "10,000 aliases", body: query("{" + numbered(10_000, "a#: ping ") + "}")},
		{name: "10,000 unknown fields", body: query("{" + numbered(10_000, "a# ") + "}")},
		{name: "10,000 directives", body: query("{ping " + strings.Repeat("@include(if: true) ", 10_000) + "}")},
		{name: "10,000 variables", body: query("query(" + numbered(10_000, "$a#: ID ") + "){ping}")},
		{name: "10,000 errors of the parser", body: query(strings.Repeat("}", 10_000))},
		{name: "60 chained fragments", body: chain(60, "...# ...#", "name")},
		{name: "60 chained fragments with fields", body: chain(60, "a: group{identities{nodes{...#}}} b: group{identities{nodes{...#}}}", "name")},
		{name: "19 chained fragments with fields", body: chain(19, "a: group{identities{nodes{...#}}} b: group{identities{nodes{...#}}}", "name")},
		{name: "a cycle of fragments", body: chain(15, "...# ...#", "...F0")},
		{name: "depth 100", body: deep(100, "parent")},
		{name: "depth 100,000", body: deep(100_000, "parent")},
		{name: "100,000 brackets", body: query("{nodes(ids: " + strings.Repeat("[", 100_000))},
		{name: "a name of 1 MB", body: query("{" + strings.Repeat("a", 1_000_000) + ": ping}")},
		{name: "a string of 1 MB", body: query(`{group(uid: "` + strings.Repeat("a", 1_000_000) + `"){nothing}}`)},
		{name: "400 connections", body: query("{" + strings.Repeat("repos(first: 200){nodes{tags(first: 200){nodes{name}}}} ", 30) + "}")},
		{name: "introspection 20 times", body: query("{" + numbered(20, "a#: __schema{types{fields{type{fields{name}}}}} ") + "}")},
		{name: "100,000 ids", body: `{"query": "query($ids: [ID!]!) {nodes(ids: $ids){id}}", "variables": {"ids": ["x"` + strings.Repeat(`,"x"`, 100_000) + `]}}`},
		{name: "a variable of depth 9,000", body: `{"query": "query($v: UID!) {group(uid: $v){name}}", "variables": {"v": ` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}}`},
		{name: "JSON of depth 100,000", body: `{"query": ` + strings.Repeat("[", 100_000), status: 400},
		{name: "a body of 10 MB", body: large(10 << 20), status: 413},
		{name: "a body of 10 MB of unknown length", body: large(10 << 20), chunked: true, status: 413},
		{name: "a batch of 1,000", body: "[" + strings.Repeat(query("{ping}")+",", 999) + query("{ping}") + "]", status: 400},
	}
}

// send sends the attack as a known caller.
func (a attack) send(t testing.TB, h http.Handler) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(core.WithActor(t.Context(), &core.Actor{}), http.MethodPost, "/graphql", strings.NewReader(a.body))
	r.Header.Set("Content-Type", "application/json")
	if a.chunked {
		r.ContentLength, r.Body = -1, io.NopCloser(r.Body)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAttacksGetShortErrors(t *testing.T) {
	t.Parallel()
	h := serve(newWorld(t).p, nil, endpoint.DefaultSettings())
	for _, a := range attacks() {
		w := a.send(t, h)
		var got struct{ Data, Errors any }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Data != nil || got.Errors == nil || w.Body.Len() > 64<<10 {
			t.Errorf("%s: %d bytes %.200s, want no Data", a.name, w.Body.Len(), w.Body)
		}
		if want := max(a.status, http.StatusOK); w.Code != want {
			t.Errorf("%s: %d, want %d", a.name, w.Code, want)
		}
	}
}

// BenchmarkAttacks measures the cost of rejecting each attack. The last one is a document
// just within the limits, which shows the cost of validation.
func BenchmarkAttacks(b *testing.B) {
	h := serve(newWorld(b).p, nil, endpoint.DefaultSettings())
	i := 0
	for _, a := range attacks() {
		b.Run(a.name, func(b *testing.B) {
			before := processorTime()
			for b.Loop() {
				a.send(b, h)
			}
			b.ReportMetric(float64(processorTime()-before)/float64(b.N)/1e6, "CPU-ms/op")
		})
	}
	b.Run("within the limits", func(b *testing.B) {
		before := processorTime()
		for b.Loop() {
			i++ // Each document is different, because a known document is not parsed again.
			body, _ := json.Marshal(map[string]string{"query": fmt.Sprintf("query Q%d {viewer{", i) + strings.Repeat("identities{name} ", 199) + "}}"})
			attack{body: string(body)}.send(b, h)
		}
		b.ReportMetric(float64(processorTime()-before)/float64(b.N)/1e6, "CPU-ms/op")
	})
}

// processorTime returns the processor time that the process has used, in nanoseconds.
func processorTime() int64 {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return used.Utime.Nano() + used.Stime.Nano()
}
