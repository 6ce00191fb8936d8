package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/storetest"
)

// newCompressing starts a server with an organization, and returns its URL and a token of its owner.
func newCompressing(t *testing.T) (url, token string) {
	t.Helper()
	p := check(platform.New(t.Context(), storetest.Open(t, storetest.SQLite(t)), platform.Options{}))(t)
	operator := core.WithActor(t.Context(), core.NewOperator("test"))
	org := check(p.Groups.Bootstrap(operator, "acme", auth.DevelopmentIssuer, "owner"))(t).Group.UID
	repos := make([]*registry.ImportedRepo, 50)
	for i := range repos {
		repos[i] = &registry.ImportedRepo{Repo: inventory.Repo{Name: fmt.Sprintf("repo-%d", i), Description: "One of many repos of this organization"}}
	}
	check(p.Registry.ImportRepos(operator, org, repos, core.ImportOptions{}))(t)
	issuer := check(newDevelopmentIssuer())(t)
	c := Config{Audience: []string{"atrium"}, ServiceDomain: "atrium.dev", GraphQL: DefaultGraphQL(), Logger: discardLogger(), MaxConcurrent: 4, RateLimit: 1000, RateBurst: 1000, MaxInFlight: 10}
	s := httptest.NewServer(Handler(p, c, issuer))
	t.Cleanup(s.Close)
	return s.URL, check(issuer.Mint("owner", "atrium", time.Hour, nil))(t)
}

// decompress decompresses a body by its Content-Encoding.
func decompress(t *testing.T, encoding string, body []byte) []byte {
	t.Helper()
	var r io.Reader = bytes.NewReader(body)
	switch encoding {
	case "gzip":
		r = check(gzip.NewReader(r))(t)
	case "zstd":
		decoder := check(zstd.NewReader(r))(t)
		defer decoder.Close()
		r = decoder
	case "":
	default:
		t.Fatalf("Content-Encoding %q", encoding)
	}
	return check(io.ReadAll(r))(t)
}

func TestAnswersOfEveryProtocolAreCompressedAlike(t *testing.T) {
	t.Parallel()
	url, token := newCompressing(t)
	send := func(method, path, body string, header ...string) (*http.Response, []byte) {
		t.Helper()
		r := check(http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body)))(t)
		r.Header.Set("Authorization", "Bearer "+token)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer := check((&http.Client{Transport: &http.Transport{DisableCompression: true}}).Do(r))(t)
		defer answer.Body.Close()
		return answer, check(io.ReadAll(answer.Body))(t)
	}
	const repos, small = `{"query":"{ repos(first: 50) { nodes { uid name description } } }"}`, `{"query":"{ ping }"}`
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
		never                    bool // whether the answer is never compressed
	}{
		{"GraphQL", "POST", "/graphql", repos, []string{"Content-Type", "application/json"}, false},
		{"GraphQL by its own media type", "POST", "/graphql", repos, []string{"Content-Type", "application/json", "Accept", "application/graphql-response+json"}, false},
		{"a short answer of GraphQL", "POST", "/graphql", small, []string{"Content-Type", "application/json"}, true},
		{"events", "POST", "/graphql", repos, []string{"Content-Type", "application/json", "Accept", "text/event-stream"}, true},
		{"the schema", "GET", "/graphql/schema", "", nil, false},
		{"REST", "GET", "/registry/v2/repos", "", nil, false},
		{"a short answer of REST", "GET", "/ping/v2/ping", "", nil, true},
		{"OpenAPI", "GET", "/openapi.json", "", nil, false},
		{"OpenAPI in YAML", "GET", "/openapi.yaml", "", nil, false},
		{"Connect", "POST", "/platform.registry.v2.ReposService/ListRepos", "{}", []string{"Content-Type", "application/json"}, false},
		{"Connect in binary form", "POST", "/platform.registry.v2.ReposService/ListRepos", "", []string{"Content-Type", "application/proto"}, false},
		{"gRPC-Web", "POST", "/platform.registry.v2.ReposService/ListRepos", "\x00\x00\x00\x00\x00", []string{"Content-Type", "application/grpc-web+proto"}, true},
	} {
		_, plain := send(c.method, c.path, c.body, c.header...)
		for accepted, want := range map[string]string{
			"gzip": "gzip", "zstd": "zstd", "gzip, deflate, br, zstd": "zstd", "br, gzip;q=1.0, zstd;q=0.5": "gzip", "GZIP": "gzip",
			"identity": "", "br": "", "gzip;q=0": "", "gzip;q=0, zstd;q=0.0": "", "x-gzip": "",
		} {
			if c.never {
				want = ""
			}
			for range 2 { // The caller of the second request is presumed.
				answer, body := send(c.method, c.path, c.body, append(c.header, "Accept-Encoding", accepted)...)
				if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Encoding") != want {
					t.Errorf("%s for %q: %d %q, want %q", c.name, accepted, answer.StatusCode, answer.Header.Get("Content-Encoding"), want)
				}
				if got := decompress(t, answer.Header.Get("Content-Encoding"), body); len(got) != len(plain) || want != "" && len(body) >= len(plain)/2 {
					t.Errorf("%s for %q: %d bytes hold %d, want %d", c.name, accepted, len(body), len(got), len(plain))
				}
				if vary := strings.Join(answer.Header.Values("Vary"), ","); strings.Count(vary, "Accept-Encoding") > 1 || want != "" && !strings.Contains(vary, "Accept-Encoding") {
					t.Errorf("%s for %q: Vary %q", c.name, accepted, vary)
				}
			}
		}
		if answer, _ := send(c.method, c.path, c.body, append(c.header, "Accept-Encoding", "")...); !c.never && answer.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: Vary %q, want Accept-Encoding", c.name, answer.Header.Get("Vary"))
		}
	}
	deletion, body := send(http.MethodDelete, "/iam/v2/roles/x", "", "Accept-Encoding", "gzip")
	if deletion.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "uid") {
		t.Errorf("a refusal: %d %q", deletion.StatusCode, body)
	}
}

// RFC 9110, 9.3.2 and 8.6: HEAD has the headers of GET, whatever the client accepts. 5.3: the lines
// of one header are one list.
func TestHeadHasTheHeadersOfGet(t *testing.T) {
	t.Parallel()
	url, token := newCompressing(t)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(method, path string, accepted ...string) (http.Header, []byte) {
		r := check(http.NewRequestWithContext(t.Context(), method, url+path, http.NoBody))(t)
		r.Header = http.Header{"Authorization": {"Bearer " + token}, "Accept-Encoding": accepted}
		answer := check(client.Do(r))(t)
		defer answer.Body.Close()
		body := check(io.ReadAll(answer.Body))(t)
		answer.Header.Set("Status", answer.Status)
		for _, name := range []string{"Date", "X-Request-Id", "Ratelimit"} {
			answer.Header.Del(name)
		}
		return answer.Header, body
	}
	var document struct {
		Paths map[string]struct{ Get json.RawMessage }
	}
	_, text := ask(http.MethodGet, "/openapi.json")
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	paths := []string{"/", "/home.css", "/playground", "/docs", "/guide", "/guide/proxies", "/console", "/graphql/schema", "/openapi.yaml", "/livez", "/readyz", "/none"}
	for path, has := range document.Paths {
		if has.Get != nil {
			paths = append(paths, path) // A name in braces is not found, which is an answer too.
		}
	}
	if len(paths) < 30 {
		t.Fatalf("only %d paths", len(paths))
	}
	for _, path := range paths {
		for _, accepted := range [][]string{{""}, {"gzip"}, {"zstd"}, {"identity"}, {"br", "gzip"}} {
			get, body := ask(http.MethodGet, path, accepted...)
			if as, _ := ask(http.MethodGet, path, strings.Join(accepted, ", ")); !maps.EqualFunc(get, as, slices.Equal) {
				t.Errorf("%s for %q:\none line  %v\ntwo lines %v", path, accepted, as, get)
			}
			if n := get.Get("Content-Length"); n != "" && n != strconv.Itoa(len(body)) {
				t.Errorf("%s for %q: Content-Length %s of %d bytes", path, accepted, n, len(body))
			}
			head, _ := ask(http.MethodHead, path, accepted...)
			if strings.HasPrefix(path, "/export/") && head.Get("Content-Length") == "" { // HEAD does not read a file to its end, which tells its length
				get.Del("Content-Length")
			}
			if !maps.EqualFunc(get, head, slices.Equal) {
				t.Errorf("%s for %q:\nHEAD %v\nGET  %v", path, accepted, head, get)
			}
		}
	}
}

func TestAWebsocketOpensWhateverEncodingsItsClientAccepts(t *testing.T) {
	t.Parallel()
	url, token := newCompressing(t)
	header := http.Header{"Authorization": {"Bearer " + token}, "Accept-Encoding": {"gzip, zstd"}}
	conn, answer, err := websocket.Dial(t.Context(), url+"/graphql", &websocket.DialOptions{HTTPHeader: header, Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	if encoding := answer.Header.Get("Content-Encoding"); encoding != "" {
		t.Errorf("Content-Encoding %q, want none", encoding)
	}
}

// A stuckClient is a response whose client does not read.
type stuckClient struct{ *httptest.ResponseRecorder }

var errStuck = errors.New("the client does not read")

func (stuckClient) FlushError() error { return errStuck }

func TestAStreamLearnsThatItsClientDoesNotRead(t *testing.T) {
	t.Parallel()
	for _, accepted := range []string{"gzip", "identity", ""} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Header.Set("Accept-Encoding", accepted)
		var sent string
		var err error
		client := stuckClient{httptest.NewRecorder()}
		compressResponses(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			_, _ = io.WriteString(w, ":\n\n")
			err = http.NewResponseController(w).Flush()
			sent = client.Body.String()
		})).ServeHTTP(client, r)
		if !errors.Is(err, errStuck) || sent != ":\n\n" {
			t.Errorf("for %q: %v, and %q was sent, want %v and the event", accepted, err, sent, errStuck)
		}
	}
}

// A file that is compressed and cut off must not look complete either.
func TestACompressedAnswerThatIsCutOffIsAnError(t *testing.T) {
	t.Parallel()
	for _, media := range []string{"text/csv", "application/x-ndjson", "application/sarif+json"} {
		cut := compressResponses(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			_, _ = w.Write(bytes.Repeat([]byte("a row of the file\n"), 5000))
			panic(http.ErrAbortHandler)
		}))
		server := httptest.NewServer(cut)
		for _, encoding := range []string{"gzip", "zstd", "identity"} {
			r := check(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody))(t)
			r.Header.Set("Accept-Encoding", encoding)
			answer, err := server.Client().Do(r)
			if err != nil {
				continue // nothing of the answer has come
			}
			if _, err = io.Copy(io.Discard, answer.Body); err == nil {
				t.Errorf("%s in %s: the answer looks complete", media, encoding)
			}
			if want := strings.TrimSuffix(encoding, "identity"); answer.Header.Get("Content-Encoding") != want {
				t.Errorf("%s: encoded in %q, want %q", media, answer.Header.Get("Content-Encoding"), want)
			}
			_ = answer.Body.Close()
		}
		server.Close()
	}
}
