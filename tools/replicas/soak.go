package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A soak is a long load with faults. It checks more than the lag of standbys: feeds, webhooks,
// imports, counters, and the resources of the processes.
type soak struct {
	*world
	cluster   *cluster
	random    *rand.Rand // decides the faults
	spared    int        // the process that is never killed
	followers []*follower
	sink      *sink
	imported  string // UID of the group of imports
	inflicted map[string]int
	recovery  map[string]time.Duration
	samples   []sample
}

// soakPace is the pause of a client before each request, so that the load leaves time for
// deliveries, and for others on the machine.
const soakPace = 100 * time.Millisecond

// soakThroughRestarts kills and restarts processes, servers of PostgreSQL and the pooler.
// Process 0 connects to PostgreSQL, 1 through the pooler with a direct URL, and 2 through the
// pooler only.
func soakThroughRestarts(ctx context.Context, program string, length time.Duration, seed uint64) error {
	fmt.Printf("seed %d\n", seed)
	primary, standbys, err := readStandbys()
	if err != nil {
		return err
	}
	c := newCluster(standbys)
	pooled := primary
	if c.pooler != "" {
		at := strings.Index(primary, "@")
		pooled = primary[:at+1] + c.pooler + primary[strings.Index(primary[at:], "/")+at:]
	}
	flags := [][]string{databaseFlags(primary, standbys), databaseFlags(pooled, standbys), databaseFlags(pooled, standbys)}
	if c.pooler != "" {
		flags[1] = append(flags[1], "--database-direct-url", primary)
	}
	return runSoak(ctx, program, pooled+poolSize, flags, c, seed, func(ctx context.Context, s *soak) error {
		return s.inflictFaults(ctx, time.Now().Add(length))
	})
}

// promotionWrites is how many writes each process acknowledges before and after a promotion.
const promotionWrites = 100

// soakThroughPromotion kills the primary and waits for its successor.
func soakThroughPromotion(ctx context.Context, program string) error {
	url := os.Getenv("ATRIUM_TEST_STANDBY")
	if url == "" {
		return fmt.Errorf("there is no standby: run the program as scripts/with-standby %s -faults promotion", os.Args[0])
	}
	flags := [][]string{}
	for range processes {
		flags = append(flags, databaseFlags(url, nil))
	}
	return runSoak(ctx, program, url+poolSize, flags, newCluster(nil), 0, func(ctx context.Context, s *soak) error {
		awaitAll := func() (err error) {
			for n := 0; n < processes && err == nil; n++ {
				err = s.awaitWrites(ctx, promotionWrites, n)
			}
			return err
		}
		if err := awaitAll(); err != nil {
			return err
		}
		if err := s.promote(ctx); err != nil {
			return err
		}
		return awaitAll()
	})
}

// runSoak loads the processes while trouble runs, and judges what came of it.
func runSoak(ctx context.Context, program, database string, flags [][]string, c *cluster, seed uint64, trouble func(context.Context, *soak) error) error {
	sink, err := startSink()
	if err != nil {
		return err
	}
	defer sink.server.Close()
	for n := range flags {
		flags[n] = append(flags[n], "--private-sink", strings.TrimPrefix(sink.url, "http://"))
	}
	servers, err := startServers(ctx, program, database, flags)
	defer servers.stop()
	if err != nil {
		return err
	}
	w, err := newWorld(ctx, servers)
	if err != nil {
		return err
	}
	s := &soak{world: w, cluster: c, sink: sink, random: newRandom(seed), inflicted: map[string]int{}, recovery: map[string]time.Duration{}}
	s.pace, s.spared = soakPace, s.random.IntN(processes)
	defer func() {
		if c.poolerProcess != nil {
			_ = c.poolerProcess.Kill()
		}
	}()
	if err := s.prepare(); err != nil {
		return err
	}
	following, endFollowing := context.WithCancel(ctx)
	defer endFollowing()
	for _, f := range s.followers {
		go f.follow(following)
	}
	if err := s.load(ctx, trouble); err != nil {
		return fmt.Errorf("%w%s", err, s.logs())
	}
	if err := s.judgeSoak(ctx); err != nil {
		return fmt.Errorf("%w%s", err, s.logs())
	}
	return nil
}

// direct returns the process that connects to PostgreSQL without the pooler.
func (s *soak) direct() int { return 0 }

// prepare makes the subscriptions, and the group of imports.
func (s *soak) prepare() (err error) {
	if s.imported, err = s.create("/iam/v2/groups/"+s.org, map[string]any{"name": "imports"}, ""); err != nil {
		return err
	}
	for path, types := range subscribed {
		body := map[string]any{"sink": s.sink.url + path}
		if types != nil {
			body["types"] = types
		}
		if _, err := s.create("/events/v2/subscriptions/"+s.group, body, ""); err != nil {
			return err
		}
	}
	onlyRepos := func(f *follower) { f.types = subscribed["/created"] }
	s.followers = []*follower{
		s.newFollower("a stream", 0, nil),
		s.newFollower("a stream of the process that lives", 0, func(f *follower) { f.process, f.fixed = s.spared, true }),
		s.newFollower("a websocket", 1, func(f *follower) { f.websocket = true }),
		s.newFollower("a websocket of created repos", 2, func(f *follower) { f.websocket = true; onlyRepos(f) }),
	}
	return nil
}

const repoCreated = "dev.atrium.api.platform.registry.repo.created.v1"

// subscribed has the types of each subscription, by the path of its sink; nil means all.
var subscribed = map[string][]string{"/all": nil, "/created": {repoCreated}, flaky: {repoCreated}}

// load runs the clients while trouble runs.
func (s *soak) load(ctx context.Context, trouble func(context.Context, *soak) error) error {
	loading, end := context.WithCancel(ctx)
	var clients sync.WaitGroup
	for n := range 2 {
		clients.Go(func() { s.changeRegisters(loading, n) })
		clients.Go(func() { s.readRegisters(loading, n) })
		clients.Go(func() { s.useRight(loading, n) })
	}
	clients.Go(func() { s.changeRight(loading) })
	clients.Go(func() { s.readPages(loading, 0) })
	clients.Go(func() { s.churn(loading) })
	clients.Go(func() { s.createTags(loading) })
	clients.Go(func() { s.importFiles(loading) })
	clients.Go(func() { s.sample(loading) })
	err := trouble(ctx, s)
	end()
	clients.Wait()
	return err
}

const tagsPerBatch = 10

// createTags creates tags in batches, all or none of which exist. A batch that is sent again,
// because its result was not known, moves the tags that exist, which records other events.
func (s *soak) createTags(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		pause(ctx, 5*s.pace)
		repo := s.repos[i%registers]
		requests := make([]any, tagsPerBatch)
		for n := range requests {
			requests[n] = map[string]any{"parent": repo, "name": fmt.Sprintf("v%d.%d", i, n), "digest": "sha256:" + strings.Repeat("7", 64)}
		}
		made, tries, err := s.write("POST", "/graphql", map[string]any{
			"query":     `mutation ($input: BatchCreateTagsInput!) { batchCreateTags(input: $input) { tags { uid } } }`,
			"variables": map[string]any{"input": map[string]any{"requests": requests}},
		})
		if s.note(err); err == nil {
			data, _ := made["data"].(map[string]any)
			batch, _ := data["batchCreateTags"].(map[string]any)
			tags, _ := batch["tags"].([]any)
			for _, tag := range tags {
				tag, _ := tag.(map[string]any)
				s.ledger.noteTag(repo, textOf(tag, "uid"), tries)
			}
		}
	}
}

const advisoriesPerImport = 20

// importFiles imports folders of advisories. Some imports are killed, and all are repeated until
// they succeed.
func (s *soak) importFiles(ctx context.Context) {
	for round := 0; ctx.Err() == nil; round++ {
		pause(ctx, 20*s.pace)
		folder := filepath.Join(s.folder, fmt.Sprintf("advisories-%d", round))
		if err := writeAdvisories(folder, round); err != nil {
			s.note(err)
			return
		}
		for try, end := 0, time.Now().Add(resultTimeout); ; try++ {
			running, cancel := context.WithCancel(context.WithoutCancel(ctx))
			if try == 0 && round%3 == 0 {
				time.AfterFunc(time.Duration(rand.IntN(500))*time.Millisecond, cancel) // kill -9 at any moment
			}
			_, err := s.run(running, "import", "osv", "--group", s.imported, folder)
			cancel()
			if err == nil {
				s.ledger.noteAdvisories(advisoriesPerImport)
				break
			}
			if time.Now().After(end) || s.ctx.Err() != nil {
				s.note(fmt.Errorf("an import fails for %s: %w", resultTimeout, err))
				return
			}
			pause(context.Background(), s.pace)
		}
	}
}

func writeAdvisories(folder string, round int) error {
	err := os.Mkdir(folder, 0o700)
	for n := 0; n < advisoriesPerImport && err == nil; n++ {
		text := fmt.Sprintf(`{"schema_version": "1.7.0", "id": "SOAK-%d-%d", "modified": "2026-05-02T00:00:00Z", "published": "2026-05-01T10:00:00Z",
			"summary": "An advisory of the soak.", "affected": [{"package": {"ecosystem": "Go", "name": "example.com/soak"},
			"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.4.2"}]}]}]}`, round, n)
		err = os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.json", n)), []byte(text), 0o600)
	}
	return err
}

// logs copies the logs of the processes to a folder that stays, and returns its name.
func (s *soak) logs() string {
	folder, err := os.MkdirTemp("", "atrium-soak-logs-")
	if err != nil {
		return ""
	}
	for n, one := range s.running {
		if text, err := os.ReadFile(one.log.Name()); err == nil {
			_ = os.WriteFile(filepath.Join(folder, fmt.Sprintf("atrium-%d.log", n)), text, 0o600)
		}
	}
	return "\nthe logs of the processes are in " + folder
}
