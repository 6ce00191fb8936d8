package source

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"atrium/internal/ingest"
	"atrium/platform/core"
	"atrium/platform/intake"
)

// An index lists records with the times of their last changes, such as modified_id.csv of osv.dev and changes.csv of CSAF.

// An entry is a line of an index.
type entry struct {
	name     string
	modified core.Time
}

const (
	// overlap is how long before the newest time of an index a record may appear that was not in it before, because those who write the
	// index do not do so in the order of the times.
	overlap = time.Hour
	// maxRecent limits how many records of the overlap are known by name. Others are read again.
	maxRecent = 2000
	// maxEntryBytes limits a line of an index.
	maxEntryBytes = 4 << 10
)

// readIndex calls use with the entries of an index. A line has a name and a time, in any order.
func readIndex(path string, use func(entry) error) error {
	text, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = text.Close() }()
	lines := bufio.NewReaderSize(text, maxEntryBytes)
	for number := 1; ; number++ {
		line, tooLong, err := lines.ReadLine()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case tooLong:
			return fmt.Errorf("line %d of the index has more than %d bytes", number, maxEntryBytes)
		case len(strings.TrimSpace(string(line))) == 0:
			continue
		}
		read, err := parseEntry(string(line))
		if err != nil {
			return fmt.Errorf("line %d of the index %w", number, err)
		}
		if err := use(read); err != nil {
			return err
		}
	}
}

// parseEntry reads a line of an index.
func parseEntry(line string) (entry, error) {
	columns, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil || len(columns) < 2 {
		return entry{}, errors.New("must have a name and a time")
	}
	for i := range 2 {
		if at, err := time.Parse(time.RFC3339Nano, columns[i]); err == nil {
			return entry{columns[1-i], core.At(at)}, nil
		}
	}
	return entry{}, fmt.Errorf("has no time such as 2026-01-31T12:00:00Z: %.100q", line)
}

// news finds the entries of an index that are not known from the mark of the last time, at most most of them. isPart means that there are
// more. The mark that it returns knows all of them.
func news(path string, known *intake.Mark, most int) (changed []entry, isPart bool, mark *intake.Mark, err error) {
	mark = &intake.Mark{}
	var from core.Time
	if known != nil && !known.Since.IsZero() {
		from = core.At(known.Since.Add(-overlap))
	}
	recent := map[string]core.Time{}
	err = readIndex(path, func(e entry) error {
		if e.modified.After(mark.Since.Time) {
			mark.Since = e.modified
			maps.DeleteFunc(recent, func(_ string, at core.Time) bool {
				return len(recent) > maxRecent && at.Before(e.modified.Add(-overlap))
			})
		}
		if !e.modified.Before(mark.Since.Add(-overlap)) && len(recent) < 2*maxRecent {
			recent[e.name] = e.modified
		}
		switch {
		case known == nil || e.modified.Before(from.Time):
			return nil
		case known.Recent[e.name].Equal(e.modified.Time):
			return nil
		case len(changed) == most:
			isPart = true
		default:
			changed = append(changed, e)
		}
		return nil
	})
	mark.Recent = newest(recent, mark.Since)
	return changed, isPart || known == nil, mark, err
}

// newest returns the records of the overlap before a time, at most maxRecent of them.
func newest(recent map[string]core.Time, since core.Time) map[string]core.Time {
	names := slices.SortedFunc(maps.Keys(recent), func(a, b string) int {
		if c := recent[b].Compare(recent[a].Time); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	kept := map[string]core.Time{}
	for _, name := range names {
		if len(kept) == maxRecent || recent[name].Before(since.Add(-overlap)) {
			break
		}
		kept[name] = recent[name]
	}
	return kept
}

// fetchAtOnce is how many documents of a source are fetched at the same time.
const fetchAtOnce = 4

// fetchEach fetches documents, and returns those that there are. One that is missing is a problem of the report. Another failure ends it.
func (u *run) fetchEach(ctx context.Context, urls []string) ([]*file, error) {
	got, errs := make([]*file, len(urls)), make([]error, len(urls))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var fetching sync.WaitGroup
	var lock sync.Mutex // of what the run knows of files
	slots := make(chan struct{}, fetchAtOnce)
	for i, from := range urls {
		slots <- struct{}{}
		fetching.Go(func() {
			defer func() { <-slots }()
			if got[i], errs[i] = u.fetchAlone(ctx, from, &lock); errs[i] != nil && !isMissing(errs[i]) {
				stop()
			}
		})
	}
	fetching.Wait()
	var all []*file
	var first error
	for i, err := range errs {
		switch {
		case err == nil:
			all = append(all, got[i])
		case isMissing(err):
			u.result.AddProblem(ingest.ExplainWithoutCause(err))
		case first == nil || errors.Is(first, context.Canceled):
			first = err
		}
	}
	return all, first
}

// fetchAlone is fetch for one of several documents that are fetched at the same time, each with a run of its own to note files in.
func (u *run) fetchAlone(ctx context.Context, from string, lock *sync.Mutex) (*file, error) {
	folder, err := os.MkdirTemp(u.folder, "document-*")
	if err != nil {
		return nil, err
	}
	alone := &run{reader: u.reader, claim: u.claim, source: u.source, folder: folder, marks: u.marks, names: map[string]string{}}
	got, err := alone.fetch(ctx, from)
	lock.Lock()
	defer lock.Unlock()
	maps.Copy(u.names, alone.names)
	u.result.Bytes += alone.result.Bytes
	u.fetched += alone.fetched
	return got, err
}
