// Package resolvers resolves the fields of the GraphQL schema by calling the
// operations of package platform. A resolver decodes its arguments, calls one
// operation for all parents of a level at once, and encodes the result. No rule
// and no permission check belongs here. The endpoint with its transports and
// limits is package graphql. The conventions of the schema, such as connections
// and federation, are in schema/README.md.
//
// There is one file per kind. The other files hold what kinds share:
//
//	executor.go    the executor of the schema, with new loaders for each response
//	root.go        the resolver of each type
//	connection.go  conversion of list arguments into requests of the core
//	loader.go      reads by key, each key once in a response
//	node.go        node, nodes and the entities of federation
//	input.go       inputs and payloads of mutations; batch.go has those of batches
//	viewed.go      what the caller may do on an object; holder.go tells who else may
//	error.go       conversion of errors for clients, and their logging;
//	               field_message.go makes one sentence for each invalid field
//	sdl.go         the schema as text for clients
package resolvers
