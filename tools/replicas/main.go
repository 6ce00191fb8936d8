// This program proves that several Atrium processes on one database are consistent. It changes and reads the same data through
// all of them and in all protocols, injects faults, and judges every answer. The kinds of faults (-faults) are:
//
//	lag        the replay of standbys is paused at random, and the model checker porcupine judges the answers
//	restarts   also processes, servers of PostgreSQL and the pooler are killed or restarted, while feeds are followed,
//	           webhooks are delivered and files are imported: soak.go
//	promotion  the primary is killed, and a standby is promoted, with the same checks
//
//	scripts/with-standby --read 2 e2e/bin/replicas -program bin/atrium -seconds 20
//	scripts/with-standby --read 2 scripts/with-pgbouncer e2e/bin/replicas -program bin/atrium -faults restarts -seconds 600 -seed 7
//
// Three things must hold. No read misses a write that was acknowledged before it began, and what callers read beside no write
// is linearizable, so no own write is lost and nothing acknowledged goes back in time. What a caller may do is linearizable, so no
// revoked right has an effect. The pages of a list have each row exactly once that was there throughout. The exit status is 1 if
// one of them does not hold. It also prints whether all reads are linearizable, which they need not be: a standby can show a write
// before the primary has acknowledged it, and a read that falls back to the primary at this moment does not show it yet.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	processes = 3
	registers = 8  // repos whose description is changed and read
	stable    = 90 // repos that are there throughout
	pageSize  = 10
)

func main() {
	program := flag.String("program", "bin/atrium", "the program")
	faults := flag.String("faults", "lag", "the kinds of faults: lag, restarts or promotion")
	seconds := flag.Int("seconds", 20, "duration of the load")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()%1_000_000), "decides the order of restarts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	length := time.Duration(*seconds) * time.Second
	var err error
	switch *faults {
	case "lag":
		err = prove(ctx, *program, length)
	case "restarts":
		err = soakThroughRestarts(ctx, *program, length, *seed)
	case "promotion":
		err = soakThroughPromotion(ctx, *program)
	default:
		err = fmt.Errorf("-faults %s is unknown; use lag, restarts or promotion", *faults)
	}
	stop()
	if err != nil {
		fmt.Println("replicas:", err)
		os.Exit(1)
	}
}

// readStandbys returns the URLs of the primary and of its standbys.
func readStandbys() (primary string, standbys []string, err error) {
	primary, standbys = os.Getenv("ATRIUM_TEST_POSTGRES"), strings.Fields(os.Getenv("ATRIUM_TEST_STANDBYS"))
	if len(standbys) < 2 {
		return "", nil, fmt.Errorf("there are %d standbys: run the program as scripts/with-standby --read 2 %s", len(standbys), os.Args[0])
	}
	return primary, standbys, nil
}

const poolSize = "&pool_max_conns=8"

func prove(ctx context.Context, program string, length time.Duration) error {
	primary, standbys, err := readStandbys()
	if err != nil {
		return err
	}
	var flags [][]string
	for range processes {
		flags = append(flags, databaseFlags(primary, standbys))
	}
	s, err := startServers(ctx, program, primary+poolSize, flags)
	defer s.stop()
	if err != nil {
		return err
	}
	w, err := newWorld(ctx, s)
	if err != nil {
		return err
	}
	loading, end := context.WithTimeout(ctx, length)
	defer end()
	var load sync.WaitGroup
	for n := range 4 {
		load.Go(func() { w.changeRegisters(loading, n) })
		load.Go(func() { w.readRegisters(loading, n) })
	}
	load.Go(func() { w.changeRight(loading) })
	for n := range 2 {
		load.Go(func() { w.useRight(loading, n) })
		load.Go(func() { w.readPages(loading, n) })
	}
	load.Go(func() { w.churn(loading) })
	load.Go(func() { w.readCarelessly(loading, standbys[0]) })
	lag(loading, standbys)
	load.Wait()
	return w.judge(ctx)
}

// databaseFlags are the flags of a process that reads from standbys.
func databaseFlags(database string, standbys []string) []string {
	flags := []string{"--database-url", database + poolSize}
	for _, standby := range standbys {
		flags = append(flags, "--read-database-url", standby+poolSize)
	}
	return flags
}

// lag pauses and resumes the replay of the standbys at random until ctx ends.
func lag(ctx context.Context, standbys []string) {
	for ctx.Err() == nil {
		paused := standbys[:1+rand.IntN(len(standbys))]
		if rand.IntN(2) == 0 {
			paused = standbys[len(standbys)-1:]
		}
		for _, url := range paused {
			_ = execute(url, "SELECT pg_wal_replay_pause()")
		}
		pause(ctx, time.Duration(rand.IntN(700))*time.Millisecond)
		for _, url := range standbys {
			_ = execute(url, "SELECT pg_wal_replay_resume()")
		}
		pause(ctx, time.Duration(rand.IntN(1500))*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func execute(url, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	return err
}
