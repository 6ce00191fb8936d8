package core

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// tokenLifetime is the lifetime of a page token. An expired token is not an error:
// the list restarts from the beginning.
const tokenLifetime = 3 * 24 * time.Hour

// tokenPeriod is how long the same place in the same list has the same token, so that caches of
// clients see that nothing has changed.
const tokenPeriod = time.Hour

// PageTokens seals and opens page tokens.
type PageTokens struct {
	clock func() time.Time
	Read  func(context.Context) ([]Key, error) // reads the keys, oldest first

	sealer atomic.Pointer[sealer]
	turn   chan struct{} // holds one element while the keys are read
	last   time.Time     // time of the last read because of an unknown key; only the holder of the turn uses it
}

// time returns the time of issue of the tokens that are made now: the end of the period, so
// that none of them expires before its lifetime.
func (p *PageTokens) time() time.Time { return p.clock().Add(tokenPeriod - 1).Truncate(tokenPeriod) }

// isExpired reports whether a token is too old to continue a list.
func (p *PageTokens) isExpired(t Token) bool { return p.clock().Sub(t.issued) > tokenLifetime }

// Load reads the keys.
func (p *PageTokens) Load(ctx context.Context) error {
	keys, err := p.Read(ctx)
	if err != nil {
		return err
	}
	s, err := newSealer(keys)
	if err == nil {
		p.sealer.Store(s)
	}
	return err
}

// sealerPause keeps forged page tokens from causing reads.
const sealerPause = 10 * time.Second

// Open opens a page token. If another replica has made the key of the token,
// open reads the keys again, one request at a time and not too often. If the
// keys cannot be read, it returns UNAVAILABLE, because the token may be valid.
func (p *PageTokens) Open(ctx context.Context, sealed string, list []byte) (Token, error) {
	s := p.sealer.Load()
	t, err := s.open(sealed, list)
	if err == nil || s.hasKey(sealed) {
		return t, err
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return Token{}, ctx.Err()
	}
	if now := p.clock(); now.Sub(p.last) > sealerPause {
		if err := p.Load(context.WithoutCancel(ctx)); err != nil { // others wait for the result, even if the client disconnects
			return Token{}, Unavailable("the keys of page tokens cannot be read", err)
		}
		p.last = now
	}
	return p.sealer.Load().open(sealed, list)
}

// Seal seals a token.
func (p *PageTokens) Seal(t Token, list []byte) string { return p.sealer.Load().seal(t, list) }

// A Token is the content of a page token. It is sealed, so that clients can
// neither read nor make one. The list it belongs to is its associated data: it does
// not open for another kind, scope or filter. It grants no access; every page is
// authorized again.
type Token struct {
	issued time.Time
	order  int // index into the kind's Orders
	desc   bool
	then   [MaxOrderFields - 1]byte // further fields: 0, or the index and 1, with tokenDesc
	Position
}

const (
	tokenVersion = 1
	tokenDesc    = 0x80 // bit of a descending order, in the byte of the order
	tokenMore    = 0x40 // bit of an order with further fields, which follow
)

// tokenOf returns a token of an order, without a position.
func (k *Kind[T]) tokenOf(o Order) (t Token) {
	index := func(field string) int {
		return slices.IndexFunc(k.Orders, func(f OrderField[T]) bool { return f.Name == field })
	}
	t.order, t.desc = index(o.Field), o.Desc
	for i, key := range o.Then {
		if key.Field == "" {
			break
		}
		if t.then[i] = byte(index(key.Field) + 1); key.Desc {
			t.then[i] |= tokenDesc
		}
	}
	return t
}

// orderOf returns the order of a token.
func (k *Kind[T]) orderOf(t Token) (o Order, err error) {
	if t.order >= len(k.Orders) {
		return o, ErrToken
	}
	o.Field, o.Desc = k.Orders[t.order].Name, t.desc
	for i, then := range t.then {
		if then == 0 {
			break
		}
		at := int(then&^tokenDesc) - 1
		if at < 0 || at >= len(k.Orders) {
			return Order{}, ErrToken
		}
		o.Then[i] = OrderKey{k.Orders[at].Name, then&tokenDesc != 0}
	}
	return o, nil
}

// ErrToken is the error of a text that is not a page token of a list.
var ErrToken = errors.New("is not a page token of this list")

func (t Token) bytes() []byte {
	b := []byte{tokenVersion, byte(t.order)}
	if t.desc {
		b[1] |= tokenDesc
	}
	if t.then[0] != 0 {
		b[1] |= tokenMore
		b = append(b, t.then[:]...)
	}
	b = binary.AppendVarint(b, t.issued.UnixMilli())
	b = append(b, packUID(t.UID)...)
	for i, then := range t.then {
		if then != 0 {
			value := appendTokenValue(nil, t.Then[i])
			b = append(binary.AppendUvarint(b, uint64(len(value))), value...)
		}
	}
	return appendTokenValue(b, t.Value)
}

// appendTokenValue appends the value of a field by which rows are sorted.
func appendTokenValue(b []byte, value any) []byte {
	switch value := value.(type) {
	case Time:
		b = binary.AppendVarint(append(b, 't'), value.UnixMilli())
	case string:
		b = append(append(b, 's'), value...)
	}
	return b
}

// parseTokenValue parses the result of appendTokenValue.
func parseTokenValue(b []byte) (any, error) {
	if len(b) == 0 {
		return nil, ErrToken
	}
	switch b[0] {
	case 't':
		ms, n := binary.Varint(b[1:])
		if n <= 0 {
			return nil, ErrToken
		}
		return At(time.UnixMilli(ms)), nil
	case 's':
		return string(b[1:]), nil
	default:
		return nil, ErrToken
	}
}

// parseToken parses the result of bytes.
func parseToken(b []byte) (t Token, err error) {
	if len(b) < 2 || b[0] != tokenVersion {
		return t, ErrToken
	}
	hasMore := b[1]&tokenMore != 0
	t.order, t.desc = int(b[1]&^(tokenDesc|tokenMore)), b[1]&tokenDesc != 0
	if b = b[2:]; hasMore {
		if len(b) < len(t.then) || b[0] == 0 {
			return t, ErrToken
		}
		b = b[copy(t.then[:], b):]
	}
	issued, n := binary.Varint(b)
	if n <= 0 {
		return t, ErrToken
	}
	t.issued = time.UnixMilli(issued)
	if t.UID, b, err = unpackUID(b[n:]); err != nil {
		return t, ErrToken
	}
	for i, then := range t.then {
		if then == 0 {
			continue
		}
		length, n := binary.Uvarint(b)
		if n <= 0 || length > uint64(len(b)-n) {
			return t, ErrToken
		}
		if t.Then[i], err = parseTokenValue(b[n : n+int(length)]); err != nil {
			return t, err
		}
		b = b[n+int(length):]
	}
	t.Value, err = parseTokenValue(b)
	return t, err
}

// packUID halves the length of a UID, so that a token with the longest name of a repo
// stays below 512 bytes. Rows without a UID (vulnerability metadata) use their natural
// key instead; a length byte distinguishes the two.
func packUID(u UID) []byte {
	if packed, ok := u.Packed(); ok {
		return append([]byte{byte(len(packed))}, packed...)
	}
	return append([]byte{0, byte(len(u))}, u...)
}

// unpackUID reads the result of packUID, and returns what follows it in b.
func unpackUID(b []byte) (UID, []byte, error) {
	if len(b) < 2 {
		return "", nil, ErrToken
	}
	if n := int(b[0]); n > 0 {
		if len(b) < 1+n {
			return "", nil, ErrToken
		}
		u, ok := UnpackUID(b[1 : 1+n])
		if !ok {
			return "", nil, ErrToken
		}
		return u, b[1+n:], nil
	}
	n := int(b[1])
	if len(b) < 2+n {
		return "", nil, ErrToken
	}
	return UID(b[2 : 2+n]), b[2+n:], nil
}

// A sealer seals and opens tokens with AES-256-GCM. Its keys live in the
// database, so that every replica and every restart opens every token;
// retired keys are kept for opening.
//
// The nonce of a token is derived from its content, so that one position in one
// list has one token: the cursor of an edge equals the end cursor of the page.
// Equal nonces thus mean equal tokens, which reveal nothing.
type sealer struct {
	newest byte
	keys   map[byte]sealingKey
}

type sealingKey struct {
	cipher.AEAD
	nonces []byte // key of the MAC from which nonces are derived
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

// seal returns base64url(key id | nonce | ciphertext).
func (s *sealer) seal(t Token, list []byte) string {
	key, plain := s.keys[s.newest], t.bytes()
	b := append([]byte{s.newest}, key.nonce(plain, list)...)
	return base64.RawURLEncoding.EncodeToString(key.Seal(b, b[1:], plain, list))
}

// LooksSealed reports whether text has the form of a page token.
func LooksSealed(text string) bool {
	const keyNonceTag = 1 + 12 + 16
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(b) > keyNonceTag
}

func (s *sealer) open(sealed string, list []byte) (Token, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(b) == 0 || strings.ContainsAny(sealed, "\r\n") { // the decoder ignores line breaks
		return Token{}, ErrToken
	}
	aead, ok := s.keys[b[0]]
	if !ok || len(b) < 1+aead.NonceSize() {
		return Token{}, ErrToken
	}
	plain, err := aead.Open(nil, b[1:1+aead.NonceSize()], b[1+aead.NonceSize():], list)
	if err != nil {
		return Token{}, ErrToken
	}
	return parseToken(plain)
}

// listName returns the associated data of tokens: the kind, the scope and the
// filter.
func listName(kind string, scope UIDFilter, filter any) []byte {
	b, _ := json.Marshal([]any{kind, scope, filter}) // cannot fail for plain data
	return b
}

// hasKey reports whether the sealer has the key that sealed names.
func (s *sealer) hasKey(sealed string) bool {
	b, err := base64.RawURLEncoding.DecodeString(sealed[:min(len(sealed), 4)])
	if err != nil || len(b) == 0 {
		return true // no key opens it
	}
	_, ok := s.keys[b[0]]
	return ok
}
