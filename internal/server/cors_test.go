package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/internal/rest"
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
	const app, evil = "https://app.example.com", "https://evil.example"
	listed := []string{app, "http://[::1]:3000"}
	for _, c := range []struct {
		name, method, origin string
		listed               []string
		status               int
		allowed              string // the origin whose pages can read the answer, even if it is a refusal
	}{
		{"a listed origin", "POST", app, listed, 200, app},
		{"another listed origin", "PATCH", "http://[::1]:3000", listed, 200, "http://[::1]:3000"},
		{"reading", "GET", app, listed, 200, app},
		{"one that is not listed", "POST", evil, listed, 403, evil},
		{"reading for one that is not listed", "GET", evil, listed, 403, evil},
		{"another scheme", "POST", "http://app.example.com", listed, 403, "http://app.example.com"},
		{"another port", "POST", app + ":8443", listed, 403, app + ":8443"},
		{"one that ends alike", "POST", "https://evil-app.example.com", listed, 403, "https://evil-app.example.com"},
		{"one that starts alike", "POST", app + ".evil.example", listed, 403, app + ".evil.example"},
		{"no origin at all", "POST", "null", listed, 403, ""},
		{"no page", "POST", "", listed, 200, ""},
		{"nothing listed", "POST", app, nil, 403, app},
		{"reading, nothing listed", "GET", app, nil, 403, app},
	} {
		got := sendFromOrigin(t, c.listed, c.method, c.origin)
		h, isListed := got.Header(), c.status == 200 && c.allowed != ""
		if got.Code != c.status || h.Get("Access-Control-Allow-Origin") != c.allowed || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: status %d, want %d: %v", c.name, got.Code, c.status, h)
		}
		if varies := strings.Contains(strings.Join(h.Values("Vary"), ","), "Origin"); varies != (c.listed != nil) {
			t.Errorf("%s: Vary %q", c.name, h.Values("Vary"))
		}
		if (h.Get("Access-Control-Expose-Headers") == "*") != isListed {
			t.Errorf("%s: exposes %q", c.name, h.Get("Access-Control-Expose-Headers"))
		}
		if text := got.Body.String(); (text == "fine") != (c.status == 200) {
			t.Errorf("%s: %d with %s", c.name, got.Code, text)
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
	for name, c := range map[string]struct {
		got  *httptest.ResponseRecorder
		body string
	}{
		"another origin":   {sendFromOrigin(t, []string{app}, http.MethodOptions, "https://evil.example", asks...), "--cors-origin https://evil.example"},
		"nothing listed":   {sendFromOrigin(t, nil, http.MethodOptions, app, asks...), "--cors-origin " + app},
		"no origin at all": {sendFromOrigin(t, nil, http.MethodOptions, "null", asks...), "can allow origins with --cors-origin"},
		"not a preflight":  {sendFromOrigin(t, []string{app}, http.MethodOptions, app), "fine"},
		"no page, OPTIONS": {sendFromOrigin(t, []string{app}, http.MethodOptions, "", asks...), "fine"},
		"the own origin":   {sendFromOrigin(t, nil, http.MethodOptions, "https://API.example.com", asks...), "fine"},
	} {
		if c.got.Header().Get("Access-Control-Allow-Methods") != "" || !strings.Contains(c.got.Body.String(), c.body) || (c.got.Code == http.StatusForbidden) == (c.body == "fine") {
			t.Errorf("%s: %d %v %s, want no Access-Control-Allow-Methods and %q", name, c.got.Code, c.got.Header(), c.got.Body, c.body)
		}
	}
}

// A developer whose app has another origin learns from each protocol what is missing.
func TestARefusedOriginIsToldTheSetting(t *testing.T) {
	t.Parallel()
	handler := addGuards(http.HandlerFunc(answerOK), nil, rest.Options{})
	for _, path := range []string{"/graphql", "/registry/v2/repos", "/platform.registry.v2.ReposService/ListRepos", "/openapi.json", "/console/"} {
		for _, header := range []map[string]string{
			{"Access-Control-Request-Method": "POST"},
			{"Sec-Fetch-Site": "same-site", "Content-Type": "application/json"},
			{"Content-Type": "application/json"}, // from a browser that does not send Sec-Fetch-Site
			{"Connection": "Upgrade", "Upgrade": "websocket"},
		} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example.com"+path, strings.NewReader("{}"))
			switch {
			case header["Access-Control-Request-Method"] != "":
				r.Method = http.MethodOptions
			case header["Upgrade"] != "":
				r.Method = http.MethodGet
			}
			r.Header.Set("Origin", "https://app.example.com")
			for name, value := range header {
				r.Header.Set(name, value)
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, r)
			if text := answer.Body.String(); answer.Code != http.StatusForbidden || !strings.Contains(text, "--cors-origin https://app.example.com") {
				t.Errorf("%s with %v: %d %s, want 403 and the setting", path, header, answer.Code, text)
			}
		}
	}
	for _, origin := range []string{"https://" + strings.Repeat("a", 300) + ".example.com", "x", "https://"} {
		if text := sendFromOrigin(t, nil, http.MethodPost, origin).Body.String(); !strings.Contains(text, "--cors-origin") || strings.Contains(text, origin[1:]) && len(origin) > 10 {
			t.Errorf("%.20s: %s", origin, text)
		}
	}
}
