package events

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// newQueueLog returns a handler that passes warnings and errors on to h, and
// each message at most once a minute. While the database is unavailable, every
// part of the queue logs the same message each second.
func newQueueLog(h slog.Handler) slog.Handler {
	return &queueLog{h, &messageTimes{last: map[string]time.Time{}}}
}

// repeatAfter is the time after which the same message is logged again.
const repeatAfter = time.Minute

// A queueLog is the handler of newQueueLog.
type queueLog struct {
	slog.Handler
	times *messageTimes
}

// messageTimes remembers when each message was last logged. The messages are
// constants of the source, so the map stays small.
type messageTimes struct {
	lock sync.Mutex
	last map[string]time.Time
}

// isRepeat reports whether message was logged within repeatAfter before now. If
// not, it records now as the last time.
func (m *messageTimes) isRepeat(message string, now time.Time) bool {
	m.lock.Lock()
	defer m.lock.Unlock()
	if last, ok := m.last[message]; ok && now.Sub(last) < repeatAfter {
		return true
	}
	m.last[message] = now
	return false
}

func (h *queueLog) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

func (h *queueLog) Handle(ctx context.Context, r slog.Record) error {
	if h.times.isRepeat(r.Message, r.Time) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h *queueLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &queueLog{h.Handler.WithAttrs(attrs), h.times}
}

func (h *queueLog) WithGroup(name string) slog.Handler {
	return &queueLog{h.Handler.WithGroup(name), h.times}
}
