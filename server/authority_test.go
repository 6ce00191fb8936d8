package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atrium/auth"
	"atrium/platform"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

// A trustingDirectory is a naive implementation, which must fail the test. It treats
// the caller of an earlier request as proven and checks nothing.
type trustingDirectory struct{ *platform.Platform }

func (trustingDirectory) Presume(ctx context.Context, _ platform.Claims, last *platform.Actor) context.Context {
	return platform.WithActor(ctx, last)
}

// A replicaPair is two servers on one database, with callers who may and may not read
// a repo.
type replicaPair struct {
	p        *platform.Platform
	handlers []http.Handler
	operator context.Context //nolint:containedctx // This context serves the whole test.
	org      platform.UID
	alice    platform.UID
	token    string
}

func newReplicaPair(t *testing.T, org string, store *sqlstore.Store, directory func(*platform.Platform) auth.Directory) *replicaPair {
	t.Helper()
	key := check(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	issuer := check(auth.NewDevelopmentIssuer(check(x509.MarshalPKCS8PrivateKey(key))(t), nil))(t)
	w := &replicaPair{operator: platform.WithActor(t.Context(), platform.NewOperator("test"))}
	for range 2 {
		p := check(platform.New(t.Context(), store, platform.Options{}))(t)
		c := Config{ServiceDomain: "atrium.dev", GraphQL: DefaultGraphQL(), Logger: discardLogger()}
		c.recorder = c.newRecorder()
		verifier := auth.New(auth.Options{Directory: directory(p), Audience: []string{"atrium"}, Development: issuer})
		w.p, w.handlers = p, append(w.handlers, c.routes(p, verifier, nil, "", nil, c.answerOptions()))
	}
	w.org = check(w.p.Groups.Bootstrap(w.operator, org, auth.DevelopmentIssuer, "owner"))(t).Group.UID
	rule := fmt.Sprintf(`{"name":"alice","claimMatch":{"issuer":%q,"subject":"alice"}}`, auth.DevelopmentIssuer)
	w.alice = check(w.p.Identities.Create(w.operator, w.org, platform.JSONInput[*platform.Identity]([]byte(rule), nil)))(t).UID
	check(w.p.Repos.Create(w.operator, w.org, platform.JSONInput[*platform.Repo]([]byte(`{"name":"secret-repo"}`), nil)))(t)
	w.token = check(issuer.Mint("alice", "atrium", time.Hour, nil))(t)
	return w
}

// requests returns a request for the repos in each protocol.
func (w *replicaPair) requests() []*http.Request {
	query := fmt.Sprintf(`{ repos(childrenOf: \"%s\") { nodes { name } } }`, w.org)
	connect := httptest.NewRequest(http.MethodPost, "/platform.registry.v2.ReposService/ListRepos", strings.NewReader(fmt.Sprintf(`{"uidp":{"childrenOf":%q}}`, w.org)))
	connect.Header.Set("Content-Type", "application/json")
	return []*http.Request{
		graphqlRequest(query),
		httptest.NewRequest(http.MethodGet, "/registry/v2/repos?uidp.children_of="+string(w.org), http.NoBody),
		connect,
	}
}

// countWrong sends the requests to both replicas. It counts the answers that show the
// repo although the caller may not see it, or hide it although the caller may.
func (w *replicaPair) countWrong(t *testing.T, may bool) (wrong int) {
	t.Helper()
	for _, handler := range w.handlers {
		for _, r := range w.requests() {
			r.Header.Set("Authorization", "Bearer "+w.token)
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, r.WithContext(t.Context()))
			body := answer.Body.String()
			if strings.Contains(body, "secret-repo") != may {
				wrong++
			}
			if !may && !strings.Contains(strings.ToLower(strings.ReplaceAll(body, "_", " ")), "permission denied") && !strings.Contains(body, "secret-repo") {
				t.Errorf("%s %s is refused with %d %s", r.Method, r.URL.Path, answer.Code, body)
			}
		}
	}
	return wrong
}

// toggle creates and deletes alice's role binding n times, and counts the wrong answers
// after each change.
func (w *replicaPair) toggle(t *testing.T, n int) (wrong int) {
	t.Helper()
	binding := fmt.Sprintf(`{"identityUid":%q,"roleUid":%q}`, w.alice, platform.ViewerRole)
	for range n {
		made := check(w.p.RoleBindings.Create(w.operator, w.org, platform.JSONInput[*platform.RoleBinding]([]byte(binding), nil)))(t)
		wrong += w.countWrong(t, true)
		if err := w.p.RoleBindings.Delete(w.operator, made.UID); err != nil {
			t.Fatal(err)
		}
		wrong += w.countWrong(t, false)
	}
	return wrong
}

// A revocation takes effect with the next request, on every replica and in every
// protocol, although the caller is read in the same round trip as the answer.
func TestARevokedRightGivesNoAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *sqlstore.Store) {
		w := newReplicaPair(t, "acme", s, func(p *platform.Platform) auth.Directory { return p })
		const changes = 50
		if wrong := w.toggle(t, changes); wrong != 0 {
			t.Errorf("%d of %d answers are wrong", wrong, changes*2*len(w.handlers)*len(w.requests()))
		}
		naive := newReplicaPair(t, "naive", s, func(p *platform.Platform) auth.Directory { return trustingDirectory{p} })
		if naive.toggle(t, 2) == 0 {
			t.Error("a server that trusts earlier requests gives no wrong answer: this test shows nothing")
		}
	})
}
