package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

// writer changes one kind inside a transaction.
type writer[T, F any] struct {
	*reader[T, F]
	tx *transaction
}

// copyThreshold is the number of rows from which an insert uses COPY.
const copyThreshold = 16

// Insert adds rows with their aliases: one by one, or with COPY if there are many.
func (w *writer[T, F]) Insert(ctx context.Context, rows ...T) error { return w.insertThen(ctx, rows) }

// InsertShown adds rows, and reads them back with their joined columns.
func (w *writer[T, F]) InsertShown(ctx context.Context, rows ...T) error {
	uids := make([]platform.UID, len(rows))
	for i, row := range rows {
		uids[i] = w.uid(row)
	}
	var stored []T
	if err := w.insertThen(ctx, rows, w.selectAll(w.dialect, uids, &stored)); err != nil {
		return err
	}
	for _, row := range stored {
		w.assign(rows[slices.Index(uids, w.uid(row))], row)
	}
	return nil
}

// insertThen adds rows, and runs other statements after that.
func (w *writer[T, F]) insertThen(ctx context.Context, rows []T, then ...*dbconn.Statement) error {
	columns := w.insertColumns()
	values, all := make([][]any, len(rows)), make([]any, 0, len(rows)*len(columns))
	var last sharedValues
	for i, row := range rows {
		if uid := w.uid(row); w.enclosed != nil && !uid.Valid() {
			return fmt.Errorf("%s: %q is not a UID", w.name, uid)
		}
		if w.derive != nil {
			w.derive(row)
		}
		all = w.appendValues(all, row, &last)
		values[i] = all[i*len(columns) : len(all) : len(all)]
	}
	aliases := w.aliasValues(rows)
	var err error
	if len(rows) < copyThreshold {
		then = slices.Concat(insertAll(w.dialect, w.name, columns, values), insertAll(w.dialect, w.aliasTable, aliasColumns, aliases), then)
	} else if err = w.tx.conn.Copy(ctx, w.name, columns, values); err == nil && len(aliases) > 0 {
		err = w.tx.conn.Copy(ctx, w.aliasTable, aliasColumns, aliases)
	}
	if err == nil && len(then) > 0 {
		err = w.conn.Run(ctx, then...)
	}
	switch {
	case errors.Is(err, dbconn.ErrForeignKey):
		return platform.ErrNoParent
	case err != nil:
		return err
	}
	for _, row := range rows {
		w.count(row, 1)
		w.addTask(row, nil)
	}
	return nil
}

// addTask adds the task of a row to those of the transaction. changed are the fields of an update.
func (w *writer[T, F]) addTask(row T, changed []string) {
	if w.tasks != nil && (w.tasksOf == nil || slices.ContainsFunc(w.tasksOf, func(field string) bool { return slices.Contains(changed, field) })) {
		w.tx.tasks = append(w.tx.tasks, w.tasks(row))
	}
}

// count adds by to the counters of a row.
func (w *writer[T, F]) count(row T, by int64) {
	switch {
	case w.uncounted:
	case w.enclosed == nil:
		w.tx.deltas.countOutside(w.number, w.group(row), w.quietParent, w.tx.slot, by)
	default:
		w.tx.deltas.count(w.number, w.treeUID(w.uid(row)), w.quietParent, w.tx.slot, by)
		if w.class != nil {
			w.countClass(w.uid(row), w.class(row), by)
		}
	}
}

// countClass adds by to the counters of a class.
func (w *writer[T, F]) countClass(uid platform.UID, class, by int64) {
	for _, number := range w.classCounters(class) {
		w.tx.deltas.count(number, w.treeUID(uid), w.quietParent, w.tx.slot, by)
	}
}

// reclassify updates the counters of a row whose class is about to change. It locks the row,
// so that no other transaction changes the class meanwhile.
func (w *writer[T, F]) reclassify(ctx context.Context, row T) error {
	was, err := w.readJoined(ctx, w.uid(row), w.dialect.KeepRow)
	if errors.Is(err, platform.ErrNotFound) {
		return nil // Update finds out
	}
	if err != nil {
		return err
	}
	w.countClass(w.uid(row), w.class(was), -1)
	w.countClass(w.uid(row), w.class(row), 1)
	w.addTask(was, nil)
	return nil
}

// insertAll returns statements that insert rows one by one.
func insertAll(d *dbconn.Dialect, table string, columns []string, rows [][]any) []*dbconn.Statement {
	run := make([]*dbconn.Statement, len(rows))
	for i, values := range rows {
		run[i] = insert(d, table, columns, values)
	}
	return run
}

// insert returns a statement that inserts one row.
func insert(d *dbconn.Dialect, table string, columns []string, values []any) *dbconn.Statement {
	s := newStatement(d)
	s.add("INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (")
	for i, v := range values {
		if i > 0 {
			s.add(", ")
		}
		s.add("?", v)
	}
	return s.add(")").build(nil)
}

// insertColumns lists the columns of values.
func (t *table[T, F]) insertColumns() []string {
	var columns []string
	if t.enclosed != nil {
		columns = append(columns, t.ancestorColumns()...)
	}
	for _, c := range t.columns {
		if name, own := c.ownName(); own {
			columns = append(columns, name)
		}
	}
	return append(columns, t.writeOnlyColumns()...)
}

// writeOnlyColumns lists columns that are written but not read with their kind.
func (t *table[T, F]) writeOnlyColumns() []string {
	names := make([]string, len(t.writeOnly))
	for i, c := range t.writeOnly {
		names[i], _ = c.ownName()
	}
	return names
}

// appendValues appends the arguments that store a row. last is from the row before.
func (t *table[T, F]) appendValues(values []any, row T, last *sharedValues) []any {
	if t.enclosed != nil {
		values = t.appendAncestorValues(values, t.uid(row), last)
	}
	for _, c := range t.columns {
		if _, own := c.ownName(); own {
			values = append(values, encodeColumn(c.to(row)))
		}
	}
	for _, c := range t.writeOnly {
		values = append(values, encodeColumn(c.to(row)))
	}
	return values
}

// ancestorColumns lists the columns of appendAncestorValues.
func (t *table[T, F]) ancestorColumns() []string {
	if t.compact {
		return []string{"root", "parent", "root_key", "parent_key", "g2_key", "g3_key", "rest", "local"}
	}
	return []string{"root", "parent", "g2", "g3"}
}

// sharedValues are the values that the rows within one UID have in common. Rows that are
// inserted together often have the same parent, so its keys need not be hashed for each.
type sharedValues struct {
	root, encloser platform.UID
	values         []any
}

// appendAncestorValues appends what a row contains of its ancestors. last is from the row
// before.
func (t *table[T, F]) appendAncestorValues(values []any, uid platform.UID, last *sharedValues) []any {
	root := uid.Root()
	if t.rootless != nil && t.rootless(uid) {
		root = ""
	}
	encloser := t.enclosed(uid)
	if !t.compact {
		return append(values, packUID(root), orNull(t.treeUID(uid).Parent()), orNull(encloser.Enclosing(2)), orNull(encloser.Enclosing(3)))
	}
	if last.values == nil || root != last.root || encloser != last.encloser {
		*last = sharedValues{root, encloser, []any{
			packUID(root), packUID(encloser), scopeKey(root), parentKey(encloser), scopeKeyOrNull(encloser.Enclosing(2)), scopeKeyOrNull(encloser.Enclosing(3)),
		}}
	}
	return append(append(values, last.values...), restOf(uid), localOf(uid))
}

func orNull(u platform.UID) any {
	if u == "" {
		return nil
	}
	return packUID(u)
}

// treeUID returns a UID with the position of a row in the tree. A row can share the
// UID of its parent.
func (t *table[T, F]) treeUID(uid platform.UID) platform.UID {
	if t.sharesUID {
		return childOf(uid)
	}
	return uid
}

var aliasColumns = []string{"alias", "uid"}

// aliasValues returns the rows of the table of aliases for rows.
func (t *table[T, F]) aliasValues(rows []T) (values [][]any) {
	if t.aliases == nil {
		return nil
	}
	for _, row := range rows {
		names := slices.Clone(t.aliases(row))
		slices.Sort(names)
		key := t.key(t.uid(row))
		if u, ok := key.(platform.UID); ok {
			key = packUID(u)
		}
		for _, alias := range slices.Compact(names) {
			values = append(values, []any{alias, key})
		}
	}
	return values
}

// Update writes the named fields and reads the row back.
func (w *writer[T, F]) Update(ctx context.Context, row T, fields ...string) error {
	if w.derive != nil {
		w.derive(row)
	}
	s := newStatement(w.dialect)
	s.add("UPDATE " + w.name + " SET ")
	set := 0
	for _, c := range slices.Concat(w.columns, w.writeOnly) {
		name, own := c.ownName()
		if written := name == "update_time" || c.field != "" && slices.Contains(fields, c.field); !own || !written {
			continue
		}
		if w.class != nil && name == w.classColumn {
			if err := w.reclassify(ctx, row); err != nil {
				return err
			}
		}
		if set++; set > 1 {
			s.add(", ")
		}
		s.add(name+" = ?", encodeColumn(c.to(row)))
	}
	if set == 0 {
		s.add("uid = uid") // changes nothing, but locks the row
	}
	searched := slices.ContainsFunc(w.searchFields, func(field string) bool { return slices.Contains(fields, field) })
	if searched {
		if whole, isKnown := w.afterUpdate(row, fields); isKnown {
			s.add(", search = ?", foldText(w.searchOf(whole)))
			searched = false
		}
	}
	s.add(" WHERE uid = ?", w.key(w.uid(row)))
	var stored []T
	run := w.readBack(s, w.uid(row), &stored)
	if w.aliases != nil && slices.Contains(fields, w.aliasesOf) {
		run = append(run, newStatement(w.dialect).add("DELETE FROM "+w.aliasTable+" WHERE uid = ?", w.key(w.uid(row))).build(nil))
		run = append(run, insertAll(w.dialect, w.aliasTable, aliasColumns, w.aliasValues([]T{row}))...)
	}
	err := w.conn.Run(ctx, run...)
	switch {
	case run[0].Done && len(stored) == 0 && run[0].Affected == 0: // its aliases would be those of nothing
		return platform.ErrNotFound
	case errors.Is(err, dbconn.ErrForeignKey):
		return platform.ErrNoParent
	case err != nil:
		return err
	}
	w.assign(row, stored[0])
	w.addTask(row, fields)
	if searched {
		w.tx.conn.Queue(newStatement(w.dialect).add("UPDATE "+w.name+" SET search = ? WHERE uid = ?", foldText(w.searchOf(row)), w.key(w.uid(row))).build(nil))
	}
	return nil
}

// afterUpdate returns the row as the fields of row will leave it, as far as it is searched. It returns false unless
// GetForUpdate has read the row: then the search text is known before the update, and the row is not written twice.
func (w *writer[T, F]) afterUpdate(row T, fields []string) (whole T, isKnown bool) {
	read, isKnown := w.tx.locked.(T)
	if !isKnown || w.uid(read) != w.uid(row) {
		return whole, false
	}
	w.tx.locked = nil
	whole = w.newRow()
	w.assign(whole, read)
	for _, c := range w.columns {
		if slices.Contains(w.searchFields, c.field) && slices.Contains(fields, c.field) {
			copyColumn(c.to(whole), c.to(row))
		}
	}
	return whole, true
}

// copyColumn copies the value of a column with texts, given what it is scanned into.
func copyColumn(to, from any) {
	if j, isJSON := to.(jsonColumn); isJSON {
		to, from = j.to, from.(jsonColumn).to //nolint:forcetypeassert // both are the same column
	}
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem())
}

// readBack returns the statements that run an update and read its row.
func (w *writer[T, F]) readBack(update *statement, uid platform.UID, to *[]T) []*dbconn.Statement {
	if len(w.joins) > 0 { // RETURNING has the table's own columns only
		return []*dbconn.Statement{update.build(nil), w.selectJoined(uid, "", to)}
	}
	update.add(" RETURNING " + w.returning())
	return []*dbconn.Statement{update.build(func(scan func(...any) error) error {
		row := w.newRow()
		*to = append(*to, row)
		return scan(w.ownDestinations(row)...)
	})}
}

// returning lists the table's own columns for RETURNING, which does not accept the
// alias t.
func (t *table[T, F]) returning() string {
	var names []string
	for _, c := range t.columns {
		if name, own := c.ownName(); own {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func (t *table[T, F]) ownDestinations(row T) []any {
	var to []any
	for _, c := range t.columns {
		if _, own := c.ownName(); own {
			to = append(to, c.to(row))
		}
	}
	return to
}

// Delete removes a row.
func (w *writer[T, F]) Delete(ctx context.Context, uid platform.UID) (zero T, _ error) {
	rows, err := w.DeleteAll(ctx, []platform.UID{uid})
	if err != nil {
		return zero, err
	}
	return rows[0], nil
}

// DeleteAll removes rows. It locks them before it reads them, so that nobody changes what it
// returns and no longer counts.
func (w *writer[T, F]) DeleteAll(ctx context.Context, uids []platform.UID) ([]T, error) {
	rows, err := w.readAllForUpdate(ctx, uids)
	if err != nil {
		return rows, err
	}
	run := make([]*dbconn.Statement, len(uids), len(uids)+1)
	scopes := make(keyList, len(uids))
	for i, uid := range uids {
		run[i], scopes[i] = newStatement(w.dialect).add("DELETE FROM "+w.name+" WHERE uid = ?", w.key(uid)).build(nil), string(uid)
	}
	if !w.sharesUID { // otherwise the counters belong to the group
		for _, uid := range uids {
			w.tx.deltas.dropScope(uid)
		}
		run = append(run, newStatement(w.dialect).add("DELETE FROM counter WHERE scope ?", scopes).build(nil))
	}
	err = w.conn.Run(ctx, run...)
	for i, row := range rows {
		switch deleted := run[i]; {
		case errors.Is(err, dbconn.ErrForeignKey) && !deleted.Done:
			return rows[:i], platform.ErrReferenced
		case err != nil && !deleted.Done:
			return rows[:i], err
		case deleted.Affected == 0:
			return rows[:i], platform.ErrNotFound
		}
		w.count(row, -1)
		w.addTask(row, nil)
	}
	if err != nil { // of no row
		return nil, err
	}
	return rows, nil
}

// readAllForUpdate reads rows in the order of their UIDs in the argument, and locks them until
// the transaction ends. Of a list with a missing row it returns what precedes that.
func (w *writer[T, F]) readAllForUpdate(ctx context.Context, uids []platform.UID) ([]T, error) {
	if len(uids) == 1 {
		row, err := w.GetForUpdate(ctx, uids[0])
		if err != nil {
			return nil, err
		}
		return []T{row}, nil
	}
	var found []T
	read := w.selectAll(w.dialect, uids, &found)
	read.SQL += " ORDER BY t.uid" + w.dialect.KeepRow // all in the same order, so that nobody waits in a circle
	if err := w.conn.Run(ctx, read); err != nil {
		return nil, err
	}
	byUID := make(map[platform.UID]T, len(found))
	for _, row := range found {
		byUID[w.uid(row)] = row
	}
	rows := make([]T, 0, len(uids))
	for _, uid := range uids {
		row, exists := byUID[uid]
		if !exists {
			return rows, platform.ErrNotFound
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// selectAll returns a statement that reads rows by their UIDs.
func (t *table[T, F]) selectAll(d *dbconn.Dialect, uids []platform.UID, into *[]T) *dbconn.Statement {
	all := t.projectAll()
	return newStatement(d).add("SELECT "+all.selected+" FROM "+t.name+" t"+all.joins+" WHERE t.uid ?", t.keys(uids)).build(all.collect(into))
}

// GetForUpdate reads a row and locks it until the transaction ends.
func (w *writer[T, F]) GetForUpdate(ctx context.Context, uid platform.UID) (T, error) {
	row, err := w.readJoined(ctx, uid, w.dialect.KeepRow)
	if err == nil && w.searchOf != nil {
		read := w.newRow()
		w.assign(read, row)
		w.tx.locked = read
	}
	return row, err
}

// readJoined reads a row and its joined columns. keeping is the lock clause for the
// row, or "" for no lock.
func (w *writer[T, F]) readJoined(ctx context.Context, uid platform.UID, keeping string) (zero T, _ error) {
	var rows []T
	if err := w.conn.Run(ctx, w.selectJoined(uid, keeping, &rows)); err != nil {
		return zero, err
	}
	if len(rows) == 0 {
		return zero, platform.ErrNotFound
	}
	return rows[0], nil
}

// selectJoined returns the statement of readJoined.
func (w *writer[T, F]) selectJoined(uid platform.UID, keeping string, to *[]T) *dbconn.Statement {
	all := w.projectAll()
	s := newStatement(w.dialect).add("SELECT "+all.selected+" FROM "+w.name+" t"+all.joins+" WHERE t.uid = ?"+keeping, w.key(uid))
	return s.build(all.collect(to))
}
