//go:build race

package main

// slowSQLite is true under the race detector. SQLite is C code translated to Go, and takes
// minutes there for work of a second.
const slowSQLite = true
