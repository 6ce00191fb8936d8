// Package bench measures a server: how fast records are imported, how many requests it answers
// and what they cost, how many webhooks it delivers, and how much memory it uses. data.go has
// what it is measured with, load.go sends the requests.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"time"

	"atrium/platform"
)

// Options are the settings of a measurement.
type Options struct {
	Sizes                     // of the organization
	Connections int           // that send requests at the same time
	Duration    time.Duration // of each workload
	Sockets     int           // that receive the same events

	// Platform has the database, whose size in bytes Size returns.
	Platform *platform.Platform
	Size     func(context.Context) (int64, error)
	// Start starts a server on the database, which may deliver to a sink at host:port.
	Start func(ctx context.Context, sink string) (Server, error)
}

// A Server is the server that is measured.
type Server struct {
	URL, MetricsURL string
	// Mint returns a token of a subject at the development issuer.
	Mint func(subject string) (string, error)
}

// Run fills the database and measures, and prints tables as it goes. Without Start, it only fills the database.
func Run(ctx context.Context, o Options, out io.Writer) error {
	data, err := Fill(ctx, o.Platform, o.Sizes, o.Size)
	if err != nil {
		return err
	}
	t := table{out: out}
	t.print("%-28s %12s %8s %8s\n", "import", "rows", "rows/s", "bytes/row")
	for _, i := range data.Imports {
		t.print("%-28s %12d %8.0f %8d\n", i.Kind, i.Rows, float64(i.Rows)/i.Took.Seconds(), i.Size/int64(i.Rows))
	}
	if o.Start == nil {
		return t.err
	}
	receiver := &receiver{}
	sink := httptest.NewServer(receiver)
	defer sink.Close()
	server, err := o.Start(ctx, sink.Listener.Addr().String())
	if err != nil {
		return err
	}
	token, err := server.Mint(Owner)
	if err != nil {
		return err
	}
	l := newLoad(o, server, token, data)
	t.print("\n%-28s %12s %8s %8s %8s %10s\n", fmt.Sprintf("over %d connections", o.Connections), "requests/s", "CPU ms", "p50 ms", "p99 ms", "memory MB")
	idle, err := l.usage(ctx)
	if err != nil {
		return err
	}
	t.print("%-28s %12s %8s %8s %8s %10.0f\n", "idle", "", "", "", "", idle.memory/1e6)
	for _, w := range Workloads() {
		if err := l.measure(ctx, &t, w.Name, l.sender(w)); err != nil {
			return err
		}
	}
	for _, callers := range []int{1, o.People} {
		if err := l.measureWatchers(ctx, &t, callers); err != nil {
			return err
		}
	}
	return errors.Join(l.measureDeliveries(ctx, &t, sink.URL, receiver), t.err)
}

// A table prints lines until one cannot be printed.
type table struct {
	out io.Writer
	err error
}

func (t *table) print(format string, values ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.out, format, values...)
	}
}

// printLine prints what a request costs in seconds of CPU time, and how long requests took, which it sorts. 0 means that
// a rate is not known.
func (t *table) printLine(name string, rate, cpu float64, took []time.Duration, after usage) {
	slices.Sort(took)
	shown := ""
	if rate > 0 {
		shown = fmt.Sprintf("%.0f", rate)
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
	t.print("%-28s %12s %8.3f %8.1f %8.1f %10.0f\n", name, shown, cpu*1e3, ms(took[len(took)/2]), ms(took[len(took)*99/100]), after.memory/1e6)
}

// A receiver counts the deliveries of webhooks.
type receiver struct{ arrived atomic.Int64 }

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	_, _ = io.Copy(io.Discard, request.Body)
	r.arrived.Add(1)
	w.WriteHeader(http.StatusNoContent)
}
