package platform

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

// checkBatch calls accept for each of n requests and collects their violations.
// The fields of the violations begin with the name of the list and the index of
// the request.
func checkBatch(ctx context.Context, list string, n int, accept func(i int) error) error {
	if _, err := requireCaller(ctx); err != nil {
		return err
	}
	if n == 0 || n > maxBatchRequests {
		return Invalid(fieldmask.Violation{Field: list, Description: fmt.Sprintf("must be 1 to %d", maxBatchRequests)})
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
	found := make([]violations, len(indices))
	for _, i := range indices {
		err := addIndex(accept(i), list, i)
		var e *Error
		if errors.As(err, &e) && e.Code == CodeInvalidArgument {
			found[i] = e.Violations
		} else if err != nil {
			return err
		}
	}
	return slices.Concat(found...).err()
}

// indexedField returns the name of a field of the i-th request. The elements of a
// list of UIDs have no fields.
func indexedField(list string, i int, field string) string {
	element := fmt.Sprintf("%s[%d]", list, i)
	if list == listOfUIDs || list == listOfNames {
		return element
	}
	return element + "." + field
}

const (
	listOfUIDs     = "uids"
	listOfNames    = "names" // of mappings, which are UIDs too
	listOfRequests = "requests"
)

// addIndex adds the index of a request to the error of its change.
func addIndex(err error, list string, i int) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	var all violations
	for _, v := range e.Violations {
		all = append(all, fieldmask.Violation{Field: indexedField(list, i, v.Field), Description: v.Description})
	}
	if e.Code == CodeInvalidArgument {
		return all.err()
	}
	indexed := *e
	indexed.Violations = all
	return nameRequest(&indexed, list, i)
}

// nameRequest adds to an error the index of the request that caused it. The violations have it already.
func nameRequest(err error, list string, i int) error {
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

// nameMissing adds to a NOT_FOUND of a batch each of its resources that does not exist. The caller may read all of them.
func (r *Collection[T, F]) nameMissing(ctx context.Context, err error, list string, uids []UID) error {
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeNotFound {
		return err
	}
	found, failed := r.findRows(ctx, r.core.store, uids)
	if failed != nil {
		return err // which is true, and names one of them
	}
	var v violations
	for i, uid := range uids {
		if _, exists := found[uid]; !exists {
			v.add(indexedField(list, i, "uid"), "%s %s does not exist", spellKind(r.kind.Name), uid)
		}
	}
	if len(v) == 0 { // something else does not exist
		return err
	}
	named := *e
	named.Violations = v[:min(len(v), MaxViolations)]
	return &named
}

// rejectDuplicate fails if the i-th UID of a batch is in it a second time.
func rejectDuplicate(field string, uids []UID, i int) error {
	if slices.Contains(uids[:i], uids[i]) {
		return Invalid(fieldmask.Violation{Field: field, Description: "is given twice"})
	}
	return nil
}

// sortIndices returns the indices of a batch sorted by UID. All batches write in
// this order, so that two of them do not wait for each other.
func sortIndices(uids []UID) []int {
	indices := make([]int, len(uids))
	for i := range indices {
		indices[i] = i
	}
	slices.SortStableFunc(indices, func(a, b int) int { return cmp.Compare(uids[a], uids[b]) })
	return indices
}

// createBatch makes several resources, each below the parent that its request names: all or none. In their transaction,
// prepare completes the rows, reads what decides whether they may be made, and returns a function that fails unless the i-th
// may be. They are prepared again if the transaction is repeated.
func (r *Collection[T, F]) createBatch(ctx context.Context, requests []BatchRequest[T], prepare func(tx Tx, rows []T) (admit func(i int) error, err error)) ([]T, error) {
	rows, parents := make([]T, len(requests)), make([]UID, len(requests))
	for i, request := range requests {
		parents[i] = request.UID
	}
	err := checkBatch(ctx, listOfRequests, len(requests), func(i int) (err error) {
		rows[i], err = r.authorizeCreate(ctx, parents[i], requests[i].Input)
		return r.recordIfDenied(ctx, "created", parents[i], err)
	})
	if err != nil {
		return nil, r.kind.addArea(err)
	}
	made, failing := make([]T, len(requests)), noRow
	err = r.core.store.Write(ctx, func(tx Tx) error {
		for i, row := range rows {
			made[i] = fieldmask.Copy(row) // the transaction can be retried
		}
		admit, err := prepare(tx, made)
		if err != nil {
			return err
		}
		err = collectViolations(listOfRequests, sortIndices(parents), func(i int) error {
			failing = i
			return admit(i)
		})
		if err != nil {
			return err
		}
		failing = noRow
		return r.insertAllInTx(ctx, tx, made)
	})
	switch {
	case errors.Is(err, ErrDuplicate):
		err = r.duplicateError(ctx, parents, rows)
	case errors.Is(err, ErrNoParent):
		err = r.missingParentError(ctx, parents)
	}
	if err != nil {
		return nil, r.recordIfDenied(ctx, "created", parents[max(failing, 0)], err)
	}
	return made, nil
}

// duplicateError returns the error of a batch one of whose rows has the unique key of a stored row, or of one before it.
func (r *Collection[T, F]) duplicateError(ctx context.Context, parents []UID, rows []T) error {
	at, err := r.findDuplicate(ctx, parents, rows)
	if at == noRow {
		return err
	}
	return addIndex(err, listOfRequests, at)
}

// insertAllInTx stores rows as they are shown, and records their events.
func (r *Collection[T, F]) insertAllInTx(ctx context.Context, tx Tx, rows []T) error {
	created := make([]*Event, len(rows))
	for i, row := range rows {
		created[i] = r.creationEvent(ctx, row)
	}
	if err := r.table.InsertShown(ctx, tx, rows...); err != nil {
		return err
	}
	tx.Record(created...)
	return nil
}

// findDuplicate returns the index of the first row of a batch whose unique key a stored row has, or one before it, and the
// error that says so. The index is noRow if there is none any longer.
func (r *Collection[T, F]) findDuplicate(ctx context.Context, parents []UID, rows []T) (at int, err error) {
	for i, row := range rows {
		err = r.alreadyExists(ctx, parents[i], row)
		var e *Error
		if !errors.As(err, &e) {
			return noRow, err
		}
		found := e.Resource.Name != ""
		for j, other := range rows[:i] {
			found = found || parents[j] == parents[i] && reflect.DeepEqual(r.keyFilter(other), r.keyFilter(row))
		}
		if found {
			return i, err
		}
	}
	return noRow, err
}

// missingParentError returns the error of a batch one of whose parents does not exist.
func (r *Collection[T, F]) missingParentError(ctx context.Context, parents []UID) error {
	for i, parent := range parents {
		if slices.Contains(parents[:i], parent) {
			continue
		}
		switch exists, err := r.core.store.Exists(ctx, parent); {
		case err != nil:
			return err
		case !exists:
			return addIndex(newNotFound(r.kind.Parent, parent), listOfRequests, i)
		}
	}
	return newAborted("what the batch needs was changed at the same time", nil)
}

// updateBatch updates several resources: all or none.
func (r *Collection[T, F]) updateBatch(ctx context.Context, requests []BatchRequest[T]) ([]T, error) {
	changes, uids := make([]*fieldmask.Change[T], len(requests)), make([]UID, len(requests))
	for i, request := range requests {
		uids[i] = request.UID
	}
	err := checkBatch(ctx, listOfRequests, len(requests), func(i int) (err error) {
		if changes[i], err = r.authorizeUpdate(ctx, uids[i], requests[i].Input); err == nil {
			err = rejectDuplicate("uid", uids, i)
		}
		return r.recordIfDenied(ctx, "updated", uids[i], err)
	})
	if err != nil {
		return nil, r.kind.addArea(err)
	}
	var rows []T
	failing := noRow
	err = r.core.store.Write(ctx, func(tx Tx) (err error) {
		rows, failing, err = r.writeAllInTx(ctx, tx, uids, changes, allowChange)
		return err
	})
	if err != nil && failing == noRow { // of the commit
		return nil, r.kind.addArea(err)
	}
	if err != nil {
		err = r.updateError(ctx, uids[failing], changes[failing], err)
		err = addIndex(err, listOfRequests, failing)
		return nil, r.kind.addArea(r.nameMissing(ctx, err, listOfRequests, uids))
	}
	return rows, nil
}

// removeBatch deletes several resources: all or none.
func (r *Collection[T, F]) removeBatch(ctx context.Context, uids []UID) error {
	return r.removeBatchChecked(ctx, uids, allowDeletion)
}

// removeAllInTx deletes resources, and records their events. After an error, it returns the index of the resource that
// caused it, or noRow.
func (r *Collection[T, F]) removeAllInTx(ctx context.Context, tx Tx, sorted []UID) (failing int, _ error) {
	rows, err := r.table.DeleteAll(ctx, tx, sorted)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrReferenced):
		return len(rows), err
	case err != nil:
		return noRow, err
	}
	for i, row := range rows {
		tx.Record(r.core.event(ctx, r.kind.Event, "deleted", sorted[i], r.kind.Group(row), row))
	}
	return noRow, nil
}

// removeBatchChecked calls check for each resource before any of them is deleted, in the same
// transaction.
func (r *Collection[T, F]) removeBatchChecked(ctx context.Context, uids []UID, check func(tx Tx, uid UID) error) error {
	return r.changeBatchBy(ctx, listOfUIDs, uids, "deleted", func(tx Tx, sorted []UID) (int, error) {
		for i, uid := range sorted {
			if err := check(tx, uid); err != nil {
				return i, err
			}
		}
		return r.removeAllInTx(ctx, tx, sorted)
	})
}

// noRow is the index for an error that no resource has caused.
const noRow = -1

// changeBatchBy authorises a batch for a caller who may delete all of it, and lets change act on it in the
// order of UIDs. After an error, change returns the index of the resource that caused it, or noRow. The list is
// what errors name, and the verb is that of the events of denied changes.
func (r *Collection[T, F]) changeBatchBy(ctx context.Context, list string, uids []UID, verb string, change func(Tx, []UID) (int, error)) error {
	err := checkBatch(ctx, list, len(uids), func(i int) error {
		err := r.authorizeRemove(ctx, uids[i])
		if err == nil {
			err = rejectDuplicate("uid", uids, i)
		}
		return r.recordIfDenied(ctx, verb, uids[i], err)
	})
	if err != nil {
		return r.kind.addArea(err)
	}
	sorted, failing := slices.Sorted(slices.Values(uids)), noRow
	err = r.core.store.Write(ctx, func(tx Tx) (err error) {
		failing, err = change(tx, sorted)
		return err
	})
	if err != nil && failing != noRow {
		uid := sorted[failing]
		err = addIndex(r.removeError(ctx, uid, err), list, slices.Index(uids, uid))
		err = r.nameMissing(ctx, err, list, uids)
	}
	return r.kind.addArea(err)
}

// allowChange accepts every change.
func allowChange[T any](Tx, *fieldmask.Change[T]) error { return nil }

// allowDeletion accepts every deletion.
func allowDeletion(Tx, UID) error { return nil }
