package server

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"atrium/internal/auth"
	"atrium/internal/rest"
	"atrium/internal/rpc"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/storetest"
)

// newBenchmark returns a platform with 200 repos, the uid of one of them, and an owner.
func newBenchmark(b *testing.B) (p *platform.Platform, repo string, owner *core.Actor) {
	b.Helper()
	p, err := platform.New(b.Context(), storetest.Open(b, storetest.SQLite(b)), platform.Options{})
	if err != nil {
		b.Fatal(err)
	}
	operator := core.WithActor(b.Context(), core.NewOperator("bench"))
	org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
	if err != nil {
		b.Fatal(err)
	}
	repos := make([]*registry.ImportedRepo, 200)
	for i := range repos {
		repos[i] = &registry.ImportedRepo{Repo: inventory.Repo{Name: fmt.Sprintf("repo-%d", i), Description: "One of many"}}
	}
	if _, err := p.Registry.ImportRepos(operator, org.Group.UID, repos, core.ImportOptions{}); err != nil {
		b.Fatal(err)
	}
	owner, err = p.Authenticate(b.Context(), iam.Claims{Issuer: "https://issuer.example.com", Subject: "owner", ServiceAudience: true})
	if err != nil {
		b.Fatal(err)
	}
	page, err := p.Repos.List(core.WithActor(b.Context(), owner), core.ListRequest[*inventory.RepoFilter]{PageSize: 1})
	if err != nil {
		b.Fatal(err)
	}
	return p, string(page.Items[0].UID), owner
}

// BenchmarkProtocols reads the same repo, and the same page of 50, in each protocol, so
// that one run compares their costs.
func BenchmarkProtocols(b *testing.B) {
	p, repo, owner := newBenchmark(b)
	config := Config{Logger: discardLogger(), ServiceDomain: "atrium.dev", GraphQL: DefaultGraphQL()}
	graph := config.graphql(p, auth.New(auth.Options{Directory: p}), nil, nil)
	restful, procedures := rest.New(p, rest.Options{}), rpc.New(p, rpc.Options{})
	for _, c := range []struct {
		name    string
		handler http.Handler
		request func() *http.Request
	}{
		{"get/rest", restful, func() *http.Request {
			return httptest.NewRequest(http.MethodGet, "/registry/v2/repos/"+repo, http.NoBody)
		}},
		{"get/grpc", procedures, func() *http.Request {
			r, _ := grpcRequest("GetRepo", protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), repo))
			return r
		}},
		{"get/graphql", graph, func() *http.Request {
			return graphqlRequest(`{ repo(uid: \"` + repo + `\") { uid name description createTime updateTime } }`)
		}},
		{"page/rest", restful, func() *http.Request {
			return httptest.NewRequest(http.MethodGet, "/registry/v2/repos?page_size=50", http.NoBody)
		}},
		{"page/grpc", procedures, func() *http.Request {
			r, _ := grpcRequest("ListRepos", protowire.AppendVarint(protowire.AppendTag(nil, 4, protowire.VarintType), 50))
			return r
		}},
		{"page/graphql", graph, func() *http.Request {
			return graphqlRequest(`{ repos(first: 50) { totalCount pageInfo { endCursor } nodes { uid name description createTime updateTime } } }`)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				r := c.request()
				c.handler.ServeHTTP(w, r.WithContext(core.WithActor(r.Context(), owner)))
				if answer := w.Result(); answer.StatusCode != http.StatusOK || answer.Trailer.Get("Grpc-Status") > "0" {
					b.Fatalf("got %v %v, want StatusCode 200", answer, w.Body)
				}
			}
		})
	}
}

func graphqlRequest(query string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(`{"query":"`+query+`"}`))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// grpcRequest returns a request of a procedure of repos, and its body.
func grpcRequest(procedure string, message []byte) (*http.Request, []byte) {
	frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	r := httptest.NewRequest(http.MethodPost, "/platform.registry.v2.ReposService/"+procedure, bytes.NewReader(frame))
	r.ProtoMajor, r.Proto = 2, "HTTP/2.0"
	r.Header.Set("Content-Type", "application/grpc")
	return r, frame
}
