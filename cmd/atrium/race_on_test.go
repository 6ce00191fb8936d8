//go:build race

package main

// slowSQLite: SQLite is C turned into Go, and under the race detector takes
// minutes for what takes a second.
const slowSQLite = true
