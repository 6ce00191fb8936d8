package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
)

// A run is one execution of a plan: it first reads everything, level by level, and
// then writes the response in one pass. Both passes visit the objects of a selection
// in the same order, so the values that were read for an object are found by
// counting.
type run struct {
	engine    *Engine
	operation *graphql.OperationContext
	columns   []column // by the number of a field
}

// A column holds the values of a field for all its parents, in their order.
type column struct {
	values    []any
	errorOf   func(i int) error
	arguments map[string]any
	malformed bool // the arguments are, which is the error of each
	written   int  // how many of the values
}

// A step is a field that must be read for all objects of one level.
type step struct {
	ctx     context.Context //nolint:containedctx // with the field, as in its first parent
	field   *plannedField
	parents []any
}

// read reads everything that is selected of objects. ctx contains their position.
func (r *run) read(ctx context.Context, s *selection, objects []any) {
	r.readLevels(r.steps(ctx, nil, s, objects))
}

// readLevels reads a level, and all levels below it.
func (r *run) readLevels(level []step) {
	for len(level) > 0 {
		r.resolveAll(level)
		var below []step
		for _, done := range level {
			below = r.stepsBelow(done.ctx, below, done.field, r.columns[done.field.number].values)
		}
		level = below
	}
}

// resolveAll resolves the fields of one level concurrently. It resolves a field only
// once if several positions of the document select it for the same objects.
func (r *run) resolveAll(level []step) {
	first, shared := splitShared(level)
	if len(first) == 1 {
		r.resolve(first[0])
	} else {
		r.resolveTogether(first)
	}
	for _, s := range shared {
		c := r.columns[s.of.number]
		r.columns[s.field.number] = column{values: c.values, errorOf: c.errorOf, arguments: c.arguments, malformed: c.malformed}
	}
}

// resolveTogether resolves several fields concurrently.
func (r *run) resolveTogether(steps []step) {
	var all sync.WaitGroup
	join, end := r.engine.Gather(len(steps))
	for _, s := range steps {
		all.Go(func() {
			defer end()
			r.resolve(step{join(s.ctx), s.field, s.parents})
		})
	}
	all.Wait()
}

// A sharedStep is a field that uses the values of another step.
type sharedStep struct{ field, of *plannedField }

// splitShared splits the fields of a level into those that are resolved, with all
// selections below them, and those that share the values of these.
func splitShared(level []step) (first []step, shared []sharedStep) {
	for i, s := range level {
		same := slices.IndexFunc(level[:i], s.isSame)
		if same < 0 {
			first = append(first, s)
			continue
		}
		shared = append(shared, sharedStep{s.field, level[same].field})
		read := &graphql.GetFieldContext(level[same].ctx).Field
		read.Selections = slices.Concat(read.Selections, s.field.collected.Selections)
	}
	return first, shared
}

// isSame reports whether other selects the same field of the same objects.
func (s step) isSame(other step) bool {
	return s.field.Field == other.field.Field && s.field.arguments == other.field.arguments && slices.Equal(s.parents, other.parents)
}

// steps adds the steps for objects and for the objects that they contain.
func (r *run) steps(ctx context.Context, steps []step, s *selection, objects []any) []step {
	if !s.reads || len(objects) == 0 {
		return steps
	}
	for _, f := range s.fields {
		if !f.reads {
			continue
		}
		ctx := r.enter(ctx, f)
		if f.Resolve != nil {
			steps = append(steps, step{ctx, f, objects})
			continue
		}
		r.get(ctx, f, objects)
		steps = r.stepsBelow(ctx, steps, f, r.columns[f.number].values)
	}
	return steps
}

// stepsBelow adds the steps for the values of a field.
func (r *run) stepsBelow(ctx context.Context, steps []step, f *plannedField, values []any) []step {
	switch {
	case f.isLeaf:
		return steps
	case f.TypeOf == nil:
		return r.steps(ctx, steps, f.below, objectsIn(values, f.below.reads))
	}
	byType := map[*selection][]any{}
	var types []*selection // in the order of their first objects
	for _, object := range objectsIn(values, true) {
		s := f.selectionOf(object)
		if byType[s] == nil {
			types = append(types, s)
		}
		byType[s] = append(byType[s], object)
	}
	for _, s := range types {
		steps = r.steps(ctx, steps, s, byType[s])
	}
	return steps
}

// objectsIn returns the objects among values, including those in lists, if wanted is
// set.
func objectsIn(values []any, wanted bool) []any {
	if !wanted {
		return nil
	}
	objects := make([]any, 0, len(values))
	for _, value := range values {
		switch value := value.(type) {
		case nil:
		case List:
			for i := range value.Len() {
				if object := value.At(i); object != nil {
					objects = append(objects, object)
				}
			}
		default:
			objects = append(objects, value)
		}
	}
	return objects
}

// enter returns ctx with a field.
func (r *run) enter(ctx context.Context, f *plannedField) context.Context {
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{
		Object: f.object.Name, Field: f.collected, Args: r.columns[f.number].arguments,
		IsMethod: f.Resolve != nil, IsResolver: f.Resolve != nil,
	})
}

// get stores the values that objects contain in a field, because fields below it
// must be resolved.
func (r *run) get(ctx context.Context, f *plannedField, objects []any) {
	r.fill(ctx, f, objects, func(arguments map[string]any) ([]any, error) {
		held := make([]any, len(objects))
		for i, object := range objects {
			held[i] = f.Get(object, arguments)
		}
		return held, nil
	})
}

// resolve resolves a field for all of its parents.
func (r *run) resolve(s step) {
	r.fill(s.ctx, s.field, s.parents, func(arguments map[string]any) (values []any, err error) {
		ctx := s.ctx
		if r.engine.Around != nil {
			around, end := r.engine.Around(ctx, s.field.object.Name, s.field.collected.Name, len(s.parents))
			ctx = around
			defer func() { end(err) }()
		}
		return s.field.Resolve(ctx, s.parents, arguments)
	})
}

var errCount = errors.New("a resolver did not return one value for each parent")

// fill fills the column of a field with the results of give. A panic becomes an
// error of every parent.
func (r *run) fill(ctx context.Context, f *plannedField, parents []any, give func(arguments map[string]any) ([]any, error)) {
	c := &r.columns[f.number]
	values, err := r.recoverPanics(ctx, func() (values []any, err error) {
		if c.arguments, err = r.argumentsOf(ctx, f); err != nil {
			c.malformed = true
			return nil, err
		}
		graphql.GetFieldContext(ctx).Args = c.arguments
		return give(c.arguments)
	})
	if len(values) != len(parents) {
		if err == nil {
			err = fmt.Errorf("%s.%s: %w", f.object.Name, f.collected.Name, errCount)
		}
		values = make([]any, len(parents))
	}
	c.values, c.errorOf = values, errorsOf(err, len(parents))
	for i := range values {
		if err != nil && c.errorOf(i) != nil {
			values[i] = nil
		}
	}
}

// recoverPanics converts a panic into an error.
func (r *run) recoverPanics(ctx context.Context, give func() ([]any, error)) (values []any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			values, err = nil, r.operation.Recover(ctx, cause)
		}
	}()
	return give()
}

// argumentsOf decodes the arguments of a field, once for all of its parents.
func (r *run) argumentsOf(ctx context.Context, f *plannedField) (map[string]any, error) {
	if f.Arguments == nil {
		return nil, nil
	}
	return f.Arguments(ctx, f.collected.ArgumentMap(r.operation.Variables))
}

func (e *Engine) newRun(ctx context.Context, p *plan) *run {
	return &run{engine: e, operation: graphql.GetOperationContext(ctx), columns: make([]column, p.fields)}
}
