package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// recoveryTimeout limits how long a fault may prevent every process from acknowledging writes.
const recoveryTimeout = time.Minute

// A cluster is the servers of PostgreSQL and the pooler. The scripts that start them tell
// where they are.
type cluster struct {
	folder   string   // of the data of the servers
	pgctl    []string // command that controls a server
	standbys []string // URLs
	paused   map[int]bool

	pooler        string   // address; "" if there is none
	poolerCommand []string // command that starts the pooler
	poolerProcess *os.Process
}

func newCluster(standbys []string) *cluster {
	c := &cluster{folder: os.Getenv("ATRIUM_TEST_CLUSTERS"), pgctl: strings.Fields(os.Getenv("ATRIUM_TEST_PG_CTL")), standbys: standbys, paused: map[int]bool{}}
	c.pooler, c.poolerCommand = os.Getenv("ATRIUM_TEST_POOLER"), strings.Fields(os.Getenv("ATRIUM_TEST_POOLER_COMMAND"))
	if pid, err := strconv.Atoi(os.Getenv("ATRIUM_TEST_POOLER_PID")); err == nil {
		c.poolerProcess, _ = os.FindProcess(pid) // never fails on Unix
	}
	return c
}

// control runs pg_ctl for a server: primary, standby1, and so on.
func (c *cluster) control(ctx context.Context, server, action string, more ...string) error {
	arguments := append(append(c.pgctl[1:len(c.pgctl):len(c.pgctl)], action, "--pgdata="+filepath.Join(c.folder, server), "--wait", "--timeout=60"), more...)
	command := exec.CommandContext(ctx, c.pgctl[0], arguments...)
	command.Dir = c.folder
	log, err := os.OpenFile(filepath.Join(c.folder, "control.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command.Stdout, command.Stderr = log, log // a pipe would stay open in the server
	if err := command.Run(); err != nil {
		return fmt.Errorf("pg_ctl %s %s: %w", action, server, err)
	}
	return nil
}

// killPooler kills the pooler like kill -9, and waits until it is gone.
func (c *cluster) killPooler() error {
	if err := c.poolerProcess.Kill(); err != nil {
		return err
	}
	_, _ = c.poolerProcess.Wait() // fails for the first one, which is a child of the script
	for end := time.Now().Add(recoveryTimeout); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		conn, refused := net.Dial("tcp", c.pooler)
		if refused != nil {
			return nil //nolint:nilerr // it is gone
		}
		_ = conn.Close()
	}
	return errors.New("the pooler was killed and still answers")
}

func (c *cluster) startPooler() error {
	command := exec.Command(c.poolerCommand[0], c.poolerCommand[1:]...)
	if err := command.Start(); err != nil {
		return err
	}
	c.poolerProcess = command.Process
	return nil
}

// A fault is one kind of fault.
type fault struct {
	name    string
	inflict func(ctx context.Context) error
}

// listFaults lists the kinds of faults. The process that is spared lives throughout, so that its
// memory can be compared.
func (s *soak) listFaults() []fault {
	c := s.cluster
	all := []fault{
		{"a process is killed", func(ctx context.Context) error {
			n := (s.spared + 1 + s.random.IntN(processes-1)) % processes
			s.kill(n)
			if err := s.awaitWrites(ctx, s.random.IntN(20), s.spared); err != nil { // the others serve meanwhile
				return err
			}
			return s.start(ctx, n)
		}},
		{"PostgreSQL restarts", func(ctx context.Context) error { return c.control(ctx, "primary", "restart", "--mode=fast") }},
		{"PostgreSQL crashes", func(ctx context.Context) error { return c.control(ctx, "primary", "restart", "--mode=immediate") }},
		{"a standby crashes", func(ctx context.Context) error {
			n := s.random.IntN(len(c.standbys))
			delete(c.paused, n)
			return c.control(ctx, fmt.Sprintf("standby%d", n+1), "restart", "--mode=immediate")
		}},
		{"replay is paused", func(context.Context) error {
			n := s.random.IntN(len(c.standbys))
			c.paused[n] = true
			return execute(c.standbys[n], "SELECT pg_wal_replay_pause()")
		}},
	}
	if c.pooler == "" {
		return all
	}
	return append(all, fault{"the pooler restarts", func(ctx context.Context) error {
		if err := c.killPooler(); err != nil {
			return err
		}
		if err := s.awaitWrites(ctx, s.random.IntN(20), s.direct()); err != nil {
			return err
		}
		return c.startPooler()
	}})
}

// resume resumes the replay of the standbys that are paused.
func (c *cluster) resume() error {
	var faults []error
	for n := range c.paused {
		faults = append(faults, execute(c.standbys[n], "SELECT pg_wal_replay_resume()"))
		delete(c.paused, n)
	}
	return errors.Join(faults...)
}

// inflictFaults inflicts faults at random until the load has run for a time, and each kind at
// least once. Between them, a random number of writes is acknowledged.
func (s *soak) inflictFaults(ctx context.Context, until time.Time) error {
	kinds := s.listFaults()
	for first := true; first || time.Now().Before(until); first = false {
		for _, n := range s.random.Perm(len(kinds)) { // each kind in turn, in another order each time
			if err := s.awaitWrites(ctx, 10+s.random.IntN(50), s.spared); err != nil {
				return err
			}
			if len(s.cluster.paused) > 0 && s.random.IntN(2) == 0 {
				if err := s.cluster.resume(); err != nil {
					return err
				}
			}
			if err := s.inflict(ctx, kinds[n]); err != nil {
				return fmt.Errorf("%s: %w", kinds[n].name, err)
			}
		}
	}
	return s.cluster.resume()
}

// inflict inflicts one fault, and waits until every process acknowledges writes again.
func (s *soak) inflict(ctx context.Context, f fault) error {
	if err := f.inflict(ctx); err != nil {
		return err
	}
	began := time.Now()
	for n := range processes {
		if err := s.awaitWrites(ctx, 1, n); err != nil {
			return err
		}
	}
	took := time.Since(began)
	s.inflicted[f.name]++
	s.recovery[f.name] = max(s.recovery[f.name], took)
	fmt.Printf("%6.1f s  %-24s writes by every process again after %.2f s\n", time.Since(s.began).Seconds(), f.name, took.Seconds())
	return nil
}

// awaitWrites waits until a process has acknowledged n more writes.
func (s *soak) awaitWrites(ctx context.Context, n, process int) error {
	upTo := s.ledger.counts()[process] + n
	for end := time.Now().Add(recoveryTimeout); s.ledger.counts()[process] < upTo; pause(ctx, 5*time.Millisecond) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(end):
			return fmt.Errorf("process %d has not acknowledged %d writes within %s", process, n, recoveryTimeout)
		}
	}
	return nil
}

// maxPromotionTime is the time after a promotion within which every process must acknowledge
// writes again.
const maxPromotionTime = 5 * time.Second

const aPromotion = "a promotion"

// promote kills the primary, and waits for its successor.
func (s *soak) promote(ctx context.Context) error {
	for _, word := range strings.Fields(os.Getenv("ATRIUM_TEST_PRIMARY_PID")) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return err
		}
	}
	if os.Getenv("ATRIUM_TEST_FAILOVER") == "" { // nobody else promotes the standby
		if err := s.cluster.control(ctx, "standby1", "promote"); err != nil {
			return err
		}
	}
	if err := awaitWritable(ctx, os.Getenv("ATRIUM_TEST_STANDBY")); err != nil {
		return err
	}
	promoted := time.Now()
	for n := range processes {
		if err := s.awaitWrites(ctx, 1, n); err != nil {
			return err
		}
	}
	took := time.Since(promoted)
	s.inflicted[aPromotion]++
	s.recovery[aPromotion] = took
	fmt.Printf("%6.1f s  %-24s writes by every process again after %.2f s\n", time.Since(s.began).Seconds(), aPromotion, took.Seconds())
	if took > maxPromotionTime {
		return fmt.Errorf("writes were acknowledged again %s after the promotion, want %s at most", took, maxPromotionTime)
	}
	return nil
}

// awaitWritable waits until one of the hosts of a URL accepts writes.
func awaitWritable(ctx context.Context, url string) error {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end) && ctx.Err() == nil; pause(ctx, 10*time.Millisecond) {
		within, cancel := context.WithTimeout(ctx, 2*time.Second)
		conn, err := pgx.Connect(within, url+"&target_session_attrs=read-write")
		if err == nil {
			_ = conn.Close(within)
		}
		cancel()
		if err == nil {
			return nil
		}
	}
	return errors.New("no standby was promoted within two minutes")
}

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }
