// Package ecosystem knows how the ecosystems of packages order versions and compare names. The
// database sorts and finds rows by the keys that it makes: bytes of a version key sort as the
// versions do (version.go, version_maven.go), and names that an ecosystem takes for the same have
// one normal form (name.go), as have the names of an architecture (architecture.go). It must know
// no kind, no caller and no store: its functions take texts and return texts, so that a key can be
// checked against the ecosystem's own tools.
package ecosystem
