package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/internal/server"
	"atrium/store/storetest"
)

func TestAnOriginIsWhatABrowserSends(t *testing.T) {
	t.Parallel()
	for origin, good := range map[string]bool{
		"https://app.example.com": true, "http://localhost:3000": true, "http://[::1]:3000": true,
		"*": false, "null": false, "": false, "https://*.example.com": false, "https://app.example.com/": false, "app.example.com": false,
		"https://APP.example.com": false, "https://u@app.example.com": false, "file:///x": false, "https://a?b": false, "https://a#b": false, `https://a\b`: false,
		"https://xn--mnchen-3ya.example": true, "https://münchen.example": false,
	} {
		var f faults
		if checkOrigin(&f, "cors-origin", origin); (len(f) == 0) != good {
			t.Errorf("%q: %v", origin, f)
		}
		if err := http.NewCrossOriginProtection().AddTrustedOrigin(origin); good && err != nil {
			t.Errorf("%q: %v", origin, err)
		}
	}
}

func TestLimitsAreOffInDevelopmentUnlessTheyAreGiven(t *testing.T) {
	t.Parallel()
	five, none := 5, 0
	for _, c := range []struct {
		flags          limitFlags
		dev            bool
		rate, inFlight int
	}{
		{limitFlags{RateBurst: 200}, false, 100, 20},
		{limitFlags{RateBurst: 200}, true, 0, 0},
		{limitFlags{RateBurst: 200, RateLimit: &five}, true, 5, 0},
		{limitFlags{RateBurst: 200, MaxInFlight: &five}, true, 0, 5},
		{limitFlags{RateBurst: 200, RateLimit: &none, MaxInFlight: &none}, false, 0, 0},
	} {
		if rate, inFlight := c.flags.limits(c.dev); rate != c.rate || inFlight != c.inFlight {
			t.Errorf("%+v, dev %v: %d, want %d and %d, want %d", c.flags, c.dev, rate, c.rate, inFlight, c.inFlight)
		}
	}
}

func TestLimitsApplyToEveryProtocol(t *testing.T) {
	t.Parallel()
	database := demonstration.SQLite(t)
	server := start(t, database, "--dev", "--rate-limit", "1", "--rate-burst", "2", "--cors-origin", "https://app.example.com")
	owner, viewer := strings.TrimSpace(mustRun(t, database, "token")), strings.TrimSpace(mustRun(t, database, "token", "--as", "viewer"))
	for _, ask := range [][2]string{{"/registry/v2/repos", ""}, {"/graphql", askRepos}} {
		_, body := flood(t, server, owner, ask[0], ask[1])
		if !strings.Contains(body, `"code":8`) && !strings.Contains(body, `"status":8`) {
			t.Errorf("%s: %s, want it to contain %q", ask[0], body, `"code":8`)
		}
	}
	if status, body := server.get(viewer, "/registry/v2/repos"); status != http.StatusOK {
		t.Errorf("another caller: status %d, want 200: %s", status, body)
	}
	flood(t, server, "nonsense", "/registry/v2/repos", "")
	for _, path := range []string{"/livez", "/readyz", "/"} {
		if status, body := server.get("", path); status != http.StatusOK {
			t.Errorf("%s: status %d, want 200: %s", path, status, body)
		}
	}
	h, _ := flood(t, server, owner, "/registry/v2/repos", "")
	if h.Get("Retry-After") == "" || h.Get("RateLimit") == "" || h.Get("X-Request-Id") == "" || h.Get("Access-Control-Allow-Origin") != "https://app.example.com" {
		t.Errorf("a page is answered with 429 and %v", h)
	}
}

// flood sends requests of a page at once, again and again, until one exceeds the rate limit. On a
// busy machine, the limit allows more of them before the last one has arrived.
func flood(t *testing.T, server *running, token, path, body string) (header http.Header, answer string) {
	t.Helper()
	type response struct {
		*http.Response
		body []byte
	}
	server.await(func() bool {
		refused := make(chan response, 20)
		var sending sync.WaitGroup
		for range cap(refused) {
			sending.Go(func() {
				r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, server.url+path, strings.NewReader(body))
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Origin", "https://app.example.com")
				got, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				defer got.Body.Close()
				if text, err := io.ReadAll(got.Body); err != nil {
					t.Error(err)
				} else if got.StatusCode == http.StatusTooManyRequests {
					refused <- response{got, text}
				}
			})
		}
		sending.Wait()
		select {
		case one := <-refused:
			header, answer = one.Header, string(one.body)
			return true
		default:
			return false
		}
	})
	return header, answer
}

func TestV1AcceptsTokensThatWeDoNot(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Header.Get("Authorization")) }))
	t.Cleanup(upstream.Close)
	server := start(t, storetest.SQLite(t), "--v1-upstream", upstream.URL)
	if status, body := server.get("of.another.service", "/vulnerabilities/v1/reports"); status != http.StatusOK || body != "Bearer of.another.service" {
		t.Errorf("status %d, want 200: %s, want Bearer of.another.service", status, body)
	}
	if status, _ := server.get("of.another.service", "/vulnerabilities/v2/advisories"); status != http.StatusUnauthorized {
		t.Errorf("v2 answers %d, want 401", status)
	}
	without := start(t, storetest.SQLite(t))
	if status, body := without.get("", "/iam/v1/groups"); status != http.StatusNotImplemented || !strings.Contains(body, `"code":12`) || !strings.Contains(body, "v1 is not served here") {
		t.Errorf("without an upstream: status %d, want 501: %s, want it to contain %q", status, body, `"code":12`)
	}
}

func TestAPathHasOneMeaningWithEachAlias(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]string{
		"acme.platform": "", "acme.platform other": "", "acme.platform acme.registry": "", "platforms": "",
		"": "must be the name of a package", "Acme": "must be the name of a package", "acme.": "must be the name of a package", "a/b": "must be the name of a package", "a..b": "must be the name of a package",
		strings.Repeat("a", 101): "of at most 100", "platform": "must not begin with platform", "platform.registry": "must not begin with platform", "grpc.health": "must not begin with grpc",
		"acme.platform acme.platform": "must not begin with acme.platform", "acme acme.platform": "must not begin with acme", "acme.platform acme": "must not begin with acme.platform",
	} {
		var f faults
		(&aliasFlags{strings.Split(names, " ")}).check(&f)
		if text := fmt.Sprint(f.err()); (want == "") != (f.err() == nil) || !strings.Contains(text, want) {
			t.Errorf("%q: %s, want %q", names, text, want)
		}
	}
}

func TestClientsOfAnotherPackageReachTheServices(t *testing.T) {
	t.Parallel()
	server := start(t, storetest.SQLite(t), "--grpc-package-alias", "acme.platform", "--grpc-package-alias", "example")
	for _, path := range []string{"/acme.platform.ping.v2.PingService/Ping", "/example.ping.v2beta1.PingService/Ping", "/platform.ping.v2.PingService/Ping"} {
		if status, body := server.send(http.MethodPost, "", path, `{}`); status != http.StatusOK {
			t.Errorf("%s: status %d, want 200: %s", path, status, body)
		}
	}
}

// White space separates the URLs of standbys in a variable, since a URL may contain commas.
func TestOneVariableHasManyURLsOfStandbys(t *testing.T) {
	t.Parallel()
	var f faults
	c := serveCommand{databaseFlags: databaseFlags{DatabaseURL: "postgres://a"}, ReadDatabaseURL: []string{"postgres://b,c/d\n postgres://e/f\n", "postgres://g/h"}}
	c.checkReadURLs(&f)
	if want := []string{"postgres://b,c/d", "postgres://e/f", "postgres://g/h"}; len(f) > 0 || !slices.Equal(c.ReadDatabaseURL, want) {
		t.Errorf("the URLs are %q, want %q (%v)", c.ReadDatabaseURL, want, f)
	}
}

func TestTheConsoleAsksItsProviderForWhatTheOperatorSays(t *testing.T) {
	t.Parallel()
	given := []string{"--console-issuer", "https://login.example.com", "--console-client-id", "console"}
	c := parseServe(t, map[string]string{"ATRIUM_CONSOLE_PARAMETER": "audience=https://a.example.com?x=y\nresource=https://b.example.com\n"}, append(given, "--console-scope", "openid api://a/access", "--console-name", "Staff")...)
	want := server.SignInProvider{Name: "Staff", Issuer: "https://login.example.com", ClientID: "console", Scope: "openid api://a/access", Parameters: map[string]string{"audience": "https://a.example.com?x=y", "resource": "https://b.example.com"}}
	if got := c.signInProviders(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("parsed %v, want %v", got, want)
	}
	for _, wrong := range []struct{ flag, value, want string }{
		{"--console-parameter", "audience", "must be NAME=VALUE"},
		{"--console-parameter", "=a", "must be NAME=VALUE"},
		{"--console-parameter", "state=a", "state is set by the console"},
		{"--console-parameter", "a=b\na=c", "a is given twice"},
		{"--console-parameter", "response_type=token", "response_type must be code or id_token"},
		{"--console-scope", "profile", "must contain openid"},
		{"--console-provider", `{"issuer": "https://login.example.com", "clientId": "x"}`, "https://login.example.com is given twice"},
		{"--console-provider", `{"issuer": "http://login.example.com/", "clientId": "x"}`, "http://login.example.com/ is given twice"}, // They would have one redirect URI.
		{"--console-provider", `{"issuer": "https://two.example.com", "client": "x"}`, `unknown field "client"`},
		{"--console-provider", `{"issuer": "https://two.example.com"}`, "needs an issuer and a clientId"},
		{"--console-provider", `{"issuer": "two.example.com", "clientId": "x"}`, "console-provider"},
		{"--console-provider", `{"issuer": "https://two.example.com", "clientId": "x", "scope": "profile"}`, "must contain openid"},
		{"--console-provider", `{"issuer": "http://two.example.com", "clientId": "x"}`, "--console-provider (ATRIUM_CONSOLE_PROVIDER)"},
	} {
		if _, said, err := atrium(t, nil, append([]string{"admin", "config", wrong.flag, wrong.value}, given...)...); exitCode(err) != 2 || !strings.Contains(said+err.Error(), wrong.want) {
			t.Errorf("%s %q: %v %s, want an error with %q", wrong.flag, wrong.value, err, said, wrong.want)
		}
	}
	for flag, value := range map[string]string{"--console-parameter": "a=b", "--console-name": "Staff"} {
		if _, said, err := atrium(t, nil, "admin", "config", flag, value); exitCode(err) != 2 || !strings.Contains(said+err.Error(), "is required with "+flag) {
			t.Errorf("without a provider: %v %s", err, said)
		}
	}
}

func TestTheEndOfV2beta1IsADateAfterItsDeprecation(t *testing.T) {
	t.Parallel()
	c := parseServe(t, nil, "--v2beta1-deprecation", "2027-01-31", "--v2beta1-sunset", "2027-06-30")
	if got := c.deprecation; got.Since.Format(time.DateOnly) != "2027-01-31" || got.Sunset.Format(time.DateOnly) != "2027-06-30" {
		t.Errorf("parsed %v", got)
	}
	for _, wrong := range []struct {
		args []string
		want string
	}{
		{[]string{"--v2beta1-deprecation", "soon"}, `"soon" must be a date such as 2027-01-31`},
		{[]string{"--v2beta1-sunset", "2027-06-30"}, "is required with --v2beta1-sunset"},
		{[]string{"--v2beta1-deprecation", "2027-06-30", "--v2beta1-sunset", "2027-01-31"}, "must not be before --v2beta1-deprecation"},
	} {
		if _, said, err := atrium(t, nil, append([]string{"admin", "config"}, wrong.args...)...); exitCode(err) != 2 || !strings.Contains(said+err.Error(), wrong.want) {
			t.Errorf("%v: %v %s, want an error with %q", wrong.args, err, said, wrong.want)
		}
	}
}

// Clients see the headers through all layers, also in the answer for the caller of an earlier request.
func TestAnswersOfV2beta1SayThatItEnds(t *testing.T) {
	t.Parallel()
	url := demonstration.SQLite(t)
	server := start(t, url, "--dev", "--v2beta1-deprecation", "2027-01-31", "--v2beta1-sunset", "2027-06-30")
	token := strings.TrimSpace(mustRun(t, url, "token"))
	for range 2 {
		for _, ask := range []struct {
			method, path, body string
			want               bool
		}{
			{http.MethodGet, "/registry/v2beta1/repos", "", true},
			{http.MethodPost, "/platform.registry.v2beta1.ReposService/ListRepos", "{}", true},
			{http.MethodGet, "/registry/v2/repos", "", false},
		} {
			r, err := http.NewRequestWithContext(t.Context(), ask.method, server.url+ask.path, strings.NewReader(ask.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if h := answer.Header; answer.StatusCode != http.StatusOK || (h.Get("Deprecation") == "@1801353600") != ask.want || (h.Get("Sunset") == "Wed, 30 Jun 2027 00:00:00 GMT") != ask.want {
				t.Errorf("%s: %s %v, want the headers: %t", ask.path, answer.Status, h, ask.want)
			}
		}
	}
}

// People can choose among providers. The file of --config has a map for each, and a variable JSON.
func TestTheConsoleHasSeveralProviders(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "atrium.yaml")
	text := `console-issuer: https://login.example.com
console-client-id: console
console-provider:
  - name: Partners
    issuer: https://partners.example.com/
    clientId: "7"
    scope: openid email
    parameters: {audience: https://atrium.example.com}
  - {issuer: https://accounts.google.com, clientId: g, parameters: {response_type: id_token}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []server.SignInProvider{
		{Issuer: "https://login.example.com", ClientID: "console", Scope: consoleScope, Parameters: map[string]string{}},
		{Name: "Partners", Issuer: "https://partners.example.com/", ClientID: "7", Scope: "openid email", Parameters: map[string]string{"audience": "https://atrium.example.com"}},
		{Issuer: "https://accounts.google.com", ClientID: "g", Scope: consoleScope, Parameters: map[string]string{"response_type": "id_token"}},
	}
	c := parseServe(t, nil, "--config", file)
	if got := c.signInProviders(); !reflect.DeepEqual(got, want) {
		t.Errorf("parsed %v, want %v", got, want)
	}
	given := map[string]string{"ATRIUM_CONSOLE_PROVIDER": strings.Join(c.ConsoleProvider, "\n")}
	if got := parseServe(t, given).signInProviders(); !reflect.DeepEqual(got, want[1:]) {
		t.Errorf("a variable: parsed %v, want %v", got, want[1:])
	}
}

// Who copies the settings of a provider from the guide must be able to start.
func TestTheSettingsOfProvidersInTheGuideAreTaken(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/sign-in.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 8 {
		t.Errorf("%d blocks, want one for each of seven providers, and one for several", len(blocks))
	}
	for _, block := range blocks {
		file := filepath.Join(t.TempDir(), "atrium.yaml")
		if err := os.WriteFile(file, []byte(block[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		if c := parseServe(t, nil, "--config", file); len(c.providers) != 1 {
			t.Errorf("%d providers in\n%s", len(c.providers), block[1])
		}
	}
}
