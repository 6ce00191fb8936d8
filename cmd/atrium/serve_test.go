package main

import (
	"encoding/json"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// repoNames lists the names in a list of repos.
func repoNames(t *testing.T, body string) (names []string, total string) {
	t.Helper()
	var list struct {
		Repos      []struct{ Name string }
		TotalCount string
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, r := range list.Repos {
		names = append(names, r.Name)
	}
	return names, list.TotalCount
}

func TestDevelopmentModeServesTheDemonstrationAndItsTokens(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev")
		for _, line := range []string{"Playground     " + server.url + "/playground", "Token          atrium token", "acme is "} {
			if !strings.Contains(server.stdout.String(), line) {
				t.Errorf("no %q in\n%s", line, server.stdout)
			}
		}
		for role, want := range map[string]int{"owner": 200, "editor": 200, "viewer": 403} {
			token := strings.TrimSpace(mustRun(t, url, "token", "--as", role))
			status, body := server.get(token, "/registry/v2/repos?order_by=name&name=billing")
			if names, _ := repoNames(t, body); status != http.StatusOK || !slices.Equal(names, []string{"billing"}) {
				t.Errorf("%s sees %d, want 200: %s", role, status, body)
			}
			acme := demoUID(t, server)
			if status, body := server.send(http.MethodPost, token, "/registry/v2/repos/"+acme, `{"name": "by-`+role+`"}`); status != want {
				t.Errorf("%s makes a repo: %d, want %d\n%s", role, status, want, body)
			}
		}
		stranger := strings.TrimSpace(mustRun(t, url, "token", "--subject", "stranger"))
		if status, body := server.get(stranger, "/registry/v2/repos"); status != http.StatusForbidden || !strings.Contains(body, "IDENTITY_NOT_FOUND") {
			t.Errorf("a stranger gets %d, want 403: %s, want it to contain 'IDENTITY_NOT_FOUND'", status, body)
		}
		if err := server.end(); err != nil {
			t.Errorf("serve ended with %v", err)
		}
	})
}

func demoUID(t *testing.T, r *running) string {
	t.Helper()
	m := regexp.MustCompile(`acme is ([0-9a-f]{40})\n`).FindStringSubmatch(r.stdout.String())
	if m == nil {
		t.Fatalf("no organization in\n%s", r.stdout)
	}
	return m[1]
}

func TestTheDemonstrationIsCreatedOnceAndOnlyInAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		first := start(t, url, "--dev")
		acme := demoUID(t, first)
		if err := first.end(); err != nil {
			t.Fatal(err)
		}
		second := start(t, url, "--dev")
		if demoUID(t, second) != acme {
			t.Error("there is another organization")
		}
	})
	storetest.EachURL(t, func(t *testing.T, url string) {
		mustRun(t, url, "admin", "bootstrap", "--org", "other", "--issuer", "https://issuer.example", "--subject", "me")
		server := start(t, url, "--dev")
		if strings.Contains(server.stdout.String(), "acme") {
			t.Errorf("a database in use was changed:\n%s", server.stdout)
		}
		if said := server.stdout.String(); strings.Contains(said, "--as") || strings.Contains(said, "Try ") || !strings.Contains(said, "Demonstration  none") || !strings.Contains(said, " --issuer URL --subject SUB") {
			t.Errorf("without a demonstration, the greeting is\n%s\nwant a command that can print a token", said)
		}
		// In development mode, the development key is accepted for every known issuer.
		token := strings.TrimSpace(mustRun(t, url, "token", "--issuer", "https://issuer.example", "--subject", "me"))
		if status, body := server.get(token, "/iam/v2/groups"); status != http.StatusOK || !strings.Contains(body, `"totalCount":"1"`) {
			t.Errorf("status %d, want 200: %s, want it to contain %q", status, body, `"totalCount":"1"`)
		}
	})
}

func TestTheGreetingNamesOnlyPagesThatAreServed(t *testing.T) {
	t.Parallel()
	for option, missing := range map[string]string{"--playground": "", "--no-playground": "Playground", "--no-console": "Console"} {
		server := start(t, demonstration.SQLite(t), "--dev", option)
		for name, page := range map[string]string{"Playground": "/playground", "Console": "/console", "Guide": "/guide", "Reference": "/docs"} {
			if named := strings.Contains(server.stdout.String(), "\n"+name+" "); named != (name != missing) {
				t.Errorf("with %s, the greeting names %s: %v, want %v:\n%s", option, name, named, name != missing, server.stdout)
			}
			if status, _ := server.get("", page); (status != http.StatusNotFound) != (name != missing) { // a console or a reference that was not built answers 501
				t.Errorf("with %s, %s answers %d, want that it is as the greeting says", option, page, status)
			}
		}
	}
}

func TestOutsideDevelopmentModeDevelopmentTokensAreRejected(t *testing.T) {
	t.Parallel()
	url := demonstration.SQLite(t)
	if err := start(t, url, "--dev").end(); err != nil {
		t.Fatal(err)
	}
	server := start(t, url)
	if strings.Contains(server.stdout.String(), "token") {
		t.Errorf("tokens are offered:\n%s", server.stdout)
	}
	if status, _ := server.get(strings.TrimSpace(mustRun(t, url, "token")), "/registry/v2/repos"); status != http.StatusUnauthorized {
		t.Errorf("status %d, want 401", status)
	}
	if _, page := server.get("", "/playground"); strings.Contains(page, "eyJ") {
		t.Error("the playground holds a token")
	}
}

func TestPagesAndHealthChecksAnswerAndOtherPathsAreNotFound(t *testing.T) {
	t.Parallel()
	server := start(t, demonstration.SQLite(t), "--dev")
	for path, want := range map[string]int{"/": 200, "/home.css": 200, "/home.png": 200, "/playground": 200, "/playground/small": 200, "/livez": 200, "/readyz": 200, "/ping/v2/ping": 200, "/openapi.json": 200, "/openapi.yaml": 200, "/docs/reference.js": 200, "/nothing": 404, "//": 404} {
		if status, body := server.get("", path); status != want {
			t.Errorf("%s: %d, want %d\n%s", path, status, want, body)
		}
	}
	if status, body := server.get("", "/graphql/schema"); status != http.StatusUnauthorized || strings.Contains(body, "type Repo") {
		t.Errorf("the SDL without a token: status %d, want 401: %.200s", status, body)
	}
	if status, _ := server.send(http.MethodPost, "", "/graphql/schema", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("posting to the SDL: status %d, want 405", status)
	}
	_, page := server.get("", "/playground")
	token := regexp.MustCompile(`eyJ[\w.-]+`).FindString(page)
	if status, body := server.get(token, "/registry/v2/repos"); status != http.StatusOK {
		t.Errorf("the page's token: status %d, want 200: %s", status, body)
	}
	if _, sdl := server.get(token, "/graphql/schema"); !strings.Contains(sdl, "type Repo implements Node") {
		t.Errorf("the SDL is %.200s, want it to contain 'type Repo implements Node'", sdl)
	}
}

func TestOnlyNamedIdentitiesReadTheSDLWhileIntrospectionIsOff(t *testing.T) {
	t.Parallel()
	database := demonstration.SQLite(t)
	first := start(t, database, "--dev")
	owner, viewer := strings.TrimSpace(mustRun(t, database, "token")), strings.TrimSpace(mustRun(t, database, "token", "--as", "viewer"))
	_, body := first.send(http.MethodPost, viewer, "/graphql", `{"query": "{viewer{identities{uid}}}"}`)
	uid := regexp.MustCompile(`[0-9a-f]{40}/[0-9a-f/]+`).FindString(body)
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	server := start(t, database, "--dev", "--no-introspection", "--schema-reader", uid)
	for token, want := range map[string]int{"": http.StatusUnauthorized, owner: http.StatusForbidden, viewer: http.StatusOK} {
		status, body := server.get(token, "/graphql/schema")
		if status != want || strings.Contains(body, "type Repo") != (want == http.StatusOK) {
			t.Errorf("the SDL: %d %.200s, want %d", status, body, want)
		}
		_, body = server.send(http.MethodPost, token, "/graphql", `{"query": "{_service{sdl}}"}`)
		if strings.Contains(body, "type Repo") != (want == http.StatusOK) {
			t.Errorf("_service: %.200s, want %d", body, want)
		}
	}
}

func TestAnAddressInUseIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, _, err = atrium(t, map[string]string{"ATRIUM_DATABASE_URL": storetest.SQLite(t)}, "serve", "--addr", listener.Addr().String())
	if exitCode(err) != 1 || !strings.Contains(err.Error(), listener.Addr().String()) {
		t.Errorf("error %v, want exit code 1", err)
	}
}

func TestLogsAreLinesOfJSONWithoutTokensAndQueries(t *testing.T) {
	t.Parallel()
	url := demonstration.SQLite(t)
	server := start(t, url, "--dev")
	token := strings.TrimSpace(mustRun(t, url, "token"))
	server.get(token, "/registry/v2/repos?name=hidden")
	if err := server.end(); err != nil {
		t.Fatal(err)
	}
	seen := false
	for line := range strings.Lines(server.stderr.String()) {
		var entry struct{ Msg, Path, Method string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		seen = seen || entry.Msg == "request" && entry.Path == "/registry/v2/repos" && entry.Method == http.MethodGet
	}
	if !seen || strings.Contains(server.stderr.String(), token) || strings.Contains(server.stderr.String(), "hidden") {
		t.Errorf("logs:\n%s", server.stderr)
	}
}
