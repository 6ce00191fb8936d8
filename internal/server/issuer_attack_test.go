package server

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// newDevelopmentIssuer returns a development issuer with a key of its own.
func newDevelopmentIssuer() (*auth.Issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return auth.NewDevelopmentIssuer(encoded, nil)
}

// The attack is a few tokens of an issuer that does not answer, which any organization can name.
// They must not hold the slots of requests whose tokens are not known yet, such as those of
// everybody who signs in.
func TestAnIssuerThatDoesNotAnswerKeepsNobodyFromSigningIn(t *testing.T) {
	t.Parallel()
	hold, asked := make(chan struct{}), make(chan struct{}, 1)
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-hold }))
	defer silent.Close()
	known, unknown := check(newDevelopmentIssuer())(t), check(newDevelopmentIssuer())(t)
	p := check(platform.New(t.Context(), storetest.Open(t, storetest.SQLite(t)), platform.Options{}))(t)
	operator := core.WithActor(t.Context(), core.NewOperator("test"))
	for name, issuer := range map[string]string{"acme": auth.DevelopmentIssuer, "evil": silent.URL} {
		check(p.Groups.Bootstrap(operator, name, issuer, "owner"))(t)
	}
	c := Config{ServiceDomain: "atrium.dev", GraphQL: DefaultGraphQL(), Logger: discardLogger(), MaxConcurrent: 8}
	c.recorder = c.newRecorder()
	verifier := auth.New(auth.Options{
		Directory: p, Audience: []string{"atrium"}, Development: known, Guard: auth.NewGuard([]string{silent.Listener.Addr().String()}), Logger: discardLogger(),
	})
	handler := c.routes(p, verifier, c.newAdmission(newErrorWriter(c.answerOptions())), nil, "", nil, c.answerOptions())
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

// The attack is forged tokens from the address of a machine whose tokens static keys verify, as
// behind one proxy. Each token of the machine is new, so that no earlier request knows it.
func TestForgedTokensLockOutNoMachine(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := check(platform.New(t.Context(), storetest.Open(t, url), platform.Options{}))(t)
		made := check(p.Groups.Bootstrap(core.WithActor(t.Context(), core.NewOperator("test")), "acme", "https://issuer.example.com", "owner"))(t)
		owner := core.WithActor(t.Context(), check(p.Authenticate(t.Context(), iam.Claims{Issuer: "https://issuer.example.com", Subject: "owner", ServiceAudience: true}))(t))
		const machines = "https://machines.example.com"
		key := check(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
		machine := check(auth.NewDevelopmentIssuer(check(x509.MarshalPKCS8PrivateKey(key))(t), nil))(t)
		public := jose.JSONWebKey{Key: key.Public()}
		public.KeyID = base64.RawURLEncoding.EncodeToString(check(public.Thumbprint(crypto.SHA256))(t))
		keys := check(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}}))(t)
		robot := &iam.Identity{Name: "robot", StaticKeys: &iam.StaticKeys{Issuer: machines, Subject: "robot", IssuerKeys: string(keys)}}
		check(p.Identities.Create(owner, made.Group.UID, fieldmask.TypedInput(robot, "name", "staticKeys")))(t)

		c := Config{ServiceDomain: "atrium.dev", GraphQL: DefaultGraphQL(), Logger: discardLogger(), RateLimit: 1, RateBurst: 5, Audience: []string{"atrium"}}
		handler := Handler(p, c, nil)
		request := func(token string) int {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/iam/v2/roles", http.NoBody)
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, r)
			return answer.Code
		}
		mint := func(by *auth.Issuer, subject string) string {
			return check(by.Mint(subject, "atrium", time.Hour, map[string]any{"iss": machines, "jti": rand.Text()}))(t)
		}
		forger := check(newDevelopmentIssuer())(t)
		refused := 0
		for range 50 {
			for _, forged := range []string{mint(forger, "mallory"), mint(forger, "eve"), "x"} {
				if status := request(forged); status == http.StatusTooManyRequests {
					refused++
				} else if status != http.StatusUnauthorized {
					t.Fatalf("a forged token gets %d, want %d or %d", status, http.StatusUnauthorized, http.StatusTooManyRequests)
				}
			}
		}
		if refused == 0 {
			t.Error("the forged tokens of an address are not limited")
		}
		for n := range 2 {
			if status := request(mint(machine, "robot")); status != http.StatusForbidden { // it holds no role
				t.Errorf("token %d of the machine gets %d, want %d", n, status, http.StatusForbidden)
			}
			for range 10 {
				request(mint(forger, "robot"))
			}
		}
		if status := request(""); status == http.StatusTooManyRequests {
			t.Errorf("a request without a token gets %d", status)
		}
	})
}
