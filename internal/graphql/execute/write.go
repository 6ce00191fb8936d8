package execute

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// A writer writes the response of a run, depth first. It continues after an error, so
// that the response names all errors, and removes what has become null.
type writer struct {
	run
	ctx   context.Context //nolint:containedctx // the context of the root of the response
	b     []byte
	place []position  // path of the value that is being written
	outer [8]position // memory of place, unless the path is longer

	count   func(ctx context.Context, n int) error // see EngineOptions.Count
	counted int
	isFull  bool
}

// A position is a field or an element of a list.
type position struct {
	field *plannedField // nil for an element of a list
	index int
}

// newWriter returns a writer for the response to an operation, of which nothing has been
// read.
func (e *engine) newWriter(ctx context.Context, operation *graphql.OperationContext, p *plan) *writer {
	w := &writer{
		run: run{engine: e, operation: operation, columns: make([]column, p.fields)},
		ctx: graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: p.root.object.Name}),
		b:   e.newBuffer(int(p.size.Load())), count: e.Count,
	}
	w.place = w.outer[:0]
	return w
}

// maxRecycled is the size of the largest buffer that is used again.
const maxRecycled = 256 << 10

// roomAfter is the room for what follows the data in a response.
const roomAfter = 128

// newBuffer returns a buffer for a response whose data is expected to have n bytes.
func (e *engine) newBuffer(n int) []byte {
	if used, _ := e.buffers.Get().(*[]byte); used != nil && cap(*used) >= n+roomAfter {
		return (*used)[:0]
	}
	return make([]byte, 0, n+roomAfter)
}

// Recycle allows later responses to overwrite the data of a response.
func (e *engine) Recycle(data []byte) {
	if cap(data) <= maxRecycled {
		e.buffers.Put(&data)
	}
}

// countedAtOnce is the number of bytes that are counted in advance, because most
// writes are small.
const countedAtOnce = 4 << 10

var (
	errNull        = errors.New("must not be null")
	errElementNull = errors.New("the requested element is null which the schema does not allow")
)

// write writes an object, and reports whether it is not null.
func (w *writer) write(s *selection, object any) bool {
	start, complete := len(w.b), true
	w.b = append(w.b, '{')
	for i, f := range s.fields {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if !w.writeField(f, object) && f.returns.NonNull {
			complete = false
		}
	}
	if !complete {
		return w.writeNull(start)
	}
	w.b = append(w.b, '}')
	return w.fits()
}

// writeNull replaces everything that was written since start by null.
func (w *writer) writeNull(start int) bool {
	w.b = append(w.b[:start], null...)
	return false
}

// fits counts the written bytes and reports whether they are within the budget.
// Otherwise the output is dropped, and the whole response is rejected at the end.
func (w *writer) fits() bool {
	if w.count != nil && len(w.b) > w.counted && !w.isFull {
		more := max(len(w.b)-w.counted, countedAtOnce)
		w.isFull = w.count(w.ctx, more) != nil
		w.counted += more
	}
	if w.isFull {
		w.b = w.b[:0]
	}
	return !w.isFull
}

// writeField writes a field of an object, and reports whether it is not null.
func (w *writer) writeField(f *plannedField, parent any) bool {
	w.b = append(w.b, f.key...)
	start := len(w.b)
	w.place = append(w.place, position{field: f})
	isWritten := w.writeValueOf(f, parent, start)
	w.place = w.place[:len(w.place)-1]
	return isWritten
}

func (w *writer) writeValueOf(f *plannedField, parent any, start int) bool {
	if f.Append != nil {
		w.b = f.Append(w.b, parent)
		return w.isScalar(f, start)
	}
	value, err := w.valueOf(f, parent)
	switch {
	case err != nil:
		w.fail(f, err)
		return w.writeNull(start)
	case value == nil:
		w.report(f.returns, errNull)
		return w.writeNull(start)
	case f.isLeaf:
		w.b = f.AppendValue(w.b, value)
		return w.isScalar(f, start)
	default:
		return w.writeValue(f, f.returns, value)
	}
}

// isScalar reports whether the scalar that was written since start is not null.
func (w *writer) isScalar(f *plannedField, start int) bool {
	if string(w.b[start:]) != null {
		return true
	}
	w.report(f.returns, errElementNull)
	return false
}

// valueOf returns the value that was read for a field of an object, or the one that
// the object contains.
func (w *writer) valueOf(f *plannedField, parent any) (any, error) {
	c := &w.columns[f.number]
	if c.errorOf == nil { // neither the field nor a field below it had to be read
		if f.Arguments == nil {
			return f.Get(parent, nil), nil
		}
		if err := w.decodeArguments(w.currentContext(), f); err != nil {
			return nil, err
		}
		return f.Get(parent, c.arguments), nil
	}
	i := c.written
	c.written++
	return c.values[i], c.errorOf(i)
}

// writeValue writes an object or a list that a field returned.
func (w *writer) writeValue(f *plannedField, declared *ast.Type, value any) bool {
	list, isList := value.(List)
	if !isList {
		return w.write(f.selectionOf(value), value)
	}
	start, complete := len(w.b), true
	w.b = append(w.b, '[')
	for i := range list.Len() {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.place = append(w.place, position{index: i})
		if !w.writeElement(f, declared.Elem, list.At(i)) && declared.Elem.NonNull {
			complete = false
		}
		w.place = w.place[:len(w.place)-1]
		if w.isFull {
			return false
		}
	}
	if !complete {
		return w.writeNull(start)
	}
	w.b = append(w.b, ']')
	return true
}

func (w *writer) writeElement(f *plannedField, declared *ast.Type, element any) bool {
	if element != nil {
		return w.writeValue(f, declared, element)
	}
	w.report(declared, errElementNull)
	return w.writeNull(len(w.b))
}

// fail adds the error of a field.
func (w *writer) fail(f *plannedField, err error) {
	ctx := w.currentContext()
	// The error of malformed arguments has a path that names the argument.
	if !w.columns[f.number].malformed {
		err = graphql.AddFieldLocationToError(ctx, err)
	}
	graphql.AddError(ctx, err)
}

// report adds err for a null, unless the type allows null or the value already has an
// error.
func (w *writer) report(declared *ast.Type, err error) {
	if !declared.NonNull {
		return
	}
	ctx := w.currentContext()
	if !graphql.HasFieldError(ctx, graphql.GetFieldContext(ctx)) {
		graphql.AddError(ctx, err)
	}
}

// currentContext returns the context of the value that is being written.
func (w *writer) currentContext() context.Context { return w.enterAll(w.ctx, w.place) }

func (w *writer) enterAll(ctx context.Context, places []position) context.Context {
	switch {
	case len(places) == 0:
		return ctx
	case places[0].field != nil:
		return w.enterAll(w.enter(ctx, places[0].field), places[1:])
	default:
		element := &graphql.FieldContext{Index: &places[0].index}
		return w.enterAll(graphql.WithFieldContext(ctx, element), places[1:])
	}
}
