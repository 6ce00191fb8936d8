package core

// A Walk reads a long list part by part, by the UIDs of its rows, with a transaction for each part. What is added or removed meanwhile moves
// no other row to another part. A nil Walk is of one part, and has no size.
type Walk struct {
	Size  int // of a part
	after UID // "" in the first part

	// What the last transaction has found. One that is run again finds it again.
	last UID
	more bool
}

// NewWalk returns a walk before its first part.
func NewWalk(size int) *Walk { return &Walk{Size: size, more: true} }

// Next goes to the next part, and reports whether there is one.
func (w *Walk) Next() bool {
	w.after = w.last
	return w.more
}

// IsFirst reports whether the walk is at its first part.
func (w *Walk) IsFirst() bool { return w == nil || w.after == "" }

// From returns the position that the part begins after, in the order of UIDs.
func (w *Walk) From() *Position {
	if w.IsFirst() {
		return nil
	}
	return &Position{Value: string(w.after), UID: w.after}
}

// NoteRows notes the rows of the part.
func NoteRows[T any](w *Walk, k *Kind[T], rows Rows[T]) {
	if w == nil {
		return
	}
	w.more = rows.More
	if n := len(rows.Items); n > 0 {
		w.last = k.UID(rows.Items[n-1])
	}
}
