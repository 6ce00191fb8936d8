// Package rpc serves the platform's operations as the services of
// schema/proto, over gRPC, gRPC-Web and the Connect protocol.
//
// It decodes a message, calls one operation of package platform, and encodes
// the result. No rule and no permission lives here. A file per domain has its
// services and a second one (iam_message.go ...) what their answers look like:
//
//	rpc.go      the handler: every service, health and reflection
//	answer.go   results as messages
//	request.go  messages as list requests and inputs
//	error.go    errors as google.rpc.Status; the only place that logs them
//
// What clients send is read as JSON, by the rules that REST bodies go by, so
// that both report the same of it. What they get, page by page, is copied
// field by field, which costs a tenth of that.
package rpc
