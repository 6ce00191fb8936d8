package auth

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/platform/core"
)

func TestTheMiddlewareReadsOneBearerHeader(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	token := f.token(nil)
	for _, c := range []struct {
		name   string
		header []string
		want   string // the caller, "nobody", or part of an error
	}{
		{"a bearer token", []string{"Bearer " + token}, "caller"},
		{"a scheme in other letters", []string{"bEARER " + token}, "caller"},
		{"no header", nil, "nobody"},
		{"an empty header", []string{""}, "must be Bearer"},
		{"no token", []string{"Bearer "}, "must be Bearer"},
		{"only the token", []string{token}, "must be Bearer"},
		{"another scheme", []string{"Basic YTpi"}, "must be Bearer"},
		{"two spaces", []string{"Bearer  " + token}, "caller"},
		{"only spaces", []string{"Bearer   "}, "must be Bearer"},
		{"a space and a tab", []string{"Bearer \t" + token}, "must be Bearer"},
		{"a tab", []string{"Bearer\t" + token}, "must be Bearer"},
		{"two tokens in a header", []string{"Bearer " + token + ", Bearer " + token}, "must be Bearer"},
		{"two headers", []string{"Bearer " + token, "Bearer " + token}, "one Authorization header"},
		{"a bad token", []string{"Bearer nonsense"}, "three segments"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header["Authorization"] = c.header
		if got := sendThrough(f.verifier, r); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestATokenOutsideTheHeaderIsIgnored(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	token := f.token(nil)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/?access_token="+token, strings.NewReader("access_token="+token))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Authorization", "Bearer "+token)
	r.AddCookie(&http.Cookie{Name: "Authorization", Value: token})
	if got := sendThrough(f.verifier, r); got != "nobody" {
		t.Errorf("got %q, want nobody", got)
	}
}

func TestTheTokenIsNeverShownOrLogged(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.issuer.set(func() { f.issuer.override = http.NotFoundHandler() })
	for _, token := range []string{f.token(nil), f.token(map[string]any{"iss": "https://secret.example"}), f.token(map[string]any{"exp": "secret"}), "secret.secret.secret"} {
		err := f.verify(token)
		if err == nil {
			t.Fatal("accepted")
		}
		if s := err.Error() + f.log.String(); strings.Contains(s, token) || strings.Contains(s, "secret") || strings.Contains(s, "eyJ") {
			t.Errorf("shown: %s, want it without %q", s, token)
		}
	}
}

func TestATokenForSomeoneElseIsLeftToTheIdentities(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.accept(f.token(map[string]any{"aud": []string{"sts.example", "other"}, "repository_id": 9007199254740993}))
	c := f.directory.last()
	if c.ServiceAudience || strings.Join(c.Audience, " ") != "sts.example other" {
		t.Errorf("got %+v", c)
	}
	if n, ok := c.Values["repository_id"].(interface{ String() string }); !ok || n.String() != "9007199254740993" {
		t.Errorf("got %v: an id has lost digits", c.Values["repository_id"])
	}
}

func TestOnlyABooleanVerifiesAnEmail(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.accept(f.token(map[string]any{"email": "ada@example.com", "email_verified": "true", "name": 7}))
	if c := f.directory.last(); c.EmailVerified || c.Email != "ada@example.com" || c.Name != "" {
		t.Errorf("got %+v, want Email 'ada@example.com' and Name \"\"", c)
	}
}

// sendThrough sends r through the middleware and returns the caller that arrived.
func sendThrough(v *Verifier, r *http.Request) (got string) {
	onError := func(_ http.ResponseWriter, _ *http.Request, err error) {
		var e *core.Error
		if !errors.As(err, &e) || e.Code != core.CodeUnauthenticated {
			got = "not UNAUTHENTICATED: "
		}
		got += err.Error()
	}
	next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = who(r.Context()) })
	Middleware(v, onError)(next).ServeHTTP(httptest.NewRecorder(), r)
	return got
}

func who(ctx context.Context) string {
	if core.ActorOf(ctx) == nil {
		return "nobody"
	}
	return "caller"
}
