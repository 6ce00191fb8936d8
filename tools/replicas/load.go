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
	ctx          context.Context //nolint:containedctx // ends when the program is interrupted, later than the load
	owner, alice string          // tokens
	org, group   string          // UIDs; the right of alice is on the group
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
	// interrupted counts the requests that failed for a time, as they do while a process or a
	// server is away.
	interrupted map[string]int
	requests    int
	ledger      ledger
	pace        time.Duration // pause of a client before each request
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
	w := &world{servers: s, ctx: ctx, began: time.Now(), failures: map[string]int{}, interrupted: map[string]int{}, ledger: newLedger()}
	var err error
	if w.owner, err = s.token(ctx); err != nil {
		return nil, err
	}
	if w.alice, err = s.token(ctx, "--subject", "alice-of-the-proof"); err != nil {
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
		uid := textOf(made, "uid")
		w.ledger.noteCreated(uid)
		return uid
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

// record records an operation, unless it failed.
func (w *world) record(client int, in access, out string, start time.Time, err error) {
	end := time.Since(w.began)
	if w.note(err); err != nil {
		return
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	w.history = append(w.history, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: start.Sub(w.began).Nanoseconds(), Return: end.Nanoseconds()})
}

// note counts a request and its error.
func (w *world) note(err error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.requests++
	switch {
	case err == nil:
	case errors.Is(err, errAway):
		w.interrupted[err.Error()]++
	default:
		w.failures[err.Error()[:min(len(err.Error()), 400)]]++
	}
}

// resultTimeout limits how long a write is repeated.
const resultTimeout = 2 * time.Minute

// write sends a write until its result is known, and returns how often it was sent. A write
// whose result was not known may have happened before it is sent again.
func (w *world) write(method, path string, body any) (made map[string]any, tries int, err error) {
	for end := time.Now().Add(resultTimeout); ; time.Sleep(20 * time.Millisecond) {
		process := rand.IntN(processes)
		made, err = w.send(process, w.owner, method, path, body)
		tries++
		if !errors.Is(err, errAway) {
			w.ledger.acknowledge(process)
			return made, tries, err
		}
		if w.note(err); time.Now().After(end) || w.ctx.Err() != nil {
			return nil, tries, fmt.Errorf("%s %s has no result after %s", method, path, resultTimeout)
		}
	}
}

// create creates a resource. A resource that exists after an unknown result is found by a list.
func (w *world) create(path string, body any, list string) (uid string, err error) {
	made, tries, err := w.write(http.MethodPost, path, body)
	if tries > 1 && errors.Is(err, errExists) {
		if made, err = w.read(list); err == nil && len(items(made)) == 1 {
			made = items(made)[0]
		}
	}
	if uid = textOf(made, "uid"); err == nil && uid == "" {
		err = fmt.Errorf("%s exists and is not in %s", path, list)
	}
	if err == nil {
		w.ledger.noteCreated(uid)
	}
	return uid, err
}

// delete deletes a resource.
func (w *world) delete(area, uid string) error {
	_, tries, err := w.write(http.MethodDelete, area+"/"+uid, nil)
	if tries > 1 && errors.Is(err, errMissing) {
		err = nil
	}
	if err == nil {
		w.ledger.noteDeleted(uid)
	}
	return err
}

// read reads until there is an answer.
func (w *world) read(path string) (page map[string]any, err error) {
	err = w.ctx.Err()
	for end := time.Now().Add(resultTimeout); time.Now().Before(end) && w.ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		page, err = w.send(rand.IntN(processes), w.owner, http.MethodGet, path, nil)
		if w.note(err); !errors.Is(err, errAway) {
			break
		}
	}
	return page, err
}

// changeRegisters writes new values, each through another process.
func (w *world) changeRegisters(ctx context.Context, n int) {
	client := w.client()
	for i := 0; ctx.Err() == nil; i++ {
		pause(ctx, w.pace)
		key, value, start := (n+4*i)%registers, fmt.Sprintf("%d.%d", n, i), time.Now()
		_, tries, err := w.write(http.MethodPatch, "/registry/v2/repos/"+w.repos[key], map[string]any{"description": value})
		w.record(client, access{key, true, value}, "", start, err)
		if err == nil { // its own write, through another process
			w.ledger.noteValue(w.repos[key], value, tries)
			w.readRegister(client, key)
		}
		pause(ctx, time.Duration(rand.IntN(20))*time.Millisecond)
	}
}

func (w *world) readRegisters(ctx context.Context, _ int) {
	for client := w.client(); ctx.Err() == nil; pause(ctx, w.pace) {
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
		answer, err = w.send(process, w.owner, http.MethodPost, "/graphql", map[string]any{"query": `query($uid: UID!) { repo(uid: $uid) { description group { repos(first: 5) { totalCount } } } }`, "variables": map[string]any{"uid": w.repos[key]}})
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
		pause(ctx, w.pace)
		start := time.Now()
		uid, err := w.create("/iam/v2/roleBindings/"+w.group, map[string]any{"identityUid": w.identity, "roleUid": w.role}, "/iam/v2/roleBindings?uidp.children_of="+w.group)
		w.record(client, access{rightKey, true, may}, "", start, err)
		if err != nil {
			return
		}
		w.useRightOnce(client)
		pause(ctx, time.Duration(rand.IntN(40))*time.Millisecond)
		start = time.Now()
		err = w.delete("/iam/v2/roleBindings", uid)
		w.record(client, access{rightKey, true, mayNot}, "", start, err)
		if err != nil {
			return
		}
		w.useRightOnce(client)
		pause(ctx, time.Duration(rand.IntN(40))*time.Millisecond)
	}
}

func (w *world) useRight(ctx context.Context, _ int) {
	for client := w.client(); ctx.Err() == nil; pause(ctx, w.pace) {
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
		_, err = w.send(process, w.alice, http.MethodPost, "/graphql", map[string]any{"query": `query($uid: UID!) { repos(within: $uid, directOnly: true, first: 2) { totalCount } }`, "variables": map[string]any{"uid": w.group}})
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
		pause(ctx, w.pace)
		name := fmt.Sprintf("stable-%03d-%d", rand.IntN(stable), i)
		uid, err := w.create("/registry/v2/repos/"+w.group, map[string]any{"name": name}, "/registry/v2/repos?name="+name+"&uidp.children_of="+w.group)
		w.note(err)
		pause(ctx, time.Duration(rand.IntN(10))*time.Millisecond)
		if err == nil && i%4 > 0 { // every fourth stays
			w.note(w.delete("/registry/v2/repos", uid))
		}
	}
}

// readPages reads lists to their end, each page through another process.
func (w *world) readPages(ctx context.Context, _ int) {
	for ; ctx.Err() == nil; pause(ctx, w.pace) {
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
		w.note(err)
		w.lock.Lock()
		if err == nil {
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
