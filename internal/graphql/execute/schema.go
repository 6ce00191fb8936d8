package execute

import (
	"context"
	"errors"
	"reflect"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// A Schema describes a schema for the engine: the types as clients see them, and how
// each field is read from Go values. The latter is generated code.
type Schema struct {
	*ast.Schema
	Objects map[string]*Object
}

// An Object describes how the fields of one object type are read.
type Object struct {
	Name      string
	Satisfies []string // names of the types whose fragments apply to this object
	Fields    map[string]*Field
}

// A Field describes how one field is read. Exactly one of Append, Get, Resolve and
// Stream is set.
type Field struct {
	// Arguments decodes the arguments. It is nil for a field that takes none.
	Arguments func(ctx context.Context, raw map[string]any) (map[string]any, error)

	// Append writes a scalar that parent contains.
	Append func(b []byte, parent any) []byte
	// Get returns an object or a List that parent contains. A nil object is null.
	Get func(parent any, arguments map[string]any) any
	// Resolve reads the values of all parents at once. They are in the order of
	// the parents, and so are the errors of a graphql.BatchErrors.
	Resolve func(ctx context.Context, parents []any, arguments map[string]any) ([]any, error)
	// Stream opens the source of a subscription.
	Stream func(ctx context.Context, arguments map[string]any) (Source, error)

	// Expect returns the objects that the field returns if they exist, with no more than their
	// keys, as far as the arguments tell them. It may be nil.
	Expect func(ctx context.Context, arguments map[string]any) []any
	// ByKey says that Resolve needs no more of its parents than their keys, and that it
	// adds no errors by itself: what it returns is dropped if a parent does not exist.
	ByKey bool

	// Sharable says that what Resolve returns depends on the caller only by which objects it may read by their keys, so
	// that subscriptions of callers who may read the same objects share it.
	Sharable bool

	// AppendValue writes a scalar that Resolve returned. It is nil if Resolve returns
	// objects.
	AppendValue func(b []byte, value any) []byte
	// TypeOf returns the name of the type of an object, if the type of the field is an
	// interface or a union; otherwise it is nil.
	TypeOf func(value any) string
}

// A Source returns the events of a subscription one by one, and false at the end.
type Source func(ctx context.Context) (event any, ok bool)

// A List is the value of Get and Resolve for a list of objects.
type List interface {
	Len() int
	At(i int) any // nil means null
}

type (
	pointers[T any]   []*T
	values[T any]     []T
	interfaces[T any] []T
)

func (l pointers[T]) Len() int     { return len(l) }
func (l pointers[T]) At(i int) any { return Pointer(l[i]) }

func (l values[T]) Len() int     { return len(l) }
func (l values[T]) At(i int) any { return &l[i] }

func (l interfaces[T]) Len() int     { return len(l) }
func (l interfaces[T]) At(i int) any { return Interface(l[i]) }

// Pointer returns an object as the value of a field.
func Pointer[T any](object *T) any {
	if object == nil { // an interface that contains a nil pointer is not nil
		return nil
	}
	return object
}

// Struct returns an object that is not a pointer as the value of a field.
func Struct[T any](object T) any { return &object }

// Interface returns an object of an interface type as the value of a field.
func Interface[T any](object T) any {
	if v := reflect.ValueOf(object); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return object
}

// Value returns a scalar as the value of a field.
func Value[T any](value T) any { return value }

// Pointers returns a list of objects as the value of a field.
func Pointers[T any](list []*T) any { return pointers[T](list) }

// Structs returns a list of objects that are not pointers as the value of a field.
func Structs[T any](list []T) any { return values[T](list) }

// Interfaces returns a list of objects of an interface type as the value of a field.
func Interfaces[T any](list []T) any { return interfaces[T](list) }

// Nullable returns the result of give for a list, and null for a nil list.
func Nullable[T any](list []T, give func([]T) any) any {
	if list == nil {
		return nil
	}
	return give(list)
}

// Parents converts the parents of a field to their type.
func Parents[T any](parents []any) []*T {
	typed := make([]*T, len(parents))
	for i, parent := range parents {
		typed[i] = parent.(*T) //nolint:forcetypeassert // the engine keeps objects of different types apart
	}
	return typed
}

// Each returns the results for all parents as values of a field.
func Each[T any](read []T, err error, give func(T) any) ([]any, error) {
	all := make([]any, len(read))
	for i, value := range read {
		all[i] = give(value)
	}
	return all, err
}

// One returns the result of a root field, which has one parent.
func One[T any](read T, err error, give func(T) any) ([]any, error) {
	if err != nil {
		return nil, err
	}
	return []any{give(read)}, nil
}

// Receive returns the source of a channel.
func Receive[T any](events <-chan T, err error, give func(T) any) (Source, error) {
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (any, bool) {
		select {
		case event, ok := <-events:
			if !ok {
				return nil, false
			}
			return give(event), true
		case <-ctx.Done():
			return nil, false
		}
	}, nil
}

// errorsOf returns a function that returns the error of each of n parents: the errors
// of a batch, or one error for all of them.
func errorsOf(err error, n int) func(i int) error {
	if err == nil {
		return noError
	}
	var each graphql.BatchErrors
	switch {
	case errors.As(err, &each) && len(each.Errors()) == n:
		return func(i int) error { return each.Errors()[i] }
	default:
		return func(int) error { return err }
	}
}

// noError is the function of errorsOf for a field without errors.
func noError(int) error { return nil }
