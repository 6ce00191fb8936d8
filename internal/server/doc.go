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
//	server.go      the HTTP server and its limits; certificate.go for HTTPS
//	ready.go       whether the server can work; shutdown.go stops it
//	webhooks.go    starts the delivery of events, and serves its public keys
//	backup.go      copies an embedded database; restore.go puts a copy back
//
// The life of a request, from the outside to the inside. TestTheLifeOfARequest compares this with the
// stack of a request that reads repos over REST; gRPC and GraphQL differ from compress on. A layer
// stands outside of all that must not happen without it. With aliases of packages, resolveAliases
// (alias.go) stands outside of all.
//
//	locateClients      takes the address of the client from a trusted proxy, since limits and
//	                   logs below tell clients apart by it (forwarded.go)
//	setRequestID       gives the request the id that every log entry and error names (guard.go)
//	recordRequests     logs, counts and traces the request, whatever becomes of it (recorder.go)
//	recoverPanics      makes an INTERNAL error of a panic of any layer below (guard.go)
//	limitHeaders       refuses a request line or headers that are too large, before they are
//	                   copied or forwarded (headers.go); then V1.route forwards v1 (v1.go, v1_stream.go)
//	setPrivateHeaders  forbids caches to keep what follows (guard.go)
//	crossOrigin        lets pages of allowed origins in, and refuses the others (cors.go)
//	routes             finds the handler of the path (routes.go)
//	AdmitRequests      lets as many requests work at once as the machine can, fair by
//	                   organization and caller, before anything of the body is read (admission)
//	Middleware         verifies the token and finds the caller, or presumes that it is the
//	                   one of the last request with this token; servePresumed then holds the
//	                   response back until the database has confirmed that (internal/auth).
//	                   If it has not, everything below runs a second time
//	IdentifyCallers    counts the request for its caller, and refuses it above the quota of
//	                   the caller (admission)
//	compressResponses    compresses the response (compress.go)
//	countMemory        limits the memory of the response (memory.go)
//	limitTime          limits the time since the request has arrived (time.go)
//	serve              matches the route and decodes the request (internal/rest)
//	List               checks the request, decides the scope from the grants of the caller,
//	                   and reads (platform/core/list.go; platform/core/read.go for one resource, platform/core/write.go for changes)
//	dbconn.Run         sends the statements, with the proof of who the caller is
//	                   (store/sqlstore/dbconn/database.go lists the wrappers that they pass)
//
// On the way back, internal/rest encodes the page, the response is released as soon as the caller
// is proven, and recordRequests logs the request.
//
// The other files of these layers:
//
//	observed.go, traced.go   what recordRequests sees of a response, and its spans;
//	               recorder_store.go records statements
//	admission.go   the settings of admission; refuser.go answers what it refuses, and
//	               refusal_log.go logs that in summary
//
// What it serves beside the protocols:
//
//	graphql.go     the settings of the GraphQL endpoint
//	playground.go  the pages; guide.go the guide
//	metrics.go     the metrics, on an address of their own
package server
