package resolvers

import (
	"context"
	"io"

	"github.com/99designs/gqlgen/graphql"

	"atrium/platform"
)

// measured counts the JSON of a root field for the answer of ctx. What is more
// than the answer may hold is not written: the answer is refused then (run).
func measured(ctx context.Context, value graphql.Marshaler) graphql.Marshaler {
	answer := platform.AnswerOf(ctx)
	if answer == nil || value == graphql.Null {
		return value
	}
	return graphql.WriterFunc(func(w io.Writer) {
		value.MarshalGQL(&measuredWriter{ctx: ctx, answer: answer, w: w})
	})
}

// A measuredWriter drops what the answer may not hold.
type measuredWriter struct {
	ctx    context.Context //nolint:containedctx // of the one response that it writes
	answer *platform.Answer
	w      io.Writer
	left   int // of what has been counted
	full   bool
}

// countedAtOnce is how much is counted ahead, since most writes are small.
const countedAtOnce = 4 << 10

// Write writes bytes.
func (m *measuredWriter) Write(p []byte) (int, error) {
	if !m.room(len(p)) {
		return len(p), nil
	}
	return m.w.Write(p)
}

// WriteString writes a text without a copy of it.
func (m *measuredWriter) WriteString(s string) (int, error) {
	if !m.room(len(s)) {
		return len(s), nil
	}
	return io.WriteString(m.w, s)
}

func (m *measuredWriter) room(n int) bool {
	if m.left < n && !m.full {
		more := max(n-m.left, countedAtOnce)
		m.full = m.answer.Write(m.ctx, more) != nil
		m.left += more
	}
	m.left -= n
	return !m.full
}
