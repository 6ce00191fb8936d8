package platform

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// Sizes of a page (specification, Limits).
const (
	DefaultPageSize = 50
	MaxPageSize     = 200
)

// tokenLifetime is how long a page token keeps its place. An older one is no
// error: the list restarts from the beginning (specification, Limits).
const tokenLifetime = 3 * 24 * time.Hour

// A UIDFilter restricts a list by where resources lie in the tree. Several
// fields given: all must hold.
type UIDFilter struct {
	AncestorsOf   UID   `json:",omitempty"` // strictly above
	DescendantsOf UID   `json:",omitempty"` // strictly below
	ChildrenOf    UID   `json:",omitempty"` // the parent is
	InRoot        bool  `json:",omitempty"` // without a parent
	IDs           []UID `json:",omitempty"` // one of these
}

// narrow reports whether f asks for less than a subtree.
func (f UIDFilter) narrow() bool {
	return f.IDs != nil || f.AncestorsOf != "" || f.ChildrenOf != "" || f.InRoot
}

// Parts says what a list is asked for; the zero value asks for all of it.
type Parts uint8

// The parts of a page.
const (
	PartItems Parts = 1 << iota
	PartTotal
)

// Has reports whether part is asked for.
func (p Parts) Has(part Parts) bool { return p == 0 || p&part != 0 }

// A ListRequest asks for one page of resources with filter F.
type ListRequest[F any] struct {
	UIDP      UIDFilter
	Filter    F
	PageSize  int    // 0: DefaultPageSize; above MaxPageSize: MaxPageSize
	PageToken string // where the page before ended, or starts for Backward
	OrderBy   string // one field, then asc or desc; "" is the kind's default
	Skip      int    // rows to pass over, counted from the token
	Backward  bool   // the page that ends before the token (or the last one)
	Parts     Parts  // what to read

	// Malformed is what the adapter could not decode; it is reported together
	// with what validation finds.
	Malformed []Violation
}

// A Page is one page of a list, in the order asked for.
type Page[T any] struct {
	Items []*T
	// NextPageToken continues after the last item, "" where nothing follows
	// in the direction of the request.
	NextPageToken string
	TotalCount    int64 // over all pages: what this caller may see
	Skipped       int   // echoes Skip

	HasNext, HasPrevious bool

	cursor func(*T) string
}

// Cursor is the page token that continues right after item i.
func (p Page[T]) Cursor(i int) string { return p.cursor(p.Items[i]) }

// An Order is a field that a kind sorts by. UID breaks ties, in the same
// direction.
type Order struct {
	Field string // as in OrderField.Name
	Desc  bool
}

// An OrderField is one that rows of a kind can be sorted by.
type OrderField[T any] struct {
	Name      string       // snake_case
	Spellings []string     // what else order_by accepts
	Value     func(*T) any // string or Time
}

// A Position is the place of a row in an order: where a page ended.
type Position struct {
	Value any // the order field's value: string or Time
	UID   UID
}

func (k *Kind[T]) order(field string) *OrderField[T] {
	for i := range k.Orders {
		o := &k.Orders[i]
		if o.Name == field {
			return o
		}
		for _, s := range o.Spellings {
			if s == field {
				return o
			}
		}
	}
	return nil
}

func (k *Kind[T]) parseOrder(s string, v *violations) Order {
	if s == "" {
		return k.DefaultOrder
	}
	words := strings.Fields(s)
	desc := len(words) == 2 && words[1] == "desc"
	if len(words) == 1 || desc || len(words) == 2 && words[1] == "asc" {
		if f := k.order(words[0]); f != nil {
			return Order{f.Name, desc}
		}
	}
	names := make([]string, len(k.Orders))
	for i, o := range k.Orders {
		names[i] = o.Name
	}
	v.add("order_by", "must be one of %s, optionally followed by asc or desc", strings.Join(names, ", "))
	return Order{}
}

// A token is sealed so that clients neither read nor make one. What list it
// belongs to is its associated data: it does not open for another kind, scope
// or filter. It never authorises anything; every page is authorised anew.
type token struct {
	issued time.Time
	order  int // index into the kind's Orders
	desc   bool
	Position
}

const (
	tokenVersion = 1
	tokenDesc    = 0x80 // in the byte of the order
)

var errToken = errors.New("is not a page token of this list")

func (t token) bytes() []byte {
	b := []byte{tokenVersion, byte(t.order)}
	if t.desc {
		b[1] |= tokenDesc
	}
	b = binary.AppendVarint(b, t.issued.UnixMilli())
	b = append(b, packUID(t.UID)...)
	switch value := t.Value.(type) {
	case Time:
		b = binary.AppendVarint(append(b, 't'), value.UnixMilli())
	case string:
		b = append(append(b, 's'), value...)
	}
	return b
}

func parseToken(b []byte) (t token, err error) {
	if len(b) < 2 || b[0] != tokenVersion {
		return t, errToken
	}
	t.order, t.desc = int(b[1]&^tokenDesc), b[1]&tokenDesc != 0
	issued, n := binary.Varint(b[2:])
	if n <= 0 {
		return t, errToken
	}
	t.issued = time.UnixMilli(issued)
	if t.UID, b, err = unpackUID(b[2+n:]); err != nil || len(b) == 0 {
		return t, errToken
	}
	switch b[0] {
	case 't':
		ms, n := binary.Varint(b[1:])
		if n <= 0 {
			return t, errToken
		}
		t.Value = At(time.UnixMilli(ms))
	case 's':
		t.Value = string(b[1:])
	default:
		return t, errToken
	}
	return t, nil
}

// packUID halves a UID, so that a token with the longest name stays below
// 512 bytes. Rows without a UID (vulnerability metadata) carry their natural
// key instead; a length byte tells the two apart.
func packUID(u UID) []byte {
	if packed, err := hex.DecodeString(strings.ReplaceAll(string(u), "/", "")); err == nil && u.Valid() {
		return append([]byte{byte(len(packed))}, packed...)
	}
	return append([]byte{0, byte(len(u))}, u...)
}

func unpackUID(b []byte) (UID, []byte, error) {
	if len(b) < 2 {
		return "", nil, errToken
	}
	if n := int(b[0]); n > 0 {
		if len(b) < 1+n || n < rootDigits/2 {
			return "", nil, errToken
		}
		digits := hex.EncodeToString(b[1 : 1+n])
		u := digits[:rootDigits]
		for rest := digits[rootDigits:]; len(rest) >= segmentDigits; rest = rest[segmentDigits:] {
			u += "/" + rest[:segmentDigits]
		}
		return UID(u), b[1+n:], nil
	}
	n := int(b[1])
	if len(b) < 2+n {
		return "", nil, errToken
	}
	return UID(b[2 : 2+n]), b[2+n:], nil
}

// A sealer seals and opens tokens with AES-256-GCM. Its keys live in the
// database, so that every replica and every restart opens every token;
// retired keys are kept for opening.
//
// The nonce of a token follows from what is sealed, so that one place in one
// list has one token: an edge's cursor equals the page's end cursor. Equal
// nonces thus mean equal tokens, which tell nothing new.
type sealer struct {
	newest byte
	keys   map[byte]sealingKey
}

type sealingKey struct {
	cipher.AEAD
	nonces []byte // key of the MAC that nonces are cut from
}

func (k sealingKey) nonce(plain, list []byte) []byte {
	mac := hmac.New(sha256.New, k.nonces)
	mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(plain))))
	mac.Write(plain)
	mac.Write(list)
	return mac.Sum(nil)[:k.NonceSize()]
}

func newSealer(keys []Key) (*sealer, error) {
	s := &sealer{keys: make(map[byte]sealingKey, len(keys))}
	for _, k := range keys {
		block, err := aes.NewCipher(k.Material)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		nonces := sha256.Sum256(append([]byte("nonces of page tokens\x00"), k.Material...))
		s.keys[byte(k.ID)] = sealingKey{aead, nonces[:]}
		s.newest = max(s.newest, byte(k.ID))
	}
	return s, nil
}

// seal answers base64url(key id | nonce | sealed).
func (s *sealer) seal(t token, list []byte) string {
	key, plain := s.keys[s.newest], t.bytes()
	b := append([]byte{s.newest}, key.nonce(plain, list)...)
	return base64.RawURLEncoding.EncodeToString(key.Seal(b, b[1:], plain, list))
}

// looksSealed reports whether text has the form of a page token.
func looksSealed(text string) bool {
	const keyNonceTag = 1 + 12 + 16
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(b) > keyNonceTag
}

func (s *sealer) open(sealed string, list []byte) (token, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(b) == 0 || strings.ContainsAny(sealed, "\r\n") { // which the decoder passes over
		return token{}, errToken
	}
	aead, ok := s.keys[b[0]]
	if !ok || len(b) < 1+aead.NonceSize() {
		return token{}, errToken
	}
	plain, err := aead.Open(nil, b[1:1+aead.NonceSize()], b[1+aead.NonceSize():], list)
	if err != nil {
		return token{}, errToken
	}
	return parseToken(plain)
}

// listName is what a token is bound to: the kind, the scope and the filters.
func listName(kind string, scope UIDFilter, filter any) []byte {
	b, _ := json.Marshal([]any{kind, scope, filter}) // plain data: it cannot fail
	return b
}

// knows reports whether the key that sealed claims to be under is at hand.
func (s *sealer) knows(sealed string) bool {
	b, err := base64.RawURLEncoding.DecodeString(sealed[:min(len(sealed), 4)])
	if err != nil || len(b) == 0 {
		return true // no key would open it
	}
	_, ok := s.keys[b[0]]
	return ok
}
