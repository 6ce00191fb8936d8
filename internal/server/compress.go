package server

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
)

// The smallest answer that is compressed, in bytes, and the level of gzip.
const (
	minCompressedBytes = 1 << 10
	gzipLevel          = 5
)

// compressResponses compresses answers of GraphQL, REST and Connect for clients that accept gzip
// or zstd. gRPC compresses each message by itself. Streams of events are not compressed,
// because each event must be sent at once.
func compressResponses(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(minCompressedBytes), gzhttp.CompressionLevel(gzipLevel), gzhttp.ContentTypeFilter(isCompressible))
	if err != nil {
		panic(err) // fails only if the level is invalid
	}
	compressing := wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(&compressedResponse{w}, r) }))
	// gzhttp compresses no answer to HEAD, and reads one line of Accept-Encoding.
	compressingAsGet := func(w http.ResponseWriter, r *http.Request) {
		asked := &http.Request{Method: http.MethodGet, Header: http.Header{"Accept-Encoding": {strings.Join(r.Header["Accept-Encoding"], ",")}}}
		wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { next.ServeHTTP(&compressedResponse{w}, r) })).ServeHTTP(w, asked)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header["Upgrade"] != nil, strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"):
			next.ServeHTTP(w, r)
		case r.Header["Accept-Encoding"] == nil:
			if h := w.Header(); h["Vary"] == nil {
				h["Vary"] = varyByEncoding
			} else {
				h.Add("Vary", varyByEncoding[0])
			}
			next.ServeHTTP(w, r)
		case r.Method == http.MethodHead, len(r.Header["Accept-Encoding"]) > 1:
			compressingAsGet(w, r)
		default:
			compressing(w, r)
		}
	})
}

// isCompressible reports whether answers of a media type are compressed.
func isCompressible(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	switch media {
	case "application/json", "application/graphql-response+json", "application/proto", "application/yaml", "text/plain",
		"application/x-ndjson", "text/csv", "application/sarif+json":
		return true
	}
	return false
}

// A compressedResponse reports the errors of flushing, which gzhttp hides. A stream ends by
// them when its client stops reading.
type compressedResponse struct{ http.ResponseWriter }

// FlushError sends what was written.
func (a *compressedResponse) FlushError() error {
	if err := http.NewResponseController(a.ResponseWriter).Flush(); err != nil {
		return err
	}
	inner, isWrapper := a.ResponseWriter.(interface{ Unwrap() http.ResponseWriter })
	if !isWrapper {
		return nil
	}
	return http.NewResponseController(inner.Unwrap()).Flush()
}

// Flush is FlushError for handlers that take any http.Flusher.
func (a *compressedResponse) Flush() { _ = a.FlushError() }

// Unwrap lets http.ResponseController reach the connection.
func (a *compressedResponse) Unwrap() http.ResponseWriter { return a.ResponseWriter }
