package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long a caller waits for an answer. An answer that comes later is of no
// use to anybody.
const patience = 2 * time.Second

// maxOutstanding limits the requests of one load that wait for an answer.
const maxOutstanding = 4000

// A load sends requests at random moments, which do not depend on the answers: the times
// between them have an exponential distribution.
type load struct {
	name     string
	address  string
	rate     float64       // requests a second
	requests [][]byte      // one of them is sent each time
	make     func() []byte // returns the next request, instead of one of requests
}

// An outcome is what became of the requests of a load.
type outcome struct {
	load
	length   time.Duration
	served   []time.Duration // the times of good answers, sorted
	late     []time.Duration // how late requests were sent, sorted
	refused  int             // answers 429 and 503 with Retry-After
	failures map[string]int  // anything else
	unsent   int             // requests for which maxOutstanding left no room
}

func (o *outcome) goodput() float64 { return float64(len(o.served)) / o.length.Seconds() }

// countFailed returns how many requests got no answer, or none that is good.
func (o *outcome) countFailed() int {
	failed := o.unsent
	for _, n := range o.failures {
		failed += n
	}
	return failed
}

// countSent returns how many requests the load had.
func (o *outcome) countSent() int { return len(o.served) + o.refused + o.countFailed() }

// percentile returns a percentile of sorted times, in milliseconds.
func percentile(times []time.Duration, percent float64) float64 {
	if len(times) == 0 {
		return 0
	}
	at := min(len(times)-1, int(float64(len(times))*percent/100))
	return float64(times[at].Microseconds()) / 1000
}

// A result is what became of one request.
type result struct {
	took    time.Duration
	late    time.Duration // how late it was sent
	refused bool
	failure string
}

// A pool keeps idle connections to the server.
type pool struct {
	address string
	lock    sync.Mutex
	idle    []*connection
}

type connection struct {
	net.Conn
	from   *bufio.Reader
	checks int
}

func (p *pool) take() (*connection, error) {
	p.lock.Lock()
	if last := len(p.idle) - 1; last >= 0 {
		c := p.idle[last]
		p.idle = p.idle[:last]
		p.lock.Unlock()
		return c, nil
	}
	p.lock.Unlock()
	conn, err := net.DialTimeout("tcp", p.address, patience)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, from: bufio.NewReader(conn)}, nil
}

func (p *pool) put(c *connection) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.idle = append(p.idle, c)
}

func (p *pool) close() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, c := range p.idle {
		_ = c.Close()
	}
	p.idle = nil
}

// send sends one request, which should have been sent at due.
func (p *pool) send(request []byte, due time.Time) result {
	c, err := p.take()
	if err != nil {
		return result{failure: "no connection"}
	}
	_ = c.SetDeadline(due.Add(patience))
	status, header, body, err := c.exchange(request)
	took := time.Since(due)
	if err != nil {
		_ = c.Close()
		var network net.Error
		if errors.As(err, &network) && network.Timeout() {
			return result{failure: "no answer within " + patience.String()}
		}
		return result{failure: err.Error()}
	}
	p.put(c)
	switch {
	case status == http.StatusOK && !bytes.Contains(body, []byte(`"errors"`)):
		return result{took: took}
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		if header.Get("Retry-After") == "" || body != nil && !bytes.Contains(body, []byte("RetryInfo")) && !bytes.Contains(body, []byte("retryDelay")) {
			return result{failure: fmt.Sprintf("a refusal without advice: %d %.300s", status, body)}
		}
		return result{took: took, refused: true}
	default:
		return result{failure: fmt.Sprintf("%d %.200s", status, body)}
	}
}

func (c *connection) exchange(request []byte) (status int, header http.Header, body []byte, err error) {
	if _, err = c.Write(request); err != nil {
		return 0, nil, nil, err
	}
	answer, err := http.ReadResponse(c.from, nil)
	if err != nil {
		return 0, nil, nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK { // the beginning shows whether there are errors
		start := make([]byte, 64)
		n, _ := io.ReadFull(answer.Body, start)
		_, err = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode, answer.Header, start[:n], err
	}
	if c.checks++; c.checks%64 != 1 { // one refusal in 64 is read in full
		_, err = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode, answer.Header, nil, err
	}
	body, err = io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, body, err
}

// run sends the load for a time.
func (l load) run(ctx context.Context, length time.Duration) *outcome {
	out := &outcome{load: l, length: length, failures: map[string]int{}}
	connections := &pool{address: l.address}
	defer connections.close()
	results := make(chan result, maxOutstanding)
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		for r := range results {
			out.late = append(out.late, r.late)
			switch {
			case r.failure != "":
				out.failures[r.failure]++
			case r.refused:
				out.refused++
			default:
				out.served = append(out.served, r.took)
			}
		}
	}()
	var outstanding sync.WaitGroup
	slots := make(chan struct{}, maxOutstanding)
	due := time.Now()
	end := due.Add(length)
	for {
		due = due.Add(time.Duration(rand.ExpFloat64() / l.rate * float64(time.Second)))
		if due.After(end) || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Until(due))
		select {
		case slots <- struct{}{}:
		default:
			out.unsent++
			continue
		}
		request, planned := l.next(), due
		outstanding.Go(func() {
			late := time.Since(planned)
			r := connections.send(request, planned)
			r.late = late
			results <- r
			<-slots
		})
	}
	outstanding.Wait()
	close(results)
	<-counted
	slices.Sort(out.served)
	slices.Sort(out.late)
	return out
}

func (l load) next() []byte {
	if l.make != nil {
		return l.make()
	}
	return l.requests[rand.IntN(len(l.requests))]
}

// saturate sends the requests one after the other over n connections, and returns how
// many were answered in a second.
func (l load) saturate(n int, length time.Duration) float64 {
	connections := &pool{address: l.address}
	defer connections.close()
	var all sync.WaitGroup
	var served atomic.Int64
	for end := time.Now().Add(length); n > 0; n-- {
		all.Go(func() {
			for time.Now().Before(end) {
				r := connections.send(l.next(), time.Now())
				if r.failure == "" && !r.refused {
					served.Add(1)
				}
			}
		})
	}
	all.Wait()
	return float64(served.Load()) / length.Seconds()
}

// encode returns the bytes of a request.
func encode(method, address, path, token, body string) []byte {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, address)
	if token != "" {
		fmt.Fprintf(&text, "Authorization: Bearer %s\r\n", token)
	}
	if body != "" {
		fmt.Fprintf(&text, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	text.WriteString("\r\n" + body)
	return []byte(text.String())
}
