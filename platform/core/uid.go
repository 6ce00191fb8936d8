package core

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"strings"
)

// A UID identifies a resource by its path: 40 lower-case hex digits for the root
// segment and 16 for each further segment, joined by slashes. The UID of a
// resource is that of its parent with one more segment, so the resources that
// contain it follow from the UID alone. Segments are random: UIDs are never derived
// from names and never reused. The zero value identifies nothing.
type UID string

const (
	rootDigits = 40
	// SegmentDigits is the length of a segment of a UID, in digits.
	SegmentDigits = 16
	// maxDepth limits the depth of the tree, and thereby the size of page tokens.
	maxDepth     = 29
	maxUIDLength = rootDigits + (maxDepth-1)*(1+SegmentDigits)
)

// Valid reports whether u is well formed. The resource need not exist.
func (u UID) Valid() bool {
	if len(u) < rootDigits || len(u) > maxUIDLength || !isLowerHex(string(u[:rootDigits])) {
		return false
	}
	for rest := u[rootDigits:]; rest != ""; rest = rest[1+SegmentDigits:] {
		if len(rest) < 1+SegmentDigits || rest[0] != '/' || !isLowerHex(string(rest[1:1+SegmentDigits])) {
			return false
		}
	}
	return true
}

var globalID = regexp.MustCompile(`^([A-Z][A-Za-z]+):[!-~]+$`)

// globalType returns the type of an object if u is its global id in GraphQL, which clients confuse with its UID.
func (u UID) globalType() (typeName string, isGlobal bool) {
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(string(u))
	if err != nil {
		return "", false
	}
	parts := globalID.FindSubmatch(decoded)
	if parts == nil || len(parts[1]) > MaxLineBytes {
		return "", false
	}
	return string(parts[1]), true
}

// Packed returns u as bytes: 20 for the root segment and 8 for each further one.
// Packed UIDs sort like the texts, and those of ancestors are prefixes. It returns
// false if u is not well formed.
func (u UID) Packed() ([]byte, bool) {
	if !u.Valid() {
		return nil, false
	}
	packed := make([]byte, rootDigits/2, rootDigits/2+(u.Depth()-1)*SegmentDigits/2)
	_, _ = hex.Decode(packed, []byte(u[:rootDigits])) // Valid has checked the digits
	for rest := u[rootDigits:]; rest != ""; rest = rest[1+SegmentDigits:] {
		packed, _ = hex.AppendDecode(packed, []byte(rest[1:1+SegmentDigits]))
	}
	return packed, true
}

// UnpackUID converts the result of Packed back into a UID. It returns false if
// packed is not such a result.
func UnpackUID(packed []byte) (UID, bool) {
	text, ok := AppendUID(make([]byte, 0, maxUIDLength), packed)
	return UID(text), ok
}

// AppendUID appends the UID that packed was made from by Packed. It returns false,
// and appends nothing, if packed is not such a result.
func AppendUID(text, packed []byte) ([]byte, bool) {
	const root, segment = rootDigits / 2, SegmentDigits / 2
	if len(packed) < root || (len(packed)-root)%segment != 0 {
		return text, false
	}
	text = hex.AppendEncode(text, packed[:root])
	for rest := packed[root:]; len(rest) > 0; rest = rest[segment:] {
		text = hex.AppendEncode(append(text, '/'), rest[:segment])
	}
	return text, true
}

func isLowerHex(s string) bool {
	for i := range len(s) {
		if !lowerHexDigits[s[i]] {
			return false
		}
	}
	return true
}

// lowerHexDigits holds true for hexadecimal digits. Comparisons would cost more, because the
// processor cannot predict whether the next digit is a letter.
var lowerHexDigits = func() (is [256]bool) {
	for _, c := range "0123456789abcdef" {
		is[c] = true
	}
	return is
}()

// Root returns the first segment: the organization that u belongs to.
func (u UID) Root() UID { return u.prefix(1) }

// IsRoot reports whether u has a single segment.
func (u UID) IsRoot() bool { return len(u) == rootDigits }

// Depth counts the segments of u; the zero UID has none.
func (u UID) Depth() int {
	if u == "" {
		return 0
	}
	return 1 + (len(u)-rootDigits)/(1+SegmentDigits)
}

// Parent returns u without its last segment, or the zero UID for a root.
func (u UID) Parent() UID { return u.prefix(u.Depth() - 1) }

// Enclosing returns the first depth segments of u, or the zero UID if u has fewer.
func (u UID) Enclosing(depth int) UID {
	if depth > u.Depth() {
		return ""
	}
	return u.prefix(depth)
}

func (u UID) prefix(depth int) UID {
	if depth < 1 {
		return ""
	}
	return u[:min(len(u), rootDigits+(depth-1)*(1+SegmentDigits))]
}

// Within reports whether u is scope or anywhere below it.
func (u UID) Within(scope UID) bool { return u == scope || u.Below(scope) }

// Below reports whether u is anywhere below scope, scope itself excluded.
func (u UID) Below(scope UID) bool {
	return scope != "" && len(u) > len(scope) && u[len(scope)] == '/' && strings.HasPrefix(string(u), string(scope))
}

// Ancestors lists the UIDs strictly above u, the root first.
func (u UID) Ancestors() []UID {
	var above []UID
	for depth := 1; depth < u.Depth(); depth++ {
		above = append(above, u.prefix(depth))
	}
	return above
}

// NewRootUID returns the UID of a new organization.
func NewRootUID() UID { return UID(RandomHex(rootDigits / 2)) }

// NewChild returns the UID of a new resource below u.
func (u UID) NewChild() UID { return u + "/" + UID(RandomHex(SegmentDigits/2)) }

// A UIDSeries makes UIDs for the rows of one batch. The first segment is random,
// and each further one is larger by a random step of up to 2^32. Thus the rows of a
// batch are neighbors in every index by UID, and storing a batch changes only a
// few pages of an index.
type UIDSeries struct {
	last  uint64
	begun bool
}

// Child makes the UID of a new row inside parent.
func (s *UIDSeries) Child(parent UID) UID {
	var random, segment [SegmentDigits / 2]byte
	_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	if n := binary.BigEndian.Uint64(random[:]); s.begun {
		s.last += 1 + n>>32
	} else {
		s.last, s.begun = n, true
	}
	binary.BigEndian.PutUint64(segment[:], s.last)
	return parent + "/" + UID(hex.EncodeToString(segment[:]))
}

// RandomHex returns random hexadecimal digits.
func RandomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b)
}
