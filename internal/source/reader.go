package source

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/intake"
)

// Options configures a Reader. A duration of zero means the default.
type Options struct {
	// Client makes the requests. It must refuse private addresses, because outsiders choose the sources.
	Client    *http.Client
	UserAgent string
	Logger    *slog.Logger
	Folder    string // where what is fetched is kept until it is imported; "" means that of the system

	// Lease is how long a source belongs to this process after it has stopped. PollInterval is the longest time between two looks at the
	// queue, IdleTimeout that in which nothing comes of a source, and RunTimeout that of a run.
	Lease, PollInterval, IdleTimeout, RunTimeout time.Duration
	// MostBytes limits what is fetched of a URL. MostUnpacked is what it may unpack to, whatever its size. 0 means the default.
	MostBytes, MostUnpacked int64
}

const (
	lease        = 30 * time.Second
	pollInterval = 2 * time.Second
	idleTimeout  = 30 * time.Second
	runTimeout   = 4 * time.Hour
	mostBytes    = 4 << 30 // as of the input of a command

	// atOnce is how many sources of organizations a process reads at the same time, so that one that hangs does not hold up the others. As
	// many feeds of the operator are read beside them, because organizations choose how slow their sources are.
	atOnce = 2
	// renewals is how many times a lease is renewed before it would end.
	renewals = 5
	// databaseTimeout limits each call of the queue.
	databaseTimeout = 10 * time.Second
)

// A Reader reads sources. The Readers of several processes share the work.
type Reader struct {
	platform *platform.Platform
	queue    *intake.Queue
	options  Options

	lock    sync.Mutex
	running map[core.UID]bool // the organizations whose sources are being read
}

// NewReader returns a Reader of the sources of p.
func NewReader(p *platform.Platform, o Options) *Reader {
	o.UserAgent = cmp.Or(o.UserAgent, "atrium")
	o.Lease, o.PollInterval = cmp.Or(o.Lease, lease), cmp.Or(o.PollInterval, pollInterval)
	o.IdleTimeout, o.RunTimeout, o.MostBytes = cmp.Or(o.IdleTimeout, idleTimeout), cmp.Or(o.RunTimeout, runTimeout), cmp.Or(o.MostBytes, mostBytes)
	o.MostUnpacked = cmp.Or(o.MostUnpacked, mostUnpacked)
	return &Reader{platform: p, queue: p.Sources.Queue(o.Lease), options: o, running: map[core.UID]bool{}}
}

// Run reads sources until ctx ends. Then it interrupts those that it reads, which another process reads again.
func (r *Reader) Run(ctx context.Context) {
	ctx = core.InBackground(ctx)
	var both sync.WaitGroup
	both.Go(func() { r.serve(ctx, true) })
	both.Go(func() { r.serve(ctx, false) })
	both.Wait()
}

// serve reads sources of the operator or of organizations until ctx ends.
func (r *Reader) serve(ctx context.Context, ofOperator bool) {
	chore := core.Chore{Logger: r.options.Logger, Warning: "sources were not read; trying again"}
	var runs sync.WaitGroup
	defer runs.Wait()
	slots, ended := make(chan struct{}, atOnce), make(chan struct{}, 1)
	for ctx.Err() == nil {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		claim, next, err := r.claim(ctx, ofOperator)
		if chore.Note(ctx, err); claim != nil {
			runs.Go(func() {
				r.work(ctx, claim)
				<-slots
				select {
				case ended <- struct{}{}:
				default:
				}
			})
			continue
		}
		<-slots
		wait := r.options.PollInterval
		if next > 0 {
			wait = min(wait, next)
		}
		select {
		case <-ctx.Done():
		case <-ended:
		case <-time.After(wait):
		}
	}
}

// ReadNext reads a source that is due, one of the operator if there is one, and reports whether there was any.
func (r *Reader) ReadNext(ctx context.Context) (found bool, err error) {
	claim, _, err := r.claim(ctx, true)
	if claim == nil && err == nil {
		claim, _, err = r.claim(ctx, false)
	}
	if claim == nil || err != nil {
		return false, err
	}
	r.work(ctx, claim)
	return true, nil
}

// claim takes a source that is due. An organization has one slot, so that its sources do not take those of others.
func (r *Reader) claim(ctx context.Context, ofOperator bool) (*intake.Claim, time.Duration, error) {
	ctx, end := context.WithTimeout(ctx, databaseTimeout)
	defer end()
	claim, next, err := r.queue.Claim(ctx, intake.Share{OfOperator: ofOperator, Busy: r.listBusy()})
	if claim != nil {
		r.setBusy(claim.Ticket.Source, true)
	}
	return claim, next, err
}

// listBusy returns the organizations of which a source is being read.
func (r *Reader) listBusy() []core.UID {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Collect(maps.Keys(r.running))
}

func (r *Reader) setBusy(source core.UID, busy bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if busy {
		r.running[source.Root()] = true
	} else {
		delete(r.running, source.Root())
	}
}

// Why a run ends before the source is read.
var (
	errCancelled = errors.New("the run was canceled")
	errLost      = errors.New("another process may read the source")
	errTooLong   = errors.New("the run took too long")
)

// work reads a source while this process holds it, and records what came of it.
func (r *Reader) work(ctx context.Context, claim *intake.Claim) {
	defer r.setBusy(claim.Ticket.Source, false)
	reading, stop := context.WithCancelCause(ctx)
	limit := time.AfterFunc(r.options.RunTimeout, func() { stop(errTooLong) })
	var renewing sync.WaitGroup
	renewing.Go(func() { r.keep(reading, stop, claim.Ticket) })
	result := r.read(reading, claim)
	cause := context.Cause(reading)
	limit.Stop()
	stop(nil)
	renewing.Wait()

	recording, end := context.WithTimeout(context.WithoutCancel(ctx), databaseTimeout)
	defer end()
	var err error
	switch {
	case errors.Is(cause, errLost):
		return
	case ctx.Err() != nil && result.err != nil:
		err = r.queue.Release(recording, claim.Ticket)
	default:
		err = r.queue.End(recording, claim.Ticket, result.report(cause), result.marks)
	}
	if err != nil { // the lease ends, and the source is read again
		r.options.Logger.Warn("the run of a source has no result and is repeated", "source", claim.Ticket.Source, "error", err)
	}
}

// keep renews the lease of a source until ctx ends. It stops the run if somebody wants that, or if the lease may have ended.
func (r *Reader) keep(ctx context.Context, stop context.CancelCauseFunc, ticket intake.Ticket) {
	tick := time.NewTicker(r.options.Lease / renewals)
	defer tick.Stop()
	for renewed := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		begun := time.Now()
		asking, end := context.WithTimeout(ctx, r.options.Lease/renewals)
		valid, err := r.queue.Renew(asking, []intake.Ticket{ticket})
		end()
		switch {
		case err == nil && len(valid) == 0:
			stop(errLost)
		case err == nil && valid[0].IsCancelled:
			stop(errCancelled)
		case err == nil:
			renewed = begun
		case time.Since(renewed) > r.options.Lease*(renewals-2)/renewals:
			stop(errLost)
		}
	}
}
