package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/store/storetest"
)

// The attacks are one organization with expensive reads, several in each request, and one with cheap reads of a table that is
// locked, which share no round trip then. They would hold all connections for seconds, and the requests of others would wait
// although they have slots.
func TestTheReadsOfAnOrganizationLeaveConnectionsToOthers(t *testing.T) {
	t.Parallel()
	var lists []string
	for n := range 6 {
		lists = append(lists, fmt.Sprintf("f%d: findings(first: %d, where: {states: [RESOLVED]}) { nodes { uid } }", n, n+1))
	}
	for name, query := range map[string]string{
		"lists": "{ " + strings.Join(lists, " ") + " }",
		"a key": `{ finding(uid: \"ORGANIZATION/0000000000000001\") { uid } }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectConnectionsForOthers(t, query)
		})
	}
}

// expectConnectionsForOthers has an organization send a query many times while the table of findings is locked.
func expectConnectionsForOthers(t *testing.T, query string) {
	t.Helper()
	at := check(url.Parse(storetest.Postgres(t)))(t)
	settings := at.Query()
	settings.Set("statement_timeout", "60s")
	settings.Set("lock_timeout", "60s")
	at.RawQuery = settings.Encode()
	s := storetest.Open(t, at.String())
	p := check(platform.New(t.Context(), s, platform.Options{}))(t)
	issuer := check(newDevelopmentIssuer())(t)
	tokens, groups := map[string]string{}, map[string]string{}
	for _, subject := range []string{"loud", "quiet"} {
		organization := check(p.Groups.Bootstrap(core.WithActor(t.Context(), core.NewOperator("test")), subject, auth.DevelopmentIssuer, subject))(t)
		groups[subject] = string(organization.Group.UID)
		tokens[subject] = check(issuer.Mint(subject, "atrium", time.Hour, nil))(t)
	}
	handler := Handler(p, Config{
		Audience: []string{"atrium"}, ServiceDomain: "atrium.dev", GraphQL: DefaultGraphQL(), Logger: discardLogger(), MaxConcurrent: slotsPerConnection * s.Pool().Max, connections: s.ConnectionsForRequests(),
	}, issuer)
	send := func(ctx context.Context, subject string, r *http.Request) int {
		r.Header.Set("Authorization", "Bearer "+tokens[subject])
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r.WithContext(ctx))
		return answer.Code
	}
	modest := func() *http.Request {
		return httptest.NewRequest(http.MethodGet, "/registry/v2/repos?page_size=5", nil)
	}
	for subject := range tokens { // from now on, the server knows the caller of each token
		if status := send(t.Context(), subject, modest()); status != http.StatusOK {
			t.Fatalf("%s gets %d", subject, status)
		}
	}
	locking, counting := check(pgx.Connect(t.Context(), at.String()))(t), check(pgx.Connect(t.Context(), at.String()))(t)
	defer func() {
		_, _ = locking.Close(context.WithoutCancel(t.Context())), counting.Close(context.WithoutCancel(t.Context()))
	}()
	blocked := func() (n int) {
		t.Helper()
		const waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
		if err := counting.QueryRow(t.Context(), waiting).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, err := locking.Exec(t.Context(), "BEGIN; LOCK TABLE finding IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	var loud sync.WaitGroup
	for range 20 {
		loud.Go(func() {
			defer func() {
				cause := recover()
				if err, _ := cause.(error); cause != nil && !errors.Is(err, http.ErrAbortHandler) { // the client leaves in the end
					panic(cause)
				}
			}()
			send(ctx, "loud", graphqlRequest(strings.ReplaceAll(query, "ORGANIZATION", groups["loud"])))
		})
	}
	most := s.ConnectionsForRequests() - s.ConnectionsForRequests()/4
	for ; blocked() < most; time.Sleep(time.Millisecond) {
	}
	for n := range 5 {
		if status := send(t.Context(), "quiet", modest()); status != http.StatusOK {
			t.Errorf("beside the reads of another organization, a request gets %d, want 200", status)
		}
		write := httptest.NewRequest(http.MethodPost, "/registry/v2/repos/"+groups["quiet"], strings.NewReader(fmt.Sprintf(`{"name": "repo-%d"}`, n)))
		write.Header.Set("Content-Type", "application/json")
		if status := send(t.Context(), "quiet", write); status != http.StatusOK {
			t.Errorf("beside the reads of another organization, a write gets %d, want 200", status)
		}
	}
	if n := blocked(); n > most {
		t.Errorf("one organization holds %d connections of %d, want at most %d", n, s.Pool().Max, most)
	}
	leave()
	loud.Wait()
}
