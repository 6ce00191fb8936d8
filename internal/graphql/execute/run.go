package execute

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/graphql/refusal"
)

// A run is one execution of a plan: it first reads everything, level by level, and
// then writes the response in one pass. Both passes visit the objects of a selection
// in the same order, so the values that were read for an object are found by
// counting.
type run struct {
	engine    *engine
	operation *graphql.OperationContext
	columns   []column // columns by the numbers of their fields
}

// A column holds the values of a field for all its parents, in their order.
type column struct {
	values    []any
	errorOf   func(i int) error
	arguments map[string]any
	malformed bool // whether the arguments are malformed, which is then the error of each value
	expected  int  // number of expected objects that the values were read for; 0 means that they were not read before the objects
	written   int  // number of values that have been written
}

// A step is a field that must be read for all objects of one level.
type step struct {
	ctx     context.Context //nolint:containedctx // context of the field in its first parent
	field   *plannedField
	parents []any
	isEarly bool // whether the parents are only expected
}

// read reads the fields of a level, and of all levels below it. It reads a field only
// once if several positions of the document select it for the same objects.
func (r *run) read(level []step) {
	for len(level) > 0 {
		level = r.addExpected(level)
		first, shared := splitShared(level)
		if len(first) == 1 {
			r.resolve(first[0])
		} else {
			r.resolveTogether(first)
		}
		for _, s := range shared {
			c := r.columns[s.source.number]
			r.columns[s.field.number] = column{values: c.values, errorOf: c.errorOf, arguments: c.arguments, malformed: c.malformed, expected: c.expected}
		}
		var below []step
		for _, done := range level {
			if !done.isEarly { // what is below an early step follows from its parents
				below = r.stepsBelow(done.ctx, below, done.field, r.columns[done.field.number].values)
			}
		}
		level = below
	}
}

// resolveTogether resolves several fields. Those that read something are resolved
// concurrently. It changes steps.
func (r *run) resolveTogether(steps []step) {
	reading := steps[:0]
	for _, s := range steps {
		if r.engine.IsHeld(s.ctx) {
			r.resolve(s)
		} else {
			reading = append(reading, s)
		}
	}
	if len(reading) == 1 {
		r.resolve(reading[0])
		return
	}
	var all sync.WaitGroup
	join, end := r.engine.Gather(len(reading))
	for _, s := range reading {
		all.Go(func() {
			defer end()
			r.resolve(step{join(s.ctx), s.field, s.parents, s.isEarly})
		})
	}
	all.Wait()
}

// A sharedStep is a field that uses the values of another field, the source.
type sharedStep struct{ field, source *plannedField }

// splitShared splits the fields of a level into those that are resolved, with all
// selections below them, and those that share the values of these.
func splitShared(level []step) (first []step, shared []sharedStep) {
	if len(level) == 1 {
		return level, nil
	}
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

// isSame reports whether other selects the same field, with the same arguments, of the
// same objects.
func (s step) isSame(other step) bool {
	return !s.field.reportsElements() && s.field.Field == other.field.Field && s.field.arguments == other.field.arguments && slices.Equal(s.parents, other.parents)
}

// reportsElements reports whether the field is a list whose elements may be null: its resolver reports the error of an
// element by itself, at the path of the field that it resolves, so it is resolved for each place.
func (f *plannedField) reportsElements() bool {
	return f.returns.Elem != nil && !f.returns.Elem.NonNull
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
		switch {
		case f.Resolve == nil:
			r.get(ctx, f, objects)
		case r.columns[f.number].expected != len(objects):
			steps = append(steps, step{ctx, f, objects, false})
			continue
		}
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
	for s, objects := range f.bySelection(objectsIn(values, true)) {
		steps = r.steps(ctx, steps, s, objects)
	}
	return steps
}

// bySelection returns the selections for objects that the field returns, in the order of their first objects, with
// the objects of each.
func (f *plannedField) bySelection(objects []any) iter.Seq2[*selection, []any] {
	byType := map[*selection][]any{}
	var types []*selection
	for _, object := range objects {
		s := f.selectionOf(object)
		if byType[s] == nil {
			types = append(types, s)
		}
		byType[s] = append(byType[s], object)
	}
	return func(yield func(*selection, []any) bool) {
		for _, s := range types {
			if !yield(s, byType[s]) {
				return
			}
		}
	}
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

// enter returns ctx with the context of a field.
func (r *run) enter(ctx context.Context, f *plannedField) context.Context {
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{
		Object: f.object.Name, Field: f.collected, Args: r.columns[f.number].arguments,
		IsMethod: f.Resolve != nil, IsResolver: f.Resolve != nil,
	})
}

// get stores the values of a field that objects contain, because fields below it must
// be resolved.
func (r *run) get(ctx context.Context, f *plannedField, objects []any) {
	var held []any
	var err error
	defer func() { r.keep(ctx, f, len(objects), held, err, recover()) }()
	if err = r.decodeArguments(ctx, f); err != nil {
		return
	}
	held = make([]any, len(objects))
	for i, object := range objects {
		held[i] = f.Get(object, r.columns[f.number].arguments)
	}
}

// resolve resolves a field for all of its parents.
func (r *run) resolve(s step) {
	var values []any
	var err error
	defer func() { r.keep(s.ctx, s.field, len(s.parents), values, err, recover()) }()
	if err = r.decodeArguments(s.ctx, s.field); err != nil {
		return
	}
	if err = s.ctx.Err(); err != nil { // the request has ended between two levels
		return
	}
	ctx := s.ctx
	if r.engine.Around != nil {
		around, end := r.engine.Around(ctx, s.field.object.Name, s.field.collected.Name, len(s.parents))
		ctx = around
		defer func() { end(err) }()
	}
	parents, places := s.distinctParents()
	values, err = s.field.Resolve(ctx, parents, r.columns[s.field.number].arguments)
	values, err = spread(values, err, len(parents), places)
}

// distinctParents returns each parent once, and the place of every parent among them: many objects lead to one, such as
// groups to their parent, and what it has is read once. places is nil if the parents differ.
func (s step) distinctParents() (parents []any, places []int) {
	if len(s.parents) == 1 || s.field.reportsElements() {
		return s.parents, nil
	}
	known := make(map[any]int, len(s.parents))
	for i, parent := range s.parents {
		place, again := known[parent]
		if !again {
			place = len(known)
			known[parent] = place
		}
		if again && places == nil {
			parents, places = slices.Clone(s.parents[:i]), make([]int, i, len(s.parents))
			for before := range places {
				places[before] = before
			}
		}
		if places != nil {
			places = append(places, place)
			if !again {
				parents = append(parents, parent)
			}
		}
	}
	if places == nil {
		return s.parents, nil
	}
	return parents, places
}

// spread returns the values and the errors of n distinct parents for the parents at all places.
func spread(values []any, err error, n int, places []int) ([]any, error) {
	switch {
	case places == nil:
		return values, err
	case len(values) != n && err == nil:
		return nil, fmt.Errorf("%d values for %d parents: %w", len(values), n, errCount)
	}
	all, errs := make([]any, len(places)), make([]error, len(places))
	errorOf := errorsOf(err, n)
	for i, place := range places {
		errs[i] = errorOf(place)
		if len(values) == n {
			all[i] = values[place]
		}
	}
	if err != nil {
		err = graphql.BatchErrorList(errs)
	}
	return all, err
}

// open opens the source of a subscription.
func (r *run) open(ctx context.Context, f *plannedField) (source Source, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = r.operation.Recover(ctx, cause)
		}
	}()
	if f.Stream == nil { // __typename has no events
		return nil, errStreams
	}
	if err = r.decodeArguments(ctx, f); err != nil {
		return nil, err
	}
	source, err = f.Stream(ctx, r.columns[f.number].arguments)
	return source, graphql.AddFieldLocationToError(ctx, err)
}

var errCount = errors.New("a resolver did not return one value for each parent")

// keep stores the values of a field in its column. The cause of a panic becomes an error
// of all n parents.
func (r *run) keep(ctx context.Context, f *plannedField, n int, values []any, err error, cause any) {
	if cause != nil {
		values, err = nil, PanicError(ctx, cause)
	}
	if len(values) != n {
		if err == nil {
			err = fmt.Errorf("%s.%s: %w", f.object.Name, f.collected.Name, errCount)
		}
		values = make([]any, n)
	}
	c := &r.columns[f.number]
	c.values, c.errorOf = values, errorsOf(err, n)
	for i := range values {
		if err != nil && c.errorOf(i) != nil {
			values[i] = nil
		}
	}
}

// decodeArguments decodes the arguments of a field, once for all of its parents.
func (r *run) decodeArguments(ctx context.Context, f *plannedField) error {
	if f.Arguments == nil {
		return nil
	}
	if err := r.refuseNulls(f); err != nil {
		return err
	}
	c := &r.columns[f.number]
	arguments, err := f.Arguments(ctx, f.collected.ArgumentMap(r.operation.Variables))
	if err != nil {
		c.malformed = true
		return err
	}
	c.arguments = arguments
	graphql.GetFieldContext(ctx).Args = arguments
	return nil
}

// refuseNulls returns an error if a variable is null in a place that allows no null. A
// variable whose type allows null is valid there if the variable or the place has a default
// value, but null can still be given for it.
func (r *run) refuseNulls(f *plannedField) error {
	for _, given := range f.collected.Arguments {
		defined := f.collected.Definition.Arguments.ForName(given.Name)
		if name := r.findNull(given.Name, defined.Type, given.Value); name != "" {
			return refusal.NewInvalid(name, "must not be null")
		}
	}
	return nil
}

// findNull returns the name of the first place in an argument that must not be null and
// whose variable is null, such as orderBy.direction, or "". What a variable contains has
// been checked by its type.
func (r *run) findNull(name string, declared *ast.Type, given *ast.Value) string {
	switch given.Kind {
	case ast.Variable:
		if value, isGiven := r.operation.Variables[given.Raw]; isGiven && value == nil && declared.NonNull {
			return name
		}
	case ast.ListValue:
		for i, element := range given.Children {
			if declared.Elem == nil { // a scalar takes any JSON
				break
			}
			if found := r.findNull(fmt.Sprintf("%s[%d]", name, i), declared.Elem, element.Value); found != "" {
				return found
			}
		}
	case ast.ObjectValue:
		definition := r.engine.schema.Types[declared.Name()]
		for _, member := range given.Children {
			field := definition.Fields.ForName(member.Name)
			if field == nil { // a scalar takes any JSON
				break
			}
			if found := r.findNull(name+"."+member.Name, field.Type, member.Value); found != "" {
				return found
			}
		}
	}
	return ""
}
