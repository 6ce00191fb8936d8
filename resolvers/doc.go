// Package resolvers serves the platform's operations as a GraphQL endpoint,
// federated and with Relay's connections (schema/README.md).
//
// A resolver decodes its arguments, calls one operation of package platform
// and encodes the result; no rule and no permission lives here. There is one
// file per kind; what they share:
//
//	handler.go     settings, and what they put together; per-response state
//	transport*.go  the endpoint: GraphQL over HTTP, server-sent events, websockets
//	limits*.go     how large a document may be; all guards in their order
//	cost.go        what an operation may cost
//	documents*.go  persisted and trusted documents, introspection
//	error.go       errors as GraphQL shows them; the only place that logs them
//	root.go        which type resolves what
//	connection.go  arguments of lists into requests of the core
//	together.go    one read for all siblings of an object: no N+1
//	loader.go      reads by key, each key once in a response
//	node.go        node, nodes and federation's entities
//	input.go       inputs and payloads of mutations
//	sdl.go         the schema as a text for clients
package resolvers
