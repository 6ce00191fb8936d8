package platform

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// List reads one page of what the caller may see.
func (r resources[T, F]) List(ctx context.Context, req ListRequest[F]) (Page[T], error) {
	page, err := r.list(ctx, req)
	return page, r.kind.in(err)
}

func (r resources[T, F]) list(ctx context.Context, req ListRequest[F]) (Page[T], error) {
	q, err := r.query(ctx, req)
	if err != nil {
		return Page[T]{}, err
	}
	page, err := r.read(ctx, req, q)
	if err == nil && len(page.Items) == 0 && page.TotalCount == 0 {
		err = r.scopeExists(ctx, req.UIDP)
	}
	if err != nil {
		return Page[T]{}, err
	}
	return page, nil
}

// read reads the page of a request that may be read as q says.
func (r resources[T, F]) read(ctx context.Context, req ListRequest[F], q Query[F]) (Page[T], error) {
	var rows Rows[T]
	if len(q.Scope.branches) > 0 && !asksForNone(q.Filter) {
		var err error
		if rows, err = r.table(r.p.store).List(ctx, q); err != nil {
			return Page[T]{}, err
		}
	}
	return r.page(req, q, rows), nil
}

// ListEach reads the same page of many scopes with one read. Each place holds
// what List would answer; scopes are of resources that exist.
func (r resources[T, F]) ListEach(ctx context.Context, req ListRequest[F], scopes []UIDFilter) ([]Page[T], []error) {
	pages, errs := make([]Page[T], len(scopes)), make([]error, len(scopes))
	if req.PageToken != "" {
		// A token belongs to one scope, so there is nothing to read together.
		for i, scope := range scopes {
			req.UIDP = scope
			pages[i], errs[i] = r.List(ctx, req)
		}
		return pages, errs
	}
	var q Query[F]
	var read []Scope
	var places []int
	for i, scope := range scopes {
		req.UIDP = scope
		one, err := r.query(ctx, req)
		if err != nil {
			errs[i] = r.kind.in(err)
			continue
		}
		if q = one; len(one.Scope.branches) == 0 || asksForNone(req.Filter) {
			pages[i] = r.page(req, one, Rows[T]{})
			continue
		}
		read, places = append(read, one.Scope), append(places, i)
	}
	if len(read) == 0 {
		return pages, errs
	}
	found, err := r.table(r.p.store).ListEach(ctx, q, read)
	for n, i := range places {
		if err != nil {
			errs[i] = r.kind.in(err)
			continue
		}
		req.UIDP, q.Scope = scopes[i], read[n]
		pages[i] = r.page(req, q, found[n])
	}
	return pages, errs
}

// listPointing reads the same page of n lists of rows that point to something,
// with one read. point makes the i-th list's request out of req, as the plain
// list would be asked, and tells how each branch of what the caller may see is
// narrowed to the rows that point there.
func listPointing[T any, F filter](ctx context.Context, r resources[T, F], req ListRequest[F], n int, point func(i int, req *ListRequest[F]) func(Branch) []Branch) ([]Page[T], []error) {
	pages, errs := make([]Page[T], n), make([]error, n)
	requests, scopes := make([]ListRequest[F], n), make([]Scope, n)
	// Only scopes of whole subtrees can be narrowed to what points somewhere.
	nothing := asksForNone(req.Filter)
	alone := !nothing && (req.PageToken != "" || req.UIDP.narrow())
	var q Query[F]
	for i := range n {
		requests[i] = req
		narrow := point(i, &requests[i])
		if alone {
			pages[i], errs[i] = r.List(ctx, requests[i])
			continue
		}
		if q, errs[i] = r.query(ctx, requests[i]); errs[i] != nil {
			errs[i] = r.kind.in(errs[i])
			continue
		}
		for _, b := range q.Scope.branches {
			if !nothing {
				scopes[i].branches = append(scopes[i].branches, narrow(b)...)
			}
		}
	}
	if alone || n == 0 {
		return pages, errs
	}
	q.Filter = req.Filter // the scopes say the rest
	found, err := r.table(r.p.store).ListEach(ctx, q, scopes)
	for i := range n {
		if errs[i] == nil {
			errs[i] = r.kind.in(err)
		}
		if errs[i] == nil {
			pages[i] = r.page(requests[i], q, found[i])
		}
	}
	return pages, errs
}

// listWithin reads a page of a scope that is not what the request's own
// filters would give. Its errors are not marked as the kind's.
func (r resources[T, F]) listWithin(ctx context.Context, scope Scope, req ListRequest[F]) (Page[T], error) {
	q, err := r.checked(ctx, req)
	if err != nil {
		return Page[T]{}, err
	}
	q.Scope = scope
	return r.read(ctx, req, q)
}

// query checks a request and decides what may be read for it.
func (r resources[T, F]) query(ctx context.Context, req ListRequest[F]) (Query[F], error) {
	TraceOf(ctx).NoteResource(r.kind.Name, req.UIDP.scope())
	q, err := r.checked(ctx, req)
	if err != nil {
		return q, err
	}
	q.Scope, err = r.kind.scope(ActorOf(ctx), req.UIDP)
	return q, err
}

// checked checks a request, of a known caller. The query has no scope yet.
func (r resources[T, F]) checked(ctx context.Context, req ListRequest[F]) (Query[F], error) {
	if _, err := caller(ctx); err != nil {
		return Query[F]{}, err
	}
	v := violations(slices.Clone(req.Malformed))
	req.UIDP.check(&v)
	req.Filter.check(&v)
	var unopened string
	if len(v) > 0 { // the list that was meant, for which alone the token opens, is not known
		unopened, req.PageToken = req.PageToken, ""
	}
	q, err := r.paging(ctx, req, &v)
	if unopened != "" && !looksSealed(unopened) {
		v.add("page_token", "%s", errToken)
	}
	if err == nil {
		err = v.err()
	}
	return q, err
}

func (r resources[T, F]) paging(ctx context.Context, req ListRequest[F], v *violations) (Query[F], error) {
	q := Query[F]{Filter: req.Filter, Backward: req.Backward, Skip: req.Skip, Parts: req.Parts, Without: req.Without}
	switch {
	case req.PageSize < 0:
		v.add("page_size", "must not be negative")
	case req.PageSize == 0:
		q.Limit = DefaultPageSize
	default:
		q.Limit = min(req.PageSize, MaxPageSize)
	}
	if req.Skip < 0 {
		v.add("skip", "must not be negative")
	}
	q.Order = r.kind.parseOrder(req.OrderBy, v)
	if req.PageToken == "" {
		return q, nil
	}
	t, err := r.p.openToken(ctx, req.PageToken, listName(r.kind.Name, req.UIDP, req.Filter))
	switch {
	case errors.Is(err, errToken), err == nil && t.order >= len(r.kind.Orders):
		v.add("page_token", "%s", errToken)
		return q, nil
	case err != nil:
		return q, err
	}
	order := Order{r.kind.Orders[t.order].Name, t.desc}
	switch {
	case req.OrderBy != "" && order != q.Order:
		v.add("page_token", "was made with another order_by")
	case r.p.options.Clock().Sub(t.issued) <= tokenLifetime:
		q.From, q.Order = &t.Position, order
	default: // too old: the list restarts
		q.Order = order
	}
	return q, nil
}

func (r resources[T, F]) page(req ListRequest[F], q Query[F], rows Rows[T]) Page[T] {
	page := Page[T]{Items: rows.Items, TotalCount: rows.Total, Skipped: req.Skip, asked: q}
	passed := q.From != nil || req.Skip > 0 && len(rows.Items) > 0
	page.HasNext, page.HasPrevious = rows.More, passed
	if req.Backward {
		page.HasNext, page.HasPrevious = passed, rows.More
	}
	page.cursors = &cursors[T]{
		kind: r.kind, order: slices.IndexFunc(r.kind.Orders, func(o OrderField[T]) bool { return o.Name == q.Order.Field }), desc: q.Order.Desc,
		issued: r.p.options.Clock(), sealer: r.p.sealer.Load(),
		list: sync.OnceValue(func() []byte { return listName(r.kind.Name, req.UIDP, req.Filter) }),
	}
	if rows.More && len(rows.Items) > 0 {
		page.next = rows.Items[len(rows.Items)-1]
		if req.Backward {
			page.next = rows.Items[0]
		}
	}
	return page
}
