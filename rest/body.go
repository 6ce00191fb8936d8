package rest

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"atrium/platform"
)

// maxBody bounds a request's body; the largest that is good is a readme.
const maxBody = 1 << 20

// readBody reads a body of JSON; one without a Content-Type is taken for it.
// An empty body is not nil.
func (r *request) readBody() ([]byte, error) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, badHeader("Content-Encoding", "must not be given: bodies are read as they are")
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, badHeader("Content-Type", "must be application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(r.writer, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		description := fmt.Sprintf("must be at most %d bytes", tooLarge.Limit)
		return nil, &refusal{http.StatusRequestEntityTooLarge, platform.Invalid(platform.Violation{Field: "body", Description: description})}
	case err != nil:
		return nil, platform.Invalid(platform.Violation{Field: "body", Description: "could not be read to its end"})
	}
	return body, nil
}

func badHeader(name, description string) error {
	return &refusal{http.StatusUnsupportedMediaType, platform.Invalid(platform.Violation{Field: name, Description: description})}
}

func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	kind, parameters, err := mime.ParseMediaType(contentType)
	charset := parameters["charset"]
	return err == nil && kind == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}
