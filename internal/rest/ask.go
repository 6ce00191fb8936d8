package rest

import (
	"bytes"
	"context"
	"net/http"
	"reflect"
	"strings"

	"atrium/internal/wire"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// ask returns the route of a question that is no list: its parameters set the fields of Q, and it is answered with A.
func ask[Q, A any](name, pattern string, call func(context.Context, *Q) (A, error), filters []filter[Q], needed ...core.Capability) route {
	return route{
		name: name, method: http.MethodGet, pattern: pattern, capabilities: needed, query: parametersOf(filters), answer: zeroValue[A](), reportsQuery: true,
		call: func(r *request) (any, error) {
			if err := core.RequireAuthenticated(r.Context()); err != nil {
				return nil, err
			}
			var asked Q
			if malformed := decodeFilters(r, filters, &asked); len(malformed) > 0 {
				return nil, core.Invalid(malformed...)
			}
			return call(r.Context(), &asked)
		},
	}
}

// send returns the route of an operation whose body is the object B, and that is answered with A.
func send[B, A any](name, pattern string, call func(context.Context, *B) (A, error), needed ...core.Capability) route {
	return route{
		name: name, method: http.MethodPost, pattern: pattern, capabilities: needed, body: zeroValue[B](), answer: zeroValue[A](),
		call: func(r *request) (any, error) { return decodeAndCall(r, call) },
	}
}

// sendTo is send with the place that the path names.
func sendTo[B, A any](name, pattern string, at func(*B) *core.UID, call func(context.Context, *B) (A, error), needed ...core.Capability) route {
	r := send(name, pattern, call, needed...)
	r.call = func(r *request) (any, error) {
		return decodeAndCall(r, func(ctx context.Context, asked *B) (A, error) {
			*at(asked) = r.uid()
			return call(ctx, asked)
		})
	}
	return r
}

func decodeAndCall[B, A any](r *request, call func(context.Context, *B) (A, error)) (any, error) {
	body, err := r.readBody()
	if err != nil {
		return nil, err
	}
	asked, malformed := decodeObject[B](body)
	if len(malformed) > 0 {
		return nil, core.Invalid(malformed...)
	}
	return call(r.Context(), asked)
}

// zeroValue returns the zero value of T, or of what it points to.
func zeroValue[T any]() any {
	t := reflect.TypeFor[T]()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return reflect.Zero(t).Interface()
}

// decodeObject decodes an object by the rules of bodies of resources.
func decodeObject[T any](body []byte) (*T, []fieldmask.Violation) {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	return fieldmask.JSONInput[*T](body, nil).DecodeCreate(fieldsOf(reflect.TypeFor[T]()), func(*T) bool { return false })
}

// fieldsOf lists the fields that an object has in JSON.
func fieldsOf(t reflect.Type) (fields []fieldmask.Field) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch given := f.Tag.Get("wire"); {
		case name == "", name == "-", given == "-":
		case given == "output":
			fields = append(fields, fieldmask.Field{Name: name, Mode: fieldmask.OutputOnly})
		default:
			fields = append(fields, fieldmask.Field{Name: name, Mode: fieldmask.AtCreation})
		}
	}
	return fields
}

// place is the parameter of the group or repo that a question is about.
func place() filter[wire.Place] {
	return value("within", parseText[core.UID], func(q *wire.Place) *core.UID { return &q.Within })
}

// intervals are the parameters of counts by interval.
func intervals[Q any](at func(*Q) *wire.Interval) []filter[Q] {
	return []filter[Q]{
		value("within", parseText[core.UID], func(q *Q) *core.UID { return &at(q).Within }).asRequired(),
		value("interval", parseText[core.ActivityInterval], func(q *Q) *core.ActivityInterval { return &at(q).Interval }).withPattern("^(DAY|WEEK)$"),
		value("from", core.ParseTime, func(q *Q) *core.Time { return &at(q).From }),
		value("to", core.ParseTime, func(q *Q) *core.Time { return &at(q).To }),
		value("time_zone", parseText[string], func(q *Q) *string { return &at(q).TimeZone }).withDefault("UTC"),
	}
}

// ofList returns the filters of a list for a request that contains that of the list.
func ofList[Q, F any](filters []filter[core.ListRequest[F]], at func(*Q) *core.ListRequest[F]) []filter[Q] {
	own := make([]filter[Q], len(filters))
	for i, f := range filters {
		own[i] = filter[Q]{f.parameter, func(q *Q, s string) error {
			list := at(q)
			if reflect.ValueOf(list.Filter).IsNil() {
				list.Filter = core.NewFilter[F]()
			}
			return f.set(list, s)
		}}
	}
	return own
}
