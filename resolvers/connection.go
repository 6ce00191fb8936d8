package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graph/scalar"
	"atrium/platform"
)

// A window is which part of a list is asked for: the arguments that all
// connections have.
type window struct {
	orderBy *scalar.Order
	first   *int
	after   *string
	last    *int
	before  *string
	skip    *int
}

// request is the request of the core.
func request[F any](ctx context.Context, scope platform.UIDFilter, filter F, w window) platform.ListRequest[F] {
	req := platform.ListRequest[F]{UIDP: scope, Filter: filter, OrderBy: w.orderBy.OrderBy(), Skip: or(w.skip), Parts: partsOf(ctx), Without: readsOf(ctx).without}
	req.PageSize, req.PageToken, req.Backward, req.Malformed = w.page()
	return req
}

// page is which way a window opens, how far, and from where. A window from the
// front and one from the end exclude each other.
func (w window) page() (size int, cursor string, isBackward bool, malformed []platform.Violation) {
	forward, backward := given(w.first, "first", w.after, "after"), given(w.last, "last", w.before, "before")
	switch {
	case forward != "" && backward != "":
		return 0, "", false, []platform.Violation{{Field: forward, Description: "cannot be given together with " + backward}}
	case backward != "":
		return or(w.last), or(w.before), true, nil
	default:
		return or(w.first), or(w.after), false, nil
	}
}

// given names the argument that was given, if any was.
func given(size *int, sizeName string, token *string, tokenName string) string {
	switch {
	case size != nil:
		return sizeName
	case or(token) != "":
		return tokenName
	default:
		return ""
	}
}

// or is the value that p points to, or the zero value.
func or[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// partsOf says what of a connection is selected, so that nothing else is read.
func partsOf(ctx context.Context) (parts platform.Parts) {
	selected := graphql.CollectFields(graphql.GetOperationContext(ctx), graphql.GetFieldContext(ctx).Field.Selections, nil)
	for _, field := range selected {
		switch field.Name {
		case "edges", "nodes", "pageInfo":
			parts |= platform.PartItems
		case "totalCount":
			parts |= platform.PartTotal
		}
	}
	if parts == 0 {
		return platform.PartItems // for its errors
	}
	return parts
}

// within is the scope of a root field.
func within(descendantsOf, childrenOf *platform.UID, by scalar.ByUID) platform.UIDFilter {
	return platform.UIDFilter{
		DescendantsOf: or(descendantsOf), ChildrenOf: or(childrenOf),
		IDs: by.UIDs, AncestorsOf: by.AncestorsOf, InRoot: by.InRoot,
	}
}

// list answers a root field.
func list[T, F any](ctx context.Context, read func(context.Context, platform.ListRequest[F]) (platform.Page[T], error), scope platform.UIDFilter, filter F, w window) (*scalar.Connection[T], error) {
	page, err := read(ctx, request(ctx, scope, filter, w))
	if err != nil {
		return nil, err
	}
	return scalar.NewConnection(page), nil
}

// nested answers an edge to many objects: the pages of all parents in one read,
// which knows them by their keys.
func nested[K, T, F any](ctx context.Context, read func(context.Context, platform.ListRequest[F], []K) ([]platform.Page[T], []error), keys []K, filter F, w window) ([]*scalar.Connection[T], error) {
	return connections(read(ctx, request(ctx, platform.UIDFilter{}, filter, w), keys))
}

// connections show pages, each or its error.
func connections[T any](pages []platform.Page[T], errs []error) ([]*scalar.Connection[T], error) {
	shown := make([]*scalar.Connection[T], len(pages))
	for i, page := range pages {
		shown[i] = scalar.NewConnection(page)
	}
	return shown, joined(errs)
}

// joined gives the errors of parents, in their order, as one; nil where there
// are none.
func joined(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return graphql.BatchErrorList(errs)
		}
	}
	return nil
}

// forEach reads for objects one by one what the core has no joint read for.
func forEach[T, V any](objects []T, read func(T) (V, error)) ([]V, error) {
	values, errs := make([]V, len(objects)), make([]error, len(objects))
	for i, object := range objects {
		values[i], errs[i] = read(object)
	}
	return values, joined(errs)
}

// keysOf are the keys of objects, in their order.
func keysOf[T, K any](objects []*T, key func(*T) K) []K {
	keys := make([]K, len(objects))
	for i, object := range objects {
		keys[i] = key(object)
	}
	return keys
}
