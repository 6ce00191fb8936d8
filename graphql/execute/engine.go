package execute

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// An Engine executes operations of one schema. It compiles each operation once,
// resolves each field for all objects of a level together, and writes the response
// in one pass.
type Engine struct {
	schema *Schema
	plans  plans
	EngineOptions
}

// EngineOptions connect an Engine with the resolvers.
type EngineOptions struct {
	// Start returns the context of a response. For a mutation it is called for each
	// field.
	Start func(ctx context.Context) context.Context
	// Gather is called before n fields are read concurrently. Each field is read with
	// the context that join returns for its own context. end is called after the reads.
	Gather func(n int) (join func(context.Context) context.Context, end func())
	// StartEvent returns the context for answering an event of a subscription. nil
	// means the context of the response.
	StartEvent func(ctx context.Context, event any) context.Context
	// Around is called before a field is read for all of its objects. It returns the
	// context of the read and a function that is called at its end. It may be nil.
	Around func(ctx context.Context, object, field string, objects int) (context.Context, func(error))
	// Count counts the bytes of responses while they are written, and fails if they
	// exceed the budget. nil counts nothing.
	Count func(ctx context.Context, n int) error
}

// NewEngine returns an Engine for a schema.
func NewEngine(s *Schema, o EngineOptions) *Engine {
	if o.Gather == nil {
		o.Gather = func(int) (func(context.Context) context.Context, func()) {
			return func(ctx context.Context) context.Context { return ctx }, func() {}
		}
	}
	return &Engine{schema: s, EngineOptions: o}
}

// Schema returns the schema as clients see it.
func (e *Engine) Schema() *ast.Schema { return e.schema.Schema }

// Complexity is not used: package limit computes the cost of documents.
func (e *Engine) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

// Exec starts an operation. The handler returns its responses one by one.
func (e *Engine) Exec(ctx context.Context) graphql.ResponseHandler {
	operation := graphql.GetOperationContext(ctx)
	p := e.plans.find(e.schema, operation)
	if operation.Operation.Operation == ast.Subscription {
		return e.subscribe(ctx, p)
	}
	done := false
	return func(ctx context.Context) *graphql.Response {
		if done {
			return nil
		}
		done = true
		return e.answer(ctx, p, operation.Operation.Operation == ast.Mutation)
	}
}

// answer executes a query or a mutation and returns its response.
func (e *Engine) answer(ctx context.Context, p *plan, isMutation bool) *graphql.Response {
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: p.root.object.Name})
	r := e.newRun(ctx, p)
	w := &writer{run: r, ctx: ctx, count: e.Count}
	if isMutation {
		return &graphql.Response{Data: e.mutate(r, w, p.root)}
	}
	r.read(ctx, p.root, []any{e})
	w.write(p.root, e)
	return &graphql.Response{Data: w.b}
}

// mutate executes the fields of a mutation one after the other, each with all
// that is selected below it.
func (e *Engine) mutate(r *run, w *writer, root *selection) []byte {
	ctx, complete := w.ctx, true
	w.b = append(w.b, '{')
	for i, f := range root.fields {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if !e.mutateField(ctx, r, w, &selection{root.object, []*plannedField{f}, f.reads}) && f.returns.NonNull {
			complete = false
		}
	}
	if !complete {
		return []byte(null)
	}
	return append(w.b, '}')
}

// mutateField executes the one field of a selection, and reports whether it is
// not null.
func (e *Engine) mutateField(ctx context.Context, r *run, w *writer, s *selection) bool {
	if w.ctx = ctx; e.Start != nil {
		w.ctx = e.Start(ctx)
	}
	r.read(w.ctx, s, []any{e})
	return w.writeField(s.fields[0], e)
}

var errStreams = errors.New("must subscribe to exactly one stream")

// subscribe opens the source of a subscription. Each event is answered by itself.
func (e *Engine) subscribe(ctx context.Context, p *plan) graphql.ResponseHandler {
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: p.root.object.Name})
	if len(p.root.fields) != 1 {
		graphql.AddError(ctx, errStreams)
		return nil
	}
	f := p.root.fields[0]
	source, err := e.open(ctx, e.newRun(ctx, p), f)
	if err != nil {
		return nil
	}
	return func(ctx context.Context) *graphql.Response {
		event, ok := source(ctx)
		if !ok {
			return nil
		}
		return e.answerEvent(ctx, p, event)
	}
}

// open opens the source of the one field of a subscription.
func (e *Engine) open(ctx context.Context, r *run, f *plannedField) (source Source, err error) {
	ctx = r.enter(ctx, f)
	if f.Stream == nil { // __typename has no events
		graphql.AddError(ctx, errStreams)
		return nil, errStreams
	}
	_, err = r.recoverPanics(ctx, func() ([]any, error) {
		arguments, err := r.argumentsOf(ctx, f)
		if err != nil {
			return nil, err
		}
		graphql.GetFieldContext(ctx).Args = arguments
		source, err = f.Stream(ctx, arguments)
		return nil, graphql.AddFieldLocationToError(ctx, err)
	})
	graphql.AddError(ctx, err)
	return source, err
}

// answerEvent makes the response for one event of a subscription.
func (e *Engine) answerEvent(ctx context.Context, p *plan, event any) *graphql.Response {
	if e.StartEvent != nil {
		ctx = e.StartEvent(ctx, event)
	}
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: p.root.object.Name})
	r, f := e.newRun(ctx, p), p.root.fields[0]
	r.columns[f.number] = column{values: []any{event}, errorOf: func(int) error { return nil }}
	r.readLevels(r.stepsBelow(r.enter(ctx, f), nil, f, []any{event}))
	w := &writer{run: r, ctx: ctx}
	w.b = append(w.b, '{')
	w.writeField(f, nil)
	return &graphql.Response{Data: append(w.b, '}')}
}
