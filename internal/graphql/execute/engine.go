package execute

import (
	"context"
	"errors"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// An Engine executes the operations of one schema. It adds errors to the response context
// of ctx, in which graphql.AddError finds them.
type Engine interface {
	// Schema returns the schema as clients see it.
	Schema() *ast.Schema
	// Query executes a query and returns the data of its response.
	Query(ctx context.Context, operation *graphql.OperationContext) []byte
	// Mutate executes a mutation and returns the data of its response.
	Mutate(ctx context.Context, operation *graphql.OperationContext) []byte
	// Subscribe opens the source of a subscription. It returns nil after an error.
	Subscribe(ctx context.Context, operation *graphql.OperationContext) Next
	// Recycle is called with the data of a response that nobody reads any more.
	Recycle(data []byte)
}

// Next returns the data of the response to the next event of a subscription, and false at
// the end. Each call has a response context of its own.
type Next func(ctx context.Context) (data []byte, ok bool)

// An engine compiles each operation once, resolves each field for all objects of a level
// together, and writes the response in one pass.
type engine struct {
	schema  *Schema
	plans   plans
	buffers sync.Pool // memory of responses that clients have received, as *[]byte
	EngineOptions
}

// EngineOptions connect an engine with the resolvers.
type EngineOptions struct {
	// Start returns the context of a response. For a mutation it is called for each
	// field.
	Start func(ctx context.Context) context.Context
	// Settle is called after each field of a mutation, before what is selected below it is read. It may register extensions of the
	// response. It may be nil.
	Settle func(ctx context.Context)
	// IsHeld reports whether the parents of the field that ctx resolves already hold its
	// values, so that it reads nothing. nil means that every field reads.
	IsHeld func(ctx context.Context) bool
	// Gather is called before n fields are read concurrently. Each field is read with
	// the context that join returns for its own context. end is called after each read.
	Gather func(n int) (join func(context.Context) context.Context, end func())
	// StartEvent returns the context for answering an event of a subscription. nil
	// means the context of the response.
	StartEvent func(ctx context.Context, event any) context.Context
	// Share returns the data of the response to an event of a subscription, which answer computes
	// with StartEvent. If it is sharable, Share may return it for other subscriptions with the same key:
	// those of the same caller and, if all fields are Sharable, which isForAll says, those of callers who may
	// read the same objects. nil shares nothing.
	Share func(event, key any, isForAll bool, answer func() (data []byte, isSharable bool)) []byte
	// Around is called before a field is read for all of its objects. It returns the
	// context of the read and a function that is called at its end. It may be nil.
	Around func(ctx context.Context, object, field string, objects int) (context.Context, func(error))
	// Count counts the bytes of responses while they are written, and fails if they
	// exceed the budget. nil counts nothing.
	Count func(ctx context.Context, n int) error
}

// NewEngine returns the engine of a schema.
func NewEngine(s *Schema, o EngineOptions) Engine {
	if o.Start == nil {
		o.Start = func(ctx context.Context) context.Context { return ctx }
	}
	if o.IsHeld == nil {
		o.IsHeld = func(context.Context) bool { return false }
	}
	if o.Gather == nil {
		o.Gather = func(int) (func(context.Context) context.Context, func()) {
			return func(ctx context.Context) context.Context { return ctx }, func() {}
		}
	}
	if o.Share == nil {
		o.Share = func(_, _ any, _ bool, answer func() ([]byte, bool)) []byte { data, _ := answer(); return data }
	}
	return &engine{schema: s, EngineOptions: o}
}

// Schema returns the schema as clients see it.
func (e *engine) Schema() *ast.Schema { return e.schema.Schema }

// Query reads everything that a query selects, level by level, and then writes it.
func (e *engine) Query(ctx context.Context, operation *graphql.OperationContext) []byte {
	p := e.plans.find(e.schema, operation)
	w := e.newWriter(e.Start(ctx), operation, p)
	w.read(w.steps(w.ctx, nil, p.root, []any{e}))
	w.write(p.root, e)
	p.size.Store(int64(len(w.b)))
	return w.b
}

// Mutate executes the fields of a mutation one after the other, each with all that is
// selected below it.
func (e *engine) Mutate(ctx context.Context, operation *graphql.OperationContext) []byte {
	p := e.plans.find(e.schema, operation)
	w, complete := e.newWriter(ctx, operation, p), true
	ctx = w.ctx
	w.b = append(w.b, '{')
	for i, f := range p.root.fields {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.ctx = e.Start(ctx)  //nolint:fatcontext // each field begins with the context of the response
		if f.Resolve != nil { // every field but __typename has a Resolve
			entered := w.enter(w.ctx, f)
			w.resolve(step{entered, f, []any{e}, false})
			if e.Settle != nil {
				e.Settle(w.ctx)
			}
			w.read(w.stepsBelow(entered, nil, f, w.columns[f.number].values))
		}
		if !w.writeField(f, e) && f.returns.NonNull {
			complete = false
		}
	}
	if !complete {
		return []byte(null)
	}
	return append(w.b, '}')
}

var errStreams = errors.New("must subscribe to exactly one stream")

// Subscribe opens the source of a subscription. Each event gets a response of its own.
func (e *engine) Subscribe(ctx context.Context, operation *graphql.OperationContext) Next {
	p := e.plans.find(e.schema, operation)
	w := e.newWriter(ctx, operation, p)
	if len(p.root.fields) != 1 {
		graphql.AddError(w.ctx, errStreams)
		return nil
	}
	f := p.root.fields[0]
	entered := w.enter(w.ctx, f)
	source, err := w.open(entered, f)
	if err != nil {
		graphql.AddError(entered, err)
		return nil
	}
	key, isForAll := newEqualSubscriptions(p, operation), p.root.isSharable()
	return func(ctx context.Context) ([]byte, bool) {
		event, ok := source(ctx)
		if !ok {
			return nil, false
		}
		return e.Share(event, key, isForAll, func() ([]byte, bool) {
			data := e.answerEvent(ctx, operation, p, event)
			return data, isSharable(ctx, data)
		}), true
	}
}

// answerEvent returns the data of the response to one event of a subscription. The
// Executor counts its bytes.
func (e *engine) answerEvent(ctx context.Context, operation *graphql.OperationContext, p *plan, event any) []byte {
	ctx = e.Start(ctx)
	if e.StartEvent != nil {
		ctx = e.StartEvent(ctx, event)
	}
	w, f := e.newWriter(ctx, operation, p), p.root.fields[0]
	w.count = nil
	w.columns[f.number] = column{values: []any{event}, errorOf: noError}
	w.read(w.stepsBelow(w.enter(w.ctx, f), nil, f, []any{event}))
	w.b = append(w.b, '{')
	w.writeField(f, nil)
	return append(w.b, '}')
}
