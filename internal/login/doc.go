// Package login signs people in to a server from the command line, and keeps what they got.
//
//	server.go      what a server says about how people sign in
//	provider.go    a provider: discovery, requests for tokens, which token is for the server
//	browser.go     the sign-in with a browser on this machine (RFC 8252, PKCE)
//	device.go      the sign-in with a browser elsewhere (RFC 8628)
//	session.go     tokens of a context, which are refreshed before they end, and the sign-out
//	job.go         the ID token of a CI job
//	folder.go      the files of contexts
//	lock_*.go      a lock between processes
//
// A token and a refresh token are for one place each: the server of the context, and the token
// endpoint of the provider that gave it. Nothing here follows a redirect.
package login
