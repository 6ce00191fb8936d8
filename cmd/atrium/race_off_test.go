//go:build !race

package main

const slowSQLite = false
