package platform

import (
	"bytes"
	"encoding/base64"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// testSealer has a key of its own.
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
	ofRepos   = listName("Repo", UIDFilter{DescendantsOf: rootA}, RepoFilter{})
)

func TestATokenComesBackAsItWasSealed(t *testing.T) {
	t.Parallel()
	s := testSealer(t)
	for _, p := range []Position{
		{"golang", rootA + seg("1")},
		{"", rootA},
		{strings.Repeat("é", 127), rootA + seg("1") + seg("2")},
		{tokenTime, rootA + seg("1")},
		{Time{}, rootA + seg("1")},
		{"GO-2024-3228", "GO-2024-3228"},
		{strings.Repeat("v", 255), UID(strings.Repeat("v", 255))},
		{string(rootA), rootA},
	} {
		for _, desc := range []bool{false, true} {
			in := token{issued: tokenTime.Time, order: 3, desc: desc, Position: p}
			if first, second := s.seal(in, ofRepos), s.seal(in, ofRepos); first != second {
				t.Errorf("%v has two tokens", in)
			}
			got, err := s.open(s.seal(in, ofRepos), ofRepos)
			if err != nil || got.Position != p || got.order != 3 || got.desc != desc || !got.issued.Equal(in.issued) {
				t.Errorf("%v came back as %v (%v)", in, got, err)
			}
		}
	}
}

// The longest token is one of a row with the longest name. Up to nine levels
// deep it has at most 512 bytes; down to the deepest level, 729.
func TestATokenWithTheLongestNameIsAtMost512BytesNineLevelsDeep(t *testing.T) {
	t.Parallel()
	s := testSealer(t)
	length := func(value any, depth int) int {
		uid := rootA + UID(strings.Repeat(string(seg("f")), depth-1))
		if value == nil {
			value = string(uid)
		}
		sealed := s.seal(token{issued: tokenTime.Time, order: 1, Position: Position{value, uid}}, ofRepos)
		if strings.Trim(sealed, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("%s is not safe in a URL", sealed)
		}
		return len(sealed)
	}
	name := strings.Repeat("n", 255)
	for _, x := range []struct {
		value       any
		depth, most int
	}{{name, 9, 512}, {name, 29, 729}, {tokenTime, 29, 396}, {nil, 12, 512}, {name, 1, 420}} {
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
	sealed := s.seal(token{issued: tokenTime.Time, Position: Position{"golang", rootA + seg("1")}}, ofRepos)
	for what, list := range map[string][]byte{
		"another kind":     listName("Tag", UIDFilter{DescendantsOf: rootA}, RepoFilter{}),
		"another scope":    listName("Repo", UIDFilter{DescendantsOf: rootB}, RepoFilter{}),
		"another relation": listName("Repo", UIDFilter{ChildrenOf: rootA}, RepoFilter{}),
		"no scope":         listName("Repo", UIDFilter{}, RepoFilter{}),
		"one scope more":   listName("Repo", UIDFilter{DescendantsOf: rootA, InRoot: true}, RepoFilter{}),
		"another filter":   listName("Repo", UIDFilter{DescendantsOf: rootA}, RepoFilter{Name: "golang"}),
		"nothing":          nil,
	} {
		if got, err := s.open(sealed, list); !errors.Is(err, errToken) {
			t.Errorf("%s: opened as %v (%v)", what, got, err)
		}
	}
}

func TestABrokenTokenIsNotOpened(t *testing.T) {
	t.Parallel()
	s := testSealer(t)
	sealed := s.seal(token{issued: tokenTime.Time, Position: Position{"golang", rootA + seg("1")}}, ofRepos)
	if _, err := s.open(sealed, ofRepos); err != nil {
		t.Fatal(err)
	}
	refused := func(what, token string) {
		t.Helper()
		if got, err := s.open(token, ofRepos); !errors.Is(err, errToken) {
			t.Errorf("%s: %q opened as %v (%v)", what, token, got, err)
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
	// The spare bits of the last character must not make a second spelling.
	if last := len(sealed) - 1; len(raw)%3 != 0 {
		for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			if other := sealed[:last] + string(c); other != sealed {
				refused("spelled otherwise", other)
			}
		}
	}
}

// otherKey seals the same place under a key that the service does not have.
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
	in := token{issued: tokenTime.Time, Position: Position{"golang", rootA}}
	if _, err := both.open(old.seal(in, ofRepos), ofRepos); err != nil {
		t.Errorf("a token of the retired key: %v", err)
	}
	if sealed := both.seal(in, ofRepos); old.knows(sealed) || !both.knows(sealed) {
		t.Error("a new token is not under the newest key")
	}
}

func FuzzTokenOpen(f *testing.F) {
	s := testSealer(f)
	f.Add(s.seal(token{issued: tokenTime.Time, Position: Position{"golang", rootA}}, ofRepos))
	f.Add("")
	f.Add("AQ")
	f.Add("AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, sealed string) {
		_ = s.knows(sealed)
		if got, err := s.open(sealed, ofRepos); err == nil && sealed != s.sameNonce(sealed, got) {
			t.Fatalf("%q opens as %v", sealed, got)
		}
	})
}

// sameNonce seals t as sealed was.
func (s *sealer) sameNonce(sealed string, t token) string {
	b, _ := base64.RawURLEncoding.DecodeString(sealed)
	nonce := b[1:13]
	return base64.RawURLEncoding.EncodeToString(s.keys[b[0]].Seal(b[:13:13], nonce, t.bytes(), ofRepos))
}

// What is inside a seal is our own, but of another version, perhaps.
func FuzzTokenParse(f *testing.F) {
	f.Add(token{issued: tokenTime.Time, order: 1, desc: true, Position: Position{"golang", rootA + seg("1")}}.bytes())
	f.Add(token{issued: tokenTime.Time, Position: Position{tokenTime, rootA}}.bytes())
	f.Add(token{issued: tokenTime.Time, Position: Position{"GO-1", "GO-1"}}.bytes())
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

func TestOrderByTakesOneFieldAndADirection(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Order{
		"":                       {Field: "name"},
		"name":                   {Field: "name"},
		"name asc":               {Field: "name"},
		"name desc":              {Field: "name", Desc: true},
		"name ":                  {},
		"name desc ":             {},
		" name":                  {},
		"name  desc":             {},
		"name\tdesc":             {},
		"name\n":                 {},
		"created_at":             {Field: "create_time"},
		"create_time":            {Field: "create_time"},
		"createTime desc":        {Field: "create_time", Desc: true},
		"updated_at desc":        {Field: "update_time", Desc: true},
		"update_time":            {Field: "update_time"},
		"updateTime":             {Field: "update_time"},
		"uid desc":               {Field: "uid", Desc: true},
		"description":            {},
		"name,uid":               {},
		"name, uid":              {},
		"name desc uid":          {},
		"name descending":        {},
		"desc":                   {},
		"-name":                  {},
		"name;":                  {},
		"name\x00":               {},
		"create_time desc, name": {},
	} {
		var v violations
		got := repoKind.parseOrder(s, &v)
		if got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
		if refused := want == (Order{}); refused != (len(v) == 1) {
			t.Errorf("%q: %v", s, v)
		} else if refused && (v[0].Field != "order_by" || !strings.Contains(v[0].Description, "name, create_time, update_time, uid")) {
			t.Errorf("%q: %v does not list what is accepted", s, v[0])
		}
	}
}

func TestEachKindHasOrdersOfItsOwn(t *testing.T) {
	t.Parallel()
	accepts := func(kind, s, field string, desc bool, parse func(string, *violations) Order) {
		t.Helper()
		var v violations
		if got := parse(s, &v); got != (Order{field, desc}) || len(v) > 0 {
			t.Errorf("%s %q: %v %v, want %s", kind, s, got, v, field)
		}
	}
	accepts("advisory", "advisory_id", "advisory_id", false, advisoryKind.parseOrder)
	accepts("advisory", "artifactName desc", "artifact_name", true, advisoryKind.parseOrder)
	accepts("advisory", "", "uid", false, advisoryKind.parseOrder)
	accepts("identity", "last_seen_time desc", "last_seen_time", true, identityKind.parseOrder)
	accepts("identity", "", "name", false, identityKind.parseOrder)
	accepts("role binding", "", "create_time", true, roleBindingKind.parseOrder)
	accepts("subscription", "", "uid", false, subscriptionKind.parseOrder)
	accepts("tag", "", "name", false, tagKind.parseOrder)
	accepts("vulnerability", "", "uid", false, vulnerabilityKind.parseOrder)
	for what, parse := range map[string]func(string, *violations) Order{"role binding": roleBindingKind.parseOrder, "advisory": advisoryKind.parseOrder} {
		var v violations
		if parse("name", &v); len(v) != 1 {
			t.Errorf("%s: has no name, yet it is sorted by it", what)
		}
	}
}

func TestARefusedOrderListsWhatIsTakenInTheSpellingOfTheCaller(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"nope":            "create_time, uid, identity_name, group_name, role_name",
		"nope desc":       "create_time, uid, identity_name, group_name, role_name",
		"changed_at desc": "created_at, uid, identity_name, group_name, role_name",
		"identity_id":     "create_time, uid, identity_name, group_name, role_name",
		"identityId asc":  "createTime, uid, identityName, groupName, roleName",
	} {
		var v violations
		roleBindingKind.parseOrder(asked, &v)
		if len(v) != 1 || v[0].Description != "must be one of "+want+", optionally followed by asc or desc" {
			t.Errorf("%q: %v, want %s", asked, v, want)
			continue
		}
		for _, taken := range strings.Split(want, ", ") {
			var v violations
			if roleBindingKind.parseOrder(taken, &v); len(v) > 0 {
				t.Errorf("%s is listed and refused: %v", taken, v)
			}
		}
	}
}

// Fields that are no order, each with its reason.
var unordered = map[string]string{
	"Group.description": "is long", "Identity.description": "is long", "Role.description": "is long", "Repo.description": "is long",
	"IdentityProvider.description": "is long", "AccountAssociation.description": "is long", "Artifact.description": "is long",
	"ArtifactVersion.description": "is long", "Vulnerability.summary": "is long", "Vulnerability.details": "is long",
	"Delivery.lastError": "is long", "Delivery.lastAnswer": "is long", "Subscription.sink": "is long", "Identity.company": "is long",
	"Advisory.author": "is of any length", "Advisory.artifactType": "is of any length", "Advisory.artifactArchitecture": "is of any length",
	"Advisory.componentName": "is of any length", "Advisory.componentLocation": "is of any length", "Advisory.componentType": "is of any length",
	"Advisory.legacyAdvisoryId": "is of any length", "Identity.emailUnverified": "is of any length",
	"Subscription.secret": "is shown once", "GroupInvite.code": "is shown once", "GroupInvite.keyId": "is random",
	"TermsAcceptance.acceptedBy": "is the UID of another kind", "Artifact.latestVersion": "does not sort by bytes", "Vulnerability.id": "is its uid",
	"Delivery.eventId": "sorts as createTime", "IdentityProvider.issuerVerifyTime": "is a fact of the organisation and the issuer",
}

// Every list is sorted by each short text and time that its rows show.
func TestEveryListIsSortedByWhatItsRowsShow(t *testing.T) {
	t.Parallel()
	left := maps.Clone(unordered)
	sorts(t, &groupKind, left)
	sorts(t, &identityKind, left)
	sorts(t, &roleKind, left)
	sorts(t, &roleBindingKind, left)
	sorts(t, &repoKind, left)
	sorts(t, &tagKind, left)
	sorts(t, &advisoryKind, left)
	sorts(t, &vulnerabilityKind, left)
	sorts(t, &subscriptionKind, left)
	sorts(t, &identityProviderKind, left)
	sorts(t, &accountAssociationKind, left)
	sorts(t, &groupInviteKind, left)
	sorts(t, &externalGroupRoleMappingKind, left)
	sorts(t, &termsKind, left)
	sorts(t, &artifactKind, left)
	sorts(t, &artifactVersionKind, left)
	sorts(t, &deliveryKind, left)
	for field := range left {
		t.Errorf("%s is no order for a reason, but no row shows it as a text or time", field)
	}
}

func sorts[T any](t *testing.T, k *Kind[T], left map[string]string) {
	t.Helper()
	row := reflect.TypeFor[T]()
	for i := range row.NumField() {
		field := row.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || field.Type != reflect.TypeFor[string]() && field.Type != reflect.TypeFor[Time]() {
			continue
		}
		if at := row.Name() + "." + name; left[at] != "" {
			delete(left, at)
		} else if k.order(name) == nil {
			t.Errorf("rows of %s show %s, but order_by does not take it", k.Name, name)
		}
	}
}

// Required is what a body of nothing lacks.
func TestRequiredFieldsAreThoseThatAnEmptyBodyLacks(t *testing.T) {
	t.Parallel()
	lacks(t, &groupKind)
	lacks(t, &identityKind)
	lacks(t, &roleKind)
	lacks(t, &roleBindingKind)
	lacks(t, &repoKind)
	lacks(t, &tagKind)
	lacks(t, newSubscriptions(&Platform{}).kind)
	lacks(t, &identityProviderKind)
	lacks(t, &accountAssociationKind)
	lacks(t, &groupInviteKind)
	lacks(t, &externalGroupRoleMappingKind)
}

func lacks[T any](t *testing.T, k *Kind[T]) {
	t.Helper()
	var v violations
	k.Check(new(T), func(string) bool { return true }, &v)
	var fields []string
	for _, x := range v {
		fields = append(fields, x.Field)
	}
	if !slices.Equal(fields, k.Required) {
		t.Errorf("%s requires %q, and an empty one violates %q", k.Name, k.Required, fields)
	}
}

func FuzzOrderBy(f *testing.F) {
	f.Add("name desc")
	f.Add("createTime asc")
	f.Fuzz(func(t *testing.T, s string) {
		var v violations
		o := repoKind.parseOrder(s, &v)
		if len(v) > 0 {
			if o != (Order{}) {
				t.Fatalf("%q is refused, and is %v", s, o)
			}
			return
		}
		if repoKind.order(o.Field) == nil || repoKind.order(o.Field).Name != o.Field {
			t.Fatalf("%q sorts by %q", s, o.Field)
		}
	})
}
