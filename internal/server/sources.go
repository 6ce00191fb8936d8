package server

import (
	"context"
	"fmt"
	"time"

	"atrium/internal/source"
	"atrium/internal/telemetry"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/intake"
	"atrium/store"
)

// setFeeds makes the sources of the operator, unless the configuration leaves them as they are.
func (c *Config) setFeeds(ctx context.Context, p *platform.Platform) error {
	if !c.SetFeeds {
		return nil
	}
	if err := p.Sources.SetFeeds(core.WithActor(ctx, core.NewOperator("serve")), c.Feeds); err != nil {
		return fmt.Errorf("feeds: %w", err)
	}
	return nil
}

// reading prepares the reading of sources. It returns a function that reads them until its context ends.
func (c *Config) reading(p *platform.Platform) func(context.Context) {
	c.Metrics.WatchSources(func() ([]telemetry.Source, error) { return watchedSources(p) })
	if !c.Sources {
		return func(context.Context) {}
	}
	return source.NewReader(p, source.Options{
		Client: c.guard(c.PrivateSources).FetchClient(), UserAgent: "atrium/" + c.Version, Logger: c.Logger, Folder: store.TemporaryFolder(c.DatabaseURL),
	}).Run
}

// maxWatched limits the sources that a scrape looks at.
const maxWatched = 1000

// watchedSources returns the state of the sources for metrics.
func watchedSources(p *platform.Platform) ([]telemetry.Source, error) {
	ctx, cancel := context.WithTimeout(core.WithActor(context.Background(), core.NewOperator("metrics")), backlogTimeout)
	defer cancel()
	all, now, err := p.Sources.All(ctx, maxWatched)
	watched := make([]telemetry.Source, len(all))
	for i, s := range all {
		watched[i] = telemetry.Source{
			Type: s.Type.Short(), Age: now.Sub(s.KnownSince().Time), Interval: time.Duration(s.Interval), IsFailing: !s.FailingSince.IsZero(), IsStale: s.IsStale(now),
		}
		if s.UID.IsRoot() {
			watched[i].Feed = s.Name
		}
	}
	return watched, err
}

// SourceRan counts a run of a source.
func (r *recorder) SourceRan(of string, run intake.SourceRun) {
	r.metrics.CountSourceRun(of, run.State.Short(), int(run.ReadRecords()), int(run.FailedRecords()))
}
