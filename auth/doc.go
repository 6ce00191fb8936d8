// Package auth turns a bearer token into the caller of a request.
//
// A token is a signed JWT of an OpenID Connect issuer. Verifier checks its
// form, its times and its signature under the rules below, then asks the
// Directory who that is; Middleware does so for every HTTP request.
//
// It says who calls and never what they may do: that is decided by package
// platform, which is the Directory.
//
//	token.go        form of a token: three canonical segments, strict JSON
//	claims.go       what a token claims, and whether it holds at this moment
//	verifier.go     the order of the checks
//	verified.go     tokens whose signature need not be verified again
//	issuers.go      which issuers are trusted, their key sets (bounded)
//	keyset.go       when the keys of one issuer are fetched, and how long they serve
//	fetch.go        discovery and key set over HTTP
//	guard.go        outgoing requests that must not reach private addresses
//	development.go  the issuer inside the process, for local use only
//	middleware.go   the Authorization header
//	gate.go         a limit of tokens that prove nobody
//	organisation.go which organisations an issuer lists in its file
//
// Nothing in a token is believed before its signature is, and no URL or key
// inside of a token is ever used: keys come from issuers that an identity or
// a setting names byte for byte.
package auth
