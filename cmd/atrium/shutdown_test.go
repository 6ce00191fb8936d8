package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os/exec"
	ossignal "os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The attack: PostgreSQL stops answering, so claims, renewals, attempts and the pool wait for
// answers that never arrive.
func TestTheProcessEndsInTimeWhileTheDatabaseDoesNotAnswer(t *testing.T) {
	t.Parallel()
	process, relay, token := startBehindRelay(t, "--drain-timeout", "1s")
	acme := demoUID(t, process)
	create := func(under, body string) { // A busy database takes some later request in time.
		process.await(func() bool {
			status, _ := process.send(http.MethodPost, token, under+acme, body)
			return status == http.StatusOK || status == http.StatusConflict
		})
	}
	create("/events/v2/subscriptions/", `{"sink": "https://sink.example.com/"}`)
	for i := range 3 { // Deliveries are running, and their results are being stored.
		create("/iam/v2/groups/", fmt.Sprintf(`{"name": "group-%d"}`, i))
	}
	relay.Silence()
	expectUnavailable(t, process, token) // All connections of the pool are in use.
	process.stop()
	select {
	case err := <-process.ended:
		process.ended <- err // The cleanup receives it again.
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatalf("the process does not end\n%s", process.stderr)
	}
}

func TestAnOrderlyShutdownAbandonsNothing(t *testing.T) {
	t.Parallel()
	server, _, _ := startBehindRelay(t)
	if err := server.end(); err != nil {
		t.Error(err)
	}
	if logs := server.stderr.String(); strings.Contains(logs, "abandoned") {
		t.Errorf("logs:\n%s, want it without 'abandoned'", logs)
	}
}

// A proxy that may send a request on a connection at any time loses it when the server closes the
// connection first. So the server says so with an answer before.
func TestASignalEndsConnectionsWithAnAnswerAndTellsItsName(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			if ossignal.Ignored(signal) {
				t.Skip("whoever started the tests ignores the signal, as nohup does, and so does the server")
			}
			server := launchProcess(t, "serve", "--dev", "--addr", "127.0.0.1:0", "--metrics-addr=", "--log-format", "json", "--drain-delay", "1h", "--database-url", demonstration.SQLite(t))
			url := server.await(servedAt)[1]
			client := &http.Client{Transport: &http.Transport{}}
			if get(t, client, url+"/livez"); !get(t, client, url+"/livez") {
				t.Error("the server closes a connection that is in use")
			}
			if err := server.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			server.await(regexp.MustCompile(`"msg":"draining.*"cause":"` + signal.String() + ` signal received"`))
			if get(t, client, url+"/livez"); get(t, client, url+"/livez") {
				t.Error("the connection is used after the server has begun to shut down")
			}
			if err := server.Process.Signal(syscall.SIGTERM); err != nil { // The second signal ends it at once.
				t.Fatal(err)
			}
		})
	}
}

// get sends a request, and reports whether it went over a connection that was open.
func get(t *testing.T, client *http.Client, url string) (reused bool) {
	t.Helper()
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused }}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Fatal(err)
	}
	return reused
}

// A launched is the program in a process of its own, whose log is read.
type launched struct {
	*exec.Cmd
	t     *testing.T
	lines *bufio.Scanner
}

// launchProcess starts the program, which runs at most until the test ends.
func launchProcess(t *testing.T, args ...string) *launched {
	t.Helper()
	cmd := newProcess(t, args...)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	return &launched{cmd, t, bufio.NewScanner(log)}
}

// await waits for a line of the log, and returns what the pattern found.
func (l *launched) await(pattern *regexp.Regexp) []string {
	l.t.Helper()
	var lines strings.Builder
	for l.lines.Scan() {
		if found := pattern.FindStringSubmatch(l.lines.Text()); found != nil {
			return found
		}
		lines.WriteString(l.lines.Text() + "\n")
	}
	l.t.Fatalf("the log has no %s\n%s", pattern, &lines)
	return nil
}

func TestAConnectionWithoutRequestsEndsAfterItsTime(t *testing.T) {
	t.Parallel()
	server := start(t, demonstration.SQLite(t), "--dev", "--idle-timeout", "1ms")
	conn, err := net.Dial("tcp", strings.TrimPrefix(server.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
	if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK") {
		t.Errorf("%q, %v", answer, err)
	}
}
