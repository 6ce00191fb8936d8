// Package rpc serves the platform's operations as the services of
// schema/proto, over gRPC, gRPC-Web and the Connect protocol.
//
// A procedure decodes a message, calls one operation of package platform, and
// encodes the result. No rule and no permission check belongs here. Each area has
// a file with its services, their procedures, and the conversion of its kinds into
// messages: advisory.go, events.go, iam.go (with iam_organization.go and
// iam_providers.go), libraries.go, ping.go, registry.go and vulnerabilities.go. What the reference does not have is in
// findings.go, packages.go, access.go and batches.go. The
// other files hold what areas share:
//
//	rpc.go         the handler: all services, health and reflection
//	ask.go         operations of package wire, whose requests and results have the names of messages in JSON
//	request.go     conversion of messages into list requests and inputs
//	unary.go       calls with one request and one response
//	answer.go      conversion of results into messages
//	codec.go       reading of messages, which rejects unknown fields
//	codec_json.go  reading of messages in JSON
//	gzip.go        compression
//	error.go       errors as google.rpc.Status; the only place that logs them
//
// Inputs are read as JSON, by the same rules as bodies in REST, so that both report
// the same errors. Results are copied field by field, because that costs a tenth as much; except those of package wire,
// which are small (ask.go).
package rpc
