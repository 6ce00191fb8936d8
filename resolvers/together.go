package resolvers

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Objects that were read together are siblings: the rows of a page, or of the
// pages of all siblings one level up. What is selected of one is selected of
// all, so the first resolver that follows an edge from one of them follows it
// from all of them with one read, and the others wait for that. How many
// statements a query takes depends on its shape alone, never on timing.

// siblings are objects that were read together, and what was read for them.
type siblings[T any] struct {
	all []*T

	lock sync.Mutex
	read map[string]any // func() ([]V, []error), by field and arguments
}

// A place is where among its siblings an object is.
type place[T any] struct {
	*siblings[T]
	i int
}

// families find the place of every object of a response.
type families struct {
	lock   sync.Mutex
	places map[any]any // *T: place[T]
}

// remember makes objects siblings. One that has siblings already keeps them.
func remember[T any](ctx context.Context, objects []*T) {
	f := &readsOf(ctx).families
	f.lock.Lock()
	defer f.lock.Unlock()
	s := &siblings[T]{read: map[string]any{}}
	for _, object := range objects {
		if _, known := f.places[object]; known || object == nil {
			continue
		}
		f.places[object] = place[T]{s, len(s.all)}
		s.all = append(s.all, object)
	}
}

// placeOf finds an object among its siblings. One that came alone has none.
func placeOf[T any](ctx context.Context, object *T) place[T] {
	f := &readsOf(ctx).families
	f.lock.Lock()
	defer f.lock.Unlock()
	at, known := f.places[object].(place[T])
	if !known {
		at = place[T]{&siblings[T]{all: []*T{object}, read: map[string]any{}}, 0}
		f.places[object] = at
	}
	return at
}

// together gives what read finds for object. read is called once for object
// and all its siblings, by whoever comes first with key; its answers are in
// their order.
func together[T, V any](ctx context.Context, object *T, key string, read func(context.Context, []*T) ([]V, []error)) (V, error) {
	at := placeOf(ctx, object)
	at.lock.Lock()
	answer, ok := at.read[key].(func() ([]V, []error))
	if !ok {
		answer = sync.OnceValues(func() ([]V, []error) { return safely(read)(ctx, at.all) })
		at.read[key] = answer
	}
	at.lock.Unlock()
	values, errs := answer()
	return values[at.i], errs[at.i]
}

// An edgeKey is a field of a document, on objects of a type. Its arguments are
// the same for all of them.
type edgeKey struct {
	object string
	field  *ast.Field
}

// edgeOf names the field that is being resolved with its arguments: what
// aliases of one edge have in common. The name is made once for all objects of
// a response.
func edgeOf(ctx context.Context) string {
	field := graphql.GetFieldContext(ctx)
	edges, key := &readsOf(ctx).edges, edgeKey{field.Object, field.Field.Field}
	if name, known := edges.Load(key); known {
		return name.(string) //nolint:forcetypeassert // nothing else is stored
	}
	arguments, _ := json.Marshal(field.Args) // decoded from JSON: it cannot fail
	name := field.Object + "." + field.Field.Name + "(" + string(arguments) + ")"
	edges.Store(key, name)
	return name
}
