package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

// writer changes one kind inside a transaction.
type writer[T, F any] struct {
	*reader[T, F]
	in platform.Tx
	tx *counterTx
}

// copyThreshold is the number of rows from which an insert uses COPY.
const copyThreshold = 16

// Insert adds rows with their aliases: one by one, or with COPY if there are many.
func (w *writer[T, F]) Insert(ctx context.Context, rows ...T) error { return w.insertThen(ctx, rows) }

// InsertShown adds rows, and reads them back with their joined columns, if there are any.
func (w *writer[T, F]) InsertShown(ctx context.Context, rows ...T) error {
	if len(w.joins) == 0 {
		return w.insertThen(ctx, rows)
	}
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
		w.complete(row)
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
		w.noteChange(row, nil)
	}
	return nil
}

// noteChange does what follows from a change of a row. fields are those of an update.
func (w *writer[T, F]) noteChange(row T, fields []string) {
	if w.changed != nil && (w.changedBy == nil || containsAny(fields, w.changedBy)) {
		w.changed(w.in, row)
	}
}

func containsAny(texts, wanted []string) bool {
	return slices.ContainsFunc(wanted, func(text string) bool { return slices.Contains(texts, text) })
}

// count adds by to the counters of a row.
func (w *writer[T, F]) count(row T, by int64) {
	switch {
	case w.uncounted:
	case w.enclosed == nil:
		w.tx.deltas.countOutside(w.number, w.group(row), w.quietParent, w.tx.slot, by)
	default:
		w.tx.count(w.number, w.treeUID(w.uid(row)), w.quietParent, by)
		if w.class != nil {
			w.countClass(w.uid(row), w.class(row), by)
		}
	}
}

// countClass adds by to the counters of a class.
func (w *writer[T, F]) countClass(uid platform.UID, class, by int64) {
	for _, number := range w.classCounters(class) {
		w.tx.count(number, w.treeUID(uid), w.quietParent, by)
	}
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
	_, err := w.update(ctx, []platform.RowChange[T]{{Row: row, Fields: fields}}, false)
	return err
}

// UpdateAll does so with many rows, in one round trip, and returns them as they were before.
func (w *writer[T, F]) UpdateAll(ctx context.Context, changes ...platform.RowChange[T]) (before []T, _ error) {
	return w.update(ctx, changes, true)
}

// A rowUpdate is what an update does for one row.
type rowUpdate[T any] struct {
	updated, last *dbconn.Statement // the last one is another if the aliases change too
	before, after []T               // a row, or none if it does not exist
}

// update writes rows and reads them back. It first locks and reads a row if it returns what was before, or else if its
// class can change, so that no other transaction changes that meanwhile.
func (w *writer[T, F]) update(ctx context.Context, changes []platform.RowChange[T], locks bool) (before []T, _ error) {
	if len(changes) == 0 {
		return nil, nil
	}
	updates := make([]rowUpdate[T], len(changes))
	var run []*dbconn.Statement
	for i, c := range changes {
		u, uid := &updates[i], w.uid(c.Row)
		w.complete(c.Row)
		if locks || w.writesClass(c.Fields) {
			run = append(run, w.selectJoined(uid, w.dialect.KeepRow, &u.before))
		}
		written := w.readBack(w.setFields(c.Row, c.Fields).add(" WHERE uid = ?", w.key(uid)), uid, &u.after)
		run = append(append(run, written...), w.setAliases(c.Row, c.Fields)...)
		u.updated, u.last = written[0], run[len(run)-1]
	}
	err := w.conn.Run(ctx, run...)
	for i, c := range changes {
		u := &updates[i]
		switch {
		case u.updated.Done && len(u.after) == 0 && u.updated.Affected == 0: // its aliases would be those of nothing
			return before, platform.ErrNotFound
		case errors.Is(err, dbconn.ErrForeignKey) && !u.last.Done:
			return before, platform.ErrNoParent
		case err != nil && !u.last.Done:
			return before, err
		}
		w.assign(c.Row, u.after[0])
		w.noteUpdate(u.before, c.Row, c.Fields)
		if locks {
			before = append(before, u.before[0])
		}
	}
	return before, err // which no row has caused
}

// noteUpdate changes what follows from an updated row: its counters, and the text that searches find.
func (w *writer[T, F]) noteUpdate(before []T, row T, fields []string) {
	w.noteChange(row, fields)
	if w.writesClass(fields) {
		w.countClass(w.uid(row), w.class(before[0]), -1)
		w.countClass(w.uid(row), w.class(row), 1)
		w.noteChange(before[0], nil)
	}
	if containsAny(fields, w.searchFields) {
		w.tx.conn.Queue(newStatement(w.dialect).add("UPDATE "+w.name+" SET search = ? WHERE uid = ?", foldText(w.searchOf(row)), w.key(w.uid(row))).build(nil))
	}
}

// complete sets what follows from the fields of a row.
func (w *writer[T, F]) complete(row T) {
	if w.derive != nil {
		w.derive(row)
	}
}

// setFields begins an update of the named fields and the update time of a row.
func (w *writer[T, F]) setFields(row T, fields []string) *statement {
	s := newStatement(w.dialect).add("UPDATE " + w.name)
	separator := " SET "
	for _, c := range slices.Concat(w.columns, w.writeOnly) {
		name, own := c.ownName()
		if own && (name == "update_time" || c.field != "" && slices.Contains(fields, c.field)) {
			s.add(separator+name+" = ?", encodeColumn(c.to(row)))
			separator = ", "
		}
	}
	if separator != ", " {
		s.add(" SET uid = uid") // it changes nothing, but locks the row
	}
	return s
}

// setAliases returns the statements that replace the aliases of a row, if they are among the named fields.
func (w *writer[T, F]) setAliases(row T, fields []string) []*dbconn.Statement {
	if w.aliases == nil || !slices.Contains(fields, w.aliasesOf) {
		return nil
	}
	remove := newStatement(w.dialect).add("DELETE FROM "+w.aliasTable+" WHERE uid = ?", w.key(w.uid(row))).build(nil)
	return append([]*dbconn.Statement{remove}, insertAll(w.dialect, w.aliasTable, aliasColumns, w.aliasValues([]T{row}))...)
}

// writesClass reports whether a change of fields can change the class of a row.
func (w *writer[T, F]) writesClass(fields []string) bool {
	return slices.ContainsFunc(slices.Concat(w.columns, w.writeOnly), func(c column[T]) bool {
		name, _ := c.ownName()
		return name == w.classColumn && slices.Contains(fields, c.field)
	})
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

// DeleteAll removes rows, in one round trip. It locks them before it reads them, so that nobody changes what it
// returns and no longer counts.
func (w *writer[T, F]) DeleteAll(ctx context.Context, uids []platform.UID) ([]T, error) {
	var found []T
	lock := w.selectAll(w.dialect, uids, &found)
	lock.SQL += " ORDER BY t.uid" + w.dialect.KeepRow // all in the same order, so that nobody waits in a circle
	run, scopes := []*dbconn.Statement{lock}, make(keyList, len(uids))
	for i, uid := range uids {
		run, scopes[i] = append(run, newStatement(w.dialect).add("DELETE FROM "+w.name+" WHERE uid = ?", w.key(uid)).build(nil)), string(uid)
	}
	if !w.sharesUID { // otherwise the counters belong to the group
		for _, uid := range uids {
			w.tx.deltas.dropScope(uid)
		}
		run = append(run, newStatement(w.dialect).add("DELETE FROM counter WHERE scope ?", scopes).build(nil))
	}
	err := w.conn.Run(ctx, run...)
	byUID := make(map[platform.UID]T, len(found))
	for _, row := range found {
		byUID[w.uid(row)] = row
	}
	rows := make([]T, 0, len(uids))
	for i, uid := range uids {
		row, exists := byUID[uid]
		switch deleted := run[1+i]; {
		case errors.Is(err, dbconn.ErrForeignKey) && !deleted.Done:
			return rows, platform.ErrReferenced
		case err != nil && !deleted.Done:
			return rows, err
		case !exists || deleted.Affected == 0:
			return rows, platform.ErrNotFound
		}
		rows = append(rows, row)
		w.count(row, -1)
		w.noteChange(row, nil)
	}
	if err != nil { // of no row
		return nil, err
	}
	return rows, nil
}

// selectAll returns a statement that reads rows by their UIDs.
func (t *table[T, F]) selectAll(d *dbconn.Dialect, uids []platform.UID, into *[]T) *dbconn.Statement {
	all := t.projectAll()
	return newStatement(d).add("SELECT "+all.selected+" FROM "+t.name+" t"+all.joins+" WHERE t.uid ?", t.keys(uids)).build(all.collect(into))
}

// GetForUpdate reads a row and locks it until the transaction ends.
func (w *writer[T, F]) GetForUpdate(ctx context.Context, uid platform.UID) (zero T, _ error) {
	var rows []T
	if err := w.conn.Run(ctx, w.selectJoined(uid, w.dialect.KeepRow, &rows)); err != nil {
		return zero, err
	}
	if len(rows) == 0 {
		return zero, platform.ErrNotFound
	}
	return rows[0], nil
}

// selectJoined returns a statement that reads a row and its joined columns. keeping is the lock clause for the
// row, or "" for no lock.
func (w *writer[T, F]) selectJoined(uid platform.UID, keeping string, to *[]T) *dbconn.Statement {
	all := w.projectAll()
	s := newStatement(w.dialect).add("SELECT "+all.selected+" FROM "+w.name+" t"+all.joins+" WHERE t.uid = ?"+keeping, w.key(uid))
	return s.build(all.collect(to))
}

// values returns the columns and the values that store rows.
func (t *table[T, F]) values(rows []T) (columns []string, values [][]any) {
	columns = t.insertColumns()
	var last sharedValues
	for _, row := range rows {
		values = append(values, t.appendValues(nil, row, &last))
	}
	return columns, values
}
