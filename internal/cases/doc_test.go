// Package cases is a table of cases that runs in every protocol on both engines. The
// table says once what each operation accepts and answers, and every protocol must
// agree. The package contains only tests.
//
//	protocol_test.go  calls and answers, independent of a protocol
//	rest_test.go      REST, derived from the ledger of routes (wire_test.go)
//	graphql_*_test.go GraphQL, derived from the schema
//	grpc_*_test.go    gRPC, derived from the descriptors of the services
//	kind_test.go      what the table knows of a kind; newKind lists it
//	row_test.go       a row of the table; refs_test.go explains {group} in it
//	*_rows_test.go    the rows that every kind has, derived from its data
//	list_*_test.go    the same for lists
//	matrix_test.go    who may do what, in every protocol
//	agreement_test.go a random state, read in every protocol
//	repo_test.go ...  one file per kind: its data and its special rows
//
// To add a kind, write its file. To add a protocol, implement protocol and add it to
// newWorld. If a protocol cannot express a case, the row says what it answers instead, and
// why. For gRPC, that follows from the types of the messages (grpc_message_test.go).
package cases
