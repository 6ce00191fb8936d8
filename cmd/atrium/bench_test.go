package main

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"atrium/ingest"
	"atrium/platform"
	"atrium/resolvers"
	"atrium/rest"
	"atrium/rpc"
	"atrium/store/storetest"
)

// A served platform with 200 repos, one of them by its uid, and an owner.
func benchmarked(b *testing.B) (p *platform.Platform, repo string, owner *platform.Actor) {
	b.Helper()
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
	owner, err = p.Authenticate(b.Context(), platform.Claims{Issuer: "https://issuer.example.com", Subject: "owner", ServiceAudience: true})
	if err != nil {
		b.Fatal(err)
	}
	page, err := p.Repos.List(platform.WithActor(b.Context(), owner), platform.ListRequest[platform.RepoFilter]{PageSize: 1})
	if err != nil {
		b.Fatal(err)
	}
	return p, string(page.Items[0].UID), owner
}

// BenchmarkProtocols reads the same repo, and the same page of 50, through
// each protocol, so that one run tells what the others cost beside REST.
func BenchmarkProtocols(b *testing.B) {
	p, repo, owner := benchmarked(b)
	restful, graph, procedures := rest.New(p, rest.Options{}), resolvers.New(p, resolvers.Options{}), rpc.New(p, rpc.Options{})
	for _, c := range []struct {
		name    string
		handler http.Handler
		request func() *http.Request
	}{
		{"get/rest", restful, func() *http.Request {
			return httptest.NewRequest(http.MethodGet, "/registry/v2/repos/"+repo, http.NoBody)
		}},
		{"get/grpc", procedures, func() *http.Request {
			return grpcRequest("GetRepo", protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), repo))
		}},
		{"get/graphql", graph, func() *http.Request {
			return graphqlRequest(`{ repo(uid: \"` + repo + `\") { uid name description createTime updateTime } }`)
		}},
		{"page/rest", restful, func() *http.Request {
			return httptest.NewRequest(http.MethodGet, "/registry/v2/repos?page_size=50", http.NoBody)
		}},
		{"page/grpc", procedures, func() *http.Request {
			return grpcRequest("ListRepos", protowire.AppendVarint(protowire.AppendTag(nil, 4, protowire.VarintType), 50))
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
				c.handler.ServeHTTP(w, r.WithContext(platform.WithActor(r.Context(), owner)))
				if answer := w.Result(); answer.StatusCode != http.StatusOK || answer.Trailer.Get("Grpc-Status") > "0" {
					b.Fatal(answer, w.Body)
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

// grpcRequest frames a message for a procedure of repos.
func grpcRequest(procedure string, message []byte) *http.Request {
	frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	r := httptest.NewRequest(http.MethodPost, "/platform.registry.v2.ReposService/"+procedure, bytes.NewReader(frame))
	r.ProtoMajor, r.Proto = 2, "HTTP/2.0"
	r.Header.Set("Content-Type", "application/grpc")
	return r
}

// BenchmarkImportOSV imports 200,000 records into one group, and tells the rate
// of the last ones before each mark: it must not fall as the group grows. One
// turn is enough (-benchtime=1x).
func BenchmarkImportOSV(b *testing.B) {
	const last = 5000
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p, err := platform.New(b.Context(), storetest.Open(b, url(b)), platform.Options{})
				if err != nil {
					b.Fatal(err)
				}
				operator := platform.WithActor(b.Context(), platform.Operator("bench"))
				org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
				if err != nil {
					b.Fatal(err)
				}
				at := 0
				reach := func(n int) (perSecond float64) {
					path, records := osvRecords(b, at, n), n-at
					start := time.Now()
					sum, err := ingest.OSV(operator, p, []string{path}, ingest.Options{Group: org.Group.UID})
					if err != nil || sum.Kinds[0].Added != records || sum.Failed() > 0 {
						b.Fatalf("%+v (%v)", sum, err)
					}
					at = n
					return float64(records) / time.Since(start).Seconds()
				}
				b.ReportMetric(reach(1000), "records/s-to-1k")
				for _, mark := range []int{50_000, 100_000, 200_000} {
					reach(mark - last)
					b.ReportMetric(reach(mark), fmt.Sprintf("records/s-to-%dk", mark/1000))
				}
			}
		})
	}
}

// osvRecords writes an archive of the records from one number to another.
func osvRecords(b *testing.B, from, to int) string {
	b.Helper()
	var file bytes.Buffer
	archive := tar.NewWriter(&file)
	for i := from; i < to; i++ {
		record := fmt.Appendf(nil, `{"id": "GO-2026-%d", "modified": "2026-01-01T00:00:00Z", "aliases": ["CVE-2026-%d"], "summary": "One of many", "details": %q,
			"affected": [{"package": {"ecosystem": "Go", "name": "example.com/m%d"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.2.3"}]}]}]}`,
			i, i, strings.Repeat("What it is about. ", 20), i%5000)
		if err := archive.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.json", i), Mode: 0o600, Size: int64(len(record))}); err != nil {
			b.Fatal(err)
		}
		if _, err := archive.Write(record); err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(b.TempDir(), "records.tar")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}
