package main

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"atrium/client"
	eventsv2 "atrium/gen/platform/events/v2"
	iamv2 "atrium/gen/platform/iam/v2"
	registryv2 "atrium/gen/platform/registry/v2"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// startBehindRelay starts a server whose database connections can be cut. It also returns
// a valid token.
func startBehindRelay(t *testing.T, flags ...string) (*running, *storetest.Relay, string) {
	t.Helper()
	direct := demonstration.Postgres(t)
	relay := storetest.NewRelay(t, direct)
	server := start(t, relay.URL, append(flags, "--dev", "--metrics-addr", "127.0.0.1:0")...)
	token := strings.TrimSpace(mustRun(t, direct, "token"))
	if status, body := server.get(token, "/registry/v2/repos"); status != http.StatusOK {
		t.Fatalf("status %d, want 200: %s", status, body)
	}
	return server, relay, token
}

const askRepos = `{"query": "{ repos(first: 3) { totalCount nodes { name } } }"}`

// askChanges asks for several changes, one after the other.
const askChanges = `{"query": "mutation { a: deleteRepo(input: {uid: \"%[1]s\"}) { deletedUid } b: deleteRepo(input: {uid: \"%[1]s\"}) { deletedUid } }"}`

// expectUnavailable expects UNAVAILABLE in every protocol. The test of the breaker in store/postgres
// says when.
func expectUnavailable(t *testing.T, server *running, token string) {
	t.Helper()
	nobody := strings.Repeat("0", 40)
	var asking sync.WaitGroup
	for _, ask := range [][3]string{
		{"GET", "/registry/v2/repos", ""},
		{"GET", "/registry/v2/repos?page_token=forged", ""},
		{"GET", "/registry/v2/repos/" + nobody, ""},
		{"POST", "/registry/v2/repos/" + nobody, `{"name": "x"}`},
		{"POST", "/graphql", askRepos},
		{"POST", "/graphql", fmt.Sprintf(askChanges, nobody)},
		{"POST", "/graphql", `{"query": "subscription { events { id } }"}`},
		{"GET", "/events/v2/events:watch", ""},
	} {
		asking.Go(func() {
			status, body := server.send(ask[0], token, ask[1], ask[2])
			if status != http.StatusServiceUnavailable {
				t.Errorf("%s %s: status %d, want 503: %s", ask[0], ask[1], status, body)
			}
			hasCode := strings.Contains(body, `"code":14`) || strings.Contains(body, `"status":14`)
			if !hasCode || !strings.Contains(body, "google.rpc.RetryInfo") || strings.Contains(body, "127.0.0.1") {
				t.Errorf("%s %s: %s, want it to contain 'google.rpc.RetryInfo'", ask[0], ask[1], body)
			}
		})
	}
	asking.Wait()
	for path, want := range map[string]int{"/livez": 200, "/readyz": 503, "/ping/v2/ping": 200} {
		if status, body := server.get("", path); status != want {
			t.Errorf("%s: %d, want %d: %s", path, status, want, body)
		}
	}
	expectSample(t, server, "atrium_ready 0")
}

// expectSample expects a line among the metrics of a server that has logged their address.
func expectSample(t *testing.T, server *running, line string) {
	t.Helper()
	at := regexp.MustCompile(`"msg":"metrics","url":"([^"]+)/metrics"`)
	server.await(func() bool { return at.MatchString(server.stderr.String()) })
	metrics := running{t: t, url: at.FindStringSubmatch(server.stderr.String())[1]}
	if _, text := metrics.get("", "/metrics"); !strings.Contains(text, "\n"+line+"\n") {
		t.Errorf("the metrics have no line %q", line)
	}
}

// expectRecovery expects that the server works again without a restart.
func expectRecovery(t *testing.T, server *running, token string) {
	t.Helper()
	server.await(func() bool { status, _ := server.get("", "/readyz"); return status == http.StatusOK })
	expectSample(t, server, "atrium_ready 1")
	for range 10 {
		if status, body := server.get(token, "/registry/v2/repos"); status != http.StatusOK {
			t.Errorf("status %d, want 200: %s", status, body)
		}
		if status, body := server.send(http.MethodPost, token, "/graphql", askRepos); status != http.StatusOK || strings.Contains(body, "errors") {
			t.Errorf("status %d, want 200: %s, want it without 'errors'", status, body)
		}
	}
}

func TestRequestsAreUnavailableWhileTheDatabaseIsDown(t *testing.T) {
	t.Parallel()
	server, relay, token := startBehindRelay(t)
	relay.Refuse()
	expectUnavailable(t, server, token)
	relay.Cut() // The database can be reached again.
	expectRecovery(t, server, token)
}

// The attack: a network that drops everything, so that no error ever arrives.
func TestAnUnresponsiveDatabaseIsReportedSoon(t *testing.T) {
	t.Parallel()
	server, relay, token := startBehindRelay(t)
	relay.Silence()
	expectUnavailable(t, server, token)
	relay.Cut()
	expectRecovery(t, server, token)
}

func TestLostConnectionsFailNoRequest(t *testing.T) {
	t.Parallel()
	server, relay, token := startBehindRelay(t)
	acme := demoUID(t, server)
	for i := range 10 {
		relay.Cut()
		if status, body := server.get(token, "/registry/v2/repos"); status != http.StatusOK {
			t.Errorf("a list: status %d, want 200: %s", status, body)
		}
		relay.Cut()
		if status, body := server.send(http.MethodPost, token, "/graphql", askRepos); status != http.StatusOK || strings.Contains(body, "errors") {
			t.Errorf("GraphQL: status %d, want 200: %s, want it without 'errors'", status, body)
		}
		relay.Cut()
		name := "by-try-" + string(rune('a'+i))
		if status, body := server.send(http.MethodPost, token, "/registry/v2/repos/"+acme, `{"name": "`+name+`"}`); status != http.StatusOK {
			t.Errorf("a creation: status %d, want 200: %s", status, body)
		}
	}
}

// The database has stored a change, and its answer is lost. No protocol may invite a client to
// make the change again, and the Go client must not do so.
func TestAChangeWhoseCommitIsLostIsMadeOnce(t *testing.T) {
	t.Parallel()
	server, relay, token := startBehindRelay(t)
	acme := demoUID(t, server)
	for name, c := range map[string]struct {
		path, body string
		status     int
	}{
		"lost-by-rest":    {"/registry/v2/repos/" + acme, `{"name": "lost-by-rest"}`, http.StatusConflict},
		"lost-by-connect": {"/platform.registry.v2.ReposService/CreateRepo", `{"parent": "` + acme + `", "repo": {"name": "lost-by-connect"}}`, http.StatusConflict},
		"lost-by-graphql": {
			"/graphql", `{"query": "mutation { createRepo(input: {parent: \"` + acme + `\", name: \"lost-by-graphql\"}) { repo { uid } } }"}`, http.StatusOK,
		},
	} {
		relay.LoseCommitOf(name)
		status, body := server.send(http.MethodPost, token, c.path, c.body)
		if status != c.status || !strings.Contains(body, "COMMIT_UNCERTAIN") || strings.Contains(body, "RetryInfo") || strings.Contains(body, "127.0.0.1") {
			t.Errorf("%s: status %d, want %d with COMMIT_UNCERTAIN and without RetryInfo: %s", name, status, c.status, body)
		}
	}
	caller, err := client.New(server.url, client.Options{Token: client.StaticToken(token)})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for text, create := range map[string]func() error{
		"lost-by-grpc": func() error {
			_, err := caller.Repos.CreateRepo(ctx, &registryv2.CreateRepoRequest{Parent: acme, Repo: &registryv2.Repo{Name: "lost-by-grpc"}})
			return err
		},
		"lost@example.com": func() error {
			_, err := caller.GroupInvites.CreateGroupInvite(ctx, &iamv2.CreateGroupInviteRequest{
				Parent: acme, GroupInvite: &iamv2.GroupInvite{RoleUid: string(iam.ViewerRole), Email: "lost@example.com", Ttl: durationpb.New(time.Hour)},
			})
			return err
		},
		"https://lost.example.com": func() error {
			_, err := caller.Subscriptions.CreateSubscription(ctx, &eventsv2.CreateSubscriptionRequest{
				Parent: acme, Subscription: &eventsv2.Subscription{Sink: "https://lost.example.com"},
			})
			return err
		},
	} {
		relay.LoseCommitOf(text)
		if err := create(); connect.CodeOf(err) != connect.CodeAborted || !strings.Contains(err.Error(), "may have been made") {
			t.Errorf("%s: got %v, want aborted", text, err)
		}
	}
	repos, failed1 := caller.Repos.ListRepos(ctx, &registryv2.ListReposRequest{Query: new("lost")})
	invites, failed2 := caller.GroupInvites.ListGroupInvites(ctx, &iamv2.ListGroupInvitesRequest{})
	subscriptions, failed3 := caller.Subscriptions.ListSubscriptions(ctx, &eventsv2.ListSubscriptionsRequest{})
	if err := errors.Join(failed1, failed2, failed3); err != nil {
		t.Fatal(err)
	}
	invited, subscribed := 0, 0
	for _, invite := range invites.GetGroupInvites() {
		if invite.GetEmail() == "lost@example.com" {
			invited++
		}
	}
	for _, subscription := range subscriptions.GetSubscriptions() {
		if subscription.GetSink() == "https://lost.example.com" {
			subscribed++
		}
	}
	if created := len(repos.GetRepos()); created != 4 || invited != 1 || subscribed != 1 {
		t.Errorf("there are %d repos, %d invites and %d subscriptions, want 4, 1 and 1", created, invited, subscribed)
	}
}
