package auth

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
)

const listedOrganization = core.UID("1111111111111111111111111111111111111111")

// serveFile serves answer at the path where an issuer lists its organizations, and
// a valid file at the target of a redirect.
func serveFile(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/tenant/.well-known/atrium-organization", answer)
	mux.HandleFunc("/elsewhere", writeFile(`{"organizations": ["`+string(listedOrganization)+`"]}`))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func writeFile(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, text) }
}

func TestTheFileOfAnIssuerListsOrganizations(t *testing.T) {
	t.Parallel()
	good := `{"organizations": ["` + string(listedOrganization) + `"], "more": 1}`
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		lists  bool
		failed string // The error contains this text.
	}{
		{"a file", writeFile(good), true, ""},
		{"a file without organizations", writeFile(`{}`), false, ""},
		{"no file", http.NotFound, false, ""},
		{"a file that is gone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }, false, ""},
		{"no JSON", writeFile("<html>"), false, "not a JSON object with a list"},
		{"a text for the list", writeFile(`{"organizations": "` + string(listedOrganization) + `"}`), false, "not a JSON object with a list"},
		{"a list", writeFile(`["` + string(listedOrganization) + `"]`), false, "not a JSON object with a list"},
		{"a file with more after it", writeFile(good + "x"), false, "not a JSON object with a list"},
		{"an empty file", writeFile(""), false, "not a JSON object with a list"},
		{"a file of 2 MiB", writeFile(good + strings.Repeat(" ", 2<<20)), false, "too large"},
		{"a redirect", http.RedirectHandler("/elsewhere", http.StatusFound).ServeHTTP, false, "redirects are not followed"},
		{"an error", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, good, http.StatusInternalServerError) }, false, "status 500"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := serveFile(t, c.answer)
			read := OrganizationFile(NewGuard([]string{server.Listener.Addr().String()}))
			for _, issuer := range []string{server.URL + "/tenant", server.URL + "/tenant/"} {
				listed, err := read(t.Context(), issuer)
				if slices.Contains(listed, listedOrganization) != c.lists {
					t.Errorf("%s lists %v", issuer, listed)
				}
				if c.failed == "" && err != nil || c.failed != "" && (err == nil || !strings.Contains(err.Error(), c.failed) || len(err.Error()) > maxErrorText) {
					t.Errorf("%s: %v, want %q", issuer, err, c.failed)
				}
			}
		})
	}
}

func TestTheFileOfAnIssuerIsReadUnderTheGuard(t *testing.T) {
	t.Parallel()
	server := serveFile(t, writeFile(`{"organizations": ["`+string(listedOrganization)+`"]}`))
	for issuer, want := range map[string]string{
		server.URL + "/tenant":           "must be https",
		"https://127.0.0.1:1/tenant":     "private address",
		"https://localhost:1/tenant":     "private address",
		"file:///etc/tenant":             "",
		"https://a.example.com/tenant?x": "",
	} {
		listed, err := OrganizationFile(NewGuard(nil))(t.Context(), issuer)
		if err == nil || len(listed) > 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", issuer, listed, err, want)
		}
	}
}
