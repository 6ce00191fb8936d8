package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"atrium/internal/ingest"
	"atrium/internal/server"
	"atrium/internal/telemetry"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/store"
)

// importRun runs an import. All imports share it.
type importRun struct {
	placeFlags
	MetricsAddr string `placeholder:"ADDRESS" help:"Private address to serve metrics of the import for Prometheus on, while it runs."`

	metricsFrom string // the variable or file that has MetricsAddr; "" means the command line
}

// describe records where settings come from.
func (c *importRun) describe(parsed *kong.Context, from map[string]string) {
	c.placeFlags.describe(parsed, from)
	c.metricsFrom = from["metrics-addr"]
}

func (c *importRun) check(f *faults) {
	c.databaseFlags.check(f)
	if c.MetricsAddr != "" {
		checkAddress(f, "metrics-addr", c.MetricsAddr)
	}
}

// serveMetrics serves the metrics of an import until end is called. They are nil without
// --metrics-addr, and if a variable or a file has an address that cannot be used: it is often
// that of a server on the same machine.
func (c *importRun) serveMetrics(ctx context.Context, m *meter) (metrics *telemetry.Metrics, end func(), err error) {
	if c.MetricsAddr == "" {
		return nil, func() {}, nil
	}
	metrics = telemetry.New(version)
	_, end, err = metrics.Serve(ctx, c.MetricsAddr, func(err error) { m.print("the metrics server failed: " + err.Error()) })
	if err == nil {
		return metrics, end, nil
	}
	err = server.ListenError("metrics-addr", c.MetricsAddr, err)
	if c.metricsFrom == "" {
		return nil, nil, err
	}
	m.print(fmt.Sprintf("the import serves no metrics: %s (the address is from %s)", err, c.metricsFrom))
	return nil, func() {}, nil
}

// runImport runs an import, and prints its progress and a summary.
func (c *importRun) runImport(ctx context.Context, p program, source string, o ingest.Options, read reading) error {
	limitMemory(importMemory, importGCPercent)
	db, err := c.openExisting(ctx, platform.Options{NoSecrets: true})
	if err != nil {
		return err
	}
	defer db.close()
	meter := newMeter(p.stderr)
	ctx = core.WithActor(ctx, core.NewOperator("import"))
	metrics, end, err := c.serveMetrics(ctx, meter)
	if err != nil {
		return err
	}
	defer end()
	seen := 0
	o.ReportProgress = func(so ingest.Progress) {
		metrics.CountImported(source, max(0, so.Records-seen))
		seen = so.Records
		meter.show(so)
	}
	o.ReportProblem = func(at ingest.Place, reason error) { meter.print(fmt.Sprintf("%s: %s", at, ingest.Explain(reason))) }
	o.Pipe = p.stdin
	o.TemporaryFolder = store.TemporaryFolder(c.DatabaseURL)
	sum, err := read(ctx, db.Platform, o)
	meter.finish()
	if err != nil {
		return errors.Join(explainStop(ctx, err), writeSummary(p.stdout, sum))
	}
	err = settle(ctx, db.Platform, meter)
	if writeErr := writeSummary(p.stdout, sum); err == nil {
		err = writeErr
	}
	failed := sum.Failed()
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted while findings were updated; all records are imported; a running server or the next import updates the other findings")
	case err != nil:
		return err
	case failed > 0:
		return fmt.Errorf("%d records were not imported; see the messages above", failed)
	}
	return nil
}

// explainStop says where an import has stopped, what of it stays, and how it goes on.
func explainStop(ctx context.Context, err error) error {
	const goesOn = "the imported records stay; run the same command again to import the rest"
	var stopped *ingest.StoppedError
	var said *core.Error
	isLasting := errors.As(err, &said) && said.Code != core.CodeUnavailable && said.Code != core.CodeAborted
	switch hasPlace := errors.As(err, &stopped); {
	case ctx.Err() != nil && hasPlace:
		return fmt.Errorf("interrupted at %s; %s", stopped.At, goesOn)
	case ctx.Err() != nil:
		return errors.New("interrupted; " + goesOn)
	case !hasPlace || isLasting:
		return err
	default:
		return fmt.Errorf("%w; %s", err, goesOn)
	}
}

// settle updates the findings that follow from what was imported, so that they are there when the
// command ends. A server does the same in the background.
func settle(ctx context.Context, to *platform.Platform, m *meter) error {
	steps := newStepMeter(m)
	for {
		switch done, err := to.Findings.Reconcile(ctx); {
		case done > 0:
			steps.show(done)
		case err != nil:
			return fmt.Errorf("update findings (the imported records stay, and a running server or the next import continues): %w", err)
		default:
			steps.finish()
			return nil
		}
	}
}
