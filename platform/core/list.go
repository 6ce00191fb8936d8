package core

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// List reads one page of the resources that the caller may see.
func (r *Collection[T, F]) List(ctx context.Context, req ListRequest[F]) (_ Page[T], err error) {
	defer func() { err = r.Kind.AddArea(err) }()
	q, err := r.Query(ctx, req)
	if err != nil {
		return Page[T]{}, err
	}
	page, err := r.Read(ctx, req, q)
	if err == nil && len(page.Items) == 0 && page.TotalCount == 0 {
		if err = r.ScopeExists(ctx, req.UIDP); err == nil {
			err = r.checkNamed(ctx, req)
		}
	}
	if err != nil {
		return Page[T]{}, err
	}
	return page, nil
}

// Read reads the page of an authorized query.
func (r *Collection[T, F]) Read(ctx context.Context, req ListRequest[F], q Query[F]) (Page[T], error) {
	var rows Rows[T]
	if !q.IsEmpty() {
		var err error
		if rows, err = r.Table.List(ctx, r.Core.Store, q); err != nil {
			return Page[T]{}, err
		}
	}
	return r.NewPage(req, q, rows), nil
}

// ListEach reads the same page of many scopes with one read. The results are in
// the order of scopes and are those of List. The resources of the scopes must
// exist.
func (r *Collection[T, F]) ListEach(ctx context.Context, req ListRequest[F], scopes []UIDFilter) ([]Page[T], []error) {
	if req.PageToken != "" {
		// A token belongs to one scope, so the scopes cannot be read together.
		pages, errs := make([]Page[T], len(scopes)), make([]error, len(scopes))
		for i, scope := range scopes {
			req.UIDP = scope
			pages[i], errs[i] = r.List(ctx, req)
		}
		return pages, errs
	}
	return r.ReadEach(ctx, len(scopes), func(i int) (ListRequest[F], Query[F], error) {
		req.UIDP = scopes[i]
		q, err := r.Query(ctx, req)
		return req, q, err
	})
}

// ReadEach reads the same page of n lists, whose queries differ only in their scopes. The
// function prepare returns the request and the query of the i-th list. All pages need one
// read, except those of requests with a page token: a token belongs to one list.
func (r *Collection[T, F]) ReadEach(ctx context.Context, n int, prepare func(i int) (ListRequest[F], Query[F], error)) ([]Page[T], []error) {
	pages, errs := make([]Page[T], n), make([]error, n)
	requests := make([]ListRequest[F], n)
	var shared Query[F]
	var scopes []Scope
	var indices []int
	for i := range n {
		req, q, err := prepare(i)
		switch {
		case err != nil:
			errs[i] = r.Kind.AddArea(err)
		case req.PageToken != "" || q.IsEmpty():
			pages[i], err = r.Read(ctx, req, q)
			errs[i] = r.Kind.AddArea(err)
		default:
			requests[i], shared = req, q
			scopes, indices = append(scopes, q.Scope), append(indices, i)
		}
	}
	if len(scopes) == 0 {
		return pages, errs
	}
	found, err := r.Table.ListEach(ctx, r.Core.Store, shared, scopes)
	for at, i := range indices {
		if errs[i] = r.Kind.AddArea(err); err == nil {
			shared.Scope = scopes[at]
			pages[i] = r.NewPage(requests[i], shared, found[at])
		}
	}
	return pages, errs
}

// ListReferring reads, with one read, the same page of n lists of rows that refer
// to an object. The function point changes the request into that of the i-th plain
// list, and returns a function that narrows a branch to the rows which refer to
// the i-th object.
func ListReferring[T any, F Filter](ctx context.Context, r *Collection[T, F], req ListRequest[F], n int, point func(i int, req *ListRequest[F]) func(Branch) []Branch) ([]Page[T], []error) {
	pages, errs := make([]Page[T], n), make([]error, n)
	requests, scopes := make([]ListRequest[F], n), make([]Scope, n)
	// Only scopes of whole subtrees can be narrowed to the rows that refer to an object.
	req.Filter = filterFor(ctx, req.Filter)
	nothing := MatchesNothing(req.Filter)
	separately := !nothing && (req.PageToken != "" || req.UIDP.IsNarrow())
	var q Query[F]
	for i := range n {
		requests[i] = req
		narrow := point(i, &requests[i])
		if separately {
			pages[i], errs[i] = r.List(ctx, requests[i])
			continue
		}
		if q, errs[i] = r.Query(ctx, requests[i]); errs[i] != nil {
			errs[i] = r.Kind.AddArea(errs[i])
			continue
		}
		for _, b := range q.Scope.Branches {
			if !nothing {
				scopes[i].Branches = append(scopes[i].Branches, narrow(b)...)
			}
		}
	}
	if separately || n == 0 {
		return pages, errs
	}
	q.Filter = req.Filter // the scopes say the rest
	found, err := r.Table.ListEach(ctx, r.Core.Store, q, scopes)
	for i := range n {
		if errs[i] == nil {
			errs[i] = r.Kind.AddArea(err)
		}
		if errs[i] == nil {
			q.Scope = scopes[i]
			pages[i] = r.NewPage(requests[i], q, found[i])
		}
	}
	return pages, errs
}

// ReadOnce reads what keys lead to, each once however often it occurs. The results are in the order of keys.
func ReadOnce[K comparable, R any](keys []K, read func([]K) ([]R, []error)) ([]R, []error) {
	at, distinct := map[K]int{}, []K{}
	for _, key := range keys {
		if _, known := at[key]; !known {
			at[key], distinct = len(distinct), append(distinct, key)
		}
	}
	found, failed := read(distinct)
	results, errs := make([]R, len(keys)), make([]error, len(keys))
	for i, key := range keys {
		results[i], errs[i] = found[at[key]], failed[at[key]]
	}
	return results, errs
}

// ReadPermitted reads what those items lead to of which check finds no error, with one call of read. The results are in the order of items.
func ReadPermitted[K, R any](items []K, check func(K) error, read func([]K) ([]R, error)) ([]R, []error) {
	results, errs := make([]R, len(items)), make([]error, len(items))
	var permitted []K
	for i, item := range items {
		if errs[i] = check(item); errs[i] == nil {
			permitted = append(permitted, item)
		}
	}
	if len(permitted) == 0 {
		return results, errs
	}
	found, err := read(permitted)
	for i := range items {
		switch {
		case errs[i] != nil:
		case err != nil:
			errs[i] = err
		default:
			results[i], found = found[0], found[1:]
		}
	}
	return results, errs
}

// ReadGroups reads a value for each item, with one call of read for all items with the same key.
func ReadGroups[K comparable, T, V any](items []T, key func(T) K, read func(K, []T) ([]V, []error)) ([]V, []error) {
	values, errs, done := make([]V, len(items)), make([]error, len(items)), map[K]bool{}
	for _, first := range items {
		k := key(first)
		if done[k] {
			continue
		}
		done[k] = true
		var same []T
		var indices []int
		for i, item := range items {
			if key(item) == k {
				same, indices = append(same, item), append(indices, i)
			}
		}
		found, failed := read(k, same)
		for n, i := range indices {
			values[i], errs[i] = found[n], failed[n]
		}
	}
	return values, errs
}

// PageOf returns the rows of a page of a list that is in memory.
func PageOf[T, F any](k *Kind[T], q Query[F], all []T) Rows[T] {
	compare := func(a, b Position) int { return comparePositions(q.Order, q.Backward, a, b) }
	at := func(row T) Position { return k.position(q.Order, row) }
	rows := slices.SortedFunc(slices.Values(all), func(a, b T) int { return compare(at(a), at(b)) })
	if q.From != nil {
		rows = slices.DeleteFunc(rows, func(row T) bool { return compare(at(row), *q.From) <= 0 })
	}
	rows = rows[min(q.Skip, len(rows)):]
	more := len(rows) > q.Limit
	rows = rows[:min(q.Limit, len(rows))]
	if q.Backward {
		slices.Reverse(rows)
	}
	return Rows[T]{Items: rows, More: more, Total: int64(len(all))}
}

// comparePositions compares two positions in an order, or in its reverse.
func comparePositions(o Order, backward bool, a, b Position) int {
	sign := func(desc bool) int {
		if desc != backward {
			return -1
		}
		return 1
	}
	order, last := sign(o.Desc)*compareValues(a.Value, b.Value), o.Desc
	for i, key := range o.Then {
		if key.Field != "" {
			order, last = cmp.Or(order, sign(key.Desc)*compareValues(a.Then[i], b.Then[i])), key.Desc
		}
	}
	return cmp.Or(order, sign(last)*CompareTexts(a.UID, b.UID))
}

// compareValues compares the values of two rows in an order: texts, or times.
func compareValues(a, b any) int {
	if x, isTime := a.(Time); isTime {
		y, _ := b.(Time)
		return x.Compare(y.Time)
	}
	x, _ := a.(string)
	y, _ := b.(string)
	return CompareTexts(x, y)
}

// NarrowTo returns a function that narrows a branch by one condition.
func NarrowTo(set func(*Branch)) func(Branch) []Branch {
	return func(b Branch) []Branch {
		set(&b)
		return []Branch{b}
	}
}

// ListInScope reads a page of a given scope instead of the scope of the request.
// It does not set the area of its errors.
func (r *Collection[T, F]) ListInScope(ctx context.Context, scope Scope, req ListRequest[F]) (Page[T], error) {
	q, err := r.BuildQuery(ctx, req)
	if err != nil {
		return Page[T]{}, err
	}
	q.Scope = scope
	return r.Read(ctx, req, q)
}

// Query checks and authorizes a request.
func (r *Collection[T, F]) Query(ctx context.Context, req ListRequest[F]) (Query[F], error) {
	TraceOf(ctx).NoteResource(r.Kind.Name, req.UIDP.Scope())
	q, err := r.BuildQuery(ctx, req)
	if err != nil {
		return q, err
	}
	q.Scope, err = r.Kind.inOrder(q.Order).ForFilter(q.Filter).Scope(ActorOf(ctx), req.UIDP)
	return q, err
}

// BuildQuery checks a request and converts it into a query without a scope.
func (r *Collection[T, F]) BuildQuery(ctx context.Context, req ListRequest[F]) (Query[F], error) {
	if _, err := RequireCaller(ctx); err != nil {
		return Query[F]{}, err
	}
	req.Filter = filterFor(ctx, req.Filter)
	v := Violations(slices.Clone(req.Malformed))
	req.UIDP.Check(&v)
	req.Filter.Check(&v)
	if f, isOf := any(req.Filter).(interface{ CheckChanges(v *Violations) }); isOf {
		f.CheckChanges(&v)
	}
	var unopened string
	if len(v) > 0 { // a token opens only for the list it belongs to, and that list is unknown
		unopened, req.PageToken = req.PageToken, ""
	}
	q, err := r.parsePaging(ctx, req, &v)
	if unopened != "" && !LooksSealed(unopened) {
		v.Add("page_token", "%s", ErrToken)
	}
	if err == nil {
		err = v.Err()
	}
	return q, err
}

// parsePaging checks the page size and the order of a request, and opens its page token.
// The query begins where the token says, unless the token has expired.
func (r *Collection[T, F]) parsePaging(ctx context.Context, req ListRequest[F], v *Violations) (Query[F], error) {
	q := Query[F]{Filter: req.Filter, Backward: req.Backward, Limit: PageLimit(req.PageSize, req.Empty, v), Skip: req.Skip, Parts: req.Parts, Without: req.Without | r.Kind.Hidden}
	if req.Skip < 0 {
		v.Add("skip", "must not be negative")
	}
	q.Order = r.Kind.parseOrder(req.OrderBy, req.Natural, v)
	if req.PageToken == "" {
		return q, nil
	}
	t, err := r.Core.Tokens.Open(ctx, req.PageToken, listName(r.Kind.Name, req.UIDP, req.Filter))
	var order Order
	if err == nil {
		order, err = r.Kind.orderOf(t)
	}
	switch {
	case errors.Is(err, ErrToken):
		v.Add("page_token", "%s", ErrToken)
		return q, nil
	case err != nil:
		return q, err
	}
	switch {
	case req.OrderBy != "" && order != q.Order:
		v.Add("page_token", "was made with another order_by")
	case !r.Core.Tokens.isExpired(t):
		q.From, q.Order = &t.Position, order
	default: // the token has expired: the list restarts
		q.Order = order
	}
	return q, nil
}

// NewPage makes the page of the rows that a query has read.
func (r *Collection[T, F]) NewPage(req ListRequest[F], q Query[F], rows Rows[T]) Page[T] {
	page := Page[T]{Items: rows.Items, TotalCount: rows.Total, Skipped: req.Skip, asked: q}
	passed := q.From != nil || req.Skip > 0 && len(rows.Items) > 0
	more := rows.More && q.Parts.Has(PartMore)
	page.HasNext, page.HasPrevious = more, passed
	if req.Backward {
		page.HasNext, page.HasPrevious = passed, more
	}
	page.cursors = &cursors[T]{
		kind: r.Kind, order: q.Order, issued: r.Core.Tokens.time(), sealer: r.Core.Tokens.sealer.Load(),
		uidp: req.UIDP, filter: FillFilter(req.Filter),
	}
	if more && len(rows.Items) > 0 {
		page.edge = rows.Items[len(rows.Items)-1:]
		if req.Backward {
			page.edge = rows.Items[:1]
		}
	}
	return page
}

// FailAll returns the same error for each of n values.
func FailAll[V any](n int, err error) ([]V, []error) {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return make([]V, n), errs
}
