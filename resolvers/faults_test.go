package resolvers

import (
	"context"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"atrium/internal/agreement"
	"atrium/internal/graphql/execute"
	"atrium/platform"
	"atrium/platform/core"
)

// Faults are errors and panics of resolvers, at the same fields of the same objects for
// both executors. The number in the context of a request decides which fields fail; a
// request without it has none.

type faultsKey struct{}

func withFaults(ctx context.Context, number uint64) context.Context {
	return context.WithValue(ctx, faultsKey{}, number)
}

// faultAt returns the error of a field of an object, and panics for some fields.
func faultAt(ctx context.Context, object, field string, parent any) error {
	number, ok := ctx.Value(faultsKey{}).(uint64)
	if !ok || strings.HasPrefix(field, "_") { // The oracle has no hook for these.
		return nil
	}
	draw := func(n uint64, parts ...any) bool {
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, number, object, field, parts) // A hash takes everything.
		return h.Sum64()%n == 0
	}
	switch {
	case draw(50, "panic"):
		panic("a fault")
	case draw(20, "all"), draw(10, "one", uidOf(parent)):
		return core.Unavailable("a fault of "+object+"."+field, nil)
	default:
		return nil
	}
}

// uidOf returns the UID of an object, or "" if it has none.
func uidOf(object any) string {
	v := reflect.ValueOf(object)
	for (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return ""
	}
	if uid := v.FieldByName("UID"); uid.IsValid() && uid.Kind() == reflect.String {
		return uid.String()
	}
	return ""
}

// newFaultyEngine returns our engine with faults.
func newFaultyEngine(p *platform.Platform) execute.Engine {
	resolvers, options := Connect(p)
	schema := showSubgraph(newSchema(resolvers))
	for _, object := range schema.Objects {
		for name, field := range object.Fields {
			if field.Resolve != nil {
				addFaults(object.Name, name, field)
			}
		}
	}
	return execute.NewEngine(schema, options)
}

// addFaults adds the faults of a field for each of its parents.
func addFaults(object, name string, field *execute.Field) {
	resolve := field.Resolve
	field.Resolve = func(ctx context.Context, parents []any, arguments map[string]any) ([]any, error) {
		faults, failed := make([]error, len(parents)), 0
		for i, parent := range parents {
			if faults[i] = faultAt(ctx, object, name, parent); faults[i] != nil {
				failed++
			}
		}
		if failed == len(parents) {
			return make([]any, len(parents)), graphql.BatchErrorList(faults)
		}
		values, err := resolve(ctx, parents, arguments)
		if failed == 0 {
			return values, err
		}
		each, isOfEach := err.(graphql.BatchErrors) //nolint:errorlint // Resolvers return it unwrapped.
		for i := range parents {
			switch {
			case faults[i] != nil:
			case isOfEach:
				faults[i] = each.Errors()[i]
			default:
				faults[i] = err
			}
		}
		if len(values) != len(parents) {
			values = make([]any, len(parents))
		}
		return values, graphql.BatchErrorList(faults)
	}
}

// newFaultyOracle returns gqlgen's executor with the same faults.
func newFaultyOracle(p *platform.Platform) execute.Engine {
	oracle := agreement.NewOracle(Connect(p))
	oracle.AroundFields = func(ctx context.Context, next graphql.Resolver) (any, error) {
		field := graphql.GetFieldContext(ctx)
		if field.IsResolver && field.Object != "Subscription" { // The source of events does not fail.
			if err := faultAt(ctx, field.Object, field.Field.Name, resultOfParent(field)); err != nil {
				return nil, err
			}
		}
		return next(ctx)
	}
	return oracle
}

// resultOfParent returns the object that has a field, or nil for a root field.
func resultOfParent(field *graphql.FieldContext) any {
	if field.Parent == nil {
		return nil
	}
	return field.Parent.Result
}
