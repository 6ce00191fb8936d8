package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	registryv2 "atrium/gen/platform/registry/v2"
	"atrium/gen/platform/registry/v2/registryv2connect"
	uidpv2 "atrium/gen/platform/uidp/v2"
)

// deliveryWait is how long deliveries may take after the last event.
const deliveryWait = 2 * time.Minute

// A load sends requests to a server.
type load struct {
	o      Options
	server Server
	token  string // of the owner
	data   *Data
	http   *http.Client
	made   atomic.Int64 // repos that were created
}

func newLoad(o Options, s Server, token string, d *Data) *load {
	return &load{o: o, server: s, token: token, data: d, http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: o.Connections}}}
}

// post sends a document of GraphQL, or JSON to another path, and returns the answer.
func (l *load) post(ctx context.Context, path, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.server.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return l.do(r)
}

// do sends a request, which must succeed, and returns the answer.
func (l *load) do(r *http.Request) ([]byte, error) {
	r.Header.Set("Authorization", "Bearer "+l.token)
	response, err := l.http.Do(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK || bytes.Contains(body, []byte(`"errors":`)) {
		return nil, fmt.Errorf("the server answered %s: %.300s", response.Status, body)
	}
	return body, nil
}

// sender returns a function that sends one request of a workload.
func (l *load) sender(w Workload) func(context.Context) error {
	switch {
	case w.Query != "":
		body := w.Body(l.data)
		return func(ctx context.Context) error { _, err := l.post(ctx, "/graphql", body); return err }
	case strings.HasSuffix(w.Name, "by gRPC"):
		return l.grpcPage()
	}
	return func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.server.URL+"/registry/v2/repos?uidp.children_of="+string(l.data.Organization)+"&page_size=50", http.NoBody)
		if err != nil {
			return err
		}
		_, err = l.do(r)
		return err
	}
}

// grpcPage returns a function that reads a page by gRPC. It has a client of this procedure alone, because package client would
// add those of all procedures to the program, which are 4 MB.
func (l *load) grpcPage() func(context.Context) error {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	list := connect.NewClient[registryv2.ListReposRequest, registryv2.ListReposResponse](
		&http.Client{Transport: &http.Transport{Protocols: protocols}}, l.server.URL+registryv2connect.ReposServiceListReposProcedure, connect.WithGRPC())
	return func(ctx context.Context) error {
		r := connect.NewRequest(&registryv2.ListReposRequest{Uidp: &uidpv2.UIDPFilter{ChildrenOf: string(l.data.Organization)}, PageSize: 50})
		r.Header().Set("Authorization", "Bearer "+l.token)
		_, err := list.CallUnary(ctx, r)
		return err
	}
}

// measure sends requests for the duration of a workload, and prints a line.
func (l *load) measure(ctx context.Context, t *table, name string, send func(context.Context) error) error {
	before, err := l.usage(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	took, err := l.drive(ctx, send)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	elapsed := time.Since(began).Seconds()
	after, err := l.usage(ctx)
	if err != nil {
		return err
	}
	n := float64(len(took))
	t.printLine(name, n/elapsed, (after.cpu-before.cpu)/n, took, after)
	return nil
}

// drive sends requests over all connections, and returns how long each took. There is at least
// one for each connection, unless one fails.
func (l *load) drive(ctx context.Context, send func(context.Context) error) (took []time.Duration, err error) {
	var lock sync.Mutex
	var all sync.WaitGroup
	end := time.Now().Add(l.o.Duration)
	for range l.o.Connections {
		all.Go(func() {
			own, failed := sendUntil(ctx, end, send)
			lock.Lock()
			defer lock.Unlock()
			took, err = append(took, own...), errors.Join(err, failed)
		})
	}
	all.Wait()
	return took, err
}

func sendUntil(ctx context.Context, end time.Time, send func(context.Context) error) (took []time.Duration, err error) {
	for at := time.Now(); len(took) == 0 || at.Before(end); {
		if err := send(ctx); err != nil {
			return took, err
		}
		now := time.Now()
		took, at = append(took, now.Sub(at)), now
	}
	return took, nil
}

// createRepo creates a repo with a new name.
func (l *load) createRepo(ctx context.Context) error {
	const mutation = `mutation($input: CreateRepoInput!) { createRepo(input: $input) { repo { uid } } }`
	_, err := l.post(ctx, "/graphql", fmt.Sprintf(`{"query":%q,"variables":{"input":{"parent":%q,"name":"made-%d"}}}`, mutation, l.data.Organization, l.made.Add(1)))
	return err
}

// measureDeliveries creates repos, and waits until the sink has received an event of each.
func (l *load) measureDeliveries(ctx context.Context, t *table, sink string, r *receiver) error {
	subscription := fmt.Sprintf(`{"sink": %q, "types": ["dev.atrium.api.platform.registry.repo.created.v1"]}`, sink)
	if _, err := l.post(ctx, "/events/v2/subscriptions/"+string(l.data.Organization), subscription); err != nil {
		return err
	}
	began, others := time.Now(), l.made.Load()
	err := l.measure(ctx, t, "create a repo", l.createRepo)
	if err != nil {
		return err
	}
	made := l.made.Load() - others
	for late := time.Now().Add(deliveryWait); r.arrived.Load() < made; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(late) {
			return errors.Join(fmt.Errorf("only %d of %d events were delivered", r.arrived.Load(), made), ctx.Err())
		}
	}
	t.print("%-28s %12.0f\n", "deliver its event", float64(made)/time.Since(began).Seconds())
	return nil
}

// A usage is what a server has used so far.
type usage struct{ cpu, memory float64 } // seconds; bytes

// usage reads the metrics of the server. Figures that it does not export are 0.
func (l *load) usage(ctx context.Context) (u usage, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.server.MetricsURL, http.NoBody)
	if err != nil {
		return u, err
	}
	response, err := l.http.Do(r)
	if err != nil {
		return u, err
	}
	defer func() { _ = response.Body.Close() }()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		switch name {
		case "process_cpu_seconds_total":
			u.cpu, err = strconv.ParseFloat(value, 64)
		case "process_resident_memory_bytes":
			u.memory, err = strconv.ParseFloat(value, 64)
		}
		if err != nil {
			return u, err
		}
	}
	return u, nil
}
