package main

import (
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// A sink receives the deliveries of subscriptions. Each has a path of its own.
type sink struct {
	url    string
	server *http.Server

	lock       sync.Mutex
	attempts   map[string]int                  // by path and id
	received   map[string]map[string]delivered // by path and id
	deliveries int
	at         time.Time // when the last one arrived
}

// delivered is what a delivery said about its event.
type delivered struct{ kind, subject string }

// flaky is the path of a subscription whose sink fails the first attempt of every tenth event.
const flaky = "/flaky"

func startSink() (*sink, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &sink{url: "http://" + listener.Addr().String(), attempts: map[string]int{}, received: map[string]map[string]delivered{}}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	id, path := r.Header.Get("Ce-Id"), r.URL.Path
	s.lock.Lock()
	defer s.lock.Unlock()
	s.deliveries++
	s.at = time.Now()
	s.attempts[path+id]++
	chosen := fnv.New32()
	_, _ = io.WriteString(chosen, id)
	if path == flaky && s.attempts[path+id] == 1 && chosen.Sum32()%10 == 0 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if s.received[path] == nil {
		s.received[path] = map[string]delivered{}
	}
	s.received[path][id] = delivered{r.Header.Get("Ce-Type"), r.Header.Get("Ce-Subject")}
}

// missing returns which events have not been received at a path.
func (s *sink) missing(path string, events []event) (missing []event) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, e := range events {
		if _, found := s.received[path][e.ID]; !found {
			missing = append(missing, e)
		}
	}
	return missing
}

// last returns when the last delivery arrived.
func (s *sink) last() time.Time {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.at
}
