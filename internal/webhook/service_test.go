package webhook

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/webhooks"
)

const (
	root         = core.UID("0123456789abcdef0123456789abcdef01234567")
	group        = root + "/00000000000000aa"
	subscription = group + "/00000000000000bb"
	repo         = group + "/00000000000000cc"

	secret    = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	oldSecret = "whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="
)

// A service is a Sender with its discovery documents and a clock that tests set.
type service struct {
	*httptest.Server
	*Sender

	mu   sync.Mutex
	at   time.Time
	keys []core.Key
	err  error
}

func newService(t *testing.T, client *http.Client) *service {
	t.Helper()
	s := &service{at: time.Date(2026, 3, 27, 13, 55, 0, 785e6, time.UTC), keys: []core.Key{newKey(t, 1)}}
	mux := http.NewServeMux()
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.Handle(DiscoveryPath, Discovery(s.URL))
	mux.Handle(KeySetPath, KeySet(KeyReader(s.readKeys).PublicKeys, func(w http.ResponseWriter, _ *http.Request, _ error) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	s.Sender = NewSender(SenderOptions{Client: client, Keys: s.readKeys, Issuer: s.URL, UserAgent: "atrium/test", Now: s.clock})
	return s
}

func newKey(t *testing.T, id int) core.Key {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	material, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return core.Key{ID: id, Material: material}
}

func (s *service) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

func (s *service) advanceClock(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = s.at.Add(d)
}

func (s *service) readKeys(context.Context) ([]core.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys), s.err
}

// A receivedRequest is a request as the sink saw it.
type receivedRequest struct {
	header http.Header
	body   []byte
}

// newSink starts a sink that answers 200. all returns the requests that it received.
func newSink(t *testing.T) (url string, all func() []receivedRequest) {
	t.Helper()
	var mu sync.Mutex
	var kept []receivedRequest
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("%s, want %s: %v", r.Method, http.MethodPost, err)
		}
		mu.Lock()
		defer mu.Unlock()
		kept = append(kept, receivedRequest{r.Header, body})
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []receivedRequest {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(kept)
	}
}

func dispatch(sink string) *webhooks.Dispatch {
	return &webhooks.Dispatch{
		Delivery: &webhooks.Delivery{UID: subscription + "/00000000000000dd", EventID: "019d2f5c-8e51-7000-8000-000000000001"},
		Event: &core.Event{
			ID: "019d2f5c-8e51-7000-8000-000000000001", Type: "dev.atrium.api.platform.registry.repo.created.v1",
			Subject: repo, Group: group,
			Actor: core.EventActor{Subject: string(root + "/00000000000000ee"), Act: map[string]string{"sub": "ada", "iss": "https://issuer.example", "email": "ada@example.com"}},
			Body:  json.RawMessage(`{"uid":"` + repo + `", "name":"a<b> ü"}`),
			Time:  core.At(time.Date(2026, 3, 27, 13, 54, 59, 0, time.UTC)),
		},
		Sink:    sink,
		Secrets: []string{secret},
	}
}

// deliver makes one attempt, which must succeed.
func (s *service) deliver(t *testing.T, d *webhooks.Dispatch) {
	t.Helper()
	if got := s.Send(t.Context(), d); got.Status != http.StatusOK || got.Error != "" {
		t.Fatalf("the attempt: %+v, want Status 200 and Error \"\"", got)
	}
}
