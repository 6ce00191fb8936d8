package resolvers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/platform"
)

// A refusal is an error that HTTP has a status of its own for.
type refusal struct {
	status int
	error
}

// refuse answers with an error that the executor was never asked about.
func (e *endpoint) refuse(w http.ResponseWriter, r *http.Request, media string, err error) {
	status := 0
	var refused *refusal
	if errors.As(err, &refused) {
		status, err = refused.status, refused.error
	}
	response := &graphql.Response{Errors: gqlerror.List{e.present(r.Context(), err)}}
	if status == 0 {
		status = statusOf(response, mediaResponse)
	}
	write(w, status, media, response)
}

// tooManyOpen is for one more of something than a caller may hold open. It names
// the limit as --graphql-limit does.
func tooManyOpen(name string, limit int) error {
	return &platform.Error{
		Code: platform.CodeResourceExhausted, Reason: "RESOURCE_EXHAUSTED",
		Message:    fmt.Sprintf("Resource exhausted: the caller has too many %s open, at most %d; end one of them first", name, limit),
		RetryAfter: time.Second,
	}
}

func badRequest(field, description string) error {
	return platform.Invalid(platform.Violation{Field: field, Description: description})
}

func unimplemented(description string) error {
	return &platform.Error{Code: platform.CodeUnimplemented, Reason: "UNIMPLEMENTED", Message: "Unimplemented: " + description}
}

// described gives what gqlgen finds wrong with a document the details that all
// errors have: those of INVALID_ARGUMENT. The code stays gqlgen's, which is that
// of most servers, and is the reason in the details.
func described(errs gqlerror.List) gqlerror.List {
	for _, err := range errs {
		if err.Err != nil {
			continue
		}
		field := "query"
		if len(err.Path) > 0 { // of a variable: a path in an answer is something else
			field, err.Path = err.Path.String(), nil
		}
		e := platform.Invalid(platform.Violation{Field: field, Description: err.Message})
		e.Message = err.Message
		if code, ok := err.Extensions["code"].(string); ok {
			e.Reason = code
		}
		err.Err = e
	}
	return errs
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
	code, _ := response.Errors[0].Extensions["status"].(int)
	switch platform.Code(code) {
	case platform.CodeUnauthenticated:
		status = http.StatusUnauthorized
	case platform.CodePermissionDenied:
		status = http.StatusForbidden
	case platform.CodeResourceExhausted:
		status = http.StatusTooManyRequests
	case platform.CodeInternal:
		status = http.StatusInternalServerError
	case platform.CodeUnavailable:
		status = http.StatusServiceUnavailable
	case platform.CodeDeadlineExceeded:
		status = http.StatusGatewayTimeout
	}
	if media != mediaResponse && status < http.StatusInternalServerError {
		return http.StatusOK
	}
	return status
}

// write sends a response that is alone in its answer.
func write(w http.ResponseWriter, status int, media string, response *graphql.Response) {
	w.Header().Set("Content-Type", media+"; charset=utf-8")
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(status)
	for _, part := range parts(response) {
		if _, err := w.Write(part); err != nil {
			return // nobody listens any more
		}
	}
}

// encode gives a response as JSON in one piece.
func encode(response *graphql.Response) []byte { return bytes.Join(parts(response), nil) }

// parts gives a response as JSON: without data where nothing was executed, as
// the specification asks for, and with its errors bounded. The data, which may
// be long, is not copied.
func parts(response *graphql.Response) (encoded [][]byte) {
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
	shown.Message = cut(err.Message, maxMessageBytes)
	encoded, problem := json.Marshal(&shown)
	if problem == nil && len(encoded) <= maxErrorBytes {
		return encoded
	}
	shown.Path = nil
	shown.Extensions = map[string]any{"code": fmt.Sprint(err.Extensions["code"]), "status": err.Extensions["status"]}
	encoded, _ = json.Marshal(&shown)
	return encoded
}

// cut shortens text to about n bytes, with a mark where some is missing.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
