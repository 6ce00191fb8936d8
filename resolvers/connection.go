package resolvers

import (
	"context"
	"iter"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph/scalar"
	"atrium/internal/graphql/analysis"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/intake"
)

// request builds the list request that the core takes.
func request[F any](ctx context.Context, scope core.UIDFilter, filter F, window scalar.Window) core.ListRequest[F] {
	req := core.ListRequest[F]{UIDP: scope, Filter: filter, OrderBy: window.Order(), Natural: true, Skip: valueOrZero(window.Skip), Parts: partsOf(ctx), Without: readsOf(ctx).without, Empty: window.IsEmpty()}
	req.PageSize, req.PageToken, req.Backward, req.Malformed = window.Page()
	return req
}

// valueOrZero returns the value that p points to, or the zero value when p is nil.
func valueOrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// partsOf returns which parts of a connection are selected. The core reads no
// other parts.
func partsOf(ctx context.Context) (parts core.Parts) {
	for field := range selectedFields(ctx) {
		switch field.Name {
		case "edges", "nodes":
			parts |= core.PartItems
		case "pageInfo":
			parts |= core.PartItems | core.PartMore
		case "totalCount":
			parts |= core.PartTotal
		}
	}
	if parts == 0 {
		return core.PartItems // the read still checks the arguments and the access
	}
	return parts
}

// selectedFields returns the fields that are selected of the field that ctx resolves. It
// does not use graphql.CollectFields, which caches by the address of the selections: those
// of fields that are read together exist only while they are read.
func selectedFields(ctx context.Context) iter.Seq[*ast.Field] {
	return analysis.SelectedFields(graphql.GetFieldContext(ctx).Field.Selections, graphql.GetOperationContext(ctx).Variables)
}

// requestWithin builds the list request of a root field. Without a place, directOnly asks for what is in no
// group; it is refused for kinds that are always in one, because the variable of the place was forgotten then.
func requestWithin[F any](ctx context.Context, within *core.UID, directOnly *bool, by scalar.ByUID, filter F, window scalar.Window) core.ListRequest[F] {
	req := request(ctx, core.UIDFilter{IDs: by.UIDs}, filter, window)
	switch isDirect := valueOrZero(directOnly); {
	case within != nil && isDirect:
		req.UIDP.ChildrenOf = *within
	case within != nil:
		req.UIDP.DescendantsOf = *within
	case isDirect:
		switch any(filter).(type) {
		case *iam.GroupFilter, *iam.RoleFilter, *intake.SourceFilter:
			req.UIDP.InRoot = true
		default:
			req.Malformed = append(req.Malformed, fieldmask.Violation{Field: "directOnly", Description: "needs within: all of this kind is in groups"})
		}
	}
	return req
}

// newConnection makes a connection of the page of a root field.
func newConnection[T any](page core.Page[T], err error) (*scalar.Connection[T], error) {
	if err != nil {
		return nil, err
	}
	return scalar.NewConnection(page), nil
}

// newConnections makes a connection of each page and joins the errors.
func newConnections[T any](pages []core.Page[T], errs []error) ([]*scalar.Connection[T], error) {
	return scalar.NewConnections(pages), joinErrors(errs)
}

// joinErrors combines the errors of a batch, in the order of the batch, into one
// error that the engine takes apart again. It returns nil when no element failed.
func joinErrors(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return graphql.BatchErrorList(errs)
		}
	}
	return nil
}

// forEach calls read for each object by itself. It is for reads that the core
// cannot do for many objects at once. It reads no more after the request has ended.
func forEach[T, V any](ctx context.Context, objects []T, read func(T) (V, error)) ([]V, error) {
	values, errs := make([]V, len(objects)), make([]error, len(objects))
	for i, object := range objects {
		if errs[i] = ctx.Err(); errs[i] == nil {
			values[i], errs[i] = read(object)
		}
	}
	return values, joinErrors(errs)
}

// forEachAtOnce is like forEach, but reads for all objects at the same time, so that their statements share a round trip.
func forEachAtOnce[T, V any](ctx context.Context, p *platform.Platform, objects []T, read func(context.Context, T) (V, error)) ([]V, error) {
	readOne := recoverPanics(func(ctx context.Context, one []T) ([]V, []error) {
		value, err := read(ctx, one[0])
		return []V{value}, []error{err}
	})
	values, errs := make([]V, len(objects)), make([]error, len(objects))
	if len(objects) == 1 {
		values, errs = readOne(ctx, objects)
		return values, joinErrors(errs)
	}
	var all sync.WaitGroup
	join, end := p.Gather(len(objects))
	for i := range objects {
		all.Go(func() {
			defer end()
			v, err := readOne(join(ctx), objects[i:i+1])
			values[i], errs[i] = v[0], err[0]
		})
	}
	p.AwaitOther(ctx, all.Wait)
	return values, joinErrors(errs)
}

// mapEach returns what convert returns for each object, in their order.
func mapEach[T, V any](objects []T, convert func(T) V) []V {
	values := make([]V, len(objects))
	for i, object := range objects {
		values[i] = convert(object)
	}
	return values
}
