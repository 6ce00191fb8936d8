package table

import (
	"bytes"
	"crypto/sha256"

	"atrium/platform/core"
)

// The rows of large kinds have keys of the scopes that contain them, in the columns
// root_key, parent_key, g2_key and g3_key. A key takes 5 or 7 bytes where the UID of a
// scope takes up to 50. They also have the ends of their UIDs: rest is what follows the root,
// and local is the last segment. The indexes of lists consist of a key, the value that
// sorts the rows, and the end that differs between the rows of the scope: local for the
// children of a parent, and rest for others. This halves the indexes.
//
// Two scopes can have the same key, so a list also compares the rest with the scope. An
// index of local has no rest. Where a list reads UIDs first, only the key distinguishes
// parents, and the rows of another parent are skipped and counted. They are not returned:
// their UIDs are put together wrongly, and are those of no row. So keys of parents are
// longer: two of ten million have the same one with a probability of 1 in 1,400.

// These are the numbers of bytes of the key of a scope, and of the key of a parent.
const keyLength, parentKeyLength = 5, 7

// RootLength and SegmentLength are the numbers of bytes of a packed root and of other segments.
const (
	RootLength    = 20
	SegmentLength = 8
)

// ScopeKey returns the key of a scope.
func ScopeKey(u core.UID) []byte { return hashScope(PackUID(u), keyLength) }

// ParentKey returns the key of a parent.
func ParentKey(u core.UID) []byte { return hashScope(PackUID(u), parentKeyLength) }

func hashScope(packed []byte, length int) []byte {
	sum := sha256.Sum256(packed)
	return sum[:length]
}

// scopeKeyOrNull returns the key of a scope, or nil if there is none.
func scopeKeyOrNull(u core.UID) any {
	if u == "" {
		return nil
	}
	return ScopeKey(u)
}

// RestOf returns what follows the root in the stored form of a UID.
func RestOf(u core.UID) []byte {
	packed := PackUID(u)
	return packed[min(RootLength, len(packed)):]
}

// PastRest returns the smallest rest after those of all UIDs within u.
func PastRest(u core.UID) []byte { return pastPrefix(RestOf(u)) }

// LocalOf returns the last segment of the stored form of a UID.
func LocalOf(u core.UID) []byte {
	packed := PackUID(u)
	return packed[max(0, len(packed)-SegmentLength):]
}

// A tiebreaker is the column that sorts rows with equal values. It contains the ends of
// UIDs, which follow base in all rows. The zero tiebreaker is the whole UID.
type tiebreaker struct {
	column string
	base   core.UID
}

// sql returns the column.
func (t tiebreaker) sql() string {
	if t.base == "" {
		return "t.uid"
	}
	return t.column
}

// position returns the end that the column is compared with, if UIDs are compared with u.
// All rows come before or after a UID that does not begin with base.
func (t tiebreaker) position(u core.UID) []byte {
	base, packed := PackUID(t.base), PackUID(u)
	common := min(len(base), len(packed))
	switch bytes.Compare(packed[:common], base[:common]) {
	case -1:
		return []byte{}
	case 1:
		return bytes.Repeat([]byte{0xff}, RootLength)
	default:
		return packed[common:]
	}
}

// keyColumns are the columns of keys, by the columns of UIDs that they replace.
var keyColumns = map[string]string{"root": "root_key", "parent": "parent_key", "g2": "g2_key", "g3": "g3_key"}

// scopePrefixes select the part of the rest of a row that belongs to the scope of a key.
// The root has none.
var scopePrefixes = map[string]string{
	"g2_key":     "substr(t.rest, 1, 8)",
	"g3_key":     "substr(t.rest, 1, 16)",
	"parent_key": "substr(t.rest, 1, length(t.rest) - 8)",
}

// Confirm wraps a condition that all rows of an index satisfy, except those of another
// scope with the same key. CASE hides it from planners, which would expect few rows.
func Confirm(condition string) string { return "CASE WHEN " + condition + " THEN 1 END IS NOT NULL" }
