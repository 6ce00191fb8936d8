package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/resolvers"
	"atrium/store/storetest"
)

func TestEachDomainHasAPathOfItsOwn(t *testing.T) {
	t.Parallel()
	p := check(platform.New(t.Context(), storetest.Open(t, storetest.SQLite(t)), platform.Options{}))(t)
	check(p.Groups.Bootstrap(core.WithActor(t.Context(), core.NewOperator("test")), "acme", auth.DevelopmentIssuer, "owner"))(t)
	issuer := check(newDevelopmentIssuer())(t)
	token := check(issuer.Mint("owner", "atrium", time.Hour, nil))(t)
	trusted := DefaultGraphQL()
	trusted.Trusted = &TrustedDocuments{}
	for name, x := range map[string]struct {
		graph   GraphQL
		domains []string
		want    string // the domains that answer
	}{
		"by default":                  {DefaultGraphQL(), nil, strings.Join(resolvers.Domains(), " ")},
		"some":                        {DefaultGraphQL(), []string{"iam", "events"}, "iam events"},
		"with trusted documents only": {trusted, nil, ""},
	} {
		c := Config{Audience: []string{"atrium"}, ServiceDomain: "atrium.dev", GraphQL: x.graph, Domains: x.domains, Logger: discardLogger(), MaxConcurrent: 4, RateLimit: 1000, RateBurst: 1000, MaxInFlight: 10, NoConsole: true}
		handler := Handler(p, c, issuer)
		send := func(path, authorization string) (int, string) {
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"query":"{ ping _service { sdl } }"}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", authorization)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w.Code, string(check(io.ReadAll(w.Body))(t))
		}
		var answering []string
		for _, domain := range resolvers.Domains() {
			status, body := send("/graphql/"+domain, "Bearer "+token)
			if status == http.StatusOK && strings.Contains(body, `"ping":"pong"`) {
				answering = append(answering, domain)
			} else if status != http.StatusNotFound {
				t.Errorf("%s: /graphql/%s: %d %s", name, domain, status, body)
			}
		}
		if got := strings.Join(answering, " "); got != x.want {
			t.Errorf("%s: %q answer, want %q", name, got, x.want)
		}
		if status, body := send("/graphql/iam", "Bearer no"); x.want != "" && (status != http.StatusUnauthorized || !strings.Contains(body, `"errors"`)) {
			t.Errorf("%s: without a token: %d %s", name, status, body)
		}
	}
}
