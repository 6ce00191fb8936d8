package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// A Writer changes one kind inside a transaction.
type Writer[T, F any] struct {
	*Reader[T, F]
	in core.Tx
	tx *Tx
}

// CopyThreshold is the number of rows from which an insert uses COPY.
const CopyThreshold = 16

// Insert adds rows with their aliases: one by one, or with COPY if there are many.
func (w *Writer[T, F]) Insert(ctx context.Context, rows ...T) error { return w.insertThen(ctx, rows) }

// InsertShown adds rows, and reads them back with their joined columns, if there are any.
func (w *Writer[T, F]) InsertShown(ctx context.Context, rows ...T) error {
	if len(w.Joins) == 0 {
		return w.insertThen(ctx, rows)
	}
	uids := make([]core.UID, len(rows))
	for i, row := range rows {
		uids[i] = w.UID(row)
	}
	var stored []T
	if err := w.insertThen(ctx, rows, w.SelectAll(w.Dialect, uids, &stored)); err != nil {
		return err
	}
	for _, row := range stored {
		w.assign(rows[slices.Index(uids, w.UID(row))], row)
	}
	return nil
}

// insertThen adds rows, and runs other statements after that.
func (w *Writer[T, F]) insertThen(ctx context.Context, rows []T, then ...*dbconn.Statement) error {
	columns := w.insertColumns()
	values, all := make([][]any, len(rows)), make([]any, 0, len(rows)*len(columns))
	var last sharedValues
	for i, row := range rows {
		if uid := w.UID(row); w.LiesIn != nil && !uid.Valid() {
			return fmt.Errorf("%s: %q is not a UID", w.Name, uid)
		}
		w.complete(row)
		all = w.appendValues(all, row, &last)
		values[i] = all[i*len(columns) : len(all) : len(all)]
	}
	aliases := w.aliasValues(rows)
	var err error
	if len(rows) < CopyThreshold {
		then = slices.Concat(InsertStatements(w.Dialect, w.Name, columns, values), InsertStatements(w.Dialect, w.AliasTable, aliasColumns, aliases), then)
	} else if err = w.tx.Conn.Copy(ctx, w.Name, columns, values); err == nil && len(aliases) > 0 {
		err = w.tx.Conn.Copy(ctx, w.AliasTable, aliasColumns, aliases)
	}
	if err == nil && len(then) > 0 {
		err = w.Conn.Run(ctx, then...)
	}
	switch {
	case errors.Is(err, dbconn.ErrForeignKey):
		return core.ErrNoParent
	case err != nil:
		return err
	}
	for _, row := range rows {
		w.Count(row, 1)
		w.noteChange(row, nil)
	}
	return nil
}

// noteChange does what follows from a change of a row. fields are those of an update.
func (w *Writer[T, F]) noteChange(row T, fields []string) {
	if w.OnChange != nil && (w.OnChangeOf == nil || containsAny(fields, w.OnChangeOf)) {
		w.OnChange(w.in, row)
	}
}

func containsAny(texts, wanted []string) bool {
	return slices.ContainsFunc(wanted, func(text string) bool { return slices.Contains(texts, text) })
}

// Count adds by to the counters of a row.
func (w *Writer[T, F]) Count(row T, by int64) {
	switch {
	case w.IsUncounted:
	case w.LiesIn == nil:
		w.tx.deltas.countOutside(w.Number, w.group(row), w.HasFewWriters, w.tx.slot, by)
	default:
		w.tx.Count(w.Number, w.treeUID(w.UID(row)), w.HasFewWriters, by)
		if w.ClassOf != nil {
			w.CountClass(w.UID(row), w.ClassOf(row), by)
		}
	}
}

// CountClass adds by to the counters of a class.
func (w *Writer[T, F]) CountClass(uid core.UID, class, by int64) {
	for _, number := range w.ClassCounters(class) {
		w.tx.Count(number, w.treeUID(uid), w.HasFewWriters, by)
	}
}

// InsertStatements returns statements that insert rows one by one.
func InsertStatements(d *dbconn.Dialect, table string, columns []string, rows [][]any) []*dbconn.Statement {
	run := make([]*dbconn.Statement, len(rows))
	for i, values := range rows {
		run[i] = InsertStatement(d, table, columns, values)
	}
	return run
}

// InsertStatement returns a statement that inserts one row.
func InsertStatement(d *dbconn.Dialect, table string, columns []string, values []any) *dbconn.Statement {
	s := NewStatement(d)
	s.Add("INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (")
	for i, v := range values {
		if i > 0 {
			s.Add(", ")
		}
		s.Add("?", v)
	}
	return s.Add(")").Build(nil)
}

// insertColumns lists the columns of values.
func (t *Definition[T, F]) insertColumns() []string {
	var columns []string
	if t.LiesIn != nil {
		columns = append(columns, t.ancestorColumns()...)
	}
	for _, c := range t.Columns {
		if name, own := c.ownName(); own {
			columns = append(columns, name)
		}
	}
	return append(columns, t.writeOnlyColumns()...)
}

// writeOnlyColumns lists columns that are written but not read with their kind.
func (t *Definition[T, F]) writeOnlyColumns() []string {
	names := make([]string, len(t.WriteOnly))
	for i, c := range t.WriteOnly {
		names[i], _ = c.ownName()
	}
	return names
}

// appendValues appends the arguments that store a row. last is from the row before.
func (t *Definition[T, F]) appendValues(values []any, row T, last *sharedValues) []any {
	if t.LiesIn != nil {
		values = t.appendAncestorValues(values, t.UID(row), last)
	}
	for _, c := range t.Columns {
		if _, own := c.ownName(); own {
			values = append(values, encodeColumn(c.To(row)))
		}
	}
	for _, c := range t.WriteOnly {
		values = append(values, encodeColumn(c.To(row)))
	}
	return values
}

// ancestorColumns lists the columns of appendAncestorValues.
func (t *Definition[T, F]) ancestorColumns() []string {
	if t.HasScopeKeys {
		return []string{"root", "parent", "root_key", "parent_key", "g2_key", "g3_key", "rest", "local"}
	}
	return []string{"root", "parent", "g2", "g3"}
}

// sharedValues are the values that the rows within one UID have in common. Rows that are
// inserted together often have the same parent, so its keys need not be hashed for each.
type sharedValues struct {
	root, encloser core.UID
	values         []any
}

// appendAncestorValues appends what a row contains of its ancestors. last is from the row
// before.
func (t *Definition[T, F]) appendAncestorValues(values []any, uid core.UID, last *sharedValues) []any {
	root := uid.Root()
	if t.IsRootless != nil && t.IsRootless(uid) {
		root = ""
	}
	encloser := t.LiesIn(uid)
	if !t.HasScopeKeys {
		return append(values, PackUID(root), OrNull(t.treeUID(uid).Parent()), OrNull(encloser.Enclosing(2)), OrNull(encloser.Enclosing(3)))
	}
	if last.values == nil || root != last.root || encloser != last.encloser {
		*last = sharedValues{root, encloser, []any{
			PackUID(root), PackUID(encloser), ScopeKey(root), ParentKey(encloser), scopeKeyOrNull(encloser.Enclosing(2)), scopeKeyOrNull(encloser.Enclosing(3)),
		}}
	}
	return append(append(values, last.values...), RestOf(uid), LocalOf(uid))
}

// OrNull returns the argument for a UID in a column that is NULL if there is none.
func OrNull(u core.UID) any {
	if u == "" {
		return nil
	}
	return PackUID(u)
}

// treeUID returns a UID with the position of a row in the tree. A row can share the
// UID of its parent.
func (t *Definition[T, F]) treeUID(uid core.UID) core.UID {
	if t.SharesUID {
		return ChildOf(uid)
	}
	return uid
}

var aliasColumns = []string{"alias", "uid"}

// aliasValues returns the rows of the table of aliases for rows.
func (t *Definition[T, F]) aliasValues(rows []T) (values [][]any) {
	if t.AliasesOf == nil {
		return nil
	}
	for _, row := range rows {
		names := slices.Clone(t.AliasesOf(row))
		slices.Sort(names)
		key := t.key(t.UID(row))
		if u, ok := key.(core.UID); ok {
			key = PackUID(u)
		}
		for _, alias := range slices.Compact(names) {
			values = append(values, []any{alias, key})
		}
	}
	return values
}

// Update writes the named fields and reads the row back.
func (w *Writer[T, F]) Update(ctx context.Context, row T, fields ...string) error {
	_, err := w.update(ctx, []core.RowChange[T]{{Row: row, Fields: fields}}, false)
	return err
}

// UpdateAll does so with many rows, in one round trip, and returns them as they were before.
func (w *Writer[T, F]) UpdateAll(ctx context.Context, changes ...core.RowChange[T]) (before []T, _ error) {
	return w.update(ctx, changes, true)
}

// A rowUpdate is what an update does for one row.
type rowUpdate[T any] struct {
	updated, last *dbconn.Statement // the last one is another if the aliases change too
	before, after []T               // a row, or none if it does not exist
}

// update writes rows and reads them back. It first locks and reads a row if it returns what was before, or else if its
// class can change, so that no other transaction changes that meanwhile.
func (w *Writer[T, F]) update(ctx context.Context, changes []core.RowChange[T], locks bool) (before []T, _ error) {
	if len(changes) == 0 {
		return nil, nil
	}
	updates := make([]rowUpdate[T], len(changes))
	var run []*dbconn.Statement
	for i, c := range changes {
		u, uid := &updates[i], w.UID(c.Row)
		w.complete(c.Row)
		if locks || w.writesClass(c.Fields) {
			run = append(run, w.selectJoined(uid, w.Dialect.KeepRow, &u.before))
		}
		written := w.readBack(w.setFields(c.Row, c.Fields).Add(" WHERE uid = ?", w.key(uid)), uid, &u.after)
		run = append(append(run, written...), w.setAliases(c.Row, c.Fields)...)
		u.updated, u.last = written[0], run[len(run)-1]
	}
	err := w.Conn.Run(ctx, run...)
	for i, c := range changes {
		u := &updates[i]
		switch {
		case u.updated.Done && len(u.after) == 0 && u.updated.Affected == 0: // its aliases would be those of nothing
			return before, core.ErrNotFound
		case errors.Is(err, dbconn.ErrForeignKey) && !u.last.Done:
			return before, core.ErrNoParent
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
func (w *Writer[T, F]) noteUpdate(before []T, row T, fields []string) {
	w.noteChange(row, fields)
	if w.writesClass(fields) {
		w.CountClass(w.UID(row), w.ClassOf(before[0]), -1)
		w.CountClass(w.UID(row), w.ClassOf(row), 1)
		w.noteChange(before[0], nil)
	}
	if containsAny(fields, w.SearchFields) {
		w.tx.Conn.Queue(NewStatement(w.Dialect).Add("UPDATE "+w.Name+" SET search = ? WHERE uid = ?", Fold(w.SearchTextOf(row)), w.key(w.UID(row))).Build(nil))
	}
}

// complete sets what follows from the fields of a row.
func (w *Writer[T, F]) complete(row T) {
	if w.Derive != nil {
		w.Derive(row)
	}
}

// setFields begins an update of the named fields and the update time of a row.
func (w *Writer[T, F]) setFields(row T, fields []string) *Statement {
	s := NewStatement(w.Dialect).Add("UPDATE " + w.Name)
	separator := " SET "
	for _, c := range slices.Concat(w.Columns, w.WriteOnly) {
		name, own := c.ownName()
		if own && (name == "update_time" || c.Field != "" && slices.Contains(fields, c.Field)) {
			s.Add(separator+name+" = ?", encodeColumn(c.To(row)))
			separator = ", "
		}
	}
	if separator != ", " {
		s.Add(" SET uid = uid") // it changes nothing, but locks the row
	}
	return s
}

// setAliases returns the statements that replace the aliases of a row, if they are among the named fields.
func (w *Writer[T, F]) setAliases(row T, fields []string) []*dbconn.Statement {
	if w.AliasesOf == nil || !slices.Contains(fields, w.AliasField) {
		return nil
	}
	remove := NewStatement(w.Dialect).Add("DELETE FROM "+w.AliasTable+" WHERE uid = ?", w.key(w.UID(row))).Build(nil)
	return append([]*dbconn.Statement{remove}, InsertStatements(w.Dialect, w.AliasTable, aliasColumns, w.aliasValues([]T{row}))...)
}

// writesClass reports whether a change of fields can change the class of a row.
func (w *Writer[T, F]) writesClass(fields []string) bool {
	return slices.ContainsFunc(slices.Concat(w.Columns, w.WriteOnly), func(c Column[T]) bool {
		name, _ := c.ownName()
		return name == w.ClassColumn && slices.Contains(fields, c.Field)
	})
}

// readBack returns the statements that run an update and read its row.
func (w *Writer[T, F]) readBack(update *Statement, uid core.UID, to *[]T) []*dbconn.Statement {
	if len(w.Joins) > 0 { // RETURNING has the table's own columns only
		return []*dbconn.Statement{update.Build(nil), w.selectJoined(uid, "", to)}
	}
	update.Add(" RETURNING " + w.returning())
	return []*dbconn.Statement{update.Build(func(scan func(...any) error) error {
		row := w.newRow()
		*to = append(*to, row)
		return scan(w.ownDestinations(row)...)
	})}
}

// returning lists the table's own columns for RETURNING, which does not accept the
// alias t.
func (t *Definition[T, F]) returning() string {
	var names []string
	for _, c := range t.Columns {
		if name, own := c.ownName(); own {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func (t *Definition[T, F]) ownDestinations(row T) []any {
	var to []any
	for _, c := range t.Columns {
		if _, own := c.ownName(); own {
			to = append(to, c.To(row))
		}
	}
	return to
}

// Delete removes a row.
func (w *Writer[T, F]) Delete(ctx context.Context, uid core.UID) (zero T, _ error) {
	rows, err := w.DeleteAll(ctx, []core.UID{uid})
	if err != nil {
		return zero, err
	}
	return rows[0], nil
}

// DeleteAll removes rows, in one round trip. It locks them before it reads them, so that nobody changes what it
// returns and no longer counts.
func (w *Writer[T, F]) DeleteAll(ctx context.Context, uids []core.UID) ([]T, error) {
	var found []T
	lock := w.SelectAll(w.Dialect, uids, &found)
	lock.SQL += " ORDER BY t.uid" + w.Dialect.KeepRow // all in the same order, so that nobody waits in a circle
	run, scopes := []*dbconn.Statement{lock}, make(Keys, len(uids))
	for i, uid := range uids {
		run, scopes[i] = append(run, NewStatement(w.Dialect).Add("DELETE FROM "+w.Name+" WHERE uid = ?", w.key(uid)).Build(nil)), string(uid)
	}
	if !w.SharesUID { // otherwise the counters belong to the group
		for _, uid := range uids {
			w.tx.deltas.dropScope(uid)
		}
		run = append(run, NewStatement(w.Dialect).Add("DELETE FROM counter WHERE scope ?", scopes).Build(nil))
	}
	for _, o := range w.Owned {
		for _, uid := range uids {
			run = append(run, NewStatement(w.Dialect).Add("DELETE FROM "+o.Table+" WHERE "+o.Column+" = ?", uid).Build(nil))
		}
	}
	err := w.Conn.Run(ctx, run...)
	byUID := make(map[core.UID]T, len(found))
	for _, row := range found {
		byUID[w.UID(row)] = row
	}
	rows := make([]T, 0, len(uids))
	for i, uid := range uids {
		row, exists := byUID[uid]
		switch deleted := run[1+i]; {
		case errors.Is(err, dbconn.ErrForeignKey) && !deleted.Done:
			return rows, core.ErrReferenced
		case err != nil && !deleted.Done:
			return rows, err
		case !exists || deleted.Affected == 0:
			return rows, core.ErrNotFound
		}
		rows = append(rows, row)
		w.Count(row, -1)
		w.noteChange(row, nil)
	}
	if err != nil { // of no row
		return nil, err
	}
	return rows, nil
}

// SelectAll returns a statement that reads rows by their UIDs.
func (t *Definition[T, F]) SelectAll(d *dbconn.Dialect, uids []core.UID, into *[]T) *dbconn.Statement {
	all := t.ProjectAll()
	return NewStatement(d).Add("SELECT "+all.Selected+" FROM "+t.Name+" t"+all.Joins+" WHERE t.uid ?", t.keys(uids)).Build(all.Collect(into))
}

// GetForUpdate reads a row and locks it until the transaction ends.
func (w *Writer[T, F]) GetForUpdate(ctx context.Context, uid core.UID) (zero T, _ error) {
	var rows []T
	if err := w.Conn.Run(ctx, w.selectJoined(uid, w.Dialect.KeepRow, &rows)); err != nil {
		return zero, err
	}
	if len(rows) == 0 {
		return zero, core.ErrNotFound
	}
	return rows[0], nil
}

// selectJoined returns a statement that reads a row and its joined columns. keeping is the lock clause for the
// row, or "" for no lock.
func (w *Writer[T, F]) selectJoined(uid core.UID, keeping string, to *[]T) *dbconn.Statement {
	all := w.ProjectAll()
	s := NewStatement(w.Dialect).Add("SELECT "+all.Selected+" FROM "+w.Name+" t"+all.Joins+" WHERE t.uid = ?"+keeping, w.key(uid))
	return s.Build(all.Collect(to))
}

// RowValues returns the columns and the values that store rows.
func (t *Definition[T, F]) RowValues(rows []T) (columns []string, values [][]any) {
	columns = t.insertColumns()
	var last sharedValues
	for _, row := range rows {
		values = append(values, t.appendValues(nil, row, &last))
	}
	return columns, values
}
