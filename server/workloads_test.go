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
	"os"
	"strings"
	"testing"
	"time"

	"atrium/auth"
	"atrium/platform"
	"atrium/store"
	"atrium/store/storetest"
)

// The workloads of a dashboard. The benchmark that compares servers has the same ones:
// one repo, a page with its total, nested lists, role bindings with their objects, five
// lists in one query, and a page by REST.
var workloads = []struct{ name, query string }{
	{"W1 one repo", `query($repo: ID!) { repo(uid: $repo) { name description createTime } }`},
	{"W2 50 repos and their total", `query($org: ID!) { repos(childrenOf: $org, first: 50) { edges { node { uid name description createTime updateTime } } pageInfo { hasNextPage endCursor } totalCount } }`},
	{"W4 20 repos with 10 tags", `query($org: ID!) { repos(childrenOf: $org, first: 20) { edges { node { uid name tags(first: 10) { edges { node { name digest deprecated updateTime } } } } } } }`},
	{"W5 50 bindings", `query($org: ID!) { roleBindings(childrenOf: $org, first: 50, orderBy: {field: UID}) { edges { node { uid createTime identity { name } group { name } role { name } } } } }`},
	{"W6 five lists with totals", `query($org: ID!) {
		groups(childrenOf: $org, first: 10) { edges { node { uid name } } totalCount }
		identities(childrenOf: $org, first: 10) { edges { node { uid name claimMatch { issuer subject } } } totalCount }
		roleBindings(childrenOf: $org, first: 10, orderBy: {field: UID}) { edges { node { uid createTime } } totalCount }
		repos(childrenOf: $org, first: 10) { edges { node { uid name updateTime } } totalCount }
		advisories(where: {artifactNames: ["repo-1"]}, orderBy: {field: ADVISORY_ID}, first: 10) { edges { node { uid advisoryId updateTime } } totalCount } }`},
	{"W7 50 repos by REST", ""},
}

// A workbench is a server with an organisation for the workloads.
type workbench struct {
	cost      tripCounter
	handler   http.Handler
	token     string
	org, repo platform.UID
}

func newWorkbench(b *testing.B, url string) *workbench {
	b.Helper()
	w := &workbench{}
	s := check(store.Open(b.Context(), url, store.Options{Observers: []store.Observer{&w.cost}}))(b)
	b.Cleanup(func() { _ = s.Close() })
	p := check(platform.New(b.Context(), s, platform.Options{}))(b)
	key := check(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(b)
	issuer := check(auth.NewDevelopmentIssuer(check(x509.MarshalPKCS8PrivateKey(key))(b), nil))(b)
	operator := platform.WithActor(b.Context(), platform.NewOperator("bench"))
	org := check(p.Groups.Bootstrap(operator, "acme", auth.DevelopmentIssuer, "owner"))(b).Group.UID

	repos := make([]*platform.ImportedRepo, 1000)
	for i := range repos {
		repos[i] = &platform.ImportedRepo{Repo: platform.Repo{Name: fmt.Sprintf("repo-%d", i), Description: "One of many repos of this organisation"}}
	}
	check(p.Repos.Import(operator, org, repos, platform.ImportOptions{}))(b)
	var tags []*platform.ImportedTag
	for i, r := range repos {
		for n := range 12 {
			tags = append(tags, &platform.ImportedTag{Repo: r.UID, Tag: platform.Tag{Name: fmt.Sprintf("1.%d", n), Digest: fmt.Sprintf("sha256:%064x", i*12+n)}})
		}
	}
	check(p.Tags.Import(operator, tags, platform.ImportOptions{}))(b)
	for i := range 60 {
		name := fmt.Sprintf("person-%d", i)
		rule := fmt.Sprintf(`{"name":%q,"claimMatch":{"issuer":%q,"subject":%q}}`, name, auth.DevelopmentIssuer, name)
		identity := check(p.Identities.Create(operator, org, platform.JSONInput[platform.Identity]([]byte(rule), nil)))(b)
		binding := fmt.Sprintf(`{"identityUid":%q,"roleUid":%q}`, identity.UID, platform.ViewerRole)
		check(p.RoleBindings.Create(operator, org, platform.JSONInput[platform.RoleBinding]([]byte(binding), nil)))(b)
	}
	advisories := make([]*platform.Advisory, 50)
	for i := range advisories {
		advisories[i] = &platform.Advisory{AdvisoryID: fmt.Sprintf("CVE-2026-%04d", i), ArtifactName: fmt.Sprintf("repo-%d", i%3), ArtifactType: "oci"}
	}
	check(p.Advisories.Import(operator, org, advisories))(b)

	config := Config{Audience: []string{"atrium"}, ServiceDomain: "atrium.dev", GraphQL: DefaultGraphQL(), Logger: discardLogger()}
	w.handler, w.token, w.org, w.repo = Handler(p, config, issuer), check(issuer.Mint("owner", "atrium", time.Hour, nil))(b), org, repos[0].UID
	return w
}

// A tripCounter counts statements and round trips.
type tripCounter struct{ statements, trips int }

// RoundTrip counts one round trip.
func (c *tripCounter) RoundTrip(_ context.Context, statements []*store.Statement, _ time.Duration, _ error) {
	c.statements += len(statements)
	c.trips++
}

func check[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func (w *workbench) request(query string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/registry/v2/repos?uidp.children_of="+string(w.org)+"&page_size=50", http.NoBody)
	if query != "" {
		variable, value := "org", w.org
		if strings.Contains(query, "$repo") {
			variable, value = "repo", w.repo
		}
		body := fmt.Sprintf(`{"query":%q,"variables":{%q:%q}}`, strings.Join(strings.Fields(query), " "), variable, value)
		r = httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	return r
}

// BenchmarkWorkloads measures the cost of each workload, from the token to the last
// byte, with its statements and round trips.
func BenchmarkWorkloads(b *testing.B) {
	engines := map[string]string{"sqlite": storetest.SQLite(b)}
	if os.Getenv("ATRIUM_TEST_POSTGRES") != "" {
		engines["postgres"] = storetest.Postgres(b)
	}
	for engine, url := range engines {
		w := newWorkbench(b, url)
		for _, load := range workloads {
			b.Run(strings.Fields(load.name)[0]+"/"+engine, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w.cost = tripCounter{}
					answer := httptest.NewRecorder()
					w.handler.ServeHTTP(answer, w.request(load.query))
					if answer.Code != http.StatusOK || strings.Contains(answer.Body.String(), `"errors"`) {
						b.Fatal(load.name, answer.Body)
					}
				}
				b.ReportMetric(float64(w.cost.statements), "statements/op")
				b.ReportMetric(float64(w.cost.trips), "trips/op")
			})
		}
	}
}
