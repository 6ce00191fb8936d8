// Package standby lets streaming standbys of PostgreSQL answer reads. It is used only if --read-database-url is given.
//
//	standby.go  Set, which chooses a standby that has replayed what a request needs
//	watch.go    asks each standby what it has replayed, and logs which ones are left out
package standby

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"atrium/store/pgpool"
	"atrium/store/sqlstore/dbconn"
)

// A request waits for a standby that has replayed the
// log up to the position that the primary reported, and each batch asks for the position
// of the server that answers it: a URL may lead to several servers, and a server may be
// replaced at any time.

// askPosition reads the position of the primary: the file of the log, whose name begins
// with the timeline, and the end of the log that is safe on disk, before which every
// acknowledged commit lies. With synchronous_commit = off, a commit is acknowledged before
// that. A request pays for this statement, so it must stay cheap.
const askPosition = `SELECT CASE WHEN pg_is_in_recovery() THEN ''
	WHEN current_setting('synchronous_commit') = 'off' THEN pg_walfile_name(pg_current_wal_insert_lsn()) || pg_current_wal_insert_lsn()::text
	ELSE pg_walfile_name(pg_current_wal_flush_lsn()) || pg_current_wal_flush_lsn()::text END`

// askCluster reads what distinguishes the cluster from others. It reads a file, so only a
// watcher asks for it.
const askCluster = "SELECT system_identifier::text FROM pg_control_system()"

// askReplayed reads the position that a standby has replayed. A server that is not in
// recovery has no history: it has been promoted. The timeline is the newest one that is
// known to be replayed or streamed. The control file has it after the next restart point
// of the standby; the receiver, which only members of pg_read_all_stats see, at once.
const askReplayed = `SELECT CASE WHEN pg_is_in_recovery() THEN s.system_identifier::text || ' ' ||
	lpad(upper(to_hex(GREATEST(c.timeline_id, r.min_recovery_end_timeline, w.received_tli))), 8, '0') ELSE '' END,
COALESCE((pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint, 0)
FROM pg_control_system() s, pg_control_checkpoint() c, pg_control_recovery() r, pg_stat_get_wal_receiver() w`

// maxStandbyWait limits how long a request waits for a standby that has not replayed its
// position. A standby that follows replays a commit in less than 5 ms, and reading from the
// primary instead takes less time than a longer wait.
const maxStandbyWait = 20 * time.Millisecond

// errStale fails a batch on a server that has not replayed the position of the request.
var errStale = errors.New("the server has not replayed the position of the request")

// A FinalError is an error after which the statements must not run on the primary, because some of their rows have been
// passed on.
type FinalError struct{ error }

// Unwrap returns the error.
func (e *FinalError) Unwrap() error { return e.error }

// MakeFinal wraps an error of a row in a FinalError, unless it says that the server has not replayed a position.
func MakeFinal(err error) error {
	if err == nil || errors.Is(err, errStale) {
		return err
	}
	return &FinalError{err}
}

// A Driver runs statements on a server, as the engine does on the primary.
type Driver interface {
	// Read runs statements, for a limited time; 0 means no limit. It passes on no row of a statement before that has
	// ended, or else an error is a FinalError.
	Read(ctx context.Context, pool *pgpool.Pool, limit time.Duration, statements []*dbconn.Statement) error

	// ResponseTimeout returns the limit that follows from a URL.
	ResponseTimeout(config *pgx.ConnConfig) time.Duration

	// IsConflict reports whether a change has cancelled what was read.
	IsConflict(err error) bool

	// Explain explains why a connection could not be made.
	Explain(config *pgconn.Config, err error) error
}

// Options are the standbys and how they are read.
type Options struct {
	URLs        []string
	Driver      Driver
	Logger      *slog.Logger
	Pool        pgpool.Options                // of the connections to each server
	Credentials map[string]pgpool.Credentials // asked for each new connection, by the URL
}

// A reason says why the primary had to answer a read.
type reason string

// The reasons.
const (
	reasonUnavailable reason = "unavailable" // no standby answers and has the history of the primary
	reasonLag         reason = "lag"         // no standby replayed the position in time
	reasonReplaced    reason = "replaced"    // another server answered, which has not replayed the position
	reasonConflict    reason = "conflict"    // the replay of a change has cancelled the read
	reasonConnection  reason = "connection"  // the connection was lost
	reasonError       reason = "error"       // the standby returned another error
)

// A Set has the standbys of a primary.
type Set struct {
	driver Driver
	logger *slog.Logger
	stop   context.CancelFunc
	end    sync.WaitGroup // the watchers

	lock       sync.Mutex
	all        []*standby
	next       int             // index of the standby that the next read tries first
	cluster    string          // the cluster of the primary
	reported   dbconn.Position // the newest position that the primary reported
	reportedAt time.Time
	waiting    int           // number of requests that wait for a position
	moved      chan struct{} // closed when a standby has advanced while requests wait
	fallbacks  map[reason]int64
}

// Open returns the standbys of the URLs in options. They need not answer yet, but
// the primary must report its position.
func Open(ctx context.Context, primary dbconn.Conn, o Options) (*Set, error) {
	s := &Set{driver: o.Driver, logger: o.Logger, moved: make(chan struct{}), fallbacks: map[reason]int64{}}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	for _, url := range o.URLs {
		one, err := newStandby(s, url, o)
		if err != nil {
			return nil, err
		}
		s.all = append(s.all, one)
	}
	err := s.identify(ctx, primary)
	if err == nil {
		err = primary.Run(ctx, s.AskPosition(new(dbconn.Position)))
	}
	if err != nil {
		return nil, fmt.Errorf("the primary does not report its position, which --read-database-url needs: %w", err)
	}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	for _, one := range s.all {
		s.end.Go(func() { one.watch(watching) })
	}
	s.end.Go(func() {
		for pgpool.Sleep(watching, clusterPause) {
			_ = s.identify(watching, primary) // requests notice that it does not answer
		}
	})
	return s, nil
}

// identify reads which cluster the primary belongs to. The cluster changes only if the
// URL of the primary leads to a database that was restored elsewhere.
func (s *Set) identify(ctx context.Context, primary dbconn.Conn) error {
	cluster := ""
	err := primary.Run(ctx, &dbconn.Statement{SQL: askCluster, Row: func(scan func(...any) error) error { return scan(&cluster) }})
	if err == nil {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.cluster = cluster
	}
	return err
}

// AskPosition returns a statement by which the primary sets at to its position. It is the last,
// so that the position is not older than what the others read.
func (s *Set) AskPosition(at *dbconn.Position) *dbconn.Statement {
	return &dbconn.Statement{SQL: askPosition, Plan: dbconn.PlanBySession, Place: dbconn.Last, Row: func(scan func(...any) error) error {
		var answer string
		if err := scan(&answer); err != nil {
			return err
		}
		if answer == "" { // the server is in recovery
			*at = dbconn.Position{}
			return nil
		}
		timeline, offset, err := parsePosition(answer)
		if err != nil {
			return err
		}
		*at = s.noteReported(timeline, offset)
		return nil
	}}
}

// The lengths of the name of a file of the log, and of the timeline at its start.
const (
	fileNameLength = 24
	timelineLength = 8
)

// parsePosition parses an answer to askPosition, such as 00000001000000000000000F0/F01A2B8.
func parsePosition(answer string) (timeline string, offset int64, err error) {
	high, low, found := "", "", false
	if len(answer) > fileNameLength {
		high, low, found = strings.Cut(answer[fileNameLength:], "/")
	}
	upper, failed := strconv.ParseUint(high, 16, 32)
	lower, err := strconv.ParseUint(low, 16, 32)
	if !found || failed != nil || err != nil {
		return "", 0, fmt.Errorf("the primary reports %q, which is not a position in a log", answer)
	}
	return answer[:timelineLength], int64(upper<<32 | lower), nil //nolint:gosec // a log does not get that long
}

// noteReported returns the position that the primary reported, with its history. It keeps the
// newest one, which watchers compare with those of standbys.
func (s *Set) noteReported(timeline string, offset int64) dbconn.Position {
	s.lock.Lock()
	defer s.lock.Unlock()
	at := dbconn.Position{History: s.cluster + " " + timeline, Offset: offset}
	if at.History != s.reported.History || at.Offset > s.reported.Offset {
		s.reported, s.reportedAt = at, time.Now()
	}
	return at
}

// Run reads from a standby that has replayed a position.
func (s *Set) Run(ctx context.Context, at dbconn.Position, statements ...*dbconn.Statement) (done bool, err error) {
	one, why := s.choose(ctx, at)
	if one != nil {
		err = one.run(ctx, at, statements)
		if why = s.reasonOf(err); why == "" || ctx.Err() != nil {
			return true, unwrapFinal(err)
		}
		one.wake()
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.fallbacks[why]++
	return false, err
}

// reasonOf returns why the statements of a batch that failed with err must run on the
// primary, or "" if they must not.
func (s *Set) reasonOf(err error) reason {
	var final *FinalError
	var said *pgconn.PgError
	switch {
	case err == nil, errors.As(err, &final):
		return ""
	case errors.Is(err, errStale):
		return reasonReplaced
	case s.driver.IsConflict(err):
		return reasonConflict
	case errors.As(err, &said) && said.Code == "57014": // statement_timeout; the primary would not be faster
		return ""
	case errors.As(err, &said) && said.Code[:2] != "57":
		return reasonError
	default:
		return reasonConnection
	}
}

// unwrapFinal returns the cause of a FinalError, and other errors unchanged.
func unwrapFinal(err error) error {
	var final *FinalError
	if errors.As(err, &final) {
		return final.error
	}
	return err
}

// choose returns a standby that has replayed a position. If there is none, it waits for at
// most maxStandbyWait, and then returns the reason.
func (s *Set) choose(ctx context.Context, at dbconn.Position) (*standby, reason) {
	var late <-chan time.Time
	for {
		found, moved, why := s.pick(at, late == nil)
		if moved == nil {
			return found, why
		}
		if late == nil {
			timer := time.NewTimer(maxStandbyWait)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-moved:
			s.endWaiting()
		case <-late:
			s.endWaiting()
			s.noteLate(at)
			return nil, reasonLag
		case <-ctx.Done():
			s.endWaiting()
			return nil, reasonLag
		}
	}
}

// pick returns a standby that has replayed a position, or a channel that is closed when a
// standby has advanced, or the reason why none will replay the position soon.
func (s *Set) pick(at dbconn.Position, isFirst bool) (found *standby, moved <-chan struct{}, why reason) {
	s.lock.Lock()
	defer s.lock.Unlock()
	why = reasonUnavailable
	mayWait := false
	for i := range s.all {
		one := s.all[(s.next+i)%len(s.all)]
		switch {
		case one.problem != "" || one.at.History != at.History:
		case one.at.Offset >= at.Offset:
			s.next = (s.next + i + 1) % len(s.all)
			return one, nil, ""
		default:
			why = reasonLag
			mayWait = mayWait || !one.lags
			one.setTarget(at)
		}
	}
	if !mayWait {
		return nil, nil, why
	}
	s.waiting++
	if isFirst {
		for _, one := range s.all {
			one.wake()
		}
	}
	return nil, s.moved, why
}

func (s *Set) endWaiting() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.waiting--
}

// noteLate records that no standby has replayed a position in time. Requests do not wait
// for these standbys until they have caught up.
func (s *Set) noteLate(at dbconn.Position) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, one := range s.all {
		if one.at.History == at.History && one.at.Offset < at.Offset {
			one.setTarget(at)
			one.lags = true
		}
	}
}

// States describes the standbys.
func (s *Set) States() []dbconn.StandbyState {
	s.lock.Lock()
	defer s.lock.Unlock()
	all := make([]dbconn.StandbyState, len(s.all))
	for i, one := range s.all {
		key, _ := one.describe()
		all[i] = dbconn.StandbyState{Name: one.name, Available: key == stateAvailable, Reads: one.reads}
		if !one.targetAt.IsZero() {
			all[i].Lag = time.Since(one.targetAt).Seconds()
		}
	}
	return all
}

// Fallbacks counts the reads that the primary had to answer, by reason.
func (s *Set) Fallbacks() map[string]int64 {
	s.lock.Lock()
	defer s.lock.Unlock()
	all := make(map[string]int64, len(s.fallbacks))
	for why, n := range s.fallbacks {
		all[string(why)] = n
	}
	return all
}

// Close ends every connection.
func (s *Set) Close() {
	s.stop()
	s.end.Wait()
	for _, one := range s.all {
		if one.pool != nil {
			one.pool.Close()
		}
	}
}

// A standby is one server, or several that one URL leads to.
type standby struct {
	set     *Set
	name    string // host and port
	url     string
	options pgpool.Options
	limit   time.Duration // maximum time without a response; 0 means no limit
	poll    chan struct{} // holds one element if the watcher must look at once

	// The following fields are guarded by the lock of the set.
	pool     *pgpool.Pool       // nil until the server has answered
	alive    context.Context    //nolint:containedctx // ends when the server no longer answers; reads from it end then
	kill     context.CancelFunc // ends alive
	problem  string             // why the server does not answer; "" if it does
	at       dbconn.Position    // what the server has replayed
	target   int64              // the oldest offset that a request needed and that is not replayed
	targetAt time.Time          // when it was needed; zero if there is none
	lags     bool               // whether a request has waited in vain; false once it has caught up
	reads    int64
	logged   string    // the key of the state that was logged last
	lagSince time.Time // when the standby began to lag
}

func newStandby(set *Set, url string, o Options) (*standby, error) {
	config, err := pgpool.Parse(url)
	if err != nil {
		return nil, fmt.Errorf("--read-database-url: %w", err)
	}
	options := o.Pool
	options.Standby, options.Credentials, options.Limits = true, o.Credentials[url], maps.Clone(o.Pool.Limits)
	// A batch checks what the server has replayed, and then each statement must have a
	// snapshot of its own, which is younger.
	options.Limits["default_transaction_isolation"] = "read committed"
	one := &standby{
		set: set, name: net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))), url: url, poll: make(chan struct{}, 1),
		options: options,
		limit:   o.Driver.ResponseTimeout(config),
		problem: "it has not answered yet", logged: stateStarting,
	}
	one.alive, one.kill = context.WithCancel(context.Background())
	return one, nil
}

// run runs statements on the server, if it has replayed a position.
func (s *standby) run(ctx context.Context, at dbconn.Position, statements []*dbconn.Statement) error {
	s.set.lock.Lock()
	pool, alive := s.pool, s.alive
	s.set.lock.Unlock()
	var found dbconn.Position
	check := dbconn.Statement{SQL: askReplayed, Plan: dbconn.PlanBySession, Row: func(scan func(...any) error) error {
		if err := scan(&found.History, &found.Offset); err != nil {
			return err
		}
		if found.History != at.History || found.Offset < at.Offset {
			return errStale
		}
		return nil
	}}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(alive, cancel)()
	err := s.set.driver.Read(within, pool, s.limit, append(append(make([]*dbconn.Statement, 0, 1+len(statements)), &check), statements...))
	if found.History != "" {
		s.noteReplayed(found, err == nil)
	}
	return err
}

// noteReplayed records what a batch found. A URL can lead to servers of which some are
// ahead of others, so only the watcher sets an older position.
func (s *standby) noteReplayed(found dbconn.Position, counts bool) {
	s.set.lock.Lock()
	defer s.set.lock.Unlock()
	if counts {
		s.reads++
	}
	if found.History == s.at.History && found.Offset > s.at.Offset {
		s.advance(found)
	}
}

// wake makes the watcher look at once.
func (s *standby) wake() {
	select {
	case s.poll <- struct{}{}:
	default:
	}
}

// setTarget records that a request needs a position that is not replayed.
func (s *standby) setTarget(at dbconn.Position) {
	if s.targetAt.IsZero() {
		s.target, s.targetAt = at.Offset, time.Now()
	}
}

// advance sets what the server has replayed.
func (s *standby) advance(found dbconn.Position) {
	hasMoved := found != s.at
	s.at = found
	if reached := !s.targetAt.IsZero() && found.Offset >= s.target; reached {
		caughtUp := time.Since(s.targetAt) <= maxStandbyWait || found.Offset >= s.set.reported.Offset
		if caughtUp || found.History != s.set.reported.History {
			s.targetAt, s.lags = time.Time{}, false
		} else { // it lags, so its next target is the newest position
			s.target, s.targetAt = s.set.reported.Offset, s.set.reportedAt
		}
	}
	if hasMoved && s.set.waiting > 0 {
		close(s.set.moved)
		s.set.moved = make(chan struct{})
	}
}

// cutHistory splits a history into the cluster and the number of the timeline.
func cutHistory(history string) (cluster, timeline string) {
	cluster, hex, _ := strings.Cut(history, " ")
	n, _ := strconv.ParseInt(hex, 16, 64)
	return cluster, strconv.FormatInt(n, 10)
}
