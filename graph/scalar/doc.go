// Package scalar writes and reads values of the GraphQL schema: scalars, enums,
// connections, filters and sort orders. The generated package graph uses it. It must
// not contain rules of the core.
//
//	id.go          global ids
//	text.go        the other scalars
//	enum.go        enums: the wire names of the core without their common prefix
//	connection.go  pages of the core as connections, edges and PageInfo
//	filter.go      `where` and `orderBy` as filters and orders of the core
//	window.go      the arguments that all lists have, which resolvers take together
//
// The core does not distinguish absent, null and empty values. So "" and the zero
// time are null in a nullable field, and null becomes "" or the zero time in an input.
package scalar
