package server

import (
	"context"
	"strings"
	"time"

	"atrium/internal/telemetry"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store"
)

// A recorder observes the statements of the store and the background work of the
// platform.
var (
	_ store.Observer    = (*recorder)(nil)
	_ platform.Observer = (*recorder)(nil)
)

// RoundTrip counts statements and logs slow ones, without their arguments.
func (r *recorder) RoundTrip(ctx context.Context, statements []*store.Statement, took time.Duration, err error) {
	if r.metrics != nil {
		operations := make([]string, len(statements))
		for i, s := range statements {
			operations[i] = verb(s.SQL)
		}
		r.metrics.CountRoundTrip(operations, took, err != nil && ctx.Err() == nil, recordedTrace(core.TraceOf(ctx)))
	}
	r.traceRoundTrip(ctx, statements, took, err)
	if r.slow == 0 || took < r.slow {
		return
	}
	attributes := []any{"ms", milliseconds(took), "statements", len(statements), "sql", cutSQL(statements)}
	if trace := core.TraceOf(ctx); trace != nil {
		attributes = append(attributes, "request_id", trace.ID, "operation", trace.Facts().Operation)
	}
	r.logger.WarnContext(ctx, "slow statement", attributes...)
}

// verb returns the first word of a statement, such as SELECT.
func verb(sql string) string {
	word, _, _ := strings.Cut(strings.TrimLeft(sql, " \n\t("), " ")
	switch word {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "COPY":
		return word
	}
	return telemetry.Other
}

// maxLoggedSQL limits logged statements, in bytes. The longest ones join every kind.
const maxLoggedSQL = 2000

func cutSQL(statements []*store.Statement) string {
	texts := make([]string, len(statements))
	for i, s := range statements {
		texts[i] = s.SQL
	}
	sql := strings.Join(texts, "; ")
	return sql[:min(len(sql), maxLoggedSQL)]
}

// EventRead counts an event that was passed to live feeds.
func (r *recorder) EventRead(lag time.Duration) { r.metrics.CountEventRead(lag) }

// DeliveryTried counts an attempt of a delivery.
func (r *recorder) DeliveryTried(sink string, state webhooks.DeliveryState, lag time.Duration) {
	delivered := state == webhooks.DeliveryDelivered
	r.metrics.CountDelivery(strings.ToLower(string(state)), lag, delivered)
	if !delivered {
		r.metrics.CountDeliveryFailure(r.sinks.Limit(webhooks.SinkHost(sink), true))
	}
}
