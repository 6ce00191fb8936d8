package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// watchedEvents is the number of events that each websocket receives.
const watchedEvents = 30

// watched is the subscription of each websocket. It begins after an event, so that it misses none
// of the later ones while it is opened.
const watched = `subscription { events(after: %q) { id type resource { id } } }`

// measureWatchers subscribes over websockets of some callers, creates repos one after the other, and prints what
// each delivery of an event costs, and how long after the answer of the write it arrives.
func (l *load) measureWatchers(ctx context.Context, t *table, callers int) error {
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	newest, err := l.newestEvent(ctx)
	if err != nil {
		return err
	}
	arrived := make(chan error, l.o.Sockets) // one element for each event on each websocket
	for i := range l.o.Sockets {
		token, err := l.server.Mint(person(i % callers))
		if err != nil {
			return err
		}
		conn, err := l.watch(ctx, token, fmt.Sprintf(watched, newest))
		if err != nil {
			return err
		}
		reading.Go(func() {
			defer func() { _ = conn.CloseNow() }()
			for err := error(nil); err == nil; {
				err = readEvent(ctx, conn)
				select {
				case arrived <- err:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	var before usage
	took := make([]time.Duration, 0, watchedEvents*l.o.Sockets)
	for i := range 1 + watchedEvents {
		if i == 1 { // the first event opens what the others use
			took = took[:0]
			if before, err = l.usage(ctx); err != nil {
				return err
			}
		}
		if err := l.createRepo(ctx); err != nil {
			return err
		}
		created := time.Now()
		for range l.o.Sockets {
			select {
			case err := <-arrived:
				if err != nil {
					return fmt.Errorf("a websocket ended: %w", err)
				}
				took = append(took, time.Since(created))
			case <-time.After(deliveryWait):
				return errors.New("an event did not arrive on all websockets")
			}
		}
	}
	after, err := l.usage(ctx)
	if err != nil {
		return err
	}
	t.printLine(fmt.Sprintf("%d websockets, callers: %d", l.o.Sockets, callers), 0, (after.cpu-before.cpu)/float64(len(took)), took, after)
	return nil
}

// newestEvent returns the id of the newest event.
func (l *load) newestEvent(ctx context.Context) (string, error) {
	body, err := l.post(ctx, "/graphql", `{"query":"{ auditLog(first: 1) { nodes { id } } }"}`)
	if err != nil {
		return "", err
	}
	var answer struct {
		Data struct {
			AuditLog struct{ Nodes []struct{ ID string } }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Data.AuditLog.Nodes) != 1 {
		return "", fmt.Errorf("the server has no newest event: %.300s", body)
	}
	return answer.Data.AuditLog.Nodes[0].ID, nil
}

// watch opens a websocket with a token, and subscribes.
func (l *load) watch(ctx context.Context, token, subscription string) (*websocket.Conn, error) {
	conn, _, err := websocket.Dial(ctx, strings.Replace(l.server.URL, "http", "ws", 1)+"/graphql", &websocket.DialOptions{ //nolint:bodyclose // the library has closed it
		Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
	})
	if err != nil {
		return nil, err
	}
	for _, sent := range []string{`{"type":"connection_init"}`, fmt.Sprintf(`{"id":"1","type":"subscribe","payload":{"query":%q}}`, subscription)} {
		if err := conn.Write(ctx, websocket.MessageText, []byte(sent)); err != nil {
			return nil, err
		}
	}
	_, _, err = conn.Read(ctx) // connection_ack
	return conn, err
}

// readEvent reads the next message of a websocket, which must have an event.
func readEvent(ctx context.Context, conn *websocket.Conn) error {
	_, data, err := conn.Read(ctx)
	if err != nil {
		return err
	}
	var received struct {
		Type    string
		Payload struct {
			Data   struct{ Events *struct{ ID string } }
			Errors json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &received); err != nil || received.Type != "next" || received.Payload.Errors != nil || received.Payload.Data.Events == nil {
		return fmt.Errorf("the server sent %.300s", data)
	}
	return nil
}
