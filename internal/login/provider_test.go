package login

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const service = "https://atrium.example.com"

// A provider is a small OpenID provider. Tests set its fields before its first request.
type provider struct {
	t    *testing.T
	site *httptest.Server
	key  *ecdsa.PrivateKey

	metadata map[string]any                                    // replaces what discovery says
	claims   map[string]any                                    // replaces claims of ID tokens
	answer   func(form url.Values) (status int, says any)      // replaces the answer of the token endpoint, unless the status is 0
	callback map[string]string                                 // replaces parameters of the answer in the browser
	tokens   map[string]any                                    // replaces members of the answer of the token endpoint
	serve    func(w http.ResponseWriter, r *http.Request) bool // answers other requests

	mutex     sync.Mutex
	asked     []url.Values // of pages
	forms     []url.Values // of the token endpoint
	codes     map[string]url.Values
	refresh   string
	refreshed int
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{t: t, key: key, codes: map[string]url.Values{}, refresh: "refresh-0"}
	p.site = httptest.NewServer(p)
	t.Cleanup(p.site.Close)
	return p
}

// ServeHTTP answers as a provider does.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.serve != nil && p.serve(w, r) {
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		said := map[string]any{
			"issuer": p.site.URL, "authorization_endpoint": p.site.URL + "/auth", "token_endpoint": p.site.URL + "/token", "jwks_uri": p.site.URL + "/keys",
			"device_authorization_endpoint": p.site.URL + "/device", "revocation_endpoint": p.site.URL + "/revoke",
			"authorization_response_iss_parameter_supported": true, "id_token_signing_alg_values_supported": []string{"ES256"},
		}
		maps.Copy(said, p.metadata)
		p.write(w, http.StatusOK, said)
	case "/keys":
		p.write(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "k", Algorithm: "ES256", Use: "sig"}}})
	case "/auth":
		p.redirect(w, r)
	case "/device":
		p.write(w, http.StatusOK, map[string]any{"device_code": "device", "user_code": "ABCD-EFGH", "verification_uri": p.site.URL + "/enter", "expires_in": 300, "interval": 1})
	case "/token":
		p.give(w, r)
	case "/revoke":
		_ = r.ParseForm()
		p.mutex.Lock()
		p.forms = append(p.forms, r.PostForm)
		p.mutex.Unlock()
	default:
		http.NotFound(w, r)
	}
}

func (p *provider) write(w http.ResponseWriter, status int, says any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(says)
}

func (p *provider) redirect(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	code := rand.Text()
	p.mutex.Lock()
	p.asked = append(p.asked, query)
	p.codes[code] = query
	p.mutex.Unlock()
	back, err := url.Parse(query.Get("redirect_uri"))
	if err != nil {
		p.t.Error(err)
	}
	parameters := url.Values{"code": {code}, "state": {query.Get("state")}, "iss": {p.site.URL}}
	for name, value := range p.callback {
		parameters.Set(name, value)
	}
	back.RawQuery = parameters.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (p *provider) give(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	form := r.PostForm
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.forms = append(p.forms, form)
	if p.answer != nil {
		if status, says := p.answer(form); status != 0 {
			p.write(w, status, says)
			return
		}
	}
	refused := map[string]any{"error": "invalid_grant"}
	nonce := ""
	switch form.Get("grant_type") {
	case "authorization_code":
		asked := p.codes[form.Get("code")]
		delete(p.codes, form.Get("code"))
		digest := sha256.Sum256([]byte(form.Get("code_verifier")))
		if asked == nil || asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(digest[:]) || asked.Get("redirect_uri") != form.Get("redirect_uri") {
			p.write(w, http.StatusBadRequest, refused)
			return
		}
		nonce = asked.Get("nonce")
	case "refresh_token":
		if form.Get("refresh_token") != p.refresh {
			p.write(w, http.StatusBadRequest, refused)
			return
		}
		p.refreshed++
		p.refresh = "refresh-" + rand.Text()
	}
	says := map[string]any{"access_token": p.sign(map[string]any{"aud": service}), "id_token": p.sign(map[string]any{"aud": "console", "nonce": nonce}, p.claims), "refresh_token": p.refresh, "token_type": "Bearer", "expires_in": 3600}
	maps.Copy(says, p.tokens)
	p.write(w, http.StatusOK, says)
}

// sign returns a token of alice.
func (p *provider) sign(claims ...map[string]any) string {
	all := map[string]any{"iss": p.site.URL, "sub": "alice", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	for _, more := range claims {
		maps.Copy(all, more)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: "k"}}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	text, _ := json.Marshal(all)
	signed, err := signer.Sign(text)
	if err != nil {
		p.t.Fatal(err)
	}
	token, _ := signed.CompactSerialize()
	return token
}

// server returns what a server says that has this provider.
func (p *provider) server() *Server {
	of, _ := url.Parse("http://127.0.0.1:8080")
	return &Server{URL: of, Audiences: []string{service}, Providers: []Provider{{Issuer: p.site.URL, ClientID: "console", Scope: "openid profile"}}}
}

// signIn signs in with a browser that open is. It returns when both have ended: the command, and the browser.
func (p *provider) signIn(s *Server, open func(page string)) (*Context, error) {
	p.t.Helper()
	var browser sync.WaitGroup
	defer browser.Wait()
	return NewClient(nil).SignIn(p.t.Context(), s, &s.Providers[0], 0, func(page string) { browser.Go(func() { open(page) }) })
}

// visit opens a page as a browser does. What comes of it is seen in the terminal.
func visit(page string) {
	if response, err := newBrowser().Get(page); err == nil {
		_ = response.Body.Close()
	}
}

// newBrowser returns a client that keeps cookies.
func newBrowser() *http.Client {
	jar, _ := cookiejar.New(nil) // It never fails.
	return &http.Client{Jar: jar}
}

func TestAPersonSignsInWithABrowser(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	server := p.server()
	server.Providers[0].Parameters = map[string]string{"resource": service, "response_type": "id_token", "redirect_uri": "https://evil.example", "request_uri": "https://evil.example", "state": "s", "code_challenge": "c", "prompt": "login"}
	pages := make(chan string, 1)
	made, err := p.signIn(server, func(page string) {
		response, err := newBrowser().Get(page)
		if err != nil {
			pages <- err.Error()
			return
		}
		defer response.Body.Close()
		pages <- response.Status + " " + response.Header.Get("Referrer-Policy")
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := <-pages; got != "200 OK no-referrer" {
		t.Errorf("the browser got %s", got)
	}
	if claims := ReadClaims(made.Token); !slices.Equal(claims.Audience, []string{service}) || claims.Subject != "alice" || made.RefreshToken != "refresh-0" || made.Expires.IsZero() || made.Server != "http://127.0.0.1:8080" {
		t.Errorf("the context is %+v", made)
	}
	asked, form := p.asked[0], p.forms[0]
	host, _ := strings.CutPrefix(p.site.URL, "http://")
	if at, err := url.Parse(asked.Get("redirect_uri")); err != nil || at.Hostname() != "127.0.0.1" || at.Path != "/~signed-in/"+host {
		t.Errorf("the browser comes back to %s", asked.Get("redirect_uri"))
	}
	if asked.Get("response_type") != "code" || asked.Has("request_uri") || len(asked.Get("state")) < 20 || asked.Get("prompt") != "login" || asked.Get("resource") != service || form.Get("resource") != service {
		t.Errorf("the page was asked with %v, and the tokens with %v", asked, form)
	}
}

func TestASignInFailsIfItsProviderIsNotWhatItSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wants string
		given func(p *provider)
	}{
		"another nonce":              {"nonce differs", func(p *provider) { p.claims = map[string]any{"nonce": "x"} }},
		"a token for another client": {"not valid", func(p *provider) { p.claims = map[string]any{"aud": "other"} }},
		"a token of another issuer":  {"not valid", func(p *provider) { p.claims = map[string]any{"iss": "https://evil.example"} }},
		"an expired token":           {"not valid", func(p *provider) { p.claims = map[string]any{"exp": 1} }},
		"another access token":       {"does not belong", func(p *provider) { p.claims = map[string]any{"at_hash": "x"} }},
		"a forged signature": {"not valid", func(p *provider) {
			other := newProvider(p.t)
			other.site.URL = p.site.URL
			p.tokens = map[string]any{"id_token": other.sign(map[string]any{"aud": "console"})}
		}},
		"no ID token": {"no ID token", func(p *provider) { p.tokens = map[string]any{"id_token": ""} }},
		"a refusal": {"not today \x1b", func(p *provider) {
			p.callback = map[string]string{"error": "access_denied", "error_description": "not today \x1b"}
		}},
		"another provider":        {"comes from \"https://evil.example\"", func(p *provider) { p.callback = map[string]string{"iss": "https://evil.example"} }},
		"no name":                 {"comes from \"\"", func(p *provider) { p.callback = map[string]string{"iss": ""} }},
		"a code of somebody else": {"invalid_grant", func(p *provider) { p.callback = map[string]string{"code": "stolen"} }},
		"no code":                 {"no code", func(p *provider) { p.callback = map[string]string{"code": ""} }},
		"another issuer":          {"calls itself https://evil.example", func(p *provider) { p.metadata = map[string]any{"issuer": "https://evil.example"} }},
		"tokens over http":        {"must begin with https://", func(p *provider) { p.metadata = map[string]any{"token_endpoint": "http://evil.example/token"} }},
		"a page that is a script": {"must be a URL", func(p *provider) { p.metadata = map[string]any{"authorization_endpoint": "javascript:alert(1)"} }},
		"no page":                 {"no page", func(p *provider) { p.metadata = map[string]any{"authorization_endpoint": ""} }},
		"a provider that is down": {"status 503", func(p *provider) {
			p.answer = func(url.Values) (int, any) { return http.StatusServiceUnavailable, nil }
		}},
		"a redirect to elsewhere": {"status 307", func(p *provider) {
			p.serve = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/token" {
					http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
				}
				if r.URL.Path == "/elsewhere" {
					p.t.Error("the code went to another place")
				}
				return r.URL.Path == "/token"
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			c.given(p)
			if made, err := p.signIn(p.server(), visit); err == nil || !strings.Contains(err.Error(), c.wants) {
				t.Errorf("%v, %v, want %q", made, err, c.wants)
			}
		})
	}
}

// The attack is a page that guesses the port, and sends its own code to have the person signed in as somebody else.
func TestForgedAnswersNeitherEndASignInNorCount(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	browser := newBrowser()
	browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ask := func(client *http.Client, method, target, host string, want int) *http.Response {
		request, _ := http.NewRequestWithContext(t.Context(), method, target, http.NoBody)
		request.Host = host
		response, err := client.Do(request)
		if err != nil {
			t.Error(err)
			return &http.Response{Header: http.Header{}}
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s %s: status %d, want %d", method, target, response.StatusCode, want)
		}
		return response
	}
	made, err := p.signIn(p.server(), func(page string) {
		if strings.Contains(page, "?") || strings.Contains(page, p.site.URL) {
			t.Errorf("process lists show %s", page)
		}
		ask(http.DefaultClient, http.MethodGet, page+"x", "", http.StatusNotFound)
		ask(http.DefaultClient, http.MethodGet, page, "evil.example", http.StatusNotFound)
		asked, _ := url.Parse(ask(browser, http.MethodGet, page, "", http.StatusSeeOther).Header.Get("Location"))
		ask(http.DefaultClient, http.MethodGet, page, "", http.StatusGone)
		back, state := asked.Query().Get("redirect_uri"), asked.Query().Get("state")
		ask(browser, http.MethodGet, back+"?code=forged&state=guessed", "", http.StatusBadRequest)
		ask(browser, http.MethodGet, back+"?code=forged", "", http.StatusBadRequest)
		ask(browser, http.MethodGet, back+"?error=access_denied", "", http.StatusBadRequest)
		ask(browser, http.MethodGet, back+"?code=a&code=b&state="+state, "", http.StatusBadRequest)
		ask(browser, http.MethodPost, back+"?code=forged&state="+state, "", http.StatusNotFound)
		ask(browser, http.MethodGet, back+"/other?code=forged&state="+state, "", http.StatusNotFound)
		ask(browser, http.MethodGet, back+"?code=forged&state="+state, "evil.example", http.StatusNotFound)
		// Somebody else of this machine knows the whole address of the provider, but is not the browser that has begun.
		ask(http.DefaultClient, http.MethodGet, back+"?code=forged&state="+state, "", http.StatusBadRequest)
		browser.CheckRedirect = nil
		ask(browser, http.MethodGet, asked.String(), "", http.StatusOK)
	})
	if err != nil || made.RefreshToken != "refresh-0" {
		t.Errorf("%v, %v, want the sign-in to succeed", made, err)
	}
	if len(p.forms) != 1 {
		t.Errorf("codes were redeemed %d times, want once", len(p.forms))
	}
}

func TestASignInEndsWithItsCommand(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := p.server()
	if _, err := NewClient(nil).SignIn(ctx, server, &server.Providers[0], 0, func(string) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
}

// elsewhere signs in with a code, and returns how long it waited between the questions.
func (p *provider) elsewhere(answers ...string) (made *Context, waited []time.Duration, err error) {
	p.t.Helper()
	p.answer = func(url.Values) (int, any) {
		if len(answers) == 0 {
			return 0, nil
		}
		first := answers[0]
		answers = answers[1:]
		if first == "away" {
			return http.StatusBadGateway, nil
		}
		return http.StatusBadRequest, map[string]any{"error": first}
	}
	c := NewClient(nil)
	started := time.Now()
	c.wait = func(_ context.Context, d time.Duration) error {
		waited = append(waited, d)
		return nil
	}
	c.now = func() time.Time {
		passed := time.Duration(0)
		for _, d := range waited {
			passed += d
		}
		return started.Add(passed)
	}
	server := p.server()
	made, err = c.SignInElsewhere(p.t.Context(), server, &server.Providers[0], func(code Code) {
		if code.Text != "ABCD-EFGH" || code.Page != p.site.URL+"/enter" {
			p.t.Errorf("the person is shown %+v", code)
		}
	})
	return made, waited, err
}

func TestAPersonSignsInWithABrowserElsewhere(t *testing.T) {
	t.Parallel()
	made, waited, err := newProvider(t).elsewhere("authorization_pending", "slow_down", "away", "authorization_pending")
	if err != nil || made.RefreshToken != "refresh-0" {
		t.Errorf("%v, %v, want a session", made, err)
	}
	if want := []time.Duration{time.Second, time.Second, 6 * time.Second, 12 * time.Second, 12 * time.Second}; !slices.Equal(waited, want) {
		t.Errorf("waited %v, want %v", waited, want)
	}
	for answers, wants := range map[string]string{
		"expired_token": "has expired", "access_denied": "access_denied", "authorization_pending slow_down invalid_client": "invalid_client",
		strings.Repeat("authorization_pending ", 400): "has expired",
	} {
		if _, waited, err := newProvider(t).elsewhere(strings.Fields(answers)...); err == nil || !strings.Contains(err.Error(), wants) || len(waited) > 301 {
			t.Errorf("%.60s: %v after %d questions, want %q", answers, err, len(waited), wants)
		}
	}
	for name, says := range map[string]map[string]any{
		"must be a URL":                   {"verification_uri": "javascript:alert(1)"},
		"must begin with https://":        {"verification_uri": "http://evil.example"},
		"no code that a person could":     {"user_code": strings.Repeat("A", 1000)},
		"which must be a URL with a host": {"verification_uri_complete": "file:///etc/passwd"},
	} {
		p := newProvider(t)
		p.serve = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/device" {
				return false
			}
			all := map[string]any{"device_code": "d", "user_code": "ABCD", "verification_uri": p.site.URL, "expires_in": 300}
			maps.Copy(all, says)
			p.write(w, http.StatusOK, all)
			return true
		}
		if _, _, err := p.elsewhere(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: %v, want %q", says, err, name)
		}
	}
	p := newProvider(t)
	p.metadata = map[string]any{"device_authorization_endpoint": ""}
	if _, _, err := p.elsewhere(); err == nil || !strings.Contains(err.Error(), "leave out --device") {
		t.Errorf("without an endpoint: %v", err)
	}
}

func TestTheTokenThatTheServerAcceptsIsChosen(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	of := func(audience ...string) string { return p.sign(map[string]any{"aud": audience}) }
	for name, c := range map[string]struct{ access, id, want string }{
		"an access token for the server": {of("x", service), of("console"), "access"},
		"an opaque access token":         {"opaque", of("console"), "id"},
		"one for another service":        {of("https://graph.example.com"), of("console"), "id"},
		"one for the client":             {of("console"), of("console"), "access"},
		"an ID token for the server":     {of("console"), of(service), "id"},
	} {
		got, err := (&Tokens{access: c.access, id: c.id}).choose(&Provider{ClientID: "console"}, []string{service})
		if want := map[string]string{"access": c.access, "id": c.id}[c.want]; err != nil || got != want {
			t.Errorf("%s: %v, not the %s token", name, err, c.want)
		}
	}
	if _, err := (&Tokens{access: "opaque"}).choose(&Provider{ClientID: "console"}, []string{service}); err == nil || !strings.Contains(err.Error(), "gave no token for this server") {
		t.Errorf("no token of use: %v", err)
	}
}

// The attack is a server that has a person sign in at the provider of another server, with which it could act there.
func TestAServerGetsNoTokenForAnotherOne(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	server := p.server()
	server.URL, _ = url.Parse("https://evil.example")
	if _, err := p.signIn(server, visit); err == nil || !strings.Contains(err.Error(), "could act there as you") {
		t.Errorf("%v, want a refusal", err)
	}
	server.Trust(service)
	if made, err := p.signIn(server, visit); err != nil || made.Server != "https://evil.example" {
		t.Errorf("trusted: %v, %v", made, err)
	}
	if _, err := server.Find("https://other.example"); err == nil || !strings.Contains(err.Error(), "is not a provider of https://evil.example") {
		t.Errorf("a provider of somebody else: %v", err)
	}
	server.Providers = append(server.Providers, Provider{Name: "Staff", Issuer: "https://login.example.com"})
	for wanted, want := range map[string]string{"staff": "Staff", "login.example.com": "Staff", "https://login.example.com": "Staff"} {
		if found, err := server.Find(wanted); err != nil || found.Name != want {
			t.Errorf("%s: %v, %v", wanted, found, err)
		}
	}
	if _, err := server.Find(""); err == nil || !strings.Contains(err.Error(), "Staff") {
		t.Errorf("without a name: %v, want the names", err)
	}
}
