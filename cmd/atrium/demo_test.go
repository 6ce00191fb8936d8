package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// sendFromElsewhere sends a request of a browser on another machine. These have another name for the server than its own.
func (r *running) sendFromElsewhere(method, path, body string, cookie *http.Cookie) (status int, text string, set []*http.Cookie) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Host = "demo.example.com"
	if cookie != nil {
		request.AddCookie(cookie)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	var read strings.Builder
	if err := response.Write(&read); err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, read.String(), response.Cookies()
}

var (
	signInLink  = regexp.MustCompile(`Sign in +(http\S+)/console#demonstration=(\S+)`)
	pageToken   = regexp.MustCompile(`"token":"[\w-]+\.[\w-]+\.[\w-]+"`)
	signingPath = "/console/~demonstration"
)

// code returns the code of the link that the server has printed.
func (r *running) code() string {
	r.t.Helper()
	found := signInLink.FindStringSubmatch(r.stdout.String())
	if found == nil || found[1] != r.url {
		r.t.Fatalf("no link that signs in:\n%s", r.stdout.String())
	}
	return found[2]
}

// A browser that reaches a demonstration over the network, as one in a container, is the owner by the link alone, and only once.
func TestTheLinkOfADemonstrationSignsOneBrowserIn(t *testing.T) {
	t.Parallel()
	database := storetest.SQLite(t)
	server := launchDemo(t, database)
	code := server.code()
	pages := []string{"/console", "/console/acme", "/playground", "/docs"}
	expect := func(who string, cookie *http.Cookie, want bool) {
		t.Helper()
		for _, page := range pages {
			status, text, _ := server.sendFromElsewhere(http.MethodGet, page, "", cookie)
			if got := pageToken.MatchString(text); got && !want || !got && want && status == http.StatusOK { // a page that was not built has none
				t.Errorf("%s of %s: status %d, with a token: %t, want %t", page, who, status, got, want)
			}
		}
	}
	expect("a stranger", nil, false)
	expect("a stranger with a cookie", &http.Cookie{Name: "atrium-demonstration", Value: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}, false)
	expect("a stranger with an empty cookie", &http.Cookie{Name: "atrium-demonstration"}, false)
	for _, wrong := range []string{"", "x", code + "x", code[1:], strings.Repeat("x", 10_000)} {
		if status, _, set := server.sendFromElsewhere(http.MethodPost, signingPath, wrong, nil); status != http.StatusForbidden || len(set) > 0 {
			t.Errorf("the code %.50q: status %d and cookies %v, want 403 and none", wrong, status, set)
		}
	}
	status, _, set := server.sendFromElsewhere(http.MethodPost, signingPath, code, nil)
	if status != http.StatusNoContent || len(set) != 1 || !set[0].HttpOnly || set[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("the code of the link: status %d and cookies %v, want 204 and one that only this site has", status, set)
	}
	expect("who has the link", set[0], true)
	for range 2 {
		if status, _, again := server.sendFromElsewhere(http.MethodPost, signingPath, code, nil); status != http.StatusForbidden || len(again) > 0 {
			t.Errorf("the link once more: status %d and cookies %v, want 403 and none", status, again)
		}
	}

	// Neither survives the process, though the database does.
	if err := server.end(); err != nil {
		t.Fatal(err)
	}
	old, cookie := code, set[0]
	server = launchDemo(t, database)
	if server.code() == old {
		t.Error("two starts have one code")
	}
	if status, _, set := server.sendFromElsewhere(http.MethodPost, signingPath, old, nil); status != http.StatusForbidden || len(set) > 0 {
		t.Errorf("the link of an earlier start: status %d and cookies %v, want 403 and none", status, set)
	}
	expect("who had the link of an earlier start", cookie, false)
}

func launchDemo(t *testing.T, database string) *running {
	t.Helper()
	r := launch(t, nil, "demo", "--addr", "127.0.0.1:0", "--metrics-addr=", "--database-url", database)
	output := func() string { return r.stdout.String() + r.stderr.String() }
	r.await(func() bool { return servedAt.MatchString(output()) && strings.Contains(output(), "Organization") })
	r.url = servedAt.FindStringSubmatch(output())[1]
	return r
}

func TestOnlyADemonstrationHasALink(t *testing.T) {
	t.Parallel()
	server := start(t, storetest.SQLite(t))
	if strings.Contains(server.stdout.String(), "#demonstration=") {
		t.Errorf("a server in production prints a link:\n%s", server.stdout.String())
	}
	if status, _, set := server.sendFromElsewhere(http.MethodPost, signingPath, "", nil); status < 400 || len(set) > 0 {
		t.Errorf("a server in production takes a code: status %d and cookies %v", status, set)
	}
}

func TestADemonstrationRefusesDataOfOthers(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		mustRun(t, url, "admin", "bootstrap", "--org", "acme", "--issuer", "https://issuer.example.com", "--subject", "alice")
		r := launch(t, nil, "demo", "--addr", "127.0.0.1:0", "--metrics-addr=", "--database-url", url)
		if err := r.exit(); err == nil || !strings.Contains(err.Error(), "has data of other organizations") {
			t.Errorf("got %v, want a refusal", err)
		}
	})
}
