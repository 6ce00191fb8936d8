// Package resource shows the resources of a server to people and to scripts: it is what `atrium list` and `atrium get` are made of.
//
//	catalog.go   the kinds that a server lists, with their filters and orders, read from the OpenAPI document
//	filter.go    a filter of a list, as a flag
//	columns.go   the columns of a kind, where its schema does not say which are useful
//	ask.go       the pages of a list, and one resource
//	value.go     values of an item as text
//	table.go     columns of text, as wide as they look on a terminal
//	output.go    the forms of output
//
// It sends no request and knows no token: a Client does that.
package resource
