package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"atrium/platform/fieldmask"
)

// A batch makes all of its changes or, on any error, none. Violations of all
// requests are reported together, with the index of each request, and so are all
// resources that do not exist. Any other error names the index of the request that
// failed. The events are those of single changes.

// maxBatchRequests is the maximum number of changes in a batch.
const maxBatchRequests = 100

// A BatchRequest is one change of a batch. UID names the resource, or the parent
// of a resource to create.
type BatchRequest[T any] struct {
	UID   UID
	Input fieldmask.Input[T]
}

// CheckBatch calls accept for each of n requests and collects their violations.
// The fields of the violations begin with the name of the list and the index of
// the request.
func CheckBatch(ctx context.Context, list string, n int, accept func(i int) error) error {
	if _, err := RequireCaller(ctx); err != nil {
		return err
	}
	if n == 0 || n > maxBatchRequests {
		return Invalid(fieldmask.Violation{Field: list, Description: fmt.Sprintf("must have 1 to %d items", maxBatchRequests)})
	}
	indices := make([]int, n)
	for i := range indices {
		indices[i] = i
	}
	return collectViolations(list, indices, accept)
}

// collectViolations calls accept for each of the indices. It returns the violations of all of them in the order of
// the list, or the first other error.
func collectViolations(list string, indices []int, accept func(i int) error) error {
	found := make([]Violations, len(indices))
	for _, i := range indices {
		err := AddIndex(accept(i), list, i)
		var e *Error
		if errors.As(err, &e) && e.Code == CodeInvalidArgument {
			found[i] = e.Violations
		} else if err != nil {
			return err
		}
	}
	return slices.Concat(found...).Err()
}

// IndexedField returns the name of a field of the i-th request. The elements of a
// list of UIDs have no fields.
func IndexedField(list string, i int, field string) string {
	element := fmt.Sprintf("%s[%d]", list, i)
	if list == ListOfUIDs || list == ListOfNames {
		return element
	}
	return element + "." + field
}

// The fields of requests that have lists.
const (
	ListOfUIDs     = "uids"
	ListOfNames    = "names" // of mappings, which are UIDs too
	ListOfRequests = "requests"
)

// AddIndex adds the index of a request to the error of its change.
func AddIndex(err error, list string, i int) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	var all Violations
	for _, v := range e.Violations {
		all = append(all, fieldmask.Violation{Field: IndexedField(list, i, v.Field), Description: v.Description})
	}
	if e.Code == CodeInvalidArgument {
		return all.Err()
	}
	indexed := *e
	indexed.Violations = all
	return NameRequest(&indexed, list, i)
}

// NameRequest adds to an error the index of the request that caused it. The violations have it already.
func NameRequest(err error, list string, i int) error {
	var e *Error
	if !errors.As(err, &e) || !e.isOfRequest() {
		return err
	}
	indexed, element := *e, fmt.Sprintf("%s[%d]", list, i)
	indexed.Message += " (" + element + ")"
	if indexed.Metadata = maps.Clone(indexed.Metadata); indexed.Metadata == nil {
		indexed.Metadata = map[string]string{}
	}
	indexed.Metadata["request"] = element
	return &indexed
}

// isOfRequest reports whether the error follows from what was asked, and not from the state of the service.
func (e *Error) isOfRequest() bool {
	switch e.Code {
	case CodeAborted, CodeDeadlineExceeded, CodeUnavailable, CodeInternal:
		return false
	default:
		return true
	}
}

// NameMissing replaces a NOT_FOUND of a batch by one about the first of its resources that does not exist, which names each of
// them. The caller may read all of them.
func (r *Collection[T, F]) NameMissing(ctx context.Context, err error, list string, uids []UID) error {
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeNotFound {
		return err
	}
	found, failed := r.FindRows(ctx, r.Core.Store, uids)
	if failed != nil {
		return err // which is true, and names one of them
	}
	var v Violations
	first := NoRow
	for i, uid := range uids {
		if _, exists := found[uid]; !exists {
			if v.Add(IndexedField(list, i, "uid"), "%s %s does not exist", spellKind(r.Kind.Name), uid); first == NoRow {
				first = i
			}
		}
	}
	if first == NoRow { // something else does not exist
		return err
	}
	named := NewNotFound(r.Kind.Ref(), uids[first])
	named.Violations = v[:min(len(v), MaxViolations)]
	return NameRequest(named, list, first)
}

// rejectDuplicate fails if the i-th UID of a batch is in it a second time.
func rejectDuplicate(field string, uids []UID, i int) error {
	if slices.Contains(uids[:i], uids[i]) {
		return Invalid(fieldmask.Violation{Field: field, Description: "is given twice"})
	}
	return nil
}

// SortIndices returns the indices of a batch sorted by UID. All batches write in
// this order, so that two of them do not wait for each other.
func SortIndices(uids []UID) []int {
	indices := make([]int, len(uids))
	for i := range indices {
		indices[i] = i
	}
	slices.SortStableFunc(indices, func(a, b int) int { return cmp.Compare(uids[a], uids[b]) })
	return indices
}

// CreateBatch makes several resources, each below the parent that its request names: all or none. In their transaction,
// prepare completes the rows, reads what decides whether they may be made, and returns a function that fails unless the i-th
// may be. They are prepared again if the transaction is repeated.
func (r *Collection[T, F]) CreateBatch(ctx context.Context, requests []BatchRequest[T], prepare func(tx Tx, rows []T) (admit func(i int) error, err error)) ([]T, error) {
	rows, parents := make([]T, len(requests)), make([]UID, len(requests))
	for i, request := range requests {
		parents[i] = request.UID
	}
	err := CheckBatch(ctx, ListOfRequests, len(requests), func(i int) (err error) {
		rows[i], err = r.AuthorizeCreate(ctx, parents[i], requests[i].Input)
		return r.RecordIfDenied(ctx, "created", parents[i], err)
	})
	if err != nil {
		return nil, r.Kind.AddArea(err)
	}
	made, failing := make([]T, len(requests)), NoRow
	err = r.Core.Store.Write(ctx, func(tx Tx) error {
		for i, row := range rows {
			made[i] = fieldmask.Copy(row) // the transaction can be retried
		}
		admit, err := prepare(tx, made)
		if err != nil {
			return err
		}
		err = collectViolations(ListOfRequests, SortIndices(parents), func(i int) error {
			failing = i
			return admit(i)
		})
		if err != nil {
			return err
		}
		failing = NoRow
		return r.InsertAllInTx(ctx, tx, made)
	})
	switch {
	case errors.Is(err, ErrDuplicate):
		err = r.duplicateError(ctx, parents, rows)
	case errors.Is(err, ErrNoParent):
		err = r.missingParentError(ctx, parents)
	}
	if err != nil {
		return nil, r.RecordIfDenied(ctx, "created", parents[max(failing, 0)], err)
	}
	return made, nil
}

// duplicateError returns the error of a batch one of whose rows has the unique key of a stored row, or of one before it.
func (r *Collection[T, F]) duplicateError(ctx context.Context, parents []UID, rows []T) error {
	at, err := r.FindDuplicate(ctx, parents, rows)
	if at == NoRow {
		return err
	}
	return AddIndex(err, ListOfRequests, at)
}

// InsertAllInTx stores rows as they are shown, and records their events.
func (r *Collection[T, F]) InsertAllInTx(ctx context.Context, tx Tx, rows []T) error {
	created := make([]*Event, len(rows))
	for i, row := range rows {
		created[i] = r.creationEvent(ctx, row)
	}
	if err := r.Table.InsertShown(ctx, tx, rows...); err != nil {
		return err
	}
	for i, row := range rows {
		created[i].SetBody(row) // after the insertion, which has read what the row shows of other rows
	}
	tx.Record(created...)
	return nil
}

// FindDuplicate returns the index of the first row of a batch whose unique key a stored row has, or one before it, and the
// error that says so. The index is NoRow if there is none any longer.
func (r *Collection[T, F]) FindDuplicate(ctx context.Context, parents []UID, rows []T) (at int, err error) {
	for i, row := range rows {
		err = r.AlreadyExists(ctx, parents[i], row)
		var e *Error
		if !errors.As(err, &e) {
			return NoRow, err
		}
		found := e.Resource.Name != ""
		for j, other := range rows[:i] {
			found = found || parents[j] == parents[i] && reflect.DeepEqual(r.keyFilter(other), r.keyFilter(row))
		}
		if found {
			return i, err
		}
	}
	return NoRow, err
}

// missingParentError returns the error of a batch one of whose parents does not exist.
func (r *Collection[T, F]) missingParentError(ctx context.Context, parents []UID) error {
	for i, parent := range parents {
		if slices.Contains(parents[:i], parent) {
			continue
		}
		switch exists, err := r.Core.Store.Exists(ctx, parent); {
		case err != nil:
			return err
		case !exists:
			return AddIndex(NewNotFound(r.Kind.Parent, parent), ListOfRequests, i)
		}
	}
	return NewAborted("a resource that the batch needs was changed at the same time", nil)
}

// UpdateBatch updates several resources: all or none.
func (r *Collection[T, F]) UpdateBatch(ctx context.Context, requests []BatchRequest[T]) ([]T, error) {
	changes, uids := make([]*fieldmask.Change[T], len(requests)), make([]UID, len(requests))
	for i, request := range requests {
		uids[i] = request.UID
	}
	err := CheckBatch(ctx, ListOfRequests, len(requests), func(i int) (err error) {
		if changes[i], err = r.AuthorizeUpdate(ctx, uids[i], requests[i].Input); err == nil {
			err = rejectDuplicate("uid", uids, i)
		}
		return r.RecordIfDenied(ctx, "updated", uids[i], err)
	})
	if err != nil {
		return nil, r.Kind.AddArea(err)
	}
	var rows []T
	failing := NoRow
	err = r.Core.Store.Write(ctx, func(tx Tx) (err error) {
		rows, failing, err = r.writeAllInTx(ctx, tx, uids, changes, allowChange)
		return err
	})
	if err != nil && failing == NoRow { // of the commit
		return nil, r.Kind.AddArea(err)
	}
	if err != nil {
		err = r.updateError(ctx, uids[failing], changes[failing], err)
		err = AddIndex(err, ListOfRequests, failing)
		return nil, r.Kind.AddArea(r.NameMissing(ctx, err, ListOfRequests, uids))
	}
	return rows, nil
}

// RemoveBatch deletes several resources: all or none.
func (r *Collection[T, F]) RemoveBatch(ctx context.Context, uids []UID) error {
	return r.RemoveBatchChecked(ctx, uids, allowDeletion)
}

// RemoveAllInTx deletes resources, and records their events. After an error, it returns the index of the resource that
// caused it, or NoRow.
func (r *Collection[T, F]) RemoveAllInTx(ctx context.Context, tx Tx, sorted []UID) (failing int, _ error) {
	rows, err := r.Table.DeleteAll(ctx, tx, sorted)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrReferenced):
		return len(rows), err
	case err != nil:
		return NoRow, err
	}
	for i, row := range rows {
		tx.Record(r.Core.Event(ctx, r.Kind.Event, "deleted", sorted[i], r.Kind.Group(row), row))
	}
	return NoRow, nil
}

// RemoveBatchChecked calls check for each resource before any of them is deleted, in the same
// transaction.
func (r *Collection[T, F]) RemoveBatchChecked(ctx context.Context, uids []UID, check func(tx Tx, uid UID) error) error {
	return r.ChangeBatchBy(ctx, ListOfUIDs, uids, "deleted", func(tx Tx, sorted []UID) (int, error) {
		for i, uid := range sorted {
			if err := check(tx, uid); err != nil {
				return i, err
			}
		}
		return r.RemoveAllInTx(ctx, tx, sorted)
	})
}

// NoRow is the index for an error that no resource has caused.
const NoRow = -1

// ChangeBatchBy authorizes a batch for a caller who may delete all of it, and lets change act on it in the
// order of UIDs. After an error, change returns the index of the resource that caused it, or NoRow. The list is
// what errors name, and the verb is that of the events of denied changes.
func (r *Collection[T, F]) ChangeBatchBy(ctx context.Context, list string, uids []UID, verb string, change func(Tx, []UID) (int, error)) error {
	err := CheckBatch(ctx, list, len(uids), func(i int) error {
		err := r.authorizeRemove(ctx, uids[i])
		if err == nil {
			err = rejectDuplicate("uid", uids, i)
		}
		return r.RecordIfDenied(ctx, verb, uids[i], err)
	})
	if err != nil {
		return r.Kind.AddArea(err)
	}
	sorted, failing := slices.Sorted(slices.Values(uids)), NoRow
	err = r.Core.Store.Write(ctx, func(tx Tx) (err error) {
		failing, err = change(tx, sorted)
		return err
	})
	if err != nil && failing != NoRow {
		uid := sorted[failing]
		err = AddIndex(r.removeError(ctx, uid, err), list, slices.Index(uids, uid))
		err = r.NameMissing(ctx, err, list, uids)
	}
	return r.Kind.AddArea(err)
}

// allowChange accepts every change.
func allowChange[T any](Tx, *fieldmask.Change[T]) error { return nil }

// allowDeletion accepts every deletion.
func allowDeletion(Tx, UID) error { return nil }
