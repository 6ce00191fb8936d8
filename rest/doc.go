// Package rest serves the platform's operations as the HTTP endpoints of the
// v2 interface: JSON bodies, google.rpc.Status errors.
//
// It decodes a request, calls one operation of package platform, and encodes
// the result. No rule and no permission lives here. What is offered is one
// table of routes, a file per domain (iam.go, registry.go ...):
//
//	rest.go       the handler: from the table to a router
//	route.go      what a route is, and the generic routes of a kind
//	path.go       variables of a path that hold slashes, and fixed suffixes
//	query.go      names of query parameters: both spellings, none unknown
//	filter.go     values of query parameters, into a list request
//	body.go       request bodies: size, media type
//	batch.go      the body of batchCreate
//	answer.go     the list envelope and other answers
//	error.go      errors as HTTP answers; the only place that logs them
//
// The same table makes the OpenAPI document:
//
//	openapi.go            the document and its operations
//	openapi_operation.go  parameters, bodies and answers of an operation
//	openapi_schema.go     Go types as schemas
//	openapi_error.go      errors
//	openapi_example.go    a few resources to look at
//	openapi_text.go       what it says to people, out of texts/
//
// Every route under /<domain>/v2/ is served under /<domain>/v2beta1/ too.
package rest
