package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/store/storetest"
)

// expectOutput waits for a text in the output.
func (r *running) expectOutput(text string) {
	r.t.Helper()
	r.await(func() bool { return strings.Contains(r.stdout.String(), text) })
}

// expectMessage waits for a text in the messages.
func (r *running) expectMessage(text string) {
	r.t.Helper()
	r.await(func() bool { return strings.Contains(r.stderr.String(), text) })
}

// makeRepo creates a repo as the owner.
func (r *running) makeRepo(token, group, name string) {
	r.t.Helper()
	if status, body := r.send(http.MethodPost, token, "/registry/v2/repos/"+group, `{"name": "`+name+`"}`); status != http.StatusOK {
		r.t.Fatalf("%d: %s, want 200", status, body)
	}
}

func TestATailPrintsNewEvents(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev")
		token, acme := strings.TrimSpace(mustRun(t, url, "token")), demoUID(t, server)
		tail := launch(t, nil, "events", "tail", "--url", server.url, "--database-url", url, "--type", "platform.registry.repo.created")
		tail.expectMessage("following the events of " + server.url + "\n")
		// The feed begins now, so it contains at least the last of these events.
		made := 0
		tail.await(func() bool {
			made++
			server.makeRepo(token, acme, fmt.Sprintf("late-%d", made))
			return strings.Contains(tail.stdout.String(), "\n")
		})
		line, _, _ := strings.Cut(tail.stdout.String(), "\n")
		fields := strings.Fields(line)
		if len(fields) != 5 || fields[1] != "platform.registry.repo.created" || !strings.HasPrefix(fields[2], acme+"/") ||
			fields[3] != "owner" || !strings.HasPrefix(fields[4], "late-") {
			t.Errorf("printed %q, want 5 items, 'platform.registry.repo.created' and 'owner'", line)
		}
		if _, err := time.Parse(eventTime, fields[0]); err != nil {
			t.Error(err)
		}
		if strings.Contains(tail.stdout.String(), "\x1b") {
			t.Errorf("there is color in what is no terminal: %q", line)
		}
		if err := tail.end(); err != nil {
			t.Errorf("interrupted, it ends with %v", err)
		}
	})
}

// restartableAddress returns an address that stays free while a server restarts, because
// other tests use 127.0.0.1.
func restartableAddress() string {
	if runtime.GOOS == "linux" { // On Linux, all of 127.0.0.0/8 is this machine.
		return "127.0.0.2:0"
	}
	return "127.0.0.1:0"
}

// restart starts a server again at the same address.
func (r *running) restart(databaseURL string) *running {
	r.t.Helper()
	return start(r.t, databaseURL, "--dev", "--addr", strings.TrimPrefix(r.url, "http://"))
}

// importRepo creates a repo while no server runs.
func importRepo(t *testing.T, databaseURL, group, name string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "repo.jsonl")
	if err := os.WriteFile(file, []byte(`{"kind": "repo", "name": "`+name+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, databaseURL, "import", "registry", "--group", group, file)
}

func TestATailContinuesAfterARestartWithoutGapOrRepeat(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev", "--addr", restartableAddress())
		token, acme := strings.TrimSpace(mustRun(t, url, "token")), demoUID(t, server)
		tail := launch(t, map[string]string{"ATRIUM_TOKEN": token}, "events", "tail", "--url", server.url, "--after", "", "--output", "json")
		for round := range 2 {
			server.makeRepo(token, acme, fmt.Sprintf("before-%d", round))
			tail.expectOutput(fmt.Sprintf(`"before-%d"`, round))
			if err := server.end(); err != nil {
				t.Fatal(err)
			}
			importRepo(t, url, acme, fmt.Sprintf("meanwhile-%d", round))
			server = server.restart(url)
			server.makeRepo(token, acme, fmt.Sprintf("after-%d", round))
			tail.expectOutput(fmt.Sprintf(`"after-%d"`, round))
		}
		if err := tail.end(); err != nil {
			t.Errorf("interrupted, it ends with %v", err)
		}
		followed := tail.stdout.String()
		whole := mustRun(t, url, "events", "tail", "--url", server.url, "--after", "", "--output", "json", "--first", fmt.Sprint(strings.Count(followed, "\n")))
		if followed != whole {
			t.Errorf("over the restarts it printed\n%s\nand without any\n%s", followed, whole)
		}
		if !strings.Contains(followed, `"meanwhile-1"`) || !strings.Contains(tail.stderr.String(), "retrying in 1s") {
			t.Errorf("stdout\n%s\nstderr\n%s, want a text with %q and a text with 'retrying in 1s'", followed, tail.stderr, `"meanwhile-1"`)
		}
		if strings.Contains(followed+tail.stderr.String(), token) {
			t.Error("the token is in the output")
		}
	})
}

// The attack: there is no event yet to continue after, and a new connection would begin
// only after the restart.
func TestATailWithoutEventsMissesNothingDuringARestart(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev", "--addr", restartableAddress())
		acme := demoUID(t, server)
		tail := launch(t, nil, "events", "tail", "--url", server.url, "--database-url", url)
		tail.expectMessage("following")
		if err := server.end(); err != nil {
			t.Fatal(err)
		}
		importRepo(t, url, acme, "meanwhile")
		server.restart(url)
		tail.expectOutput("meanwhile\n")
	})
}

// A fakeServer answers each connection with the next of its answers and records the
// variables of the request.
type fakeServer struct {
	*httptest.Server
	lock      sync.Mutex
	variables []map[string]any
}

func startFake(t *testing.T, answers ...http.HandlerFunc) *fakeServer {
	t.Helper()
	f := &fakeServer{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Variables map[string]any }
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &asked)
		f.lock.Lock()
		f.variables = append(f.variables, asked.Variables)
		n := len(f.variables) - 1
		f.lock.Unlock()
		if n >= len(answers) {
			http.Error(w, "there is no more", http.StatusNotFound)
			return
		}
		answers[n](w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// receivedVariables returns the variables of each connection.
func (f *fakeServer) receivedVariables() []map[string]any {
	f.lock.Lock()
	defer f.lock.Unlock()
	return slices.Clone(f.variables)
}

// streamEvents answers with events and then closes the connection.
func streamEvents(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(w, ":\n\n")
		for _, e := range events {
			_, _ = io.WriteString(w, "event: next\ndata: "+e+"\n\n")
		}
	}
}

func feedEvent(id string, at time.Time, name string) string {
	body, _ := json.Marshal(map[string]string{"name": name})
	return fmt.Sprintf(`{"data":{"events":{"id":%q,"type":"dev.atrium.api.iam.group.created.v1","subject":"s","time":%q,"actor":{"subject":"a","act":null},"body":%s}}}`,
		id, at.Format(time.RFC3339Nano), body)
}

func TestAReconnectedTailSkipsEventsFromBeforeItsStart(t *testing.T) {
	t.Parallel()
	now := time.Now()
	server := startFake(t, streamEvents(),
		streamEvents(feedEvent("1", now.Add(-time.Hour), "old"), feedEvent("2", now, "new")),
		streamEvents(feedEvent("3", now.Add(-time.Hour), "late commit")))
	out, errOut, err := atrium(t, nil, "events", "tail", "--url", server.URL, "--token", "t", "--first", "2")
	if err != nil || strings.Contains(out, "old") || !strings.Contains(out, "new\n") || !strings.Contains(out, "late commit\n") {
		t.Errorf("%v\n%s, want it without 'old'%s", err, out, errOut)
	}
	var after []any
	for _, v := range server.receivedVariables() {
		after = append(after, v["after"])
	}
	if !slices.Equal(after, []any{nil, "", "2"}) {
		t.Errorf("it went on behind %v", after)
	}
}

func TestATailGoesOnWithARenewedToken(t *testing.T) {
	t.Parallel()
	shutOut := `{"errors":[{"message":"Unauthenticated: the token has expired","extensions":{"status":16}}]}`
	server := startFake(t, streamEvents(feedEvent("1", time.Now(), "one"), shutOut), streamEvents(feedEvent("2", time.Now(), "two"), shutOut))
	client := newTestClient(t, server.URL, patience)
	tokens := []string{"old", "new"}
	client.token = func(context.Context) (string, error) {
		token := tokens[0]
		tokens = tokens[min(1, len(tokens)-1):]
		return token, nil
	}
	var got []string
	follower := &tail{client: client, log: io.Discard, print: func(_ json.RawMessage, e *receivedEvent) error {
		got = append(got, e.ID+" "+client.sent)
		return nil
	}}
	if err := follower.follow(t.Context()); err == nil || !strings.Contains(err.Error(), "expired") || !slices.Equal(got, []string{"1 old", "2 new"}) {
		t.Errorf("%v after %q, want that it ends when the new token is refused too", err, got)
	}
}

func TestATailRetriesOnlyAfterTemporaryErrors(t *testing.T) {
	t.Parallel()
	away := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) }
	shutOut := streamEvents(`{"errors":[{"message":"Unauthenticated: the token has expired","extensions":{"status":16}}]}`)
	first := streamEvents(feedEvent("1", time.Now(), "one"))
	for _, c := range []struct {
		name    string
		answers []http.HandlerFunc
		asked   int
		want    string
	}{
		{"nobody there at first", []http.HandlerFunc{away}, 1, "502"},
		{"shut out at first", []http.HandlerFunc{shutOut}, 1, "Unauthenticated: the token has expired"},
		{"away and then shut out", []http.HandlerFunc{first, away, shutOut}, 3, "Unauthenticated: the token has expired"},
		{"something else", []http.HandlerFunc{first}, 2, "404"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := startFake(t, c.answers...)
			_, _, err := atrium(t, nil, "events", "tail", "--url", server.URL, "--token", "t")
			if asked := len(server.receivedVariables()); exitCode(err) != 1 || !strings.Contains(err.Error(), c.want) || asked != c.asked {
				t.Errorf("after %d connections, want %d: %v, want an error with %q", asked, c.asked, err, c.want)
			}
		})
	}
}

func TestAnInvalidTokenOrArgumentEndsATailAtOnce(t *testing.T) {
	t.Parallel()
	url := demonstration.SQLite(t)
	server := start(t, url, "--dev")
	const wrong = "eyJhbGciOiJFUzI1NiJ9.c2VjcmV0.c2VjcmV0"
	out, errOut, err := atrium(t, map[string]string{"ATRIUM_TOKEN": wrong}, "events", "tail", "--url", server.url, "--after", "")
	if exitCode(err) != 1 || !strings.HasPrefix(err.Error(), "Unauthenticated: ") {
		t.Errorf("a wrong token: %v, want exit code 1", err)
	}
	if strings.Contains(out+errOut+err.Error(), "c2VjcmV0") {
		t.Errorf("the token is shown: %s%s%v", out, errOut, err)
	}
	_, _, err = atrium(t, nil, "events", "tail", "--url", server.url, "--database-url", url, "--after", "none")
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "Invalid argument: after: ") {
		t.Errorf("a wrong id: %v, want an error with 'Invalid argument: after: '", err)
	}
	_, _, err = atrium(t, nil, "events", "tail", "--url", server.url, "--database-url", "sqlite:/nowhere/x.db")
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "ATRIUM_TOKEN") {
		t.Errorf("no token: %v, want an error with 'ATRIUM_TOKEN'", err)
	}
	other := storetest.SQLite(t) // It has keys of its own.
	if err := start(t, other, "--dev").end(); err != nil {
		t.Fatal(err)
	}
	_, _, err = atrium(t, nil, "events", "tail", "--url", server.url, "--database-url", other)
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "--database-url") {
		t.Errorf("a token of another database: %v, want an error with '--database-url'", err)
	}
}

// The attack: names with control characters that move the cursor, or hide or color
// other output.
func TestNamesCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	server := startFake(t, streamEvents(feedEvent("1", time.Now(), "a\x1b[2J\x9b31m\r\u202eb")),
		streamEvents(`{"errors":[{"message":"no\u001b[2J","extensions":{"status":3}}]}`))
	out, errOut, err := atrium(t, nil, "events", "tail", "--url", server.URL, "--token", "t")
	if err == nil || strings.ContainsAny(out+errOut+err.Error(), "\x1b\u009b\r\u202e") || !strings.Contains(out, "[2J") {
		t.Errorf("%q, want it to contain '[2J': %q %v", out, errOut, err)
	}
}

func TestColumnsAreAlignedAndColoredOnlyOnDemand(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	lines := &eventLines{out: &out, widths: [...]int{len(eventTime), 20, 3, 8, 0}}
	for _, c := range []receivedEvent{
		{Type: "dev.atrium.api.iam.group.created.v1", Subject: "s", Body: json.RawMessage(`{"name":"one"}`)},
		{Type: "dev.atrium.api.iam.group.deleted.v1", Subject: "ä/subject", Body: json.RawMessage(`[]`)},
		{Type: "dev.atrium.api.iam.group.updated.v1", Body: json.RawMessage(`{"name":"two"}`)},
	} {
		c.Actor.Act = map[string]string{"sub": "ann"}
		if err := lines.write(&c); err != nil {
			t.Fatal(err)
		}
	}
	const want = `0001-01-01T00:00:00.000Z  iam.group.created     s    ann       one
0001-01-01T00:00:00.000Z  iam.group.deleted     ä/subject  ann
0001-01-01T00:00:00.000Z  iam.group.updated                ann       two
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", &out, want)
	}
	out.Reset()
	lines.color = true
	if err := lines.write(&receivedEvent{Type: "x.deleted", Body: json.RawMessage(`{"name":"n"}`)}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\x1b[31mx.deleted\x1b[0m") {
		t.Errorf("printed %q, want a text with %q", &out, "\x1b[31mx.deleted\x1b[0m")
	}
}
