package admission

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"atrium/internal/auth"
	"atrium/platform/core"
)

func TestOperationsOfAWebsocketMayFailTogether(t *testing.T) {
	t.Parallel()
	g := New(Settings{Rate: 1, Burst: 1, InFlight: 100, Client: func(address string) string { return address }})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/graphql", nil)
	opened := g.begin(httptest.NewRecorder(), r)
	opened.WriteHeader(http.StatusSwitchingProtocols)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 100 {
				_ = opened.Failed(auth.Claimant{}, core.Unauthenticated("the key of the token is gone"))
				_ = opened.Admit(auth.Claimant{}, func() bool { return false })
			}
		})
	}
	all.Wait()
	if q := g.quotas.refill(opened.forger(auth.Claimant{}), 1, time.Now()); q.open != 0 {
		t.Errorf("%d requests of the address are counted as under way after all have ended", q.open)
	}
	opened.leave()
}
