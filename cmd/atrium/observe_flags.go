package main

import (
	"context"
	"log/slog"
	"time"

	"atrium/internal/telemetry"
)

// observeFlags are the settings for logs, metrics and traces.
type observeFlags struct {
	LogLevel    string        `default:"info" help:"Lowest level that is logged: debug, info, warn or error."`
	LogFormat   string        `default:"auto" help:"Format of the log: json, text for people, or auto, which is text on a terminal and json otherwise."`
	Slow        time.Duration `default:"1s" help:"Log requests and SQL statements that take longer than this as warnings; 0 logs none."`
	MetricsAddr *string       `placeholder:"ADDRESS" help:"Private address to serve metrics for Prometheus (/metrics) and profiles (/debug/pprof/) on; empty serves none. Default: none, or 127.0.0.1:9464 with --dev."`

	level slog.Level
}

// developmentMetrics is the default of --metrics-addr with --dev.
const developmentMetrics = "127.0.0.1:9464"

func (o *observeFlags) check(f *faults) {
	if o.level.UnmarshalText([]byte(o.LogLevel)) != nil {
		f.add("log-level", "must be debug, info, warn or error")
	}
	switch o.LogFormat {
	case "auto", "json", "text":
	default:
		f.add("log-format", "must be auto, json or text")
	}
	if o.Slow < 0 {
		f.add("slow", "must not be negative")
	}
	if o.MetricsAddr != nil && *o.MetricsAddr != "" {
		checkAddress(f, "metrics-addr", *o.MetricsAddr)
	}
}

// metricsAddress returns the address of the metrics, or "" if they are off.
func (o *observeFlags) metricsAddress(dev bool) string {
	switch {
	case o.MetricsAddr != nil:
		return *o.MetricsAddr
	case dev:
		return developmentMetrics
	default:
		return ""
	}
}

// metrics returns the metrics and their address, or nil if they are off.
func (o *observeFlags) metrics(dev bool) (_ *telemetry.Metrics, address string) {
	if address = o.metricsAddress(dev); address == "" {
		return nil, ""
	}
	return telemetry.New(version), address
}

// closeTraces is how long the shutdown waits for the collector of traces.
const closeTraces = 3 * time.Second

// startTraces returns the traces that the environment variables of OpenTelemetry
// configure, or nil if they name no exporter. end sends the remaining spans.
func startTraces(ctx context.Context, p program, logger *slog.Logger) (_ *telemetry.Traces, end func(), err error) {
	traces, err := telemetry.NewTraces(ctx, p.env, version, func(err error) { logger.Warn("traces were not sent", "error", err) })
	if err != nil || traces == nil {
		return nil, func() {}, err
	}
	return traces, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTraces)
		defer cancel()
		if err := traces.Close(ctx); err != nil {
			logger.Warn("sending the last traces failed", "error", err)
		}
	}, nil
}

// logger returns a logger that writes to a buffer in the chosen form.
func (o *observeFlags) logger(to *logBuffer, terminal bool) *slog.Logger {
	var handler slog.Handler = slog.NewJSONHandler(plainWriter{to}, &slog.HandlerOptions{Level: o.level})
	if !o.logsJSON(terminal) {
		handler = newTextHandler(to, o.level, terminal)
	}
	return slog.New(promptHandler{handler, to})
}

// logsJSON reports whether each line of the log is JSON.
func (o *observeFlags) logsJSON(terminal bool) bool {
	return o.LogFormat == "json" || o.LogFormat == "auto" && !terminal
}

// logEnd logs why the server ends. Whoever reads the log as JSON finds no other line in it; a person gets the error as it is.
func (o *observeFlags) logEnd(p program, err error) error {
	if !o.logsJSON(isTerminal(p.stderr)) {
		return err
	}
	logs := newLogBuffer(terminalOf(p.stderr))
	o.logger(logs, false).Error("the server ends", "error", explain(err))
	return loggedError{err}
}
