package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

// A trustingDirectory is a naive implementation, which must fail the test. It treats
// the caller of an earlier request as proven and checks nothing.
type trustingDirectory struct{ *platform.Platform }

func (trustingDirectory) Presume(ctx context.Context, _ iam.Claims, last *core.Actor) context.Context {
	return core.WithActor(ctx, last)
}

// replicas are three servers on one database, with callers who may and may not read a
// repo.
type replicas struct {
	p        *platform.Platform
	store    *sqlstore.Store
	handlers []http.Handler
	operator context.Context //nolint:containedctx // This context serves the whole test.
	org      core.UID
	repo     core.UID
	alice    core.UID
	role     core.UID // This role reads repos.
	token    string
}

func newReplicas(t *testing.T, url, org string, directory func(*platform.Platform) auth.Directory) *replicas {
	t.Helper()
	key := check(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	issuer := check(auth.NewDevelopmentIssuer(check(x509.MarshalPKCS8PrivateKey(key))(t), nil))(t)
	w := &replicas{operator: core.WithActor(t.Context(), core.NewOperator("test"))}
	var store *sqlstore.Store
	for range 3 {
		if store == nil || !strings.HasPrefix(url, "sqlite:") { // Only one process can open a file.
			store = storetest.Open(t, url)
		}
		p := check(platform.New(t.Context(), store, platform.Options{}))(t)
		c := Config{ServiceDomain: "atrium.dev", GraphQL: DefaultGraphQL(), Logger: discardLogger()}
		c.recorder = c.newRecorder()
		verifier := auth.New(auth.Options{Directory: directory(p), Audience: []string{"atrium"}, Development: issuer})
		w.p, w.store, w.handlers = p, store, append(w.handlers, c.routes(p, verifier, c.newAdmission(newErrorWriter(c.answerOptions())), nil, "", nil, c.answerOptions()))
	}
	w.org = check(w.p.Groups.Bootstrap(w.operator, org, auth.DevelopmentIssuer, "owner"))(t).Group.UID
	w.alice = check(w.p.Identities.Create(w.operator, w.org, input[*iam.Identity](`{"name":"alice","claimMatch":{"issuer":%q,"subject":"alice"}}`, auth.DevelopmentIssuer)))(t).UID
	w.role = check(w.p.Roles.Create(w.operator, w.org, input[*iam.Role](`{"name":"reader","capabilities":["repo.list"]}`)))(t).UID
	w.repo = check(w.p.Repos.Create(w.operator, w.org, input[*inventory.Repo](`{"name":"secret-repo"}`)))(t).UID
	w.token = check(issuer.Mint("alice", "atrium", time.Hour, nil))(t)
	return w
}

func input[T any](format string, values ...any) fieldmask.Input[T] {
	return fieldmask.JSONInput[T](fmt.Appendf(nil, format, values...), nil)
}

// requests returns a request for the repos in each protocol, and one for the repo alone, which
// shares round trips with others.
func (w *replicas) requests() []*http.Request {
	query := fmt.Sprintf(`{ repos(within: \"%s\", directOnly: true) { nodes { name } } }`, w.org)
	connect := httptest.NewRequest(http.MethodPost, "/platform.registry.v2.ReposService/ListRepos", strings.NewReader(fmt.Sprintf(`{"uidp":{"childrenOf":%q}}`, w.org)))
	connect.Header.Set("Content-Type", "application/json")
	return []*http.Request{
		graphqlRequest(query),
		graphqlRequest(fmt.Sprintf(`{ repo(uid: \"%s\") { name } }`, w.repo)),
		httptest.NewRequest(http.MethodGet, "/registry/v2/repos?uidp.children_of="+string(w.org), http.NoBody),
		connect,
	}
}

// ask sends a request to a replica, and reports whether the answer shows the repo. The
// answer must show it or be a refusal.
func (w *replicas) ask(t *testing.T, replica int, r *http.Request) (shows bool) {
	t.Helper()
	r.Header.Set("Authorization", "Bearer "+w.token)
	answer := httptest.NewRecorder()
	w.handlers[replica].ServeHTTP(answer, r.WithContext(t.Context()))
	body := answer.Body.String()
	shows = strings.Contains(body, "secret-repo")
	if !shows && !strings.Contains(strings.ToLower(strings.ReplaceAll(body, "_", " ")), "permission denied") {
		t.Errorf("%s %s is refused with %d %s", r.Method, r.URL.Path, answer.Code, body)
	}
	return shows
}

// A right is a way to let alice read repos, and to take that away.
type right struct {
	name          string
	grant, revoke func() error
}

func (w *replicas) rights(t *testing.T) []right {
	t.Helper()
	var binding core.UID
	bind := func() error {
		made, err := w.p.RoleBindings.Create(w.operator, w.org, input[*iam.RoleBinding](`{"identityUid":%q,"roleUid":%q}`, w.alice, w.role))
		if err == nil {
			binding = made.UID
		}
		return err
	}
	unbind := func() error { return w.p.RoleBindings.Delete(w.operator, binding) }
	setCapability := func(name string) func() error {
		return func() error {
			_, err := w.p.Roles.Update(w.operator, w.role, input[*iam.Role](`{"capabilities":[%q]}`, name))
			return err
		}
	}
	setSubject := func(subject string) func() error {
		return func() error {
			_, err := w.p.Identities.Update(w.operator, w.alice, input[*iam.Identity](`{"claimMatch":{"issuer":%q,"subject":%q}}`, auth.DevelopmentIssuer, subject))
			return err
		}
	}
	return []right{
		{"a binding", bind, unbind},
		{"a capability of a role", func() error { return errors.Join(setCapability("tag.list")(), bind(), setCapability("repo.list")()) }, setCapability("tag.list")},
		{"the capability again", setCapability("repo.list"), func() error { return errors.Join(unbind(), setCapability("repo.list")()) }},
		{"a rule of an identity", func() error {
			return errors.Join(setSubject("bob")(), bind(), setSubject("alice")())
		}, setSubject("bob")},
		{"the rule again", setSubject("alice"), unbind},
	}
}

// A toggle is what alice may do at the moment. Its number grows with each change:
// while a change runs it is odd.
type toggle struct {
	number atomic.Int64
	may    atomic.Bool
}

func (g *toggle) set(t *testing.T, may bool, change func() error) {
	t.Helper()
	g.number.Add(1)
	if err := change(); err != nil {
		t.Error(err)
	}
	g.may.Store(may)
	g.number.Add(1)
}

// A verdict counts answers of one kind of toggle.
type verdict struct{ judged, hidden, stale atomic.Int64 }

// race changes alice's rights again and again, while readers ask all replicas in all
// protocols, until enough answers are judged. An answer is judged if no change took place
// between the start and the end of its request.
func (w *replicas) race(t *testing.T, answers int64) *verdict {
	t.Helper()
	var now toggle
	var found verdict
	rights := w.rights(t)
	now.set(t, true, rights[0].grant)
	for replica := range w.handlers {
		w.ask(t, replica, w.requests()[0]) // Now each replica has seen alice with rights.
	}
	now.set(t, false, rights[0].revoke)
	var readers sync.WaitGroup
	done := make(chan struct{})
	for n := range 4 * len(w.handlers) {
		readers.Go(func() {
			for i := n; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				before, may := now.number.Load(), now.may.Load()
				requests := w.requests()
				shows := w.ask(t, n%len(w.handlers), requests[i%len(requests)])
				if before%2 == 1 || now.number.Load() != before {
					continue
				}
				found.judged.Add(1)
				if may && !shows {
					found.hidden.Add(1)
				}
				if !may && shows {
					found.stale.Add(1)
				}
			}
		})
	}
	for i := 0; found.judged.Load() < answers && !t.Failed(); i++ {
		r := rights[i%len(rights)]
		w.awaitAnswers(&found, func() { now.set(t, true, r.grant) })
		w.awaitAnswers(&found, func() { now.set(t, false, r.revoke) })
	}
	close(done)
	readers.Wait()
	return &found
}

// awaitAnswers makes a change, and returns when some answers have been judged after it.
func (w *replicas) awaitAnswers(found *verdict, change func()) {
	change()
	for until := found.judged.Load() + int64(2*len(w.handlers)); found.judged.Load() < until; {
		runtime.Gosched()
	}
}

// A revocation takes effect with the next request, on every replica and in every protocol,
// although the caller is read in the same round trip as the answer. ATRIUM_TEST_ANSWERS is the
// number of answers (`make scale` judges 10,000, directly and through pgbouncer).
func TestNoAnswerIsStale(t *testing.T) {
	t.Parallel()
	answers := int64(400)
	if given := os.Getenv("ATRIUM_TEST_ANSWERS"); given != "" {
		answers = check(strconv.ParseInt(given, 10, 64))(t)
	}
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newReplicas(t, url, "acme", func(p *platform.Platform) auth.Directory { return p })
		found := w.race(t, answers)
		t.Logf("%d answers: %d stale, %d that hide what the caller may see", found.judged.Load(), found.stale.Load(), found.hidden.Load())
		if found.stale.Load() != 0 || found.hidden.Load() != 0 {
			t.Errorf("of %d answers %d show what the caller may not see, and %d hide what the caller may see; want none", found.judged.Load(), found.stale.Load(), found.hidden.Load())
		}
		naive := newReplicas(t, url, "naive", func(p *platform.Platform) auth.Directory { return trustingDirectory{p} })
		if naive.race(t, 60).stale.Load() == 0 {
			t.Error("a server that trusts earlier requests gives no stale answer: this test shows nothing")
		}
	})
}

// A revokingDirectory takes a right away while a request is under way: after the request
// has presumed its caller, and before it has read anything.
type revokingDirectory struct {
	auth.Directory
	revoke func()
}

func (d revokingDirectory) Presume(ctx context.Context, c iam.Claims, last *core.Actor) context.Context {
	presumed := d.Directory.Presume(ctx, c, last)
	d.revoke()
	return presumed
}

// A request that is under way when its right is revoked shows nothing.
func TestARightRevokedDuringARequestGivesNoAnswer(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		for name, trusts := range map[string]bool{"presumed": false, "trusting": true} {
			revoke := func() {}
			w := newReplicas(t, url, name, func(p *platform.Platform) auth.Directory {
				var directory auth.Directory = p
				if trusts {
					directory = trustingDirectory{p}
				}
				return revokingDirectory{directory, func() { revoke() }}
			})
			for i := range w.requests() {
				r := w.rights(t)[0]
				if err := r.grant(); err != nil {
					t.Fatal(err)
				}
				for range 2 { // The second request presumes the caller of the first.
					if !w.ask(t, 0, w.requests()[i]) {
						t.Fatalf("%s: request %d does not show the repo", name, i)
					}
				}
				revoke = func() {
					if err := r.revoke(); err != nil {
						t.Error(err)
					}
					revoke = func() {}
				}
				if shows := w.ask(t, 0, w.requests()[i]); shows != trusts {
					t.Errorf("%s: request %d shows the repo: %t, want %t", name, i, shows, trusts)
				}
			}
		}
	})
}

// A websocketClient sends queries on one websocket.
type websocketClient struct {
	conn *websocket.Conn
	sent int
}

// openWebsocket opens a websocket to a replica. The token is in the first message, or in the
// request for the websocket.
func (w *replicas) openWebsocket(t *testing.T, inMessage bool) *websocketClient {
	t.Helper()
	server := httptest.NewServer(w.handlers[0])
	t.Cleanup(server.Close)
	options := &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}}
	payload := map[string]any{}
	if inMessage {
		payload["Authorization"] = "Bearer " + w.token
	} else {
		options.HTTPHeader = http.Header{"Authorization": {"Bearer " + w.token}}
	}
	conn, _, err := websocket.Dial(t.Context(), server.URL+"/graphql", options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	c := &websocketClient{conn: conn}
	if answer := c.exchange(t, map[string]any{"type": "connection_init", "payload": payload}); !strings.Contains(answer, "connection_ack") {
		t.Fatalf("the websocket is opened with %s", answer)
	}
	return c
}

// exchange sends a message and returns the next one.
func (c *websocketClient) exchange(t *testing.T, message any) string {
	t.Helper()
	text, err := json.Marshal(message)
	if err == nil {
		err = c.conn.Write(t.Context(), websocket.MessageText, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.read(t)
}

func (c *websocketClient) read(t *testing.T) string {
	t.Helper()
	_, answer, err := c.conn.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// ask sends a query, and returns its response.
func (c *websocketClient) ask(t *testing.T, query string) string {
	t.Helper()
	c.sent++
	answer := c.exchange(t, map[string]any{"id": strconv.Itoa(c.sent), "type": "subscribe", "payload": map[string]any{"query": query}})
	if strings.Contains(answer, `"next"`) {
		c.read(t) // that the query is complete
	}
	return answer
}

// The attack is a caller who opens a websocket, loses a right, and sends a query on the same
// websocket.
func TestAWebsocketKeepsNoRights(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newReplicas(t, url, "acme", func(p *platform.Platform) auth.Directory { return p })
		query := fmt.Sprintf(`{ repos(within: %q, directOnly: true) { nodes { name } } }`, w.org)
		clients := map[string]*websocketClient{"message": w.openWebsocket(t, true), "request": w.openWebsocket(t, false)}
		for _, r := range w.rights(t) {
			for _, step := range []struct {
				change func() error
				may    bool
			}{{r.grant, true}, {r.revoke, false}} {
				if err := step.change(); err != nil {
					t.Fatal(err)
				}
				for name, c := range clients {
					answer := c.ask(t, query)
					if shows := strings.Contains(answer, "secret-repo"); shows != step.may || !shows && !strings.Contains(answer, "PERMISSION_DENIED") {
						t.Errorf("%s, token in the %s: got %s, want an answer that shows the repo: %t", r.name, name, answer, step.may)
					}
				}
			}
		}
	})
}
