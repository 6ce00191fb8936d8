package login

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// newFolder returns the folder of a person who has nothing in it.
func newFolder(t *testing.T) *Folder {
	t.Helper()
	folder, err := FindFolder(func(name string) string { return map[string]string{"XDG_CONFIG_HOME": t.TempDir()}[name] })
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// keepSession stores a session whose token ends after a time.
func (p *provider) keepSession(folder *Folder, life time.Duration) *Context {
	p.t.Helper()
	end := time.Now().Add(life)
	made := &Context{
		Name: "work", Server: service, Token: p.sign(map[string]any{"aud": service, "exp": end.Unix()}), Expires: end,
		RefreshToken: "refresh-0", Provider: &p.server().Providers[0], Audiences: []string{service},
	}
	if err := folder.Save(p.t.Context(), made); err != nil {
		p.t.Fatal(err)
	}
	return made
}

func TestATokenIsRenewedOnceForAllProcesses(t *testing.T) {
	t.Parallel()
	p, folder := newProvider(t), newFolder(t)
	old := p.keepSession(folder, 30*time.Second)
	var wait sync.WaitGroup
	got := make([]string, 8)
	for i := range got {
		wait.Go(func() {
			token, err := NewClient(nil).Token(t.Context(), &Folder{folder.path}, "work")
			if err != nil {
				t.Error(err)
			}
			got[i] = token
		})
	}
	wait.Wait()
	if one := slices.Compact(got); len(one) != 1 || one[0] == old.Token {
		t.Errorf("the processes got %d tokens, want one new token", len(one))
	}
	if p.refreshed != 1 {
		t.Errorf("the refresh token was used %d times, want once", p.refreshed)
	}
	stored, err := folder.Load("work")
	if err != nil || stored.Token != got[0] || stored.RefreshToken == "refresh-0" {
		t.Errorf("%+v is stored (%v), want the new tokens", stored, err)
	}
}

func TestASessionEndsOrWaitsWithItsProvider(t *testing.T) {
	t.Parallel()
	refuse := func(url.Values) (int, any) { return http.StatusBadRequest, map[string]any{"error": "invalid_grant"} }
	isAway := func(url.Values) (int, any) { return http.StatusBadGateway, nil }
	for name, c := range map[string]struct {
		life   time.Duration
		answer func(url.Values) (int, any)
		change func(*provider, *Context)
		wants  string // "" means the old token
		isAway bool
	}{
		"refused":                   {-time.Minute, refuse, nil, "sign in again with `atrium login https://atrium.example.com`", false},
		"without a refresh token":   {-time.Minute, nil, func(_ *provider, c *Context) { c.RefreshToken = "" }, "sign in again with `atrium login https://atrium.example.com`", false},
		"not ended yet without one": {30 * time.Second, nil, func(_ *provider, c *Context) { c.RefreshToken = "" }, "", false},
		"away before the end":       {30 * time.Second, isAway, nil, "", false},
		"away after the end":        {-time.Minute, isAway, nil, "does not answer", true},
		"discovery is away":         {-time.Minute, nil, func(p *provider, _ *Context) { p.site.Close() }, "does not answer", true},
		"fresh":                     {time.Hour, refuse, nil, "", false},
		"of somebody else": {-time.Minute, nil, func(p *provider, _ *Context) {
			p.tokens = map[string]any{"access_token": p.sign(map[string]any{"aud": service, "sub": "eve"})}
		}, "another person", false},
		"with a forged ID token": {-time.Minute, nil, func(p *provider, _ *Context) { p.claims = map[string]any{"aud": "other"} }, "not valid", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, folder := newProvider(t), newFolder(t)
			p.answer = c.answer
			made := p.keepSession(folder, c.life)
			if c.change != nil {
				c.change(p, made)
				if err := folder.Save(t.Context(), made); err != nil {
					t.Fatal(err)
				}
			}
			token, err := NewClient(nil).Token(t.Context(), folder, "work")
			switch {
			case c.wants == "" && (err != nil || token != made.Token):
				t.Errorf("%v, want the old token", err)
			case c.wants != "" && (err == nil || !strings.Contains(err.Error(), c.wants) || IsAway(err) != c.isAway):
				t.Errorf("%v (away: %t), want %q", err, IsAway(err), c.wants)
			}
		})
	}
}

func TestASignOutTellsTheProvider(t *testing.T) {
	t.Parallel()
	p, folder := newProvider(t), newFolder(t)
	made := p.keepSession(folder, time.Hour)
	if err := NewClient(nil).Revoke(t.Context(), made); err != nil || len(p.forms) != 1 || p.forms[0].Get("token") != "refresh-0" || p.forms[0].Get("client_id") != "console" {
		t.Errorf("%v, the provider was told %v", err, p.forms)
	}
	p.metadata = map[string]any{"revocation_endpoint": ""}
	if err := NewClient(nil).Revoke(t.Context(), made); err != nil || len(p.forms) != 1 {
		t.Errorf("without an endpoint: %v, %v", err, p.forms)
	}
	p.site.Close()
	if err := NewClient(nil).Revoke(t.Context(), made); !IsAway(err) {
		t.Errorf("a provider that is away: %v", err)
	}
}

func TestOnlyTheOwnerReadsAContext(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such bits")
	}
	p, folder := newProvider(t), newFolder(t)
	p.keepSession(folder, time.Hour)
	for path, want := range map[string]os.FileMode{folder.path: 0o700 | os.ModeDir, filepath.Join(folder.path, "work.json"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s has the mode %v, want %v", path, info.Mode(), want)
		}
	}
	refuse := func(path string, mode os.FileMode, want string) {
		info, _ := os.Stat(path)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := folder.Load("work"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s with the mode %v: %v, want %q", path, mode, err, want)
		}
		_ = os.Chmod(path, info.Mode().Perm())
	}
	refuse(filepath.Join(folder.path, "work.json"), 0o640, "chmod 600")
	refuse(filepath.Join(folder.path, "work.json"), 0o604, "chmod 600")
	refuse(folder.path, 0o770, "chmod 700")
	if _, err := folder.Load("work"); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(folder.path, ".*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left in the folder", left)
	}
}

func TestContextsHaveNamesAndOneIsCurrent(t *testing.T) {
	t.Parallel()
	folder := newFolder(t)
	if current, err := folder.Current(); err != nil || current != "" {
		t.Errorf("%q is current in an empty folder (%v)", current, err)
	}
	for _, name := range []string{"a", "b"} {
		if err := folder.Save(t.Context(), &Context{Name: name, Server: service, Token: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	if current, err := folder.Current(); err != nil || current != "b" {
		t.Errorf("%q is current, want the last (%v)", current, err)
	}
	if err := folder.Use("a"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "..", "../a", "a/b", `a\b`, ".a", "a.json", "none", strings.Repeat("a", 200)} {
		if _, err := folder.Load(name); !errors.Is(err, ErrNoContext) {
			t.Errorf("%q: %v, want that there is none", name, err)
		}
		if err := folder.Remove(t.Context(), name); !errors.Is(err, ErrNoContext) {
			t.Errorf("%q is removed: %v", name, err)
		}
	}
	if err := folder.Remove(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	current, err := folder.Current()
	names, _ := folder.List()
	if err != nil || current != "" || !slices.Equal(names, []string{"b"}) {
		t.Errorf("%q is current of %q (%v)", current, names, err)
	}
	if err := os.WriteFile(filepath.Join(folder.path, "b.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Load("b"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged file: %v", err)
	}
	for server, want := range map[string]string{"https://atrium.example.com": "atrium.example.com", "http://127.0.0.1:8080": "127.0.0.1_8080", "http://[::1]:80": "1_80"} {
		of, _ := url.Parse(server)
		if got := NameOf(of); got != want || CheckName(got) != nil {
			t.Errorf("%s is called %q, want %q", server, got, want)
		}
	}
}

// stub answers requests to any host.
type stub func(*http.Request) (status int, body string)

func (s stub) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	status, body := s(r)
	recorder.WriteHeader(status)
	_, _ = recorder.WriteString(body)
	return recorder.Result(), nil
}

func TestAJobUsesItsIDToken(t *testing.T) {
	t.Parallel()
	says := func(audience string) stub {
		return func(r *http.Request) (int, string) {
			switch {
			case r.URL.Path == "/.well-known/oauth-protected-resource":
				return http.StatusOK, `{"audiences": ["` + audience + `"]}`
			case r.URL.Host == "github.example" && r.Header.Get("Authorization") == "Bearer secret" && r.URL.Query().Get("api-version") == "2":
				return http.StatusOK, `{"value": "token for ` + r.URL.Query().Get("audience") + `"}`
			}
			return http.StatusForbidden, "no"
		}
	}
	github := Job{RequestURL: "https://github.example/token?api-version=2", RequestToken: "secret"}
	p := newProvider(t)
	gitlab := Job{IDToken: p.sign(map[string]any{"aud": service})}
	for name, c := range map[string]struct {
		job                     Job
		server, named, audience string
		want                    string // the token, or a part of the error
	}{
		"the audience of the server":   {github, service, service, "", "token for " + service},
		"the audience that is given":   {github, service, "x", "atrium", "token for atrium"},
		"the audience of another host": {github, "https://evil.example", service, "", "could act there as you"},
		"an audience of many servers":  {github, service, "atrium", "", "which other servers may accept too"},
		"a server on this machine":     {github, "http://127.0.0.1:8080", "atrium", "", "token for atrium"},
		"a server over http":           {github, "http://atrium.example.com", service, "", "must begin with https://"},
		"a request over http":          {Job{RequestURL: "http://github.example/", RequestToken: "secret"}, service, service, "", "must be an https URL"},
		"no permission":                {Job{RequestURL: "https://github.example/", RequestToken: "other"}, service, service, "", "id-token: write"},
		"GitLab":                       {gitlab, service, "", "", gitlab.IDToken},
		"GitLab for another host":      {gitlab, "https://evil.example", "", "", "is a token for " + service},
		"GitLab for two names":         {gitlab, "https://other.example", "", service, gitlab.IDToken},
	} {
		server, _ := url.Parse(c.server)
		token, err := NewClient(says(c.named)).JobToken(t.Context(), c.job, server, c.audience)
		if token != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v, want %q", name, token, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v shows a secret", name, err)
		}
	}
	if _, found := FindJob(func(string) string { return "" }); found {
		t.Error("there is a job without variables")
	}
}

func TestWhatIsNoServerIsSaidSo(t *testing.T) {
	t.Parallel()
	server, _ := url.Parse(service)
	for wants, answers := range map[string]stub{
		"answers 404":                        func(*http.Request) (int, string) { return http.StatusNotFound, "" },
		"answers 302":                        func(*http.Request) (int, string) { return http.StatusFound, "" },
		"is it the URL of an Atrium server?": func(*http.Request) (int, string) { return http.StatusOK, "<html>" },
		"too large": func(*http.Request) (int, string) {
			return http.StatusOK, `{"resource": "` + strings.Repeat("x", 2*maxBody) + `"}`
		},
	} {
		if _, err := NewClient(answers).Describe(t.Context(), server); err == nil || !strings.Contains(err.Error(), wants) {
			t.Errorf("%v, want %q", err, wants)
		}
	}
}
