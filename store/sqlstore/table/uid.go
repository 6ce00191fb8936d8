package table

import (
	"bytes"
	"database/sql"
	"fmt"

	"atrium/platform/core"
)

// UIDs are stored as bytes: 20 for the root segment and 8 for each further one. This is less than half of the text. They
// are converted when an argument is bound and when a column is scanned. The tables
// of events and counters store texts.

// PackUID returns the stored form of a UID. An invalid UID becomes bytes that no row
// has.
func PackUID(u core.UID) []byte {
	if u == "" {
		return []byte{}
	}
	if b, ok := u.Packed(); ok {
		return b
	}
	return bytes.Repeat([]byte{0xff}, 21)
}

// packAllUIDs returns the stored forms of UIDs.
func packAllUIDs(uids []core.UID) [][]byte {
	all := make([][]byte, len(uids))
	for i, u := range uids {
		all[i] = PackUID(u)
	}
	return all
}

// PastSubtree returns the smallest key after those of all UIDs within u: the next
// key of the same length.
func PastSubtree(u core.UID) []byte { return pastPrefix(PackUID(u)) }

// pastPrefix returns the smallest key after all keys that begin with key, which it
// changes.
func pastPrefix(key []byte) []byte {
	for i := len(key) - 1; i >= 0; i-- {
		if key[i]++; key[i] != 0 {
			return key
		}
	}
	return bytes.Repeat([]byte{0xff}, 22) // there is no next key of that length
}

// A uidKey is a UID that is stored as bytes.
type uidKey core.UID

// UIDOf returns the scan destination for a column of UIDs.
func UIDOf(u *core.UID) sql.Scanner { return keyOf(u) }

func keyOf(u *core.UID) *uidKey { return (*uidKey)(u) }

// AppendText appends the UID of a column of bytes.
func (k *uidKey) AppendText(b, src []byte) ([]byte, error) {
	text, ok := core.AppendUID(b, src)
	if !ok && len(src) > 0 {
		return b, fmt.Errorf("cannot read a UID from %d bytes", len(src))
	}
	return text, nil
}

// Len returns the length of the UID as a text.
func (k *uidKey) Len() int { return len(*k) }

// SetText sets the UID.
func (k *uidKey) SetText(text string) { *k = uidKey(text) }

// Scan reads a column of bytes, or an empty text for "no UID".
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

// A uidColumn scans a UID and also sets its parent.
type uidColumn struct{ uid, parent *core.UID }

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
	*c.uid = core.UID(text)
	*c.parent = c.uid.Parent()
}

// A scopeColumn reads the counter scope of rows outside of the tree: a text, or a
// UID, which counters store as a text.
type scopeColumn struct{ to *string }

// Scan reads the column.
func (c scopeColumn) Scan(src any) error {
	if text, ok := src.(string); ok {
		*c.to = text
		return nil
	}
	return (*uidKey)(c.to).Scan(src)
}

// UIDWithParent returns the scan destination for a column of UIDs, which also sets the parent.
func UIDWithParent(u, parent *core.UID) sql.Scanner { return uidColumn{u, parent} }

// UIDReference returns what stores the UID of a row that need not exist.
func UIDReference(u core.UID) any { return uidReference{u} }
