package storetest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// A Relay stands between a client and its PostgreSQL, and can make that look
// lost, away or dead.
type Relay struct {
	URL string // of the database, through the relay

	upstream string
	lock     sync.Mutex
	open     map[net.Conn]bool
	state    relayState
}

type relayState int

const (
	relaying relayState = iota
	refusing            // connections end as soon as they are made
	silent              // they are made, and nothing ever comes
)

// NewRelay starts one for the time of a test.
func NewRelay(t testing.TB, databaseURL string) *Relay {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{upstream: u.Host, open: map[net.Conn]bool{}}
	u.Host = listener.Addr().String()
	r.URL = u.String()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go r.serve(conn)
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); r.Cut() })
	return r
}

// Cut ends every connection. New ones are made.
func (r *Relay) Cut() { r.become(relaying) }

// Refuse ends every connection, and new ones too.
func (r *Relay) Refuse() { r.become(refusing) }

// Silence lets nothing through any more, on connections that stay open.
func (r *Relay) Silence() {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.state = silent
}

func (r *Relay) become(s relayState) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.state = s
	for conn := range r.open {
		_ = conn.Close()
	}
	clear(r.open)
}

// keep reports whether the relay takes another connection.
func (r *Relay) keep(conn net.Conn) (s relayState) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.state != refusing {
		r.open[conn] = true
	}
	return r.state
}

func (r *Relay) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	if r.keep(client) == refusing {
		return
	}
	server, err := net.Dial("tcp", r.upstream) //nolint:noctx // ends with the client
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	r.keep(server)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			defer func() { _ = way[0].Close() }()
			defer func() { _ = way[1].Close() }()
			_, _ = io.Copy(heard{r, way[0]}, way[1])
		})
	}
	both.Wait()
}

// heard is a connection that nothing comes to while the relay is silent.
type heard struct {
	relay *Relay
	net.Conn
}

func (h heard) Write(b []byte) (int, error) {
	h.relay.lock.Lock()
	quiet := h.relay.state == silent
	h.relay.lock.Unlock()
	if quiet {
		return len(b), nil
	}
	return h.Conn.Write(b)
}
