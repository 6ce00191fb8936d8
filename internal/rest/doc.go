// Package rest serves the platform's operations as the HTTP endpoints of the v2
// interface, with JSON bodies and google.rpc.Status errors.
//
// A route decodes a request, calls one operation of package platform, and encodes
// the result. No rule and no permission check belongs here. One table has all
// routes. Each area has a file with its part: advisory.go, events.go, iam.go (with
// iam_operations.go), libraries.go, ping.go, registry.go and vulnerabilities.go. What the
// reference does not have is in findings.go, packages.go, access.go and batches.go. The
// other files hold what areas share:
//
//	rest.go      the handler, which maps the table to a router
//	route.go     what a route is, and the routes that most kinds have
//	ask.go       the routes of operations of package wire: a question, or a body
//	path.go      path variables that contain slashes, and fixed suffixes
//	query.go     query parameters: both spellings, and no unknown ones
//	filter.go    conversion of query parameters into a list request
//	body.go      reading of request bodies
//	decoding.go  collects the violations of a body
//	batch.go     the body of batchCreate
//	answer.go    the list envelope and other responses
//	export.go    files with whole lists; import.go and upload.go what callers hand in
//	error.go     errors as HTTP responses; the only place that logs them
//	openapi.go   serves the OpenAPI document
//
// `make generate` makes the OpenAPI document from the same table and from texts/. Its
// code is in the tests (openapi_*_test.go), so that the program does not contain it.
//
// Every route under /<area>/v2/ is served under /<area>/v2beta1/ too.
package rest
