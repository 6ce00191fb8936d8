package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Kind is what the recipes below need to know of one kind: data only. A
// kind that differs writes its steps out in its own file.
type Kind[T any] struct {
	Name   string // Repo: the singular, as in ResourceInfo
	Plural string // repos: the key of its list envelope
	Area   string // registry: the area of its errors
	Number byte   // in counters and page tokens; never reused
	Event  string // platform.registry.repo: the middle of its event types

	List, Create, Update, Delete Capability
	Blocked                      string // violation type of a delete that other rows block

	Fields       []Field
	Orders       []OrderField[T]
	DefaultOrder Order

	Parent string // the kind that it lives in

	UID   func(*T) UID
	Group func(*T) UID // the group that it lies in
	Stamp func(row *T, uid UID, now Time)
	// Check adds what is wrong with the changed fields of a row.
	Check func(row *T, changed func(field string) bool, v *violations)
	// IsBuiltIn tells rows that belong to no organisation; nil: none do.
	IsBuiltIn func(UID) bool
}

// Filter is what each kind's filter does beside holding values.
type filter interface{ check(v *violations) }

// resources are the recipes that kinds share.
type resources[T any, F filter] struct {
	p     *Platform
	kind  *Kind[T]
	table func(Reader) Table[T, F]
	rows  func(Tx) Rower[T]
}

// Kind tells what is known of the kind.
func (r resources[T, F]) Kind() *Kind[T] { return r.kind }

// Get reads one resource. INVALID_ARGUMENT, PERMISSION_DENIED, NOT_FOUND.
func (r resources[T, F]) Get(ctx context.Context, uid UID) (*T, error) {
	rows, errs := r.GetMany(ctx, []UID{uid})
	return rows[0], errs[0]
}

// GetMany reads resources in the order of uids, with one read. Each place
// holds either a resource or the error that Get would answer.
func (r resources[T, F]) GetMany(ctx context.Context, uids []UID) ([]*T, []error) {
	return readEach(ctx, r, uids, r.table(r.p.store).Get, r.kind.UID)
}

// readEach reads what belongs to each of the UIDs of kind r that the caller
// may read, with one read.
func readEach[T, V any, F filter](ctx context.Context, r resources[T, F], uids []UID, read func(context.Context, Keys) ([]*V, error), uidOf func(*V) UID) ([]*V, []error) {
	rows, errs := make([]*V, len(uids)), make([]error, len(uids))
	actor, err := caller(ctx)
	var keys Keys
	for i, uid := range uids {
		if errs[i] = err; err == nil {
			errs[i] = r.kind.in(r.readable(actor, uid))
		}
		if errs[i] == nil {
			keys.uids = append(keys.uids, uid)
		}
	}
	if len(keys.uids) == 0 {
		return rows, errs
	}
	slices.Sort(keys.uids)
	keys.uids = slices.Compact(keys.uids)
	found, err := read(ctx, keys)
	byUID := make(map[UID]*V, len(found))
	for _, row := range found {
		byUID[uidOf(row)] = row
	}
	for i, uid := range uids {
		switch {
		case errs[i] != nil:
		case err != nil:
			errs[i] = err
		case byUID[uid] == nil:
			errs[i] = r.kind.notFound(uid)
		default:
			rows[i] = byUID[uid]
		}
	}
	return rows, errs
}

func (r resources[T, F]) readable(a *Actor, uid UID) error {
	if !uid.Valid() {
		return invalidUID("uid", uid)
	}
	if !r.kind.readableBy(a, uid) {
		return a.lacks(r.kind.List, uid)
	}
	return nil
}

func invalidUID(field string, uid UID) error {
	var v violations
	v.uid(field, uid)
	return v.err()
}

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
	var rows Rows[T]
	if len(q.Scope.branches) > 0 {
		if rows, err = r.table(r.p.store).List(ctx, q); err != nil {
			return Page[T]{}, err
		}
	}
	if len(rows.Items) == 0 && rows.Total == 0 {
		if err := r.scopeExists(ctx, req.UIDP); err != nil {
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
		q = one
		pages[i] = r.page(req, one, Rows[T]{})
		if len(one.Scope.branches) > 0 {
			read, places = append(read, one.Scope), append(places, i)
		}
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
		req.UIDP = scopes[i]
		pages[i] = r.page(req, q, found[n])
	}
	return pages, errs
}

// listPointing reads the same page of n lists of rows that point to something,
// with one read. point makes the i-th list's request out of req, as the plain
// list would be asked, and tells how each branch of what the caller may see is
// narrowed to the rows that point there.
func listPointing[T any, F filter](ctx context.Context, r resources[T, F], req ListRequest[F], n int, point func(i int, req *ListRequest[F]) func(Branch) Branch) ([]Page[T], []error) {
	pages, errs := make([]Page[T], n), make([]error, n)
	requests, scopes := make([]ListRequest[F], n), make([]Scope, n)
	// Only scopes of whole subtrees can be narrowed to what points somewhere.
	alone := req.PageToken != "" || req.UIDP.narrow()
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
			scopes[i].branches = append(scopes[i].branches, narrow(b))
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

// query checks a request and decides what may be read for it.
func (r resources[T, F]) query(ctx context.Context, req ListRequest[F]) (Query[F], error) {
	actor, err := caller(ctx)
	if err != nil {
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
	if err != nil {
		return q, err
	}
	if err := v.err(); err != nil {
		return q, err
	}
	q.Scope, err = r.kind.scope(actor, req.UIDP)
	return q, err
}

func (r resources[T, F]) paging(ctx context.Context, req ListRequest[F], v *violations) (Query[F], error) {
	q := Query[F]{Filter: req.Filter, Backward: req.Backward, Skip: req.Skip, Parts: req.Parts}
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
	name := listName(r.kind.Name, req.UIDP, req.Filter)
	order := slices.IndexFunc(r.kind.Orders, func(o OrderField[T]) bool { return o.Name == q.Order.Field })
	issued, sealer := r.p.options.Clock(), r.p.sealer.Load()
	cursor := func(row *T) string {
		return sealer.seal(token{
			issued: issued, order: order, desc: q.Order.Desc,
			Position: Position{r.kind.Orders[order].Value(row), r.kind.UID(row)},
		}, name)
	}
	page := Page[T]{Items: rows.Items, TotalCount: rows.Total, Skipped: req.Skip, cursor: cursor}
	passed := q.From != nil || req.Skip > 0 && len(rows.Items) > 0
	page.HasNext, page.HasPrevious = rows.More, passed
	if req.Backward {
		page.HasNext, page.HasPrevious = passed, rows.More
	}
	if n := len(rows.Items); rows.More && n > 0 {
		if req.Backward {
			n = 1
		}
		page.NextPageToken = cursor(rows.Items[n-1])
	}
	return page
}

// scopeExists tells an empty scope from one that is not there. It is asked
// only when a list found nothing.
func (r resources[T, F]) scopeExists(ctx context.Context, f UIDFilter) error {
	scopes := []struct {
		kind string
		uid  UID
	}{{"Group", f.AncestorsOf}, {"Group", f.DescendantsOf}, {r.kind.Parent, f.ChildrenOf}}
	for _, scope := range scopes {
		if scope.uid == "" {
			continue
		}
		switch found, err := r.p.store.Exists(ctx, scope.uid); {
		case err != nil:
			return err
		case !found:
			return missing(scope.kind, scope.uid)
		}
	}
	return nil
}

// accept authorises a creation under parent and gives the new row.
func (r resources[T, F]) accept(ctx context.Context, parent UID, in Input[T]) (*T, error) {
	var v violations
	actor, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	if v.uid("parent", parent); len(v) == 0 && !actor.Can(r.kind.Create, parent) {
		return nil, actor.lacks(r.kind.Create, parent)
	}
	row := r.decode(in, &v)
	if err := v.inOrder(r.kind.fieldNames()).err(); err != nil {
		return nil, err
	}
	r.kind.Stamp(row, parent.newChild(), r.p.now())
	return row, nil
}

// decode reads a row to be created and checks all of it.
func (r resources[T, F]) decode(in Input[T], v *violations) *T {
	row := in.forCreate(r.kind.Fields, v)
	r.kind.Check(&row, func(field string) bool { return !v.has(field) }, v)
	return &row
}

// create is the whole of a plain kind's Create.
func (r resources[T, F]) create(ctx context.Context, parent UID, in Input[T], same func(*T) F) (*T, error) {
	row, err := r.accept(ctx, parent, in)
	if err != nil {
		return nil, r.kind.in(err)
	}
	return r.insert(ctx, parent, row, same, func(Tx) error { return nil })
}

// insert stores a row and records its event, after check in the same
// transaction. same names the row that a duplicate would collide with.
func (r resources[T, F]) insert(ctx context.Context, parent UID, row *T, same func(*T) F, check func(Tx) error) (*T, error) {
	err := r.p.store.Write(ctx, func(tx Tx) error {
		if err := check(tx); err != nil {
			return err
		}
		if err := r.rows(tx).Insert(ctx, row); err != nil {
			return err
		}
		tx.Record(r.p.event(ctx, r.kind.Event, "created", r.kind.UID(row), r.kind.Group(row), row))
		return nil
	})
	switch {
	case errors.Is(err, ErrDuplicate):
		err = r.alreadyExists(ctx, parent, same(row))
	case errors.Is(err, ErrNoParent):
		err = missing(r.kind.Parent, parent)
	}
	if err != nil {
		return nil, r.kind.in(err)
	}
	return row, nil
}

// update is the whole of a plain kind's Update.
func (r resources[T, F]) update(ctx context.Context, uid UID, in Input[T], same func(*T) F) (*T, error) {
	return r.updateIf(ctx, uid, in, same, func(Tx, *T, []string) error { return nil })
}

// updateIf writes the fields that in names, after check in the same
// transaction. Only those columns are written, so that two updates of
// different fields both survive.
func (r resources[T, F]) updateIf(ctx context.Context, uid UID, in Input[T], same func(*T) F, check func(Tx, *T, []string) error) (*T, error) {
	change, fields, err := r.change(ctx, uid, in)
	if err != nil {
		return nil, r.kind.in(err)
	}
	if len(fields) == 0 {
		return r.unchanged(ctx, uid)
	}
	return r.write(ctx, uid, change, fields, same, check)
}

// unchanged is the answer to an update that changes nothing.
func (r resources[T, F]) unchanged(ctx context.Context, uid UID) (*T, error) {
	rows, err := r.table(r.p.store).Get(ctx, Keys{[]UID{uid}})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, r.kind.notFound(uid)
	}
	return rows[0], nil
}

// write stores the fields of an accepted change.
func (r resources[T, F]) write(ctx context.Context, uid UID, change *T, fields []string, same func(*T) F, check func(Tx, *T, []string) error) (*T, error) {
	var row *T
	err := r.p.store.Write(ctx, func(tx Tx) error {
		if err := check(tx, change, fields); err != nil {
			return err
		}
		written := *change
		r.kind.Stamp(&written, uid, r.p.now())
		if err := r.rows(tx).Update(ctx, &written, fields...); err != nil {
			return err
		}
		row = &written
		tx.Record(r.p.event(ctx, r.kind.Event, "updated", uid, r.kind.Group(row), row))
		return nil
	})
	switch {
	case errors.Is(err, ErrNotFound):
		err = r.kind.notFound(uid)
	case errors.Is(err, ErrDuplicate):
		err = r.alreadyExists(ctx, uid.Parent(), same(change))
	}
	if err != nil {
		return nil, r.kind.in(err)
	}
	return row, nil
}

// change authorises an update and decodes it.
func (r resources[T, F]) change(ctx context.Context, uid UID, in Input[T]) (*T, []string, error) {
	var v violations
	actor, err := caller(ctx)
	if err != nil {
		return nil, nil, err
	}
	if v.uid("uid", uid); len(v) == 0 && !actor.Can(r.kind.Update, uid) {
		return nil, nil, actor.lacks(r.kind.Update, uid)
	}
	row, fields := in.forUpdate(r.kind.Fields, &v)
	r.kind.Check(&row, func(field string) bool { return slices.Contains(fields, field) && !v.has(field) }, &v)
	return &row, fields, v.inOrder(r.kind.fieldNames()).err()
}

// remove is the whole of a plain kind's Delete.
func (r resources[T, F]) remove(ctx context.Context, uid UID) error {
	return r.removeIf(ctx, uid, func(Tx) error { return nil })
}

func (r resources[T, F]) removeIf(ctx context.Context, uid UID, check func(Tx) error) error {
	return r.kind.in(r.removeRow(ctx, uid, check))
}

func (r resources[T, F]) removeRow(ctx context.Context, uid UID, check func(Tx) error) error {
	if _, err := caller(ctx); err != nil {
		return err
	}
	if err := invalidUID("uid", uid); err != nil {
		return err
	}
	if _, err := need(ctx, uid, r.kind.Delete); err != nil {
		return err
	}
	err := r.p.store.Write(ctx, func(tx Tx) error {
		if err := check(tx); err != nil {
			return err
		}
		row, err := r.rows(tx).Delete(ctx, uid)
		if err != nil {
			return err
		}
		tx.Record(r.p.event(ctx, r.kind.Event, "deleted", uid, r.kind.Group(row), row))
		return nil
	})
	switch {
	case errors.Is(err, ErrNotFound):
		return r.kind.notFound(uid)
	case errors.Is(err, ErrReferenced):
		return blocked(r.kind.Blocked, string(uid), r.kind.blockedBecause())
	}
	return err
}

func (k *Kind[T]) blockedBecause() string {
	if k.Blocked == "RESOURCE_IN_USE" {
		return fmt.Sprintf("the %s is in use by other resources", lowerFirst(k.Name))
	}
	return fmt.Sprintf("the %s still holds other resources", lowerFirst(k.Name))
}

// in marks an error as one of the kind's area.
func (k *Kind[T]) in(err error) error { return inArea(k.Area, err) }

func inArea(area string, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Area != "" {
		return err
	}
	marked := *e
	marked.Area = area
	return &marked
}

func (k *Kind[T]) notFound(uid UID) error { return k.in(missing(k.Name, uid)) }

// missing answers a resource that is not there to a caller who may know it.
func missing(kind string, uid UID) *Error {
	description := fmt.Sprintf("%s %s does not exist", lowerFirst(kind), uid)
	return &Error{
		Code: CodeNotFound, Reason: "NOT_FOUND", Message: "Not found: " + description,
		Resource: &ResourceInfo{Kind: kind, Area: kindArea[kind], Name: string(uid), Description: description},
	}
}

// alreadyExists names the sibling that has the unique key.
func (r resources[T, F]) alreadyExists(ctx context.Context, parent UID, same F) error {
	scope := scopeOf(Branch{Relation: Children, UID: parent})
	rows, err := r.table(r.p.store).List(ctx, Query[F]{Scope: scope, Filter: same, Order: r.kind.DefaultOrder, Limit: 1, Parts: PartItems})
	if err != nil {
		return err
	}
	var uid UID
	if len(rows.Items) > 0 { // it can have gone again meanwhile
		uid = r.kind.UID(rows.Items[0])
	}
	return exists(r.kind.Name, uid)
}

func exists(kind string, uid UID) *Error {
	description := fmt.Sprintf("such a %s exists already", lowerFirst(kind))
	return &Error{
		Code: CodeAlreadyExists, Reason: "ALREADY_EXISTS", Message: "Already exists: " + description,
		Resource: &ResourceInfo{Kind: kind, Area: kindArea[kind], Name: string(uid), Description: description},
	}
}

// kindArea is the area of the kinds that others live in or point to.
var kindArea = map[string]string{"Group": "iam", "Identity": "iam", "Role": "iam", "Repo": "registry"}

func (k *Kind[T]) fieldNames() []string {
	names := make([]string, len(k.Fields), len(k.Fields)+1)
	for i, f := range k.Fields {
		names[i] = f.Name
	}
	return names
}

func lowerFirst(s string) string {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return s
	}
	return string(s[0]+'a'-'A') + s[1:]
}
