package cases

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/auth"
	"atrium/internal/server"
	"atrium/platform"
	"atrium/resolvers"
	"atrium/store/storetest"
)

// A world is the service on its own database, with the handlers of the program and real
// tokens.
type world struct {
	p         *platform.Platform
	issuer    *auth.Issuer
	ledger    map[string]rpc
	protocols []protocol
	setup     protocol // This protocol creates what a case needs.

	holds  map[string]map[string]bool // This has the capabilities of each built-in role, by wire names.
	dotted map[string]string          // This has the dotted name of each wire name.

	ticks, names atomic.Int64
	tokens       sync.Map // The keys are subjects.
}

const audience = "atrium"

func newWorld(t *testing.T, url string) *world {
	t.Helper()
	return newWorldWith(t, url, platform.Options{AllowSignup: true, AllowIssuers: true})
}

// newWorldWith returns a world with the given options.
func newWorldWith(t *testing.T, url string, o platform.Options) *world {
	t.Helper()
	w := &world{ledger: wireLedger(t)}
	w.holds, w.dotted = roleLedger(t)
	// The clock advances with each reading, so that no two resources have the same time.
	began := time.Now()
	o.Clock = func() time.Time { return began.Add(time.Duration(w.ticks.Add(1)) * time.Millisecond) }
	o.TestPatience = time.Nanosecond // nobody delivers
	p, err := platform.New(t.Context(), storetest.Open(t, url), o)
	if err != nil {
		t.Fatal(err)
	}
	w.p, w.issuer = p, newIssuer(t)
	handler := server.Handler(p, server.Config{
		Audience: []string{audience}, ServiceDomain: "atrium.dev", GraphQL: server.DefaultGraphQL(), Logger: slog.New(slog.DiscardHandler),
	}, w.issuer)
	r := rest{handler, w.ledger}
	w.protocols = []protocol{r, graphQL{handler, newOracle(p, w.issuer), schema(t)}, newGRPC(t, handler)}
	w.setup = r
	return w
}

// schema returns the public schema, which clients see.
func schema(t *testing.T) *ast.Schema {
	t.Helper()
	s, err := gqlparser.LoadSchema(&ast.Source{Input: resolvers.SDL()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newIssuer(t *testing.T) *auth.Issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := auth.NewDevelopmentIssuer(der, nil)
	if err != nil {
		t.Fatal(err)
	}
	return issuer
}

// token returns a token of a subject.
func (w *world) token(t *testing.T, subject string) string {
	t.Helper()
	if token, ok := w.tokens.Load(subject); ok {
		return token.(string)
	}
	token, err := w.issuer.Mint(subject, audience, time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.tokens.Store(subject, token)
	return token
}
