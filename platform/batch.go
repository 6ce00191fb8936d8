package platform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Many changes at once: all of them or, on any error, none. What is wrong with
// the requests is told of all of them, each under its place; what else keeps one
// from being done names the place of that one. Events are those of single
// changes.

// MaxBatchRequests is how many changes one batch may hold.
const MaxBatchRequests = 100

// A BatchRequest is one of several changes: of the resource UID, or of a new one
// below it.
type BatchRequest[T any] struct {
	UID   UID
	Input Input[T]
}

// checkBatch accepts n requests, each by accept, which refuses one as it would
// alone. Violations have the name of the list and the place before them; field is
// what a request names its resource by, "" where the list is of that alone.
func checkBatch(ctx context.Context, list string, n int, accept func(i int) error) error {
	if _, err := caller(ctx); err != nil {
		return err
	}
	if n == 0 || n > MaxBatchRequests {
		return Invalid(Violation{list, fmt.Sprintf("must be 1 to %d", MaxBatchRequests)})
	}
	var all violations
	for i := range n {
		err := addPlace(accept(i), list, i)
		var e *Error
		if errors.As(err, &e) && e.Code == CodeInvalidArgument {
			all = append(all, e.Violations...)
		} else if err != nil {
			return err
		}
	}
	return all.err()
}

// namePlace names the place of a field of the i-th request. A list of UIDs has no
// fields.
func namePlace(list string, i int, field string) string {
	place := fmt.Sprintf("%s[%d]", list, i)
	if list == listOfUIDs {
		return place
	}
	return place + "." + field
}

const (
	listOfUIDs     = "uids"
	listOfRequests = "requests"
)

// addPlace makes the error of one change that of the i-th request.
func addPlace(err error, list string, i int) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Code == CodeInvalidArgument {
		var all violations
		for _, v := range e.Violations {
			all = append(all, Violation{namePlace(list, i, v.Field), v.Description})
		}
		return all.err()
	}
	one := *e
	place := fmt.Sprintf("%s[%d]", list, i)
	one.Message += " (" + place + ")"
	if one.Metadata = maps.Clone(one.Metadata); one.Metadata == nil {
		one.Metadata = map[string]string{}
	}
	one.Metadata["request"] = place
	return &one
}

// refuseTwice refuses a UID that stands in a batch twice.
func refuseTwice(field string, uids []UID, i int) error {
	if slices.Contains(uids[:i], uids[i]) {
		return Invalid(Violation{field, "is given twice"})
	}
	return nil
}

// sortPlaces gives the places of a batch in the order in which all batches go
// over them, so that two of them never wait for each other.
func sortPlaces(uids []UID) []int {
	places := make([]int, len(uids))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(uids[a], uids[b]) })
	return places
}

// updateBatch changes several resources.
func (r resources[T, F]) updateBatch(ctx context.Context, requests []BatchRequest[T], same func(*T) F) ([]*T, error) {
	changes, uids := make([]*change[T], len(requests)), make([]UID, len(requests))
	for i, one := range requests {
		uids[i] = one.UID
	}
	err := checkBatch(ctx, listOfRequests, len(requests), func(i int) (err error) {
		if changes[i], err = r.change(ctx, uids[i], requests[i].Input); err == nil {
			err = refuseTwice("uid", uids, i)
		}
		return r.refused(ctx, "updated", uids[i], err)
	})
	if err != nil {
		return nil, r.kind.in(err)
	}
	rows, failing := make([]*T, len(requests)), 0
	err = r.p.store.Write(ctx, func(tx Tx) (err error) {
		for _, failing = range sortPlaces(uids) {
			if rows[failing], err = r.writeIn(ctx, tx, uids[failing], changes[failing], unchecked); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		err = r.updateError(ctx, uids[failing], changes[failing], same, err)
		return nil, r.kind.in(addPlace(err, listOfRequests, failing))
	}
	return rows, nil
}

// removeBatch deletes several resources, each after check in the same
// transaction.
func (r resources[T, F]) removeBatch(ctx context.Context, uids []UID, check func(tx Tx, uid UID) error) error {
	err := checkBatch(ctx, listOfUIDs, len(uids), func(i int) error {
		err := r.mayRemove(ctx, uids[i])
		if err == nil {
			err = refuseTwice("uid", uids, i)
		}
		return r.refused(ctx, "deleted", uids[i], err)
	})
	if err != nil {
		return r.kind.in(err)
	}
	failing := 0
	err = r.p.store.Write(ctx, func(tx Tx) error {
		for _, failing = range sortPlaces(uids) {
			if err := r.removeIn(ctx, tx, uids[failing], check); err != nil {
				return err
			}
		}
		return nil
	})
	return r.kind.in(addPlace(r.removeError(uids[failing], err), listOfUIDs, failing))
}

// unchecked lets a change through.
func unchecked[T any](Tx, *change[T]) error { return nil }

// UpdateBatch changes several repos: all or none.
func (s Repos) UpdateBatch(ctx context.Context, requests []BatchRequest[Repo]) ([]*Repo, error) {
	return s.updateBatch(ctx, requests, repoNamed)
}

// DeleteBatch removes several tags: all or none.
func (s Tags) DeleteBatch(ctx context.Context, uids []UID) error {
	return s.removeBatch(ctx, uids, func(Tx, UID) error { return nil })
}

// DeleteBatch takes several roles from identities: all or none.
func (s RoleBindings) DeleteBatch(ctx context.Context, uids []UID) error {
	return s.removeBatch(ctx, uids, s.mayUnbind(ctx))
}
