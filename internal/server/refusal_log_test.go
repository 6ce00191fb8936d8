package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atrium/internal/rest"
	"atrium/platform/core"
)

// The attack is a flood of one tenant, which hides among others, and which ends before the next line would be due.
func TestRefusalsAreLoggedByTheirSourcesWithinSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logs bytes.Buffer
		s := refusalLog{logger: slog.New(slog.NewTextHandler(&logs, nil))}
		refuse := func(times int, id, remote string, f core.Facts) {
			for range times {
				s.add(finished{trace: &core.Trace{ID: id, Remote: remote}, facts: f})
			}
		}
		organization := strings.Repeat("a", 40)
		member := core.Facts{Limit: "rate", Issuer: "https://issuer.example.com", Subject: "alice", Identities: []core.UID{core.UID(organization + "/0123456789abcdef")}}
		refuse(3, "first", "192.0.2.1:7", core.Facts{Limit: "queue"})
		refuse(90, "flood", "192.0.2.2:7", member)
		for i := range maxRefusalSources {
			refuse(1, "one", fmt.Sprintf("192.0.%d.%d:7", 100+i/200, i%200), core.Facts{Limit: "queue"})
		}
		time.Sleep(refusalInterval)
		synctest.Wait()
		lines := strings.Split(strings.TrimSpace(logs.String()), "\n")
		if len(lines) != maxRefusalLines+1 {
			t.Fatalf("logged %d lines, want %d:\n%s", len(lines), maxRefusalLines+1, &logs)
		}
		for i, want := range map[int]string{
			0:               "refused=90 request_id=flood limit=rate organization=" + organization + " issuer=https://issuer.example.com subject=alice",
			1:               `refused=3 request_id=first limit=queue remote=192.0.2.1`,
			maxRefusalLines: "refused=992 request_id=one of=others",
		} {
			if !strings.HasSuffix(lines[i], want) {
				t.Errorf("line %d is %s, want it to end in %s", i, lines[i], want)
			}
		}
		logs.Reset()
		time.Sleep(time.Hour)
		refuse(1, "next", "192.0.2.1:7", core.Facts{Limit: "queue"})
		time.Sleep(refusalInterval)
		synctest.Wait()
		if got := logs.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "refused=1 request_id=next") {
			t.Errorf("a refusal of a later interval is logged as %s", got)
		}
	})
}

// A caller who is refused before the authentication is known by the last request with the token.
func TestARefusalNamesTheCallerOfTheToken(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&logs, nil))
	recorder := (&Config{Logger: logger}).newRecorder()
	handler := addOuterLayers(limitHandler(Config{RateLimit: 1, RateBurst: 1}, answerOK), rest.Options{Logger: logger}, recorder, nil)
	organization := strings.Repeat("a", 40)
	alice := &core.Actor{Issuer: "https://issuer.example.com", Subject: "alice", Identities: []core.UID{core.UID(organization + "/0123456789abcdef")}, Expires: time.Now().Add(time.Hour)}
	for _, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
		if answer := ask(t, handler, "192.0.2.1:1", alice); answer.Code != want {
			t.Fatalf("status %d, want %d", answer.Code, want)
		}
	}
	recorder.refusals.flush()
	if want := "limit=rate organization=" + organization + " issuer=https://issuer.example.com subject=alice\n"; !strings.HasSuffix(logs.String(), want) {
		t.Errorf("logged %s, want it to end in %s", &logs, want)
	}
}

func TestTheLineOfADeniedRequestSaysWhy(t *testing.T) {
	t.Parallel()
	s := newAliasedServer(t, Config{})
	member := check(s.issuer.Mint("nobody", "atrium", time.Hour, nil))(t)
	elsewhere := check(s.issuer.Mint("wanderer", "another service", time.Hour, nil))(t)
	named := `code=UNAUTHENTICATED .*message="Unauthenticated: .* unverified_issuer=\S+ unverified_subject=wanderer`
	for name, c := range map[string]struct{ method, path, token, body, want string }{
		"REST with a token for another service":    {http.MethodGet, "/registry/v2/repos", elsewhere, "", named},
		"Connect with a token for another service": {http.MethodPost, listRepos, elsewhere, "{}", named},
		"GraphQL with a token for another service": {http.MethodPost, "/graphql", elsewhere, `{"query": "{ repos { totalCount } }"}`, named},
		"REST with a forged token":                 {http.MethodGet, "/registry/v2/repos", elsewhere[:len(elsewhere)-8] + "AAAAAAAA", "", named},
		"REST without a token":                     {http.MethodGet, "/registry/v2/repos", "", "", `code=UNAUTHENTICATED .*reason=UNAUTHENTICATED message="Unauthenticated: .*token`},
		"REST":                                     {http.MethodGet, "/registry/v2/repos", member, "", `code=PERMISSION_DENIED .*reason=IDENTITY_NOT_FOUND .*capability=repo.list issuer=\S+ subject=nobody`},
		"Connect":                                  {http.MethodPost, listRepos, member, "{}", `code=PERMISSION_DENIED .*reason=IDENTITY_NOT_FOUND .*capability=repo.list issuer=\S+ subject=nobody`},
		"GraphQL, as an error of a field":          {http.MethodPost, "/graphql", member, `{"query": "{ repos { totalCount } }"}`, `code=PERMISSION_DENIED .*reason=IDENTITY_NOT_FOUND .*capability=repo.list issuer=\S+ subject=nobody`},
	} {
		s.logs.Reset()
		header := http.Header{"Content-Type": {"application/json"}}
		if c.token != "" {
			header.Set("Authorization", "Bearer "+c.token)
		}
		send(t, c.method, s.URL+c.path, c.body, header)
		if !regexp.MustCompile(c.want).MatchString(s.logs.String()) {
			t.Errorf("%s: logged %s, want it to match %s", name, s.logs, c.want)
		}
	}
}
