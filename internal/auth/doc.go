// Package auth turns a bearer token into the caller of a request.
//
// A token is a signed JWT of an OpenID Connect issuer. The Verifier checks its
// form, its times and its signature by the rules below, and then asks the
// Directory who the bearer is. The Middleware does so for every HTTP request.
//
// This package decides who the caller is, never what the caller may do. Package
// platform, which is the Directory, decides that.
//
//	token.go        form of a token: three canonical segments, strict JSON
//	claims.go       the claims of a token, and whether it is valid now
//	verifier.go     the order of the checks
//	verified.go     a cache of tokens whose signature has been verified
//	issuers.go      which issuers are trusted, and a limited cache of their key sets
//	keyset.go       when the keys of one issuer are fetched, and how long they are used
//	static.go       static keys, which are stored with identities
//	fetch.go        discovery and key set over HTTP
//	guard.go        outgoing requests that must not reach private addresses
//	development.go  the development issuer, which is part of the process
//	middleware.go   the Authorization header
//	presumed.go     answers for the caller of an earlier request with the same token
//	throttle.go     a limit for requests with invalid tokens
//	organization.go which organizations an issuer lists in its file
//
// Nothing in a token is trusted before its signature is verified. No URL or key
// inside a token is ever used: keys come only from issuers that an identity or a
// setting names, compared byte for byte.
package auth
