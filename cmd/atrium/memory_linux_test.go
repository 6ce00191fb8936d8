package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// memoryVariable turns on the test of how much memory one caller can use.
const memoryVariable = "ATRIUM_TEST_MEMORY"

// One caller may raise the memory of the process to mostMemory. Afterwards it must fall
// to leftMemory.
const (
	mostMemory = 512_000_000
	leftMemory = 200_000_000
)

// The caller holds 20 answers of the largest size open and reads nothing.
func TestNoCallerRaisesTheProcessAboveItsMemory(t *testing.T) {
	if os.Getenv(memoryVariable) == "" {
		t.Skip(memoryVariable + " is not set")
	}
	storetest.EachURL(t, func(t *testing.T, url string) {
		server := spawn(t, url)
		token := strings.TrimSpace(mustRun(t, url, "token"))
		acme := demoUID(t, &running{t: t, stdout: server.stdout})
		fillReadmes(t, server, token, acme, 200)
		fillAdvisories(t, url, core.UID(acme), 200)
		before := server.memory(t, "VmRSS")
		post := func(path, media, body string) string {
			return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", path, media, token, len(body), body)
		}
		get := func(path string) string {
			return "GET " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n\r\n"
		}
		query := func(document string) string { return post("/graphql", "application/json", document) }
		for _, attack := range []struct{ name, request string }{
			{"readmes", query(`{"query": "{repos(first: 200) {nodes {name readme}}}"}`)},
			{"readmes twice", query(`{"query": "{a: repos(first: 60) {nodes {readme}} b: repos(first: 60) {nodes {readme}}}"}`)},
			{"many values", query(`{"query": "{` + `repos(first: 200) {nodes {...F}}` + `} fragment F on Repo {` + strings.Repeat("uid name description createTime ", 60) + `}"}`)},
			{"advisories", query(`{"query": "{advisories(first: 200) {nodes {events {author issue}}}}"}`)},
			{"REST repos", get("/registry/v2/repos?page_size=200")},
			{"REST advisories", get("/vulnerabilities/v2/advisories?page_size=200")},
			{"Connect advisories", post("/platform.vulnerabilities.v2.AdvisoriesService/ListAdvisories", "application/json", `{"pageSize": 200}`)},
			{"gRPC-Web advisories", post("/platform.vulnerabilities.v2.AdvisoriesService/ListAdvisories", "application/grpc-web+json", "\x00\x00\x00\x00\x11"+`{"pageSize": 200}`)},
		} {
			answers := holdOpen(t, server, attack.request, 20)
			t.Logf("%s: %v, peak %d MB", attack.name, answers, server.memory(t, "VmHWM")/1_000_000)
		}
		if peak := server.memory(t, "VmHWM"); peak > mostMemory {
			t.Errorf("one caller raises the process to %d MB", peak/1_000_000)
		}
		left := server.memory(t, "VmRSS")
		for deadline := time.Now().Add(time.Minute); left > leftMemory && time.Now().Before(deadline); left = server.memory(t, "VmRSS") {
			time.Sleep(100 * time.Millisecond)
		}
		t.Logf("%d MB before, %d MB when they have gone", before/1_000_000, left/1_000_000)
		if left > leftMemory {
			t.Errorf("%d MB stay when they have gone", left/1_000_000)
		}
	})
}

// memory returns a memory figure of the process in bytes.
func (p *process) memory(t *testing.T, name string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return kb * 1024
		}
	}
	t.Fatalf("no %s", name)
	return 0
}

func fillReadmes(t *testing.T, server *process, token, group string, n int) {
	t.Helper()
	r := &running{t: t, url: server.url}
	text := strings.Repeat("0123456789abcdef", 256<<10/16)
	for i := range n {
		_, made := r.send(http.MethodPost, token, "/registry/v2/repos/"+group, fmt.Sprintf(`{"name": "long-%03d"}`, i))
		_, rest, _ := strings.Cut(made, `"uid":"`)
		uid, _, _ := strings.Cut(rest, `"`)
		body := fmt.Sprintf(`{"query": "mutation($c: String!) {updateRepoReadme(input: {uid: \"%s\", content: $c}) {repo {uid}}}", "variables": {"c": %q}}`, uid, text)
		if status, answer := r.send(http.MethodPost, token, "/graphql", body); status != http.StatusOK || strings.Contains(answer, "errors") {
			t.Fatalf("status %d, want 200: %s, want it without 'errors'", status, answer)
		}
	}
}

// fillAdvisories stores n advisories, each with an event that has a long finding.
func fillAdvisories(t *testing.T, url string, group core.UID, n int) {
	t.Helper()
	advisories := make([]*inventory.Advisory, n)
	for i := range advisories {
		now := core.At(time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC))
		uid := group + core.UID(fmt.Sprintf("/%016x", i))
		advisories[i] = &inventory.Advisory{
			UID: uid, AdvisoryID: fmt.Sprintf("LONG-%d", i), ArtifactName: "long", CreateTime: now, UpdateTime: now,
			Events: []inventory.AdvisoryEvent{{UID: uid + "/0000000000000001", CreateTime: now, Issue: strings.Repeat("0123456789abcdef", 256<<10/16), FixNotPlanned: &inventory.Note{Note: "x"}}},
		}
	}
	err := storetest.Open(t, url).Write(t.Context(), func(tx core.Tx) error {
		return storetest.Tables.Inventory.Advisories.Insert(t.Context(), tx, advisories...)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// holdOpen sends a request n times concurrently and reads only the status of each
// response. When all have a status, it disconnects and returns how often each status
// occurred.
func holdOpen(t *testing.T, server *process, request string, n int) map[string]int {
	t.Helper()
	statuses := map[string]int{}
	var lock sync.Mutex
	var answered, hungUp sync.WaitGroup
	answered.Add(n)
	done := make(chan struct{})
	for range n {
		hungUp.Go(func() {
			conn, err := net.Dial("tcp", strings.TrimPrefix(server.url, "http://"))
			if err != nil {
				answered.Done()
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, request)
			status, _ := bufio.NewReaderSize(conn, 64).ReadString('\n')
			lock.Lock()
			statuses[strings.TrimSpace(status)]++
			lock.Unlock()
			answered.Done()
			<-done
		})
	}
	answered.Wait()
	close(done)
	hungUp.Wait()
	return statuses
}
