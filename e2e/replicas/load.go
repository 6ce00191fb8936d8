package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/jackc/pgx/v5"
)

// A world is the data that the load changes and reads.
type world struct {
	*servers
	owner, alice string // tokens
	org, group   string // UIDs; the right of alice is on the group
	identity     string
	role         string
	repos        []string // UIDs of the registers
	began        time.Time

	lock     sync.Mutex
	history  []porcupine.Operation // of the registers, and of the right of alice
	careless []porcupine.Operation // reads of the first register from a standby, without Atrium
	clients  int
	walks    int      // lists that were read to their end
	wrong    []string // what was wrong in them
	failures map[string]int
}

// An access is the input of an operation: a read, or a write of a value.
type access struct {
	key   int
	write bool
	value string
}

// rightKey is the key of the right of alice. Its values are may and mayNot.
const (
	rightKey = registers
	may      = "may"
	mayNot   = ""
)

func newWorld(ctx context.Context, s *servers) (*world, error) {
	w := &world{servers: s, began: time.Now(), failures: map[string]int{}}
	var err error
	if w.owner, err = s.token(); err != nil {
		return nil, err
	}
	if w.alice, err = s.token("--subject", "alice-of-the-proof"); err != nil {
		return nil, err
	}
	roots, err := s.send(0, w.owner, http.MethodGet, "/iam/v2/groups?page_size=1", nil)
	if err != nil {
		return nil, err
	}
	w.org = strings.SplitN(textOf(items(roots)[0], "uid"), "/", 2)[0]
	create := func(path string, body map[string]any) string {
		if err != nil {
			return ""
		}
		var made map[string]any
		made, err = s.send(0, w.owner, http.MethodPost, path, body)
		return textOf(made, "uid")
	}
	payload, _ := base64.RawURLEncoding.DecodeString(strings.Split(w.alice, ".")[1])
	var claims struct{ Iss string }
	_ = json.Unmarshal(payload, &claims)
	w.group = create("/iam/v2/groups/"+w.org, map[string]any{"name": "proof"})
	w.identity = create("/iam/v2/identities/"+w.org, map[string]any{"name": "alice", "claimMatch": map[string]any{"issuer": claims.Iss, "subject": "alice-of-the-proof"}})
	w.role = create("/iam/v2/roles/"+w.org, map[string]any{"name": "reader", "capabilities": []string{"repo.list"}})
	for n := range registers {
		w.repos = append(w.repos, create("/registry/v2/repos/"+w.group, map[string]any{"name": fmt.Sprintf("register-%d", n)}))
	}
	for n := range stable {
		create("/registry/v2/repos/"+w.group, map[string]any{"name": fmt.Sprintf("stable-%03d", n)})
	}
	return w, err
}

func items(page map[string]any) (all []map[string]any) {
	for _, value := range page {
		list, ok := value.([]any)
		if !ok {
			continue
		}
		for _, item := range list {
			if object, ok := item.(map[string]any); ok {
				all = append(all, object)
			}
		}
	}
	return all
}

func textOf(object map[string]any, names ...string) string {
	for _, name := range names[:len(names)-1] {
		object, _ = object[name].(map[string]any)
	}
	text, _ := object[names[len(names)-1]].(string)
	return text
}

func (w *world) client() int {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.clients++
	return w.clients
}

// record records an operation. A write that failed may have happened, so it never ends.
func (w *world) record(client int, in access, out string, start time.Time, err error) {
	end := time.Since(w.began)
	w.lock.Lock()
	defer w.lock.Unlock()
	if err != nil {
		w.failures[err.Error()[:min(len(err.Error()), 120)]]++
		if !in.write {
			return
		}
		end = time.Hour
	}
	w.history = append(w.history, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: start.Sub(w.began).Nanoseconds(), Return: end.Nanoseconds()})
}

// changeRegisters writes new values, each through another process.
func (w *world) changeRegisters(ctx context.Context, n int) {
	client := w.client()
	for i := 0; ctx.Err() == nil; i++ {
		key, value, start := (n+4*i)%registers, fmt.Sprintf("%d.%d", n, i), time.Now()
		_, err := w.send(rand.IntN(processes), w.owner, http.MethodPatch, "/registry/v2/repos/"+w.repos[key], map[string]any{"description": value})
		w.record(client, access{key, true, value}, "", start, err)
		if err == nil { // its own write, through another process
			w.readRegister(client, key)
		}
		pause(ctx, time.Duration(rand.IntN(20))*time.Millisecond)
	}
}

func (w *world) readRegisters(ctx context.Context, _ int) {
	for client := w.client(); ctx.Err() == nil; {
		w.readRegister(client, rand.IntN(registers))
	}
}

// readRegister reads a register through any process and in any protocol.
func (w *world) readRegister(client, key int) {
	process, start := rand.IntN(processes), time.Now()
	var answer map[string]any
	var err error
	value := ""
	switch rand.IntN(4) {
	case 0:
		answer, err = w.send(process, w.owner, http.MethodGet, "/registry/v2/repos/"+w.repos[key], nil)
		value = textOf(answer, "description")
	case 1:
		answer, err = w.send(process, w.owner, http.MethodGet, "/registry/v2/repos?name=register-"+fmt.Sprint(key)+"&uidp.children_of="+w.group, nil)
		if found := items(answer); len(found) == 1 {
			value = textOf(found[0], "description")
		} else if err == nil {
			err = errors.New("a list lacks a register")
		}
	case 2:
		answer, err = w.send(process, w.owner, http.MethodPost, "/graphql", map[string]any{"query": `query($uid: ID!) { repo(uid: $uid) { description group { repos(first: 5) { totalCount } } } }`, "variables": map[string]any{"uid": w.repos[key]}})
		value = textOf(answer, "data", "repo", "description")
	case 3:
		answer, err = w.send(process, w.owner, http.MethodPost, "/platform.registry.v2.ReposService/GetRepo", map[string]any{"uid": w.repos[key]})
		value = textOf(answer, "description")
	}
	w.record(client, access{key: key}, value, start, err)
}

// changeRight grants and revokes the right of alice.
func (w *world) changeRight(ctx context.Context) {
	client := w.client()
	for ctx.Err() == nil {
		start := time.Now()
		made, err := w.send(rand.IntN(processes), w.owner, http.MethodPost, "/iam/v2/roleBindings/"+w.group, map[string]any{"identityUid": w.identity, "roleUid": w.role})
		w.record(client, access{rightKey, true, may}, "", start, err)
		w.useRightOnce(client)
		pause(ctx, time.Duration(rand.IntN(40))*time.Millisecond)
		start = time.Now()
		_, err = w.send(rand.IntN(processes), w.owner, http.MethodDelete, "/iam/v2/roleBindings/"+textOf(made, "uid"), nil)
		w.record(client, access{rightKey, true, mayNot}, "", start, err)
		w.useRightOnce(client)
		pause(ctx, time.Duration(rand.IntN(40))*time.Millisecond)
	}
}

func (w *world) useRight(ctx context.Context, _ int) {
	for client := w.client(); ctx.Err() == nil; {
		w.useRightOnce(client)
	}
}

// useRightOnce lets alice read, through any process and in any protocol.
func (w *world) useRightOnce(client int) {
	process, start := rand.IntN(processes), time.Now()
	var err error
	switch rand.IntN(3) {
	case 0:
		_, err = w.send(process, w.alice, http.MethodGet, "/registry/v2/repos?page_size=2&uidp.children_of="+w.group, nil)
	case 1:
		_, err = w.send(process, w.alice, http.MethodPost, "/graphql", map[string]any{"query": `query($uid: ID!) { repos(childrenOf: $uid, first: 2) { totalCount } }`, "variables": map[string]any{"uid": w.group}})
	case 2:
		_, err = w.send(process, w.alice, http.MethodPost, "/platform.registry.v2.ReposService/ListRepos", map[string]any{"uidp": map[string]any{"childrenOf": w.group}, "pageSize": 2})
	}
	value := may
	if errors.Is(err, errRefused) {
		value, err = mayNot, nil
	}
	w.record(client, access{key: rightKey}, value, start, err)
}

// churn creates and deletes repos between those that stay.
func (w *world) churn(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		made, err := w.send(rand.IntN(processes), w.owner, http.MethodPost, "/registry/v2/repos/"+w.group, map[string]any{"name": fmt.Sprintf("stable-%03d-%d", rand.IntN(stable), i)})
		pause(ctx, time.Duration(rand.IntN(10))*time.Millisecond)
		if err == nil {
			_, _ = w.send(rand.IntN(processes), w.owner, http.MethodDelete, "/registry/v2/repos/"+textOf(made, "uid"), nil)
		}
	}
}

// readPages reads lists to their end, each page through another process.
func (w *world) readPages(ctx context.Context, _ int) {
	for ctx.Err() == nil {
		seen, token := map[string]int{}, ""
		var err error
		for first := true; err == nil && (first || token != ""); first = false {
			query := url.Values{"uidp.children_of": {w.group}, "order_by": {"name"}, "page_size": {fmt.Sprint(pageSize)}}
			if token != "" {
				query.Set("page_token", token)
			}
			var page map[string]any
			page, err = w.send(rand.IntN(processes), w.owner, http.MethodGet, "/registry/v2/repos?"+query.Encode(), nil)
			for _, item := range items(page) {
				seen[textOf(item, "name")]++
			}
			token = textOf(page, "nextPageToken")
		}
		w.lock.Lock()
		if err != nil {
			w.failures[err.Error()[:min(len(err.Error()), 120)]]++
		} else {
			w.walks++
			for n := range stable {
				name := fmt.Sprintf("stable-%03d", n)
				if seen[name] != 1 {
					w.wrong = append(w.wrong, fmt.Sprintf("%s is there %d times", name, seen[name]))
				}
			}
		}
		w.lock.Unlock()
	}
}

// readCarelessly reads the first register from a standby, without Atrium.
func (w *world) readCarelessly(ctx context.Context, standby string) {
	conn, err := pgx.Connect(ctx, standby)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for client := w.client(); ctx.Err() == nil; pause(ctx, 5*time.Millisecond) {
		start, value := time.Since(w.began), ""
		if err := conn.QueryRow(ctx, "SELECT description FROM repo WHERE name = 'register-0'").Scan(&value); err != nil {
			continue
		}
		w.lock.Lock()
		w.careless = append(w.careless, porcupine.Operation{ClientId: client, Input: access{key: 0}, Output: value, Call: start.Nanoseconds(), Return: time.Since(w.began).Nanoseconds()})
		w.lock.Unlock()
	}
}
