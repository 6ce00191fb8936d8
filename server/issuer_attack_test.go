package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"atrium/auth"
	"atrium/platform"
	"atrium/store/storetest"
)

// The attack is a few tokens of an issuer that does not answer, which any organisation can name.
// They must not hold the slots of requests whose tokens are not known yet, such as those of
// everybody who signs in.
func TestAnIssuerThatDoesNotAnswerKeepsNobodyFromSigningIn(t *testing.T) {
	t.Parallel()
	hold, asked := make(chan struct{}), make(chan struct{}, 1)
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-hold }))
	defer silent.Close()
	newIssuer := func() *auth.Issuer {
		key := check(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
		return check(auth.NewDevelopmentIssuer(check(x509.MarshalPKCS8PrivateKey(key))(t), nil))(t)
	}
	known, unknown := newIssuer(), newIssuer()
	p := check(platform.New(t.Context(), storetest.Open(t, storetest.SQLite(t)), platform.Options{}))(t)
	operator := platform.WithActor(t.Context(), platform.NewOperator("test"))
	for name, issuer := range map[string]string{"acme": auth.DevelopmentIssuer, "evil": silent.URL} {
		check(p.Groups.Bootstrap(operator, name, issuer, "owner"))(t)
	}
	c := Config{ServiceDomain: "atrium.dev", GraphQL: DefaultGraphQL(), Logger: discardLogger(), MaxConcurrent: 8}
	c.recorder = c.newRecorder()
	verifier := auth.New(auth.Options{
		Directory: p, Audience: []string{"atrium"}, Development: known, Guard: auth.NewGuard([]string{silent.Listener.Addr().String()}), Logger: discardLogger(),
	})
	handler := c.routes(p, verifier, nil, "", nil, c.answerOptions())
	request := func(token string) int {
		r := httptest.NewRequest(http.MethodGet, "/iam/v2/roles", http.NoBody)
		r.Header.Set("Authorization", "Bearer "+token)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r.WithContext(t.Context()))
		return answer.Code
	}
	var attack sync.WaitGroup
	for n := range 4 {
		token := check(unknown.Mint(fmt.Sprint("eve ", n), "atrium", time.Hour, map[string]any{"iss": silent.URL}))(t)
		attack.Go(func() { request(token) })
	}
	<-asked
	if status := request(check(known.Mint("owner", "atrium", time.Hour, nil))(t)); status != http.StatusOK {
		t.Errorf("a token that is not known yet gets %d, want %d", status, http.StatusOK)
	}
	close(hold)
	attack.Wait()
}
