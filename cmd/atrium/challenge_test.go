package main

import (
	"net/http"
	"strings"
	"testing"

	"atrium/store/storetest"
)

func TestARefusedTokenIsAnsweredWithWhatIsWrongAndWhereToGetOne(t *testing.T) {
	t.Parallel()
	const metadata = `resource_metadata="https://atrium.example.com/.well-known/oauth-protected-resource"`
	known := start(t, storetest.SQLite(t), "--public-url", "https://atrium.example.com/", "--trust-issuer", "https://a.example.com",
		"--console-issuer", "https://login.example.com", "--console-client-id", "console", "--audience", "https://atrium.example.com",
		"--console-parameter", "resource=https://atrium.example.com", "--console-provider", `{"issuer": "https://b.example.com", "clientId": "page", "loginClientId": "program", "name": "Staff"}`)
	local := start(t, storetest.SQLite(t))
	for _, ask := range []struct{ method, path, body string }{
		{http.MethodGet, "/registry/v2/repos", ""},
		{http.MethodPost, "/graphql", `{"query": "{ repos(first: 1) { totalCount } }"}`},
		{http.MethodPost, "/platform.registry.v2.ReposService/ListRepos", "{}"},
		{http.MethodGet, "/graphql/schema", ""},
	} {
		for _, c := range []struct {
			server       *running
			token, wants string
		}{
			{known, "", "Bearer " + metadata},
			{known, "nonsense", `Bearer error="invalid_token", ` + metadata},
			{local, "", "Bearer"},
			{local, "nonsense", `Bearer error="invalid_token"`},
		} {
			if ask.path == "/graphql" && c.token == "" {
				continue // The operation is executed, and only the field that needs a caller fails.
			}
			if got := challenge(t, c.server, ask.method, ask.path, c.token, ask.body); got != c.wants {
				t.Errorf("%s with the token %q: %q, want %q", ask.path, c.token, got, c.wants)
			}
		}
	}
	status, body := known.get("", "/.well-known/oauth-protected-resource")
	for _, want := range []string{`"resource":"https://atrium.example.com"`, `"authorization_servers":["https://a.example.com","https://login.example.com","https://b.example.com"]`,
		`"sign_in_providers":[{"issuer":"https://login.example.com","client_id":"console","scope":"openid profile email","parameters":{"resource":"https://atrium.example.com"}},{"name":"Staff","issuer":"https://b.example.com","client_id":"program","scope":"openid profile email"}]`,
		`"audiences":["https://atrium.example.com"]`, `"bearer_methods_supported":["header"]`} {
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("the description of the service: %d %s, want it to contain %s", status, body, want)
		}
	}
}

// challenge returns the header WWW-Authenticate of a response with status 401.
func challenge(t *testing.T, server *running, method, path, token, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/graphql-response+json, */*") // Other media types have status 200 for errors of GraphQL.
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("%s: status %d, want 401", path, response.StatusCode)
	}
	return response.Header.Get("WWW-Authenticate")
}
