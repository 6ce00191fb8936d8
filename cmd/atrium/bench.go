package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"atrium/internal/bench"
	"atrium/internal/server"
	"atrium/platform"
	"atrium/store"
)

// A benchCommand takes no database from ATRIUM_DATABASE_URL, because it fills the one that it is given.
type benchCommand struct {
	EmptyDatabaseURL string        `name:"empty-database-url" secret:"" placeholder:"URL" help:"Empty database to fill and to measure with. Default: a temporary SQLite file."`
	FillOnly         bool          `help:"Only fill the database, so that you can start a server on it."`
	Repos            int           `default:"1000" help:"Number of repos to create, each with an image of 12 packages."`
	Tags             int           `default:"12" help:"Number of tags in each repo."`
	People           int           `default:"60" help:"Number of identities to create, with different rights."`
	Connections      int           `default:"8" help:"Number of connections that send requests at the same time."`
	Sockets          int           `default:"200" help:"Number of websockets that receive the same events: first all of one identity, then of all identities."`
	Duration         time.Duration `default:"5s" help:"How long each workload runs."`
}

// The largest measurement. It takes some hours, most of them to find out what affects the images.
const (
	maxBenchRepos       = 100_000
	maxBenchTags        = 100
	maxBenchPeople      = 5000
	maxBenchConnections = 500
	maxBenchSockets     = 5000
	maxBenchDuration    = 5 * time.Minute
)

func (c *benchCommand) check(f *faults) {
	if c.EmptyDatabaseURL != "" && !isPostgres(c.EmptyDatabaseURL) && !strings.HasPrefix(c.EmptyDatabaseURL, "sqlite:") {
		f.add("empty-database-url", "must start with postgres:// or sqlite:")
	}
	if c.FillOnly && c.EmptyDatabaseURL == "" {
		f.add("fill-only", "needs --empty-database-url, because a temporary database would be deleted at once")
	}
	if c.Tags < 1 || c.Tags > maxBenchTags {
		f.add("tags", "must be from 1 to %d", maxBenchTags)
	}
	if c.People < 1 || c.People > maxBenchPeople {
		f.add("people", "must be from 1 to %d", maxBenchPeople)
	}
	if c.Repos < 50 || c.Repos > maxBenchRepos {
		f.add("repos", "must be from 50 to %d", maxBenchRepos)
	}
	if c.Connections < 1 || c.Connections > maxBenchConnections {
		f.add("connections", "must be from 1 to %d", maxBenchConnections)
	}
	if c.Sockets < 1 || c.Sockets > maxBenchSockets {
		f.add("sockets", "must be from 1 to %d", maxBenchSockets)
	}
	if c.Duration <= 0 || c.Duration > maxBenchDuration {
		f.add("duration", "must be above 0, and at most %s", maxBenchDuration)
	}
}

func (c *benchCommand) run(ctx context.Context, p program) error {
	url := c.EmptyDatabaseURL
	if url == "" {
		folder, err := os.MkdirTemp("", "atrium-bench-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(folder) }()
		url = "sqlite:" + filepath.Join(folder, "atrium.db")
	}
	if err := server.Migrate(ctx, url, "", nil); err != nil {
		return err
	}
	s, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	core, err := platform.New(ctx, s, platform.Options{})
	if err != nil {
		return err
	}
	measured := &benchServer{url: url, core: core, sockets: c.Sockets}
	defer measured.stop()
	start := measured.start
	if c.FillOnly {
		start = nil
	}
	return bench.Run(ctx, bench.Options{
		Sizes: bench.Sizes{Repos: c.Repos, Tags: c.Tags, People: c.People}, Connections: c.Connections, Sockets: c.Sockets, Duration: c.Duration,
		Platform: core, Size: s.Size, Start: start,
	}, p.stdout)
}

// A benchServer is a process of this program with its default settings. A process of its own
// has its own CPU time and memory.
type benchServer struct {
	url     string
	core    *platform.Platform
	sockets int       // that a caller may open
	process *exec.Cmd // nil until it was started
}

var (
	servingLine = regexp.MustCompile(`"msg":"serving","url":"([^"]+)"`)
	metricsLine = regexp.MustCompile(`"msg":"metrics","url":"([^"]+)"`)
)

// start starts the server, and waits until it serves.
func (b *benchServer) start(ctx context.Context, sink string) (bench.Server, error) {
	program, err := os.Executable()
	if err != nil {
		return bench.Server{}, err
	}
	b.process = exec.CommandContext(ctx, program, "serve", "--dev", "--addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--private-sink", sink, "--log-format", "json",
		"--graphql-limit", fmt.Sprintf("sockets=%d", b.sockets), "--graphql-limit", fmt.Sprintf("subscriptions=%d", b.sockets))
	b.process.Cancel = func() error { return b.process.Process.Signal(syscall.SIGTERM) }
	// Other settings of the environment are for another server.
	b.process.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "ATRIUM_") }), "ATRIUM_DATABASE_URL="+b.url)
	log, err := b.process.StderrPipe()
	if err != nil {
		return bench.Server{}, err
	}
	if err := b.process.Start(); err != nil {
		b.process = nil
		return bench.Server{}, err
	}
	found, last := bench.Server{}, ""
	lines := bufio.NewScanner(log)
	for found.URL == "" && lines.Scan() {
		if m := metricsLine.FindStringSubmatch(lines.Text()); m != nil {
			found.MetricsURL = m[1]
		}
		if m := servingLine.FindStringSubmatch(lines.Text()); m != nil {
			found.URL = m[1]
		}
		last = lines.Text()
	}
	if found.URL == "" {
		return bench.Server{}, errors.Join(fmt.Errorf("the server did not start: %s", last), ctx.Err())
	}
	go func() { // otherwise the server would wait for a reader of its log
		for lines.Scan() {
		}
	}()
	issuer, err := server.DevelopmentIssuer(ctx, b.core)
	if err != nil {
		return bench.Server{}, err
	}
	found.Mint = func(subject string) (string, error) { return issuer.Mint(subject, defaultAudience, maxTTL, nil) }
	return found, err
}

// stop ends the server.
func (b *benchServer) stop() {
	if b.process != nil {
		_ = b.process.Cancel()
		_ = b.process.Wait()
	}
}
