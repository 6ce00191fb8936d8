package resolvers

import (
	"context"
	"fmt"

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
	remember(ctx, page.Items)
	return scalar.NewConnection(page), nil
}

// nested answers an edge to many objects: the pages of all siblings of parent
// in one read, whose rows are siblings in turn.
func nested[P, T, F any](ctx context.Context, parent *P, read func(context.Context, platform.ListRequest[F], []*P) ([]platform.Page[T], []error), filter F, w window) (*scalar.Connection[T], error) {
	req := request(ctx, platform.UIDFilter{}, filter, w)
	edge := fmt.Sprint(edgeOf(ctx), req.Parts)
	page, err := together(ctx, parent, edge, func(ctx context.Context, parents []*P) ([]platform.Page[T], []error) {
		pages, errs := read(ctx, req, parents)
		var rows []*T
		for _, page := range pages {
			rows = append(rows, page.Items...)
		}
		remember(ctx, rows)
		return pages, errs
	})
	if err != nil {
		return nil, err
	}
	return scalar.NewConnection(page), nil
}

// of reads for parents what the core reads for keys of them.
func of[P, K, T, F any](read func(context.Context, platform.ListRequest[F], []K) ([]platform.Page[T], []error), key func(*P) K) func(context.Context, platform.ListRequest[F], []*P) ([]platform.Page[T], []error) {
	return func(ctx context.Context, req platform.ListRequest[F], parents []*P) ([]platform.Page[T], []error) {
		return read(ctx, req, keysOf(parents, key))
	}
}

// only narrows a read to rows named one by one.
func only[P, T, F any](by scalar.ByUID, read func(context.Context, platform.ListRequest[F], []*P) ([]platform.Page[T], []error)) func(context.Context, platform.ListRequest[F], []*P) ([]platform.Page[T], []error) {
	return func(ctx context.Context, req platform.ListRequest[F], parents []*P) ([]platform.Page[T], []error) {
		req.UIDP = within(nil, nil, by)
		return read(ctx, req, parents)
	}
}

// forEach reads for objects one by one what the core has no joint read for.
func forEach[T, V any](objects []*T, read func(*T) (V, error)) ([]V, []error) {
	values, errs := make([]V, len(objects)), make([]error, len(objects))
	for i, object := range objects {
		values[i], errs[i] = read(object)
	}
	return values, errs
}

// firsts reads the first row of the page of each parent, nil where there is
// none.
func firsts[P, T, F any](ctx context.Context, req platform.ListRequest[F], read func(context.Context, platform.ListRequest[F], []*P) ([]platform.Page[T], []error), parents []*P) ([]*T, []error) {
	pages, errs := read(ctx, req, parents)
	rows := make([]*T, len(parents))
	for i, page := range pages {
		if len(page.Items) > 0 {
			rows[i] = page.Items[0]
		}
	}
	remember(ctx, rows)
	return rows, errs
}
