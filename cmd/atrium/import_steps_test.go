package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atrium/internal/ingest"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// A lookingStore looks at what is stored after each transaction that has committed, as a server beside an import can.
type lookingStore struct {
	platform.Store
	look func()
}

func (s lookingStore) Write(ctx context.Context, unit func(core.Tx) error) error {
	err := s.Store.Write(ctx, unit)
	if err == nil {
		s.look()
	}
	return err
}

// A notingStore notes the events of its transactions.
type notingStore struct {
	platform.Store
	events []*core.Event
}

type notingTx struct {
	core.Tx
	events *[]*core.Event
}

func (tx notingTx) Record(events ...*core.Event) {
	*tx.events = append(*tx.events, events...)
	tx.Tx.Record(events...)
}

func (s *notingStore) Write(ctx context.Context, unit func(core.Tx) error) error {
	var events []*core.Event
	err := s.Store.Write(ctx, func(tx core.Tx) error {
		events = nil // the store may run it again
		return unit(notingTx{tx, &events})
	})
	if err == nil {
		s.events = append(s.events, events...)
	}
	return err
}

// A steppedImport imports into a database beside a process that looks at the findings after each transaction.
type steppedImport struct {
	*testing.T
	random *rand.Rand
	ctx    context.Context
	p      *platform.Platform // imports
	beside *platform.Platform // brings findings up to date
	noted  *notingStore
	acme   core.UID
	folder string
	turn   sync.Mutex
	looks  int
	day    int
}

func newSteppedImport(t *testing.T, url string) *steppedImport {
	t.Helper()
	s := &steppedImport{T: t, random: rand.New(rand.NewPCG(1, 2)), ctx: core.WithActor(t.Context(), core.NewOperator("test")), folder: t.TempDir()}
	s.noted = &notingStore{Store: storetest.Open(t, url)}
	var err error
	s.beside, err = platform.New(s.ctx, s.noted, platform.Options{})
	s.must(err)
	made, err := s.beside.Groups.Bootstrap(s.ctx, "acme", "https://issuer.example", "me")
	s.must(err)
	s.acme = made.Group.UID
	s.p, err = platform.New(s.ctx, lookingStore{storetest.Open(t, url), s.look}, platform.Options{})
	s.must(err)
	return s
}

func (s *steppedImport) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *steppedImport) look() {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.looks++
	if err := s.beside.Findings.Settle(s.ctx); err != nil {
		s.Error(err)
	}
}

// put imports a file.
func (s *steppedImport) put(name, content string, run func(context.Context, *platform.Platform, string, ingest.Options) (ingest.Summary, error)) {
	s.Helper()
	file := filepath.Join(s.folder, name)
	s.must(os.WriteFile(file, []byte(content), 0o600))
	sum, err := run(s.ctx, s.p, file, ingest.Options{Group: s.acme, ReportProblem: func(at ingest.Place, reason error) { s.Errorf("%s: %v", at, reason) }})
	if s.must(err); sum.Failed() > 0 {
		s.Errorf("%s: %+v", name, sum)
	}
}

const (
	steppedNames   = 4 // packages and repos have the same names, so that advisories meet repos by name
	steppedDigests = 5
)

func (s *steppedImport) name() string { return fmt.Sprintf("p%d", s.random.IntN(steppedNames)) }

func steppedDigest(n int) string { return fmt.Sprintf("sha256:%064x", n+1) }

// registry writes a file with tags, and with the images that they point to, which hold some versions of packages.
func (s *steppedImport) registry() {
	var lines []string
	told := map[string]bool{}
	for n := range 1 + s.random.IntN(3) {
		repo := s.name()
		lines = append(lines, fmt.Sprintf(`{"kind": "repo", "name": %q}`, repo))
		digest := steppedDigest(s.random.IntN(steppedDigests))
		lines = append(lines, fmt.Sprintf(`{"kind": "tag", "repo": %q, "name": "t%d", "digest": %q}`, repo, n, digest))
		if told[repo+digest] {
			continue
		}
		told[repo+digest] = true
		packages := []string{`"bash"`}
		for range s.random.IntN(4) + 1 {
			packages = append(packages, fmt.Sprintf(`"pkg:npm/%s@%d.0.0"`, s.name(), s.random.IntN(4)))
		}
		lines = append(lines, fmt.Sprintf(`{"kind": "image", "repo": %q, "digest": %q, "packages": [%s]}`, repo, digest, strings.Join(packages, ", ")))
	}
	s.random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	s.put("registry.jsonl", strings.Join(lines, "\n"), ingest.ImportRegistry)
}

// record writes a newer record about some packages.
func (s *steppedImport) record() {
	s.day++
	affected := []string{}
	for range s.random.IntN(4) {
		affected = append(affected, fmt.Sprintf(`{"package": {"ecosystem": "npm", "name": %q}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "%d.0.0"}]}]}`, s.name(), s.random.IntN(4)+1))
	}
	s.put("osv.json", fmt.Sprintf(`{"id": "GHSA-%d", "modified": "2026-01-01T00:00:%02dZ", "affected": [%s]}`, s.random.IntN(3), s.day, strings.Join(affected, ", ")),
		func(ctx context.Context, p *platform.Platform, file string, o ingest.Options) (ingest.Summary, error) {
			return ingest.ImportOSV(ctx, p, []string{file}, o)
		})
}

// check expects that each finding that was opened since the last check is one that a look confirms, and none is there only because
// a name fits.
func (s *steppedImport) check(what string) {
	s.Helper()
	s.look()
	page, err := s.beside.Findings.List(s.ctx, core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: s.acme}, PageSize: 500})
	s.must(err)
	there := map[core.UID]bool{}
	for _, f := range page.Items {
		there[f.UID] = true
	}
	for _, e := range s.noted.events {
		if e.Type != core.EventTypeOf(inventory.FindingKind.Event, "opened") {
			continue
		}
		var change inventory.FindingChange
		s.must(json.Unmarshal(e.Body, &change))
		for _, f := range change.Findings {
			if !there[f.UID] || f.Basis == inventory.BasisName {
				s.Errorf("%s: %s of %s@%s in %s was opened by %s, and is there afterwards: %t", what, f.VulnerabilityID, f.Package, f.InstalledVersion, change.RepoName, f.Basis, there[f.UID])
			}
		}
	}
	s.noted.events = nil
	wrong, err := s.beside.Findings.Review(s.ctx)
	if s.must(err); wrong != 0 {
		s.Errorf("%s: a look finds %d findings that are wrong", what, wrong)
	}
}

// The attack is a server that looks between the transactions of an import: it must see no image without its packages.
func TestAnImportShowsNothingThatItPassesThrough(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newSteppedImport(t, url)
		s.record()
		s.registry()
		s.check("the first images")
		if s.looks < 4 {
			t.Errorf("the server has looked %d times", s.looks)
		}
		for step := range 30 {
			if s.random.IntN(3) == 0 {
				s.record()
			} else {
				s.registry()
			}
			s.check(fmt.Sprint("step ", step))
		}
	})
}
