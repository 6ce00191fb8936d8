package rest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A filter is a parameter of a query, with a function that sets its value in the
// request R, such as a ListRequest.
type filter[R any] struct {
	parameter
	set func(*R, string) error
}

// decodeFilters sets the values of a query in a request. It returns the violations, which become
// part of the request, so that the operation reports them together with its own.
func decodeFilters[R any](r *request, filters []filter[R], in *R) []fieldmask.Violation {
	malformed := r.malformed
	for _, f := range filters {
		for _, value := range r.query[f.name] {
			if err := f.set(in, value); err != nil {
				malformed = append(malformed, fieldmask.Violation{Field: f.name, Description: err.Error()})
				break
			}
		}
	}
	return malformed
}

// listRequest decodes the query of a list.
func listRequest[F any](r *request, filters []filter[core.ListRequest[F]]) core.ListRequest[F] {
	list := core.ListRequest[F]{Filter: core.NewFilter[F](), NamedMustExist: true}
	list.Malformed = decodeFilters(r, filters, &list)
	return list
}

func parametersOf[R any](filters []filter[R]) []parameter {
	parameters := make([]parameter, len(filters))
	for i, f := range filters {
		parameters[i] = f.parameter
	}
	return parameters
}

// textFilter is a filter by one value.
func textFilter[F any, S ~string](name string, at func(F) *S) filter[core.ListRequest[F]] {
	return value(name, parseText[S], func(l *core.ListRequest[F]) *S { return at(l.Filter) })
}

// textsFilter is a filter by any of several values.
func textsFilter[F any, S ~string](name string, at func(F) *[]S) filter[core.ListRequest[F]] {
	return values(name, parseText[S], func(l *core.ListRequest[F]) *[]S { return at(l.Filter) })
}

// labelsFilter is a filter by labels.
func labelsFilter[F any](at func(F) *core.LabelFilter) filter[core.ListRequest[F]] {
	parse := func(s string) (core.LabelCondition, error) { return core.ParseLabelCondition(s), nil }
	return values("labels", parse, func(l *core.ListRequest[F]) *[]core.LabelCondition { return &at(l.Filter).Labels })
}

// numberFilter is a filter by a number, which may be 0.
func numberFilter[F any](name string, at func(F) **float64) filter[core.ListRequest[F]] {
	return filter[core.ListRequest[F]]{parameter{name: name, valueType: reflect.TypeFor[float64]()}, func(l *core.ListRequest[F], s string) error {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return errors.New("must be a number")
		}
		*at(l.Filter) = &n
		return nil
	}}
}

// timeFilter is a filter by a time.
func timeFilter[F any](name string, at func(F) *core.Time) filter[core.ListRequest[F]] {
	return value(name, core.ParseTime, func(l *core.ListRequest[F]) *core.Time { return at(l.Filter) })
}

// scopeFilters returns the parameters of every list in the tree.
func scopeFilters[F any]() []filter[core.ListRequest[F]] {
	type request = core.ListRequest[F]
	return []filter[request]{
		value("uidp.ancestors_of", parseText[core.UID], func(l *request) *core.UID { return &l.UIDP.AncestorsOf }),
		value("uidp.descendants_of", parseText[core.UID], func(l *request) *core.UID { return &l.UIDP.DescendantsOf }),
		value("uidp.children_of", parseText[core.UID], func(l *request) *core.UID { return &l.UIDP.ChildrenOf }),
		value("uidp.in_root", parseBool, func(l *request) *bool { return &l.UIDP.InRoot }).withDefault(false),
		values("uidp.ids", parseText[core.UID], func(l *request) *[]core.UID { return &l.UIDP.IDs }),
	}
}

// pagingFilters returns the parameters of every list.
func pagingFilters[F, T any](kind *core.Kind[T]) []filter[core.ListRequest[F]] {
	type request = core.ListRequest[F]
	return []filter[request]{
		value("page_size", parseNumber, func(l *request) *int { return &l.PageSize }).withDefault(core.DefaultPageSize),
		value("page_token", parseOptional, func(l *request) *string { return &l.PageToken }),
		orderFilter(kind, value("order_by", parseOptional, func(l *request) *string { return &l.OrderBy })),
		value("skip", parseNumber, func(l *request) *int { return &l.Skip }).withDefault(0),
	}
}

// orderFilter returns f with the pattern and the default of the orders of a kind.
func orderFilter[R, T any](kind *core.Kind[T], f filter[R]) filter[R] {
	var fields []string
	for _, order := range kind.Orders {
		fields = append(append(fields, order.Name), order.Spellings...)
	}
	field := "(" + strings.Join(fields, "|") + ")( (asc|desc))?"
	f.pattern = fmt.Sprintf("^(%[1]s(, ?%[1]s){0,%[2]d})?$", field, core.MaxOrderFields-1)
	fallback := kind.DefaultOrder.Field
	if kind.DefaultOrder.Desc {
		fallback += " desc"
	}
	return f.withDefault(fallback)
}

// withPattern returns f with the pattern that its values must match.
func (f filter[R]) withPattern(pattern string) filter[R] {
	f.pattern = pattern
	return f
}

// asRequired returns f for a parameter that the operation requires.
func (f filter[R]) asRequired() filter[R] {
	f.required = true
	return f
}

// withDefault returns f with its default value.
func (f filter[R]) withDefault(value any) filter[R] {
	f.fallback = value
	return f
}

// value is a parameter with one value.
func value[R, V any](name string, parse func(string) (V, error), at func(*R) *V) filter[R] {
	return filter[R]{parameter{name: name, valueType: reflect.TypeFor[V]()}, func(in *R, s string) (err error) {
		*at(in), err = parse(s)
		return err
	}}
}

// optional is a parameter with one value, of which it is known whether it was given.
func optional[R, V any](name string, parse func(string) (V, error), at func(*R) **V) filter[R] {
	return filter[R]{parameter{name: name, valueType: reflect.TypeFor[V]()}, func(in *R, s string) error {
		is, err := parse(s)
		*at(in) = &is
		return err
	}}
}

// values is a parameter with several values.
func values[R, V any](name string, parse func(string) (V, error), at func(*R) *[]V) filter[R] {
	return filter[R]{parameter{name: name, valueType: reflect.TypeFor[V](), repeated: true}, func(in *R, s string) error {
		one, err := parse(s)
		if all := at(in); err == nil {
			*all = append(*all, one)
		}
		return err
	}}
}

// parseText rejects an empty value. The operation would treat it as absent, and list
// everything for a client whose variable was not set. It accepts the number of a value of an enum,
// as bodies do.
func parseText[S ~string](s string) (S, error) {
	if s == "" {
		return "", errors.New("must not be empty")
	}
	if enum, ok := any(S("")).(interface{ Values() []string }); ok {
		s = fieldmask.EnumName(s, enum.Values())
	}
	return S(s), nil
}

// parseOptional accepts an empty value. It is for the page token, which clients send
// empty for the first page.
func parseOptional(s string) (string, error) { return s, nil }

func parseBool(s string) (bool, error) {
	if s != "true" && s != "false" {
		return false, errors.New("must be true or false")
	}
	return s == "true", nil
}

func parseNumber(s string) (int, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, errors.New("must be a whole number of 32 bits")
	}
	return int(n), nil
}
