// Package server is the HTTP server: it opens the database, applies the same
// authentication, limits and guards to every protocol, and serves until it is stopped.
// A plain struct configures it, so that the command line and the tests start the same
// server. It contains no rules of the product: those are in package platform.
//
// The life of a server:
//
//	config.go      the settings, and Run, which starts everything below
//	database.go    opens and migrates the database
//	front.go       answers from the first moment, while the database is opened
//	server.go      the HTTP server and its limits; tls.go and certificate.go for HTTPS
//	ready.go       whether the server can work; shutdown.go stops it
//	webhooks.go    starts the delivery of events, and serves its public keys
//	backup.go      copies an embedded database; restore.go puts a copy back
//
// What every request passes, from the outside to the inside:
//
//	routes.go      which handler answers which path; v1.go forwards v1
//	guard.go       the layers around all handlers; cors.go is one for browsers
//	recorder.go    logs and counts requests (observed.go, traced.go); recorder_store.go
//	               does so for statements
//	admission      limits how many requests are worked on at once, and how many a caller
//	               sends; refused.go answers those that it refuses, and admission.go logs
//	               them in summary
//	headers.go     size limits of the request line and the headers
//	answers.go     limits the memory of responses
//
// What it serves beside the protocols:
//
//	graphql.go     the settings of the GraphQL endpoint
//	playground.go  the pages; guide.go the guide
//	metrics.go     the metrics, on an address of their own
package server
