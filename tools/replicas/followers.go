package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// An event is an event of the feed.
type event struct {
	ID, Type, Subject string
	Body              struct{ Description string }
}

const feedQuery = `subscription ($after: String, $kinds: [EventKind!]) { events(after: $after, kinds: $kinds) { id type subject body } }`

// A follower reads the feed from the oldest event on. When its stream ends, it continues
// after its last event, at another process.
type follower struct {
	w         *world
	name      string
	process   int      // the first process
	fixed     bool     // whether it stays at this process
	types     []string // nil means all
	websocket bool

	lock    sync.Mutex
	events  []event
	streams int
	dropped []event       // events that a promoted server lacks
	changed chan struct{} // holds one element after each event
	problem error
}

func (w *world) newFollower(name string, process int, settings func(*follower)) *follower {
	f := &follower{w: w, name: name, process: process, changed: make(chan struct{}, 1)}
	if settings != nil {
		settings(f)
	}
	return f
}

// kindsOf returns the names that types of events have in the graph.
func kindsOf(types []string) []string {
	kinds := slices.Clone(types)
	for i, full := range kinds {
		short := strings.TrimSuffix(strings.TrimPrefix(full, "dev.atrium.api."), ".v1")
		kinds[i] = kindsOfGraph.Replace(strings.ToUpper(strings.ReplaceAll(short, ".", "_")))
	}
	return kinds
}

// kindsOfGraph spells types as the graph does, where kinds are in the singular.
var kindsOfGraph = strings.NewReplacer("PLATFORM_REGISTRY_", "REGISTRY_", "IAM_ROLES_", "IAM_ROLE_", "IAM_ROLEBINDINGS_", "IAM_ROLE_BINDING_")

// follow reads until ctx ends or the server refuses.
func (f *follower) follow(ctx context.Context) {
	for ; ctx.Err() == nil; pause(ctx, 100*time.Millisecond) {
		at := f.process
		if !f.fixed {
			at = (f.process + f.streams) % processes
		}
		f.streams++
		stream := f.readStream
		if f.websocket {
			stream = f.readSocket
		}
		after := ""
		if read := f.read(); len(read) > 0 {
			after = read[len(read)-1].ID
		}
		err := f.orDrop(stream(ctx, at, map[string]any{"query": feedQuery, "variables": map[string]any{"after": after, "kinds": kindsOf(f.types)}}))
		if ctx.Err() == nil && !errors.Is(err, errAway) {
			f.lock.Lock()
			f.problem = err
			f.lock.Unlock()
			return
		}
	}
}

// orDrop drops the last event if a server does not have it, so that the next stream begins
// after the one before.
func (f *follower) orDrop(err error) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	if !errors.Is(err, errUnstored) || len(f.events) == 0 {
		return err
	}
	last := len(f.events) - 1
	f.dropped = append(f.dropped, f.events[last])
	f.events = f.events[:last:last]
	return errAway
}

// read returns the events that were read.
func (f *follower) read() []event {
	f.lock.Lock()
	defer f.lock.Unlock()
	return slices.Clip(f.events)
}

// await waits until the event of the creation of a subject was read.
func (f *follower) await(subject string, within time.Duration) error {
	late := time.After(within)
	for {
		f.lock.Lock()
		found := slices.ContainsFunc(f.events[max(0, len(f.events)-100):], func(e event) bool { return e.Subject == subject })
		problem := f.problem
		f.lock.Unlock()
		switch {
		case found:
			return nil
		case problem != nil:
			return fmt.Errorf("%s: %w", f.name, problem)
		}
		select {
		case <-f.changed:
		case <-time.After(time.Second): // it may have been refused
		case <-late:
			return fmt.Errorf("%s has not read the last event within %s", f.name, within)
		}
	}
}

// take takes an answer to the subscription.
func (f *follower) take(content []byte) error {
	var answer struct {
		Data   struct{ Events *event }
		Errors json.RawMessage
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		return err
	}
	if answer.Errors != nil || answer.Data.Events == nil {
		err := classify("a stream of "+f.name, http.StatusOK, content, true)
		f.w.note(err)
		return err
	}
	f.lock.Lock()
	f.events = append(f.events, *answer.Data.Events)
	f.lock.Unlock()
	select {
	case f.changed <- struct{}{}:
	default:
	}
	return nil
}

var streaming = &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: time.Minute}}

// readStream reads server-sent events.
func (f *follower) readStream(ctx context.Context, at int, body any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.w.running[at].url+"/graphql", bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header = http.Header{"Authorization": {"Bearer " + f.w.owner}, "Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	answer, err := streaming.Do(request)
	if err != nil {
		return fmt.Errorf("%w: the connection failed", errAway)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		content, _ := io.ReadAll(answer.Body)
		return classify("a stream of "+f.name, answer.StatusCode, content, true)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if data, found := strings.CutPrefix(lines.Text(), "data:"); found && strings.TrimSpace(data) != "" {
			if err := f.take([]byte(data)); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%w: the stream ended", errAway)
}

// readSocket reads from a websocket, by the protocol graphql-transport-ws.
func (f *follower) readSocket(ctx context.Context, at int, body any) error {
	opening, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	socket, _, err := websocket.Dial(opening, f.w.running[at].url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}}) //nolint:bodyclose // the library has closed it
	if err != nil {
		return fmt.Errorf("%w: the connection failed", errAway)
	}
	defer func() { _ = socket.CloseNow() }()
	socket.SetReadLimit(1 << 20)
	send := func(kind string, payload any) error {
		return wsjson.Write(ctx, socket, map[string]any{"id": "1", "type": kind, "payload": payload})
	}
	if err := send("connection_init", map[string]any{"Authorization": "Bearer " + f.w.owner}); err != nil {
		return fmt.Errorf("%w: the connection was lost", errAway)
	}
	for {
		var frame struct {
			Type    string
			Payload json.RawMessage
		}
		if err := wsjson.Read(ctx, socket, &frame); err != nil {
			return fmt.Errorf("%w: the connection was lost", errAway)
		}
		switch frame.Type {
		case "connection_ack":
			_ = send("subscribe", body) // the next read fails if this does
		case "ping":
			_ = send("pong", nil)
		case "next":
			if err := f.take(frame.Payload); err != nil {
				return err
			}
		case "error":
			err := classify("a stream of "+f.name, http.StatusOK, frame.Payload, true)
			f.w.note(err)
			return err
		case "complete":
			return fmt.Errorf("%w: the stream ended", errAway)
		}
	}
}
