package storetest

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// A Relay is a proxy between a client and PostgreSQL that can simulate lost
// connections and an unavailable or silent server.
type Relay struct {
	URL string // URL of the database, through the relay

	upstream string
	lock     sync.Mutex
	open     map[net.Conn]bool
	refused  int
	state    relayState
	losing   string // a text in the transaction whose COMMIT gets no answer; "" means that there is none
	trips    int    // how often a client has sent something after a whole answer
}

type relayState int

const (
	relaying relayState = iota
	refusing            // connections are closed as soon as they are accepted
	silent              // connections are accepted, and no data is forwarded
)

// NewRelay starts a Relay, which stops at the end of the test.
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

// Cut ends every connection. New connections work.
func (r *Relay) Cut() { r.become(relaying) }

// Refuse ends every connection and rejects new ones.
func (r *Relay) Refuse() { r.become(refusing) }

// Refused returns the number of connections that were refused so far.
func (r *Relay) Refused() int {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.refused
}

// Trips returns how often clients have waited for an answer so far.
func (r *Relay) Trips() int {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.trips
}

// Silence keeps connections open but forwards no data any more.
func (r *Relay) Silence() {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.state = silent
}

// LoseCommitOf passes on the COMMIT of the next transaction that sends a text, and ends its
// connection in place of the answer.
func (r *Relay) LoseCommitOf(text string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.losing = text
}

// Lead makes new connections lead to another server, as a load balancer does.
func (r *Relay) Lead(databaseURL string) error {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.upstream = u.Host
	return nil
}

// become sets the state and ends every connection.
func (r *Relay) become(s relayState) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.state = s
	for conn := range r.open {
		_ = conn.Close()
	}
	clear(r.open)
}

// keep registers a connection and returns the state of the relay.
func (r *Relay) keep(conn net.Conn) (s relayState) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.state == refusing {
		r.refused++
	} else {
		r.open[conn] = true
	}
	return r.state
}

// serve forwards data between a client and the server until one of them closes.
func (r *Relay) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	if r.keep(client) == refusing {
		return
	}
	r.lock.Lock()
	upstream := r.upstream
	r.lock.Unlock()
	server, err := net.Dial("tcp", upstream) //nolint:noctx // ends with the client
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	r.keep(server)
	var both sync.WaitGroup
	seen := &dialogue{relay: r, isAnswered: true}
	for _, way := range [][2]io.ReadWriteCloser{{clientConn{silencedConn{r, client}, seen}, server}, {serverConn{silencedConn{r, server}, seen}, client}} {
		both.Go(func() {
			defer func() { _ = way[0].Close() }()
			defer func() { _ = way[1].Close() }()
			_, _ = io.Copy(way[0], way[1])
		})
	}
	both.Wait()
}

// A dialogue is what was seen on one connection. The lock of the relay guards it.
type dialogue struct {
	relay      *Relay
	losesNext  bool   // whether the text of LoseCommitOf was sent, so that the next COMMIT gets no answer
	isAnswered bool   // whether the server has answered all that was sent, and waits
	ending     []byte // the last bytes of the server
}

// committedMessage is how PostgreSQL says that it has committed.
var committedMessage = []byte("C\x00\x00\x00\x0bCOMMIT\x00")

// readyMessage is how PostgreSQL ends an answer, before a byte that tells the state of the transaction.
// A long answer arrives in parts, while its client may still be sending.
var readyMessage = []byte("Z\x00\x00\x00\x05")

// note looks at what the client says before it is sent.
func (d *dialogue) note(said []byte) {
	d.relay.lock.Lock()
	defer d.relay.lock.Unlock()
	if d.isAnswered {
		d.relay.trips++
	}
	d.isAnswered = false
	text := d.relay.losing
	d.losesNext = text != "" && (d.losesNext || bytes.Contains(said, []byte(text)))
}

// lose looks at an answer, and reports whether it must be lost. Later answers arrive.
func (d *dialogue) lose(answer []byte) bool {
	d.relay.lock.Lock()
	defer d.relay.lock.Unlock()
	d.ending = append(d.ending, answer...)
	d.ending = d.ending[max(0, len(d.ending)-len(readyMessage)-1):]
	d.isAnswered = bytes.HasPrefix(d.ending, readyMessage)
	if !d.losesNext || !bytes.Contains(answer, committedMessage) {
		return false
	}
	d.relay.losing, d.losesNext = "", false
	return true
}

// A serverConn leads to the server.
type serverConn struct {
	silencedConn
	seen *dialogue
}

func (c serverConn) Write(b []byte) (int, error) {
	c.seen.note(b)
	return c.silencedConn.Write(b)
}

// A clientConn leads to the client. It fails in place of an answer that must be lost.
type clientConn struct {
	silencedConn
	seen *dialogue
}

func (c clientConn) Write(b []byte) (int, error) {
	if c.seen.lose(b) {
		return 0, net.ErrClosed
	}
	return c.silencedConn.Write(b)
}

// A silencedConn drops what is written to it while the relay is silent.
type silencedConn struct {
	relay *Relay
	net.Conn
}

func (c silencedConn) Write(b []byte) (int, error) {
	c.relay.lock.Lock()
	quiet := c.relay.state == silent
	c.relay.lock.Unlock()
	if quiet {
		return len(b), nil
	}
	return c.Conn.Write(b)
}
