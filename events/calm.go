package events

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// calm passes on what is a warning at least, and each message once a minute:
// while the database is away, every part of the queue tells of it each second.
func calm(h slog.Handler) slog.Handler {
	return &calmHandler{h, &said{at: map[string]time.Time{}}}
}

const repeatAfter = time.Minute

type calmHandler struct {
	slog.Handler
	said *said
}

type said struct {
	lock sync.Mutex
	at   map[string]time.Time // few: messages are texts of the source
}

func (s *said) before(message string, now time.Time) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if last, ok := s.at[message]; ok && now.Sub(last) < repeatAfter {
		return true
	}
	s.at[message] = now
	return false
}

func (h *calmHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

func (h *calmHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.said.before(r.Message, r.Time) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h *calmHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &calmHandler{h.Handler.WithAttrs(attrs), h.said}
}

func (h *calmHandler) WithGroup(name string) slog.Handler {
	return &calmHandler{h.Handler.WithGroup(name), h.said}
}
