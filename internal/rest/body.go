package rest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// MaxBody limits the body of a request, in bytes. The largest valid body is a readme.
const MaxBody = 1 << 20

// readBody reads a JSON body. It ignores Content-Type, because clients send the
// default of their library. An empty body is not nil.
func (r *request) readBody() ([]byte, error) {
	if err := core.RequireAuthenticated(r.Context()); err != nil {
		return nil, err
	}
	if coding := strings.Join(r.Header.Values("Content-Encoding"), ", "); coding != "" && !strings.EqualFold(coding, "identity") {
		r.writer.Header().Set("Accept-Encoding", "identity")
		return nil, errEncoding
	}
	body, err := io.ReadAll(http.MaxBytesReader(r.writer, r.Body, MaxBody))
	if err != nil {
		return nil, BodyError(err)
	}
	return body, nil
}

// BodyError returns the error for a body that could not be read, or that
// http.MaxBytesReader found too large.
func BodyError(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		description := fmt.Sprintf("must be at most %d bytes", tooLarge.Limit)
		return &statusError{http.StatusRequestEntityTooLarge, core.Invalid(fieldmask.Violation{Field: "body", Description: description})}
	}
	return core.Invalid(fieldmask.Violation{Field: "body", Description: "could not be read completely"})
}

// errEncoding is the error for a compressed body.
var errEncoding = &statusError{http.StatusUnsupportedMediaType, core.Invalid(fieldmask.Violation{
	Field: "Content-Encoding", Description: "must be identity or absent, because compressed bodies are not supported",
})}
