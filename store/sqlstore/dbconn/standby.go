package dbconn

import (
	"context"
	"sync"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// A standby is a replica of the database that only answers reads. Who a caller is and
// what they hold is always read from the primary. In the same round trip, the primary
// reports its position, and the reads of the request then go to a standby that has reached
// that position. So no answer is older than the moment at which the primary decided who
// the caller is: a standby has every write that was acknowledged before the request,
// whichever process wrote it.

// Standbys answer reads in place of the primary.
type Standbys interface {
	// AskPosition returns a statement by which the primary sets at to its position.
	AskPosition(at *Position) *Statement

	// Run reads from a standby that has reached a position. done is false if none could
	// answer; then the statements that are not Done must run on the primary.
	Run(ctx context.Context, at Position, statements ...*Statement) (done bool, err error)

	// States describes the standbys. Fallbacks counts, by reason, the round trips that had
	// to run on the primary.
	States() []StandbyState
	Fallbacks() map[string]int64
	// Close ends every connection.
	Close()
}

// A Position is a place in the log of changes of the primary. It follows all changes that
// were acknowledged before the primary reported it.
type Position struct {
	History string // the cluster and its timeline; positions of different histories are not comparable. "" means that no standby can have the position
	Offset  int64
}

// StandbyState describes a standby.
type StandbyState struct {
	Name      string  // host and port
	Available bool    // whether it may answer reads
	Lag       float64 // seconds for which it has not reached a position that a request needed; 0 if it has
	Reads     int64   // round trips that it has answered
}

// A reading is the state of one request that only reads.
type reading struct {
	asking sync.Mutex // held while the request asks for its first position

	lock sync.Mutex
	at   Position
	// known means that at is the position that standbys must have reached; written means
	// that the request has written all the same, so standbys answer nothing more.
	known, written bool
}

type readingKey struct{}

// AllowStandby returns a context for a request that changes nothing. Standbys may answer
// its reads.
func (d *Database) AllowStandby(ctx context.Context) context.Context {
	if d.Standbys() == nil {
		return ctx
	}
	return context.WithValue(ctx, readingKey{}, &reading{})
}

// readingOf returns the state of a request that only reads, or nil.
func readingOf(ctx context.Context) *reading {
	r, _ := ctx.Value(readingKey{}).(*reading)
	return r
}

// position returns the position that standbys must have reached.
func (r *reading) position() (at Position, known, written bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.at, r.known, r.written
}

// advance sets the position that standbys must have reached from now on.
func (r *reading) advance(at Position) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.at, r.known = at, true
}

// NoteWrite records that a request writes.
func NoteWrite(ctx context.Context) {
	if r := readingOf(ctx); r != nil {
		r.lock.Lock()
		defer r.lock.Unlock()
		r.written = true
	}
}

// A standbyReader sends statements to a standby, or to the primary if the request does not
// allow a standby or none can answer.
type standbyReader struct {
	primary   Conn
	standbys  Standbys
	observers observers
	slots     backgroundSlots
}

func newStandbyReader(d *Database, primary Conn) Conn {
	if d.Standbys() == nil {
		return primary
	}
	return &standbyReader{primary, d.Standbys(), d.observers, d.slots}
}

// Run runs statements.
func (r *standbyReader) Run(ctx context.Context, statements ...*Statement) error {
	request := readingOf(ctx)
	if request == nil || core.IsBackground(ctx) {
		return r.primary.Run(ctx, statements...)
	}
	at, err := r.askPosition(ctx, request)
	if err != nil {
		return err
	}
	if at.History != "" {
		if done, err := r.readStandby(ctx, at, statements); done {
			return err
		}
	}
	return r.primary.Run(ctx, listUndone(statements)...)
}

// readStandby runs statements on a standby, when it is the turn of the request. done is false if none could answer.
func (r *standbyReader) readStandby(ctx context.Context, at Position, statements []*Statement) (done bool, err error) {
	end, err := r.slots.await(ctx)
	if err != nil {
		return true, err
	}
	defer end()
	start := time.Now()
	if done, err = r.standbys.Run(ctx, at, statements...); done {
		r.observers.report(ctx, statements, start, err)
	}
	return done, err
}

// isNew reports whether the request has neither a position nor written.
func (r *reading) isNew() bool {
	_, known, written := r.position()
	return !known && !written
}

// askPosition returns the position that standbys must have reached, or none if the request
// has written. The first call of a request asks the primary for it, together with the
// proof of who the caller is.
func (r *standbyReader) askPosition(ctx context.Context, request *reading) (Position, error) {
	request.asking.Lock()
	defer request.asking.Unlock()
	if request.isNew() {
		if err := r.primary.Run(ctx); err != nil {
			return Position{}, err
		}
	}
	at, _, written := request.position()
	if written {
		return Position{}, nil
	}
	return at, iam.PresumptionOf(ctx).Err()
}

// positioned adds, to the statements of a request that only reads, the one that asks the
// primary for its position. What a standby answers later is then not older than what the
// primary answers now.
type positioned struct {
	next     Conn
	standbys Standbys
}

func newPositioned(d *Database, next Conn) Conn {
	if d.Standbys() == nil {
		return next
	}
	return &positioned{next, d.Standbys()}
}

// Run runs statements.
func (p *positioned) Run(ctx context.Context, statements ...*Statement) error {
	request := readingOf(ctx)
	if request == nil || core.IsBackground(ctx) {
		return p.next.Run(ctx, statements...)
	}
	at := new(Position)
	ask := p.standbys.AskPosition(at)
	err := p.next.Run(ctx, append(append(make([]*Statement, 0, len(statements)+1), statements...), ask)...)
	if ask.Done {
		request.advance(*at)
	}
	return err
}

func listUndone(statements []*Statement) (undone []*Statement) {
	for _, s := range statements {
		if !s.Done {
			undone = append(undone, s)
		}
	}
	return undone
}
