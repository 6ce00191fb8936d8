// Package resolvers resolves the fields of the GraphQL schema by calling the
// operations of package platform. A resolver decodes its arguments, calls one
// operation for all parents of a level at once, and encodes the result. No rule
// and no permission check belongs here. The endpoint with its transports and
// limits is package graphql. The conventions of the schema, such as connections
// and federation, are in schema/README.md.
//
// There is one file per kind. The other files hold what kinds share:
//
//	engine.go      the engine of the schema, with new loaders for each response
//	root.go        resolvers of types that are not kinds, such as Query
//	area.go        the service area of each root field, for errors
//	connection.go  conversion of list arguments into requests of the core
//	loader.go      reads by key, each key once in a response
//	name.go        reads by path or by name
//	node.go        node, nodes and the entities of federation
//	embedded.go    answers from role bindings without a second read
//	input.go       inputs and payloads of mutations; batch.go has those of batches
//	caller.go      what the caller may do on an object; holder.go lists who else may
//	measure.go     counts the memory of responses; long.go lists fields that can be long or cost much to read
//	error.go       conversion of errors for clients, and their logging;
//	               field_message.go makes one sentence for each invalid field
//	sdl.go         the schema as text for clients
package resolvers
