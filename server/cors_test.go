package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/rest"
)

// sendFromOrigin sends the requests of a page from this origin.
func sendFromOrigin(t *testing.T, listed []string, method, origin string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "https://api.example.com/graphql", nil)
	if origin != "" {
		r.Header.Set("Origin", origin)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	addGuards(http.HandlerFunc(answerOK), listed, rest.Options{}).ServeHTTP(answer, r)
	return answer
}

func TestPagesOfListedOriginsReadAnswers(t *testing.T) {
	t.Parallel()
	const app = "https://app.example.com"
	listed := []string{app, "http://[::1]:3000"}
	for _, c := range []struct {
		name, method, origin string
		listed               []string
		status               int
		allowed              string
	}{
		{"a listed origin", "POST", app, listed, 200, app},
		{"another listed origin", "PATCH", "http://[::1]:3000", listed, 200, "http://[::1]:3000"},
		{"reading", "GET", app, listed, 200, app},
		{"one that is not listed", "POST", "https://evil.example", listed, 403, ""},
		{"reading for one that is not listed", "GET", "https://evil.example", listed, 200, ""},
		{"another scheme", "POST", "http://app.example.com", listed, 403, ""},
		{"another port", "POST", app + ":8443", listed, 403, ""},
		{"one that ends alike", "POST", "https://evil-app.example.com", listed, 403, ""},
		{"one that starts alike", "POST", app + ".evil.example", listed, 403, ""},
		{"no origin at all", "POST", "null", listed, 403, ""},
		{"no page", "POST", "", listed, 200, ""},
		{"nothing listed", "POST", app, nil, 403, ""},
		{"reading, nothing listed", "GET", app, nil, 200, ""},
	} {
		got := sendFromOrigin(t, c.listed, c.method, c.origin)
		h := got.Header()
		if got.Code != c.status || h.Get("Access-Control-Allow-Origin") != c.allowed || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: status %d, want %d: %v", c.name, got.Code, c.status, h)
		}
		if varies := strings.Contains(strings.Join(h.Values("Vary"), ","), "Origin"); varies != (c.listed != nil) {
			t.Errorf("%s: Vary %q", c.name, h.Values("Vary"))
		}
		if (h.Get("Access-Control-Expose-Headers") == "*") != (c.allowed != "") {
			t.Errorf("%s: exposes %q", c.name, h.Get("Access-Control-Expose-Headers"))
		}
	}
}

func TestAPreflightIsAnsweredOnlyForListedOrigins(t *testing.T) {
	t.Parallel()
	const app = "https://app.example.com"
	asks := []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type"}
	got := sendFromOrigin(t, []string{app}, http.MethodOptions, app, asks...)
	h := got.Header()
	if got.Code != http.StatusNoContent || got.Body.Len() > 0 || h.Get("Access-Control-Allow-Origin") != app ||
		!strings.Contains(h.Get("Access-Control-Allow-Methods"), "PATCH") || h.Get("Access-Control-Allow-Headers") != "authorization,content-type" ||
		h.Get("Access-Control-Allow-Credentials") != "" || h.Get("Access-Control-Max-Age") == "" {
		t.Errorf("status %d, want 204: %v", got.Code, h)
	}
	if vary := strings.Join(h.Values("Vary"), ", "); vary != "Origin, Access-Control-Request-Method, Access-Control-Request-Headers" {
		t.Errorf("Vary %q, want 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers'", vary)
	}
	for name, got := range map[string]*httptest.ResponseRecorder{
		"another origin":   sendFromOrigin(t, []string{app}, http.MethodOptions, "https://evil.example", asks...),
		"nothing listed":   sendFromOrigin(t, nil, http.MethodOptions, app, asks...),
		"not a preflight":  sendFromOrigin(t, []string{app}, http.MethodOptions, app),
		"no page, OPTIONS": sendFromOrigin(t, []string{app}, http.MethodOptions, "", asks...),
	} {
		if got.Header().Get("Access-Control-Allow-Methods") != "" || got.Body.String() != "fine" {
			t.Errorf("%s: %d %v, want Access-Control-Allow-Methods \"\"", name, got.Code, got.Header())
		}
	}
}
