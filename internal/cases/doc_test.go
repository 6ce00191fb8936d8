// Package cases is one table of cases that runs through every protocol on both
// engines: what an operation takes and answers is written down once, and each
// protocol has to keep to it. It has no code of its own.
//
//	protocol_test.go  a call and its answer, in no protocol's terms
//	rest_test.go      REST, derived from the ledger of routes (wire_test.go)
//	graphql_*_test.go GraphQL, derived from the schema
//	grpc_*_test.go    gRPC, derived from the descriptors of the services
//	kind_test.go      what the table knows of a kind; newKind lists it
//	row_test.go       a row of the table; refs_test.go what {group} in it means
//	*_rows_test.go    the rows that every kind has, made of its data
//	list_*_test.go    the same for lists
//	matrix_test.go    who may do what, through every protocol
//	agreement_test.go a state made by chance, told by every protocol
//	repo_test.go ...  one file per kind: its data, and the rows it has alone
//
// To add a kind, write its file. To add a protocol,
// implement protocol and put it into newWorld. Where a protocol cannot express
// a case, the row says what it answers instead, and why; what messages cannot say
// follows from their types (grpc_message_test.go).
package cases
