package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atrium/store/storetest"
)

// killsVariable sets how often the server is killed during writes. `make proof` sets a
// higher number.
const killsVariable = "ATRIUM_TEST_KILLS"

// A killed server may have committed a write without answering it, so a writer does not
// know the result of its last write. Every acknowledged write must reach the sink, and the
// sink may receive only events of existing repos.
func TestNoEventIsLostOrMadeUpWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	kills, err := strconv.Atoi(os.Getenv(killsVariable))
	if err != nil {
		kills = 1
	}
	storetest.EachURL(t, func(t *testing.T, url string) {
		sink := &countingSink{t: t, ids: map[string]string{}, received: map[string]time.Time{}}
		receiver := httptest.NewServer(sink)
		defer receiver.Close()
		allowed := "ATRIUM_PRIVATE_SINK=" + receiver.Listener.Addr().String()
		server := spawn(t, url, allowed)
		token := strings.TrimSpace(mustRun(t, url, "token", "--ttl", "24h"))
		acme := demoUID(t, &running{t: t, stdout: server.stdout})
		subscribe(t, server, token, acme, receiver.URL)

		w := &writing{t: t, token: token, group: acme, acknowledged: map[string]time.Time{}}
		w.at(server.url)
		for range 16 {
			w.running.Go(w.write)
		}
		for range kills {
			time.Sleep(time.Second + rand.N(2*time.Second)) //nolint:gosec // The server may be killed at any moment.
			sink.hang()
			server.kill()
			sink.goOn()
			server = spawn(t, url, allowed)
			w.at(server.url)
		}
		time.Sleep(time.Second)
		w.end()

		// Attempts that were lost with the server are repeated after eight seconds,
		// and those that the sink rejected after five.
		// Many writes are ahead of their deliveries, so it waits as long as these go on.
		left := len(w.missing(sink))
		for deadline := time.Now().Add(time.Minute); left > 0 && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
			if now := len(w.missing(sink)); now < left {
				left, deadline = now, time.Now().Add(time.Minute)
			}
		}
		if missing := w.missing(sink); len(missing) > 0 {
			t.Errorf("%d of %d acknowledged writes were never told of, such as %s", len(missing), len(w.acknowledged), missing[0])
		}
		there := map[string]bool{}
		for _, name := range strings.Fields(w.names(server.url)) {
			there[name] = true
		}
		sink.lock.Lock()
		defer sink.lock.Unlock()
		for name := range sink.received {
			if !there[name] {
				t.Errorf("%s was told of and is not there", name)
			}
		}
		t.Logf("%d kills, %d writes acknowledged, %d told of in %d deliveries", kills, len(w.acknowledged), len(sink.received), sink.deliveries)
	})
}

// A process is a server that can be killed.
type process struct {
	url    string
	stdout *lockedBuffer
	cmd    *exec.Cmd
}

// spawn starts the program with these additional environment variables.
func spawn(t *testing.T, databaseURL string, environment ...string) *process {
	t.Helper()
	out, log := &lockedBuffer{}, &lockedBuffer{}
	cmd := newProcess(t, "serve", "--dev", "--addr", "127.0.0.1:0", "--database-url", databaseURL)
	cmd.Stdout, cmd.Stderr = out, log
	cmd.Env = append(cmd.Env, environment...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{stdout: out, cmd: cmd}
	t.Cleanup(p.kill)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if m := servedAt.FindStringSubmatch(out.String()); m != nil {
			p.url = m[1]
			return p
		}
	}
	t.Fatalf("it does not serve\n%s", log)
	return nil
}

// kill ends the process like kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func subscribe(t *testing.T, server *process, token, group, sink string) {
	t.Helper()
	r := &running{t: t, url: server.url}
	body := fmt.Sprintf(`{"sink": %q, "types": ["dev.atrium.api.platform.registry.repo.created.v1"]}`, sink)
	if status, answer := r.send(http.MethodPost, token, "/events/v2/subscriptions/"+group, body); status != http.StatusOK {
		t.Fatalf("got %v, want 200", answer)
	}
}

// A writing creates repos and continues after the server has moved.
type writing struct {
	t            *testing.T
	token, group string
	running      sync.WaitGroup

	lock         sync.Mutex
	url          string
	ended        bool
	number       int
	acknowledged map[string]time.Time
}

func (w *writing) at(url string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.url = url
}

func (w *writing) next() (url, name string, more bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.number++
	return w.url, fmt.Sprintf("proof-%d", w.number), !w.ended
}

func (w *writing) write() {
	for {
		url, name, more := w.next()
		if !more {
			return
		}
		request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, url+"/registry/v2/repos/"+w.group, strings.NewReader(`{"name": "`+name+`"}`))
		if err != nil {
			w.t.Error(err)
			return
		}
		request.Header.Set("Authorization", "Bearer "+w.token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			time.Sleep(10 * time.Millisecond) // The server was killed.
			continue
		}
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			w.lock.Lock()
			w.acknowledged[name] = time.Now()
			w.lock.Unlock()
		}
	}
}

func (w *writing) end() {
	w.lock.Lock()
	w.ended = true
	w.lock.Unlock()
	w.running.Wait()
}

// missing lists the acknowledged repos whose event has not arrived.
func (w *writing) missing(sink *countingSink) []string {
	sink.lock.Lock()
	defer sink.lock.Unlock()
	var names []string
	for name := range w.acknowledged {
		if sink.received[name].IsZero() {
			names = append(names, name)
		}
	}
	return names
}

// names lists all repos of the group, acknowledged or not.
func (w *writing) names(url string) string {
	r := &running{t: w.t, url: url}
	var names []string
	for page := ""; ; {
		_, body := r.get(w.token, "/registry/v2/repos?page_size=200&uidp.descendants_of="+w.group+"&page_token="+page)
		var list struct {
			Repos         []struct{ Name string }
			NextPageToken string
		}
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			w.t.Fatalf("%v: %s", err, body)
		}
		for _, repo := range list.Repos {
			names = append(names, repo.Name)
		}
		if page = list.NextPageToken; page == "" {
			return strings.Join(names, " ")
		}
	}
}

// A countingSink rejects the first attempt of every tenth event.
type countingSink struct {
	t          *testing.T
	hanging    atomic.Bool
	hangs      atomic.Int64
	lock       sync.Mutex
	deliveries int
	ids        map[string]string // The keys are names of repos, and the values are ids of events.
	received   map[string]time.Time
}

// hang stops answering. It returns when all slots of the subscription wait for an answer.
func (s *countingSink) hang() {
	s.hanging.Store(true)
	for deadline := time.Now().Add(time.Minute); s.hangs.Load() < 8; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("only %d attempts are under way", s.hangs.Load())
		}
	}
}

func (s *countingSink) goOn() { s.hanging.Store(false) }

func (s *countingSink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.hanging.Load() {
		_, _ = io.Copy(io.Discard, r.Body) // net/http notices the end of the connection only after the body was read.
		s.hangs.Add(1)
		defer s.hangs.Add(-1)
		<-r.Context().Done()
		return
	}
	var data struct{ Body struct{ Name string } }
	if err := json.NewDecoder(r.Body).Decode(&data); err != nil {
		s.t.Error(err)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.deliveries++
	id, name := r.Header.Get("Ce-Id"), data.Body.Name
	known := s.ids[name]
	if known != "" && known != id {
		s.t.Errorf("%s has the ids %s and %s", name, known, id)
	}
	if s.ids[name] = id; known == "" && len(s.ids)%10 == 0 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	s.received[name] = time.Now()
}
