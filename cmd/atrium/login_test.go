package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atrium/internal/auth"
	"atrium/store/storetest"
)

// signInWithToken signs in with a token from the standard input.
func signInWithToken(t *testing.T, env map[string]string, token string, args ...string) (said string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	p := program{"atrium", variables(env), list(env), strings.NewReader(token + "\n"), &out, &errOut}
	err = run(t.Context(), append([]string{"login", "--with-token"}, args...), p)
	return out.String() + errOut.String(), err
}

func TestWhoIsSignedInUsesTheServerWithoutFlags(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev")
		editor := strings.TrimSpace(mustRun(t, url, "token", "--as", "editor"))
		home := t.TempDir()
		env := map[string]string{"XDG_CONFIG_HOME": home}
		said, err := signInWithToken(t, env, editor, server.url, "--context", "demo")
		if err != nil || !strings.HasPrefix(said, "Signed in to "+server.url+" as editor.") || strings.Contains(said, editor) {
			t.Fatalf("%v: %s", err, said)
		}
		out, _, err := atrium(t, env, "whoami")
		for _, want := range []string{"server    " + server.url + "\n", "context   demo\n", "subject   editor\n", "until     20", "identity  editor of acme (", "role      editor on acme ("} {
			if err != nil || !strings.Contains(out, want) {
				t.Errorf("whoami: %v\n%s, want %q", err, out, want)
			}
		}
		if out, _, err := atrium(t, env, "whoami", "--output", "json"); err != nil || !strings.Contains(out, `"subject":"editor"`) || strings.Contains(out, editor) {
			t.Errorf("whoami as JSON: %v %s", err, out)
		}
		// Somebody without a role may not see the organization of their identity.
		org := strings.TrimSpace(mustRun(t, url, "get", "group", "acme", "-q", "--url", server.url))
		mustRun(t, url, "query", "--url", server.url, `mutation { createIdentity(input: {parent: "`+org+`", name: "mia",
			claimMatch: {issuer: "`+auth.DevelopmentIssuer+`", subject: "mia"}}) { identity { uid } } }`)
		mia := strings.TrimSpace(mustRun(t, url, "token", "--subject", "mia"))
		if out := mustRun(t, url, "whoami", "--url", server.url, "--token", mia); !strings.Contains(out, "identity  mia\n") || strings.Contains(out, "role") {
			t.Errorf("whoami without a role: %s", out)
		}
		if out, _, err := atrium(t, env, "query", "{ viewer { identities { name } } }"); err != nil || !strings.Contains(out, `"name": "editor"`) {
			t.Errorf("query: %v %s", err, out)
		}
		if out, _, err := atrium(t, env, "context", "list"); err != nil || !strings.Contains(out, "*  demo  "+server.url+"  20") {
			t.Errorf("context list: %v %s", err, out)
		}
		group := demoUID(t, server)
		file := filepath.Join(t.TempDir(), "r.jsonl")
		if err := os.WriteFile(file, []byte(`{"kind": "repo", "name": "of-the-editor"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, said, err := atrium(t, env, "import", "registry", "--group", group, file); err != nil || !strings.Contains(said, "importing into "+server.url) {
			t.Errorf("import: %v %s %s", err, out, said)
		}
		other := storetest.SQLite(t)
		bootstrap(t, other)
		inVariable := map[string]string{"XDG_CONFIG_HOME": home, "ATRIUM_CONTEXT": "demo"}
		for _, env := range []map[string]string{env, inVariable} {
			if _, said, err := atrium(t, env, "import", "registry", "--group", group, "--database-url", other, file); err == nil || strings.Contains(said, "importing into") {
				t.Errorf("a database on the command line: %v %s, want that it is used", err, said)
			}
		}
		inVariable = map[string]string{"XDG_CONFIG_HOME": home, "ATRIUM_DATABASE_URL": other}
		if _, said, err := atrium(t, inVariable, "import", "registry", "--group", group, file); err == nil || strings.Contains(said, "importing into") {
			t.Errorf("a database in a variable: %v %s, want that it is used", err, said)
		}
		if out, _, err := atrium(t, env, "complete-words", "context", "use", ""); err != nil || out != "demo\n" {
			t.Errorf("completion: %v %q", err, out)
		}
		if _, said, err := atrium(t, env, "logout"); err != nil || said != "Signed out of "+server.url+".\n" {
			t.Errorf("logout: %v %s", err, said)
		}
		if _, _, err := atrium(t, env, "logout"); err == nil || !strings.Contains(err.Error(), "not signed in to any server") {
			t.Errorf("logout again: %v", err)
		}
		if left, _ := filepath.Glob(home + "/*/*/*.json"); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	})
}

// The attacks are servers that others name, by a flag or a variable, to get the token of the person.
func TestATokenGoesToNoOtherServerThanThatOfItsContext(t *testing.T) {
	t.Parallel()
	const secret = "header.eyJzdWIiOiJhbGljZSJ9.signature"
	type visitor struct{ token, path string }
	listen := func(elsewhere string) (*httptest.Server, *[]visitor) {
		var came []visitor
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			came = append(came, visitor{r.Header.Get("Authorization"), r.URL.Path})
			if elsewhere != "" {
				http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
				return
			}
			w.Header().Set("Content-Type", mediaGraphQL)
			_, _ = io.WriteString(w, `{"data": {"viewer": {"identities": [{"name": "al\u001bice"}], "roleBindings": {"nodes": []}}}}`)
		}))
		t.Cleanup(site.Close)
		return site, &came
	}
	mine, came := listen("")
	theirs, stolen := listen("")
	env := map[string]string{"XDG_CONFIG_HOME": t.TempDir()}
	said, err := signInWithToken(t, env, secret, mine.URL)
	if err != nil || !strings.Contains(said, `as al\u001bice.`) {
		t.Fatalf("%v: %q, want the name without control characters", err, said)
	}
	if len(*came) != 1 || (*came)[0].token != "Bearer "+secret {
		t.Errorf("the server got %v", *came)
	}
	missing := "sqlite:" + filepath.Join(t.TempDir(), "none.db")
	for _, args := range [][]string{
		{"query", "{ x }", "--url", theirs.URL, "--database-url", missing},
		{"whoami", "--url", theirs.URL, "--database-url", missing},
		{"query", "{ x }", "--url", "https://evil.example"},
		{"query", "{ x }", "--url", theirs.URL, "--context", strings.ReplaceAll(strings.TrimPrefix(mine.URL, "http://"), ":", "_")},
		{"events", "tail", "--url", strings.Replace(mine.URL, "http:", "https:", 1), "--database-url", missing},
	} {
		if _, said, err := atrium(t, env, args...); err == nil || strings.Contains(err.Error()+said, secret) {
			t.Errorf("%q: %v %s", args, err, said)
		}
	}
	if len(*stolen) > 0 {
		t.Errorf("another server got %v", *stolen)
	}
	redirecting, _ := listen(theirs.URL + "/graphql")
	if _, err := signInWithToken(t, env, secret, redirecting.URL, "--context", "second"); err == nil {
		t.Error("a server that redirects is signed in to")
	}
	if len(*stolen) > 0 {
		t.Errorf("the aim of a redirect got %v", *stolen)
	}
	if out, _, err := atrium(t, env, "query", "{ x }"); err != nil || (*came)[len(*came)-1].token != "Bearer "+secret {
		t.Errorf("its own server: %v %s", err, out)
	}
}

// The attack is a server or a provider whose texts move the cursor, or look like lines of this program.
func TestTextsOfServersStayTexts(t *testing.T) {
	t.Parallel()
	for _, issuer := range []string{`https://\u001b[2Jx`, `https://x/\nSigned in to https://atrium.example.com as alice.`, `http://127.0.0.1:1/\u202e`} {
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"sign_in_providers": [{"name": "a\u001b\nb", "issuer": "`+issuer+`", "client_id": "c", "scope": "openid"}]}`)
		}))
		_, said, err := atrium(t, map[string]string{"XDG_CONFIG_HOME": t.TempDir()}, "login", site.URL)
		site.Close()
		if err == nil || strings.ContainsAny(err.Error()+said, "\n\x1b\u202e") {
			t.Errorf("%s: %v %q, want an error on one line", issuer, err, said)
		}
	}
}

func TestACIJobNeedsNoSignIn(t *testing.T) {
	t.Parallel()
	var asked []string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String()+" "+r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/.well-known/oauth-protected-resource":
			_, _ = io.WriteString(w, `{"audiences": ["https://atrium.example.com"]}`)
		case "/request":
			_, _ = io.WriteString(w, `{"value": "of-the-job"}`)
		default:
			w.Header().Set("Content-Type", mediaGraphQL)
			_, _ = io.WriteString(w, `{"data": {}}`)
		}
	}))
	t.Cleanup(site.Close)
	github := map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": site.URL + "/request?v=2", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "secret", "ATRIUM_URL": site.URL}
	if out, _, err := atrium(t, github, "query", "{ x }"); err != nil {
		t.Errorf("GitHub: %v %s", err, out)
	}
	const requested = "/request?audience=https%3A%2F%2Fatrium.example.com&v=2 Bearer secret"
	if len(asked) != 3 || asked[1] != requested || asked[2] != "/graphql Bearer of-the-job" {
		t.Errorf("GitHub: the requests are %q", asked)
	}
	asked = nil
	if _, _, err := atrium(t, map[string]string{"ATRIUM_ID_TOKEN": "of-gitlab"}, "query", "{ x }", "--url", site.URL); err != nil || len(asked) != 1 || asked[0] != "/graphql Bearer of-gitlab" {
		t.Errorf("GitLab: %v, the requests are %q", err, asked)
	}
	asked = nil
	if _, _, err := atrium(t, github, "query", "{ x }", "--token", "mine"); err != nil || len(asked) != 1 || asked[0] != "/graphql Bearer mine" {
		t.Errorf("with a token: %v, the requests are %q", err, asked)
	}
}

func TestASignInSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	server := start(t, demonstration.SQLite(t), "--dev")
	home := t.TempDir()
	env := map[string]string{"XDG_CONFIG_HOME": home}
	for _, c := range []struct {
		wants string
		args  []string
	}{
		{"has no provider at which people sign in", []string{"login", server.url}},
		{"must be a URL of scheme and host only", []string{"login", "https://u:p@atrium.example.com"}},
		{"must begin with https://", []string{"login", "http://atrium.example.com"}},
		{"cannot be given with --with-token", []string{"login", server.url, "--device", "--with-token"}},
		{"must be a token", []string{"login", server.url, "--with-token"}},
		{"must be a name of letters", []string{"login", server.url, "--context", "../x"}},
		{"there is no such context", []string{"context", "use", "x"}},
		{"there is no such context", []string{"context", "remove", "../x"}},
		{"x: there is no such context", []string{"whoami", "--context", "x"}},
		{"cannot be given with --token", []string{"whoami", "--context", "x", "--token", "y"}},
		{"unless you sign in with `atrium login https://atrium.example.com`", []string{"query", "{ x }", "--url", "https://atrium.example.com"}},
	} {
		if _, _, err := atrium(t, env, c.args...); err == nil || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%q: %v, want %q", c.args, err, c.wants)
		}
	}
	if said, err := signInWithToken(t, env, "a.b.c", server.url); err == nil || !strings.Contains(err.Error(), "you are not signed in") {
		t.Errorf("a token that the server refuses: %v %s", err, said)
	}
	if left, _ := filepath.Glob(home + "/*/*/*.json"); len(left) > 0 {
		t.Errorf("%v is stored", left)
	}
}
