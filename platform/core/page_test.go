package core

import (
	"bytes"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// testSealer returns a sealer with its own key.
func testSealer(t testing.TB) *sealer {
	t.Helper()
	s, err := newSealer([]Key{{ID: 1, Material: bytes.Repeat([]byte{7}, 32)}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	tokenTime = At(time.Date(2026, 3, 27, 13, 55, 0, 785e6, time.UTC))
	ofRepos   = listName("Repo", UIDFilter{DescendantsOf: rootA}, &thingFilter{})
)

func TestATokenOpensToWhatWasSealed(t *testing.T) {
	t.Parallel()
	s := testSealer(t)
	for _, p := range []Position{
		{Value: "golang", UID: rootA + seg("1")},
		{Value: "", UID: rootA},
		{Value: strings.Repeat("é", 127), UID: rootA + seg("1") + seg("2")},
		{Value: tokenTime, UID: rootA + seg("1")},
		{Value: Time{}, UID: rootA + seg("1")},
		{Value: "GO-2024-3228", UID: "GO-2024-3228"},
		{Value: strings.Repeat("v", 255), UID: UID(strings.Repeat("v", 255))},
		{Value: string(rootA), UID: rootA},
	} {
		for _, desc := range []bool{false, true} {
			in := Token{issued: tokenTime.Time, order: 3, desc: desc, Position: p}
			if strings.HasPrefix(string(p.UID), string(rootA)) { // It also comes back with the values of further fields.
				in.then, in.Then = [2]byte{1, 4 | tokenDesc}, [2]any{p.Value, tokenTime}
			}
			if first, second := s.seal(in, ofRepos), s.seal(in, ofRepos); first != second {
				t.Errorf("%v has two tokens, want %v", in, second)
			}
			got, err := s.open(s.seal(in, ofRepos), ofRepos)
			if err != nil || got.Position != in.Position || got.then != in.then || got.order != 3 || got.desc != desc || !got.issued.Equal(in.issued) {
				t.Errorf("%v came back as %v (%v), want Position %v, order 3 and desc %v", in, got, err, p, desc)
			}
		}
	}
}

// The row with the longest name has the longest token: at most 512 bytes on the upper
// nine levels, and 729 bytes on the deepest level.
func TestATokenIsAtMost512BytesNineLevelsDeep(t *testing.T) {
	t.Parallel()
	s := testSealer(t)
	length := func(value any, depth int) int {
		uid := rootA + UID(strings.Repeat(string(seg("f")), depth-1))
		if value == nil {
			value = string(uid)
		}
		sealed := s.seal(Token{issued: tokenTime.Time, order: 1, Position: Position{Value: value, UID: uid}}, ofRepos)
		if strings.Trim(sealed, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("%s is not safe in a URL", sealed)
		}
		return len(sealed)
	}
	name, longest := strings.Repeat("n", MaxRepoBytes), strings.Repeat("n", MaxNameBytes)
	for _, x := range []struct {
		value       any
		depth, most int
	}{{longest, 9, 855}, {name, 9, 512}, {name, 29, 729}, {tokenTime, 29, 396}, {nil, 12, 512}, {name, 1, 420}} {
		if got := length(x.value, x.depth); got > x.most {
			t.Errorf("%.5v at depth %d: %d bytes, want at most %d", x.value, x.depth, got, x.most)
		}
	}
	if got := length(name, 10); got <= 512 {
		t.Errorf("at depth 10 it has %d bytes: the promise can be widened", got)
	}
}

func TestATokenIsNotOpenedElsewhere(t *testing.T) {
	t.Parallel()
	s := testSealer(t)
	sealed := s.seal(Token{issued: tokenTime.Time, Position: Position{Value: "golang", UID: rootA + seg("1")}}, ofRepos)
	for what, list := range map[string][]byte{
		"another kind":     listName("Tag", UIDFilter{DescendantsOf: rootA}, &thingFilter{}),
		"another scope":    listName("Repo", UIDFilter{DescendantsOf: rootB}, &thingFilter{}),
		"another relation": listName("Repo", UIDFilter{ChildrenOf: rootA}, &thingFilter{}),
		"no scope":         listName("Repo", UIDFilter{}, &thingFilter{}),
		"one scope more":   listName("Repo", UIDFilter{DescendantsOf: rootA, InRoot: true}, &thingFilter{}),
		"another filter":   listName("Repo", UIDFilter{DescendantsOf: rootA}, &thingFilter{Name: "golang"}),
		"nothing":          nil,
	} {
		if got, err := s.open(sealed, list); !errors.Is(err, ErrToken) {
			t.Errorf("%s: opened as %v (%v, want %v)", what, got, err, ErrToken)
		}
	}
}

func TestABrokenTokenIsNotOpened(t *testing.T) {
	t.Parallel()
	s := testSealer(t)
	sealed := s.seal(Token{issued: tokenTime.Time, Position: Position{Value: "golang", UID: rootA + seg("1")}}, ofRepos)
	if _, err := s.open(sealed, ofRepos); err != nil {
		t.Fatal(err)
	}
	refused := func(what, token string) {
		t.Helper()
		if got, err := s.open(token, ofRepos); !errors.Is(err, ErrToken) {
			t.Errorf("%s: %q opened as %v (%v, want %v)", what, token, got, err, ErrToken)
		}
	}
	for n := range len(sealed) {
		refused("cut", sealed[:n])
	}
	raw, _ := base64.RawURLEncoding.DecodeString(sealed)
	for bit := range 8 * len(raw) {
		flipped := bytes.Clone(raw)
		flipped[bit/8] ^= 1 << (bit % 8)
		refused("a bit flipped", base64.RawURLEncoding.EncodeToString(flipped))
	}
	for what, token := range map[string]string{
		"longer": sealed + "A", "padded": sealed + "=", "twice": sealed + sealed, "not base64": "!" + sealed[1:],
		"plain": base64.RawURLEncoding.EncodeToString([]byte(`{"uid":"` + rootA + `"}`)), "a v1 token": "eyJvZmZzZXQiOjUwfQ",
		"with a line break": sealed[:10] + "\n" + sealed[10:], "under a key of its own": otherKey(t, sealed),
	} {
		refused(what, token)
	}
	// The unused bits of the last character must not allow a second spelling.
	if last := len(sealed) - 1; len(raw)%3 != 0 {
		for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			if other := sealed[:last] + string(c); other != sealed {
				refused("spelled otherwise", other)
			}
		}
	}
}

// otherKey seals the same token with a key that the service does not have.
func otherKey(t *testing.T, sealed string) string {
	t.Helper()
	opened, err := testSealer(t).open(sealed, ofRepos)
	if err != nil {
		t.Fatal(err)
	}
	forger, err := newSealer([]Key{{ID: 1, Material: bytes.Repeat([]byte{8}, 32)}})
	if err != nil {
		t.Fatal(err)
	}
	return forger.seal(opened, ofRepos)
}

func TestARetiredKeyStillOpens(t *testing.T) {
	t.Parallel()
	old := testSealer(t)
	both, err := newSealer([]Key{{ID: 1, Material: bytes.Repeat([]byte{7}, 32)}, {ID: 2, Material: bytes.Repeat([]byte{9}, 32)}})
	if err != nil {
		t.Fatal(err)
	}
	in := Token{issued: tokenTime.Time, Position: Position{Value: "golang", UID: rootA}}
	if _, err := both.open(old.seal(in, ofRepos), ofRepos); err != nil {
		t.Errorf("a token of the retired key: %v", err)
	}
	if sealed := both.seal(in, ofRepos); old.hasKey(sealed) || !both.hasKey(sealed) {
		t.Error("a new token is not under the newest key")
	}
}

func FuzzTokenOpen(f *testing.F) {
	s := testSealer(f)
	f.Add(s.seal(Token{issued: tokenTime.Time, Position: Position{Value: "golang", UID: rootA}}, ofRepos))
	f.Add("")
	f.Add("AQ")
	f.Add("AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, sealed string) {
		_ = s.hasKey(sealed)
		if got, err := s.open(sealed, ofRepos); err == nil && sealed != s.sameNonce(sealed, got) {
			t.Fatalf("%q opens as %v", sealed, got)
		}
	})
}

// sameNonce seals t with the nonce of sealed.
func (s *sealer) sameNonce(sealed string, t Token) string {
	b, _ := base64.RawURLEncoding.DecodeString(sealed)
	nonce := b[1:13]
	return base64.RawURLEncoding.EncodeToString(s.keys[b[0]].Seal(b[:13:13], nonce, t.bytes(), ofRepos))
}

// The content of a seal is always our own, but may have another version.
func FuzzTokenParse(f *testing.F) {
	f.Add(Token{issued: tokenTime.Time, order: 1, desc: true, Position: Position{Value: "golang", UID: rootA + seg("1")}}.bytes())
	f.Add(Token{issued: tokenTime.Time, Position: Position{Value: tokenTime, UID: rootA}}.bytes())
	f.Add(Token{issued: tokenTime.Time, Position: Position{Value: "GO-1", UID: "GO-1"}}.bytes())
	f.Add(Token{issued: tokenTime.Time, then: [2]byte{1, 2}, Position: Position{Value: "GO-1", UID: rootA, Then: [2]any{tokenTime, "x"}}}.bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseToken(b)
		if err != nil {
			return
		}
		again, err := parseToken(got.bytes())
		if err != nil || again != got {
			t.Fatalf("%x: %v, written and read again %v (%v)", b, got, again, err)
		}
	})
}

// A platform without keys cannot seal. So a page of it shows that no token is sealed
// until a caller asks for one.
func TestAPageSealsOnlyRequestedTokens(t *testing.T) {
	t.Parallel()
	p := NewCore(nil, time.Now, slog.New(slog.DiscardHandler))
	repos := &Collection[*thing, *thingFilter]{Core: p, Kind: &thingKind}
	rows := Rows[*thing]{Items: []*thing{{UID: rootA + seg("1"), Name: "a"}, {UID: rootA + seg("2"), Name: "b"}}, More: true}
	q := Query[*thingFilter]{Order: thingKind.DefaultOrder}
	if page := repos.NewPage(ListRequest[*thingFilter]{}, q, rows); !page.HasNext || len(page.Items) != 2 {
		t.Errorf("the page is %+v, want 2 items", page)
	}
	p.Tokens.sealer.Store(testSealer(t))
	forward := repos.NewPage(ListRequest[*thingFilter]{}, q, rows)
	backward := repos.NewPage(ListRequest[*thingFilter]{Backward: true}, q, rows)
	if forward.NextPageToken() != forward.Cursor(1) || backward.NextPageToken() == "" || backward.NextPageToken() != backward.Cursor(0) {
		t.Errorf("%q goes on after %q, %q before %q", forward.NextPageToken(), forward.Cursor(1), backward.NextPageToken(), backward.Cursor(0))
	}
	rows.More = false
	if last := repos.NewPage(ListRequest[*thingFilter]{}, q, rows); last.NextPageToken() != "" {
		t.Error("the last page has a next one")
	}
}
