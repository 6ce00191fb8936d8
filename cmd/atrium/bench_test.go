package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/resolvers"
	"atrium/rest"
	"atrium/store/storetest"
)

// BenchmarkPage reads the same page of 50 repos through each protocol, so that
// one run tells what the graph costs beside REST.
func BenchmarkPage(b *testing.B) {
	p, err := platform.New(b.Context(), storetest.Open(b, storetest.SQLite(b)), platform.Options{})
	if err != nil {
		b.Fatal(err)
	}
	operator := platform.WithActor(b.Context(), platform.Operator("bench"))
	org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
	if err != nil {
		b.Fatal(err)
	}
	repos := make([]*platform.ImportedRepo, 200)
	for i := range repos {
		repos[i] = &platform.ImportedRepo{Repo: platform.Repo{Name: fmt.Sprintf("repo-%d", i), Description: "One of many"}}
	}
	if _, err := p.Repos.Import(operator, org.Group.UID, repos, platform.ImportOptions{}); err != nil {
		b.Fatal(err)
	}
	owner, err := p.Authenticate(b.Context(), platform.Claims{Issuer: "https://issuer.example.com", Subject: "owner", ServiceAudience: true})
	if err != nil {
		b.Fatal(err)
	}
	const query = `{"query":"{ repos(first: 50) { totalCount pageInfo { endCursor } nodes { uid name description createTime updateTime } } }"}`
	for _, c := range []struct {
		name    string
		handler http.Handler
		request func() *http.Request
	}{
		{"rest", rest.New(p, rest.Options{}), func() *http.Request {
			return httptest.NewRequest(http.MethodGet, "/registry/v2/repos?page_size=50", http.NoBody)
		}},
		{"graphql", resolvers.New(p, resolvers.Options{}), func() *http.Request {
			r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(query))
			r.Header.Set("Content-Type", "application/json")
			return r
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				r := c.request()
				c.handler.ServeHTTP(w, r.WithContext(platform.WithActor(r.Context(), owner)))
				if w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
