// Package scalar is how values of the GraphQL schema are written and read: its
// scalars and enums, connections, filters and sort orders. The generated
// package graph binds to it; everything here is written by hand.
//
//	id.go          global ids, and where the scalar ID shows one
//	text.go        the other scalars
//	enum.go        enums: the core's wire names without their prefix
//	connection.go  pages of the core as connections, edges and PageInfo
//	filter.go      `where` and `orderBy`, as the core takes them
//
// What is absent, null and empty is one to the core, so "" and the zero time
// are null in a nullable field, and null is "" and the zero time in an input.
package scalar
