package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"atrium/graphql/refusal"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// A statusError is an error that HTTP has a status of its own for.
type statusError struct {
	status int
	error
}

// refuse answers with an error that the executor was never asked about.
func (e *endpoint) refuse(w http.ResponseWriter, r *http.Request, media string, err error) {
	status := 0
	var refused *statusError
	if errors.As(err, &refused) {
		status, err = refused.status, refused.error
	}
	response := &graphql.Response{Errors: gqlerror.List{e.Present(r.Context(), err)}}
	if status == 0 {
		status = statusOf(response, mediaResponse)
	}
	write(w, status, media, response)
}

// WriteError answers a request that was refused before it came to the endpoint, in
// the media type that it asks for.
func WriteError(w http.ResponseWriter, r *http.Request, status int, shown *gqlerror.Error) {
	media := negotiate(r.Header.Values("Accept")).json()
	write(w, status, media, &graphql.Response{Errors: gqlerror.List{shown}})
}

// limitError is for one more of something than a caller may hold open. It names
// the limit as --graphql-limit does.
func limitError(name string, limit int) error {
	return &refusal.Error{
		Code:       refusal.ResourceExhausted,
		Message:    fmt.Sprintf("Resource exhausted: the caller has too many %s open, at most %d; end one of them first", name, limit),
		RetryAfter: time.Second,
	}
}

// statusOf is the HTTP status of a response: 200 where anything was executed.
// What was refused before that has a 4xx of the newer media type only, since
// clients of the older one take such an answer for one without a body to read;
// a fault of the server has its 5xx in both.
func statusOf(response *graphql.Response, media string) int {
	if response.Data != nil || len(response.Errors) == 0 {
		return http.StatusOK
	}
	status := http.StatusBadRequest
	switch codeOf(response.Errors[0]) {
	case refusal.Unauthenticated:
		status = http.StatusUnauthorized
	case refusal.PermissionDenied:
		status = http.StatusForbidden
	case refusal.ResourceExhausted:
		status = http.StatusTooManyRequests
	case refusal.Internal:
		status = http.StatusInternalServerError
	case refusal.Unavailable:
		status = http.StatusServiceUnavailable
	case refusal.DeadlineExceeded:
		status = http.StatusGatewayTimeout
	}
	if media != mediaResponse && status < http.StatusInternalServerError {
		return http.StatusOK
	}
	return status
}

// codeOf is the code that an error is shown with.
func codeOf(shown *gqlerror.Error) refusal.Code {
	code, _ := shown.Extensions["status"].(int)
	return refusal.Code(code)
}

// write sends a response that is alone in its answer.
func write(w http.ResponseWriter, status int, media string, response *graphql.Response) {
	w.Header().Set("Content-Type", media+"; charset=utf-8")
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(status)
	for _, part := range encodeParts(response) {
		if _, err := w.Write(part); err != nil {
			return // nobody listens any more
		}
	}
}

// encode gives a response as JSON in one piece.
func encode(response *graphql.Response) []byte { return bytes.Join(encodeParts(response), nil) }

// encodeParts gives a response as JSON: without data where nothing was executed, as
// the specification asks for, and with its errors bounded. The data, which may
// be long, is not copied.
func encodeParts(response *graphql.Response) (encoded [][]byte) {
	separator := `{"`
	member := func(name string, value []byte) {
		encoded = append(encoded, []byte(separator+name+`":`), value)
		separator = `,"`
	}
	if len(response.Errors) > 0 {
		member("errors", encodeErrors(response.Errors))
	}
	if response.Data != nil {
		member("data", response.Data)
	}
	if len(response.Extensions) > 0 {
		if extensions, err := json.Marshal(response.Extensions); err == nil {
			member("extensions", extensions)
		}
	}
	if len(encoded) == 0 {
		return [][]byte{[]byte("{}")}
	}
	return append(encoded, []byte("}"))
}

// How much of errors is shown. A message repeats names of the request, of which
// there may be many, and long ones.
const (
	maxErrors       = 50
	maxErrorsBytes  = 64 << 10
	maxErrorBytes   = 8 << 10
	maxMessageBytes = 1 << 10
)

// encodeErrors gives errors as JSON, no more than fit. Where some are left out
// the last one says so.
func encodeErrors(errs gqlerror.List) []byte {
	encoded := make([]byte, 1, 512)
	encoded[0] = '['
	for i, err := range errs {
		one := encodeError(err)
		if i == maxErrors-1 && len(errs) > maxErrors || len(encoded)+len(one) > maxErrorsBytes-maxMessageBytes {
			one = encodeError(gqlerror.Errorf("%d more errors are not shown.", len(errs)-i))
			return append(append(encoded, one...), ']')
		}
		encoded = append(append(encoded, one...), ',')
	}
	encoded[len(encoded)-1] = ']'
	return encoded
}

// encodeError cuts an error that is too long to be shown whole.
func encodeError(err *gqlerror.Error) []byte {
	shown := *err
	shown.Message = truncate(err.Message, maxMessageBytes)
	encoded, problem := json.Marshal(&shown)
	if problem == nil && len(encoded) <= maxErrorBytes {
		return encoded
	}
	shown.Path = nil
	shown.Extensions = map[string]any{"code": fmt.Sprint(err.Extensions["code"]), "status": err.Extensions["status"]}
	encoded, _ = json.Marshal(&shown)
	return encoded
}

// truncate shortens text to about n bytes, with a mark where some is missing.
func truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
