package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A process is the Atrium that is measured.
type process struct {
	program, database string
	command           *exec.Cmd
	address, metrics  string
	log               *bytes.Buffer
	client            *http.Client
}

// start starts Atrium on one core, if prefix says so, and waits until it is ready.
func start(ctx context.Context, program, database string, prefix, environment []string, flags ...string) (*process, error) {
	addresses, err := freeAddresses(2)
	if err != nil {
		return nil, err
	}
	p := &process{program: program, database: database, address: addresses[0], metrics: addresses[1], log: new(bytes.Buffer), client: &http.Client{Timeout: 20 * time.Second}}
	arguments := append(append(prefix, program), "serve", "--dev", "--addr", p.address, "--metrics-addr", p.metrics, "--database-url", database)
	p.command = exec.CommandContext(ctx, arguments[0], append(arguments[1:], flags...)...)
	p.command.Env = append(os.Environ(), environment...)
	p.command.Stderr = p.log
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if answer, err := p.client.Get("http://" + p.address + "/readyz"); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return p, nil
			}
		}
	}
	p.stop()
	return nil, errors.New("the server does not become ready: " + p.log.String())
}

func freeAddresses(n int) (addresses []string, err error) {
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, listener.Addr().String())
		defer listener.Close()
	}
	return addresses, nil
}

func (p *process) stop() {
	_ = p.command.Process.Signal(os.Interrupt)
	_ = p.command.Wait()
}

// cpu returns the CPU time of the process.
func (p *process) cpu() time.Duration {
	took, _ := readStat(p.command.Process.Pid)
	return took
}

// databaseCPU returns the CPU time of PostgreSQL: of the process that listens on the port
// of the database, and of its children.
func (p *process) databaseCPU() (sum time.Duration) {
	at, err := url.Parse(p.database)
	if err != nil || at.Port() == "" {
		return 0
	}
	folders, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	main := 0
	for _, file := range folders {
		text, _ := os.ReadFile(file)
		if strings.Contains(string(text), "postgres\x00") && strings.Contains(string(text), "\x00-p\x00"+at.Port()+"\x00") {
			main, _ = strconv.Atoi(strings.Split(file, "/")[2])
		}
	}
	for _, file := range folders {
		pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
		if took, parent := readStat(pid); parent == main || pid == main {
			sum += took
		}
	}
	return sum
}

// readStat returns the CPU time of a process, and its parent.
func readStat(pid int) (took time.Duration, parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	parent, _ = strconv.Atoi(fields[1])
	return time.Duration(user+system) * 10 * time.Millisecond, parent // Linux counts 100 ticks a second
}

// peak returns the largest memory of the process, in MiB.
func (p *process) peak() int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	kib, _ := strconv.Atoi(string(found[1]))
	return kib >> 10
}

// run runs a command of the program on the database.
func (p *process) run(arguments ...string) (string, error) {
	command := exec.Command(p.program, append(arguments, "--database-url", p.database)...)
	out, err := command.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%s: %s", strings.Join(arguments, " "), failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// send sends a request outside of the load, and decodes the answer.
func (p *process) send(token, method, path string, body any) (map[string]any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(method, "http://"+p.address+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s: %d %s", method, path, answer.StatusCode, content)
	}
	var decoded map[string]any
	return decoded, json.Unmarshal(content, &decoded)
}

// An organization is one of those that send requests, with the tokens of its callers.
type organization struct {
	uid, repo string
	tokens    []string
}

// repos is how many repos an organization has, and tags how many tags each of them has.
const (
	repos = 60
	tags  = 10
)

// organize creates an organization with repos and callers.
func (p *process) organize(name string, callers int) (*organization, error) {
	owner, err := p.run("token", "--subject", name+"-owner")
	if err != nil {
		return nil, err
	}
	payload, _ := base64.RawURLEncoding.DecodeString(strings.Split(owner, ".")[1])
	var claims struct{ Iss string }
	if err := json.Unmarshal(payload, &claims); err != nil {
		return nil, err
	}
	text, err := p.run("admin", "bootstrap", "--org", name, "--issuer", claims.Iss, "--subject", name+"-owner")
	if err != nil {
		return nil, err
	}
	var made struct{ Group string }
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		return nil, err
	}
	o := &organization{uid: made.Group, tokens: []string{owner}}
	create := func(path string, body map[string]any) (uid string, err error) {
		made, err := p.send(owner, http.MethodPost, path, body)
		uid, _ = made["uid"].(string)
		return uid, err
	}
	if err := p.importRepos(o.uid); err != nil {
		return nil, err
	}
	page, err := p.send(owner, http.MethodGet, "/registry/v2/repos?page_size=1&uidp.children_of="+o.uid, nil)
	if err != nil {
		return nil, err
	}
	first, _ := page["repos"].([]any)[0].(map[string]any)
	o.repo, _ = first["uid"].(string)
	role, err := create("/iam/v2/roles/"+o.uid, map[string]any{"name": "reader", "capabilities": []string{"repo.list", "tag.list", "groups.list", "identity.list", "role_bindings.list"}})
	if err != nil {
		return nil, err
	}
	for n := 1; n < callers; n++ {
		subject := fmt.Sprintf("%s-%d", name, n)
		identity, err := create("/iam/v2/identities/"+o.uid, map[string]any{"name": subject, "claimMatch": map[string]any{"issuer": claims.Iss, "subject": subject}})
		if err != nil {
			return nil, err
		}
		if _, err := create("/iam/v2/roleBindings/"+o.uid, map[string]any{"identityUid": identity, "roleUid": role}); err != nil {
			return nil, err
		}
		token, err := p.run("token", "--subject", subject)
		if err != nil {
			return nil, err
		}
		o.tokens = append(o.tokens, token)
	}
	return o, nil
}

// importRepos imports repos with their tags into an organization.
func (p *process) importRepos(organization string) error {
	file, err := os.CreateTemp("", "atrium-overload-*.jsonl")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	lines := bufio.NewWriter(file)
	for n := range repos {
		_, _ = fmt.Fprintf(lines, `{"kind":"repo","name":"repo-%03d","description":"One of the repos of the load"}`+"\n", n)
		for tag := range tags {
			_, _ = fmt.Fprintf(lines, `{"kind":"tag","repo":"repo-%03d","name":"1.%d","digest":"sha256:%064x"}`+"\n", n, tag, n*tags+tag)
		}
	}
	if err := errors.Join(lines.Flush(), file.Close()); err != nil {
		return err
	}
	_, err = p.run("import", "registry", "--group", organization, file.Name())
	return err
}

// requests returns requests of every caller, those of a dashboard: a repo, a page of 50,
// nested lists and four lists at once in GraphQL, a page by REST and one by gRPC (the Connect
// protocol).
func (o *organization) requests(address string) (all [][]byte) {
	variables := fmt.Sprintf(`{"org":%q,"repo":%q}`, o.uid, o.repo)
	for _, token := range o.tokens {
		for _, query := range []string{
			`query($repo: UID!) { repo(uid: $repo) { name description createTime } }`,
			`query($org: UID!) { repos(within: $org, directOnly: true, first: 50) { edges { node { uid name description createTime updateTime } } pageInfo { hasNextPage endCursor } totalCount } }`,
			`query($org: UID!) { repos(within: $org, directOnly: true, first: 20) { edges { node { uid name tags(first: 10) { edges { node { name digest deprecated updateTime } } } } } } }`,
			`query($org: UID!) {
				groups(within: $org, directOnly: true, first: 10) { edges { node { uid name } } totalCount }
				identities(within: $org, directOnly: true, first: 10) { edges { node { uid name claimMatch { issuer subject } } } totalCount }
				roleBindings(within: $org, directOnly: true, first: 10, orderBy: {field: UID}) { edges { node { uid createTime } } totalCount }
				repos(within: $org, directOnly: true, first: 10) { edges { node { uid name updateTime } } totalCount } }`,
		} {
			all = append(all, encode(http.MethodPost, address, "/graphql", token, fmt.Sprintf(`{"query":%q,"variables":%s}`, strings.Join(strings.Fields(query), " "), variables)))
		}
		all = append(all,
			encode(http.MethodGet, address, "/registry/v2/repos?page_size=50&uidp.children_of="+o.uid, token, ""),
			encode(http.MethodPost, address, "/platform.registry.v2.ReposService/ListRepos", token, fmt.Sprintf(`{"uidp":{"childrenOf":%q},"pageSize":50}`, o.uid)),
		)
	}
	return all
}

// A watch asks the probes and the metrics for as long as a load runs.
type watch struct {
	asked, failed int
	worst         time.Duration
	end           func()
}

func (p *process) watch(ctx context.Context) *watch {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{}
	var running sync.WaitGroup
	running.Go(func() {
		client := &http.Client{Timeout: time.Minute}
		for ctx.Err() == nil {
			for _, probe := range []string{"http://" + p.address + "/livez", "http://" + p.address + "/readyz", "http://" + p.metrics + "/metrics"} {
				began := time.Now()
				answer, err := client.Get(probe)
				if err == nil {
					_, _ = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close()
				}
				w.asked++
				if err != nil || answer.StatusCode != http.StatusOK {
					w.failed++
				}
				w.worst = max(w.worst, time.Since(began))
			}
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
	w.end = func() { cancel(); running.Wait() }
	return w
}

func temporaryDatabase() (url string, remove func(), err error) {
	folder, err := os.MkdirTemp("", "atrium-overload-")
	return "sqlite:" + filepath.Join(folder, "atrium.db"), func() { _ = os.RemoveAll(folder) }, err
}
