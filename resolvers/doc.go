// Package resolvers reads the fields of the graph from the platform's
// operations, federated and with Relay's connections (schema/README.md). A
// resolver decodes its arguments, calls one operation of package platform for all
// parents of a level at once, and encodes the result; no rule and no permission
// lives here. The endpoint
// itself, with its transports and limits, is package graphql.
//
// There is one file per kind; what they share:
//
//	executor.go    the schema over a platform, with reads for each response
//	root.go        which type resolves what
//	connection.go  arguments of lists into requests of the core
//	loader.go      reads by key, each key once in a response
//	node.go        node, nodes and federation's entities
//	input.go       inputs and payloads of mutations; batch.go has those of many
//	viewed.go      what the caller may do on objects; holder.go has who else may
//	error.go       errors as GraphQL shows them; the only place that logs them;
//	               field_message.go says them field by field
//	sdl.go         the schema as a text for clients
package resolvers
