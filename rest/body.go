package rest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"atrium/platform"
)

// maxBody limits the body of a request. The largest valid body is a readme.
const maxBody = 1 << 20

// readBody reads a JSON body. It ignores Content-Type, because clients send the
// default of their library. An empty body is not nil.
func (r *request) readBody() ([]byte, error) {
	if err := platform.RequireAuthenticated(r.Context()); err != nil {
		return nil, err
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, errEncoding
	}
	body, err := io.ReadAll(http.MaxBytesReader(r.writer, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		description := fmt.Sprintf("must be at most %d bytes", tooLarge.Limit)
		return nil, &statusError{http.StatusRequestEntityTooLarge, platform.Invalid(platform.Violation{Field: "body", Description: description})}
	case err != nil:
		return nil, platform.Invalid(platform.Violation{Field: "body", Description: "could not be read completely"})
	}
	return body, nil
}

// errEncoding is the error for a compressed body.
var errEncoding = &statusError{http.StatusUnsupportedMediaType, platform.Invalid(platform.Violation{
	Field: "Content-Encoding", Description: "must be identity or absent, because compressed bodies are not supported",
})}
