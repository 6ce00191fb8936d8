package sqlstore

import (
	"bytes"
	"fmt"

	"atrium/platform"
)

// UIDs are kept as bytes, in columns that the migrations call {uid}: 20 for the
// root segment and 8 for each further one, which is less than half of the text.
// They become bytes where an argument is bound, and text where a column is
// scanned. The tables of events and counters keep texts.

// packed is what a UID is kept as. What is no UID becomes bytes that no UID
// has, so that nothing is found by it.
func packed(u platform.UID) []byte {
	if u == "" {
		return []byte{}
	}
	if b, ok := u.Packed(); ok {
		return b
	}
	return bytes.Repeat([]byte{0xff}, 21)
}

// packedAll is packed for many.
func packedAll(uids []platform.UID) [][]byte {
	all := make([][]byte, len(uids))
	for i, u := range uids {
		all[i] = packed(u)
	}
	return all
}

// pastSubtree is the least key above those of all UIDs within u: the next one
// of the same length.
func pastSubtree(u platform.UID) []byte {
	key := packed(u)
	for i := len(key) - 1; i >= 0; i-- {
		if key[i]++; key[i] != 0 {
			return key
		}
	}
	return bytes.Repeat([]byte{0xff}, 22) // no key of that length follows
}

// A uidKey is a UID that is kept as bytes.
type uidKey platform.UID

// keyOf is where a column of UIDs is scanned to.
func keyOf(u *platform.UID) *uidKey { return (*uidKey)(u) }

// AppendText appends the UID that a column of bytes holds.
func (k *uidKey) AppendText(b, src []byte) ([]byte, error) {
	text, ok := platform.AppendUID(b, src)
	if !ok && len(src) > 0 {
		return b, fmt.Errorf("cannot read a UID from %d bytes", len(src))
	}
	return text, nil
}

// SetText sets the UID.
func (k *uidKey) SetText(text string) { *k = uidKey(text) }

// Scan reads a column of bytes, or the empty text that stands for no UID.
func (k *uidKey) Scan(src any) error {
	switch src := src.(type) {
	case []byte:
		text, err := k.AppendText(nil, src)
		k.SetText(string(text))
		return err
	case nil, string:
		if src == nil || src == "" {
			*k = ""
			return nil
		}
	}
	return fmt.Errorf("cannot read a UID from %T", src)
}

// A uidColumn keeps a UID, and sets the parent that follows from it.
type uidColumn struct{ uid, parent *platform.UID }

// Scan reads the column.
func (c uidColumn) Scan(src any) error {
	err := keyOf(c.uid).Scan(src)
	*c.parent = c.uid.Parent()
	return err
}

// AppendText appends the UID.
func (c uidColumn) AppendText(b, src []byte) ([]byte, error) { return keyOf(c.uid).AppendText(b, src) }

// SetText sets the UID and the parent.
func (c uidColumn) SetText(text string) {
	*c.uid = platform.UID(text)
	*c.parent = c.uid.Parent()
}

// A scopeColumn reads what rows outside the tree are counted by: a text, or a
// UID, which counters keep as a text.
type scopeColumn struct{ to *string }

// Scan reads the column.
func (c scopeColumn) Scan(src any) error {
	if text, ok := src.(string); ok {
		*c.to = text
		return nil
	}
	return (*uidKey)(c.to).Scan(src)
}
