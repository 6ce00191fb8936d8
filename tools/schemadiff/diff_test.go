package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// schemaOf loads types, with a root field and the link that every schema needs.
func schemaOf(t *testing.T, text string) *ast.Schema {
	t.Helper()
	const root = `
extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@tag"])
type Query { ping: String! }
`
	s, err := load([]*ast.Source{{Name: "test", Input: root + text}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryKindOfChangeHasItsLevelAndCoordinate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ before, after, want string }{
		// These cases change types.
		{`type A { a: Int }`, ``, "breaking A is removed"},
		{``, `type A { a: Int }`, "safe A is new"},
		{`type A { a: Int }`, `interface A { a: Int }`, "breaking A was an object and is an interface"},
		{`scalar A`, `enum A { X }`, "breaking A was a scalar and is an enum"},
		{`interface N { a: Int } type A implements N { a: Int }`, `interface N { a: Int } type A { a: Int }`, "breaking A no longer implements N"},
		{`interface N { a: Int } type A { a: Int }`, `interface N { a: Int } type A implements N { a: Int }`, "dangerous A now implements N"},
		{`type A { a: Int } type B { a: Int } union U = A | B`, `type A { a: Int } type B { a: Int } union U = B`, "breaking U no longer has the member A"},
		{`type A { a: Int } type B { a: Int } union U = B`, `type A { a: Int } type B { a: Int } union U = A | B`, "dangerous U has the new member A"},

		// These cases change enum values. A new value can only surprise clients that read
		// it.
		{`enum E { X Y }`, `enum E { X }`, "breaking E.Y is removed"},
		{`enum E { X } type A { e: [E!]! }`, `enum E { X Y } type A { e: [E!]! }`, "dangerous E.Y is a new value in answers"},
		{`enum E { X } input I { e: E }`, `enum E { X Y } input I { e: E }`, "safe E.Y is a new value"},
		{`enum E { X } input I { e: E }`, `enum E { X Y } input I { e: E } type A { e: E }`, "safe A is new; safe E.Y is a new value"},

		// Types in answers may become stricter.
		{`type A { a: Int b: Int }`, `type A { a: Int }`, "breaking A.b is removed"},
		{`type A { a: Int }`, `type A { a: Int b: Int! }`, "safe A.b is new"},
		{`type A { a: Int }`, `type A { a: String }`, "breaking A.a was Int and is String"},
		{`type A { a: Int! }`, `type A { a: Int }`, "breaking A.a was Int! and is Int"},
		{`type A { a: Int }`, `type A { a: Int! }`, "safe A.a was Int and is Int!"},
		{`type A { a: [Int!]! }`, `type A { a: [Int]! }`, "breaking A.a was [Int!]! and is [Int]!"},
		{`type A { a: [Int] }`, `type A { a: [Int!]! }`, "safe A.a was [Int] and is [Int!]!"},
		{`type A { a: Int }`, `type A { a: [Int] }`, "breaking A.a was Int and is [Int]"},
		{`type A { a: [Int] }`, `type A { a: Int }`, "breaking A.a was [Int] and is Int"},

		// Types of inputs may become less strict.
		{`type A { a(x: Int): Int }`, `type A { a: Int }`, "breaking A.a(x:) is removed"},
		{`type A { a: Int }`, `type A { a(x: Int): Int }`, "safe A.a(x:) is a new optional argument"},
		{`type A { a: Int }`, `type A { a(x: Int!): Int }`, "breaking A.a(x:) is a new required argument"},
		{`type A { a: Int }`, `type A { a(x: Int! = 1): Int }`, "safe A.a(x:) is a new optional argument"},
		{`type A { a(x: Int): Int }`, `type A { a(x: Int!): Int }`, "breaking A.a(x:) was Int and is Int!"},
		{`type A { a(x: Int!): Int }`, `type A { a(x: Int): Int }`, "safe A.a(x:) was Int! and is Int"},
		{`type A { a(x: [Int]): Int }`, `type A { a(x: [Int!]): Int }`, "breaking A.a(x:) was [Int] and is [Int!]"},
		{`type A { a(x: ID): Int }`, `type A { a(x: String): Int }`, "breaking A.a(x:) was ID and is String"},
		{`input I { a: Int b: Int }`, `input I { a: Int }`, "breaking I.b is removed"},
		{`input I { a: Int }`, `input I { a: Int b: Int }`, "safe I.b is a new optional input field"},
		{`input I { a: Int }`, `input I { a: Int b: Int! }`, "breaking I.b is a new required input field"},
		{`input I { a: Int }`, `input I { a: Int! }`, "breaking I.a was Int and is Int!"},
		{`input I { a: Int! }`, `input I { a: Int }`, "safe I.a was Int! and is Int"},

		// A default changes the meaning of requests that omit the argument.
		{`type A { a(x: Int = 1): Int }`, `type A { a(x: Int = 2): Int }`, "breaking A.a(x:) had the default 1 and has 2"},
		{`type A { a(x: Int = 1): Int }`, `type A { a(x: Int): Int }`, "breaking A.a(x:) no longer has the default 1"},
		{`type A { a(x: Int): Int }`, `type A { a(x: Int = 1): Int }`, "dangerous A.a(x:) has the new default 1"},
		{`type A { a(x: Int!): Int }`, `type A { a(x: Int! = 1): Int }`, "safe A.a(x:) has the new default 1"},
		{`input I { a: [Int!] = [1, 2] }`, `input I { a: [Int!] = [2, 1] }`, "breaking I.a had the default [1,2] and has [2,1]"},

		// These cases change directives, on types and by themselves.
		{`type A @key(fields: "a") { a: ID! b: ID! }`, `type A @key(fields: "b") { a: ID! b: ID! }`,
			`breaking A no longer bears @key(fields: "a"); safe A now bears @key(fields: "b")`},
		{`type A @shareable { a: Int }`, `type A { a: Int }`, "breaking A no longer bears @shareable"},
		{`type A { a: Int }`, `type A { a: Int @deprecated(reason: "b") }`, `safe A.a now bears @deprecated(reason: "b")`},
		{`enum E { X Y }`, `enum E { X Y @deprecated }`, "safe E.Y now bears @deprecated"},
		{`input I { a: Int }`, `input I { a: Int @inaccessible }`, "dangerous I.a now bears @inaccessible"},
		{`scalar S @specifiedBy(url: "a")`, `scalar S`, `dangerous S no longer bears @specifiedBy(url: "a")`},
		{``, `extend schema @link(url: "https://example.org/x/v1")`, `dangerous schema now bears @link(url: "https://example.org/x/v1")`},
		{`directive @d on FIELD`, ``, "breaking @d is removed"},
		{``, `directive @d on FIELD`, "safe @d is new"},
		{`directive @d repeatable on FIELD | QUERY`, `directive @d on QUERY`, "breaking @d is no longer allowed on FIELD; breaking @d is no longer repeatable"},
		{`directive @d on FIELD`, `directive @d(x: Int!) on FIELD`, "breaking @d(x:) is a new required argument"},

		// What is experimental may change, with what only it leads to.
		{`extend type Query { r(a: Int): R @tag(name: "experimental") s: S } type R { x: Int s: S } type S { y: Int }`,
			`extend type Query { r: R @tag(name: "experimental") s: S } type R { s: S } type S { z: Int }`,
			`breaking S.y is removed; dangerous Query.r(a:) is removed; dangerous R.x is removed; safe S.z is new`},
		{`extend type Query { r: Int @tag(name: "iam") }`, ``, "breaking Query.r is removed"},

		// No request or answer depends on these changes.
		{`"Old." type A { a: Int b: Int }`, `"New." type A { "New." b: Int a: Int }`, ""},
		{`type A { a: Int }  extend type A { b: Int }`, `type A { a: Int b: Int }`, ""},
		{`type A @d(b: 1, a: 2) { a: Int } directive @d(a: Int, b: Int) on OBJECT`,
			`type A @d(a: 2, b: 1) { a: Int } directive @d(a: Int, b: Int) on OBJECT`, ""},
	} {
		var got []string
		for _, c := range diff(schemaOf(t, row.before), schemaOf(t, row.after)) {
			got = append(got, fmt.Sprint(c.level, " ", c.at, " ", c.what))
		}
		if got := strings.Join(got, "; "); got != row.want {
			t.Errorf("%s\n-> %s\nis  %q\nnot %q, want %v", row.before, row.after, got, row.want, row.want)
		}
	}
}

func TestTheRealSchemaIsEqualToItself(t *testing.T) {
	t.Parallel()
	files, err := workingTree("../..")
	if err != nil {
		t.Fatal(err)
	}
	var schemas [2]*ast.Schema
	for i := range schemas {
		if schemas[i], err = load(files); err != nil {
			t.Fatal(err)
		}
	}
	if changes := diff(schemas[0], schemas[1]); len(changes) > 0 {
		t.Errorf("it changed by %v", changes)
	}
	if n := len(ownTypes(schemas[0])); n < 50 {
		t.Errorf("it has only %d types", n)
	}
}
