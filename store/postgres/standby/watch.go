package standby

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"atrium/store/pgpool"
	"atrium/store/sqlstore/dbconn"
)

// Each standby has a watcher, which polls what the server has replayed.
const (
	busyPoll     = time.Millisecond       // pause between two polls while requests wait
	behindPoll   = 10 * time.Millisecond  // pause while the server has not replayed what a request needed
	idlePoll     = 250 * time.Millisecond // pause otherwise
	pollTimeout  = time.Second            // a server that takes longer to answer is left out
	reopenPause  = 500 * time.Millisecond // pause before a server that did not answer is tried again
	clusterPause = time.Second            // pause before the primary is asked again which cluster it belongs to
	logLagAfter  = time.Second            // a shorter lag is not logged
)

// The keys of the states of a standby. Each change of the key is logged.
const (
	stateStarting  = "starting"
	stateAvailable = "available"
)

// watch watches the server until ctx ends.
func (s *standby) watch(ctx context.Context) {
	for {
		err := s.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		s.leaveOut(err)
		if !pgpool.Sleep(ctx, reopenPause) {
			return
		}
	}
}

// follow polls what the server has replayed, until the server does not answer. It uses a
// separate connection, so that it does not wait for reads.
func (s *standby) follow(ctx context.Context) error {
	pool, err := s.open(ctx)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, pgpool.ConnectTimeout)
	conn, err := pgx.ConnectConfig(within, pool.Config().ConnConfig.Copy())
	cancel()
	if err != nil {
		return err
	}
	defer pgpool.CloseConn(ctx, conn)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.poll:
		case <-timer.C:
		}
		found, err := askServer(ctx, conn)
		if err != nil {
			return err
		}
		timer.Reset(s.notePoll(found))
	}
}

// open returns the pool of the server. It opens the pool when it is first called.
func (s *standby) open(ctx context.Context) (*pgpool.Pool, error) {
	if s.pool != nil { // only the watcher sets it
		return s.pool, nil
	}
	pool, err := pgpool.Open(ctx, s.url, s.options)
	if err != nil {
		return nil, err
	}
	s.set.lock.Lock()
	defer s.set.lock.Unlock()
	s.pool = pool
	return pool, nil
}

// askServer asks the server what it has replayed.
func askServer(ctx context.Context, conn *pgx.Conn) (at dbconn.Position, err error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	err = conn.QueryRow(ctx, askReplayed).Scan(&at.History, &at.Offset)
	return at, err
}

// notePoll records what the server has replayed, and returns the pause before the next
// poll.
func (s *standby) notePoll(found dbconn.Position) time.Duration {
	s.set.lock.Lock()
	defer s.set.lock.Unlock()
	if s.problem != "" {
		s.problem = ""
		s.alive, s.kill = context.WithCancel(context.Background())
	}
	s.advance(found)
	s.logChange()
	switch {
	case s.set.waiting > 0:
		return busyPoll
	case !s.targetAt.IsZero():
		return behindPoll
	default:
		return idlePoll
	}
}

// leaveOut records that the server does not answer, and cancels reads that wait for it.
func (s *standby) leaveOut(err error) {
	s.set.lock.Lock()
	defer s.set.lock.Unlock()
	if s.pool != nil {
		s.pool.Reset()
	}
	s.problem = err.Error()
	if config, malformed := pgpool.Parse(s.url); malformed == nil {
		s.problem = strings.ReplaceAll(s.set.driver.Explain(&config.Config, err).Error(), "--database-url", "--read-database-url")
	}
	s.kill()
	s.at, s.targetAt, s.lags = dbconn.Position{}, time.Time{}, false
	s.logChange()
}

// describe returns the key of the state of the standby, and why it is left out, or "".
func (s *standby) describe() (key, problem string) {
	cluster, timeline := cutHistory(s.at.History)
	wantedCluster, wantedTimeline := cutHistory(s.set.reported.History)
	switch {
	case s.problem != "":
		return "away", s.problem
	case s.at.History == "":
		return "promoted", "it is not in recovery: it was promoted, or never was a standby"
	case s.set.reported.History == "":
		return stateAvailable, ""
	case cluster != wantedCluster:
		return "foreign", "it is a copy of another database cluster than the primary"
	case timeline != wantedTimeline:
		return "timeline " + timeline + wantedTimeline, fmt.Sprintf("it is known to have replayed timeline %s, and the primary is on timeline %s; "+
			"a standby that follows a promoted server shows its timeline at its next restart point, or at once if the user is a member of pg_read_all_stats", timeline, wantedTimeline)
	case s.lags && time.Since(s.lagSince) >= logLagAfter:
		return "lag", fmt.Sprintf("it is more than %s behind the primary", maxStandbyWait)
	default:
		return stateAvailable, ""
	}
}

// logChange logs the state of the standby if it has changed.
func (s *standby) logChange() {
	switch {
	case !s.lags:
		s.lagSince = time.Time{}
	case s.lagSince.IsZero():
		s.lagSince = time.Now()
	}
	key, problem := s.describe()
	if key == s.logged {
		return
	}
	s.logged = key
	if problem == "" {
		s.set.logger.Info("a standby answers reads", "standby", s.name)
		return
	}
	s.set.logger.Log(context.Background(), slog.LevelWarn, "a standby is left out: the others or the primary answer its reads", "standby", s.name, "reason", problem)
}
