package sqlstore

import (
	"bytes"
	"crypto/sha256"

	"atrium/platform"
)

// The rows of large kinds have keys of the scopes that contain them, in the columns
// root_key, parent_key, g2_key and g3_key, and the rest of their UID in the column rest.
// A key takes 5 bytes where the UID of a scope takes up to 50, and the rest is without
// the root, which all rows of an organisation have in common. The indexes of lists
// consist of a key, the value that sorts the rows, and the rest. This halves them.
//
// Two scopes can have the same key, so a list also compares the rest with the scope.

// keyLength and rootLength are the numbers of bytes of a key and of a packed root.
const keyLength, rootLength = 5, 20

// scopeKey returns the key of a scope. Migration 32 computes it too.
func scopeKey(u platform.UID) []byte { return packedScopeKey(packUID(u)) }

func packedScopeKey(packed []byte) []byte {
	sum := sha256.Sum256(packed)
	return sum[:keyLength]
}

// scopeKeyOrNull returns the key of a scope, or nil if there is none.
func scopeKeyOrNull(u platform.UID) any {
	if u == "" {
		return nil
	}
	return scopeKey(u)
}

// restOf returns what follows the root in the stored form of a UID.
func restOf(u platform.UID) []byte {
	packed := packUID(u)
	return packed[min(rootLength, len(packed)):]
}

// pastRest returns the smallest rest after those of all UIDs within u.
func pastRest(u platform.UID) []byte { return pastPrefix(restOf(u)) }

// restFrom returns the rest that the rows of an organisation are compared with, if their
// UIDs are compared with u. An organisation before that of u has only smaller UIDs, and
// one after it has only greater ones.
func restFrom(organisation, u platform.UID) []byte {
	switch bytes.Compare(packUID(u.Root()), packUID(organisation)) {
	case -1:
		return []byte{}
	case 1:
		return bytes.Repeat([]byte{0xff}, rootLength)
	default:
		return restOf(u)
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

// confirm returns a condition that all rows of an index satisfy, except those of another
// scope with the same key. CASE hides that from planners, which would expect few rows.
func confirm(condition string) string { return "CASE WHEN " + condition + " THEN 1 END IS NOT NULL" }
