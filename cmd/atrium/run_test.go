package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/store/storetest"
)

// atrium runs the program to its end, like a shell with these environment variables.
func atrium(t *testing.T, env map[string]string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	err = run(t.Context(), args, program{"atrium", variables(env), list(env), strings.NewReader(""), &out, &errOut})
	return out.String(), errOut.String(), err
}

// variables returns the lookup of an environment.
func variables(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, isSet := env[name]
		return value, isSet
	}
}

// list returns the list of an environment.
func list(env map[string]string) func() []string {
	return func() (all []string) {
		for name, value := range env {
			all = append(all, name+"="+value)
		}
		return all
	}
}

// mustRun runs the program on a database. It must succeed.
func mustRun(t *testing.T, url string, args ...string) string {
	t.Helper()
	out, errOut, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, args...)
	if err != nil {
		t.Fatalf("atrium %s: %v\n%s", strings.Join(args, " "), err, errOut)
	}
	return out
}

// A running is a program that runs in this process.
type running struct {
	t      *testing.T
	url    string // This is http://127.0.0.1:port of a server.
	stop   context.CancelFunc
	ended  chan error
	stdout *lockedBuffer
	stderr *lockedBuffer
}

// servedAt finds the URL of a server in the banner of development mode or in the log.
var servedAt = regexp.MustCompile(`(?:Atrium serves  |"msg":"serving","url":")(https?://[^\s"]+)`)

// runsProgram is the environment variable of processes that run the program.
const runsProgram = "RUN_ATRIUM"

// TestMain runs the program in processes that newProcess has made, and the tests in others: so the program is linked once.
func TestMain(m *testing.M) {
	if os.Getenv(runsProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// newProcess returns the program in a process of its own, which runs at most until the test ends.
func newProcess(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), executable, args...)
	cmd.Env = append(os.Environ(), runsProgram+"=1")
	return cmd
}

// start starts a server on a free port. It runs until the test ends.
func start(t *testing.T, databaseURL string, args ...string) *running {
	t.Helper()
	return startWith(t, nil, databaseURL, args...)
}

// startWith is start with environment variables.
func startWith(t *testing.T, env map[string]string, databaseURL string, args ...string) *running {
	t.Helper()
	r := launch(t, env, append([]string{"serve", "--addr", "127.0.0.1:0", "--metrics-addr=", "--database-url", databaseURL}, args...)...)
	output := func() string { return r.stdout.String() + r.stderr.String() }
	r.await(func() bool { return servedAt.MatchString(output()) })
	r.url = servedAt.FindStringSubmatch(output())[1]
	return r
}

// demonstration makes databases that have the demonstration data already, so that a server in development mode starts at once.
var demonstration = storetest.NewTemplate(func(ctx context.Context, url string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	output, ended := &lockedBuffer{}, make(chan error, 1)
	go func() {
		args := []string{"serve", "--dev", "--addr", "127.0.0.1:0", "--metrics-addr=", "--database-url", url}
		ended <- run(ctx, args, program{"atrium", variables(nil), list(nil), strings.NewReader(""), output, output})
	}()
	for !servedAt.MatchString(output.String()) {
		select {
		case err := <-ended:
			return fmt.Errorf("the program ended: %w\n%s", err, output)
		case <-time.After(5 * time.Millisecond):
		}
	}
	stop()
	return <-ended
})

// launch runs the program in the background, at most until the test ends.
func launch(t *testing.T, env map[string]string, args ...string) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := &running{t: t, stop: stop, ended: make(chan error, 1), stdout: &lockedBuffer{}, stderr: &lockedBuffer{}}
	go func() {
		r.ended <- run(ctx, args, program{"atrium", variables(env), list(env), strings.NewReader(""), r.stdout, r.stderr})
	}()
	t.Cleanup(func() { stop(); <-r.ended })
	return r
}

// patience is how long a test waits for what happens soon, unless the machine is busy, or never.
const patience = 2 * time.Minute

// await waits until done reports true. It fails if the program ends before that.
func (r *running) await(done func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-r.ended:
			r.ended <- err // The cleanup receives it again.
			if !done() {
				r.t.Fatalf("the program ended: %v\n%s%s", err, r.stdout, r.stderr)
			}
			return
		default:
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("the program does not do what it is to do\n%s%s", r.stdout, r.stderr)
		}
	}
}

// end asks the program to end and returns its error.
func (r *running) end() error {
	r.stop()
	return r.exit()
}

// exit waits until the program ends by itself, and returns its error.
func (r *running) exit() error {
	err := <-r.ended
	r.ended <- err // The cleanup receives it again.
	return err
}

// get sends a GET request; token may be "".
func (r *running) get(token, path string) (status int, body string) {
	r.t.Helper()
	return r.send(http.MethodGet, token, path, "")
}

func (r *running) send(method, token, path, body string) (int, string) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
