package workloads

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// BenchmarkRefusedRequest measures what the server does for a request that is
// refused, beside the workloads that it serves.
func BenchmarkRefusedRequest(b *testing.B) {
	w := newWorkbench(b, storetest.SQLite(b))
	for _, path := range []string{"/registry/v2/repos", "/graphql", "/platform.registry.v2.ReposService/ListRepos"} {
		b.Run(strings.Trim(path, "/"), func(b *testing.B) {
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader("{}"))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+w.token)
			w.full.ServeHTTP(&sink{header: http.Header{}}, r)
			b.ReportAllocs()
			served := 0
			for b.Loop() {
				to := &sink{header: http.Header{}}
				w.full.ServeHTTP(to, r)
				if to.status != http.StatusTooManyRequests {
					served++
				}
			}
			if served > 2+int(b.Elapsed().Seconds()) { // one for each second, and those at its ends
				b.Fatalf("%d of %d requests were served", served, b.N)
			}
		})
	}
}
