package resolvers

import (
	"context"
	"io"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graphql/limit"
	"atrium/platform"
)

// Budget counts what responses hold in memory as answers of the pool that the
// request was opened with (platform.AnswerPool).
type Budget struct{}

// valueBytes is about what a scalar takes while its response is made.
const valueBytes = 64

// Open starts to count the response to an operation.
func (Budget) Open(ctx context.Context, operation *graphql.OperationContext) (_ context.Context, finish func() error, end func(), err error) {
	ctx, end = platform.AnswerOf(ctx).Another(ctx)
	answer := platform.AnswerOf(ctx)
	finish = func() error {
		if err := answer.Unwritten(); err != nil {
			return blameQuery(err)
		}
		answer.Rendered()
		return nil
	}
	if err := answer.Read(ctx, valueBytes*limit.CountValues(operation)); err != nil {
		return ctx, finish, end, blameQuery(err)
	}
	return ctx, finish, end, nil
}

// Stream leaves what a subscription reads uncounted, and counts each of its
// responses by itself.
func (Budget) Stream(ctx context.Context) (_ context.Context, open func(n int) (end func(), err error)) {
	return platform.Uncounted(ctx), func(n int) (end func(), err error) {
		counted, end := platform.AnswerOf(ctx).Another(ctx)
		return end, platform.AnswerOf(counted).Write(counted, n)
	}
}

// blameQuery makes err one about the whole query, whatever field it names.
func blameQuery(err error) error { return renamed(err, func(string) string { return "query" }) }

// measured counts the JSON of a root field for the answer of ctx. What is more
// than the answer may hold is not written: the answer is refused then (Budget).
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
